import torch

x = torch.arange(4.0)
y = torch.zeros(4)
y.copy_(x)
y.add_(1).mul_(2)
m = torch.arange(6).view(2, 3)
m.t_()
print(y, y._version, m.shape, m._version)
