import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)

cell = nn.RNNCell(4, 8)
head = nn.Linear(8, 1)
x = torch.randn(60, 2, 4)
h = torch.zeros(2, 8)
for t in range(60):
    h = cell(x[t], h)
loss = head(h).pow(2).mean()
loss.backward()
