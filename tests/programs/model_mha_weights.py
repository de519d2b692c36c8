import torch
from torch import nn

attention = nn.MultiheadAttention(6, 3, batch_first=True)
query = torch.randn(1, 2, 6, requires_grad=True)
memory = torch.randn(1, 4, 6, requires_grad=True)
padding = torch.tensor([[False, False, False, True]])
out, weights = attention(query, memory, memory, key_padding_mask=padding)
(out.sum() + weights[0, 0, 0]).backward()
print(weights, memory.grad[0, 3])
