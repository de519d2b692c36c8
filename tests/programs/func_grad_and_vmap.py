import torch
from torch.func import grad, jacrev, vmap, vjp

def f(x):
    return (x ** 3).sum()

x = torch.tensor([1.0, 2.0])
print(grad(f)(x), grad(lambda t: grad(f)(t).sum())(x))
print(jacrev(lambda t: t ** 2)(x))
print(vmap(lambda row: row @ x)(torch.ones(3, 2)))
value, pull = vjp(lambda t: t.sin(), x)
print(value, pull(torch.ones(2)))
