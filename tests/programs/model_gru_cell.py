import torch
from torch import nn

cell = nn.GRUCell(3, 4)
readout = nn.Linear(4, 1)
h = torch.zeros(2, 4)
outputs = []
for x in torch.randn(5, 2, 3):
    h = cell(x, h)
    outputs.append(readout(h))
loss = torch.stack(outputs).pow(2).mean()
loss.backward()
print(loss, cell.weight_hh.grad.norm())
gru = nn.GRU(3, 4)
y, last = gru(torch.randn(4, 1, 3))
y.sum().backward()
print(y.shape)
