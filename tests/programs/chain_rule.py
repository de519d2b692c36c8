import torch

u = torch.tensor(0.5, requires_grad=True)
g = u ** 2
h = torch.sin(g)
h.backward()
print(u.grad, torch.cos(g).item() * 2 * u.item())
