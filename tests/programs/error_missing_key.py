import torch
from torch import nn

params = nn.ParameterDict({"a": nn.Parameter(torch.ones(1))})
print(params["a"])
print(params["b"])
