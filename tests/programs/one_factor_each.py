"""Nodes that multiply each element by one number, or copy it to another place."""

import torch

x = torch.tensor([0.5, 2.0, -1.5], requires_grad=True)
y = torch.tensor([1.5, 0.25, 3.0], requires_grad=True)

turned = torch.stack([x.flip(0), y]).flip(0, 1)
joined = torch.cat([turned[1], x * y], dim=-1)
ordered = joined.sort().values[torch.tensor([0, 2, 2, 5])]
mixed = torch.lerp(x, y, 0.25) + torch.xlogy(x, y) + torch.addcmul(x, x, y) + torch.atan2(x, y) + torch.logaddexp(x, y)
one = y.prod() + x.max() + y.logsumexp(0) + x.std() + torch.topk(x * x, 1).values.sum()
loss = ordered.sum() + (mixed * torch.arange(1.0, 4.0)).sum() + one
loss.backward()
print(loss.item(), x.grad, y.grad)
