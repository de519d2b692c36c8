"""What `engine/findings/shared_data.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import SGD, STEP, THREE_LINES, Mistake

NOISY = (
    """from torch.utils.data import DataLoader, Dataset
class Noisy(Dataset):
    def __init__(self): self.x = torch.arange(24.).view(8, 3) / 24
    def __len__(self): return 8
    def __getitem__(self, i):
        torch.manual_seed(5)
        return self.x[i] + torch.randn(3)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in DataLoader(Noisy(), batch_size=4):
    loss = net(x).pow(2).mean()
"""
    + THREE_LINES
)

MISTAKES: tuple[Mistake, ...] = (
    Mistake("argument_changed", 9, """class Bias(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(4))
    def forward(self, x):
        x += self.bias
        return x
net, x = Bias(), torch.randn(8, 4)
y, opt = x + 1, torch.optim.Adam(net.parameters(), lr=0.01)
for i in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
""", cures=(("x += self.bias", "x = x + self.bias"), ("net(x), y)", "net(x.clone()), y)")), says={"right": "x = x + self.bias", "is_followed": "1"}, mends=True),
    Mistake("argument_changed", 8, """class Scaled(nn.Module):
    def __init__(self):
        super().__init__(); self.layer = nn.Linear(4, 1)
    def forward(self, pixels):
        pixels.div_(3)
        return self.layer(pixels)
net, x, y = Scaled(), torch.rand(8, 4) * 255, torch.randn(8, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for i in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("pixels.div_(3)", "pixels = pixels / 3"),), says={"is_followed": "0"}, mends=True),
    Mistake("changed_by_reading", 11, """from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self):
        self.data = torch.randn(8, 3) + 5
    def __len__(self):
        return 8
    def __getitem__(self, at):
        return self.data[at].sub_(5)
net, data = nn.Linear(3, 1), Rows()
for epoch in range(2):
    for rows in DataLoader(data, batch_size=4):
        net(rows).sum().backward()
""", cures=((".sub_(5)", " - 5"), ("(data, batch", "(Rows(), batch")), mends=True),
    Mistake("changed_by_reading", 13, """import numpy as np
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self):
        self.rows = np.ones((8, 3), dtype=np.float32)
    def __len__(self):
        return 8
    def __getitem__(self, at):
        row = torch.from_numpy(self.rows[at])
        row.add_(torch.randn(3))
        return row
net = nn.Linear(3, 1)
for rows in DataLoader(Rows(), batch_size=4):
    net(rows).sum().backward()
""", cures=(("row.add_(torch", "row = row.add(torch"), ("self.rows[at])", "self.rows[at].copy())")), mends=True),
    Mistake("changed_by_reading", 11, """class Scaled(torch.utils.data.Dataset):
    def __init__(self):
        self.x, self.y = torch.rand(6, 2) * 255, torch.zeros(6)
    def __len__(self):
        return 6
    def __getitem__(self, i):
        image = self.x[i]
        image /= 255
        return image, self.y[i]
scaled, net = Scaled(), nn.Linear(2, 1)
for epoch in range(2):
    for i in range(6):
        image, y = scaled[i]
        F.mse_loss(net(image).squeeze(), y).backward()
""", cure=(("image /= 255", "image = image / 255"),), mends=True),
    Mistake("changed_by_reading", 11, """class Noisy(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        row = self.rows[i]
        row += torch.randn(row.shape)
        return row, row.sum()
net, loader = nn.Linear(20, 1), torch.utils.data.DataLoader(Noisy(torch.randn(30, 20)), batch_size=6, shuffle=True)
for epoch in range(12):
    for rows, sums in loader:
        F.mse_loss(net(rows).squeeze(1), sums).backward()
""", cure=(("self.rows[i]", "self.rows[i].clone()"),), mends=True),
    Mistake("changed_by_reading", 9, SGD + """for epoch in range(2):
    xb, yb = x[0:4], y[0:4]
    xb += 0.1 * torch.randn(4, 2)
    opt.zero_grad()
    F.mse_loss(net(xb), yb).backward()
    opt.step()
""", says={"name": "x", "view": "xb"}, mends=True),
    Mistake("row_matched_with_itself", 7, """net = nn.Linear(4, 3)
z = F.normalize(net(torch.randn(6, 4)), dim=1)
similar = z @ z.T / 0.1
loss = F.cross_entropy(similar, torch.arange(6))
loss.backward()
""", cures=(("z @ z.T", "z @ F.normalize(net(torch.randn(6, 4)), dim=1).T"), ("torch.arange(6)", "torch.arange(6).flip(0)"))),
    Mistake("row_matched_with_itself", 7, """def contrast(a, b):
    both = torch.cat([a, b])
    labels = torch.arange(len(both))
    return F.cross_entropy(torch.matmul(both, both.t()), labels)
net = nn.Linear(4, 3)
contrast(net(torch.randn(4, 4)), net(torch.randn(4, 4))).backward()
""", cure=(("torch.matmul(both, both.t())", "torch.matmul(both, both.t()).fill_diagonal_(-9.)"),)),
    Mistake("row_against_itself", 11, f"""net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(6, 5)
    z = F.normalize(torch.cat([net(x), net(x + 0.1 * torch.randn(6, 5))]), dim=1)
    sim = F.cosine_similarity(z.unsqueeze(1), z.unsqueeze(0), dim=2) / 0.5
    pos = torch.cat([sim.diagonal(6), sim.diagonal(-6)])
    loss = (torch.exp(sim).sum(1).log() - pos).mean()
{STEP}""", cure=(("torch.exp(sim).sum", "torch.exp(sim.masked_fill(torch.eye(12, dtype=torch.bool), float('-inf'))).sum"),)),
    Mistake("row_against_itself", 10, f"""def nt_xent(a, b, t):
    z = F.normalize(torch.cat([a, b]), dim=1)
    n = len(a)
    sim = torch.exp(z @ z.t() / t)
    pos = torch.exp((z[:n] * z[n:]).sum(-1) / t)
    pos = torch.cat([pos, pos])
    return -torch.log(pos / sim.sum(dim=1)).mean()
net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(6, 5)
    loss = nt_xent(net(x), net(x + 0.1 * torch.randn(6, 5)), 0.5)
{STEP}""", cure=(("z @ z.t() / t", "(z @ z.t() / t).masked_fill(torch.eye(12, dtype=torch.bool), float('-inf'))"),)),
    Mistake("row_against_itself", 12, f"""net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rows = torch.arange(12)
twins = (rows + 6) % 12
for _ in range(3):
    x = torch.randn(6, 5)
    z = F.normalize(net(torch.cat([x, x + 0.1 * torch.randn(6, 5)])), dim=1)
    logits = torch.mm(z, z.t()) / 0.1
    loss = (logits.logsumexp(1) - logits[rows, twins]).mean()
{STEP}""", cure=(("torch.mm(z, z.t()) / 0.1", "(torch.mm(z, z.t()) / 0.1).fill_diagonal_(-1e9)"),)),
    Mistake("row_against_itself", 8, """enc = nn.Linear(6, 4)
opt = torch.optim.Adam(enc.parameters())
x, pair = torch.randn(8, 6), torch.arange(8).roll(4)
for _ in range(2):
    z = F.normalize(enc(x), dim=1); loss = F.cross_entropy(z @ z.T / 0.5, pair)
""" + STEP, cure=(("z @ z.T / 0.5", "(z @ z.T / 0.5).fill_diagonal_(-9e9)"),)),
    Mistake("row_against_itself", 6, """def info(z, labels):
    scores = torch.mm(z, z.t())
    return F.cross_entropy(scores, labels)
net = nn.Linear(3, 5)
info(net(torch.randn(4, 3)), torch.tensor([1, 0, 3, 2])).backward()
""", cure=(("torch.mm(z, z.t())", "torch.mm(z, z.t()) - 1e9 * torch.eye(4)"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # a state that is kept on purpose, and a batch of its own in every turn
    ("argument_changed", """class Normed(nn.Module):
    def __init__(self):
        super().__init__(); self.layer = nn.Linear(4, 1)
    def forward(self, x, middle):
        middle.mul_(0.9)
        middle.add_(0.1 * x.mean(0))
        return self.layer(x - middle)
net, middle, x, y = Normed(), torch.zeros(4), torch.randn(8, 4) + 2, torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(5):
    loss = F.mse_loss(net(x, middle), y)
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("argument_changed", """class Scaled(nn.Module):
    def __init__(self):
        super().__init__(); self.layer = nn.Linear(4, 1)
    def forward(self, x):
        x /= 255
        return self.layer(x)
net, y = Scaled(), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(5):
    loss = F.mse_loss(net(torch.rand(8, 4) * 255), y)
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    # it is the caller that reads what was changed
    ("argument_changed", """def worn(trace, by):
    trace.mul_(by)
net, trace, y = nn.Linear(4, 1), torch.ones(8, 4), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(5):
    worn(trace, 0.9)
    loss = F.mse_loss(net(trace), y)
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("row_against_itself", f"""net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(6, 5)
    a, b = F.normalize(net(x), dim=1), F.normalize(net(x + 0.1 * torch.randn(6, 5)), dim=1)
    z = torch.cat([a, b])
    sim = torch.exp(z @ z.t() / 0.5)
    pos = torch.exp((a * b).sum(-1) / 0.5).repeat(2)
    loss = -torch.log(pos / (sim.sum(1) - 7.389)).mean()
{STEP}"""),
    ("changed_by_reading", SGD + """for epoch in range(2):
    xb, yb = x[0:4].clone(), y[0:4]
    xb += 0.1 * torch.randn(4, 2)
    opt.zero_grad()
    F.mse_loss(net(xb), yb).backward()
    opt.step()
"""),
)  # fmt: skip
