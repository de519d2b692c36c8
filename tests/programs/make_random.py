import torch

uniform = torch.rand(4, 5)
normal = torch.randn(4, 5)
whole = torch.randint(1, 4, (6,))
order = torch.randperm(5)
spread = torch.empty(3, 3).uniform_(-1, 1)
bell = torch.normal(2.0, 0.5, (2, 3))
print(uniform.min() >= 0, uniform.max() < 1)
print(sorted(order.tolist()), whole)
print(normal, spread, bell)
