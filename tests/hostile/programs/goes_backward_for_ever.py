import torch
x = torch.ones(1, requires_grad=True)
while True:
    (x * 2).sum().backward()
