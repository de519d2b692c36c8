import torch

x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
y = torch.where(x > 0, x ** 2, torch.exp(x))
z = x.masked_fill(x < 0, 10.0)
safe = torch.where(x != 0, 1 / x, torch.zeros(()))
(y.sum() + z.prod()).backward()
print(y, z, safe, x.grad)
