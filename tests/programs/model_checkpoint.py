import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

block1 = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
block2 = nn.Sequential(nn.Linear(4, 3), nn.Sigmoid())
x = torch.randn(2, 3, requires_grad=True)
y = checkpoint(block1, x, use_reentrant=False)
z = checkpoint(block2, y, use_reentrant=False)
z.sum().backward()
print(x.grad)
