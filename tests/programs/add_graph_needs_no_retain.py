import torch

a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(2.0, requires_grad=True)
y = a + b - 1
y.backward()
y.backward()
print(a.grad, b.grad)
