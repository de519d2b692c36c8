import torch

def forever(x):
    return forever(x + 1)

forever(torch.zeros(1))
