import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.stack([x[0] * x[1], x[0] - x[1]])
v = torch.tensor([2.0, -1.0])
y.backward(v, retain_graph=True)
first = x.grad.clone()
x.grad = None
l = (y * v).sum()
l.backward()
print(first, x.grad, torch.equal(first, x.grad))
