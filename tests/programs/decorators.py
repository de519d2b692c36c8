import functools
import torch

def logged(f):
    @functools.wraps(f)
    def wrapper(*args):
        out = f(*args)
        print(f.__name__, out.item())
        return out
    return wrapper

@logged
def loss(w, x):
    return ((w * x).sum() - 1) ** 2

@functools.cache
def constant(n):
    return torch.arange(float(n))

w = torch.ones(3, requires_grad=True)
loss(w, constant(3)).backward()
print(w.grad, constant(3) is constant(3))
