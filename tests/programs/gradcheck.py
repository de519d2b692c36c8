import torch

x = torch.randn(3, dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(lambda t: t.tanh() * 2, (x,)))
print(torch.autograd.gradgradcheck(lambda t: t ** 3, (x,)))
