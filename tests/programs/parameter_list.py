import torch
from torch import nn

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.params = nn.ParameterList([nn.Parameter(torch.randn(4, 4)) for _ in range(3)])
        self.params.append(nn.Parameter(torch.randn(4, 1)))
        self.loose = torch.randn(4, 4)

    def forward(self, x):
        for p in self.params:
            x = torch.mm(x, p)
        return x

net = Stack()
print(net)
net(torch.ones(2, 4)).sum().backward()
print([n for n, _ in net.named_parameters()])
