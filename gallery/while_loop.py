import torch

x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)

y = x * 2
doublings = 1
while y.norm() < 100:  # ~ 20..500 by 20
    y = y * 2
    doublings += 1
# ? y

y.sum().backward()  # ? x.grad
print("doublings:", doublings)
print("x.grad", x.grad)
