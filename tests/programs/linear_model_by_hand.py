import torch
from torch import nn

class LinearModel(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, 1))
        self.bias = nn.Parameter(torch.randn(1))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.seen += len(x)
        return x.mm(self.weight) + self.bias

model = LinearModel(3)
y = model(torch.randn(5, 3))
y.sum().backward()
print(model.bias.grad, model.seen, list(model.state_dict()))
