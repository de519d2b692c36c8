import torch
from torch import nn
from torch.nn.utils import parametrizations

net = nn.Sequential(parametrizations.weight_norm(nn.Conv1d(1, 3, 3, padding=2, dilation=2)), nn.ELU(),
                    nn.MaxPool1d(2), nn.Conv1d(3, 1, 1, groups=1), nn.AdaptiveMaxPool1d(1))
x = torch.sin(torch.arange(16.0)).view(1, 1, 16)
out = net(x)
out.backward(torch.ones_like(out))
print(out, [n for n, _ in net.named_parameters()])
