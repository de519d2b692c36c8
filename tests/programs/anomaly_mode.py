import torch

with torch.autograd.detect_anomaly():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = torch.sqrt(x) * 0
    y.sum().backward()
