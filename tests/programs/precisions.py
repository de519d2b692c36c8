import torch

a = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
b = torch.tensor([0.5, 0.25], dtype=torch.bfloat16, requires_grad=True)
c = torch.tensor([1.5], dtype=torch.float16, requires_grad=True)
(a.prod() + a.float().sum().double()).backward()
(b * b).sum().backward()
(c.float() ** 2).sum().backward()
print(a.grad, b.grad, c.grad, (b.float() + a[:2].float()).dtype)
