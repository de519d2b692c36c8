import warnings
import torch

for i in range(3):
    warnings.warn("again")
x = torch.ones(1, requires_grad=True)
for i in range(2):
    (x * 2).grad
print("done")
