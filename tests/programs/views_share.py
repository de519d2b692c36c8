import torch

x = torch.arange(8.0)
y = x.view(2, 4)
y[0, 0] = 9
flat = x.reshape(-1, 2)
turned = y.t()
copied = turned.reshape(8)
safe = x.clone().view(4, 2)
safe[0, 0] = -1
print(x[0], flat.data_ptr() == x.data_ptr(), copied.data_ptr() == x.data_ptr(), safe[0, 0])
print(turned.is_contiguous(), turned.stride(), copied.stride())
