import torch
from torch import nn

tower = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
anchor, positive, negative = torch.randn(3, 2, 4)
triplet = nn.TripletMarginLoss()(tower(anchor), tower(positive), tower(negative))
contrast = nn.CosineEmbeddingLoss()(tower(anchor), tower(positive), torch.tensor([1.0, -1.0]))
(triplet + contrast).backward()
print(triplet, contrast)
