import torch
from torch import nn

def make_layers(plan):
    layers, channels = [], 3
    for step in plan:
        if step == "M":
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(channels, step, 3, padding=1), nn.BatchNorm2d(step), nn.ReLU(inplace=True)]
            channels = step
    return nn.Sequential(*layers)

features = make_layers([8, "M", 16, "M", 16, 16, "M"])
head = nn.Sequential(nn.Flatten(), nn.Linear(16 * 4, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 10))
loss = nn.functional.nll_loss(head(features(torch.randn(2, 3, 16, 16))).log_softmax(1), torch.tensor([1, 7]))
loss.backward()
print(loss)
