import torch

x = torch.ones(2, 2, requires_grad=True)
y = x + 2
print(y.grad_fn)
print(y.grad_fn.next_functions)
print(y, y.sum())
print(y.grad_fn.metadata, y.grad_fn.name(), y.grad_fn.requires_grad)
