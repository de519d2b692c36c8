import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
y = w * 2
w.data = torch.tensor([5.0, 6.0, 7.0])
print(w.shape, y)
(w ** 2).sum().backward()
print(w.grad)
