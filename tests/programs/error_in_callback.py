import torch

def key(t):
    return t.item()

pairs = [torch.ones(1), torch.ones(2)]
best = sorted(pairs, key=key)
