import torch
from torch.nn import functional as F

x = torch.randn(2, 4, 6, requires_grad=True)
y = F.layer_norm(x, (6,)) + F.group_norm(x, 2) + F.instance_norm(x) + F.batch_norm(x, None, None, training=True)
y = F.dropout(y, 0.3) + F.gelu(y) + F.softplus(y) + F.elu(y) + F.hardswish(y) + F.mish(y)
z = F.avg_pool1d(y, 2) + F.max_pool1d(y, 2) + F.interpolate(y, size=3, mode="linear")
F.normalize(z, dim=1).sum().backward()
print(z.shape, x.grad.shape)
