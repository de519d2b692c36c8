"""What `engine/findings/optimizers.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import DATA, FIT, LOOP, STEP, TRAIN, Mistake

PAIR = """x = torch.randn(6, 3)
encoder = nn.Linear(3, 2)
decoder = nn.Linear(2, 3)
"""

CODED = """for i in range(3):
    opt.zero_grad()
    F.mse_loss(decoder(encoder(x)), x).backward()
    opt.step()
"""

TWO_OPTIMIZERS = """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
of_g = torch.optim.SGD(OF_G.parameters(), lr=0.1)
of_d = torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(3):
    fake = G(torch.randn(4, 2))
    of_d.zero_grad(); D(fake.detach()).mean().backward(); of_d.step()
    of_g.zero_grad(); (-D(fake).mean()).backward(); of_g.step()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("model_without_optimizer", 7, PAIR + "opt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED, says={"model": "encoder", "trained": "decoder", "optimizer": "opt", "count": "2", "passes": "3"}),
    Mistake("model_without_optimizer", 8, """x, y = torch.randn(6, 3), torch.randn(6, 1)
body = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
head = nn.Linear(4, 1)
def train():
    opt = torch.optim.Adam(body.parameters(), lr=0.01)
    for i in range(2):
        opt.zero_grad()
        F.mse_loss(head(body(x)), y).backward()
        opt.step()
train()
""", says={"model": "head", "trained": "body", "count": "2"}),
    Mistake("not_in_optimizer", 6, TRAIN + "model[2] = nn.Linear(3, 1)\n" + LOOP, says={"optimizer": "opt", "model": "model", "count": "2"}, mends=True),
    Mistake("not_in_optimizer", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(2, 2), nn.Linear(2, 1)
    def forward(self, x):
        return self.head(self.body(x))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net.head = nn.Linear(2, 3)
for i in range(2):
    opt.zero_grad()
    net(torch.ones(4, 2)).pow(2).mean().backward()
    opt.step()
""", says={"optimizer": "opt", "model": "net", "count": "2"}, mends=True),
    Mistake("not_in_optimizer", 8, """net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2))
before = torch.optim.Adam(net.parameters())
for i in range(2):
    before.zero_grad(); net(torch.ones(4, 2)).pow(2).sum().backward(); before.step()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net[1] = nn.Linear(3, 2)
for i in range(2):
    opt.zero_grad(); net(torch.ones(4, 2)).pow(2).sum().backward(); opt.step()
""", says={"optimizer": "opt", "names": "net.1.weight, net.1.bias"}, mends=True),
    Mistake("not_in_optimizer", 5, """net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 9))
params = list(net.parameters()); opt = torch.optim.SGD(params, lr=0.1)
net[1] = nn.Linear(3, 1)
for i in range(2):
    opt.zero_grad(); net(torch.ones(4, 2)).sum().backward(); opt.step()
""", says={"model": "net", "names": "net.1.weight, net.1.bias"}),
    Mistake("optimizer_made_anew", 8, TRAIN + "for i in range(3):\n    adam = torch.optim.Adam(model.parameters())\n    adam.zero_grad()\n    F.mse_loss(model(x), y).backward()\n    adam.step()\n".replace("for i", "for _"), says={"name": "adam", "type": "Adam", "count": "3"}),
    Mistake("optimizer_made_anew", 8, TRAIN + "for i in range(2):\n    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)\n    loss = F.mse_loss(model(x), y)\n    loss.backward()\n    sgd.step()\n    sgd.zero_grad()\n", says={"type": "SGD"}),
    Mistake("optimizer_made_anew", 6, """net = nn.Linear(2, 1)
def epoch(x, y):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    net.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
for i in range(4):
    epoch(torch.randn(5, 2), torch.randn(5, 1))
""", says={"times": "4"}),
    Mistake("optimizer_made_anew", 7, """net = nn.Linear(2, 1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
for ep in range(3):
    opt = torch.optim.SGD(net.parameters(), 0.1, 0.9)
    for i in range(2):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
""", says={"times": "3", "count": "6", "type": "SGD"}),
    Mistake("optimizer_made_anew", 8, """class Tr:
    def __init__(self):
        self.net = nn.Linear(2, 1)
    def train_epoch(self, xs, ys):
        opt = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        for x, y in zip(xs, ys):
            opt.zero_grad(); F.mse_loss(self.net(x), y).backward(); opt.step()
tr = Tr()
for e in range(3): tr.train_epoch(torch.randn(2, 4, 2), torch.randn(2, 4, 1))
"""),
    Mistake("optimizer_of_another_model", 8, """actor, critic = nn.Linear(2, 1), nn.Linear(3, 1)
s = torch.randn(4, 2)
opts = dict(lr=0.01)
critic_opt = torch.optim.Adam(critic.parameters(), **opts)
actor_opt = torch.optim.Adam(critic.parameters(), **opts)
for i in range(3):
    a = actor(s)
    critic_opt.zero_grad(); F.mse_loss(critic(torch.cat([s, a.detach()], 1)), s[:, :1]).backward(); critic_opt.step()
    actor_opt.zero_grad(); (-critic(torch.cat([s, a], 1)).mean()).backward(); actor_opt.step()
""", says={"optimizer": "actor_opt", "model": "actor"}, mends=True),
    Mistake("optimizer_of_another_model", 5, TWO_OPTIMIZERS.replace("OF_G", "D"), says={"optimizer": "of_g", "model": "G"}, mends=True),
    Mistake("optimizer_of_another_model", 6, """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
of_g = torch.optim.Adam(G.parameters())
of_d = torch.optim.Adam(G.parameters())
for _ in range(4):
    for p in D.parameters(): p.requires_grad = False
    of_g.zero_grad(); (-D(G(torch.randn(8, 2))).mean()).backward(); of_g.step()
    for p in D.parameters(): p.requires_grad = True
    D.zero_grad(); (D(G(torch.randn(8, 2)).detach()).mean() - D(torch.randn(8, 3)).mean()).backward(); of_d.step()
""", cure=(("of_d = torch.optim.Adam(G.", "of_d = torch.optim.Adam(D."),), mends=True),
    Mistake("setting_without_effect", 9, """class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    def adjust(self, epoch):
        self.optimizer.lr = 1e-2 * 0.5 ** epoch
    def fit(self, X, y, epochs):
        for epoch in range(epochs):
            self.adjust(epoch)
            loss = F.mse_loss(self.model(X), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(loss.item())
X = torch.randn(16, 2)
Trainer(nn.Linear(2, 1)).fit(X, X.sum(1, keepdim=True), 5)
""", cure=(
        ("self.optimizer.lr = 1e-2 * 0.5 ** epoch", "for g in self.optimizer.param_groups:\n            g[\"lr\"] = 1e-2 * 0.5 ** epoch"),
    ), mends=True),
    Mistake("setting_without_effect", 5, """def warmup(optimizer, step, base=0.1, n=5):
    optimizer.lr = base * min(1.0, (step + 1) / n)
net = nn.Linear(2, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(10, 2)
for step in range(6):
    warmup(sgd, step)
    loss = (net(x) - x.sum(1, keepdim=True)).abs().mean()
    sgd.zero_grad(); loss.backward(); sgd.step()
print(loss.item())
""", cure=(
        ("    optimizer.lr = base * min(1.0, (step + 1) / n)", "    for g in optimizer.param_groups:\n        g[\"lr\"] = base * min(1.0, (step + 1) / n)"),
    ), mends=True),
    Mistake("fed_and_never_moved", 6, """net, rate = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1)), nn.Parameter(torch.zeros(1))
t = torch.linspace(0, 1, 6).view(-1, 1).requires_grad_(True)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    u = net(t); slope = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    opt.zero_grad(); ((slope + rate * u) ** 2).mean().backward(); opt.step()
""", cures=(("Adam(net.parameters(), lr=0.01)", "Adam([*net.parameters(), rate], lr=0.01)"), ("rate * u", "rate.detach() * u"))),
    Mistake("fed_and_never_moved", 6, """net = nn.Linear(4, 2)
scale = nn.Parameter(torch.ones(2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(8, 4), torch.randn(8, 2)
for _ in range(3):
    loss = F.mse_loss(net(x) * scale, y)
""" + STEP, cures=(("Adam(net.parameters()", "Adam([*net.parameters(), scale]"), ("nn.Parameter(torch.ones(2))", "torch.ones(2)"))),
    Mistake("fed_and_never_moved", 6, """mlp = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
weights = [p for p in mlp.parameters() if p.dim() > 1]
opt = torch.optim.SGD(weights, lr=0.1)
for _ in range(4):
    loss = (mlp(torch.randn(6, 3)) - 5).square().mean()
""" + STEP, cure=(("if p.dim() > 1", "if p.dim() > 0"),)),
    Mistake("optimizer_of_old_model", 8, f"""net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(6):
    if epoch == 2:
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", cure=(("nn.Linear(4, 1))\n", "nn.Linear(4, 1))\n        opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"),)),
    Mistake("optimizer_of_old_model", 8, f"""model = nn.Linear(3, 1)
opt = torch.optim.Adam(model.parameters())
for n in range(7):
    if n > 0 and n % 3 == 0:
        model = nn.Linear(3, 1)
    loss = model(torch.ones(8, 3)).pow(2).mean()
{STEP}""", cure=(("n % 3 == 0", "n % 9 == 0"),)),
    Mistake("thawed_too_late", 14, """x, y = torch.randn(8, 2), torch.randn(8, 1)
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
body = net[0]
for p in body.parameters():
    p.requires_grad = False
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for i in range(2):
""" + FIT + "body.requires_grad_(True)\nfor i in range(2):\n" + FIT, says={"optimizer": "opt", "made_line": "9", "count": "2"}),
    Mistake("thawed_too_late", 10, """x, y = torch.randn(8, 2), torch.randn(8, 1)
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
net[0].requires_grad_(False)
opt = torch.optim.SGD(filter(lambda p: p.requires_grad, net.parameters()), lr=0.1)
for epoch in range(4):
    if epoch == 2:
        net[0].requires_grad_(True)
""" + FIT, says={"names": "net.0.weight, net.0.bias"}),
    Mistake("thawed_too_late", 11, """x, y = torch.randn(8, 2), torch.randn(8, 1)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)
body.requires_grad_(False)
opt = torch.optim.SGD([p for p in [*body.parameters(), *head.parameters()] if p.requires_grad], lr=0.1)
for epoch in range(4):
    net = lambda x: head(body(x))
    if epoch == 2:
        body.requires_grad_(True)
""" + FIT, says={"model": "body", "names": "body.weight, body.bias"}),
    Mistake("thawed_too_late", 23, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(2, 3), nn.Linear(3, 1)
    def forward(self, x):
        return self.head(self.body(x))
    def switch_off(self):
        for p in self.body.parameters():
            p.requires_grad = False
    def switch_on(self):
        for p in self.parameters():
            p.requires_grad = True
x, y, net = torch.randn(8, 2), torch.randn(8, 1), Net()
net.switch_off()
opt = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()))
for i in range(2):
""" + FIT + "net.switch_on()\nfor i in range(2):\n" + FIT, cures=(
        ("net.switch_on()\n", "net.switch_on(); opt.add_param_group({'params': net.body.parameters()})\n"),
        ("net.switch_off()\n", "net.switch_off(); net.switch_on()\n"),
    ), says={"names": "net.body.weight, net.body.bias", "made_line": "18"}),
    Mistake("embedding_frozen", 5, """vectors = torch.randn(10, 4)
table = nn.Embedding.from_pretrained(vectors)
model = nn.Sequential(table, nn.Flatten(), nn.Linear(12, 2))
opt = torch.optim.Adam(model.parameters())
words, y = torch.randint(10, (6, 3)), torch.randint(2, (6,))
for _ in range(2):
    loss = F.cross_entropy(model(words), y)
""" + STEP, cures=(("pretrained(vectors)", "pretrained(vectors, freeze=False)"), ("pretrained(vectors)", "pretrained(vectors, freeze=True)"))),
    Mistake("embedding_frozen", 7, """class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag.from_pretrained(torch.randn(8, 3))
        self.out = nn.Linear(3, 1)
    def forward(self, ids):
        return self.out(self.words(ids))
bag = Bag()
opt = torch.optim.SGD(bag.parameters(), lr=0.1)
loss = bag(torch.randint(8, (4, 2))).pow(2).mean()
opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("SGD(bag.parameters()", "SGD(bag.out.parameters()"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("not_in_optimizer", """x, y = torch.randn(8, 2), torch.randn(8, 1)
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
opt = torch.optim.SGD(list(model.parameters())[:-2], lr=0.1)
""" + LOOP),
    ("not_in_optimizer", TRAIN.replace("model.parameters()", "model[2].parameters()") + LOOP),
    ("not_in_optimizer", TRAIN + "model[0].requires_grad_(False)\n" + LOOP),
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
    ("model_without_optimizer", PAIR + "opt = torch.optim.SGD([*decoder.parameters(), *encoder.parameters()], lr=0.1)\n" + CODED),
    ("model_without_optimizer", PAIR + "encoder.eval()\nopt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED),
    ("model_without_optimizer", PAIR + "import copy\nonline = copy.deepcopy(encoder)\nencoder.load_state_dict(online.state_dict())\nopt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED),
    ("model_without_optimizer", PAIR + "encoder.requires_grad_(False)\nopt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED),
    ("model_without_optimizer", PAIR + "other = torch.optim.SGD(encoder.parameters(), lr=0.1)\nopt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n"
     + CODED + "    other.step()\n"),
    ("model_without_optimizer", PAIR + "z = torch.zeros(6, 2, requires_grad=True)\nopt = torch.optim.SGD([z], lr=0.1)\n"
     + CODED.replace("decoder(encoder(x))", "decoder(z)")),
    ("model_without_optimizer", PAIR + "opt = torch.optim.SGD(decoder.parameters(), lr=0.1)\n" + CODED
     + "    with torch.no_grad():\n        for p in (encoder.weight, encoder.bias):\n            p -= 0.1 * p.grad\n"),
    # an argument of the same name as the optimizer
    # neither of them has a plain name
    ("setting_without_effect", """class Options: pass
lin, kept = nn.Linear(2, 1), {"a": Options()}
opts = [torch.optim.SGD(lin.parameters(), lr=0.1)]
kept["a"].lr = 0.1
lin(torch.ones(4, 2)).sum().backward()
opts[0].step()
"""),
    ("setting_without_effect", "class Options: pass\ndef told(opt):\n    opt.lr = 0.1\n    return opt\ntold(Options())\n"
     + TRAIN + LOOP),
    ("optimizer_made_anew", "for fold in range(2):\n    net = nn.Linear(2, 1)\n    opt = torch.optim.Adam(net.parameters())\n    net(torch.ones(3, 2)).sum().backward()\n    opt.step()\n"),
    ("optimizer_made_anew", TRAIN + "for rate in (0.1, 0.01):\n    opt = torch.optim.Adam(model.parameters(), lr=rate)\n    for i in range(2):\n        opt.zero_grad()\n        F.mse_loss(model(x), y).backward()\n        opt.step()\n"),
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
    # trained once more after pruning
    ("optimizer_made_anew", """net, x = nn.Linear(4, 1), torch.randn(8, 4)
def fit(steps):
    opt = torch.optim.AdamW(net.parameters(), lr=0.1)
    for _ in range(steps):
        opt.zero_grad(); F.mse_loss(net(x), x[:, :1]).backward(); opt.step()
fit(4)
with torch.no_grad():
    net.weight[net.weight.abs() < 0.2] = 0
fit(2)
"""),
    ("optimizer_of_another_model", TWO_OPTIMIZERS.replace("OF_G", "G")),
    ("thawed_too_late", DATA + "net.requires_grad_(False); net.requires_grad_(True)\nopt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)\n"
     "for i in range(2):\n" + FIT),
    ("thawed_too_late", "x, y = torch.randn(8, 2), torch.randn(8, 1)\nbody, head = nn.Linear(2, 3), nn.Linear(3, 1)\nbody.requires_grad_(False)\n"
     "net = lambda x: head(body(x))\nopt = torch.optim.SGD([p for p in head.parameters() if p.requires_grad], lr=0.1)\nslow = torch.optim.SGD(body.parameters(), lr=0.01)\n"
     "for i in range(2):\n" + FIT + "body.requires_grad_(True)\nfor i in range(2):\n    slow.zero_grad()\n" + FIT + "    slow.step()\n"),
)  # fmt: skip
