import torch

w = torch.zeros(3, requires_grad=True)
w.add_(1)
print("not reached")
