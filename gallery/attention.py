import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)

    def forward(self, words):
        q, k, v = self.query(words), self.key(words), self.value(words)
        scores = q @ k.transpose(0, 1) / math.sqrt(words.shape[1])
        weights = scores.softmax(dim=1)
        return weights @ v, weights


torch.manual_seed(0)
words = torch.randn(3, 4, requires_grad=True)
attention = Attention(4)

mixed, weights = attention(words)  # ? weights.shape
mixed[0].sum().backward()  # ? words.grad.shape

print("the first word looks at", weights[0].data)
print("gradient for each word", words.grad.norm(dim=1))
