import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

block = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))
x = torch.randn(2, 3, requires_grad=True)
y = checkpoint(block, x, use_reentrant=True)
y.pow(2).sum().backward()
print(x.grad, block[0].bias.grad)
