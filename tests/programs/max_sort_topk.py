import torch

x = torch.tensor([[3.0, 1.0, 2.0], [0.5, 4.0, 4.0]], requires_grad=True)
values, indices = x.max(dim=1)
ordered, _ = x.sort(dim=1, descending=True)
best = x.topk(2, dim=1).values
middle = x.median(dim=1).values
(values.sum() + (ordered * torch.tensor([1.0, 0.0, 0.0])).sum() + best.prod() + middle.sum()).backward()
print(values, indices, x.grad)
