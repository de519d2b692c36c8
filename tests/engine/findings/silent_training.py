"""Steps that lead nowhere or uphill, classes looked for along the wrong axis, things made again; and near misses."""

from tests.engine.findings.silent import Case

TRIGGERS: tuple[Case, ...] = (
    Case("softmax_over_batch", 6, {"name": "logits", "shape": "4×3", "dim": "1"}, """net = nn.Linear(5, 3)
logits = net(torch.randn(4, 5))
logp = F.log_softmax(logits, dim=0)
loss = F.nll_loss(logp, torch.tensor([0, 2, 1, 1]))
loss.backward()
"""),
    Case("softmax_over_batch", 8, {"dim": "1"}, """clf = nn.Sequential(
    nn.Linear(6, 8),
    nn.ReLU(),
    nn.Linear(8, 4),
    nn.Softmax(dim=0),
)
p = clf(torch.randn(10, 6))
print(p.argmax(1))
"""),
    Case("softmax_over_batch", 10, {"batch": "7", "classes": "3"}, """class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
    def forward(self, h):
        scores = self.fc(h)
        return (scores
                .softmax(-2))
m = Head()
q = m(torch.randn(7, 4))
target = torch.randint(3, (7,))
loss = -torch.log(q[torch.arange(7), target]).mean()
loss.backward()
"""),
    Case("softmax_over_batch", 5, {"dim": "1", "classes": "5"}, """net = nn.Conv2d(3, 5, 1)
seg = torch.softmax(net(torch.randn(2, 3, 4, 4)), 0)
loss = F.nll_loss(seg.log(), torch.randint(5, (2, 4, 4)))
loss.backward()
"""),
    Case("softmax_over_batch", 7, {}, """W = torch.randn(4, 3, requires_grad=True)
b = torch.zeros(3, requires_grad=True)
X = torch.randn(6, 4)
probs = torch.softmax(X @ W + b, dim=0)
loss = -probs[range(6), [0, 1, 2, 0, 1, 2]].log().mean()
loss.backward()
"""),
    Case("softmax_over_batch", 7, {}, """lin = nn.Linear(4, 3)
t = F.one_hot(torch.tensor([0, 1, 2, 0, 1]), 3).float()
def ce(z):
    return -(t * F.log_softmax(z, dim=0)).sum(1).mean()
ce(lin(torch.randn(5, 4))).backward()
"""),
    Case("learning_rate_zero", 5, {"optimizer": "opt", "count": "3"}, """model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0)
for _ in range(3):
    opt.zero_grad()
    model(torch.randn(4, 2)).pow(2).mean().backward()
    opt.step()
"""),
    Case("learning_rate_zero", 6, {"optimizer": "optimizer", "count": "4"}, """def train(steps):
    net = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(
        net.parameters(),
        lr=0.0,
    )
    for s in range(steps):
        loss = net(torch.ones(2, 3)).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net
train(4)
"""),
    Case("learning_rate_zero", 7, {}, """epochs = 5
lr = 1 // 100
w = torch.randn(2, requires_grad=True)
optim = torch.optim.SGD([w], lr)
for e in range(epochs):
    optim.zero_grad(); (w ** 2).sum().backward(); optim.step()
"""),
    Case("learning_rate_zero", 6, {"count": "4", "of": "5"}, """w = torch.randn(2, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.0)
for e in range(5):
    opt.zero_grad()
    (w ** 2).sum().backward()
    opt.step()
    sched.step()
"""),
    Case("learning_rate_zero", 7, {}, """from torch.optim.lr_scheduler import LambdaLR
w = torch.randn(2, requires_grad=True)
opt = torch.optim.AdamW([w], lr=0.1)
sched = LambdaLR(opt, lambda epoch: epoch // 10)
for e in range(5):
    opt.zero_grad()
    (w ** 2).sum().backward()
    opt.step()
    sched.step()
"""),
    Case("learning_rate_zero", 8, {}, """w = torch.randn(2, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
for e in range(6):
    for g in opt.param_groups:
        g['lr'] = 0.1 * (e == 0)
    opt.zero_grad()
    (w ** 2).sum().backward()
    opt.step()
"""),
    Case("uphill_by_hand", 12, {"loss": "loss"}, """x = torch.linspace(-1, 1, 8)
y = 3 * x + 1
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(10):
    loss = ((x * w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w += 0.1 * w.grad
        b += 0.1 * b.grad
        w.grad.zero_(); b.grad.zero_()
"""),
    Case("uphill_by_hand", 11, {"count": "4"}, """net = nn.Linear(3, 1)
X, t = torch.randn(8, 3), torch.randn(8, 1)
for k in range(4):
    l = F.mse_loss(net(X), t)
    net.zero_grad()
    l.backward()
    for p in net.parameters():
        p.data += 0.05 * p.grad.data
"""),
    Case("uphill_by_hand", 10, {}, """net = nn.Sequential(nn.Linear(3, 40), nn.ReLU(), nn.Linear(40, 3))
X, t = torch.randn(8, 3), torch.randint(3, (8,))
crit = nn.CrossEntropyLoss()
def sgd(params, lr):
    with torch.no_grad():
        for p in params:
            p.add_(p.grad, alpha=lr)
            p.grad = None
for k in range(4):
    crit(net(X), t).backward()
    sgd(net.parameters(), 0.1)
"""),
    Case("maximize_of_loss", 6, {"loss": "loss"}, """net = nn.Linear(3, 1)
X, t = torch.randn(8, 3), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01, maximize=True)
for k in range(4):
    opt.zero_grad()
    loss = F.mse_loss(net(X), t)
    loss.backward()
    opt.step()
"""),
    Case("loss_negated", 8, {"count": "4"}, """net = nn.Linear(3, 2)
X, t = torch.randn(8, 3), torch.randint(2, (8,))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for k in range(4):
    loss = -F.cross_entropy(net(X), t)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""),
    Case("uphill_by_hand", 8, {}, """w = torch.tensor(0.5, requires_grad=True)
for i in range(5):
    cost = (w * 2 - 6) ** 2
    cost.backward()
    w = (w + 0.01 * w.grad).detach().requires_grad_(True)
"""),
    Case("uphill_by_hand", 10, {}, """w = torch.tensor([0.5, 1.], requires_grad=True)
lr = -0.1
for i in range(5):
    err = (w - torch.tensor([2., 3.])).pow(2).sum()
    err.backward()
    with torch.no_grad():
        w -= lr * w.grad
    w.grad.zero_()
"""),
    Case("uphill_by_hand", 8, {"loss": "q"}, """u = torch.tensor(0.5, requires_grad=True)
for i in range(5):
    q = (u * 2 - 6) ** 2
    q.backward()
    u = (u + 0.01 * u.grad).detach().requires_grad_(True)
"""),
    Case("uphill_by_hand", 9, {"names": "x"}, """x = torch.tensor([0.5, 1.], requires_grad=True)
for i in range(4):
    d = (x - torch.tensor([2., 3.])).pow(2).sum()
    d.backward()
    with torch.no_grad():
        x += 0.1 * x.grad
    x.grad = None
"""),
    Case("optimizer_made_anew", 6, {"times": "4"}, """net = nn.Linear(2, 1)
def epoch(x, y):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    net.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
for i in range(4):
    epoch(torch.randn(5, 2), torch.randn(5, 1))
"""),
    Case("optimizer_made_anew", 7, {"times": "3", "count": "6", "type": "SGD"}, """net = nn.Linear(2, 1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
for ep in range(3):
    opt = torch.optim.SGD(net.parameters(), 0.1, 0.9)
    for i in range(2):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
"""),
    Case("maximize_of_loss", 8, {}, """def main():
    w = torch.randn(3, requires_grad=True)
    target = torch.ones(3)
    optimizer = torch.optim.Adam([w], lr=0.1,
                                 maximize=True)
    for _ in range(5):
        optimizer.zero_grad()
        loss = (w - target).abs().sum()
        loss.backward()
        optimizer.step()
main()
"""),
    Case("loss_negated", 10, {}, """net = nn.Linear(3, 1)
X, t = torch.randn(8, 3), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
def step():
    opt.zero_grad()
    loss = nn.MSELoss()(net(X), t)
    (-1 * loss).backward()
    opt.step()
for _ in range(3): step()
"""),
    Case("softmax_over_batch", 9, {}, """class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, 8), nn.ReLU())
        self.head = nn.Linear(8, 3)
        self.sm = nn.LogSoftmax(0)
    def forward(self, x):
        return self.sm(self.head(self.body(x)))
class Trainer:
    def __init__(self):
        self.net = Net(4)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def fit(self, x, y):
        for _ in range(3):
            self.opt.zero_grad()
            loss = F.nll_loss(self.net(x), y)
            loss.backward()
            self.opt.step()
Trainer().fit(torch.randn(6, 4), torch.randint(3, (6,)))
"""),
    Case("learning_rate_zero", 8, {}, """class T:
    def __init__(self):
        self.w = nn.Parameter(torch.ones(3))
        self.opt = torch.optim.SGD([self.w], lr=0.5)
        self.sched = torch.optim.lr_scheduler.LambdaLR(
            self.opt, lr_lambda=lambda e: 1.0 if e < 1 else 0.0)
    def go(self):
        for _ in range(4):
            self.opt.zero_grad(); self.w.pow(2).sum().backward(); self.opt.step(); self.sched.step()
t = T(); t.go()
"""),
    Case("uphill_by_hand", 9, {}, """X, y = torch.randn(16, 2), torch.randn(16, 1)
params = [torch.randn(2, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]
def forward(): return X @ params[0] + params[1]
def update(ps, lr=0.05):
    for p in ps:
        p.data = p.data + lr * p.grad
        p.grad = None
for _ in range(5):
    loss = F.mse_loss(forward(), y)
    loss.backward()
    update(params)
"""),
    Case("uphill_by_hand", 10, {}, """w = torch.randn(3, requires_grad=True)
t = torch.ones(3)
for _ in range(4):
    loss = ((w - t) ** 2).mean()
    (g,) = torch.autograd.grad(loss, w)
    with torch.no_grad():
        w += 0.1 * g
"""),
    Case("optimizer_made_anew", 8, {}, """class Tr:
    def __init__(self):
        self.net = nn.Linear(2, 1)
    def train_epoch(self, xs, ys):
        opt = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        for x, y in zip(xs, ys):
            opt.zero_grad(); F.mse_loss(self.net(x), y).backward(); opt.step()
tr = Tr()
for e in range(3): tr.train_epoch(torch.randn(2, 4, 2), torch.randn(2, 4, 1))
"""),
)  # fmt: skip

NEAR_MISSES: tuple[tuple[str, str], ...] = (
    # trained before its head is replaced; what the new one lacks is another optimizer's work
    ("not_in_optimizer", """x, model = torch.randn(8, 2), nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
first = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    first.zero_grad()
    model(x).pow(2).mean().backward()
    first.step()
second = torch.optim.SGD(model[2].parameters(), lr=0.1)
model[2] = nn.Linear(3, 1)
for i in range(3):
    second.zero_grad()
    model(x).pow(2).mean().backward()
    second.step()
"""),
    # recording is off in a checkpoint: the switch around the evaluation has nothing to do with it
    ("cut_by_no_grad", """from torch.utils.checkpoint import checkpoint
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), nn.Linear(3, 1)
    def forward(self, x):
        h = checkpoint(self.stem, x, use_reentrant=True) if self.training else self.stem(x)
        return self.head(h)
net, x = Net(), torch.randn(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
net.eval()
with torch.no_grad():
    print(net(x).mean())
"""),
    ("softmax_over_batch", """score, emb = nn.Linear(4, 2), torch.randn(6, 4)
a = F.softmax(score(emb), dim=0)
pooled = a.T @ emb
pooled.sum().backward()
"""),
    ("softmax_over_batch", """score = nn.Linear(4, 4)
h = torch.randn(6, 4)
a = torch.softmax(score(h), dim=0)
out = (a * h).sum(0)
out.sum().backward()
"""),
    ("softmax_over_batch", """net = nn.Linear(4, 3)
p = F.softmax(net(torch.randn(4)), dim=0)
F.nll_loss(p.log()[None], torch.tensor([1])).backward()
"""),
    ("softmax_over_batch", """a, b = nn.Linear(4, 3), nn.Linear(5, 3)
u, v = F.normalize(a(torch.randn(6, 4)), dim=-1), F.normalize(b(torch.randn(6, 5)), dim=-1)
logits = u @ v.T / 0.07
y = torch.arange(6)
loss = F.nll_loss(logits.log_softmax(1), y) + F.nll_loss(logits.log_softmax(0).T, y)
loss.backward()
"""),
    ("softmax_over_batch", """W = torch.randn(3, 4, requires_grad=True)
X = torch.randn(4, 6)
p = torch.softmax(W @ X, dim=0)
(-p[0].log().mean()).backward()
"""),
    ("softmax_over_batch", """lin = nn.Linear(3, 2)
s = lin(torch.randn(2, 3))
print(F.softmax(s, dim=0), F.softmax(s, dim=1))
"""),
    ("learning_rate_zero", """w = torch.randn(2, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: min(e / 3, 1))
for e in range(6):
    opt.zero_grad(); (w ** 2).sum().backward(); opt.step(); sched.step()
"""),
    ("learning_rate_zero", """a, b = nn.Linear(2, 2), nn.Linear(2, 1)
opt = torch.optim.SGD([{'params': a.parameters(), 'lr': 0.0}, {'params': b.parameters()}], lr=0.1)
for e in range(3):
    opt.zero_grad(); b(a(torch.ones(3, 2))).sum().backward(); opt.step()
"""),
    ("learning_rate_zero", """w = torch.randn(2, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=4)
for e in range(5):
    opt.zero_grad(); (w ** 2).sum().backward(); opt.step(); sched.step()
"""),
    ("uphill_by_hand", """net = nn.Linear(4, 3)
x = torch.randn(2, 4, requires_grad=True)
loss = F.cross_entropy(net(x), torch.tensor([0, 1]))
loss.backward()
x_adv = x + 0.1 * x.grad.sign()
"""),
    ("uphill_by_hand", """net = nn.Linear(4, 3)
for p in net.parameters(): p.requires_grad_(False)
x = torch.randn(2, 4)
delta = torch.zeros_like(x, requires_grad=True)
for _ in range(3):
    loss = F.cross_entropy(net(x + delta), torch.tensor([0, 1]))
    loss.backward()
    with torch.no_grad():
        delta += 0.1 * delta.grad
        delta.grad.zero_()
"""),
    ("uphill_by_hand", """w = torch.tensor([1., 2.], requires_grad=True)
for _ in range(3):
    loss = w.prod()
    loss.backward()
    with torch.no_grad():
        w += 0.1 * w.grad
    w.grad = None
"""),
    ("losses_kept", """lin = nn.Linear(2, 1)
def fit(losses):
    kept = []
    for _ in range(3):
        loss = lin(torch.randn(4, 2)).pow(2).mean()
        lin.zero_grad()
        loss.backward()
        loss = loss.item()
        losses.append(loss)
        kept.append(loss)
    return kept
fit([])
"""),
    ("losses_kept", """w = torch.ones(2, requires_grad=True)
def train():
    for i in range(3):
        loss = (w * w).sum()
        loss.backward()
        w.grad = None
def log():
    values = []
    for i in range(3):
        loss = torch.tensor(float(i))
        values.append(loss)
    return values
train()
log()
"""),
    ("loss_negated", """policy = nn.Linear(4, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for _ in range(3):
    dist = torch.distributions.Categorical(logits=policy(torch.randn(6, 4)))
    a = dist.sample()
    loss = -(dist.log_prob(a) * torch.randn(6)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("maximize_of_loss", """policy = nn.Linear(4, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01, maximize=True)
for _ in range(3):
    objective = F.log_softmax(policy(torch.ones(6, 4)), -1)[:, 0].mean()
    opt.zero_grad(); objective.backward(); opt.step()
"""),
    ("uphill_by_hand", """x = torch.tensor(0.0, requires_grad=True)
for _ in range(5):
    f = -(x - 2) ** 2 + 3
    f.backward()
    with torch.no_grad():
        x += 0.1 * x.grad
    x.grad = None
"""),
    ("uphill_by_hand", """w = torch.tensor(0.0, requires_grad=True)
for _ in range(5):
    loss = (w - 2) ** 2
    (-loss).backward()
    with torch.no_grad():
        w += 0.1 * w.grad
    w.grad = None
"""),
    ("loss_negated", """G, D = nn.Linear(2, 2), nn.Linear(2, 1)
g, d = torch.optim.SGD(G.parameters(), 0.1), torch.optim.SGD(D.parameters(), 0.1)
for _ in range(3):
    z = torch.randn(4, 2)
    ld = F.binary_cross_entropy_with_logits(D(G(z).detach()), torch.zeros(4, 1)) + F.binary_cross_entropy_with_logits(D(z), torch.ones(4, 1))
    d.zero_grad(); ld.backward(); d.step()
    lg = -F.binary_cross_entropy_with_logits(D(G(z)), torch.zeros(4, 1))
    g.zero_grad(); lg.backward(); g.step()
"""),
    ("uphill_by_hand", """net = nn.Linear(3, 1)
X, t = torch.randn(8, 3), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    F.mse_loss(net(X), t).backward()
    with torch.no_grad():
        e = [0.05 * p.grad for p in net.parameters()]
        for p, s in zip(net.parameters(), e): p.add_(s)
    opt.zero_grad()
    F.mse_loss(net(X), t).backward()
    with torch.no_grad():
        for p, s in zip(net.parameters(), e): p.sub_(s)
    opt.step(); opt.zero_grad()
"""),
    ("optimizer_made_anew", """x, y, net = torch.randn(12, 2), torch.randn(12, 1), nn.Linear(2, 1)
for fold in range(3):
    rest = torch.arange(12) % 3 != fold
    xs, ys = x[rest], y[rest]
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        F.mse_loss(net(xs), ys).backward()
        opt.step()
"""),
    ("optimizer_made_anew", """a, b = nn.Linear(2, 2), nn.Linear(2, 1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
for stage in (0, 1):
    a.requires_grad_(stage == 1)
    opt = torch.optim.Adam([p for m in (a, b) for p in m.parameters() if p.requires_grad], lr=0.1)
    for i in range(2):
        opt.zero_grad()
        F.mse_loss(b(a(x)), y).backward()
        opt.step()
"""),
    ("optimizer_made_anew", """net = nn.Linear(2, 1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
for lr in (0.1, 0.01):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
"""),
    ("uphill_by_hand", """x = torch.tensor(1.0, requires_grad=True)
lam = torch.tensor(0.5, requires_grad=True)
for _ in range(6):
    lagrangian = x ** 2 + lam * (1 - x)
    lagrangian.backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
        lam += 0.1 * lam.grad
    x.grad = lam.grad = None
"""),
    ("uphill_by_hand", """mu = torch.tensor(0.0, requires_grad=True)
data = torch.randn(20) + 2
for _ in range(5):
    ll = torch.distributions.Normal(mu, 1.0).log_prob(data).sum()
    ll.backward()
    with torch.no_grad():
        mu += 0.01 * mu.grad
        mu.grad.zero_()
"""),
    ("uphill_by_hand", """net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())
img = torch.rand(1, 1, 8, 8, requires_grad=True)
for _ in range(3):
    loss = net(img).mean()
    loss.backward()
    with torch.no_grad():
        img += img.grad * 0.1
        img.grad.zero_()
"""),
    ("uphill_by_hand", """class Rev(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.view_as(x)
    @staticmethod
    def backward(ctx, g): return -g
f, c = nn.Linear(3, 3), nn.Linear(3, 2)
opt = torch.optim.SGD([*f.parameters(), *c.parameters()], lr=0.1)
for _ in range(3):
    loss = F.cross_entropy(c(Rev.apply(f(torch.randn(5, 3)))), torch.randint(2, (5,)))
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("loss_negated", """enc, dec = nn.Linear(4, 4), nn.Linear(2, 4)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], 1e-3)
x = torch.rand(8, 4)
for _ in range(2):
    mu, lv = enc(x).chunk(2, 1)
    z = mu + torch.randn_like(mu) * (lv / 2).exp()
    elbo = -F.binary_cross_entropy_with_logits(dec(z), x, reduction='sum') - 0.5 * (mu ** 2 + lv.exp() - lv - 1).sum()
    loss = -elbo
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("softmax_over_batch", """q = nn.Linear(4, 4)
x = torch.randn(5, 4)
att = (q(x) @ x.T / 2).softmax(0)
out = att.T @ x
out.sum().backward()
"""),
    ("softmax_over_batch", """gate = nn.Linear(4, 3)
x = torch.randn(6, 4)
p = F.softmax(gate(x), dim=0)
experts = [nn.Linear(4, 2) for _ in range(3)]
y = sum(p[:, i:i+1] * e(x) for i, e in enumerate(experts))
y.sum().backward()
"""),
    ("optimizer_made_anew", """net = nn.Linear(2, 1)
for i in range(3):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.zero_grad(); net(torch.ones(4, 2)).pow(2).mean().backward(); opt.step()
"""),
    ("optimizer_made_anew", """net = nn.Linear(4, 1)
first, kept = {name: each.clone() for name, each in net.state_dict().items()}, torch.ones(1, 4)
x = torch.randn(8, 4)
def train():
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
    for _ in range(3):
        opt.zero_grad(); F.mse_loss(net(x), x[:, :1]).backward(); opt.step()
for pruning in range(3):
    train()
    kept = kept * (net.weight.abs() > net.weight.abs().min()).float()
    net.load_state_dict(first)
"""),
    ("inputs_of_another_size", """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 2)
    def forward(self, x, near):
        return near @ self.lin(F.dropout(x, 0.3, self.training))
x, near, y = torch.randn(20, 3) * 2, torch.full((20, 20), 0.02), torch.arange(20) % 2
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    net.train()
    opt.zero_grad(); F.cross_entropy(net(x, near)[:10], y[:10]).backward(); opt.step()
    net.eval()
    with torch.no_grad():
        right = (net(x, near).argmax(1) == y)[10:].float().mean()
"""),
)  # fmt: skip
