import torch

def f(x):
    return torch.stack([x[0] ** 2 + x[1], 2 * x[1] ** 2 + x[2], x.sum()])

x = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)
J = torch.autograd.functional.jacobian(f, x)
v = torch.tensor([1.0, 2.0, 3.0])
y = f(x)
y.backward(v)
print(J, v @ J, x.grad)
