import torch

torch.zero_()
