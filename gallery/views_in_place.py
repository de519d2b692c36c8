import torch

x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)

table = x * 10
row = table.view(2, 2)[0]
row.mul_(5)  # ~ 1..10

loss = table.sum()  # ? loss
loss.backward()  # ? x.grad

print("table", table)
print("row shares memory:", row.data_ptr() == table.data_ptr())
print("x.grad", x.grad)

try:
    x.mul_(2)
except RuntimeError as refused:
    print("refused:", refused)
with torch.no_grad():
    x.mul_(2)
print("x", x)
