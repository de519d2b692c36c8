import torch

result = torch.cat(
    [
        torch.ones(2, 2),
        torch.ones(3, 3),
    ],
    dim=0,
)
