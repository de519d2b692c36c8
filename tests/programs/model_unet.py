import torch
from torch import nn

class Double(nn.Sequential):
    def __init__(self, a, b):
        super().__init__(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(2, b), nn.SiLU())

class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = Double(1, 4), Double(4, 8), Double(8, 8)
        self.up2, self.up1 = nn.ConvTranspose2d(8, 8, 2, 2), nn.Upsample(scale_factor=2, mode="bilinear")
        self.merge2, self.merge1 = Double(16, 8), Double(12, 4)
        self.out = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(nn.functional.max_pool2d(a, 2))
        c = self.middle(nn.functional.max_pool2d(b, 2))
        y = self.merge2(torch.cat([b, self.up2(c)], 1))
        y = self.merge1(torch.cat([a, self.up1(y)], 1))
        return self.out(y)

net = UNet()
image = torch.randn(1, 1, 8, 8)
loss = nn.functional.binary_cross_entropy_with_logits(net(image), (image > 0).float())
loss.backward()
print(loss, net.out.bias.grad)
