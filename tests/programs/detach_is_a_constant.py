import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x ** 2
z = (y.detach() * x).sum()
z.backward()
print(x.grad, y.detach().requires_grad)
