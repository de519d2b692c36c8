import torch

grid = torch.arange(6.0)
rows = grid.view(2, 3)
turned = rows.t()
again = rows.reshape(3, 2)
copied = turned.reshape(6)
own = rows.clone()

grid[0] = 9  # ~ 0..20
for name, tensor in {"rows": rows, "turned": turned, "again": again, "copied": copied, "own": own}.items():
    shared = tensor.data_ptr() == grid.data_ptr()
    print(f"{name:7} first cell {tensor.flatten()[0].item()}, contiguous {tensor.is_contiguous()}, shared {shared}")

line = torch.arange(3.0)
print("t() of a line is the line:", line.t().shape)

x = torch.ones(2, 3, requires_grad=True)
y = x.clone()
y.view(6)[0] = 5.0
(y * y).sum().backward()
print("y", y, "x.grad", x.grad)
