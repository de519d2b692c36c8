import torch

x = torch.ones(2, 2, requires_grad=True)
print(x.grad_fn, x.is_leaf)
y = x + 2
print(type(y.grad_fn).__name__)
z = y * y * 3
out = z.mean()
print(z, out)
out.backward()
print(x.grad)
