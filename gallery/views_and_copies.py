import torch

grid = torch.arange(6.0)
rows = grid.view(2, 3)
turned = rows.t()
again = rows.reshape(3, 2)
copied = turned.reshape(6)
own = rows.clone()


def first_cells_after_a_write():
    grid[0] = 9.0  # ~ 0..20
    return torch.stack([each.flatten()[0] for each in (rows, turned, again, copied, own)])


firsts = first_cells_after_a_write()  # ? firsts
print("first cells:", firsts.tolist())

line = torch.arange(3.0)
print("t() of a line is the line:", line.t().shape)

x = torch.ones(2, 3, requires_grad=True)
y = x.clone()
y.view(6)[0] = 5.0
(y * y).sum().backward()  # ? x.grad
print("y", y, "x.grad", x.grad)
