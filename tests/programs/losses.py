import torch
from torch import nn

logits = torch.tensor([[1.0, 2.0, 0.5], [0.1, 0.2, 3.0]], requires_grad=True)
labels = torch.tensor([1, 2])
target = torch.zeros(2, 3)
target[0, 1] = target[1, 2] = 1
total = nn.CrossEntropyLoss()(logits, labels) + nn.MSELoss()(logits, target) + nn.L1Loss()(logits, target) \
    + nn.BCEWithLogitsLoss()(logits, target) + nn.SmoothL1Loss()(logits, target) \
    + nn.KLDivLoss(reduction="batchmean")(logits.log_softmax(1), target.softmax(1)) + nn.HuberLoss()(logits, target)
total.backward()
print(total, logits.grad)
