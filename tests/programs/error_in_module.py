import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(4, 2)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.second(h)

net = Net()
out = net(torch.ones(1, 4))
