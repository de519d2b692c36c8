import torch
from torch import nn

model = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(1))
print(model)
y = model(torch.randn(2, 3))
y.sum().backward()
print(model, model[0].weight.grad.shape)
