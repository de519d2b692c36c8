import torch

x = torch.tensor(2.0, requires_grad=True)  # ~ -3..3
y = x ** 3  # ~ 3..6

(slope,) = torch.autograd.grad(y, x, create_graph=True)
(curvature,) = torch.autograd.grad(slope, x, create_graph=True)  # ? curvature
curvature.backward()  # ? x.grad

print("y    =", y.item())
print("y'   =", slope.item())
print("y''  =", curvature.item())
print("y''' =", x.grad.item())
