import torch
from torch import nn

epochs, batch_size, rate = 4, 10, 1.0  # ~ epochs 1..8, batch_size 5..30 by 5, rate 0.1..3

torch.manual_seed(1)
points = 2 * torch.rand(40, 2) - 1
wanted = (points[:, :1] * points[:, 1:] > 0).float()
known, unseen = torch.randperm(40).split([30, 10])

model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)

for epoch in range(epochs):
    for rows in known[torch.randperm(30)].split(batch_size):
        scores = model(points[rows])  # ? scores.shape
        loss = loss_fn(scores, wanted[rows])
        optimizer.zero_grad()
        loss.backward()  # ? model[0].weight.grad.shape
        optimizer.step()
    with torch.no_grad():
        answers = (model(points[unseen]) > 0).float()
        right = (answers == wanted[unseen]).sum().item()
    print(f"epoch {epoch}: loss {loss.item():.4f}, {right} of 10 unseen points right")
