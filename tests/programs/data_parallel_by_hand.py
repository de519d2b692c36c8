import copy
import torch
from torch import nn

model = nn.Linear(3, 2)
replicas = [copy.deepcopy(model) for _ in range(2)]
x = torch.arange(12.0).view(4, 3)
model(x).sum().backward()
for replica, shard in zip(replicas, x.chunk(2)):
    replica(shard).sum().backward()
total = sum(r.weight.grad for r in replicas)
print(torch.allclose(total, model.weight.grad))
wrapped = nn.DataParallel(model)
print([n for n, _ in wrapped.named_parameters()])
print(wrapped(x).shape)
