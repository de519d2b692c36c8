import torch
x = torch.tensor(1.0, requires_grad=True)
y = x
for i in range(2500):
    a = y * 1.0001
    b = a + 0.001
    c = b.sin()
    y = c + y
y.backward()
