import numpy as np
import torch

tensor_from_list = torch.tensor([4, 8, 15])
from_array = torch.tensor(np.array([1.5, 2.5]))
print(tensor_from_list.shape, tensor_from_list[0], tensor_from_list[:2], tensor_from_list.view(1, 3))
a = torch.ones(1, 3)
b = torch.randn(1, 3)
print(torch.matmul(a + b, a.t()).shape, torch.matmul((a + b).t(), a).shape)
x = torch.ones(2, 2, requires_grad=True)
y = x ** 2
z = y * y * 3
out = z.mean()
print(y.grad_fn is not None, z, out)
out.backward()
print(x.grad)
j = torch.randn(3, requires_grad=True)
k = j * 2
m = 0
while k.data.norm() < 1000:
    k = k * 2
    m = m + 1
v = torch.tensor([0.1, 1.0, 0.0001], dtype=torch.float)
k.backward(v)
print(m, j.grad)
out2 = x.sum()
out2.backward()
print(x.grad)
x.grad.data.zero_()
with torch.no_grad():
    print((j ** 2).requires_grad)
x = torch.ones(1, requires_grad=True)
y = 2 * x
x.data *= 100
y.backward()
print(x, x.grad)
