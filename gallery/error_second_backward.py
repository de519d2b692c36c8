import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)  # ~ -3..3
loss = (x ** 2).sum()

loss.backward()  # ? x.grad
print("first:", x.grad)  # ? error.line

loss.backward()
print("second:", x.grad)
