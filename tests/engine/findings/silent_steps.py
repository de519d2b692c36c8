"""Steps and passes that miss each other, copies for originals, options and statistics nobody minds; and near misses."""

from tests.engine.findings.silent import Case

DATA = "x, y = torch.randn(8, 2), torch.randn(8, 1)\nnet = nn.Linear(2, 1)\n"
STEP = "    opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n"
SGD = DATA + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
SCALED = (
    SGD
    + """scaler = torch.amp.GradScaler("cpu", init_scale=8.)
for i in range(2):
    opt.zero_grad()
    scaler.scale(F.mse_loss(net(x), y)).backward()
    STEP
"""
)
CLIPPED = "nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n    scaler.step(opt)\n    scaler.update()"
NARROW = """net = nn.Linear(8, 1).to(torch.bfloat16)
opt = torch.optim.SGD(net.parameters(), lr=RATE)
x, y = torch.randn(16, 8).bfloat16(), torch.randn(16, 1).bfloat16()
for i in range(4):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
BATCHES = (
    SGD
    + """for epoch in range(2):
    for xb, yb in zip(x.split(2), y.split(2)):
        opt.zero_grad()
        F.mse_loss(net(xb), yb).backward()
    opt.step()
"""
)
PARTS = (
    SGD
    + """for i, (xb, yb) in enumerate(zip(x.split(2), y.split(2))):
    loss = F.mse_loss(net(xb), yb) / 2
    if (i + 1) % 2 == 0:
        loss.backward()
        opt.step()
        opt.zero_grad()
"""
)
BODY = """x, y = torch.randn(8, 3), torch.randn(8, 1)
body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
for p in body.parameters():
    p.requires_grad = False
head = nn.Linear(4, 1)
model = nn.Sequential(body, head)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
"""
WORDS = """class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding.from_pretrained(torch.randn(9, 4))
        self.out = nn.Linear(4, 1)
    def forward(self, ids):
        return self.out(self.emb(ids).mean(1))
bag, y = Bag(), torch.randn(5, 1)
opt = torch.optim.Adam(bag.parameters())
for i in range(2):
    opt.zero_grad()
    F.mse_loss(bag(torch.randint(9, (5, 3))), y).backward()
    opt.step()
"""

TRIGGERS: tuple[Case, ...] = (
    Case("scaled_and_stepped", 11, {"scale": "8", "optimizer": "opt", "scale_line": "10"}, SCALED.replace("STEP", "opt.step()")),
    Case("clipped_while_scaled", 11, {"scale": "8", "optimizer": "opt", "scale_line": "10"}, SCALED.replace("STEP", CLIPPED)),
    Case("clipped_while_scaled", 11, {"undone": "scaler.unscale_(opt)"}, SCALED.replace("STEP", CLIPPED.replace("scaler.step", "scaler.unscale_(opt)\n    scaler.step"))),
    Case("clipped_while_scaled", 9, {"scaler": "s", "optimizer": "opt"}, SGD + """s = torch.amp.GradScaler("cpu")
s.scale(F.mse_loss(net(x), y)).backward()
nn.utils.clip_grad_value_(net.parameters(), 0.1)
s.step(opt)
s.update()
"""),
    Case("scaled_and_stepped", 10, {"scaler": "s"}, SGD + """s = torch.amp.GradScaler("cpu")
loss = s.scale(F.l1_loss(net(x), y))
loss.backward()
opt.step()
"""),
    Case("stepped_outside_the_loop", 11, {"passes": "8", "steps": "2", "loop_line": "8"}, BATCHES),
    Case("stepped_outside_the_loop", 10, {"zero_line": "8"}, SGD + """for xb, yb in zip(x.split(2), y.split(2)):
    opt.zero_grad()
    F.mse_loss(net(xb), yb).backward()
opt.step()
"""),
    Case("loss_computed_once", 7, {"name": "loss", "count": "3", "pass_line": "10"}, SGD + """loss = F.mse_loss(net.bias * x, y.expand(8, 2))
for i in range(3):
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
"""),
    Case("loss_computed_once", 6, {"pass_line": "8"}, """w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
total = w.sum()
for i in range(4):
    total.backward(retain_graph=True)
    opt.step()
    w.grad = None
"""),
    Case("step_on_copies", 6, {"names": "net.weight, net.bias"}, DATA + """opt = torch.optim.Adam(list(net.state_dict().values()))
for i in range(2):
""" + STEP),
    Case("step_on_copies", 6, {"names": "img", "step_line": "11"}, """img = torch.rand(4, requires_grad=True)
goal = torch.rand(4)
opt = torch.optim.Adam([img.clone().detach().requires_grad_()])
for i in range(2):
    opt.zero_grad()
    (img - goal).square().sum().backward()
    print(i)
    opt.step()
"""),
    Case("learns_in_copies", 9, {"optimizer": "opt"}, "import copy\n" + SGD + """for i in range(2):
    inner = copy.deepcopy(net)
    opt.zero_grad()
    F.mse_loss(inner(x), y).backward()
    opt.step()
"""),
    Case("learns_in_copies", 8, {"step_line": "11"}, "from copy import deepcopy\n" + SGD + """fast = deepcopy(net)
for i in range(2):
    F.mse_loss(fast(x), y).backward()
    opt.step()
"""),
    Case("learns_in_copies", 8, {"optimizer": "opt", "names": "fast"}, """import copy
net = nn.Sequential(*[nn.Identity() for _ in range(600)], nn.Linear(2, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def adapted(net, x):
    fast = copy.deepcopy(net)
    grads = torch.autograd.grad(fast(x).pow(2).mean(), fast.parameters(), create_graph=True)
    for p, grad in zip(fast.parameters(), grads):
        p.data -= 0.1 * grad
    return fast
for i in range(5):
    loss = adapted(net, torch.randn(8, 2))(torch.randn(8, 2)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    Case("thawed_too_late", 14, {"optimizer": "opt", "made_line": "9", "count": "2"}, """x, y = torch.randn(8, 2), torch.randn(8, 1)
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
body = net[0]
for p in body.parameters():
    p.requires_grad = False
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for i in range(2):
""" + STEP + "body.requires_grad_(True)\nfor i in range(2):\n" + STEP),
    Case("thawed_too_late", 10, {"names": "net.0.weight, net.0.bias"}, """x, y = torch.randn(8, 2), torch.randn(8, 1)
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
net[0].requires_grad_(False)
opt = torch.optim.SGD(filter(lambda p: p.requires_grad, net.parameters()), lr=0.1)
for epoch in range(4):
    if epoch == 2:
        net[0].requires_grad_(True)
""" + STEP),
    Case("thawed_too_late", 11, {"model": "body", "names": "body.weight, body.bias"}, """x, y = torch.randn(8, 2), torch.randn(8, 1)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)
body.requires_grad_(False)
opt = torch.optim.SGD([p for p in [*body.parameters(), *head.parameters()] if p.requires_grad], lr=0.1)
for epoch in range(4):
    net = lambda x: head(body(x))
    if epoch == 2:
        body.requires_grad_(True)
""" + STEP),
    Case("parameters_used_up", 11, {"name": "params", "op": "clip_grad_norm_"}, DATA + """params = net.parameters()
opt = torch.optim.SGD(params, lr=0.1)
for i in range(2):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
"""),
    Case("parameters_used_up", 9, {"made_line": "6"}, DATA + """all_of_it = net.parameters()
opt = torch.optim.Adam(all_of_it)
F.mse_loss(net(x), y).backward()
total = nn.utils.clip_grad_norm_(all_of_it, 5.0)
opt.step()
"""),
    Case("option_not_read", 6, {"key": "learning_rate", "option": "lr"}, DATA + """opt = torch.optim.SGD([{"params": net.parameters(), "learning_rate": 1.0}], lr=0.1)
for i in range(2):
""" + STEP),
    Case("option_not_read", 6, {"key": "wd", "option": "weight_decay"}, DATA + """opt = torch.optim.AdamW([{"params": net.parameters(), "wd": 0.1}])
for i in range(2):
""" + STEP),
    Case("frozen_norm_drifts", 12, {"count": "3"}, BODY + """for i in range(3):
    model.train()
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
"""),
    Case("frozen_norm_drifts", 7, {"type": "BatchNorm2d"}, """x = torch.randn(4, 1, 5, 5)
norm = nn.BatchNorm2d(2).requires_grad_(False)
net = nn.Sequential(nn.Conv2d(1, 2, 3), norm, nn.Flatten(), nn.Linear(18, 1))
net.train()
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for i in range(2):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
"""),
    Case("scheduler_of_another_optimizer", 8, {"name": "plan", "optimizer": "opt", "lr": "0.1"}, DATA + """opt = torch.optim.Adam(net.parameters())
plan = torch.optim.lr_scheduler.StepLR(opt, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
""" + STEP + "    plan.step()\n"),
    Case("scheduler_of_another_optimizer", 8, {"step_line": "12"}, DATA + """first = torch.optim.SGD(net.parameters(), lr=0.1)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
plan = torch.optim.lr_scheduler.ExponentialLR(first, 0.5)
for i in range(2):
""" + STEP + "    plan.step()\n"),
    Case("scheduler_of_another_optimizer", 7, {"optimizer": "torch.optim.SGD(net.parameters(), lr=0.1)"}, SGD + """plan = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(net.parameters(), lr=0.1), 1)
for i in range(2):
""" + STEP + "    plan.step()\n"),
    Case("loss_computed_once", 5, {"name": "gate", "count": "3"}, """raw = nn.Parameter(torch.zeros(2))
gate = torch.sigmoid(raw)
opt = torch.optim.SGD([raw], lr=0.1)
for i in range(3):
    opt.zero_grad()
    (torch.randn(4, 2) * gate).pow(2).mean().backward(retain_graph=True)
    opt.step()
"""),
    Case("guess_as_target", 10, {"name": "guess", "loss": "cross_entropy"}, SGD + """head = nn.Linear(2, 3)
for i in range(2):
    guess = head(x).argmax(1)
""".replace("guess = head(x)", "scores = head(x); guess = scores.detach()") + "    F.cross_entropy(scores, guess).backward()\n"),
    Case("drawn_by_chance", 9, {"op": "normal", "count": "3"}, """net, out = nn.Linear(2, 4), nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *out.parameters()], lr=0.1)
for i in range(3):
    opt.zero_grad()
    mean, spread = net(torch.ones(3, 2)).chunk(2, 1)
    z = torch.normal(mean, spread.exp())
    out(z).pow(2).mean().backward()
    opt.step()
"""),
    Case("rounded_to_zero", 8, {"op": "prod", "shape": "300"}, """p = nn.Parameter(torch.tensor(0.5))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(3):
    opt.zero_grad()
    likelihood = torch.prod(p.expand(300))
    (-likelihood).backward()
    opt.step()
"""),
    Case("result_dropped", 9, {"name": "x", "code": "x + self.place"}, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.place, self.out = nn.Parameter(torch.ones(2)), nn.Linear(2, 1)
    def forward(self, x):
        x + self.place
        return self.out(x)
net = Net()
net(torch.ones(3, 2)).mean().backward()
"""),
    Case("pass_thrown_away", 10, {"first_line": "9", "pass_line": "11", "step_line": "12"}, SGD + """for i in range(2):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.zero_grad()
    net(x).abs().mean().backward()
    opt.step()
"""),
    Case("backward_after_the_loop", 11, {"count": "8", "lost": "6", "loop_line": "8"}, SGD + """for epoch in range(2):
    for xb, yb in zip(x.split(2), y.split(2)):
        loss = F.mse_loss(net(xb), yb)
        opt.zero_grad()
    loss.backward()
    opt.step()
"""),
    Case("weights_after_the_mean", 9, {"name": "weights", "loss": "mse_loss", "count": "8"}, """x, y, weights = torch.randn(8, 2), torch.randn(8), torch.rand(8)
net = nn.Linear(2, 1)
for i in range(2):
    predicted = net(x).squeeze(1)
    loss = F.mse_loss(predicted, y)
    (loss * weights).mean().backward()
"""),
    Case("compared_along_another_axis", 5, {"dim": "0", "other": "1"}, """net = nn.Linear(3, 4)
a, b = F.normalize(net(torch.randn(5, 3)), dim=0), F.normalize(net(torch.randn(5, 3)), dim=0)
(1 - (a * b).sum(1)).mean().backward()
"""),
    Case("compared_along_another_axis", 5, {"dim": "0", "sum_line": "6"}, """net = nn.Linear(3, 4)
a, b = F.normalize(net(torch.randn(5, 3)), dim=0), torch.randn(5, 4)
F.cross_entropy(a @ b.t(), torch.arange(5)).backward()
"""),
    Case("changed_by_reading", 9, {"name": "x", "view": "xb"}, SGD + """for epoch in range(2):
    xb, yb = x[0:4], y[0:4]
    xb += 0.1 * torch.randn(4, 2)
    opt.zero_grad()
    F.mse_loss(net(xb), yb).backward()
    opt.step()
"""),
    Case("padding_of_lookup_scored", 9, {"padding": "0", "filled": "4", "count": "10"}, """ids = torch.tensor([[3, 4, 5, 6, 7, 8], [2, 9, 0, 0, 0, 0]])
emb, rnn, out = nn.Embedding(10, 4, padding_idx=0), nn.GRU(4, 8, batch_first=True), nn.Linear(8, 10)
for i in range(2):
    h, _ = rnn(emb(ids[:, :-1]))
    scores = out(h).reshape(-1, 10)
    loss = F.cross_entropy(scores, ids[:, 1:].reshape(-1))
    loss.backward()
"""),
    Case("padding_of_lookup_scored", 9, {"padding": "0", "count": "760"}, """ids = torch.randint(1, 10, (40, 20)) * (torch.arange(20) < torch.arange(40)[:, None] % 15 + 4)
emb, rnn, out = nn.Embedding(10, 4, padding_idx=0), nn.GRU(4, 8, batch_first=True), nn.Linear(8, 10)
for i in range(2):
    h, _ = rnn(emb(ids[:, :-1]))
    scores = out(h).reshape(-1, 10)
    loss = F.cross_entropy(scores, ids[:, 1:].reshape(-1))
    loss.backward()
"""),
    Case("drawn_by_chance", 8, {"op": "bernoulli"}, """net = nn.Linear(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    mask = torch.bernoulli(torch.sigmoid(net(torch.ones(4, 2))))
    (mask * torch.randn(4, 3)).sum().backward()
    opt.step()
"""),
    Case("rounded_to_zero", 8, {"op": "exp"}, """a = nn.Parameter(torch.tensor([30.0, 40.0]))
opt = torch.optim.SGD([a], lr=0.1)
for i in range(3):
    opt.zero_grad()
    chance = torch.exp(-a.square())
    chance.sum().backward()
    opt.step()
"""),
    Case("pass_thrown_away", 11, {"first_line": "10", "pass_line": "12"}, """x, y = torch.randn(8, 2), torch.randn(8, 1)
net, other = nn.Linear(2, 1), nn.Linear(2, 1)
opt = torch.optim.Adam([*net.parameters(), *other.parameters()])
for i in range(2):
    opt.zero_grad()
    both = net(x) + other(x)
    F.mse_loss(both, y).backward(retain_graph=True)
    opt.zero_grad()
    (both ** 2).mean().backward()
    opt.step()
"""),
    Case("backward_after_the_loop", 10, {"made_line": "8", "count": "4", "lost": "3"}, SGD + """for xb, yb in zip(x.split(2), y.split(2)):
    loss = (net(xb) - yb).abs().mean()
opt.zero_grad()
loss.backward()
opt.step()
"""),
    Case("weights_after_the_mean", 7, {"name": "rare", "loss": "cross_entropy"}, """x, y = torch.randn(6, 2), torch.tensor([0, 1, 2, 0, 1, 2])
net = nn.Linear(2, 3)
rare = torch.tensor([1., 5., 1., 1., 5., 1.])
(rare * F.cross_entropy(net(x), y)).sum().backward()
"""),
    Case("padding_of_lookup_scored", 12, {"padding": "9", "filled": "3", "count": "8"}, """rows = torch.tensor([[3, 4, 5, 6, 7], [2, 8, 9, 9, 9]])
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(10, 4, padding_idx=9), nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 10)
    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])
net = Tagger()
F.cross_entropy(net(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten()).backward()
"""),
    Case("guess_as_target", 8, {"name": "guess"}, """net = nn.Linear(2, 3)
x = torch.randn(8, 2)
scores = net(x)
_, guess = F.softmax(scores, 1).max(1)
F.cross_entropy(scores, guess).backward()
"""),
    Case("mean_of_nothing", 6, {"shape": "0"}, """p = torch.ones(3, requires_grad=True)
keep = torch.zeros(3).bool()
loss = p[keep].mean()
loss.backward()
"""),
    Case("mean_of_nothing", 5, {"op": "mse_loss"}, """p, rows = nn.Linear(2, 1)(torch.randn(4, 2)), torch.zeros(4).bool()
F.mse_loss(p[rows], torch.zeros(0, 1)).backward()
"""),
    Case("grows_without_end", 7, {"name": "loss", "clips": "0", "has_lr": "1"}, """w = torch.tensor([1.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=5.0)
for i in range(12):
    loss = (w * 2).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""),
    Case("grows_without_end", 7, {"has_lr": "0", "lr": ""}, """w = torch.tensor([1.0, 2.0], requires_grad=True)
for i in range(12):
    w.grad = None
    loss = (w * 2).square().sum()
    loss.backward()
    with torch.no_grad():
        w -= 5 * w.grad
"""),
    Case("grows_without_end", 8, {"operand": "net.weight"}, """net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(14):
    x = torch.full((4, 1), 10.0)
    err = F.mse_loss(net(x), 3 * x)
    opt.zero_grad()
    err.backward()
    opt.step()
"""),
    Case("sample_without_gradient", 7, {}, """enc, dec = nn.Linear(3, 2), nn.Linear(2, 3)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
x = torch.randn(5, 3)
z = torch.distributions.Normal(enc(x), 1.0).sample()
F.mse_loss(dec(z), x).backward()
opt.step()
"""),
    Case("cut_by_item", 8, {"leaf": "net.scale"}, """class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(2, 1); self.scale = nn.Parameter(torch.tensor(0.7))
    def forward(self, x):
        return self.fc(x) / self.scale.item()
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.randn(3, 2)).sum().backward()
opt.step()
"""),
    Case("cut_by_detach", 8, {"leaf": "net.weight, net.bias"}, SGD + """out = net(x)
pred = out.detach().squeeze()
loss = F.mse_loss(pred, y[:, 0])
loss.requires_grad_(True)
loss.backward()
opt.step()
"""),
    Case("cut_by_item", 7, {"leaf": "t"}, """w, t = torch.ones(2, requires_grad=True), torch.tensor(0.3, requires_grad=True)
opt = torch.optim.SGD([w, t], lr=0.1)
def loss():
    return (w * t.item()).sum()
loss().backward()
opt.step()
"""),
    Case("cut_by_detach", 7, {"leaf": "enc.weight, enc.bias"}, """enc, dec = nn.Linear(2, 4), nn.Linear(2, 1)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
h = enc(torch.randn(3, 2))
flat = h.detach().view(-1, 2)
dec(flat).sum().backward()
opt.step()
"""),
    Case("cut_by_detach", 10, {"leaf": "net.fc1.weight, net.fc1.bias", "op": "Variable"}, """from torch.autograd import Variable
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc1, self.fc2 = nn.Linear(2, 4), nn.Linear(4, 1)
    def forward(self, x):
        h = F.relu(self.fc1(x))
        return self.fc2(Variable(h))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(Variable(torch.randn(3, 2))).sum().backward()
opt.step()
"""),
    Case("cut_by_detach", 9, {"op": "data"}, """enc, dec = nn.Linear(2, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
rows = torch.FloatTensor()
for row in torch.randn(3, 1, 2):
    made = enc(row)
    rows = torch.cat((rows, made.cpu().data))
rows = torch.autograd.Variable(rows)
dec(rows).sum().backward()
opt.step()
"""),
    Case("backward_without_step", 10, {"optimizer": "other"}, """enc, dec = nn.Linear(2, 3), nn.Linear(3, 1)
opt = torch.optim.SGD(enc.parameters(), lr=0.1)
other = torch.optim.SGD(dec.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    other.zero_grad()
    dec(enc(torch.randn(4, 2))).mean().backward()
    opt.step()
"""),
)  # fmt: skip

NEAR_MISSES: tuple[tuple[str, str], ...] = (
    ("clipped_while_scaled", SCALED.replace("STEP", "scaler.unscale_(opt)\n    " + CLIPPED)),
    ("cut_by_item", "from torch.utils.data import DataLoader, TensorDataset\nbody, head = nn.Linear(2, 3), nn.Linear(3, 1)\nopt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)\n"
     "rows = DataLoader(TensorDataset(torch.randn(8, 2), torch.randn(8, 1)), batch_size=4, shuffle=True)\nfor epoch in range(2):\n    total = 0\n    for x, y in rows:\n"
     "        with torch.no_grad():\n            h = body(x)\n        loss = F.mse_loss(head(h), y)\n        opt.zero_grad(); loss.backward(); opt.step()\n        total += loss.item()\n"),
    ("scaled_and_stepped", SCALED.replace("STEP", "scaler.step(opt); scaler.update()")),
    ("scaled_and_stepped", SCALED.replace("STEP", "scaler.unscale_(opt); opt.step(); scaler.update()")),
    ("stepped_outside_the_loop", BATCHES.replace("        opt.zero_grad()\n", "").replace("    opt.step()", "    opt.step(); opt.zero_grad()")),
    ("loss_computed_once", "w = torch.ones(2, requires_grad=True)\nq = (w ** 2).sum()\nfor i in range(3):\n    q.backward(retain_graph=True)\n"),
    ("step_on_copies", "start = torch.rand(4)\nimg = start.clone().detach().requires_grad_()\nopt = torch.optim.SGD([img], lr=0.1)\nfor i in range(2):\n"
     "    opt.zero_grad()\n    (img - start).square().sum().backward()\n    opt.step()\n"),
    ("learns_in_copies", "import copy\n" + SGD + "for i in range(2):\n    old = copy.deepcopy(net)\n" + STEP),
    ("thawed_too_late", DATA + "net.requires_grad_(False); net.requires_grad_(True)\nopt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)\n"
     "for i in range(2):\n" + STEP),
    ("thawed_too_late", "x, y = torch.randn(8, 2), torch.randn(8, 1)\nbody, head = nn.Linear(2, 3), nn.Linear(3, 1)\nbody.requires_grad_(False)\n"
     "net = lambda x: head(body(x))\nopt = torch.optim.SGD([p for p in head.parameters() if p.requires_grad], lr=0.1)\nslow = torch.optim.SGD(body.parameters(), lr=0.01)\n"
     "for i in range(2):\n" + STEP + "body.requires_grad_(True)\nfor i in range(2):\n    slow.zero_grad()\n" + STEP + "    slow.step()\n"),
    ("parameters_used_up", DATA + "params = list(net.parameters())\nopt = torch.optim.SGD(params, lr=0.1)\nF.mse_loss(net(x), y).backward()\n"
     "nn.utils.clip_grad_norm_(params, 1.0)\nopt.step()\n"),
    ("option_not_read", DATA + "opt = torch.optim.SGD([{'params': net.parameters(), 'name': 'head', 'lr_scale': 2.0}], lr=0.1)\nfor i in range(2):\n" + STEP),
    ("option_not_read", SGD + "for i in range(2):\n    opt.param_groups[0]['lr'] = 0.1 / (i + 1)\n" + STEP),
    ("option_not_read", "class Config:\n    def __init__(self):\n        self.defaults = {'lr': 0.1}\nconfig = Config()\n" + SGD + "for i in range(2):\n"
     "    config.defaults['lr'] = config.defaults['lr'] * 0.9\n    opt.param_groups[0]['lr'] = config.defaults['lr']\n" + STEP),
    ("frozen_norm_drifts", BODY + "for i in range(3):\n    model.train(); body.eval()\n    opt.zero_grad()\n    F.mse_loss(model(x), y).backward()\n    opt.step()\n"),
    ("scheduler_of_another_optimizer", SGD + """plan = torch.optim.lr_scheduler.StepLR(opt, 1)
def turn(optimizer):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
for i in range(2):
    plan.step()
    turn(opt)
"""),
    ("scheduler_before_step", SGD + """plan = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(net.parameters(), lr=0.1), 1)
for i in range(2):
""" + STEP + "    plan.step()\n"),
    ("loss_computed_once", """raw, other = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.ones(2))
gate = torch.sigmoid(raw)
opt = torch.optim.SGD([other], lr=0.1)
for i in range(3):
    opt.zero_grad()
    (torch.randn(4, 2) * gate * other).pow(2).mean().backward(retain_graph=True)
    opt.step()
"""),
    ("guess_as_target", """student, teacher, x = nn.Linear(2, 3), nn.Linear(2, 3), torch.randn(8, 2)
F.cross_entropy(student(x), teacher(x).argmax(1)).backward()
"""),
    ("drawn_by_chance", """net, out = nn.Linear(2, 4), nn.Linear(2, 1)
for i in range(3):
    mean, spread = net(torch.ones(3, 2)).chunk(2, 1)
    z = mean + spread.exp() * torch.normal(torch.zeros(3, 2), 1.0)
    out(z).pow(2).mean().backward()
"""),
    ("rounded_to_zero", "p = nn.Parameter(torch.tensor(0.5))\nfor i in range(3):\n    torch.prod(p.expand(30)).backward()\n"),
    ("result_dropped", "x = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\nx + 1\n"),
    ("pass_thrown_away", SGD + """for i in range(2):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward(retain_graph=True)
    net(x).abs().mean().backward()
    opt.step()
"""),
    ("pass_thrown_away", """G, D = nn.Linear(2, 2), nn.Linear(2, 1)
of_g, of_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(2):
    of_g.zero_grad()
    D(G(torch.randn(4, 2))).mean().backward()
    of_g.step()
    of_d.zero_grad()
    (D(torch.randn(4, 2)) - D(G(torch.randn(4, 2)).detach())).mean().backward()
    of_d.step()
"""),
    ("pass_thrown_away", SGD + """for i in range(2):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    print(net.weight.grad.norm())
    opt.zero_grad()
    net(x).abs().mean().backward()
    opt.step()
"""),
    ("backward_after_the_loop", """cell, out = nn.GRUCell(2, 4), nn.Linear(4, 1)
h = torch.zeros(3, 4)
for step in torch.randn(6, 3, 2):
    h = cell(step, h)
    loss = out(h).pow(2).mean()
loss.backward()
"""),
    ("backward_after_the_loop", SGD + """total = 0.0
for xb, yb in zip(x.split(2), y.split(2)):
    loss = F.mse_loss(net(xb), yb)
    total = total + loss
total.backward()
"""),
    ("weights_after_the_mean", """x, y, weights = torch.randn(8, 2), torch.randn(8), torch.rand(8)
net = nn.Linear(2, 1)
(F.mse_loss(net(x).squeeze(1), y, reduction="none") * weights).mean().backward()
"""),
    ("compared_along_another_axis", """net = nn.Linear(3, 4)
a, b = F.normalize(net(torch.randn(5, 3)), dim=1), F.normalize(net(torch.randn(5, 3)), dim=1)
((a * b).sum(1) + (a @ b.t()).mean(1)).mean().backward()
"""),
    ("changed_by_reading", SGD + """for epoch in range(2):
    xb, yb = x[0:4].clone(), y[0:4]
    xb += 0.1 * torch.randn(4, 2)
    opt.zero_grad()
    F.mse_loss(net(xb), yb).backward()
    opt.step()
"""),
    ("padding_of_lookup_scored", """ids = torch.tensor([[3, 4, 5, 6, 7, 8], [2, 9, 0, 0, 0, 0]])
emb, rnn, out = nn.Embedding(10, 4, padding_idx=0), nn.GRU(4, 8, batch_first=True), nn.Linear(8, 10)
h, _ = rnn(emb(ids[:, :-1]))
F.cross_entropy(out(h).reshape(-1, 10), ids[:, 1:].reshape(-1), ignore_index=0).backward()
"""),
    ("scheduler_of_another_optimizer", SGD + "plan = torch.optim.lr_scheduler.StepLR(opt, 1)\nfor i in range(2):\n" + STEP + "    plan.step()\n"),
    ("mean_of_nothing", "p = torch.ones(3, requires_grad=True)\np[p > 0].mean().backward()\n"),
    ("grows_without_end", "w = torch.tensor([1.0], requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nfor i in range(12):\n"
     "    loss = (w * 2).square().sum()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"),
    ("sample_without_gradient", "pi = nn.Linear(2, 1)\nopt = torch.optim.SGD(pi.parameters(), lr=0.1)\nm = pi(torch.randn(6, 2))\na = torch.distributions.Normal(m, 0.5).sample()\n"
     "logp = -(a - m).pow(2) * 2\n(-logp * -a.abs()).mean().backward()\nopt.step()\n"),
    ("cut_by_detach", "class Rnd(nn.Module):\n    def __init__(self):\n        super().__init__(); self.goal, self.guess = nn.Linear(2, 3), nn.Linear(2, 3)\n"
     "    def forward(self, s):\n        return (self.guess(s) - self.goal(s).detach()).pow(2).mean()\nrnd = Rnd()\nopt = torch.optim.Adam(rnd.parameters())\n"
     "for i in range(2):\n    opt.zero_grad()\n    rnd(torch.randn(4, 2)).backward()\n    opt.step()\n"),
    ("cut_by_detach", "from torch.autograd import Variable\nrnn, head, h = nn.RNN(3, 8), nn.Linear(8, 1), Variable(torch.zeros(1, 4, 8))\n"
     "opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)\nfor i in range(4):\n    out, h = rnn(Variable(torch.randn(5, 4, 3)), h)\n"
     "    h = Variable(h)\n    opt.zero_grad()\n    head(out[-1]).pow(2).mean().backward()\n    opt.step()\n"),
    ("evaluated_in_train", "net = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nx, y = torch.randn(6, 2), torch.randn(6, 1)\n"
     "for i in range(2):\n    opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()\nnet.eval()\nnet[1].train()\nwith torch.no_grad():\n    print(F.mse_loss(net(x), y))\n"),
    ("clip_after_step", SGD + "for i in range(2):\n" + STEP + "    total = nn.utils.clip_grad_norm_(net.parameters(), float('inf'))\n"),
    ("number_wrapped", "ids = torch.tensor([200, 7], dtype=torch.uint8)\nprint((ids * 31 + 7) % 16)\n"),
    ("cut_by_item", SGD + "for i in range(2):\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    print(loss.item(), net.bias.item())\n    loss.backward()\n    opt.step()\n"),
    ("cut_by_no_grad", "actor, critic = nn.Linear(2, 1), nn.Linear(1, 1)\na_opt, c_opt = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (actor, critic))\n"
     "for i in range(2):\n    with torch.no_grad():\n        a = actor(torch.randn(4, 2))\n    c_opt.zero_grad()\n    critic(a).pow(2).mean().backward()\n    c_opt.step()\n"
     "    a_opt.zero_grad()\n    loss = -critic(a).mean()\n    loss.backward()\n    a_opt.step()\n"),
)  # fmt: skip
