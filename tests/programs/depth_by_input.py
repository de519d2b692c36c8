import torch

lengths = []
for start in (5.0, 1.0, 0.9):
    x = torch.tensor([start, start], requires_grad=True)
    y = x
    n = 0
    while y.norm() < 500:
        y = y * 2
        n += 1
    y.sum().backward()
    lengths.append((n, x.grad[0].item()))
print(lengths)
