"""What `engine/findings/term_sizes.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

CODER = """class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.spread, self.back = nn.Linear(9, 2), nn.Linear(9, 2), nn.Linear(2, 9)
    def forward(self, x):
        mean, spread = self.mean(x), self.spread(x)
        drawn = mean + torch.exp(0.5 * spread) * torch.randn_like(mean)
        return torch.sigmoid(self.back(drawn)), mean, spread
net = Coder()
opt = torch.optim.Adam(net.parameters(), lr=0.05)
x = (torch.rand(60, 9) > 0.5).float()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("divergence_drowns_loss", 11, """enc, dec = nn.Linear(16, 4), nn.Linear(2, 16)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.05)
pictures = torch.rand(40, 16)
for _ in range(60):
    middle, log = enc(pictures).chunk(2, 1)
    code = middle + torch.randn_like(middle) * torch.exp(log / 2)
    off = F.mse_loss(dec(code), pictures)
    far = 0.5 * (middle.square() + log.exp() - log - 1).sum()
    opt.zero_grad()
    (off + far).backward()
    opt.step()
""", cure=(
        ("F.mse_loss(dec(code), pictures)", "F.mse_loss(dec(code), pictures, reduction='sum')"),
    )),
    Mistake("divergence_drowns_loss", 19, CODER + """for _ in range(50):
    opt.zero_grad()
    made, mean, spread = net(x)
    loss = -(x * made.log() + (1 - x) * (1 - made).log()).mean()
    loss = loss - 0.5 * torch.sum(1 + spread - mean ** 2 - spread.exp())
    loss.backward()
    opt.step()
""", cure=(
        ("loss - 0.5 * torch.sum", "loss - 0.001 * torch.sum"),
    )),
    Mistake("divergence_drowns_loss", 11, """enc, dec = nn.Linear(16, 4), nn.Linear(2, 16)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.05)
pictures = torch.rand(40, 16)
for _ in range(60):
    middle, log = enc(pictures).chunk(2, 1)
    code = middle + torch.randn_like(middle) * torch.exp(log / 2)
    off = 0.5 * F.mse_loss(dec(code), pictures)
    far = -0.5 * (1 + log - middle.square() - log.exp()).sum(dim=1).mean()
    opt.zero_grad()
    (off + far).backward()
    opt.step()
""", cure=(("F.mse_loss(dec(code), pictures)", "(dec(code) - pictures).square().sum(1).mean()"),), says={"weight": "16", "share": "16", "is_each": "1"}),
    Mistake("divergence_averaged", 11, """enc, dec = nn.Linear(16, 4), nn.Linear(2, 16)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.05)
pictures = torch.rand(40, 16)
for _ in range(4):
    middle, log = enc(pictures).chunk(2, 1)
    code = middle + torch.randn_like(middle) * torch.exp(log / 2)
    off = F.mse_loss(dec(code), pictures, reduction='none').sum(1).mean()
    far = 0.5 * (middle.square() + log.exp() - log - 1).mean(1).mean()
    opt.zero_grad()
    (off + far).backward()
    opt.step()
""", cure=(
        ("- 1).mean(1)", "- 1).sum(1)"),
    )),
    Mistake("divergence_averaged", 20, CODER + """for _ in range(4):
    opt.zero_grad()
    made, mean, spread = net(x)
    loss = F.binary_cross_entropy(made, x, reduction="sum")
    kl = 1 + spread - mean ** 2 - spread.exp()
    loss = loss - 0.5 * torch.mean(kl)
    loss.backward()
    opt.step()
""", cure=(
        ("- 0.5 * torch.mean(kl)", "- 0.1 * torch.mean(kl)"),
    )),
    Mistake("penalty_drowns_loss", 8, """net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-9)
x = torch.randn(20, 5); y = x.sum(1, keepdim=True)
for _ in range(4):
    penalty = 1e5 * net.weight.abs().sum()
    loss = F.mse_loss(net(x), y) + penalty
""" + STEP, cure=(("1e5", "1e-3"),)),
    Mistake("penalty_drowns_loss", 8, """a, b = nn.Linear(3, 4), nn.Linear(4, 2)
opt = torch.optim.Adam([*a.parameters(), *b.parameters()], lr=1e-5)
x, y = torch.randn(12, 3), torch.randint(2, (12,))
for _ in range(3):
    size = a.weight.pow(2).sum().mul(5000)
    loss = F.cross_entropy(b(a(x).tanh()), y)
    loss = loss + size
""" + STEP, cure=(("5000", "0.01"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("divergence_averaged", """enc, dec = nn.Linear(16, 4), nn.Linear(2, 16)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.05)
pictures = torch.rand(40, 16)
for _ in range(4):
    middle, log = enc(pictures).chunk(2, 1)
    made = dec(middle + torch.randn_like(middle) * torch.exp(log / 2))
    apart = middle.square() + log.exp() - log - 1
    opt.zero_grad()
    (F.mse_loss(made, pictures) + 0.5 * apart.mean()).backward()
    opt.step(); opt.zero_grad()
    ((made - pictures).detach().square().sum(1).mean() + 0.5 * apart.sum(1).mean() / 2).item()
"""),
)  # fmt: skip
