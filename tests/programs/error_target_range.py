import torch
from torch import nn

logits = torch.zeros(2, 3, requires_grad=True)
loss = nn.CrossEntropyLoss()(logits, torch.tensor([0, 3]))
