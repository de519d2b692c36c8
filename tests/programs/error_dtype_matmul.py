import torch

a = torch.ones(2, 2)
b = torch.ones(2, 2, dtype=torch.long)
print((a + b).dtype)
c = a @ b
