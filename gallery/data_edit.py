import torch

x = torch.tensor([1.0], requires_grad=True)  # ~ -3..3
y = x ** 2

x.data *= 100  # ~ 1..100
y.backward()  # ? x.grad

print("x =", x.data)
print("y =", y.data)
print("x.grad =", x.grad)
