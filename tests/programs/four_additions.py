import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
y = torch.tensor([[10.0, 20.0], [30.0, 40.0]])
a = x + y
b = torch.add(x, y)
c = torch.empty(2, 2)
torch.add(x, y, out=c)
y.add_(x)
print(a.equal(b), b.equal(c), c.equal(y), y._version)
