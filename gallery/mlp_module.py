import torch
from torch import nn

torch.manual_seed(0)


class TwoLayers(nn.Module):
    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.hidden = nn.Linear(inputs, hidden)
        self.output = nn.Linear(hidden, outputs)

    def forward(self, x):
        return self.output(torch.relu(self.hidden(x)))


net = TwoLayers(3, hidden=4, outputs=2)  # ~ hidden 1..8, outputs 1..4
print(net)
for name, parameter in net.named_parameters():
    print(f"{name:14} {tuple(parameter.shape)} = {parameter.numel()} numbers")
print("together", sum(parameter.numel() for parameter in net.parameters()))

result = net(torch.ones(5, 3))  # ? result.shape
print(result.shape, type(result.grad_fn).__name__)
result.sum().backward()
print("output.bias.grad", net.output.bias.grad)
