"""What `engine/findings/zeroing.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import GAN, LOOP, SGD, TRAIN, Mistake

CLOSURE = """w = torch.randn(3, requires_grad=True)
opt = torch.optim.LBFGS([w], max_iter=4)
def closure():
    ZERO
    loss = ((w - 2) ** 2).sum()
    loss.backward()
    return loss
opt.step(closure)
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("gradient_added_up", 6, """w = torch.ones(3, requires_grad=True)
w.square().sum().backward()
w.exp().sum().backward()
print(w.grad)
""", cure=(("w.exp()", "w.grad = None\nw.exp()"),), says={"count": "2"}),
    Mistake("gradient_added_up", 7, """w, x = torch.randn(3, requires_grad=True), torch.randn(4, 3)
for _ in range(5):
    for row in x:
        (row @ w - 1).square().backward()
    with torch.no_grad(): w -= 0.1 * w.grad
    w.grad.zero_()
""", cure=(("        (row", "        w.grad = None\n        (row"),), says={"count": "4"}),
    Mistake("step_without_zero_grad", 9, TRAIN + """for i in range(3):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
""", says={"names": "model.*"}, mends=True),
    Mistake("step_without_zero_grad", 6, """w = torch.ones(2, requires_grad=True)
for i in range(3):
    (w ** 2).sum().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
""", says={"names": "w"}, mends=True),
    Mistake("step_without_zero_grad", 9, """net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(12, 4), torch.arange(12) % 3
for xb, yb in zip(x.split(4), y.split(4)):
    loss = F.cross_entropy(net(xb), yb)
    loss.backward()
    size = nn.utils.clip_grad_norm_(net.parameters(), 50.0)
    if torch.isfinite(size):
        opt.step()
""", cure=(("    loss.backward()", "    opt.zero_grad(); loss.backward()"),), mends=True),
    Mistake("step_without_zero_grad", 12, """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), 0.1), torch.optim.SGD(D.parameters(), 0.1)
real, bce = torch.randn(8, 3) + 1, nn.BCEWithLogitsLoss()
for _ in range(4):
    opt_g.zero_grad()
    fake = G(torch.randn(8, 2))
    bce(D(fake), torch.ones(8, 1)).backward(); opt_g.step()
    opt_g.zero_grad()
    (bce(D(real), torch.ones(8, 1)) + bce(D(fake.detach()), torch.zeros(8, 1))).backward()
    opt_d.step()
""", cure=(("    opt_g.zero_grad()\n    (bce", "    opt_d.zero_grad()\n    (bce"),), mends=True),
    Mistake("step_without_zero_grad", 9, """params = [torch.randn(3, 4) * 0.3, torch.randn(4, 1) * 0.3]
for p in params:
    p.requires_grad_(True)
x = torch.randn(12, 3)
for _ in range(4):
    (torch.tanh(x @ params[0]) @ params[1] - 1).pow(2).mean().backward()
    with torch.no_grad():
        for p in params:
            p -= 0.03 * p.grad
""", cure=(("* p.grad\n", "* p.grad\n            p.grad = None\n"),)),
    Mistake("closure_adds_up", 9, CLOSURE.replace("ZERO", "pass"), says={"names": "w"}, mends=True),
    Mistake("closure_adds_up", 10, """fit = nn.Linear(2, 1)
x, y = torch.randn(9, 2), torch.randn(9, 1)
solver = torch.optim.LBFGS(fit.parameters())
def evaluate():
    loss = F.mse_loss(fit(x), y)
    print(loss.item())
    loss.backward()
    return loss
for i in range(2): solver.step(evaluate)
""", says={"names": "fit.weight, fit.bias"}, mends=True),
    Mistake("zeroed_in_every_part", 8, """body, head = nn.Linear(3, 4), nn.Linear(4, 1)
of_body, of_head = torch.optim.Adam(body.parameters()), torch.optim.Adam(head.parameters())
for i, x in enumerate(torch.randn(8, 5, 3)):
    loss = head(body(x).tanh()).square().mean() / 4
    of_body.zero_grad()
    of_head.zero_grad()
    loss.backward()
    if (i + 1) % 4 == 0:
        of_body.step()
        of_head.step()
""", says={"passes": "8", "steps": "2"}, cure=(
        ("    of_body.zero_grad()\n    of_head.zero_grad()\n", ""),
        ("of_head.step()\n", "of_head.step()\n        of_body.zero_grad(); of_head.zero_grad()\n"),
    )),
    Mistake("zeroed_in_every_part", 9, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
seen = 0
for x in torch.randn(8, 4, 3):
    loss = net(x).square().mean()
    opt.zero_grad()
    loss.backward()
    seen += len(x)
    if seen >= 16:
        opt.step()
        seen = 0
""", cure=(("    opt.zero_grad()\n    loss", "    loss"), ("seen >= 16", "seen >= 4"))),
    Mistake("zeroed_in_every_part", 12, """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(48, 3); y = (X[:, 0] > 0).long()
loader = DataLoader(TensorDataset(X, y), batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
accumulation_steps = 3
for epoch in range(2):
    for step, (xb, yb) in enumerate(loader):
        model.zero_grad()
        loss = F.cross_entropy(model(xb), yb) / accumulation_steps
        loss.backward()
        if (step + 1) % accumulation_steps == 0:
            optimizer.step()
    print(epoch, loss.item())
""", cure=(
        ("        model.zero_grad()\n", ""),
        ("            optimizer.step()\n", "            optimizer.step()\n            model.zero_grad()\n"),
    )),
    Mistake("zeroed_in_every_part", 10, """class Trainer:
    def __init__(self, model, every):
        self.model, self.every = model, every
        self.opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    def run(self, batches):
        for i, (x, y) in enumerate(batches, 1):
            self.opt.zero_grad()
            loss = F.mse_loss(self.model(x), y) / self.every
            loss.backward()
            if i % self.every == 0:
                self.opt.step()
        return loss.item()
data = [(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(8)]
print(Trainer(nn.Linear(2, 1), 4).run(data))
""", cure=(
        ("            self.opt.zero_grad()\n", ""),
        ("self.opt.step()", "self.opt.step()\n                self.opt.zero_grad()"),
    )),
    Mistake("gradient_left_by_another", 8, """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
of_g, of_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = G(torch.randn(8, 2))
    (D(fake.detach()).mean() - D(torch.randn(8, 3)).mean()).backward()
    of_d.step()
    D.zero_grad(); G.zero_grad()
    (-D(fake).mean()).backward()
    of_g.step()
""", cure=(("    of_g.step()\n", "    of_g.step()\n    D.zero_grad()\n"),)),
    Mistake("gradient_left_by_another", 11, """actor, critic = nn.Linear(3, 2), nn.Linear(5, 1)
of_a, of_c = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
def learn(s):
    of_a.zero_grad()
    (-critic(torch.cat([s, actor(s)], 1)).mean()).backward()
    of_a.step()
    value = critic(torch.cat([s, actor(s).detach()], 1))
    (value - s[:, :1]).pow(2).mean().backward()
    of_c.step()
    of_c.zero_grad()
for _ in range(4): learn(torch.randn(6, 3))
""", cure=(("    value =", "    of_c.zero_grad()\n    value ="),)),
    Mistake("gradient_left_by_another", 17, """energy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(energy.parameters(), lr=0.01)
def sample(steps):
    x = torch.randn(6, 2, requires_grad=True)
    for _ in range(steps):
        energy(x).sum().backward()
        with torch.no_grad():
            x -= 0.1 * x.grad
        x.grad.zero_()
    return x.detach()
for _ in range(4):
    opt.zero_grad()
    fake, real = sample(3), torch.randn(6, 2)
    (energy(real) - energy(fake)).mean().backward()
    opt.step()
""", says={"other_line": "9", "input": "x", "optimizer": "opt", "is_search": "1"}, mends=True, cures=(
        ("energy(x).sum().backward()", "x.grad = torch.autograd.grad(energy(x).sum(), x)[0]"),
    )),
    Mistake("gradient_left_by_another", 14, SGD + """for _ in range(3):
    opt.zero_grad()
    near = x
    for _ in range(3):
        near = near.detach().requires_grad_()
        F.mse_loss(net(near), y).backward()
        near = near + 0.01 * near.grad.sign()
    F.mse_loss(net(near.detach()), y).backward()
    opt.step()
""", mends=True),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # of no elements
    ("gradient_added_up", "none = torch.zeros(0, 3, requires_grad=True)\n(none * 2).sum().backward()\n(none * 3).sum().backward()\n"),
    # momentum by hand
    ("step_without_zero_grad", """w = torch.ones(3, requires_grad=True)
for _ in range(4):
    if w.grad is not None:
        w.grad.mul_(0.9)
    (w - 2).square().mean().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
"""),
    # one of two optimizers steps seldom, with the gradients of a pass of its own
    ("zeroed_in_every_part", GAN + """    z = torch.randn(4, 2)
    of_g.zero_grad(); of_d.zero_grad()
    (D(G(z)) - D(torch.randn(4, 3))).mean().backward()
    of_d.step()
    if (i + 1) % 2 == 0:
        of_g.zero_grad()
        (-D(G(z))).mean().backward()
        of_g.step()
"""),
    ("zeroed_in_every_part", """actor, critic = nn.Linear(3, 1), nn.Linear(4, 1)
of_actor, of_critic = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
for i, x in enumerate(torch.randn(8, 5, 3)):
    of_actor.zero_grad(); of_critic.zero_grad()
    critic(torch.cat((x, actor(x)), 1)).square().mean().backward()
    if i % 2 == 0:
        of_actor.step()
    of_critic.step()
"""),
    ("step_without_zero_grad", TRAIN + "for i in range(3):\n    F.mse_loss(model(x), y).backward()\n    opt.step()\n"
     "    for p in model.parameters():\n        p.grad.zero_()\n"),
    ("step_without_zero_grad", TRAIN + LOOP),
    ("step_without_zero_grad", "import copy\n" + TRAIN + "late = copy.deepcopy(model)\nfor i in range(4):\n    opt.zero_grad()\n    F.mse_loss(model(x), y + 0.9 * late(x)).backward()\n"
     "    opt.step()\n    late.load_state_dict(model.state_dict())\n"),
    ("step_without_zero_grad", """emb, head = nn.Embedding(6, 3), nn.Linear(3, 2)
opt = torch.optim.Adam([*emb.parameters(), *head.parameters()])
words, y = torch.arange(6).view(3, 2), torch.tensor([0, 1, 0])
for _ in range(3):
    F.cross_entropy(head(emb(words).mean(1)), y).backward()
    before, slope = emb.weight.data.clone(), emb.weight.grad
    emb.weight.data.add_(0.1 * slope / slope.norm())  # an attack: what it costs is added to what is known
    F.cross_entropy(head(emb(words).mean(1)), y).backward()
    emb.weight.data = before
    opt.step(); opt.zero_grad()
"""),
    # what each step of an attack costs is added up on purpose
    ("gradient_left_by_another", SGD + """for _ in range(3):
    opt.zero_grad()
    delta = torch.zeros(8, 2)
    for _ in range(3):
        delta = delta.detach().requires_grad_()
        (F.mse_loss(net(x + delta), y) / 3).backward()
        delta = delta + 0.01 * delta.grad.sign()
    opt.step()
"""),
    # two losses of a training, of which one also fills the gradient of where it was computed
    ("gradient_left_by_another", SGD + """for _ in range(3):
    opt.zero_grad()
    for _ in range(2):
        place = torch.rand(8, 2, requires_grad=True)
        net(place).pow(2).mean().backward()
        print(place.grad.norm())
    F.mse_loss(net(x), y).backward()
    opt.step()
"""),
    # a step zeroes what the search left
    ("gradient_left_by_another", SGD + """for _ in range(3):
    near = x.clone().requires_grad_()
    for _ in range(3):
        F.mse_loss(net(near), y).backward()
        near.data += 0.01 * near.grad.sign()
        near.grad = None
    opt.zero_grad()
    F.mse_loss(net(near.detach()), y).backward()
    opt.step()
"""),
    ("gradient_added_up", "G, D = nn.Linear(2, 3), nn.Linear(3, 1)\ng_opt, d_opt = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (G, D))\nfor i in range(3):\n"
     "    fake = G(torch.randn(4, 2))\n    d_opt.zero_grad(); D(fake.detach()).mean().backward(); d_opt.step()\n    g_opt.zero_grad(); D(fake).mean().neg().backward(); g_opt.step()\n"),
    ("gradient_added_up", TRAIN + "for i in range(4):\n    (F.mse_loss(model(x), y) / 2).backward()\n    if (i + 1) % 2 == 0:\n        opt.step()\n        opt.zero_grad()\n"),
    ("closure_adds_up", CLOSURE.replace("ZERO", "opt.zero_grad()")),
)  # fmt: skip
