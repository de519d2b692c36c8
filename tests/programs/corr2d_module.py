import torch
from torch import nn

def corr2d(X, K):
    h, w = K.shape
    Y = torch.zeros((X.shape[0] - h + 1, X.shape[1] - w + 1))
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            Y[i, j] = (X[i:i + h, j:j + w] * K).sum()
    return Y

class HandConv(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size))
        self.bias = nn.Parameter(torch.randn(1))

    def forward(self, x):
        return corr2d(x, self.weight) + self.bias

X = torch.arange(12.0).view(3, 4)
conv = HandConv((2, 2))
Y = conv(X)
Y.sum().backward()
built_in = torch.nn.functional.conv2d(X[None, None], conv.weight[None, None], conv.bias)[0, 0]
print(conv.weight.grad, conv.bias.grad, torch.allclose(Y, built_in))
