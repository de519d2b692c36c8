import torch

zeros = torch.zeros(5, 3, dtype=torch.long)
ones = torch.ones(5, 3, dtype=torch.double)
eye = torch.eye(5, 3)
full = torch.full((2, 2), 7.5)
steps = torch.arange(2, 10, 2)
points = torch.linspace(2, 10, 3)
print(zeros.dtype, ones.dtype, eye.sum(), full, steps, points)
