"""What `engine/findings/learning_rate.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import FIT, LOOP, SGD, STEP, THREE_LINES, TRAIN, Mistake

RATE = (
    """x, y = torch.randn(40, 4), torch.randn(40, 1)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=RATE)
for i in range(6):
    loss = F.mse_loss(net(x), y)
"""
    + THREE_LINES
)

MISTAKES: tuple[Mistake, ...] = (
    Mistake("scheduler_before_step", 12, TRAIN + """sched = torch.optim.lr_scheduler.StepLR(opt, 1)
for i in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    sched.step()
    opt.step()
""", says={"step_line": "13"}, mends=True),
    Mistake("scheduler_before_step", 9, """w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)
for i in range(2):
    (w ** 2).sum().backward()
    sched.step()
    opt.step()
    opt.zero_grad()
""", says={"step_line": "10"}, mends=True),
    Mistake("schedule_without_steps", 9, TRAIN + """sched = torch.optim.lr_scheduler.StepLR(opt, 2)
for i in range(4):
    sched.step(); print(opt.param_groups[0]['lr'])
""", cures=(("sched.step();", "opt.step(); sched.step();"),), says={"is_learning": "0"}),
    Mistake("schedule_without_steps", 9, TRAIN + """sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)
for i in range(4):
    F.mse_loss(model(x), y).backward(); sched.step()
""", cures=(("sched.step()", "opt.step(); opt.zero_grad(); sched.step()"),), says={"is_learning": "1"}),
    Mistake("learning_rate_zero", 5, """model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0)
for _ in range(3):
    opt.zero_grad()
    model(torch.randn(4, 2)).pow(2).mean().backward()
    opt.step()
""", says={"optimizer": "opt", "count": "3"}, mends=True),
    Mistake("learning_rate_zero", 6, """def train(steps):
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
""", says={"optimizer": "optimizer", "count": "4"}, mends=True),
    Mistake("learning_rate_zero", 7, """epochs = 5
lr = 1 // 100
w = torch.randn(2, requires_grad=True)
optim = torch.optim.SGD([w], lr)
for e in range(epochs):
    optim.zero_grad(); (w ** 2).sum().backward(); optim.step()
"""),
    Mistake("learning_rate_zero", 6, """w = torch.randn(2, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.0)
for e in range(5):
    opt.zero_grad()
    (w ** 2).sum().backward()
    opt.step()
    sched.step()
""", says={"count": "4", "of": "5"}),
    Mistake("learning_rate_zero", 7, """from torch.optim.lr_scheduler import LambdaLR
w = torch.randn(2, requires_grad=True)
opt = torch.optim.AdamW([w], lr=0.1)
sched = LambdaLR(opt, lambda epoch: epoch // 10)
for e in range(5):
    opt.zero_grad()
    (w ** 2).sum().backward()
    opt.step()
    sched.step()
"""),
    Mistake("learning_rate_zero", 8, """w = torch.randn(2, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
for e in range(6):
    for g in opt.param_groups:
        g['lr'] = 0.1 * (e == 0)
    opt.zero_grad()
    (w ** 2).sum().backward()
    opt.step()
"""),
    Mistake("learning_rate_zero", 8, """class T:
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
    Mistake("scheduled_per_batch", 16, """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(80, 3); y = X.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(X, y), batch_size=8)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.1)
for epoch in range(4):
    for xb, yb in loader:
        loss = F.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
    print(epoch, sched.get_last_lr(), loss.item())
""", cure=(
        ("        sched.step()\n", ""),
        ("    print(epoch", "    sched.step()\n    print(epoch"),
    )),
    Mistake("scheduled_per_batch", 12, """model = nn.Linear(3, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
epochs = 6
plan = torch.optim.lr_scheduler.StepLR(opt, step_size=epochs // 2)
data = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(5)]
for epoch in range(epochs):
    for x, y in data:
        opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()
        plan.step()
""", cure=(
        ("        plan.step()\n", "    plan.step()\n"),
    )),
    Mistake("scheduled_per_batch", 14, """model = nn.Linear(3, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=5)
X = torch.randn(60, 3); y = X.mean(1, keepdim=True)
for epoch in range(5):
    perm = torch.randperm(60)
    for i in range(0, 60, 10):
        b = perm[i:i + 10]
        loss = F.mse_loss(model(X[b]), y[b])
        opt.zero_grad(); loss.backward(); opt.step()
        scheduler.step()
    print(epoch, loss.item(), opt.param_groups[0]["lr"])
""", cure=(
        ("        scheduler.step()\n", ""),
        ("    print(epoch", "    scheduler.step()\n    print(epoch"),
    )),
    Mistake("scheduled_per_batch", 15, """settings = {"epochs": 3}
def plan(opt, epochs):
    return torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs), "cosine"
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
epochs = settings["epochs"]
schedule, kind = plan(opt, epochs)
for epoch in range(epochs):
    for _ in range(5):
        loss = net(torch.randn(8, 3)).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        schedule.step()
""", cure=(("        schedule.step()", "    schedule.step()"),)),
    Mistake("scheduled_per_batch", 16, """class Fit:
    def __init__(self, turns):
        self.turns, self.net = int(turns), nn.Linear(3, 1)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.1)
        self.down = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, self.turns)
    def run(self):
        for epoch in range(1, self.turns + 1):
            self.batches()
    def batches(self):
        for _ in range(6):
            loss = self.net(torch.randn(8, 3)).pow(2).mean()
            self.opt.zero_grad(); loss.backward(); self.opt.step()
            self.down.step()
Fit("4").run()
""", cure=(("            self.down.step()", "        self.down.step()"),)),
    Mistake("scheduled_per_batch", 14, """class Trainer:
    def __init__(self, net, epochs):
        self.net = net
        self.epochs = epochs
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=epochs)
    def on_batch(self, x, y):
        self.opt.zero_grad()
        F.cross_entropy(self.net(x), y).backward()
        self.opt.step()
        self.sched.step()
    def fit(self, loader):
        for epoch in range(self.epochs):
            [self.on_batch(x, y) for x, y in loader]
            print(epoch)
x = torch.randn(40, 4)
Trainer(nn.Linear(4, 2), 4).fit(list(zip(x.split(8), (x[:, 0] > 0).long().split(8))))
""", cure=(("        self.sched.step()\n", ""), ("            print(epoch)", "            self.sched.step()"))),
    Mistake("scheduled_per_batch", 9, """def train_one_epoch(model, loader, opt, scheduler):
    for x, y in loader:
        opt.zero_grad()
        F.mse_loss(model(x), y).backward()
        opt.step()
        scheduler.step()
def fit(epochs=4):
    x = torch.randn(40, 3)
    loader = list(zip(x.split(8), x.mean(1, keepdim=True).split(8)))
    model = nn.Linear(3, 1)
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[2, 3], gamma=0.1)
    for epoch in range(epochs):
        train_one_epoch(model, loader, opt, scheduler)
fit()
""", cure=(("milestones=[2, 3]", "milestones=[10, 15]"),)),
    Mistake("scheduled_per_batch", 13, """class Trainer:
    def __init__(self, net, epochs):
        self.net, self.epochs = net, epochs
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=epochs)
    def batch(self, x, y):
        self.opt.zero_grad()
        F.mse_loss(self.net(x), y).backward()
        self.opt.step()
        self.sched.step()
    def fit(self, loader):
        for _ in range(self.epochs):
            for x, y in loader:
                self.batch(x, y)
Trainer(nn.Linear(2, 1), 4).fit([(torch.randn(5, 2), torch.randn(5, 1)) for _ in range(6)])
""", cure=(("T_max=epochs", "T_max=epochs * 6"),)),
    Mistake("steps_too_long", 6, RATE.replace("RATE", "30"), cures=(("lr=30", "lr=1e-2"), ("lr=30", "lr=0.3")), mends=True),
    Mistake("steps_too_long", 8, """x = torch.rand(50, 4)
y = (x[:, 0] > x[:, 1]).long()
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.AdamW(net.parameters(), 50.0)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
""", cures=(("50.0)", "0.05)"), ("net.parameters(), 50.0", "[{'params': net.parameters()}], 1e-3")), mends=True),
    Mistake("rate_dies", 10, """net, plan = nn.Linear(3, 1), {"step_size": 2, "gamma": 0.1}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(opt, **plan)
for epoch in range(3):
    for x in torch.randn(6, 8, 3):
        loss = net(x).pow(2).mean(); opt.zero_grad(); loss.backward(); opt.step()
        schedule.step()
""", cure=(("        schedule.step()", "    schedule.step()"),)),
    Mistake("rate_dies", 10, f"""net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
decay = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.1)
for epoch in range(12):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}    decay.step()
""", cure=(("gamma=0.1", "gamma=0.7"),)),
    Mistake("scheduled_per_epoch", 10, """net, batches = nn.Linear(3, 1), torch.randn(5, 8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
plan = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, steps_per_epoch=len(batches), epochs=3)
for epoch in range(3):
    for x in batches:
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    plan.step()
""", cure=(("    plan.step()", "        plan.step()"),)),
    Mistake("scheduled_per_epoch", 14, """class Fit:
    def __init__(self, net, loader, epochs):
        self.net, self.loader, self.epochs = net, loader, epochs
        self.opt = torch.optim.Adam(net.parameters())
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.opt, 0.01, epochs=epochs, steps_per_epoch=4)
    def run(self):
        for _ in range(self.epochs):
            for x in self.loader:
                self.opt.zero_grad(); self.net(x).pow(2).mean().backward()
                self.opt.step()
            self.schedule.step()
Fit(nn.Linear(3, 1), torch.randn(4, 8, 3), 5).run()
""", cure=(("            self.schedule", "                self.schedule"),)),
    Mistake("scheduled_per_epoch", 11, """net, batches = nn.Linear(3, 1), torch.randn(6, 8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=len(batches))
epochs = 3
for epoch in range(epochs):
    for place, x in enumerate(batches):
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    plan.step()
""", cure=(("T_max=len(batches)", "T_max=epochs"), ("plan = ", "epochs = 3\nplan = "), ("epochs = 3\nfor", "for"))),
    Mistake("scheduled_per_epoch", 14, """def train(net, batches, opt):
    for x in batches:
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
def fit(net, loader, turns=2):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    size = 10 * len(loader)
    plan = torch.optim.lr_scheduler.StepLR(opt, size, gamma=0.5)
    for _ in range(turns):
        print(opt.param_groups[0]["lr"])
        train(net, loader, opt)
        plan.step()
fit(nn.Linear(3, 1), torch.randn(5, 8, 3))
""", cure=(("10 * len(loader)", "1"),)),
    Mistake("steps_too_short", 5, """net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-9)
x, y = torch.randn(9, 4), torch.randn(9, 1) + 3
for _ in range(10):
    loss = F.mse_loss(net(x), y)
""" + STEP, cure=(("lr=1e-9", "lr=1e-2"),)),
    Mistake("steps_too_short", 5, """net = nn.Sequential(nn.Linear(40, 30), nn.Tanh(), nn.Linear(30, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-7, momentum=0.5)
x, y = torch.randn(9, 40), torch.randn(9, 1) + 3
for _ in range(10):
    loss = F.mse_loss(net(x), y)
""" + STEP, cure=(("lr=1e-7", "lr=1e-2"),), says={"is_known": "0"}),
    Mistake("steps_too_short", 5, """net = nn.Linear(5, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(12, 5), torch.randint(2, (12,))
for _ in range(9):
    loss = F.cross_entropy(net(x) * 3, y)
    opt.zero_grad(); loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1e-7)
    opt.step()
""", cure=(("1e-7", "1.0"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("scheduled_per_batch", SGD + """plan = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.99)
for epoch in range(3):
    for xb, yb in zip(x.split(2), y.split(2)):
        opt.zero_grad(); F.mse_loss(net(xb), yb).backward(); opt.step()
        plan.step()
"""),
    ("scheduler_before_step", SGD + """plan = torch.optim.lr_scheduler.LinearLR(opt, total_iters=20)
for i in range(8):
    (F.mse_loss(net(x), y) / 4).backward()
    if i % 4 == 3:
        opt.step(); opt.zero_grad()
    plan.step()
"""),
    ("steps_too_short", """table = torch.randn(60, 10).div(100).requires_grad_()
opt = torch.optim.SGD([table], lr=0.01)
for i in range(10):
    loss = F.cross_entropy(table[i : i + 8] @ table.t() / 100 + 1, torch.arange(8))
""" + STEP),
    ("scheduled_per_batch", """lin, plans = nn.Linear(2, 1), {}
opts = [torch.optim.SGD(lin.parameters(), lr=0.1)]
plans["a"] = torch.optim.lr_scheduler.StepLR(opts[0], step_size=3)
for epoch in range(6):
    for i in range(4):
        opts[0].zero_grad()
        lin(torch.randn(4, 2)).pow(2).mean().backward()
        opts[0].step()
    for plan in plans.values():
        plan.step()
"""),
    ("scheduled_per_batch", """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(40, 3); y = X.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(X, y), batch_size=10)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, epochs=3, steps_per_epoch=len(loader))
for epoch in range(3):
    for xb, yb in loader:
        loss = F.mse_loss(model(xb), yb)
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()
    print(loss.item())
"""),
    ("scheduled_per_batch", f"class World:\n    def step(self): return torch.randn(4, 3)\nworld, net = World(), nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\ndef plans(epochs):\n    return {{'schedule': torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)}}\nepochs = 3\nplan = plans(epochs)\nfor epoch in range(epochs):\n    for _ in range(8):\n        loss = net(world.step()).pow(2).mean()\n    {STEP}    plan['schedule'].step()\n"),
    ("scheduler_before_step", TRAIN + "sched = torch.optim.lr_scheduler.StepLR(opt, 1)\n" + LOOP + "    sched.step()\n"),
    ("scheduler_before_step", SGD + """plan = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(net.parameters(), lr=0.1), 1)
for i in range(2):
""" + FIT + "    plan.step()\n"),
    ("schedule_without_steps", TRAIN + "sched = torch.optim.lr_scheduler.StepLR(opt, 1)\n" + LOOP + "    sched.step()\n"),
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
    ("scheduled_per_epoch", """net, chunks = nn.Linear(3, 1), torch.randn(6, 8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=len(chunks))
for chunk in chunks:
    for x in chunk.split(1):
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    plan.step()
"""),
)  # fmt: skip
