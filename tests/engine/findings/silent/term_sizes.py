"""What `engine/findings/term_sizes.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

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
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = ()
