import torch

k = torch.rand(2, 3)
print(k.size())
print(k.shape())
