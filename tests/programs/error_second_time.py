import torch

x = torch.ones(3, requires_grad=True)
y = (x * x).sum()
y.backward()
y.backward()
