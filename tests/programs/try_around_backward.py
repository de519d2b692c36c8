import torch

x = torch.ones(2, requires_grad=True)
y = x * 2
try:
    y.backward()
except RuntimeError as error:
    message = str(error)
    print("caught:", message)
y.sum().backward()
print(x.grad)
