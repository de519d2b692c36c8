import torch
from torch import nn

steps = 10
beta = torch.linspace(1e-3, 0.1, steps)
alpha_bar = torch.cumprod(1 - beta, 0)
denoise = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(denoise.parameters(), lr=1e-2)
for _ in range(2):
    x = torch.randn(8, 2)
    t = torch.randint(0, steps, (8,))
    noise = torch.randn_like(x)
    a = alpha_bar[t][:, None]
    noisy = a.sqrt() * x + (1 - a).sqrt() * noise
    loss = ((denoise(torch.cat([noisy, t[:, None] / steps], 1)) - noise) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    x = torch.randn(2, 2)
    for t in reversed(range(steps)):
        guess = denoise(torch.cat([x, torch.full((2, 1), t / steps)], 1))
        x = (x - beta[t] / (1 - alpha_bar[t]).sqrt() * guess) / (1 - beta[t]).sqrt()
print(loss, x)
