"""What `engine/findings/terms.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

REGRESSION = """net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1), nn.Sigmoid())
x, price = torch.randn(6, 3), torch.rand(6, 1) SCALE
F.mse_loss(net(x), price).backward()
"""

OVERLAP = """net = nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randint(0, 2, (8, 1)).float()
def overlap(p):
    hit = PREDICTED
    return 1 - (hit * y).sum() / (hit + y).sum()
scores = net(x)
loss = F.binary_cross_entropy_with_logits(scores, y) + overlap(scores.sigmoid())
loss.backward()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("targets_out_of_reach", 6, REGRESSION.replace("SCALE", "+ 200"), says={"op": "sigmoid"}),
    Mistake("targets_out_of_reach", 6, """net = nn.Linear(3, 1)
def predict(x):
    return F.relu(net(x)).squeeze(1)
x, depth = torch.randn(5, 3), -torch.rand(5) - 1
loss = ((predict(x) - depth) ** 2).mean()
loss.backward()
""", says={"op": "relu"}),
    Mistake("targets_out_of_reach", 8, """net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(8, 2), torch.linspace(-6, 1, 8)[:, None]
for rows in torch.arange(8).split(4):
    loss = F.l1_loss(F.relu(net(x[rows])), y[rows])
""" + STEP, says={"least": "-6", "most": "1"}, cure=(("F.relu(net(x[rows]))", "net(x[rows])"),)),
    Mistake("targets_out_of_reach", 8, """lin = nn.Linear(2, 1)
opt = torch.optim.SGD(lin.parameters(), 0.1)
x, y = torch.randn(8, 2), torch.linspace(-3, 1, 8)[:, None]
for _ in range(2):
    loss = F.mse_loss(lin(x).clamp(min=0), y)
""" + STEP, cure=(("clamp(min=0)", "clamp(min=-9)"),)),
    Mistake("targets_out_of_reach", 10, """net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2), nn.ReLU())
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(3):
    states, after, taken = torch.randn(16, 4), torch.randn(16, 4), torch.randint(0, 2, (16, 1))
    with torch.no_grad():
        aims = -torch.ones(16) * 20 + 0.9 * net(after).max(1).values
    loss = F.smooth_l1_loss(net(states).gather(1, taken).squeeze(1), aims)
""" + STEP, cure=((", nn.ReLU())", ")"),), says={"op": "relu"}),
    Mistake("term_of_choices", 7, OVERLAP.replace("PREDICTED", "(p > 0.5).float()"), says={"op": ">"}),
    Mistake("term_of_choices", 6, """net = nn.Linear(3, 2)
x, y = torch.randn(8, 3), torch.randint(0, 2, (8,))
wrong = lambda out: (out.argmax(1) != y).float().mean()
out = net(x)
loss = F.cross_entropy(out, y) + wrong(out)
loss.backward()
""", says={"op": "argmax"}),
    Mistake("penalty_without_graph", 17, """class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    def forward(self, x):
        return self.net(x)
critic = Critic(); opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
real = torch.randn(16, 2) + 2
for _ in range(3):
    fake = torch.randn(16, 2)
    eps = torch.rand(16, 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mix)
    g = torch.autograd.grad(score.sum(), mix, retain_graph=True)[0]
    gp = ((g.norm(dim=1) - 1) ** 2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * gp
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item(), gp.item())
""", cure=(
        ("retain_graph=True", "create_graph=True"),
    )),
    Mistake("penalty_without_graph", 9, """net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
t = torch.linspace(0, 1, 20).view(-1, 1).requires_grad_()
for step in range(3):
    u = net(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u), retain_graph=True)[0]
    residual = ((du + u.detach()) ** 2).mean()
    bc = (net(torch.zeros(1, 1)) - 1).pow(2).mean()
    loss = residual + bc
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("retain_graph=True", "create_graph=True"),
        ("u.detach()", "u"),
    )),
    Mistake("penalty_without_graph", 14, """def slope(f, x, graph=True):
    return torch.autograd.grad(f, x, torch.ones_like(f), retain_graph=True, create_graph=graph)[0]
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt, mse = torch.optim.Adam(net.parameters(), lr=0.01), nn.MSELoss()
x = torch.linspace(0, 1, 12).reshape(-1, 1).requires_grad_()
for i in range(3):
    u = net(x)
    du = slope(u, x)

    opt.zero_grad()
    ddu = slope(du, x, graph=False)
    loss = mse(ddu + u, x * 0) + mse(u[0], x[0] * 0) + mse(du[0], x[0] * 0 + 1)
    loss.backward()
    opt.step()
""", cures=(("ddu = slope(du, x, graph=False)", "ddu = slope(du, x)"), ("graph=False)", "graph=True)"))),
    Mistake("penalty_without_graph", 8, """net = nn.Sequential(nn.Linear(1, 5), nn.Tanh(), nn.Linear(5, 1))
opt = torch.optim.Adam(net.parameters())
x = torch.rand(9, 1, requires_grad=True)
for _ in range(2):
    slope, = torch.autograd.grad(net(x).sum(), x)
    loss = (slope + net(x)).pow(2).mean()
""" + STEP, cure=((".sum(), x)", ".sum(), x, create_graph=True)"),)),
    Mistake("penalty_without_graph", 9, """class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    def forward(self, place):
        energy = self.energy(place).sum(); force = -torch.autograd.grad(energy, place, retain_graph=True)[0]
        return energy, force
model = Potential(); opt = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    energy, force = model(torch.randn(6, 2, requires_grad=True))
    opt.zero_grad(); (energy.pow(2) + 20.0 * F.mse_loss(force, torch.zeros(6, 2))).backward(); opt.step()
""", cures=(("retain_graph=True", "create_graph=True"), ("F.mse_loss(force, torch.zeros(6, 2))", "float(force.abs().max() > 1e9)"))),
    Mistake("term_without_gradient", 12, """model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
X = torch.randn(30, 4); y = X.sum(1, keepdim=True)
lam = 0.01
for _ in range(5):
    mse = F.mse_loss(model(X), y)
    reg = 0
    for p in model.parameters():
        reg = reg + (p.data ** 2).sum()
    loss = mse + lam * reg
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("p.data **", "p **"),
    )),
    Mistake("term_without_gradient", 10, """G, D = nn.Linear(3, 4), nn.Linear(4, 1)
opt = torch.optim.Adam(G.parameters(), lr=0.01)
for _ in range(3):
    want = torch.randn(8, 4)
    fake = G(torch.randn(8, 3))
    score = D(fake)
    fooled = F.binary_cross_entropy_with_logits(score, torch.ones(8, 1)).detach().item()
    loss = F.l1_loss(fake, want) + 0.1 * fooled
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        (".detach().item()", ""),
    )),
    Mistake("term_without_gradient", 10, """G, D = nn.Linear(3, 4), nn.Linear(4, 1)
opt = torch.optim.Adam(G.parameters(), lr=0.01)
for _ in range(3):
    want = torch.randn(8, 4)
    fake = G(torch.randn(8, 3))
    score = D(fake)
    fooled = F.binary_cross_entropy_with_logits(score.detach(), torch.ones(8, 1))
    loss = F.l1_loss(fake, want) + 0.1 * fooled
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        ("score.detach()", "score"),
    )),
    Mistake("term_without_gradient", 10, """net, head = nn.Linear(5, 3), nn.Linear(3, 2)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    a, b, y = torch.randn(6, 5), torch.randn(6, 5), torch.randint(0, 2, (6,))
    ea, eb = net(a), net(b)
    keep = [0, 2, 5]
    far = torch.from_numpy(ea.data.numpy()[keep]) - eb[keep].detach()
    loss = F.cross_entropy(head(ea), y) + far.pow(2).sum(1).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        ("torch.from_numpy(ea.data.numpy()[keep])", "ea[keep]"),
    )),
    Mistake("term_without_gradient", 10, """model = nn.Linear(6, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
X = torch.randn(40, 6); y = X[:, :1]
for epoch in range(5):
    opt.zero_grad()
    loss = F.mse_loss(model(X), y)
    l1 = sum(p.abs().sum().item() for p in model.parameters())
    total = loss + 0.001 * l1
    total.backward()
    opt.step()
    print(epoch, total.item())
""", cure=(
        (".sum().item()", ".sum()"),
    )),
    Mistake("term_without_gradient", 8, """class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 2)
    def penalty(self):
        return torch.tensor([torch.norm(p) for p in self.parameters()]).sum()
    def forward(self, x): return self.b(torch.relu(self.a(x)))
m = Net()
opt = torch.optim.SGD(m.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randint(0, 2, (8,))
for _ in range(3):
    loss = F.cross_entropy(m(x), y) + 0.01 * m.penalty()
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("torch.tensor([", "torch.stack(["),), says={"op": "tensor", "sum_line": "14"}),
    Mistake("term_without_gradient", 5, """net = nn.Linear(3, 2)
size = torch.sum(torch.FloatTensor([torch.norm(p) for p in net.parameters()]))
opt, x, y = torch.optim.Adam(net.parameters()), torch.randn(8, 3), torch.randint(0, 2, (8,))
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad(); (loss + 5e-4 * size).backward(); opt.step()
""", cure=(("5e-4 * size", "5e-4 * sum(torch.norm(p) for p in net.parameters())"),), says={"op": "FloatTensor"}),
    Mistake("term_without_gradient", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4, bias=False); self.b = nn.Linear(4, 2)
    def forward(self, x):
        return self.b(self.a(x))
    def ortho(self):
        w = self.a.weight.detach()
        return ((w @ w.t() - torch.eye(4)) ** 2).sum()
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.05)
X, y = torch.randn(14, 4), torch.randint(0, 2, (14,))
for _ in range(4):
    ce = F.cross_entropy(net(X), y)
    loss = ce + 0.1 * net.ortho()
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        (".weight.detach()", ".weight"),
    )),
    Mistake("masked_after_softmax", 12, """class CausalAttention(nn.Module):
    def __init__(self, d, T):
        super().__init__()
        self.q = nn.Linear(d, d); self.k = nn.Linear(d, d); self.v = nn.Linear(d, d)
        self.register_buffer("mask", torch.tril(torch.ones(T, T)))
    def forward(self, x):
        att = self.q(x) @ self.k(x).transpose(1, 2) / x.size(-1) ** 0.5
        att = F.softmax(att, dim=-1)
        att = att * self.mask
        return att @ self.v(x)
x = torch.randn(3, 5, 8)
m = CausalAttention(8, 5); opt = torch.optim.Adam(m.parameters(), lr=0.01)
for _ in range(3):
    loss = F.mse_loss(m(x)[:, :-1], x[:, 1:])
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("        att = F.softmax(att, dim=-1)\n        att = att * self.mask\n", "        att = att.masked_fill(self.mask == 0, float(\"-inf\"))\n        att = F.softmax(att, dim=-1)\n"),
    )),
    Mistake("masked_after_softmax", 6, """def attention(q, k, v, pad):
    w = torch.softmax(q @ k.transpose(1, 2) / q.size(-1) ** 0.5, dim=-1)
    w = w.masked_fill(pad.unsqueeze(1), 0.0)
    return w @ v
emb, fc = nn.Embedding(12, 6, padding_idx=0), nn.Linear(6, 2)
opt = torch.optim.Adam([*emb.parameters(), *fc.parameters()], lr=1e-2)
tok = torch.tensor([[3, 4, 5, 0, 0], [6, 7, 8, 9, 0], [1, 2, 0, 0, 0]])
y = torch.tensor([0, 1, 0])
for _ in range(3):
    e = emb(tok)
    h = attention(e, e, e, tok == 0)
    loss = F.cross_entropy(fc(h[:, 0]), y)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        ("    w = torch.softmax(q @ k.transpose(1, 2) / q.size(-1) ** 0.5, dim=-1)\n    w = w.masked_fill(pad.unsqueeze(1), 0.0)\n", "    s = q @ k.transpose(1, 2) / q.size(-1) ** 0.5\n    w = torch.softmax(s.masked_fill(pad.unsqueeze(1), -1e9), dim=-1)\n"),
    )),
    Mistake("masked_by_zero_scores", 6, """def attend(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
    s = s * mask
    return torch.softmax(s, dim=-1) @ v
emb = nn.Embedding(10, 6); out = nn.Linear(6, 10)
opt = torch.optim.Adam([*emb.parameters(), *out.parameters()], lr=0.01)
x = torch.randint(0, 10, (4, 7))
mask = torch.tril(torch.ones(6, 6))
for _ in range(3):
    h = emb(x[:, :-1])
    loss = F.cross_entropy(out(attend(h, h, h, mask)).transpose(1, 2), x[:, 1:])
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("s = s * mask", "s = s.masked_fill(mask == 0, float(\"-inf\"))"),
    )),
    Mistake("masked_by_zero_scores", 9, """class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.ask = nn.Linear(4, 4)
    def forward(self, x, mask):
        scores = (self.ask(x) @ x.transpose(1, 2)).masked_fill(mask == 0, -1e-9)
        return torch.softmax(scores, dim=-1) @ x
net = Attend()
mask = (torch.arange(40) < torch.tensor([[20], [40]])).unsqueeze(1).expand(2, 40, 40)
net(torch.randn(2, 40, 4), mask).sum().backward()
torch.optim.SGD(net.parameters(), lr=0.1).step()
""", cure=(
        ("-1e-9", "-1e9"),
    )),
    Mistake("masked_by_zero_scores", 9, """class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(4, 1); self.out = nn.Linear(4, 1)
    def forward(self, x, mask):
        s = self.score(x).squeeze(-1).masked_fill(~mask, 0)
        a = s.softmax(-1)
        return self.out((a.unsqueeze(1) @ x).squeeze(1))
m = Pool(); opt = torch.optim.SGD(m.parameters(), lr=0.1)
x = torch.randn(5, 6, 4); mask = torch.arange(6)[None] < torch.tensor([6, 3, 4, 2, 5])[:, None]
for _ in range(3):
    loss = F.mse_loss(m(x, mask), x[:, 0, :1])
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        ("masked_fill(~mask, 0)", "masked_fill(~mask, float(\"-inf\"))"),
    )),
    Mistake("term_trains_nothing", 10, """make, judge = nn.Linear(3, 4), nn.Linear(4, 1)
m_opt, j_opt = torch.optim.Adam(make.parameters()), torch.optim.Adam(judge.parameters())
x, real = torch.randn(6, 3), torch.randn(6, 4)
for i in range(2):
    fake = make(x)
    m_opt.zero_grad()
    told = judge(fake.detach())
    (F.mse_loss(told, torch.ones(6, 1)) + 0.1 * F.l1_loss(fake, real)).backward()
    m_opt.step()
    j_opt.zero_grad()
    (judge(fake.detach()).square().mean() + (judge(real) - 1).square().mean()).backward()
    j_opt.step()
""", cures=(("told = judge(fake.detach())", "told = judge(fake)"), ("    j_opt.zero_grad()\n", ""))),
    Mistake("term_trains_nothing", 8, """body, probe = nn.Linear(3, 4), nn.Linear(4, 2)
opt, late = torch.optim.SGD(body.parameters(), lr=0.1), torch.optim.SGD(probe.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    h = body(x)
    seen = h.data
    loss = h.square().mean() + probe(seen).square().mean()
    opt.zero_grad()
    late.zero_grad()
    loss.backward()
    opt.step()
    probe.zero_grad()
    (probe(seen) - 1).square().mean().backward()
    late.step()
""", cures=(("    probe.zero_grad()\n", ""), ("+ probe(seen)", "+ probe(h)"))),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("targets_out_of_reach", REGRESSION.replace("SCALE", "* 0.9")),
    ("targets_out_of_reach", REGRESSION.replace("SCALE", "+ 200").replace("net(x)", "net(x) * 300")),
    ("targets_out_of_reach", """known = torch.arange(12).view(4, 3) % 3 == 0
y = torch.rand(4, 3).masked_fill(~known, -100.0)
loss = F.mse_loss(nn.Linear(2, 3)(torch.randn(4, 2)).sigmoid(), y, reduction="none")
((loss * known).sum() / known.sum()).backward()
"""),
    # shared out anew
    ("masked_after_softmax", """x, known = torch.randn(4, 3), torch.tensor([[1., 1., 0.]])
weights = nn.Linear(3, 3)(x).softmax(-1) * known
(weights @ torch.randn(3, 2) / weights.sum(-1, keepdim=True)).sum().backward()
"""),
    ("term_without_gradient", """net, heads = nn.Linear(3, 4), nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])
opt = torch.optim.Adam([*net.parameters(), *heads.parameters()])
x, y = torch.randn(8, 3), torch.randint(0, 2, (8,))
for _ in range(3):
    parts = [F.cross_entropy(head(net(x)), y) for head in heads]
    share = torch.tensor([part.item() for part in parts]).softmax(0)
    sizes = torch.tensor([torch.norm(p) for p in net.parameters()])
    loss = share[0] * parts[0] + share[1] * parts[1] + torch.tensor(0.1)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item() + sizes.sum().item())
"""),
    ("term_of_choices", OVERLAP.replace("PREDICTED", "p")),
    ("term_without_gradient", """x, y = torch.randn(6, 2, requires_grad=True), torch.randn(4, 2)
opt = torch.optim.SGD([x], lr=0.5)
for i in range(3):
    cost = (x[:, None] - y).pow(2).sum(-1)
    with torch.no_grad():
        plan = torch.softmax(-cost, 1) / 6
    loss = (plan * cost).sum() + (plan.log().sum() - (plan * cost.detach()).sum())
    opt.zero_grad(); loss.backward(); opt.step()
"""),
)  # fmt: skip
