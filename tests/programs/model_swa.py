import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn

model = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
averaged = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = SWALR(optimizer, swa_lr=0.05)
data = [(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(3)]
for x, y in data:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    averaged.update_parameters(model)
    schedule.step()
update_bn([x for x, _ in data], averaged)
print(averaged.n_averaged, averaged(data[0][0]).shape)
