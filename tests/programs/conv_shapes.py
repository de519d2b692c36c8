import torch
from torch import nn

def apply(conv, X):
    Y = conv(X.view((1, 1) + X.shape))
    return Y.view(Y.shape[2:])

X = torch.rand(8, 8)
for conv in (nn.Conv2d(1, 1, 3, padding=1), nn.Conv2d(1, 1, (5, 3), padding=(2, 1)),
             nn.Conv2d(1, 1, (3, 5), padding=(0, 1), stride=(3, 4))):
    Y = apply(conv, X)
    print(Y.shape, type(Y.grad_fn).__name__)
