import torch

x = torch.ones(2, 2, requires_grad=True)
y = x + 2
out = (3 * y * y).mean()
out.backward()
