import torch

x = torch.empty(0, 3, requires_grad=True)
y = (x * 2).sum()
y.backward()
print(y, x.grad, x.grad.shape, torch.cat([x, torch.ones(1, 3)]).shape)
m = torch.zeros(2, 0)
print(m @ torch.zeros(0, 3), m.numel())
