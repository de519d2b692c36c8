import torch

x = torch.ones(2, requires_grad=True)
u = torch.ones(2, requires_grad=True)
loss = (x * 2).sum()
print(torch.autograd.grad(loss, [x, u], allow_unused=True, retain_graph=True))
print(torch.autograd.grad(loss, u, materialize_grads=True, retain_graph=True))
torch.autograd.grad(loss, [x, u])
