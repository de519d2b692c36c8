import copy

import torch
from torch import nn

net = nn.Linear(2, 1)
for parameter in net.parameters():
    nn.init.zeros_(parameter)
batch = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
targets = torch.tensor([[1.0], [2.0], [3.0], [4.0]])  # ~ -5..5


def loss_of(model, inputs, wanted):
    return nn.functional.mse_loss(model(inputs), wanted)


replicas = [copy.deepcopy(net) for _ in range(2)]
for replica, inputs, wanted in zip(replicas, batch.chunk(2), targets.chunk(2)):
    loss_of(replica, inputs, wanted).backward()
    print("one half:", replica.weight.grad)

for ours in zip(*(replica.parameters() for replica in replicas)):
    mean = torch.stack([parameter.grad for parameter in ours]).mean(0)  # ? mean
    for parameter in ours:
        parameter.grad = mean.clone()
print("after the exchange:", replicas[0].weight.grad, replicas[1].weight.grad)

loss_of(net, batch, targets).backward()  # ? net.weight.grad
print("the whole batch:", net.weight.grad)
