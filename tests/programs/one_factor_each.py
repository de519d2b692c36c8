"""Nodes that multiply each element by one number, or copy it to another place."""

import torch

x = torch.tensor([0.5, 2.0, -1.5], requires_grad=True)
y = torch.tensor([1.5, 0.25, 3.0], requires_grad=True)

turned = torch.stack([x.flip(0), y]).flip(0, 1)
joined = torch.cat([turned[1], x * y], dim=-1)
ordered = joined.sort().values[torch.tensor([0, 2, 2, 5])]
mixed = torch.lerp(x, y, 0.25) + torch.xlogy(x, y) + torch.addcmul(x, x, y) + torch.atan2(x, y) + torch.logaddexp(x, y)
one = y.prod() + x.max() + y.logsumexp(0) + x.std() + torch.topk(x * x, 1).values.sum()
m = torch.arange(9.0).reshape(3, 3).div(4).requires_grad_()
first, rest = m.roll(1, 1).split([1, 2])
rows = m.rot90()[1:].unbind(0)
moved = m.tril().repeat(1, 2).unfold(1, 2, 3).sum() + m.diagonal(1).expand(2, 2).cumsum(0).sum() + rows[0].sum()
whole = x.median() + m.trace() + torch.pow(2.0, y)[0] + x.exp().log1p()[1]
padded = torch.nn.functional.pad(m.triu(1).permute(1, 0), (1, 0))[:, 1].sum() + first.sum() * 3 + rest[0, 1]
chosen = torch.nn.functional.cross_entropy(m, torch.tensor([0, 2, 1])) + x.softmax(0)[1]
one = one + moved + whole + padded + chosen
loss = ordered.sum() + (mixed * torch.arange(1.0, 4.0)).sum() + one
loss.backward()
print(loss.item(), x.grad, y.grad)
