import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.register_buffer("scale", torch.tensor([0.5, 2.0]))
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x):
        self.calls += 1
        return self.lin(x) * self.scale


model = nn.Sequential(Block(), nn.Tanh(), nn.Linear(2, 1))
block, weight, scale = model[0], model[0].lin.weight, model[0].scale

model.double()  # ? weight.dtype
twice = scale * 2  # ? twice.dtype

print("module", block is model[0])
print("parameter", weight is block.lin.weight, weight.dtype)
print("buffer", scale is block.scale, twice.dtype, block.scale.dtype)
print("integer buffer", block.calls.dtype)

x = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
model(x).sum().backward()
print(weight.grad.dtype)
