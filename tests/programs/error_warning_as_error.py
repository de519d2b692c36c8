import warnings
import torch

warnings.simplefilter("error")
x = torch.ones(2, requires_grad=True)
y = x * 2
print("reading a grad that is not kept")
y.grad
