import torch

x1 = torch.tensor(1.0, requires_grad=True)
x2 = torch.tensor(2.0, requires_grad=True)
for _ in range(3):
    y = x1 + 2 * x2
    y.backward()
    print(x1.grad.data, x2.grad.data)
print(y)
