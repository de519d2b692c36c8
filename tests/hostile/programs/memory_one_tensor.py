import torch

x = torch.ones(10_000_000_000)
