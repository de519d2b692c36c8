import torch

x = torch.arange(1.0, 13.0).view(3, 4).requires_grad_()

column = x[:, 1]
rows = x.index_select(0, torch.tensor([2, 0]))
large = x.masked_select(x > 9)  # ~ 1..11
where = (x > 9).nonzero()
best, at = x.max(1)
chosen = x.gather(1, torch.tensor([[3], [0], [2]]))  # ? chosen

read = torch.cat([column, rows.flatten(), large, best, chosen.flatten()])
read.sum().backward()
print(where.tolist())
print(x.grad)
