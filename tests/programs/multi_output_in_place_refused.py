import torch

x = torch.ones(4, 2, requires_grad=True)
first, second = (x * 2).unbind(1)
first.add_(1)
