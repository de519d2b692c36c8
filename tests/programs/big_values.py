import torch

w = torch.randn(64, 64, requires_grad=True)
x = torch.randn(100, 64)
y = (x @ w).relu()
loss = y.mean()
loss.backward()
print(y.shape, w.grad.norm())
