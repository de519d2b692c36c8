"""What `engine/findings/uphill.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import SGD, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("uphill_by_hand", 12, """x = torch.linspace(-1, 1, 8)
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
""", says={"loss": "loss"}, mends=True),
    Mistake("uphill_by_hand", 11, """net = nn.Linear(3, 1)
X, t = torch.randn(8, 3), torch.randn(8, 1)
for k in range(4):
    l = F.mse_loss(net(X), t)
    net.zero_grad()
    l.backward()
    for p in net.parameters():
        p.data += 0.05 * p.grad.data
""", says={"count": "4"}, mends=True),
    Mistake("uphill_by_hand", 10, """net = nn.Sequential(nn.Linear(3, 40), nn.ReLU(), nn.Linear(40, 3))
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
""", mends=True),
    Mistake("uphill_by_hand", 8, """w = torch.tensor(0.5, requires_grad=True)
for i in range(5):
    cost = (w * 2 - 6) ** 2
    cost.backward()
    w = (w + 0.01 * w.grad).detach().requires_grad_(True)
""", mends=True),
    Mistake("uphill_by_hand", 10, """w = torch.tensor([0.5, 1.], requires_grad=True)
lr = -0.1
for i in range(5):
    err = (w - torch.tensor([2., 3.])).pow(2).sum()
    err.backward()
    with torch.no_grad():
        w -= lr * w.grad
    w.grad.zero_()
"""),
    Mistake("uphill_by_hand", 8, """u = torch.tensor(0.5, requires_grad=True)
for i in range(5):
    q = (u * 2 - 6) ** 2
    q.backward()
    u = (u + 0.01 * u.grad).detach().requires_grad_(True)
""", says={"loss": "q"}, mends=True),
    Mistake("uphill_by_hand", 9, """x = torch.tensor([0.5, 1.], requires_grad=True)
for i in range(4):
    d = (x - torch.tensor([2., 3.])).pow(2).sum()
    d.backward()
    with torch.no_grad():
        x += 0.1 * x.grad
    x.grad = None
""", says={"names": "x"}, mends=True),
    Mistake("uphill_by_hand", 9, """X, y = torch.randn(16, 2), torch.randn(16, 1)
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
    Mistake("uphill_by_hand", 10, """w = torch.randn(3, requires_grad=True)
t = torch.ones(3)
for _ in range(4):
    loss = ((w - t) ** 2).mean()
    (g,) = torch.autograd.grad(loss, w)
    with torch.no_grad():
        w += 0.1 * g
""", mends=True),
    Mistake("maximize_of_loss", 6, """net = nn.Linear(3, 1)
X, t = torch.randn(8, 3), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01, maximize=True)
for k in range(4):
    opt.zero_grad()
    loss = F.mse_loss(net(X), t)
    loss.backward()
    opt.step()
""", says={"loss": "loss"}, mends=True),
    Mistake("maximize_of_loss", 8, """def main():
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
""", mends=True),
    Mistake("loss_negated", 8, """net = nn.Linear(3, 2)
X, t = torch.randn(8, 3), torch.randint(2, (8,))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for k in range(4):
    loss = -F.cross_entropy(net(X), t)
    opt.zero_grad()
    loss.backward()
    opt.step()
""", says={"count": "4"}),
    Mistake("loss_negated", 10, """net = nn.Linear(3, 1)
X, t = torch.randn(8, 3), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
def step():
    opt.zero_grad()
    loss = nn.MSELoss()(net(X), t)
    (-1 * loss).backward()
    opt.step()
for _ in range(3): step()
"""),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("loss_negated", SGD + """for _ in range(4):
    loss = -(net(x) - net(x + torch.randn(8, 2)).detach()).pow(2).mean()  # apart from each other
    opt.zero_grad(); loss.backward(); opt.step()
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
    ("loss_negated", """policy = nn.Linear(4, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for _ in range(3):
    dist = torch.distributions.Categorical(logits=policy(torch.randn(6, 4)))
    a = dist.sample()
    loss = -(dist.log_prob(a) * torch.randn(6)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
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
    ("maximize_of_loss", """policy = nn.Linear(4, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01, maximize=True)
for _ in range(3):
    objective = F.log_softmax(policy(torch.ones(6, 4)), -1)[:, 0].mean()
    opt.zero_grad(); objective.backward(); opt.step()
"""),
    # no gradient is on the line, whichever way it went
    ("uphill_by_hand", """w = torch.tensor(1.0, requires_grad=True)
loss = (w - 2) ** 2
loss.backward()
with torch.no_grad():
    w -= 0.01 * loss
"""),
)  # fmt: skip
