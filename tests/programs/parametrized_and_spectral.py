import torch
from torch import nn
from torch.nn.utils import parametrize

class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)

layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
y = layer(torch.ones(1, 3))
y.sum().backward()
print(torch.equal(layer.weight, layer.weight.T), [n for n, _ in layer.named_parameters()])
