import torch

x = torch.arange(20.0).view(4, 5)
column = x[:, 1]
block = x[1:3, ::2]
last = x[-1, ...]
picked = x[[0, 2], [1, 3]]
new_axis = x[None, :, 0]
print(column, block, last, picked, new_axis.shape)
