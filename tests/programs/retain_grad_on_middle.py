import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
a = 3 * x
a.retain_grad()
b = (a ** 2).sum()
b.retain_grad()
b.backward()
print(x.grad, a.grad, b.grad)
