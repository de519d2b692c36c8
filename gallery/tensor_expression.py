import torch

a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
b = torch.tensor([[0.5, -1.0], [2.0, 0.0]], requires_grad=True)

product = a @ b
activated = torch.relu(product - 3)  # ? activated
total = activated.sum()

total.backward()  # ? a.grad
print(activated)
print("a.grad", a.grad)
print("b.grad", b.grad)
