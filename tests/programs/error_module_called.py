import torch

x = torch([5.5, 3])
