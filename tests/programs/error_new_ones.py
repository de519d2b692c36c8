import torch

x = torch.new_ones(5, 3, dtype=torch.double)
