import torch

xs = [torch.ones(n) for n in (1, 2, 3)]
total = [
    x + torch.ones(2)
    for x in xs
]
