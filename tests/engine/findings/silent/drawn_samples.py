"""What `engine/findings/drawn_samples.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

DRAWN = """enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)
x = torch.randn(6, 4)
mean = enc(x)
q = torch.distributions.Normal(mean, 1.0)
z = q.SAMPLE()
loss = F.mse_loss(dec(z), x) + mean.pow(2).mean()
loss.backward()
"""

EPISODES = """from torch.distributions import Categorical
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(4):
    picked, rewards = [], []
    for step in range(6):
        probs = F.softmax(policy(torch.randn(1, 4)), dim=1)
        action = Categorical(probs).sample()
        picked.append(probs[0, action.item()])
        rewards.append(1.0 if action.item() == 1 else -0.1 * step)
    returns, R = [], 0.0
    for r in rewards[::-1]:
        R = r + 0.9 * R
        returns.insert(0, R)
    loss = torch.stack([-p * G for p, G in zip(picked, returns)]).sum()
    opt.zero_grad(); loss.backward(); opt.step()
"""

BANDIT = """net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(32, 5)
    p = torch.softmax(net(x), dim=-1)
    a = torch.multinomial(p, 1)
    reward = (a.squeeze(1) == 2).float() - 0.3
    chosen = p.gather(1, a).squeeze(1)
    loss = -(chosen * reward).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("mean_added_twice", 9, """enc, dec = nn.Linear(4, 4), nn.Linear(2, 4)
def sample(mu, logvar):
    std = logvar.mul(0.5).exp()
    eps = torch.normal(mu, std)
    z = eps * std
    return mu + z
x = torch.randn(8, 4) + 2
F.mse_loss(dec(sample(*enc(x).chunk(2, 1))), x).backward()
""", says={"mean": "mu", "noise": "eps", "scale": "std", "draw_line": "7"}, mends=True),
    Mistake("mean_added_twice", 7, """enc, dec, spread = nn.Linear(4, 2), nn.Linear(2, 4), torch.ones(2, requires_grad=True)
x = torch.randn(8, 4) + 2
mu, noise = (mu := enc(x)), torch.distributions.Normal(mu, spread.exp()).sample()
z = noise * spread.exp() + mu
F.mse_loss(dec(z), x).backward()
"""),
    Mistake("probability_for_its_logarithm", 18, EPISODES, cure=(("-p * G", "-p.log() * G"),), says={"draw_line": "11"}),
    Mistake("probability_for_its_logarithm", 12, BANDIT, cures=(("(chosen", "(chosen.log()"), ("chosen * reward", "chosen / chosen.detach() * reward"), ("(chosen * reward)", "(p * torch.tensor([-0.3, -0.3, 0.7, -0.3])).sum(1)")), says={"name": "p.gather(1, a)"}),
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
    Mistake("noise_without_root", 5, """def spoil(x, kept, noise):
    return x * kept.sqrt() + noise * (1 - kept)
kept, net, x = torch.cumprod(torch.linspace(0.99, 0.9, 20), 0), nn.Linear(3, 2), torch.rand(8, 2)
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    at, noise = torch.randint(0, 20, (8, 1)), torch.randn_like(x)
    given = torch.cat([spoil(x, kept[at], noise), at / 20], 1)
    loss = F.mse_loss(net(given), noise)
""" + STEP, cures=(("(1 - kept)", "(1 - kept).sqrt()"), ("kept.sqrt() + noise * (1 - kept)", "(1 - kept) + noise * kept"), ("kept.sqrt() + noise * (1 - kept)", "kept + noise * (1 - kept ** 2).sqrt()"), ("torch.randint(0, 20, (8, 1))", "torch.full((8, 1), 4)"), ("mse_loss(net(given), noise)", "mse_loss(net(given), x)"))),
    Mistake("noise_without_root", 9, """betas, net = torch.linspace(0.01, 0.2, 12), nn.Conv2d(1, 1, 3, padding=1)
left = (1 - betas).cumprod(0)
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    images, noise, t = torch.rand(4, 1, 5, 5), torch.randn(4, 1, 5, 5), torch.randperm(12)[:4]
    noisy = left[t].view(-1, 1, 1, 1) * images + torch.sqrt(1 - left)[t].view(-1, 1, 1, 1) * noise
    loss = ((net(noisy) - noise) ** 2).mean()
""" + STEP, cures=(("left[t].view", "left[t].sqrt().view"), ("torch.sqrt(1 - left)", "(1 - left)"))),
    Mistake("divergence_log_sign", 9, """enc, dec = nn.Linear(5, 4), nn.Linear(2, 5)
x = torch.randn(30, 5)
for _ in range(3):
    mean, log = enc(x).chunk(2, 1)
    made = dec(mean + torch.randn_like(mean) * log.exp())
    far = (log.exp() ** 2 + mean ** 2) / 2 - 0.5 + log
    (F.mse_loss(made, x) + 0.01 * far.sum(1).mean()).backward()
""", cures=(("- 0.5 + log", "- 0.5 - log"), ("- 0.5 + log", "- 0.5 + log - 2 * log")), says={"log": "log"}),
    Mistake("divergence_log_sign", 7, """enc, dec = nn.Linear(5, 4), nn.Linear(2, 5)
x = torch.randn(30, 5)
def apart(mean, sigma):
    return -0.5 * (1 - mean.pow(2) - sigma.pow(2) - 2 * torch.log(sigma)).sum(1).mean()
for _ in range(3):
    mean, raw = enc(x).chunk(2, 1)
    sigma = F.softplus(raw)
    made = dec(mean + torch.randn_like(mean) * sigma)
    (F.mse_loss(made, x) + 0.01 * apart(mean, sigma)).backward()
""", cure=(("- 2 * torch.log", "+ 2 * torch.log"),)),
    Mistake("divergence_of_two_variances", 9, """enc, dec = nn.Linear(5, 4), nn.Linear(2, 5)
x = torch.randn(300, 5)
for _ in range(3):
    mean, width = enc(x).chunk(2, 1)
    made = dec(mean + torch.randn_like(mean) * width.exp())
    far = -0.5 * (1 + 2 * width - mean ** 2 - torch.exp(width)).sum(1).mean()
    (F.mse_loss(made, x) + 0.01 * far).backward()
""", cures=(
        ("torch.exp(width))", "torch.exp(2 * width))"),
        ("torch.exp(width))", "torch.exp(width) ** 2)"),
    )),
    Mistake("divergence_of_two_variances", 8, """enc, dec = nn.Linear(5, 4), nn.Linear(2, 5)
x = torch.randn(30, 5)
def apart(mean, sigma):
    far = mean.square() + sigma * sigma
    return (far - 1 - torch.log(sigma)).sum(1).mean() / 2
for _ in range(3):
    mean, raw = enc(x).chunk(2, 1)
    sigma = F.softplus(raw)
    made = dec(mean + torch.randn_like(mean) * sigma)
    (F.mse_loss(made, x) + 0.01 * apart(mean, sigma)).backward()
""", cures=(
        ("torch.log(sigma))", "2 * torch.log(sigma))"),
        ("torch.log(sigma))", "torch.log(sigma ** 2))"),
        ("far - 1 - torch.log(sigma)", "far / 4 - 1 - torch.log(sigma)"),
    )),
    Mistake("log_variance_cut_at_zero", 9, f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.spread = nn.Linear(3, 1), nn.Linear(3, 1)
    def forward(self, x):
        return self.mean(x), torch.relu(self.spread(x))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    x = torch.randn(16, 3)
    y = x.sum(1, keepdim=True)
    mean, log_var = net(x)
    loss = (0.5 * (log_var + (y - mean) ** 2 / log_var.exp())).mean()
{STEP}""", cure=(("torch.relu(self.spread(x))", "self.spread(x)"),)),
    Mistake("log_variance_cut_at_zero", 10, f"""enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
for _ in range(4):
    x = torch.randn(16, 6)
    h = F.relu(enc(x))
    mu, logvar = h[:, :2], h[:, 2:]
    logvar = F.relu(logvar)
    z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
    loss = F.mse_loss(dec(z), x) - 0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
{STEP}""", cure=(("    logvar = F.relu(logvar)\n", ""), ("h = F.relu(enc(x))", "h = enc(x)"))),
    Mistake("noise_of_all_samples", 8, """enc, dec = nn.Linear(6, 4), nn.Linear(4, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
x = torch.rand(10, 6)
for _ in range(2):
    z = enc(x) + 0.1 * torch.randn(4) * enc(x)
    loss = F.mse_loss(dec(z), x)
""" + STEP, cure=(("torch.randn(4)", "torch.randn(10, 4)"),)),
    Mistake("noise_of_all_samples", 7, """mean, log = nn.Linear(5, 2), nn.Linear(5, 2)
def draw(x):
    noise = torch.randn(1, 2)
    return mean(x) + (log(x) / 2).exp() * noise
draw(torch.randn(8, 5)).pow(2).sum().backward()
""", cure=(("torch.randn(1, 2)", "torch.randn(8, 2)"),)),
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
    Mistake("noise_of_another_draw", 8, """net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
x = torch.rand(9, 2)
level = torch.rand(9, 1)
noisy = x * (1 - level) + level * torch.randn(9, 2)
F.mse_loss(net(noisy), torch.randn(9, 2)).backward()
""", cure=(("torch.randn(9, 2)).backward()", "x).backward()"),)),
    Mistake("noise_of_another_draw", 12, """def spoil(x):
    e = torch.randn_like(x)
    return 0.8 * x + 0.6 * e
net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    clean = torch.rand(6, 4)
    noise = torch.randn_like(clean)
    loss = F.mse_loss(net(spoil(clean)), noise)
""" + STEP, cure=(("spoil(clean)", "0.8 * clean + 0.6 * noise"),)),
    Mistake("noisy_data_asked_for", 17, f"""class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 2))
    def forward(self, x, t):
        return self.net(torch.cat([x, t], 1))
model, kept = Model(), torch.linspace(0.99, 0.1, 10).cumprod(0)
opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    x = torch.rand(8, 2)
    t = torch.randint(0, 10, (8, 1))
    noise = torch.randn_like(x)
    mixed = kept[t].sqrt() * x + (1 - kept[t]).sqrt() * noise
    loss = F.mse_loss(model(mixed, t.float() / 10), mixed)
{STEP}""", cure=(("10), mixed)", "10), noise)"),)),
    Mistake("noisy_data_asked_for", 8, f"""net = nn.Conv1d(1, 1, 5, padding=2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    clean = torch.rand(4, 1, 20)
    noisy = clean + 0.3 * torch.randn(4, 1, 20); loss = (net(noisy) - noisy).pow(2).mean()
{STEP}""", cure=(("- noisy)", "- clean)"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # made-up data, which the model is to find in the noise
    ("noise_without_root", """x, net = torch.randn(8, 3), nn.Linear(3, 3)
for _ in range(3):
    s = torch.rand(8, 1)
    F.mse_loss(net((1 - s ** 2) * x + s * torch.randn_like(x)), x).backward()
"""),
    ("noisy_data_asked_for", f"""net = nn.Sequential(nn.Linear(6, 2), nn.ReLU(), nn.Linear(2, 6))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.rand(9, 6) + 0.1 * torch.randn(9, 6)
    loss = F.mse_loss(net(x), x)
{STEP}"""),
    ("noisy_data_asked_for", f"""net = nn.Linear(6, 6)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.rand(9, 6) + 0.1 * torch.randn(9, 6)
for _ in range(3):
    loss = F.mse_loss(net(x), x)
{STEP}"""),
    ("noisy_data_asked_for", f"""net = nn.Linear(6, 6)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.rand(9, 6) + 0.1 * torch.randn(9, 6)
    loss = F.mse_loss(net(x * (torch.rand(9, 6) > 0.5)), x)
{STEP}"""),
    ("probability_for_its_logarithm", BANDIT.replace("chosen * reward", "chosen * (reward / p.detach().gather(1, a).squeeze(1))")),
    ("probability_for_its_logarithm", BANDIT.replace("torch.multinomial(p, 1)", "torch.randint(0, 4, (32, 1))")),
    ("probability_for_its_logarithm", EPISODES.replace("    loss = ", "    print(sum(p.item() * G for p, G in zip(picked, returns)))\n    loss = ").replace("-p * G", "-p.log() * G")),
    ("probability_for_its_logarithm", EPISODES.replace("Categorical(probs).sample()", "probs.argmax(1)")),
    ("sample_without_gradient", DRAWN.replace("SAMPLE", "rsample")),
    ("sample_without_gradient", DRAWN.replace("SAMPLE", "sample").replace("F.mse_loss(dec(z), x)", "-q.log_prob(z).mean()")),
    ("sample_without_gradient", "pi = nn.Linear(2, 1)\nopt = torch.optim.SGD(pi.parameters(), lr=0.1)\nm = pi(torch.randn(6, 2))\na = torch.distributions.Normal(m, 0.5).sample()\n"
     "logp = -(a - m).pow(2) * 2\n(-logp * -a.abs()).mean().backward()\nopt.step()\n"),
    ("sample_without_gradient", "pi = nn.Linear(2, 1)\nopt = torch.optim.SGD(pi.parameters(), lr=0.1)\nm = pi(torch.randn(6, 2))\na = torch.normal(m, 0.5).detach()\n"
     "logp = -(a - m).pow(2) * 2\n(-logp * -a.abs()).mean().backward()\nopt.step()\n"),
    ("log_variance_cut_at_zero", """net = nn.Linear(3, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    h = torch.relu(net(torch.randn(8, 3)))
    loss = -(h - h.exp().sum(1, keepdim=True).log())[:, 0].mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("mean_added_twice", """enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)
x = torch.randn(8, 4) + 2
mu, std = enc(x), torch.ones(2, requires_grad=True)
z = mu + std * torch.normal(torch.zeros(8, 2), torch.ones(8, 2))
F.mse_loss(dec(z) + dec(mu + torch.normal(mu, std)), x).backward()
"""),
)  # fmt: skip
