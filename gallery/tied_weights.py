import torch
from torch import nn


class TiedAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[1.0, 0.5, -0.5], [0.0, 1.0, 1.0]]))
        self.offset = nn.Parameter(torch.zeros(3), requires_grad=False)

    def forward(self, x):
        code = torch.tanh(x @ self.weight.T)
        return code @ self.weight + self.offset


model = TiedAutoencoder()
x = torch.tensor([[1.0, 2.0, 3.0]])  # ~ -3..3

error = (model(x) - x).pow(2).sum()
error.backward()  # ? grad.flow
# ? model.offset.grad: [0, 0, 0] | [1, 1, 1] | None
print(f"error {error.item():.3f}")
print(model.weight.grad)
print("offset.grad is", model.offset.grad)
print("parameters:", len(list(model.parameters())))
