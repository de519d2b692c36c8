import torch

x = torch.arange(6.0).view(2, 3).t()
y = x.view(6)
