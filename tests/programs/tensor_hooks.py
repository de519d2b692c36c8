import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
order = []
y.register_hook(lambda g: order.append("first") or g * 10)
handle = y.register_hook(lambda g: order.append("second") or g + 1)
y.retain_grad()
(y ** 2).sum().backward()
handle.remove()
print(order, y.grad, x.grad)
