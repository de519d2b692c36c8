import torch
from torch import nn

cell = nn.RNNCell(2, 3)
h = torch.zeros(1, 3)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for chunk in torch.randn(6, 1, 2).split(2):
    h = h.detach()
    for x in chunk:
        h = cell(x, h)
    loss = h.pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 5))
