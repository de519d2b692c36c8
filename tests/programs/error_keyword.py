import torch

a = torch.tensor([1.0], requires_grad=True, pin_momemory=True)
