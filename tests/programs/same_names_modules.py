import torch
from torch import nn


def trained(seed, optimizer_class, **settings):
    torch.manual_seed(seed)
    model = nn.Linear(2, 1)
    opt = optimizer_class(model.parameters(), **settings)
    for step in range(3):
        x = torch.randn(4, 2)
        loss = model(x).pow(2).mean()
        loss.backward()
        opt.step()
        if step != 1:
            opt.zero_grad()
    return model


first = trained(1, torch.optim.SGD, lr=0.1)
second = trained(2, torch.optim.AdamW, lr=0.05)
model = trained(3, torch.optim.SGD, lr=0.2)
x = torch.ones(1, 2)
loss = first(x) + second(x) * model(x)
loss.sum().backward()
