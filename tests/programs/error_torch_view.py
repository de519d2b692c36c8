import torch

x = torch.ones(4)
torch.view(x, 2, 2)
