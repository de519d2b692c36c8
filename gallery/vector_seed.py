import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)  # ~ -3..3
y = torch.stack([x[0] * x[1], x[1] ** 2, x.sum()])

v = torch.tensor([1.0, 0.1, 0.01])  # ~ 0..1
y.backward(v)  # ? x.grad

print("y =", y)
print("v @ J =", x.grad)
