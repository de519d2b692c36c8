import torch

x = torch.ones(2, 2, requires_grad=True)
y = x + 2  # ~ -3..5
z = 3 * y ** 2
out = z.mean()  # ? out

out.backward()  # ? x.grad.shape
print(out)
print(x.grad)
