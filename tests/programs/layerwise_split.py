import torch
from torch import nn

whole = nn.Linear(4, 6, bias=False)
x = torch.ones(2, 4)
left, right = whole.weight.chunk(2, dim=0)
parts = torch.cat([x @ left.T, x @ right.T], dim=1)
print(torch.allclose(parts, whole(x)))
parts.sum().backward()
print(whole.weight.grad)
