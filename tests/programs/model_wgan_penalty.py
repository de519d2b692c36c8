import torch
from torch import nn

critic = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))
real, fake = torch.randn(3, 2), torch.randn(3, 2)
mix = torch.rand(3, 1)
between = (mix * real + (1 - mix) * fake).requires_grad_()
score = critic(between)
(gradient,) = torch.autograd.grad(score, between, torch.ones_like(score), create_graph=True)
penalty = ((gradient.norm(dim=1) - 1) ** 2).mean()
loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
loss.backward()
print(loss, penalty)
