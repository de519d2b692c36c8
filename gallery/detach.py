import torch

x = torch.tensor(3.0, requires_grad=True)  # ~ -4..4

square = x ** 2
frozen = square.detach()
y = frozen * x

y.backward()  # ? x.grad
print("y =", y.item())
print("x.grad =", x.grad.item())
print("without detach it would be", 3 * x.item() ** 2)
