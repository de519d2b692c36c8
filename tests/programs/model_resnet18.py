import torch
from torch import nn

class Basic(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.down = None
        if stride != 1 or inputs != outputs:
            self.down = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return torch.relu(y + (x if self.down is None else self.down(x)))

class ResNet18(nn.Module):
    def __init__(self, classes=10, width=8):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                                  nn.MaxPool2d(3, 2, 1))
        layers, inputs = [], width
        for stage in range(4):
            outputs = width * 2 ** stage
            layers += [Basic(inputs, outputs, 1 if stage == 0 else 2), Basic(outputs, outputs, 1)]
            inputs = outputs
        self.layers = nn.Sequential(*layers)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        return self.fc(self.layers(self.stem(x)).mean((2, 3)))

model = ResNet18()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
images, labels = torch.randn(2, 3, 32, 32), torch.tensor([1, 8])
loss = nn.functional.cross_entropy(model(images), labels)
optimizer.zero_grad()
loss.backward()
optimizer.step()
print(loss, sum(p.numel() for p in model.parameters()))
