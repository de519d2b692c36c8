import torch
from torch import nn

first = nn.Linear(3, 3)
second = nn.Linear(3, 3)
second.weight = first.weight
head = nn.Linear(3, 1)
for p in head.parameters():
    p.requires_grad_(False)
net = nn.Sequential(first, nn.Tanh(), second, head)
net(torch.ones(1, 3)).sum().backward()
print([(n, p.grad is None) for n, p in net.named_parameters()])
