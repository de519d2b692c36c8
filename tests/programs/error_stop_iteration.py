import torch

it = iter([torch.ones(1)])
next(it)
next(it)
