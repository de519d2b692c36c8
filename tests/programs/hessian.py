import torch

def f(x):
    return (x[0] ** 2 * x[1] + x[1] ** 3).sum()

x = torch.tensor([1.0, 2.0])
H = torch.autograd.functional.hessian(f, x)
hvp = torch.autograd.functional.hvp(f, x, torch.tensor([1.0, 0.0]))[1]
print(H, hvp)
