import torch

x = torch.arange(6.0).view(3, 2).requires_grad_()
a, b, c = x.unbind(0)
left, right = x.split(1, dim=1)
top, *rest = x.chunk(3)
(a * b + c).sum().backward()
(left * right + top[0, 0]).sum().backward()
print(x.grad)
