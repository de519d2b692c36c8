import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.linspace(-1, 1, 8).view(8, 1)
samples = TensorDataset(x, 3 * x)

model = nn.Linear(1, 1)
loss_fn = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)  # ~ lr 0.05..0.5 by 0.05

for inputs, wanted in DataLoader(samples, batch_size=4, shuffle=True):
    loss = loss_fn(model(inputs), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.3f}")

kept = model.state_dict()
copy = nn.Linear(1, 1)
copy.load_state_dict(kept)
with torch.no_grad():
    apart = (copy(x) - model(x)).abs().max()  # ? apart
print("the copy is off by", apart.item(), "- kept:", list(kept))
