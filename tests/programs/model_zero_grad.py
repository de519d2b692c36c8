import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
for _ in range(2):
    net.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
net[0].zero_grad(set_to_none=False)
print([p.grad for p in net.parameters()])
