import torch

a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
b = torch.tensor([[0.5, -1.0], [2.0, 0.0]], requires_grad=True)  # ~ -3..3

product = a @ b
activated = torch.relu(product - 3)  # ? activated
total = activated.sum()

total.backward()  # ? a.grad
print(activated)
print("a.grad", a.grad)
print("b.grad", b.grad)

row = torch.tensor([[1.0, 2.0, 3.0]])
column = row.t()
print("one number:", row.mm(column))
print("a table:", row.t().mm(row).shape)
try:
    torch.ones(2, 1, 3).mm(column)
except RuntimeError as refused:
    print("mm refused:", refused)
print("matmul:", torch.ones(2, 1, 3).matmul(column).shape)
