import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 1
z = y ** 2
y.detach().mul_(10)
z.sum().backward()
