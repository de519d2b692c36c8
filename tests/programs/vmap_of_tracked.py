import torch

w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
rows = torch.arange(6.0).view(2, 3)
y = torch.vmap(lambda r: (r * w).sum())(rows)
y.sum().backward()
print(y, w.grad)
