import torch
from torch import nn

log_probs = torch.randn(5, 2, 4).log_softmax(2).detach().requires_grad_()
ctc = nn.CTCLoss()(log_probs, torch.tensor([[1, 2], [3, 0]]), torch.tensor([5, 5]), torch.tensor([2, 1]))
x = torch.randn(3, 4, requires_grad=True)
other = nn.MultiMarginLoss()(x, torch.tensor([0, 1, 3])) + nn.GaussianNLLLoss()(x, torch.zeros(3, 4), torch.ones(3, 4))
other = other + nn.CrossEntropyLoss(label_smoothing=0.1, weight=torch.tensor([1.0, 2.0, 1.0, 0.5]))(x, torch.tensor([0, 1, 3]))
other = other + nn.MarginRankingLoss()(x[0], x[1], torch.ones(4)) + nn.PoissonNLLLoss()(x, torch.ones(3, 4))
(ctc + other).backward()
print(ctc, other, x.grad)
