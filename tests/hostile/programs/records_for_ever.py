import torch
x = torch.ones(1, requires_grad=True)
y = x
while True:
    y = y * 1
