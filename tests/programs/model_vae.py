import torch
from torch import nn

class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(6, 4)
        self.decode = nn.Linear(2, 6)

    def forward(self, x):
        mean, log_var = self.encode(x).chunk(2, dim=1)
        z = mean + torch.exp(0.5 * log_var) * torch.randn_like(mean)
        return torch.sigmoid(self.decode(z)), mean, log_var

vae = VAE()
x = torch.rand(3, 6)
y, mean, log_var = vae(x)
kl = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())
loss = nn.functional.binary_cross_entropy(y, x, reduction="sum") + kl
loss.backward()
print(loss, kl)
