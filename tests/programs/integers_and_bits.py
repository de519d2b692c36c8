import torch

a = torch.arange(6)
b = a // 2 + a % 3
c = (a > 2) & (a < 5)
d = torch.bincount(b)
e = a.cumsum(0).prod()
f = torch.tensor([2 ** 60, -(2 ** 60)])
print(a, b, c, d, e, f, a.float().mean(), (a << 1).tolist(), torch.bitwise_xor(a, b))
