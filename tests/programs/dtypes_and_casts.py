import torch

a = torch.tensor(1.9, dtype=torch.float)
b = torch.tensor(1, dtype=torch.long)
c = torch.tensor([2.9, -2.9]).to(torch.int8)
d = a + b
half = torch.tensor([1.0, 2.0]).half()
flags = torch.tensor([0, 1, 2]).bool()
print(a.element_size(), b.element_size(), c.element_size())
print(c, d.dtype, half.dtype, flags)
