import torch

v = torch.tensor([1, 2, 30])
print(v.view(1, 3), v.t(), v[:2], v[0], v.shape)
w = v.view(3, 1).t()
print(w.data_ptr() == v.data_ptr(), w.stride())
