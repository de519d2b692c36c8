In [1]: import torch
In [2]: torch.ones(2)
