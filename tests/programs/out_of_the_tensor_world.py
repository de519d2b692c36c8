import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * 3
number = y.item()
listed = (y + 1).tolist()
as_float = float(x)
print(type(number), number, listed, as_float, int(y), bool(y > 5))
if y > 5:
    y = y * 2
y.backward()
print(x.grad)
