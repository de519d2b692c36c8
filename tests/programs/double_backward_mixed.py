import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = (x ** 2 * torch.sin(x)).sum()
y.backward(create_graph=True)
g = x.grad
x.grad = None
(g * torch.tensor([1.0, -1.0, 2.0])).sum().backward()
print(g, x.grad)
