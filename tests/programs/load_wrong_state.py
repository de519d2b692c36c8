import torch
from torch import nn

model = nn.Linear(3, 2)
model.load_state_dict({"weight": torch.zeros(2, 4), "extra": torch.zeros(1)})
