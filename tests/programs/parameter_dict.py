import torch
from torch import nn

class Choice(nn.Module):
    def __init__(self):
        super().__init__()
        self.params = nn.ParameterDict({"one": nn.Parameter(torch.randn(4, 4)), "two": nn.Parameter(torch.randn(4, 1))})
        self.params.update({"three": nn.Parameter(torch.randn(4, 2))})

    def forward(self, x, choice="one"):
        return torch.mm(x, self.params[choice])

net = Choice()
print(net)
net(torch.ones(1, 4), "three").sum().backward()
print({n: p.grad is not None for n, p in net.named_parameters()})
