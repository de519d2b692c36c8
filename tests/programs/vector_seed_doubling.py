import torch

x = torch.tensor([0.3, -1.2, 0.7], requires_grad=True)
y = x * 2
times = 1
while y.data.norm() < 1000:
    y = y * 2
    times = times + 1
y.backward(torch.tensor([0.1, 1.0, 0.0001]))
print(times, y, x.grad)
