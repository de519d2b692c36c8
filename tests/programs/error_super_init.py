import torch
from torch import nn

class Conv2D(nn.Module):
    def __init__(self, size):
        super(Conv2D, self).__init()
        self.weight = nn.Parameter(torch.randn(size))

conv = Conv2D((2, 2))
