import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 3), nn.Sigmoid(), nn.Linear(3, 1))
for p in net.parameters():
    nn.init.zeros_(p)
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
for _ in range(3):
    loss = (net(torch.tensor([[1.0, 2.0], [3.0, -1.0]])) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(net[0].weight, net[2].weight)
