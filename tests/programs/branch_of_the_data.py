import torch

def f(v):
    if v.sum() > 0:
        return (v * 2).sum()
    return v.prod().exp()

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([-1.0, -2.0], requires_grad=True)
fa, fb = f(a), f(b)
fa.backward()
fb.backward()
print(a.grad, b.grad)
