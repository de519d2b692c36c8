import torch

y = torch.randn(0, 10).view(1, 10)
