import torch
from torch import nn


class Centred(nn.Module):
    def forward(self, x):
        return x - x.mean()


class Scaled(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.full((size,), 2.0))
        self.offset = torch.zeros(size, requires_grad=True)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return x * self.weight + self.offset


net = nn.Sequential(Centred(), Scaled(3))
print("parameters:", [name for name, _ in net.named_parameters()])
print("buffers:", [name for name, _ in net.named_buffers()])
x, offset = torch.tensor([1.0, 2.0, 6.0]), net[1].offset  # ~ -5..9
net(x).sum().backward()  # ? net[1].weight.grad
# ? offset.grad
print("weight.grad", net[1].weight.grad)
print("offset.grad", offset.grad, "- but no optimizer will see it")
print("calls", net[1].calls.item(), "saved with the model:", list(net.state_dict()))
