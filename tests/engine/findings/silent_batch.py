"""Models that mix the samples of a batch, each with what keeps them apart; and right ones that couple them."""

from tests.engine.findings.silent import Case
from tests.engine.findings.silent_values import Pair

PAIRS = (
    Pair("summed_over_samples", 9, """actor, critic = nn.Linear(3, 4), nn.Linear(5, 1)
def act(state):
    mean, scale = actor(state).chunk(2, -1)
    dist = torch.distributions.Normal(mean, scale.exp())
    action = dist.rsample()
    return action, dist.log_prob(action).sum()
opt = torch.optim.Adam(actor.parameters())
for _ in range(3):
    state = torch.randn(8, 3)
    action, density = act(state)
    loss = (0.2 * density - critic(torch.cat([state, action], -1))).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (("log_prob(action).sum()", "log_prob(action).sum(-1, keepdim=True)"), ("(0.2 * density - critic(torch.cat([state, action], -1))).mean()", "(0.2 * density.mean() - critic(torch.cat([state, action], -1))).mean()"))),
    Pair("summed_over_samples", 13, """class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.shift = nn.Linear(2, 2), nn.Linear(2, 2)
    def forward(self, x):
        scale = torch.tanh(self.scale(x))
        return x * scale.exp() + self.shift(x), scale.sum(1)
flow = Flow()
z, volume = flow(torch.randn(6, 2))
loss = -(-0.5 * z.pow(2).sum(1) + volume.sum()).mean()
loss.backward()
""", (("volume.sum()", "volume"), ("+ volume)", "+ sum(p.pow(2).sum() for p in flow.parameters()))"))),
    Pair("samples_share", 9, """class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.g, self.v, self.o = nn.Linear(6, 4), nn.Linear(6, 4), nn.Linear(4, 3)
    def forward(self, x):
        weights = torch.softmax(self.g(x), dim=0)
        return self.o(weights * self.v(x))
net = Gate(); opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(10, 6), torch.randint(0, 3, (10,))
for _ in range(3):
    opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
""", (
        ("dim=0", "dim=1"),
    )),
    Pair("samples_share", 10, """class Unit(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 5), nn.Linear(5, 3)
    def forward(self, x):
        h = self.a(x).relu()
        h = F.normalize(h, dim=0)
        return self.b(h)
net = Unit()
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(10, 6), torch.randint(0, 3, (10,))
for _ in range(3):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
""", (
        ("dim=0", "dim=1"),
    )),
)  # fmt: skip
TRIGGERS = tuple(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS)
COUPLED = (
    """class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 4), nn.Linear(5, 4)
    def forward(self, x, z):
        return F.normalize(self.a(x), dim=1) @ F.normalize(self.b(z), dim=1).T
net = Clip(); opt = torch.optim.Adam(net.parameters())
x, z = torch.randn(8, 6), torch.randn(8, 5)
for _ in range(3):
    s = net(x, z); t = torch.arange(8)
    loss = F.cross_entropy(s, t) + F.cross_entropy(s.T, t)
    opt.zero_grad(); loss.backward(); opt.step()
""",
    """class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.g, self.b = nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8))
    def forward(self, x):
        x = (x - x.mean(0)) / (x.var(0) + 1e-5).sqrt()
        return self.g * x + self.b
net = nn.Sequential(nn.Linear(4, 8), Norm(), nn.ReLU(), nn.BatchNorm1d(8), nn.Linear(8, 3)); opt = torch.optim.SGD(net.parameters(), lr=.1)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for _ in range(3):
    opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
""",
    """class Ghost(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 16); self.o = nn.Linear(16, 3)
    def forward(self, x):
        h = self.fc(x)
        parts = h.view(4, 4, 16)
        parts = (parts - parts.mean(1, keepdim=True)) / parts.std(1, keepdim=True)
        return self.o(parts.view(16, 16))
net = Ghost(); opt = torch.optim.SGD(net.parameters(), lr=.1)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for _ in range(3):
    opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
""",
    """# POS tagging tutorial: one sentence
emb, lstm, tag = nn.Embedding(12, 6), nn.LSTM(6, 6), nn.Linear(6, 3)
opt = torch.optim.SGD([*emb.parameters(), *lstm.parameters(), *tag.parameters()], lr=.1)
s, t = torch.tensor([0, 1, 2, 3, 4]), torch.tensor([0, 1, 2, 0, 1])
for _ in range(3):
    opt.zero_grad()
    e = emb(s)
    out, _ = lstm(e.view(len(s), 1, -1))
    F.nll_loss(F.log_softmax(tag(out.view(len(s), -1)), dim=1), t).backward(); opt.step()
""",
    """# time-major regression, target for every step of every series
class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.fc = nn.GRU(3, 8), nn.Linear(8, 1)
    def forward(self, x):
        return self.fc(self.rnn(x)[0]).squeeze(-1)
net = Forecast(); opt = torch.optim.Adam(net.parameters())
x = torch.randn(20, 4, 3); y = torch.randn(20, 4)
for _ in range(3):
    opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()
""",
    """# nodes of one graph, attention over all of them
class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.a, self.o = nn.Linear(5, 8), nn.Linear(8, 1), nn.Linear(8, 3)
    def forward(self, x, adj):
        h = self.w(x)
        e = (self.a(h) + self.a(h).T).masked_fill(adj == 0, float('-inf'))
        return self.o(torch.softmax(e, dim=1) @ h)
net = GAT(); opt = torch.optim.Adam(net.parameters())
x = torch.randn(9, 5); adj = (torch.rand(9, 9) > .5).float() + torch.eye(9); y = torch.randint(0, 3, (9,))
for _ in range(3):
    opt.zero_grad(); F.cross_entropy(net(x, adj), y).backward(); opt.step()
""",
    """# one long series, unbatched layers, one target a step
class Series(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.att, self.fc = nn.LSTM(3, 8), nn.MultiheadAttention(8, 2), nn.Linear(8, 1)
    def forward(self, x):
        h, _ = self.rnn(x)
        h = h + self.att(h, h, h)[0]
        return self.fc(h).squeeze(-1)
net = Series(); opt = torch.optim.Adam(net.parameters())
x = torch.randn(20, 3); y = torch.randn(20)
for _ in range(3):
    opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()
""",
    """# windows of an image, as Swin does, and patches
class Win(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Conv2d(3, 8, 2, 2); self.att = nn.MultiheadAttention(8, 2, batch_first=True); self.fc = nn.Linear(8, 3)
    def forward(self, x):
        x = self.p(x).permute(0, 2, 3, 1)
        b, h, w, c = x.shape
        x = x.view(b, h // 2, 2, w // 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, c)
        x = x + self.att(x, x, x)[0]
        x = x.view(b, h // 2, w // 2, 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return self.fc(x.mean((1, 2)))
net = Win(); opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(4, 3, 16, 16), torch.randint(0, 3, (4,))
for _ in range(3):
    opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
""",
    """# siamese pairs in one batch, and multiple instances with one label for each bag
class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.f, self.a = nn.Linear(5, 4), nn.Linear(8, 2), nn.Linear(5, 1)
    def forward(self, x, bag):
        pairs = self.e(x).view(-1, 8)
        weights = torch.softmax(self.a(bag), dim=0)
        return self.f(pairs), (weights * bag).sum(0)
net = Pairs(); opt = torch.optim.Adam(net.parameters())
x, y, bag = torch.randn(8, 5), torch.randint(0, 2, (4,)), torch.randn(8, 5)
for _ in range(3):
    out, b = net(x, bag)
    opt.zero_grad(); (F.cross_entropy(out, y) + F.mse_loss(b, torch.zeros(5))).backward(); opt.step()
""",
    """# retrieval: the score of each row of a memory for one query, one target for each row
class Rank(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(5, 1)
    def forward(self, items):
        return torch.softmax(self.f(items), dim=0).squeeze(1)
net = Rank(); opt = torch.optim.Adam(net.parameters())
items, relevant = torch.randn(8, 5), F.one_hot(torch.tensor(2), 8).float()
for _ in range(3):
    opt.zero_grad(); F.binary_cross_entropy(net(items), relevant).backward(); opt.step()
""",
)
"""Right programs whose samples meet: contrastive, normalised by hand, of one sequence, of one graph, in windows, in pairs,
ranked against each other."""
NEAR_MISSES = (
    *((pair.code, pair.mended()) for pair in PAIRS),
    *((code, program) for code in sorted({pair.code for pair in PAIRS}) for program in COUPLED),
    # two numbers that are no samples
    (
        "summed_over_samples",
        """x = torch.tensor([1.5, -2.0], requires_grad=True)
y = x * 0.5
z = y * y + x.sum()
z.mean().backward()
""",
    ),
)
