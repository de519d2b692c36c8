import torch

a = torch.tensor([6.0, 8.0], requires_grad=True)
b = torch.tensor([2.0, 4.0], requires_grad=True)
q = a / b
torch.autograd.backward(q, torch.ones(2))
print(a.grad, b.grad)
