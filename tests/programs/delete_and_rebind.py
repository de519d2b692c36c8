import gc
import torch

x = torch.ones(2, requires_grad=True)
y = x * 2
z = y.sum()
del y
gc.collect()
z.backward()
grad = x.grad
x = 5
del z
print(grad, x)
