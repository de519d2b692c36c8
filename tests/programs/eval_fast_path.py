import torch
from torch import nn

layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
x = torch.randn(1, 3, 8)
with torch.no_grad():
    fast = layer(x)
slow = layer(x)
print(torch.allclose(fast, slow, atol=1e-5), fast.requires_grad, slow.requires_grad)
