import torch

m = torch.one(2, 3)
