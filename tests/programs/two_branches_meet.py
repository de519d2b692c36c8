import torch

x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0], requires_grad=True)
centred = x - x.mean()
centred[0].backward(retain_graph=True)
print(x.grad)
x.grad = None
(centred ** 2).sum().backward()
print(x.grad)
