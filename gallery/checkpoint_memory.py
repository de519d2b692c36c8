import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
count = 3  # ~ 1..6
blocks = nn.ModuleList(nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 16)) for _ in range(count))
batch = torch.randn(64, 16)


def train(keep_all):
    hidden = batch
    for block in blocks:
        hidden = block(hidden) if keep_all else checkpoint(block, hidden, use_reentrant=False)
    loss = hidden.pow(2).mean()
    loss.backward()
    gradient = blocks[0][0].weight.grad.clone()
    blocks.zero_grad()
    return gradient


usual = train(keep_all=True)
thrifty = train(keep_all=False)
apart = (usual - thrifty).abs().max()  # ? apart
print("largest difference of the gradients:", apart.item())
