import torch

p = torch.arange(1, 3).view(1, 2)
q = torch.arange(1, 4).view(3, 1)
print(p + q)
stretched = p.expand(3, 2)
print(stretched.stride(), stretched.data_ptr() == p.data_ptr())
a, b = torch.broadcast_tensors(p, q)
print(a.stride(), b.stride())
