import torch

x = torch.arange(15.0).view(5, 3)
rows = x.index_select(0, torch.linspace(0, 4, 2, dtype=torch.int32))
big = x.masked_select(x > 10)
where = (x > 12).nonzero()
first, second = torch.nonzero(x > 12, as_tuple=True)
print(rows, big, where, first, second)
