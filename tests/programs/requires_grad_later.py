import torch

a = torch.tensor([[2.0, -1.0], [0.5, 4.0]])
a = (a * 3) / (a - 3)
print(a.requires_grad, a.grad_fn)
a.requires_grad_(True)
b = (a * a).sum()
print(b.grad_fn.name(), a.is_leaf)
b.backward()
print(a.grad)
