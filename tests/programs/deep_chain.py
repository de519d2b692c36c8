import torch

x = torch.tensor(1.0, requires_grad=True)
y = x
for _ in range(5000):
    y = y + 0.001
y.backward()
print(y.item(), x.grad)
