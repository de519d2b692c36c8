import torch

W = torch.randn(1, 1, requires_grad=True)
y = torchy.mm(W, W)
