import torch

base = torch.ones(3, 4, requires_grad=True)
y = base * 2
y[0] += 5
y[:, 1].mul_(3)
y.view(-1)[::5] = 0
diagonal = y.diagonal()
diagonal.fill_(7)
y.sum().backward()
print(y, base.grad)
