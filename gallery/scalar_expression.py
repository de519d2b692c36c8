import torch

x = torch.tensor(2.0, requires_grad=True)  # ~ -4..4
y = x ** 2 + 3 * x + 1  # ? y

y.backward()  # ? x.grad
print("y =", y.item())
print("dy/dx =", x.grad.item())
