import torch

row = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
column = row.t()
inner = row @ column
outer = torch.matmul(column, row)
batched = torch.bmm(outer.expand(2, 3, 3), torch.ones(2, 3, 1))
dotted = torch.dot(row[0], torch.tensor([1.0, 1.0, 1.0]))
(inner.sum() + outer.sum() + batched.sum() + dotted).backward()
print(inner.shape, outer.shape, row.grad)
