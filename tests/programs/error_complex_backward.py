import torch

z = torch.tensor([1 + 1j], requires_grad=True)
w = (z * 2).sum()
w.backward()
