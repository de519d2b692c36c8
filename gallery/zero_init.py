import torch
from torch import nn

at = torch.zeros(2, requires_grad=True)
(at[0].tanh() + at[1].sigmoid()).backward()  # ? at.grad
print("slopes of tanh and sigmoid at 0:", at.grad)

torch.manual_seed(1)
points = torch.randn(8, 2)
targets = (points[:, :1] * points[:, 1:]).sign()


def train(net, start, lr=0.5):  # ~ lr 0.1..2
    for parameter in net.parameters():
        nn.init.constant_(parameter, start)
    for step in range(5):
        loss = nn.functional.mse_loss(net(points), targets)
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= lr * parameter.grad


zero, alike = [nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)) for _ in range(2)]
train(zero, 0.0)  # ? zero[0].weight.grad
train(alike, 0.5)
print("from zero, hidden gradient:", zero[0].weight.grad.abs().max().item())
print("from zero, output gradient:", zero[2].weight.grad.abs().max().item())
print("from 0.5, rows of the hidden weight:", alike[0].weight.data)
