import torch
from torch import nn

torch.manual_seed(1)
features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1)).requires_grad_(False)

def gram(x):
    f = x.flatten(2)
    return f @ f.transpose(1, 2) / f.shape[2]

style, content = torch.rand(1, 3, 6, 6), torch.rand(1, 3, 6, 6)
image = content.clone().requires_grad_(True)
optimizer = torch.optim.Adam([image], lr=0.05)
for _ in range(2):
    optimizer.zero_grad()
    f = features(image)
    loss = (gram(f) - gram(features(style))).pow(2).sum() + (f - features(content)).pow(2).mean()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        image.clamp_(0, 1)
print(loss)
