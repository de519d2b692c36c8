import torch

x = torch.ones(3000, 3000)
for _ in range(100_000):
    x = x @ x
