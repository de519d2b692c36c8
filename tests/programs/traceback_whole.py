import traceback
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 3), nn.Linear(2, 1))
try:
    net(torch.ones(1, 2))
except RuntimeError:
    print(traceback.format_exc())
try:
    (torch.ones(2, requires_grad=True) * 2).backward()
except RuntimeError as error:
    print(len(traceback.extract_tb(error.__traceback__)), [f.name for f in traceback.extract_tb(error.__traceback__)])
