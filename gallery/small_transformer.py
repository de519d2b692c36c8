import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


torch.manual_seed(0)
embed = nn.Embedding(10, 8)
blocks = nn.Sequential(Block(8, 2), Block(8, 2))
tokens = torch.tensor([[1, 5, 2, 7]])

hidden = blocks(embed(tokens))  # ? hidden.shape
logits = hidden @ embed.weight.T  # ? logits.shape
loss = nn.functional.cross_entropy(logits[0, :-1], tokens[0, 1:])
loss.backward()
print(f"loss {loss.item():.4f}")
