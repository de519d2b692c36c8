import torch

x = torch.zeros(2, 2)
x = x.new_ones(4, 3, dtype=torch.double)
print(x.dtype, x.shape)
x = torch.randn_like(x, dtype=torch.float)
y = torch.ones_like(x)
rows, columns = x.size()
print(rows, columns, y.shape == x.shape)
