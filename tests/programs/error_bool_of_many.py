import torch

x = torch.tensor([1.0, -1.0], requires_grad=True)
if x > 0:
    print("positive")
