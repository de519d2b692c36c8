import torch

optimizer = torch.optim.Adam([], lr=0.1)
