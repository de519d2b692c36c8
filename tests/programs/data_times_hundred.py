import torch

x = torch.ones(1, requires_grad=True)
print(x.data, x.data.requires_grad)
y = 2 * x
x.data *= 100
y.backward()
print(x, x.grad)
