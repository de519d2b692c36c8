import torch
from torch import nn

class Classifier(nn.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.hidden = nn.Linear(784, 256)
        self.act = nn.ReLU()
        self.output = nn.Linear(256, 10)

    def forward(self, x):
        return self.output(self.act(self.hidden(x)))

net = Classifier()
print(net)
out = net(torch.randn(2, 784))
print(out.shape, sum(p.numel() for p in net.parameters()))
out.sum().backward()
