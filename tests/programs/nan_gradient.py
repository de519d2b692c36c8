import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.sqrt(x) * torch.tensor([0.0, 1.0])
z = torch.log(x - 4)
y.sum().backward()
print(x.grad, z, torch.isnan(z), float("inf") * x[0])
