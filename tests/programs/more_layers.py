import torch
from torch import nn
from torch.nn import functional as F

x = torch.randn(1, 4, 6, 6, requires_grad=True)
grid = F.affine_grid(torch.tensor([[[1.0, 0.1, 0.0], [0.0, 1.0, 0.1]]]), (1, 4, 6, 6), align_corners=False)
parts = [F.grid_sample(x, grid, align_corners=False), F.unfold(x, 3), nn.PixelShuffle(2)(x), nn.LocalResponseNorm(2)(x),
         nn.ConvTranspose2d(4, 2, 3)(x), nn.Conv2d(4, 4, 3, groups=4)(x), F.adaptive_max_pool2d(x, 2), F.lp_pool2d(x, 2, 2),
         nn.PReLU(4)(x), F.glu(x, dim=1), nn.Softmin(1)(x), F.cosine_similarity(x[0], x[0] + 1), nn.Bilinear(6, 6, 2)(x, x)]
sum(p.sum() for p in parts).backward()
print([tuple(p.shape) for p in parts], x.grad.norm())
