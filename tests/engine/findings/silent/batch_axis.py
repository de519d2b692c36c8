"""What `engine/findings/batch_axis.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("samples_share", 9, """class Gate(nn.Module):
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
""", cure=(
        ("dim=0", "dim=1"),
    )),
    Mistake("samples_share", 10, """class Unit(nn.Module):
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
""", cure=(
        ("dim=0", "dim=1"),
    )),
    Mistake("samples_share", 10, """class Unit(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 5), nn.Linear(5, 3)
    def forward(self, x):
        h = self.a(x)
        h = h / h.norm(dim=0)
        return self.b(h)
net = Unit()
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(10, 6), torch.randint(0, 3, (10,))
for _ in range(3):
    opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
""", says={"op": "norm", "keep": ", keepdim=True"}, cure=(("dim=0", "dim=-1, keepdim=True"),)),
    Mistake("samples_averaged", 12, """class Duel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
        self.worth, self.gain = nn.Linear(16, 1), nn.Linear(16, 3)
    def forward(self, state):
        h = self.body(state)
        worth, gain = self.worth(h), self.gain(h)
        return worth + (gain - gain.mean())
net = Duel()
with torch.no_grad():
    aim = torch.randn(8) + net(torch.randn(8, 4)).amax(1)
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    chosen = net(torch.randn(8, 4)).gather(1, torch.randint(0, 3, (8, 1))).squeeze(1)
    loss = F.smooth_l1_loss(chosen, aim)
""" + STEP, cures=(("gain.mean()", "gain.mean(1, keepdim=True)"), ("gain.mean()", "gain.mean().detach() * 0"), ("return worth + (gain - gain.mean())", "self.seen = gain.mean(); return worth + gain"))),
    Mistake("samples_averaged", 10, """class Centred(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 6), nn.Linear(6, 1)
    def forward(self, x):
        h = self.a(x).tanh()
        middle = torch.mean(h)
        h = h - middle
        return self.b(h)
net, x = Centred(), torch.randn(8, 5)
for _ in range(2):
    F.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
""", cures=(("torch.mean(h)", "torch.mean(h, -1, keepdim=True)"), ("h = h - middle", "h = h - 0 * self.b(h) + middle * 0"))),
    Mistake("samples_averaged", 9, """class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.fc = nn.Embedding(9, 4), nn.Linear(4, 2)
    def forward(self, ids):
        return self.fc(self.words(ids).mean(0))
net = Bag(); opt = torch.optim.Adam(net.parameters())
ids = torch.randint(0, 9, (6, 6)); y = (ids[:, 0] > 4).long()
for _ in range(2):
    loss = F.cross_entropy(net(ids), y)
""" + STEP, cures=((".mean(0)", ".mean(1)"), ("ids[:, 0]", "ids[0]"))),
    Mistake("samples_averaged", 11, """class Frames(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 8), nn.Linear(8, 2)
    def forward(self, x):
        h = self.a(x).relu()
        h = h.transpose(1, 2)
        pooled = h.amax(dim=0).t()
        return self.b(pooled)
net = Frames(); x = torch.randn(6, 5, 3)
F.cross_entropy(net(x)[[0, 1, 2, 3, 4, 0]], torch.randint(0, 2, (6,))).backward()
""", cure=(("h.amax(dim=0).t()", "h.amax(dim=2)"),)),
    Mistake("samples_told_apart", 10, """class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.fc = nn.Embedding(9, 4), nn.Linear(4, 2)
        self.place = nn.Parameter(torch.randn(20, 1, 4))
    def forward(self, ids):
        h = self.words(ids) + self.place[:ids.size(0)]
        return self.fc(h.tanh().mean(1))
net = Tagger()
F.cross_entropy(net(torch.randint(0, 9, (6, 7))), torch.randint(0, 2, (6,))).backward()
""", cure=(("self.place[:ids.size(0)]", "self.place[:ids.size(1)].transpose(0, 1)"),)),
    Mistake("samples_told_apart", 10, """class Coded(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("code", torch.arange(8.0).view(8, 1, 1).repeat(1, 1, 3))
    def forward(self, x):
        h = self.fc(x) + self.code
        return h.relu().mean((1, 2))
net = Coded()
F.mse_loss(net(torch.randn(8, 5, 3)), torch.zeros(8)).backward()
""", cure=(("arange(8.0).view(8, 1, 1)", "arange(5.0).view(1, 5, 1)"),)),
    Mistake("samples_told_apart", 12, """class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(9, 8), nn.Embedding(20, 8)
        self.look = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.fc = nn.Linear(8, 9)
    def forward(self, ids):
        at = torch.arange(ids.size(0)).unsqueeze(1)
        h = self.words(ids) + self.places(at)
        return self.fc(self.look(h))
net = Writer()
for _ in range(3):
    ids = torch.randint(0, 9, (5, 7))
    scores = net(ids[:, :-1])
    F.cross_entropy(scores.reshape(-1, 9), ids[:, 1:].reshape(-1)).backward()
""", cures=(
        ("torch.arange(ids.size(0)).unsqueeze(1)", "torch.arange(ids.size(1)).unsqueeze(0)"),
        ("torch.arange(ids.size(0)).unsqueeze(1)", "ids[:, :1]"),
        ("batch_first=True", "batch_first=False"),
        ("torch.arange(ids.size(0)).unsqueeze(1)", "torch.arange(1)"),
    )),
)  # fmt: skip
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
RIGHT: tuple[tuple[str, str], ...] = (
    ("samples_averaged", """class Prototype(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 8)
    def forward(self, known, asked):
        return (self.body(asked) * self.body(known).mean(0)).sum(-1)
x, y = torch.randn(12, 5), torch.randint(0, 2, (12,)).float()
F.binary_cross_entropy_with_logits(Prototype()(x, torch.randn(12, 5)), y).backward()
"""),
    # one vector for each of eight people, of whom there is always a row
    ("samples_told_apart", """class Subjects(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.last = nn.Parameter(torch.randn(8, 1, 6)), nn.Linear(6, 2)
    def forward(self, x):
        return self.last((x + self.own).mean(1))
F.cross_entropy(Subjects()(torch.randn(8, 10, 6)), torch.randint(0, 2, (8,))).backward()
"""),
    *(("samples_share", program) for program in COUPLED),
)  # fmt: skip
