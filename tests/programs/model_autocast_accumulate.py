import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = torch.randn(4, 3, 4)
optimizer.zero_grad()
for step, x in enumerate(batches, start=1):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = model(x)
    (y.float().pow(2).mean() / 2).backward()
    if step % 2 == 0:
        optimizer.step()
        optimizer.zero_grad()
print(y.dtype, model.weight)
