import torch

x = torch.tensor(2.0, requires_grad=True)
x.backward()
x.backward(torch.tensor(5.0))
print(x.grad)
