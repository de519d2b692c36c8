import torch

x = torch.tensor([3.0], requires_grad=True)
y = (x ** 3 * 2).sum()
y.backward(retain_graph=True)
print(x.grad)
y.backward()
print(x.grad)
