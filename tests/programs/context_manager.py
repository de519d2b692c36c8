import contextlib
import torch

@contextlib.contextmanager
def frozen(p):
    p.requires_grad_(False)
    try:
        yield p
    finally:
        p.requires_grad_(True)

p = torch.ones(2, requires_grad=True)
with frozen(p) as q:
    y = q * 2
z = p * 3
z.sum().backward()
print(y.requires_grad, p.grad)
