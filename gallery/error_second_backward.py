import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (x ** 2).sum()

loss.backward()
print("first:", x.grad)

loss.backward()
print("second:", x.grad)
