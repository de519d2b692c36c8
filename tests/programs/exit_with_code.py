import sys
import torch

x = torch.ones(1, requires_grad=True)
(x * 2).sum().backward()
print("before")
sys.exit(3)
