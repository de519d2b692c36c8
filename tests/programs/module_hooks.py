import torch
from torch import nn

log = []
net = nn.Sequential(nn.Conv1d(1, 2, 3), nn.BatchNorm1d(2), nn.ReLU())
net[0].register_forward_pre_hook(lambda m, args: log.append("pre conv"))
net[0].register_forward_hook(lambda m, args, out: log.append("post conv"))
net[1].register_full_backward_hook(lambda m, gi, go: log.append("grad bn"))
net(torch.randn(2, 1, 8)).sum().backward()
print(log, net[1].running_mean, net[1].num_batches_tracked)
