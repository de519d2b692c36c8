"""What `engine/findings/flat.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("gradient_flattened", 10, """model = nn.Linear(4, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
X = torch.randn(50, 4); y = X.sum(1, keepdim=True)
w = torch.zeros(1, requires_grad=True)
for step in range(5):
    out = model(X)
    loss = F.mse_loss(out, out.detach()) + 0 * w.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
""", cure=(
        ("F.mse_loss(out, out.detach())", "F.mse_loss(out, y)"),
    )),
    Mistake("gradient_flattened", 10, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(20, 4); y = torch.randint(0, 3, (20,))
for it in range(5):
    out = net(X)
    hard = F.one_hot(out.argmax(1), 3).float()
    loss = ((hard - F.one_hot(y, 3)) ** 2).mean() + 0.0 * out.sum()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("hard = F.one_hot(out.argmax(1), 3).float()", "hard = out.softmax(1)"),
    )),
    Mistake("gradient_flattened", 10, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(3, 8), nn.Linear(8, 1), nn.LayerNorm(1)
    def forward(self, x):
        h = self.b(self.a(x).tanh())
        return self.norm(h)
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(4):
    loss = F.mse_loss(net(x), y)
""" + STEP, cure=(("self.norm(h)", "h + self.norm.bias"),)),
    Mistake("gradient_flattened", 10, """net = nn.Linear(3, 1)
nn.init.constant_(net.bias, 9.0)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.rand(20, 3)
y = x.mean(1, keepdim=True)
for _ in range(4):
    chance = net(x).clip(0, 1)
    loss = F.mse_loss(chance, y)
""" + STEP, cure=((".clip(0, 1)", ".sigmoid()"),)),
    Mistake("compared_with_itself", 8, """net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(9, 4)
for _ in range(3):
    advantage, ratio = torch.randn(9, 2), (net(x) - net(x)).exp()
    loss = -(ratio * advantage).mean()
""" + STEP, cure=(("- net(x))", "- net(x).detach())"),)),
    Mistake("compared_with_itself", 9, """net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(9, 4)
    out = x = net(x)
    loss = F.mse_loss(out, x)
""" + STEP, cure=(("out = x = net(x)", "out = net(x)"),)),
    Mistake("shares_counted_alike", 10, """chooser = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(chooser.parameters(), lr=0.1)
for _ in range(4):
    seen = torch.randn(6, 5)
    odds = torch.softmax(chooser(seen), dim=1)
    gain = torch.randn(6)
    loss = -(odds * gain[:, None]).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        ("gain = torch.randn(6)", "gain = torch.randn(6)\n    picked = torch.multinomial(odds, 1)"),
        ("(odds * gain[:, None])", "(odds.gather(1, picked).log() * gain[:, None])"),
    )),
    Mistake("shares_counted_alike", 9, """net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(8, 4), F.one_hot(torch.randint(0, 3, (8,)), 3)
for _ in range(3):
    made = net(x)
    loss = (y - made).sum(1).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        ("(y - made).sum(1)", "(y - made).pow(2).sum(1)"),
    )),
    Mistake("drawn_by_chance", 9, """net, out = nn.Linear(2, 4), nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *out.parameters()], lr=0.1)
for i in range(3):
    opt.zero_grad()
    mean, spread = net(torch.ones(3, 2)).chunk(2, 1)
    z = torch.normal(mean, spread.exp())
    out(z).pow(2).mean().backward()
    opt.step()
""", says={"op": "normal", "count": "3"}),
    Mistake("drawn_by_chance", 8, """net = nn.Linear(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    mask = torch.bernoulli(torch.sigmoid(net(torch.ones(4, 2))))
    (mask * torch.randn(4, 3)).sum().backward()
    opt.step()
""", says={"op": "bernoulli"}),
    Mistake("rounded_to_zero", 8, """p = nn.Parameter(torch.tensor(0.5))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(3):
    opt.zero_grad()
    likelihood = torch.prod(p.expand(300))
    (-likelihood).backward()
    opt.step()
""", says={"op": "prod", "shape": "300"}),
    Mistake("rounded_to_zero", 8, """a = nn.Parameter(torch.tensor([30.0, 40.0]))
opt = torch.optim.SGD([a], lr=0.1)
for i in range(3):
    opt.zero_grad()
    chance = torch.exp(-a.square())
    chance.sum().backward()
    opt.step()
""", says={"op": "exp"}),
    Mistake("positive_is_anchor", 8, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(6, 4)
for _ in range(3):
    loss = F.triplet_margin_loss(net(x), net(x), net(x.flip(0)))
""" + STEP, cure=(("net(x), net(x)", "net(x), net(x + 0.1 * torch.randn(6, 4))"),)),
    Mistake("positive_is_anchor", 9, """f = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
opt, criterion = torch.optim.Adam(f.parameters()), nn.TripletMarginLoss(0.3)
for _ in range(4):
    rows = torch.randn(7, 2)
    others = rows.clone()
    loss = criterion(f(rows), f(others), f(torch.randn(7, 2)))
""" + STEP, cure=(("rows.clone()", "rows * 1.1"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("gradient_flattened", """table, head = nn.Embedding(5, 3, padding_idx=0), nn.Linear(3, 1)
opt = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for i in range(4):
    opt.zero_grad()
    head(table(torch.zeros(4, dtype=torch.long))).pow(2).sum().backward()
    opt.step()
"""),
    ("gradient_flattened", """scale, shift = nn.Parameter(torch.ones(3)), nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([scale, shift], lr=0.1)
for i in range(4):
    opt.zero_grad()
    ((scale - 2).pow(2) + shift ** 2).sum().backward()
    opt.step()
"""),
    ("shares_counted_alike", """look, net = nn.Linear(4, 1), nn.Linear(4, 2)
opt = torch.optim.Adam([*look.parameters(), *net.parameters()])
for _ in range(3):
    h = net(torch.randn(5, 1, 4).expand(5, 3, 4))
    share = torch.softmax(look(torch.randn(5, 3, 4)), 1)
    loss = (share * h).sum(1).pow(2).mean() + look(torch.randn(2, 4)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("drawn_by_chance", """net, out = nn.Linear(2, 4), nn.Linear(2, 1)
for i in range(3):
    mean, spread = net(torch.ones(3, 2)).chunk(2, 1)
    z = mean + spread.exp() * torch.normal(torch.zeros(3, 2), 1.0)
    out(z).pow(2).mean().backward()
"""),
    ("rounded_to_zero", "p = nn.Parameter(torch.tensor(0.5))\nfor i in range(3):\n    torch.prod(p.expand(30)).backward()\n"),
)  # fmt: skip
