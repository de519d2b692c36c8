import torch

x = torch.tensor(3.0, requires_grad=True)  # ~ -5..5
left = x * 2
right = x ** 2  # ? right
y = left * right

y.backward()  # ? x.grad
print("y =", y.item())
print("x.grad =", x.grad.item())
