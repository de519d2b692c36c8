import torch
from torch import nn

class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(5, 2)
        self.bias = nn.Parameter(torch.zeros(5))

    def forward(self, x):
        code = torch.tanh(self.encoder(x))
        return nn.functional.linear(code, self.encoder.weight.t(), self.bias)

model = Tied()
x = torch.randn(3, 5)
loss = (model(x) - x).pow(2).mean()
loss.backward()
print(loss, model.encoder.weight.grad)
