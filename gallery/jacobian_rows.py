import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)  # ~ -3..3
y = torch.stack([x[0] * x[1], x[0] + x[1], x[1] ** 3])

rows = []
for i in range(len(y)):
    (row,) = torch.autograd.grad(y[i], x, retain_graph=True)
    rows.append(row)

jacobian = torch.stack(rows)  # ? jacobian.shape
# ? jacobian
print(jacobian)

v = torch.tensor([1.0, 10.0, 100.0])
(in_one_walk,) = torch.autograd.grad(y, x, v)
print("v times the matrix", v @ jacobian)
print("in one walk       ", in_one_walk)
print("x.grad is", x.grad)
