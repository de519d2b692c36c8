import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
fresh = torch.zeros_like(x)
x.zero_()
print(x, fresh, x.data_ptr() == fresh.data_ptr())
