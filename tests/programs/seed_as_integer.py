import torch

x = torch.tensor([2.0], requires_grad=True)
y = (x * 3).sum()
y.backward(torch.tensor(1))
print(x.grad)
