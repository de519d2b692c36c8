import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Linear(4, 3)
decoder = nn.Linear(2, 4)

x = torch.ones(5, 4)  # ? error.line
code = torch.relu(encoder(x))
restored = decoder(code)
print(restored.shape)
