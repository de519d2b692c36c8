import copy
import random
from collections import deque
import torch
from torch import nn

q = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
target = copy.deepcopy(q)
memory = deque(maxlen=50)
for _ in range(20):
    memory.append((torch.randn(4), random.randrange(2), random.random(), torch.randn(4)))
optimizer = torch.optim.RMSprop(q.parameters(), lr=1e-3)
for step in range(3):
    states, actions, rewards, following = zip(*random.sample(list(memory), 4))
    value = q(torch.stack(states)).gather(1, torch.tensor(actions)[:, None]).squeeze(1)
    with torch.no_grad():
        goal = torch.tensor(rewards) + 0.9 * target(torch.stack(following)).max(1).values
    loss = nn.functional.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 5))
target.load_state_dict(q.state_dict())
