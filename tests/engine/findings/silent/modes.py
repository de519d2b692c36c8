"""What `engine/findings/modes.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import LOOP, NORMED, TRAIN, Mistake

DROP = """x, y = torch.randn(8, 2), torch.randn(8, 1)
model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.Linear(3, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""

TRAIN_MODE = DROP + "for i in range(2):\n    opt.zero_grad()\n    F.mse_loss(model(x), y).backward()\n    opt.step()\n"

BODY = """x, y = torch.randn(8, 3), torch.randn(8, 1)
body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
for p in body.parameters():
    p.requires_grad = False
head = nn.Linear(4, 1)
model = nn.Sequential(body, head)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("trained_in_eval", 9, DROP + """for epoch in range(2):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        model(x)
""", says={"module": "model.1", "type": "Dropout", "eval_line": "12"}),
    Mistake("trained_in_eval", 10, """x = torch.randn(8, 2)
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def epoch():
    opt.zero_grad()
    out = net(x)
    out.pow(2).mean().backward()
    opt.step()
for i in range(3):
    epoch()
    net.eval()
""".replace("    out = net(x)\n    out.pow(2).mean().backward()\n", "\n    net(x).pow(2).mean().backward()\n"), says={"module": "net.1", "type": "BatchNorm1d"}),
    Mistake("trained_in_eval", 17, """x = torch.randn(8, 2)
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def check():
    net.eval()
    with torch.no_grad():
        return net(x).pow(2).mean()
for epoch in range(2):
    net.train()
    for turn in range(2):
        if turn == 0:
            check()
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()
""", says={"module": "net.1", "type": "BatchNorm1d", "eval_line": "8", "trained": "0"}),
    Mistake("evaluated_in_train", 13, DROP + LOOP + """with torch.no_grad():
    print(model(x).mean())
""", says={"layers": "model.1 (Dropout)", "norms": "0"}, mends=True),
    Mistake("evaluated_in_train", 9, """net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.randn(8, 2)).pow(2).mean().backward()
opt.step()
with torch.inference_mode():
    print(net(torch.randn(4, 2)))
""", says={"layers": "net.1 (BatchNorm1d)", "drops": "0"}, mends=True),
    Mistake("evaluated_in_train", 14, DROP + "losses = []\n" + LOOP + """    with torch.no_grad():
        losses.append(F.mse_loss(model(x), y))
print(torch.stack(losses))
""", says={"layers": "model.1 (Dropout)"}),
    Mistake("evaluated_in_train", 14, """net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Dropout(0.5), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randint(0, 2, (64,))
def train():
    net.train()
    for epoch in range(3):
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
train()
with torch.no_grad():
    print((net(x[:20]).argmax(1) == y[:20]).float().mean())
""", mends=True),
    Mistake("evaluated_in_train", 20, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Dropout(0.3), nn.Linear(20, 2))
    def forward(self, x):
        return self.net(x)
X = torch.randn(80, 5); y = (X[:, 0] > 0).long()
Xt = torch.randn(20, 5); yt = (Xt[:, 0] > 0).long()
model = Net(); opt = torch.optim.Adam(model.parameters(), lr=0.01)
def train():
    model.train()
    loss = F.cross_entropy(model(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    return loss.item()
def evaluate():
    with torch.no_grad():
        out = model(Xt)
        return (out.argmax(1) == yt).float().mean().item()
for epoch in range(4):
    print(epoch, train(), evaluate())
""", cure=(
        ("def evaluate():\n", "def evaluate():\n    model.eval()\n"),
    ), mends=True),
    Mistake("evaluated_in_train", 16, """net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
X, y = torch.randn(50, 4), torch.randn(50, 1)
Xv, yv = torch.randn(10, 4), torch.randn(10, 1)
for epoch in range(5):
    net.train()
    for i in range(0, 50, 25):
        opt.zero_grad()
        loss = F.mse_loss(net(X[i:i+25]), y[i:i+25])
        loss.backward()
        opt.step()
    with torch.no_grad():
        val = F.mse_loss(net(Xv), yv)
    print(epoch, loss.item(), val.item())
""", cure=(
        ("    with torch.no_grad():", "    net.eval()\n    with torch.no_grad():"),
    ), mends=True),
    Mistake("evaluated_in_train", 21, """from torch.utils.data import DataLoader, TensorDataset
class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(1, 4, 3); self.bn = nn.BatchNorm2d(4); self.fc = nn.Linear(4, 2)
    def forward(self, x):
        return self.fc(torch.relu(self.bn(self.c(x))).mean((2, 3)))
def fit(model, loader, opt):
    model.train()
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()
@torch.no_grad()
def validate(model, loader):
    good = total = 0
    for x, y in loader:
        good += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    return good / total
X, y = torch.randn(24, 1, 6, 6), torch.randint(0, 2, (24,))
train_loader = DataLoader(TensorDataset(X[:16], y[:16]), batch_size=8, shuffle=True)
val_loader = DataLoader(TensorDataset(X[16:], y[16:]), batch_size=8)
model = CNN(); opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    fit(model, train_loader, opt)
    print(epoch, validate(model, val_loader))
""", cure=(
        ("    good = total = 0", "    model.eval()\n    good = total = 0"),
    )),
    Mistake("evaluated_in_train", 15, """net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(4)]
for epoch in range(2):
    net.train()
    for x, y in batches[:3]:
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward(); opt.step()
    held = 0.0
    for x, y in batches[3:]:
        score = net(x)
        held += F.cross_entropy(score, y).item()
    print(loss.item(), held)
""", cure=(
        ("    held = 0.0\n", "    held = 0.0\n    net.eval()\n"),
    )),
    Mistake("evaluated_in_train", 5, """def score(net, x, y):
    return F.mse_loss(net(x), y).item()
x, y = torch.randn(8, 2), torch.randn(8, 1)
for fold in range(5):
    net = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.3), nn.Linear(3, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    F.mse_loss(net(x), y).backward()
    opt.step()
    print(score(net, x, y))
""", says={"layers": "net.1 (Dropout)"}),
    Mistake("evaluated_with_grad", 9, TRAIN + """def run(policy, frozen):
    for i in range(3):
        aim = frozen(x)
        opt.zero_grad()
        F.mse_loss(policy(x), aim).backward()
        opt.step()
run(model, nn.Linear(2, 1).eval())
""", says={"module": "frozen"}),
    Mistake("evaluated_with_grad", 13, TRAIN + LOOP + """model.eval()
print(model(x).mean().item())
""", says={"module": "model", "count": "1"}, mends=True),
    Mistake("evaluated_with_grad", 14, DROP + LOOP + """model.eval()
for part in x.split(4):
    print(model(part).mean().item())
""", says={"module": "model", "count": "2"}),
    Mistake("evaluated_with_grad", 6, """net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
def height(x, t):
    return net(torch.cat([x, t], 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    x, t = torch.rand(8, 1), torch.rand(8, 1, requires_grad=True)
    slope, = torch.autograd.grad(height(x, t).sum(), t, create_graph=True)
    opt.zero_grad(); (slope + x).square().mean().backward(); opt.step()
net.eval()
print(height(torch.rand(4, 1), torch.rand(4, 1)).detach().mean().item())
""", cure=(("print(height(", "with torch.no_grad():\n    print(height("),), says={"is_shared": "1"}),
    Mistake("evaluated_with_grad", 13, """student, teacher = nn.Linear(3, 4), nn.Sequential(nn.Linear(3, 8), nn.Dropout(), nn.Linear(8, 4))
x, y = torch.randn(16, 3), torch.randint(0, 4, (16,))
for net, aim in ((teacher, None), (student, teacher)):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    if aim is not None: aim.eval()
    for _ in range(3):
        out = net(x)
        loss = F.cross_entropy(out, y)
        if aim is not None:
            soft = F.softmax(aim(x) / 4, dim=-1)
            loss = loss + F.cross_entropy(out / 4, soft)
        opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("soft = F.softmax(aim(x) / 4, dim=-1)", "soft = F.softmax(aim(x) / 4, dim=-1).detach()"), ("aim.eval()", "aim.eval().requires_grad_(False)")), says={"count": "3", "is_fed": "1"}),
    Mistake("evaluated_with_grad", 9, """import copy
value = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
frozen = copy.deepcopy(value).eval()
opt, x = torch.optim.Adam(value.parameters()), torch.randn(16, 3)
for _ in range(3):
    aim = x[:, :1] + 0.9 * frozen(x + 1)
    loss = F.mse_loss(value(x), aim)
    opt.zero_grad(); loss.backward(); opt.step()
""", cures=(("    aim = x[:, :1] + 0.9 * frozen(x + 1)", "    with torch.no_grad():\n        aim = x[:, :1] + 0.9 * frozen(x + 1)"),), says={"module": "frozen", "is_fed": "1"}),
    Mistake("switch_without_with", 6, """def shown(x):
    # values only
    torch.inference_mode()
    return x * 2
shown(torch.ones(2, requires_grad=True))
""", says={"code": "torch.inference_mode()"}),
    Mistake("switch_without_with", 5, """x = torch.ones(2, requires_grad=True)
torch.no_grad()
y = x * 2
""", says={"code": "torch.no_grad()"}),
    Mistake("trained_in_eval", 15, """class Trainer:
    def __init__(self, model):
        self.model, self.x = model, torch.randn(8, 2)
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
    def check(self):
        self.model.eval()
        with torch.no_grad():
            print(self.model(self.x).mean())
    def train(self):
        self.model.train()
        for turn in range(4):
            loss = self.model(self.x).pow(2).mean()
            self.opt.zero_grad(); loss.backward(); self.opt.step()
            if turn == 1:
                self.check()
Trainer(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))).train()
""", says={"module": "self.model.1", "model": "self.model"}, cure=(("            loss = ", "            self.model.train(); loss = "),)),
    Mistake("trained_in_eval", 9, """class Trainer(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
    def forward(self, x, y):
        return F.mse_loss(self.net(x), y)
net = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.5), nn.Linear(8, 1)); trainer = Trainer(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    loss = trainer(torch.randn(8, 2), torch.randn(8, 1))
    opt.zero_grad(); loss.backward(); opt.step()
    net.eval()
    with torch.no_grad():
        print(trainer(torch.randn(8, 2), torch.randn(8, 1)).item())
""", cure=(("    loss = trainer", "    net.train(); loss = trainer"),)),
    Mistake("trained_while_evaluating", 14, DROP + """for i in range(2):
    model.train()
    F.mse_loss(model(x), y).backward()
    opt.step()
    model.eval()
    for _ in range(2):
        opt.zero_grad()
        F.mse_loss(model(x), y).backward()
        opt.step()
    opt.zero_grad()
""", says={"step_line": "15", "train_line": "9", "eval_line": "11"}),
    Mistake("trained_while_evaluating", 13, """net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
optim = torch.optim.Adam(net.parameters())
def fit(data):
    F.mse_loss(net(data), data[:, :1]).backward(); optim.step(); optim.zero_grad()
def test(data):
    net.eval()
    loss = F.mse_loss(net(data), data[:, :1])
    if loss > 0:
        pass
    loss.backward()
    optim.step()
fit(torch.randn(5, 2))
test(torch.randn(5, 2))
""", says={"module": "net.1"}),
    Mistake("frozen_norm_drifts", 9, f"""net, head = {NORMED}, nn.Linear(1, 1)
def fit(opt):
    for _ in range(3):
        loss = head(net(torch.randn(8, 3))).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
nn.ModuleList([net, head]).train()
fit(torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1))
net.requires_grad_(False)
fit(torch.optim.SGD(head.parameters(), lr=0.1))
""", cure=(("net.requires_grad_(False)\n", "net.requires_grad_(False); net.eval()\n"),)),
    Mistake("frozen_norm_drifts", 12, BODY + """for i in range(3):
    model.train()
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""", says={"count": "3"}),
    Mistake("frozen_norm_drifts", 7, """x = torch.randn(4, 1, 5, 5)
norm = nn.BatchNorm2d(2).requires_grad_(False)
net = nn.Sequential(nn.Conv2d(1, 2, 3), norm, nn.Flatten(), nn.Linear(18, 1))
net.train()
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for i in range(2):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
""", says={"type": "BatchNorm2d"}),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # its figures are kept on purpose from then on
    ("trained_in_eval", """x = torch.randn(8, 2)
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(6):
    if i == 3:
        net.eval()
    opt.zero_grad(); net(x).square().mean().backward(); opt.step()
"""),
    ("evaluated_in_train", """x, net = torch.randn(8, 2), nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
with torch.no_grad():
    net(x)  # its figures follow the last step
net.eval()
"""),
    ("trained_while_evaluating", DROP + """for i in range(3):
    model.eval()
    near = x.clone().requires_grad_()
    F.mse_loss(model(near), y).backward()
    model.train()
    opt.zero_grad()
    F.mse_loss(model((near + near.grad.sign()).detach()), y).backward()
    opt.step()
"""),
    ("trained_in_eval", DROP + "for epoch in range(2):\n    model.train()\n    opt.zero_grad()\n    loss = F.mse_loss(model(x), y)\n"
     "    loss.backward()\n    opt.step()\n    model.eval()\n    with torch.no_grad():\n        model(x)\n"),
    ("trained_in_eval", """x, y = torch.randn(8, 2), torch.randn(8, 1)
net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for stage in range(2):
    net.train()
    if stage:
        net.apply(lambda m: isinstance(m, nn.BatchNorm1d) and m.eval())
    for i in range(2):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
"""),
    ("trained_in_eval", """x, y = torch.randn(8, 2), torch.randn(8, 1)
net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
opt = torch.optim.SGD(net[2].parameters(), lr=0.1)
net.eval()  # tuned with the figures it has
for _ in range(2):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
net.train()
"""),
    ("trained_in_eval", DROP + LOOP + "model.eval()\nz = x.clone().requires_grad_()\nmodel(z).sum().backward()\nprint(z.grad)\n"),
    # PyTorch runs what rounds the weights; no model is evaluated
    ("evaluated_with_grad", """from torch.ao import quantization
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
net.qconfig = quantization.get_default_qat_qconfig("x86")
ready = quantization.prepare_qat(net.train())
opt = torch.optim.SGD(ready.parameters(), lr=0.1)
ready(torch.randn(4, 2)).sum().backward()
opt.step()
quantization.convert(ready.eval())
"""),
    ("evaluated_in_train", DROP + LOOP + "model.eval()\nwith torch.no_grad():\n    print(model(x).mean())\n"),
    ("evaluated_in_train", DROP + LOOP + "model.train()\nwith torch.no_grad():\n    draws = torch.stack([model(x) for _ in range(3)])\n"),
    ("evaluated_in_train", DROP + LOOP + "with torch.no_grad():\n    draws = torch.stack([model(x) for _ in range(3)])\n"
     "    print(F.mse_loss(draws.mean(0), y))\n"),
    ("evaluated_in_train", DROP + LOOP + "total = 0.0\nwith torch.no_grad():\n    for _ in range(3):\n        total += model(x)\n"),
    ("evaluated_in_train", DROP + "teacher = model\nfor i in range(2):\n    opt.zero_grad()\n    with torch.no_grad():\n        target = teacher(x)\n"
     "    F.mse_loss(model(x), target).backward()\n    opt.step()\n"),
    ("evaluated_in_train", DROP + LOOP + "model.eval()\nwith torch.no_grad():\n    print(model(x))\n"),
    ("evaluated_in_train", """G, D = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 2)), nn.Linear(2, 1)
opt = torch.optim.SGD(G.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad(); F.binary_cross_entropy_with_logits(D(G(torch.randn(4, 2))), torch.ones(4, 1)).backward(); opt.step()
    with torch.no_grad(): print(G(torch.randn(4, 2)).mean())
"""),
    ("evaluated_in_train", """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
    def forward(self, x):
        return self.fc(F.dropout(x, 0.5))
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.1); x = torch.randn(4, 2)
F.mse_loss(net(x), x[:, :1]).backward(); opt.step()
net.eval()
with torch.no_grad(): print(F.mse_loss(net(x), x[:, :1]))
"""),
    ("evaluated_in_train", """G, D = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.5), nn.Linear(8, 2)), nn.Linear(2, 1)
opt = torch.optim.SGD(G.parameters(), lr=0.1)
x = torch.randn(8, 2)
for i in range(3):
    fake = G(x)
    (F.l1_loss(fake, -x) - D(fake).mean()).backward()
    opt.step(); opt.zero_grad()
    with torch.no_grad():
        print(G(x[:2]))
"""),
    ("evaluated_in_train", """class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    def forward(self, z):
        return self.net(z)
G, D = Gen(), nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og, od = torch.optim.Adam(G.parameters(), lr=1e-3), torch.optim.Adam(D.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
fixed = torch.randn(8, 4)
samples = []
for step in range(4):
    G.train(); D.train()
    real = torch.randn(16, 2) + 3
    fake = G(torch.randn(16, 4))
    ld = bce(D(real), torch.ones(16, 1)) + bce(D(fake.detach()), torch.zeros(16, 1))
    od.zero_grad(); ld.backward(); od.step()
    lg = bce(D(fake), torch.ones(16, 1))
    og.zero_grad(); lg.backward(); og.step()
    with torch.no_grad():
        samples.append(G(fixed))
print(samples[-1].mean(0), ld.item(), lg.item())
"""),
    ("evaluated_in_train", """net = nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Dropout(0.2), nn.Linear(20, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(40, 3); y = X.sum(1, keepdim=True)
for _ in range(5):
    loss = F.mse_loss(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
net.train()
with torch.no_grad():
    draws = torch.stack([net(X[:5]) for _ in range(10)])
print(draws.mean(0), draws.std(0))
"""),
    ("evaluated_in_train", "net = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nx, y = torch.randn(6, 2), torch.randn(6, 1)\n"
     "for i in range(2):\n    opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()\nnet.eval()\nnet[1].train()\nwith torch.no_grad():\n    print(F.mse_loss(net(x), y))\n"),
    ("evaluated_with_grad", TRAIN + LOOP + "model.eval()\nwith torch.no_grad():\n    print(model(x).mean().item())\n"),
    ("evaluated_with_grad", """made, judge = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
opt, x = torch.optim.Adam(made.parameters()), torch.randn(6, 3)
for _ in range(3):
    loss = F.mse_loss(judge(made(x)), torch.ones(6, 2))
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("evaluated_with_grad", """first, second = nn.Linear(3, 1).eval(), nn.Linear(3, 1)
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (first, second)]
x = torch.randn(6, 3)
for turn in range(4):
    loss = (first(x) - second(x)).square().mean()
    for opt in opts: opt.zero_grad()
    loss.backward(); opts[1 - turn % 2].step()
"""),
    ("evaluated_with_grad", """model, other = nn.Linear(3, 1).eval(), nn.Linear(3, 1)
opt, x, sizes = torch.optim.SGD(other.parameters(), lr=0.1), torch.randn(6, 3), []
for _ in range(3):
    opt.zero_grad(); (model(x) + other(x)).square().mean().backward(); opt.step()
    sizes.append(model.weight.grad.norm().item())
print(sizes)
"""),
    ("evaluated_with_grad", TRAIN + LOOP + "model.eval()\nz = x.clone().requires_grad_()\nmodel(z).sum().backward()\n"),
    ("switch_without_with", "x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\ntorch.set_grad_enabled(True)\n"),
    ("switch_without_with", "@torch.no_grad()\ndef shown(x):\n    return x * 2\nguard = torch.no_grad()\nwith guard:\n    shown(torch.ones(2))\n"),
    ("trained_while_evaluating", DROP + """for i in range(2):
    opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()
model.eval()
model.requires_grad_(False)
image = torch.zeros(1, 2, requires_grad=True)
find = torch.optim.SGD([image], lr=0.1)
for i in range(2):
    find.zero_grad()
    (-model(image)).sum().backward()
    find.step()
"""),
    ("trained_while_evaluating", DROP + """for i in range(2):
    opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()
model.eval()
small = nn.Linear(2, 1)
of_small = torch.optim.SGD(small.parameters(), lr=0.1)
for i in range(2):
    soft, out = torch.sigmoid(model(x)), small(x)
    of_small.zero_grad(); F.binary_cross_entropy_with_logits(out, soft).backward(); of_small.step()
"""),
    ("trained_while_evaluating", TRAIN_MODE + "model.eval()\nwith torch.no_grad():\n    print(F.mse_loss(model(x), y))\n"),
    ("frozen_norm_drifts", "x, y = torch.randn(8, 3), torch.randn(8, 1)\nbody, head = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), nn.Linear(4, 1)\nfor i in range(5):\n    body(torch.randn(8, 3))\n"
     "body.requires_grad_(False)\nbody.eval()\nopt = torch.optim.SGD(head.parameters(), lr=0.1)\nfor i in range(3):\n    loss = F.mse_loss(head(body(x)), y)\n    opt.zero_grad(); loss.backward(); opt.step()\n"),
    ("frozen_norm_drifts", BODY + "for i in range(3):\n    model.train(); body.eval()\n    opt.zero_grad()\n    F.mse_loss(model(x), y).backward()\n    opt.step()\n"),
    ("frozen_norm_drifts", """online, guess = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), nn.Linear(4, 4)
import copy
slow = copy.deepcopy(online).requires_grad_(False)
opt = torch.optim.SGD([*online.parameters(), *guess.parameters()], lr=0.1)
x = torch.randn(8, 3)
for _ in range(3):
    loss = (guess(online(x)) - slow(x + 0.1 * torch.randn(8, 3))).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        for mine, other in zip(slow.parameters(), online.parameters()):
            mine.mul_(0.9).add_(other, alpha=0.1)
"""),
)  # fmt: skip
