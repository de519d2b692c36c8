import torch

m = torch.arange(6.0).view(2, 3).requires_grad_()
b = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
s = torch.tensor(2.0, requires_grad=True)
out = (m + b) * s
(out * torch.tensor([[1.0], [10.0]])).sum().backward()
print(m.grad, b.grad, s.grad)
e = b.expand(4, 3).sum()
e.backward()
print(b.grad)
