import torch

kept = []
while True:
    kept.append(torch.ones(1_000_000))
