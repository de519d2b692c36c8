import torch
from torch import nn

class Force(nn.Module):
    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))

    def forward(self, position):
        position = position.requires_grad_(True)
        energy = self.energy(position).sum()
        (gradient,) = torch.autograd.grad(energy, position, create_graph=True)
        return -gradient

net = Force()
force = net(torch.randn(2, 3))
(force ** 2).sum().backward()
print(force, net.energy[0].weight.grad)
