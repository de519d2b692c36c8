import torch

W = torch.randn(3, 3, requires_grad=True)
y = torch.mm(torch.ones(3), W)
