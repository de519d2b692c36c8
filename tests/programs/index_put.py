import torch

x = torch.zeros(4, requires_grad=True)
v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x.clone()
y[torch.tensor([0, 0, 2])] = v
z = x.index_put((torch.tensor([1, 1, 3]),), v, accumulate=True)
y[y > 1.5] = 0
(y.sum() + z.pow(2).sum()).backward()
print(y, z, x.grad, v.grad)
