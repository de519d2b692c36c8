import torch

x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    y = (x * 2).sum()
y.backward()
