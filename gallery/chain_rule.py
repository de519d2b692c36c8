import torch

u = torch.tensor(0.5, requires_grad=True)  # ~ -2..2
inner = u**2
outer = inner.sin()

outer.backward(retain_graph=True)
print("outer.backward():", u.grad.item())
print("cos(u²) · 2u    :", (torch.cos(u * u) * 2 * u).item())

u.grad = None
torch.autograd.backward(outer, retain_graph=True)
print("autograd.backward:", u.grad.item())

u.grad = None
(slope,) = torch.autograd.grad(outer, u)  # ? u.grad is None
print("autograd.grad    :", slope.item(), "- u.grad:", u.grad)
