import torch
from torch import nn

layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, dropout=0.1, batch_first=True)
encoder = nn.TransformerEncoder(layer, num_layers=2)
x = torch.randn(2, 5, 8, requires_grad=True)
mask = nn.Transformer.generate_square_subsequent_mask(5)
y = encoder(x, mask=mask, is_causal=True)
y.mean().backward()
print(y.shape, x.grad.abs().max() < 1)
