import torch
from torch import nn

model = nn.Linear(2, 2)
try:
    model.cuda()
except (AssertionError, RuntimeError) as error:
    print(type(error).__name__)
