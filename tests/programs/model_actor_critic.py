import torch
from torch import nn
from torch.distributions import Categorical, Normal

policy, value = nn.Linear(3, 2), nn.Linear(3, 1)
state = torch.randn(4, 3)
choices = Categorical(logits=policy(state))
action = choices.sample()
advantage = torch.tensor([1.0, -1.0, 0.5, 2.0])[:, None] - value(state)
loss = -(choices.log_prob(action)[:, None] * advantage.detach()).mean() + advantage.pow(2).mean() - 0.01 * choices.entropy().mean()
loss.backward()
print(action, loss)
spread = torch.tensor([0.5, 1.0], requires_grad=True)
Normal(torch.zeros(2), spread).rsample().sum().backward()
print(spread.grad)
