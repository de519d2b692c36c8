import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        if len(x) < 4:
            raise ValueError(f"batch of {len(x)} is too small")
        return self.head(self.body(x))

net = Net()
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(TensorDataset(torch.randn(6, 3), torch.randint(0, 2, (6,))), batch_size=4)
for xb, yb in loader:
    loss = nn.functional.cross_entropy(net(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4))
