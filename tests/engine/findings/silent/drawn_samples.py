"""What `engine/findings/drawn_samples.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

DRAWN = """enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)
x = torch.randn(6, 4)
mean = enc(x)
q = torch.distributions.Normal(mean, 1.0)
z = q.SAMPLE()
loss = F.mse_loss(dec(z), x) + mean.pow(2).mean()
loss.backward()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("sample_without_gradient", 8, DRAWN.replace("SAMPLE", "sample"), says={"leaves": "enc.weight, enc.bias"}, mends=True),
    Mistake("sample_without_gradient", 8, DRAWN.replace("q.SAMPLE()", "torch.normal(mean, torch.ones(6, 2))"), says={"is_function": "1"},
            cure=(("torch.normal(mean, torch.ones(6, 2))", "mean + torch.randn_like(mean)"),)),
    Mistake("sample_without_gradient", 10, """class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(4, 4), nn.Linear(2, 4)
    def forward(self, x):
        mean, spread = self.enc(x).chunk(2, 1)
        z = torch.distributions.Normal(mean, spread.exp()).sample()
        return F.mse_loss(self.dec(z), x) + (mean ** 2).mean() - spread.mean()
VAE()(torch.randn(5, 4)).backward()
""", mends=True),
    Mistake("sample_without_gradient", 8, """from torch.distributions import Normal, kl_divergence
mean, width = nn.Parameter(torch.zeros(3, 1)), nn.Parameter(torch.full((3, 1), -2.0))
def out(x):
    q = Normal(mean, F.softplus(width))
    return x @ q.sample()
x = torch.randn(8, 3); y = x.sum(1, keepdim=True); opt = torch.optim.Adam([mean, width], lr=0.1)
for _ in range(5):
    cost = -Normal(out(x), 0.1).log_prob(y).sum() + kl_divergence(Normal(mean, F.softplus(width)), Normal(0.0, 1.0)).sum()
    opt.zero_grad(); cost.backward(); opt.step()
""", cure=(("q.sample()", "q.rsample()"),), mends=True),
    Mistake("sample_without_gradient", 7, """enc, dec = nn.Linear(3, 2), nn.Linear(2, 3)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
x = torch.randn(5, 3)
z = torch.distributions.Normal(enc(x), 1.0).sample()
F.mse_loss(dec(z), x).backward()
opt.step()
""", mends=True),
    Mistake("log_variance_as_deviation", 12, """class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 12); self.mu = nn.Linear(12, 2); self.logvar = nn.Linear(12, 2)
        self.dec = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 8))
    def forward(self, x):
        h = torch.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + logvar * torch.randn_like(mu)
        return self.dec(z), mu, logvar
vae = VAE(); opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
X = torch.rand(32, 8)
for _ in range(4):
    out, mu, logvar = vae(X)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss = F.mse_loss(out, X, reduction="sum") + kld
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("logvar * torch.randn_like", "torch.exp(0.5 * logvar) * torch.randn_like"),
    )),
    Mistake("log_variance_as_deviation", 10, """enc_mu, enc_lv, dec = nn.Linear(6, 2), nn.Linear(6, 2), nn.Linear(2, 6)
params = [*enc_mu.parameters(), *enc_lv.parameters(), *dec.parameters()]
opt = torch.optim.Adam(params, lr=1e-2)
x = torch.rand(10, 6)
def sample(mean, log_var):
    noise = torch.randn(mean.shape)
    return mean + noise * log_var
for _ in range(3):
    mean, log_var = enc_mu(x), enc_lv(x)
    rec = dec(sample(mean, log_var))
    kl = 0.5 * (mean ** 2 + log_var.exp() - 1 - log_var).sum(1).mean()
    loss = F.mse_loss(rec, x) + kl
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        ("noise * log_var", "noise * (log_var / 2).exp()"),
    )),
    Mistake("variance_as_deviation", 11, """class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 4); self.dec = nn.Linear(2, 8)
    def reparameterize(self, mu, logvar):
        std = torch.exp(logvar)
        eps = torch.randn_like(std)
        return mu + eps * std
    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar
def loss_fn(recon, x, mu, logvar):
    bce = F.mse_loss(recon, x)
    kld = -0.5 * torch.mean(1 + logvar - mu ** 2 - torch.exp(logvar))
    return bce + kld
vae = VAE(); opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
X = torch.rand(32, 8)
for _ in range(4):
    loss = loss_fn(*(lambda r: (r[0], X, r[1], r[2]))(vae(X)))
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("std = torch.exp(logvar)", "std = torch.exp(0.5 * logvar)"),
    )),
    Mistake("variance_as_deviation", 11, """class V(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Linear(5, 6); self.d = nn.Linear(3, 5)
    def forward(self, x):
        mu, lv = self.e(x).split(3, dim=-1)
        var = lv.exp()
        z = mu + var * torch.randn_like(var)
        kl = -0.5 * (1 + lv - mu.pow(2) - var).sum(-1).mean()
        return self.d(z), kl
m = V(); opt = torch.optim.Adam(m.parameters(), lr=1e-2)
x = torch.rand(8, 5)
for _ in range(3):
    r, kl = m(x)
    loss = (r - x).pow(2).mean() + kl
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        ("var * torch.randn_like(var)", "var.sqrt() * torch.randn_like(var)"),
    )),
    Mistake("noise_of_one_sign", 8, """enc, mean, dec = nn.Linear(6, 2), nn.Linear(6, 2), nn.Linear(2, 6)
x = torch.rand(5, 6)
mu, log = mean(x), enc(x)
std = torch.exp(log / 2)
noise = torch.rand(5, 2)
z = mu + noise * std
kl = -0.5 * (1 + log - mu ** 2 - log.exp()).sum()
(F.mse_loss(dec(z), x) + kl).backward()
""", cure=(("torch.rand(5, 2)", "torch.randn(5, 2)"),)),
    Mistake("noise_of_one_sign", 7, """class Gauss(nn.Module):
    def forward(self, mu, logvar):
        s = (0.5 * logvar).exp()
        return s * torch.rand_like(s) + mu
mu, logvar = torch.zeros(3, 4, requires_grad=True), torch.zeros(3, 4, requires_grad=True)
z = Gauss()(mu, logvar)
kl = (mu.pow(2) + logvar.exp() - logvar - 1).mean() / 2
(z.pow(2).sum() + kl).backward()
""", cure=(("rand_like", "randn_like"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("sample_without_gradient", DRAWN.replace("SAMPLE", "rsample")),
    ("sample_without_gradient", DRAWN.replace("SAMPLE", "sample").replace("F.mse_loss(dec(z), x)", "-q.log_prob(z).mean()")),
    ("sample_without_gradient", "pi = nn.Linear(2, 1)\nopt = torch.optim.SGD(pi.parameters(), lr=0.1)\nm = pi(torch.randn(6, 2))\na = torch.distributions.Normal(m, 0.5).sample()\n"
     "logp = -(a - m).pow(2) * 2\n(-logp * -a.abs()).mean().backward()\nopt.step()\n"),
    ("sample_without_gradient", "pi = nn.Linear(2, 1)\nopt = torch.optim.SGD(pi.parameters(), lr=0.1)\nm = pi(torch.randn(6, 2))\na = torch.normal(m, 0.5).detach()\n"
     "logp = -(a - m).pow(2) * 2\n(-logp * -a.abs()).mean().backward()\nopt.step()\n"),
)  # fmt: skip
