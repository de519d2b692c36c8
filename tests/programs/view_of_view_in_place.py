import torch

x = torch.arange(6.0, requires_grad=True)
y = x.clone()
v = y.view(2, 3)
w = v[1]
w.add_(v[0])
v.mul_(2)
print(type(y.grad_fn).__name__, type(v.grad_fn).__name__, type(w.grad_fn).__name__)
(y * torch.arange(6.0)).sum().backward()
print(y, w, x.grad)
