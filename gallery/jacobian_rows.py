import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.stack([x[0] * x[1], x[0] + x[1], x[1] ** 3])

rows = []
for i in range(len(y)):
    (row,) = torch.autograd.grad(y[i], x, retain_graph=True)
    rows.append(row)

jacobian = torch.stack(rows)  # ? jacobian.shape
# ? jacobian
print(jacobian)
print("x.grad is", x.grad)
