import torch
from torch import nn

layer = nn.Linear(4, 4)
nn.init.constant_(layer.bias, 0.25)
nn.init.xavier_uniform_(layer.weight)
nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
nn.init.orthogonal_(layer.weight)
print(torch.allclose(layer.weight @ layer.weight.T, torch.eye(4), atol=1e-5))
layer(torch.ones(1, 4)).sum().backward()
