import torch
from torch import nn

image = torch.arange(36.0).view(1, 1, 6, 6).requires_grad_()


def expected(size, kernel, padding, stride):
    return (size + 2 * padding - kernel) // stride + 1


for padding, stride in [(0, 1), (1, 1), (1, 2)]:
    layer = nn.Conv2d(1, 1, kernel_size=3, padding=padding, stride=stride, bias=False)
    nn.init.constant_(layer.weight, 1.0)
    result = layer(image)
    print(f"padding {padding}, stride {stride}:", tuple(result.shape[2:]), expected(6, 3, padding, stride))

biggest = nn.MaxPool2d(2)(image)  # ? biggest.shape
# ~ 1..3
average = nn.AvgPool2d(2)(image)
print("largest of each window", biggest.flatten().tolist())
print("mean of each window", average.flatten().tolist())
(biggest.sum() + average.sum()).backward()
print("image.grad, its first two rows:")
print(image.grad[0, 0, :2])
