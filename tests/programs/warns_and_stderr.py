import sys
import warnings
import torch

warnings.warn("careful here")
warnings.warn("old way", DeprecationWarning)
print("to stderr", file=sys.stderr)
x = torch.ones(3, requires_grad=True)
loss = torch.nn.functional.mse_loss(x, torch.ones(3, 1))
loss.backward()
sys.stdout.write("no newline")
