import torch
from torch import nn
from torch.nn import functional as F


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.conv2 = nn.Conv2d(4, 8, 3, padding=1)
        self.classify = nn.Linear(8 * 2 * 2, 3)

    def forward(self, image):
        x = F.max_pool2d(F.relu(self.conv1(image)), 2)  # ? x.shape
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.classify(x.flatten(1))


torch.manual_seed(0)
model = SmallCNN()
images = torch.randn(2, 1, 8, 8)
labels = torch.tensor([0, 2])

loss = F.cross_entropy(model(images), labels)
loss.backward()  # ? images.grad is None
print(f"loss {loss.item():.4f}")
print("conv1 kernel gradient", tuple(model.conv1.weight.grad.shape))
