import torch
x = torch.ones(1000, 1000, requires_grad=True)
y = x
while True:
    y = y.exp()
