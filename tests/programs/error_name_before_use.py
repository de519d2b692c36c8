import torch

x = x.new_ones(4, 3, dtype=torch.double)
