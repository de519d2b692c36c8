import torch

a = torch.ones(2, 3, requires_grad=True)
b = torch.ones(4)
c = a * b
