"""What `engine/findings/learning_rate.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import DATA, FIT, LOOP, SGD, STEP, THREE_LINES, TRAIN, Mistake

RATE = (
    """x, y = torch.randn(40, 4), torch.randn(40, 1)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=RATE)
for i in range(6):
    loss = F.mse_loss(net(x), y)
"""
    + THREE_LINES
)

RESUMED = """import io
def build():
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    return net, opt, torch.optim.lr_scheduler.CosineAnnealingLR(opt, 8)
def train(net, opt, plan, begin, end):
    for _ in range(begin, end):
        for x in torch.randn(2, 4, 3):
            opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
        plan.step()
net, opt, plan = build()
train(net, opt, plan, 0, 4)
file = io.BytesIO()
torch.save({"turn": 4, "net": net.state_dict(), "opt": opt.state_dict(), "schedule": plan.state_dict()}, file)
file.seek(0)
kept = torch.load(file)
other, again, rest = build()
other.load_state_dict(kept["net"])
again.load_state_dict(kept["opt"])
train(other, again, rest, kept["turn"], 8)
"""

TWICE = """def train(model, epoch):
    model.train()
    for _ in range(4):
        opt.zero_grad(); model(torch.randn(8, 3)).pow(2).mean().backward(); opt.step()
        plan.step()
def main():
    for epoch in range(3):
        train(net, epoch)
        plan.step()
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.LinearLR(opt, total_iters=12)
main()
"""

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
    Mistake("scheduled_twice", 12, TWICE, cures=(("opt.step()\n        plan.step()", "opt.step()"), ("epoch)\n        plan.step()", "epoch)")), says={"step_line": "8"}),
    Mistake("scheduled_twice", 11, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=12)
for turn in range(3):
    for _ in range(4):
        net(torch.randn(8, 3)).pow(2).mean().backward()
        opt.step(); plan.step(); opt.zero_grad()
    plan.step()
""", cure=(("\n    plan.step()\n", "\n"),), says={"step_line": "10"}),
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
    Mistake("loss_summed", 6, """x = torch.randn(400, 3); y = x @ torch.tensor([[1.], [2.], [-1.]])
net = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))
criterion = nn.MSELoss(reduction="sum")
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
for i in range(12):
    loss = criterion(net(x), y)
""" + THREE_LINES, cures=(('"sum"', '"mean"'), ("lr=0.02", "lr=0.00001")), mends=True),
    Mistake("loss_summed", 7, """x = torch.randn(200, 2); y = 3 * x.sum(1, keepdim=True)
net = nn.Linear(2, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(15):
    loss = F.mse_loss(net(x), y, reduction='sum')
""" + THREE_LINES, cures=(("reduction='sum'", "reduction='mean'"), ("lr=0.1", "lr=0.0001")), mends=True),
    Mistake("schedules_of_one", 7, """a, b = nn.Linear(3, 1), nn.Linear(3, 1)
opt_a, opt_b = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
plan_a = torch.optim.lr_scheduler.StepLR(opt_a, 2, 0.5)
plan_b = torch.optim.lr_scheduler.StepLR(opt_a, 2, 0.5)
for i in range(4):
    x = torch.randn(8, 3)
    opt_a.zero_grad(); opt_b.zero_grad()
    (a(x).pow(2).mean() + b(x).pow(2).mean()).backward()
    opt_a.step(); opt_b.step()
    plan_a.step(); plan_b.step()
""", cure=(("plan_b = torch.optim.lr_scheduler.StepLR(opt_a", "plan_b = torch.optim.lr_scheduler.StepLR(opt_b"),)),
    Mistake("schedules_of_one", 9, """class Trainer:
    def __init__(self):
        self.g, self.d = nn.Linear(3, 1), nn.Linear(3, 1)
        self.g_opt, self.d_opt = (torch.optim.Adam(each.parameters()) for each in (self.g, self.d))
        self.g_plan = torch.optim.lr_scheduler.ExponentialLR(self.d_opt, 0.9)
        self.d_plan = torch.optim.lr_scheduler.ExponentialLR(self.d_opt, 0.9)
    def fit(self, x):
        for net in (self.g, self.d):
            net(x).pow(2).mean().backward()
        self.g_opt.step(); self.d_opt.step()
        self.g_opt.zero_grad(); self.d_opt.zero_grad()
        self.g_plan.step(); self.d_plan.step()
trainer = Trainer()
for i in range(3):
    trainer.fit(torch.randn(4, 3))
""", cure=(("self.g_plan = torch.optim.lr_scheduler.ExponentialLR(self.d_opt", "self.g_plan = torch.optim.lr_scheduler.ExponentialLR(self.g_opt"),)),
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
    Mistake("scheduler_of_another_optimizer", 10, """net = nn.Linear(3, 1)
def make():
    return torch.optim.SGD(net.parameters(), lr=0.1)
opt = make()
plan = torch.optim.lr_scheduler.StepLR(opt, 2)
for epoch in range(3):
    opt = make()
    for x in torch.randn(2, 4, 3):
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    plan.step()
""", cure=(("    opt = make()\n", ""),)),
    Mistake("scheduler_of_another_optimizer", 8, DATA + """opt = torch.optim.Adam(net.parameters())
plan = torch.optim.lr_scheduler.StepLR(opt, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
""" + FIT + "    plan.step()\n", says={"name": "plan", "optimizer": "opt", "lr": "0.1"}, mends=True),
    Mistake("scheduler_of_another_optimizer", 8, DATA + """first = torch.optim.SGD(net.parameters(), lr=0.1)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
plan = torch.optim.lr_scheduler.ExponentialLR(first, 0.5)
for i in range(2):
""" + FIT + "    plan.step()\n", says={"step_line": "12"}),
    Mistake("scheduler_of_another_optimizer", 7, SGD + """plan = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(net.parameters(), lr=0.1), 1)
for i in range(2):
""" + FIT + "    plan.step()\n", says={"optimizer": "torch.optim.SGD(net.parameters(), lr=0.1)"}),
    Mistake("schedule_begun_anew", 22, RESUMED, cures=(
        ('again.load_state_dict(kept["opt"])', 'again.load_state_dict(kept["opt"]); rest.load_state_dict(kept["schedule"])'),
        (', "schedule": plan.state_dict()}', '}'), ('kept["turn"], 8', '0, 0'), ("(opt, 8)", "(opt, 9000, 0.1)"),
        ('"schedule": plan', '"schedule": net'),
    ), mends=True),
    Mistake("schedule_begun_anew", 14, """class Fit:
    def __init__(self, net):
        self.net, self.turns = net, 0
        self.opt = torch.optim.Adam(net.parameters(), lr=0.1)
        self.plan = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda turn: 1 / (1 + turn))
    def state(self):
        parts = dict(turns=self.turns)
        parts.update({"net": self.net.state_dict(), "opt": self.opt.state_dict(), "plan": self.plan.state_dict()})
        return parts
    def resume(self, parts):
        self.net.load_state_dict(parts["net"]); self.opt.load_state_dict(parts["opt"])
        self.turns = parts["turns"]
        return self
    def run(self, turns):
        while self.turns < turns:
            loss = self.net(torch.randn(4, 3)).pow(2).mean()
            self.opt.zero_grad(); loss.backward(); self.opt.step()
            self.plan.step(); self.turns += 1
first = Fit(nn.Linear(3, 1))
first.run(4)
Fit(nn.Linear(3, 1)).resume(first.state()).run(8)
""", cures=(('self.turns = parts["turns"]', 'self.turns = parts["turns"]; self.plan.load_state_dict(parts["plan"])'), (' self.opt.load_state_dict(parts["opt"])', ' print(len(parts["opt"]))\n        for _ in range(4):\n            self.plan.step()'))),
    Mistake("weights_decayed_away", 5, """net = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=8)
x, y = torch.randn(20, 5), torch.randint(2, (20,))
for _ in range(9):
    loss = F.cross_entropy(net(x), y)
""" + STEP, cure=(("weight_decay=8", "weight_decay=0.01"),), mends=True),
    Mistake("weights_decayed_away", 5, """net = nn.Linear(6, 1)
opt = torch.optim.AdamW(net.parameters(), lr=0.5, weight_decay=1.9)
x = torch.zeros(8, 6)
for _ in range(12):
    loss = net(x).square().mean() * 1e-6
""" + STEP, cure=(("lr=0.5", "lr=0.001"),), mends=True),
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
    Mistake("rates_for_factors", 10, """rate, total = 0.02, 8
net = nn.Linear(3, 1)
opt = torch.optim.AdamW(net.parameters(), lr=rate)
def at(step):
    return rate * (step + 1) / 3 if step < 3 else rate * (total - step) / 5

plan = torch.optim.lr_scheduler.LambdaLR(opt, lr_lambda=at)
x, y = torch.randn(9, 3), torch.randn(9, 1)
for _ in range(total):
    loss = F.mse_loss(net(x), y)
""" + STEP + "    plan.step()\n", cure=(("return rate * (step + 1) / 3 if step < 3 else rate * (total", "return (step + 1) / 3 if step < 3 else (total"),)),
    Mistake("rates_for_factors", 6, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.01)
plan = torch.optim.lr_scheduler.LambdaLR(opt, lambda epoch: 0.01 * 0.9 ** epoch)
x, y = torch.randn(9, 3), torch.randn(9, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
""" + STEP + "    plan.step()\n", cure=(("0.01 * 0.9 ** epoch", "(epoch + 1) / 500"),)),
    Mistake("rates_for_factors", 11, """import math
class args:
    rate, epochs = 0.6, 6
def cosine(step, total, most, least):
    return least + (most - least) * 0.5 * (1 + math.cos(step / total * math.pi))
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), args.rate, momentum=0.9, nesterov=True)
plan = torch.optim.lr_scheduler.LambdaLR(opt, lr_lambda=lambda step: cosine(step, args.epochs, args.rate, 1e-3))
x, y = torch.randn(9, 3), torch.randn(9, 1)
for _ in range(args.epochs):
    loss = F.mse_loss(net(x), y)
""" + STEP + "    plan.step()\n", cure=(("args.rate, 1e-3)", "1, 1e-3)"),), says={"initial": "0.6", "most": "0.36"}),
    Mistake("rates_for_factors", 9, """lr = 0.1
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=lr)
def decayed(epoch):
    return lr * 0.95 ** epoch
plan = torch.optim.lr_scheduler.LambdaLR(opt, decayed)
x, y = torch.randn(9, 3), torch.randn(9, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
""" + STEP + "    plan.step()\n", cures=(("return lr *", "return"), ("lr=lr", "lr=1.0"))),
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
    ("rates_for_factors", """lr = 0.5
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=lr)
plan = torch.optim.lr_scheduler.LambdaLR(opt, lambda epoch: 0.5 ** (epoch + 1))
x, y = torch.randn(9, 3), torch.randn(9, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
""" + STEP + "    plan.step()\n"),
    ("rates_for_factors", """lr, least = 0.1, 0.01
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=lr)
plan = torch.optim.lr_scheduler.LambdaLR(opt, lambda epoch: max(lr * 0.5 ** epoch, least) / lr)
x, y = torch.randn(9, 3), torch.randn(9, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
""" + STEP + "    plan.step()\n"),
    # a choice of the two, and two schedulers
    ("scheduled_twice", TWICE.replace("\n        plan.step()\ndef", "\n        if epoch < 2: plan.step()\ndef").replace("epoch)\n        plan", "epoch)\n        if epoch > 1: plan")),
    ("scheduled_twice", TWICE.replace("epoch)\n        plan", "epoch)\n        slow").replace("plan = ", "slow = torch.optim.lr_scheduler.StepLR(opt, 2)\nplan = ")),
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
    ("weights_decayed_away", """net, x = nn.Linear(3, 2), torch.randn(8, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
x[2] = torch.zeros(3) / 0
for _ in range(4):
    loss = F.cross_entropy(net(x), torch.tensor([0, 1] * 4))
""" + STEP),
    ("scheduled_per_epoch", """net, chunks = nn.Linear(3, 1), torch.randn(6, 8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=len(chunks))
for chunk in chunks:
    for x in chunk.split(1):
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    plan.step()
"""),
    ("schedules_of_one", """a, b = nn.Linear(3, 1), nn.Linear(3, 1)
opt_a, opt_b = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
plan_a = torch.optim.lr_scheduler.LinearLR(opt_a, 0.5, 1., 2)
plan_b = torch.optim.lr_scheduler.StepLR(opt_a, 2, 0.5)
for i in range(4):
    opt_a.zero_grad(); opt_b.zero_grad()
    (a(torch.randn(8, 3)).pow(2).mean() + b(torch.randn(8, 3)).pow(2).mean()).backward()
    opt_a.step(); opt_b.step()
    plan_a.step(); plan_b.step()
"""),
    # a sum that is made large on purpose, by another input than the weights
    ("loss_summed", """net, x, y = nn.Linear(4, 3), torch.randn(64, 4), torch.randint(0, 3, (64,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    other = x + 1e-4 * torch.randn(64, 4)
    for _ in range(4):
        other.requires_grad_()
        far = F.kl_div(F.log_softmax(net(other), 1), F.softmax(net(x), 1), reduction="sum")
        (slope,) = torch.autograd.grad(far, [other])
        other = (other + 0.3 * slope.sign()).detach()
    opt.zero_grad()
    F.cross_entropy(net(other), y).backward()
    opt.step()
"""),
    ("scheduler_of_another_optimizer", SGD + """plan = torch.optim.lr_scheduler.StepLR(opt, 1)
def turn(optimizer):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
for i in range(2):
    plan.step()
    turn(opt)
"""),
    ("scheduler_of_another_optimizer", SGD + "plan = torch.optim.lr_scheduler.StepLR(opt, 1)\nfor i in range(2):\n" + FIT + "    plan.step()\n"),
)  # fmt: skip
