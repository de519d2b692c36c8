import torch

for i in range(200):
    print(i, torch.tensor(i / 7).item())
