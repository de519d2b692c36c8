import torch

x = torch.ones(2, 2, requires_grad=True)
out = (3 * (x + 2) ** 2).mean()
out.backward()
print(x.grad)
out2 = x.sum()
out2.backward()
print(x.grad)
out3 = x.sum()
x.grad.data.zero_()
out3.backward()
print(x.grad)
