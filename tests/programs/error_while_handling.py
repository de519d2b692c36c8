import torch

try:
    torch.ones(2) + torch.ones(3)
except RuntimeError:
    torch.ones(2).no_such_method()
