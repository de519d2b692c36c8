import torch

x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
(x.abs().sum() + torch.relu(x).sum() + x.clamp(-1, 1).sum()).backward()
print(x.grad)
m = torch.tensor([[1.0, 5.0], [5.0, 2.0]], requires_grad=True)
m.max().backward()
print(m.grad)
