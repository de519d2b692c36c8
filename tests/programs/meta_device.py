import torch
from torch import nn

m = torch.empty(1000, 1000, device="meta")
layer = nn.Linear(1000, 10, device="meta")
print(layer(m).shape, m.device, m.is_meta)
