import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

X = torch.randn(24, 3)
y = (X.sum(1) > 0).long()
train, test = random_split(TensorDataset(X, y), [18, 6])
loader = DataLoader(train, batch_size=6, shuffle=True)
model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(2):
    model.train()
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        correct = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in DataLoader(test, batch_size=3))
    print(epoch, round(total / len(train), 5), correct)
