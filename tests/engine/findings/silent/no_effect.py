"""What `engine/findings/no_effect.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import FIT, LOOP, SGD, THREE_LINES, TRAIN, Mistake

CLIP = "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"

ROUND = "for i in range(3):\n    opt.zero_grad()\n    loss = F.mse_loss(model(x), y)\n{before}    loss.backward()\n{between}    opt.step()\n{after}"

FUNCTIONAL = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 8)\n    def forward(self, x):\n        return F.dropout(self.fc(x), p=0.5{more})\nnet = Net()\n"

LINEAR = """model = nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
"""
"""Lines 4 to 6."""

CLIPPED = """class Fit:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)
    def training_step(self, x):
        loss = self.net(x).pow(2).mean()
        size = nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        return loss
    def fit(self, steps):
        for _ in range(steps):
            loss = self.training_step(torch.randn(8, 3))
            loss.backward()
            self.opt.step()
            self.opt.zero_grad()
fit = Fit(nn.Linear(3, 1))
fit.fit(3)
"""

FUSED = """class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.qkv = 0.3, nn.Linear(8, 24)
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return F.scaled_dot_product_attention(q, k, v, RATE, is_causal=True)
net = Attend()
net(torch.randn(2, 5, 8)).sum().backward()
net.eval()
print(net(torch.randn(2, 5, 8)).sum().item())
"""

POOLED = (
    """class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.drop, self.fc = nn.Embedding(9, 4), nn.Dropout(0.2), nn.Linear(4, 2)
    def forward(self, ids, mask):
        pooled = self.emb(ids).mean(1)
        return self.fc(self.drop(pooled))
ids = torch.tensor([[1, 2, 3], [4, 5, 0]])
mask = (ids != 0).float()
net = Pool()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    loss = F.cross_entropy(net(ids, mask=mask), torch.tensor([0, 1]))
"""
    + THREE_LINES
)

SCHEDULED = (
    """net = nn.Linear(3, 2); opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1)
for i in range(2):
    loss = F.cross_entropy(net(torch.randn(8, 3)), torch.randint(0, 2, (8,)))
"""
    + THREE_LINES
)

MIXED = """def mixed(scores, a, b, share):
    return share * F.cross_entropy(scores, a) + (1 - share) * F.cross_entropy(scores, a)
net, x, y = nn.Linear(3, 4), torch.randn(6, 3), torch.randint(0, 4, (6,))
other = y.flip(0)
mixed(net(x), y, other, 0.3).backward()
"""

SCALED = """net, scaler = nn.Linear(3, 1), torch.amp.GradScaler("cpu")
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(9):
    opt.zero_grad()
    loss = net(torch.ones(4, 3)).pow(2).mean()
    scaler.scale(loss)
    loss.backward()
    scaler.step(opt)
    scaler.update()
"""


MISTAKES: tuple[Mistake, ...] = (
    Mistake("result_dropped", 5, "x = torch.zeros(3)\nx.add(1)\nprint(x)\n", says={"name": "x"}, mends=True),
    Mistake("result_dropped", 6, "w = torch.tensor([5., -3.], requires_grad=True)\n(w ** 2).sum().backward()\ntorch.clamp(w.grad, -1, 1)\nprint(w.grad)\n", says={"name": "w.grad"}),
    Mistake("result_dropped", 5, "def prepare(x):\n    x.to(torch.float64)\n    return x\nprint(prepare(torch.ones(2)).dtype)\n", says={"name": "x"}),
    Mistake("result_dropped", 9, SCALED, cure=(("scale(loss)\n    loss.back", "scale(loss).back"),)),
    Mistake("result_dropped", 9, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.place, self.out = nn.Parameter(torch.ones(2)), nn.Linear(2, 1)
    def forward(self, x):
        x + self.place
        return self.out(x)
net = Net()
net(torch.ones(3, 2)).mean().backward()
""", says={"name": "x", "code": "x + self.place"}, mends=True),
    Mistake("result_dropped", 5, "def twice(x):\n    x - fc(x)\n    return x\nfc = nn.Linear(2, 2)\nprint(twice(torch.ones(3, 2)))\n", says={"right": "x = fc(x)", "is_meant": "1"}, mends=True),
    Mistake("result_dropped", 7, """def spread(target, count):
    rows = torch.full((len(target), count), 0.1)
    for _ in range(1):
        rows.scatter(1, target[:, None], 0.9)
    return rows
net = nn.Linear(3, 2)
F.cross_entropy(net(torch.randn(4, 3)), spread(torch.tensor([0, 1, 1, 0]), 2)).backward()
""", says={"name": "rows"}, mends=True),
    Mistake("requires_grad_misspelt", 5, "x = torch.ones(3)\nx.require_grad = True\nprint((x * 2).requires_grad)\n", says={"name": "require_grad", "receiver": "x"}, mends=True),
    Mistake("requires_grad_misspelt", 9, TRAIN + "def freeze(module, flag):\n    for p in module.parameters():\n        p.trainable = flag\nfreeze(model[0], False)\n" + LOOP, says={"name": "trainable"}, mends=True),
    Mistake("requires_grad_misspelt", 8, TRAIN + "for name, p in model[0].named_parameters():\n    p.requires_gard = False\n" + LOOP, says={"name": "requires_gard"}, mends=True),
    Mistake("requires_grad_of_module", 7, TRAIN + "model[0].requires_grad = False\n" + LOOP, says={"receiver": "model[0]", "value": "False"}, mends=True),
    Mistake("requires_grad_of_module", 10, TRAIN + "base = nn.Sequential(nn.Linear(2, 2), nn.Tanh())\nx = base(x).detach()\nfor layer in base:\n    layer.requires_grad = False\n" + LOOP, says={"receiver": "layer"}, mends=True),
    Mistake("clip_before_backward", 10, TRAIN + ROUND.format(before=CLIP, between="", after=""), says={"op": "clip_grad_norm_", "other_line": "11"}, mends=True),
    Mistake("clip_before_backward", 8, TRAIN + "for i in range(2):\n    size = nn.utils.clip_grad_norm_(model.parameters(), 1.)\n    loss = F.mse_loss(model(x), y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n", says={"op": "clip_grad_norm_"}, mends=True),
    Mistake("clip_before_backward", 9, """net, limit = nn.Linear(3, 1), 1.0
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
    if limit is not None:
        nn.utils.clip_grad_norm_(net.parameters(), limit)
    loss.backward()
    opt.step(); opt.zero_grad()
""", cure=(("    if limit is not None:\n        nn.utils.clip_grad_norm_(net.parameters(), limit)\n    loss.backward()\n", "    loss.backward()\n    if limit is not None:\n        nn.utils.clip_grad_norm_(net.parameters(), limit)\n"),)),
    Mistake("clip_before_backward", 9, CLIPPED, cure=(("            loss.backward()", "            loss.backward(); nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)"),)),
    Mistake("clip_after_step", 12, TRAIN + ROUND.format(before="", between="", after=CLIP), says={"other_line": "11"}, mends=True),
    Mistake("clip_after_step", 11, TRAIN + "loss = F.mse_loss(model(x), y)\nopt.zero_grad()\nloss.backward()\nopt.step()\nnorm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)\nprint(norm)\n", says={"op": "clip_grad_norm_"}, mends=True),
    Mistake("clip_after_step", 10, """w = torch.randn(3, 1, requires_grad=True)
x = torch.randn(8, 3)
for _ in range(3):
    (x @ w).pow(2).mean().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.clamp_(-1, 1)
        w.grad = None
""", cure=(("w -= 0.1 * w.grad\n        w.grad.clamp_(-1, 1)", "w.grad.clamp_(-1, 1)\n        w -= 0.1 * w.grad"),)),
    Mistake("clip_after_step", 6, """lin = nn.Linear(3, 1)
def after():
    nn.utils.clip_grad_value_(lin.parameters(), 0.5)
opt, x = torch.optim.SGD(lin.parameters(), 0.1), torch.randn(8, 3)
for _ in range(3):
    opt.zero_grad()
    lin(x).pow(2).mean().backward()
    opt.step()
    after()
""", cure=(("    opt.step()\n    after()", "    after()\n    opt.step()"),)),
    Mistake("dropout_ignores_eval", 9, FUNCTIONAL.format(more="") + "net.eval()\nwith torch.no_grad():\n    print(net(torch.ones(1, 2)))\n", says={"model": "net"}, mends=True),
    Mistake("dropout_ignores_eval", 6, "class M(nn.Module):\n    def forward(self, x):\n        return nn.functional.dropout(x, 0.3)\nm = M().eval()\nprint(m(torch.ones(4)))\n", says={"model": "m"}, mends=True),
    Mistake("dropout_ignores_eval", 10, FUSED.replace("RATE", "dropout_p=self.drop"), cure=(("=self.drop,", "=self.drop if self.training else 0.0,"),), mends=True),
    Mistake("dropout_ignores_eval", 10, FUSED.replace("RATE", "None, 0.1"), cure=(("None, 0.1", "None, 0.1 * self.training"),)),
    Mistake("dropout_ignores_eval", 8, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv1d(2, 4, 3), nn.Linear(8, 1)
    def forward(self, x): return self.out(F.dropout1d(self.conv(x).relu(), 0.4).flatten(1))
net = Net().eval()
print(net(torch.randn(3, 2, 4)))
""", cure=(("F.dropout1d(self.conv(x).relu(), 0.4)", "F.dropout1d(self.conv(x).relu(), 0.4, training=True)"),), mends=True),
    Mistake("update_lost", 7, """x, y, w = torch.randn(8, 3), torch.randn(8, 1), torch.randn(3, 1, requires_grad=True)
def step(w, lr):
    with torch.no_grad():
        w = w - lr * w.grad
for _ in range(3):
    loss = F.mse_loss(x @ w, y)
    loss.backward()
    step(w, 0.1)
    w.grad.zero_()
""", cure=(("w = w - lr", "w -= lr"),), mends=True),
    Mistake("update_lost", 6, """x, y, w = torch.randn(8, 3), torch.randn(8, 1), torch.randn(3, 1, requires_grad=True)
def update(w, slope):
    w = w - 0.1 * slope
    return w
for _ in range(3):
    loss = F.mse_loss(x @ w, y)
    (slope,) = torch.autograd.grad(loss, w)
    update(w, slope)
""", cure=(("w = w - 0.1 * slope", "w.data.copy_(w - 0.1 * slope)"),), mends=True),
    Mistake("update_lost", 8, "params = [torch.ones(2, requires_grad=True)]\n(params[0] ** 2).sum().backward()\nwith torch.no_grad():\n    for p in params:\n        p = p - 0.1 * p.grad\n", says={"name": "p"}, mends=True),
    Mistake("update_lost", 10, TRAIN + "F.mse_loss(model(x), y).backward()\nwith torch.no_grad():\n    for name, p in model.named_parameters():\n        p = p - 0.01 * p.grad\n", says={"name": "p"}, mends=True),
    Mistake("update_lost", 7, """def start(layer):
    if isinstance(layer, nn.Linear):
        weight = layer.weight
        weight = torch.randn(weight.shape) * 0.5
        return weight
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
net.apply(start)
net(torch.ones(2, 3)).pow(2).mean().backward()
""", cure=(("        weight = torch.randn(weight.shape) * 0.5", "        weight.data = torch.randn(weight.shape) * 0.5"),), mends=True),
    Mistake("update_lost", 12, """class Descent:
    def __init__(self, params):
        self.params = list(params)
        self.speed = [torch.zeros_like(p) for p in self.params]
    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                self.speed[i] = 0.9 * self.speed[i] + p.grad
                p = p - 0.1 * self.speed[i]
net = nn.Linear(3, 1)
opt = Descent(net.parameters())
for _ in range(3):
    net(torch.ones(2, 3)).pow(2).mean().backward()
    opt.step(); net.zero_grad()
""", cure=(("p = p - 0.1", "p -= 0.1"),), mends=True),
    Mistake("update_lost", 12, """import copy
net = nn.Linear(3, 1)
slow = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); F.mse_loss(net(torch.ones(2, 3)), slow(torch.ones(2, 3)) + 1).backward(); opt.step()
    with torch.no_grad():
        for old, new in zip(slow.parameters(), net.parameters()):
            old = 0.99 * old + 0.01 * new.detach()
""", says={"name": "old"}, mends=True),
    Mistake("update_lost", 9, """import copy
net, seen = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1)), []
target = copy.deepcopy(net)
def follow(share):
    for kept, p in zip(target.parameters(), net.parameters()):
        kept = torch.lerp(kept.data, p.data, share)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.ones(2, 3)
    with torch.no_grad(): aim = 1 + target(x)
    opt.zero_grad(); F.mse_loss(net(x), aim).backward(); opt.step(); follow(0.1)
""", says={"name": "kept"}, mends=True),
    Mistake("update_lost", 10, """import copy
net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
slow = copy.deepcopy(net)
def follow():
    with torch.no_grad():
        for (name, kept), new in zip(slow.state_dict().items(), net.state_dict().values()):
            if kept.is_floating_point(): kept = 0.9 * kept + 0.1 * new
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); F.mse_loss(net(torch.randn(4, 3)), torch.ones(4, 2)).backward(); opt.step(); follow()
print(slow(torch.ones(2, 3)))
""", says={"name": "kept"}, mends=True),
    Mistake("update_lost", 9, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
shadow = [p.detach().clone() for p in net.parameters()]
for _ in range(4):
    opt.zero_grad(); F.mse_loss(net(torch.ones(2, 3)), torch.ones(2, 1)).backward(); opt.step()
    for s, p in zip(shadow, net.parameters()): s = 0.9 * s + 0.1 * p.detach()
print(shadow[0])
""", says={"name": "s"}, mends=True),
    Mistake("update_lost", 6, """net, target = nn.Linear(3, 1), nn.Linear(3, 1)
for t, p in zip(target.parameters(), net.parameters()):
    t = p
opt = torch.optim.SGD(net.parameters(), lr=0.1)
F.mse_loss(net(torch.ones(2, 3)), target(torch.ones(2, 3)).detach()).backward()
opt.step()
""", says={"is_plain": "1"}, mends=True),
    Mistake("argument_never_used", 8, POOLED, cures=(("ids).mean(1)", "ids) * mask.unsqueeze(-1)\n        pooled = pooled.sum(1)"), (", mask=mask", ", mask=None"))),
    Mistake("argument_never_used", 8, POOLED.replace("ids, mask=mask", "ids, mask"), cure=(("net(ids, mask)", "net(ids, None)"),)),
    Mistake("argument_never_used", 4, MIXED, cures=(("scores, a)\n", "scores, b)\n"), ("y, other, 0.3", "y, None, 0.3"), ("b, share", "_, share"))),
    Mistake("argument_never_used", 4, """def returns(rewards, ended):
    total, found = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.9 * total
        found.insert(0, total)
    return found
rewards = [1.0, 0.0, 2.0, 1.0]
ended = [False, True, False, True]
critic = nn.Linear(1, 1)
F.mse_loss(critic(torch.ones(4, 1))[:, 0], torch.tensor(returns(rewards, ended))).backward()
""", cures=(("for reward in reversed(rewards)", "for reward, end in zip(rewards, ended)"), ("False, True]", "False]"))),
    Mistake("plus_without_effect", 5, """h = torch.tensor(0.1)
slope = (torch.sin(1 + h) - torch.sin(1 - h)) / (h++2)
""", cure=(("++", "**"),)),
    Mistake("plus_without_effect", 7, """x, steps = torch.randn(3), 0
for _ in range(3):
    x = x / 2
    ++steps
print(steps)
""", cure=(("++steps", "steps += 1"),)),
    Mistake("plus_without_effect", 6, """total, x = 0, torch.randn(3)
for part in x:
    total =+ part
print(total)
""", cure=(("=+", "+="),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # of two tensors the larger one
    ("update_lost", """net, other, kept = nn.Linear(3, 1), nn.Linear(3, 1), []
for p, q in zip(net.parameters(), other.parameters()):
    if q.norm() > p.norm():
        p = q
    kept.append(p)
sum(p.pow(2).sum() for p in kept).backward()
"""),
    # a sample of answers
    ("dropout_ignores_eval", """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(4, 1)
    def forward(self, x):
        return self.last(F.dropout(x, 0.3))
net, x = Net().eval(), torch.randn(8, 4)
print(torch.stack([net(x) for _ in range(5)]).std(0))
"""),
    ("clip_after_step", TRAIN + """for i in range(3):
    opt.zero_grad(); F.mse_loss(model(x), y).backward()
    opt.step()
    print(nn.utils.clip_grad_norm_(model.parameters(), 1e9))
"""),
    ("result_dropped", """import time
a = torch.randn(20, 20)
for _ in range(3):
    torch.softmax(a, -1)
print(time.perf_counter())
for _ in range(3):
    a.exp()
print(time.perf_counter())
"""),
    ("update_lost", """x, y, w = torch.randn(8, 3), torch.randn(8, 1), torch.randn(3, 1, requires_grad=True)
def update(w, slope):
    w = w - 0.1 * slope
    return w
for _ in range(3):
    (slope,) = torch.autograd.grad(F.mse_loss(x @ w, y), w)
    w = update(w, slope).detach().requires_grad_()
"""),
    ("update_lost", """ws = [torch.randn(2, 3, requires_grad=True), torch.randn(3, 1, requires_grad=True)]
for _ in range(3):
    (torch.randn(4, 2) @ ws[0] @ ws[1]).pow(2).mean().backward()
    new = []
    for w in ws:
        w = w - 0.01 * w.grad
        new.append(w.detach().requires_grad_())
    ws = new
"""),
    # a module's own `to`, whose frozen parameter is the only tensor it works on
    ("result_dropped", """class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.fc = nn.Parameter(torch.randn(4), requires_grad=False), nn.Linear(4, 2)
    def forward(self, x):
        return self.fc(x * self.w)
net = Scale()
net.to("cpu")
net(torch.ones(2, 4)).sum().backward()
"""),
    ("result_dropped", "x = torch.zeros(3)\nx.add_(1).mul_(2)\nx.view(3)\n"),
    ("result_dropped", "x = torch.arange(6.)\nx.sum()\nx.shape\ny = x.view(2, 3)\ny.mean(0)\nprint(x)\n"),
    ("result_dropped", "def prepare(m, x):\n    m.double()\n    m.to('cpu')\n    m.train()\n    return m(x.double())\nnet = nn.Linear(2, 1)\nprint(prepare(net, torch.ones(1, 2)))\n"),
    ("result_dropped", "x = torch.ones(2, 2)\nx.t()\nx @ x\nprint(x)\n"),
    ("result_dropped", "x = torch.ones(2, 2)\nx.view(-1)\nx.float()\nprint(x)\n"),
    ("result_dropped", "x = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\nx + 1\n"),
    ("requires_grad_misspelt", "class Settings:\n    pass\nsettings = Settings()\nsettings.require_grad = False\nx = torch.ones(1)\nx.requires_grad = True\n"),
    ("requires_grad_misspelt", TRAIN + "for p in model.parameters():\n    p.trainable = True\nopt = torch.optim.SGD([p for p in model.parameters() if getattr(p, 'trainable')], lr=0.1)\n" + LOOP),
    ("requires_grad_of_module", TRAIN + "model[0].weight.requires_grad = False\nfor p in model[0].parameters():\n    p.requires_grad = False\n" + LOOP),
    ("clip_before_backward", TRAIN + ROUND.format(before="", between=CLIP, after="")),
    ("clip_before_backward", """a, b = nn.Linear(2, 1), nn.Linear(2, 1)
one, two = torch.optim.SGD(a.parameters(), lr=.1), torch.optim.SGD(b.parameters(), lr=.1)
for _ in range(3):
    one.zero_grad()
    for xb in torch.randn(3, 4, 2):
        (9 * a(xb)).pow(2).mean().backward()
    nn.utils.clip_grad_norm_(a.parameters(), 0.1)
    one.step()
    two.zero_grad()
    b(torch.randn(4, 2)).pow(2).mean().backward()
    two.step()
"""),
    ("clip_before_backward", TRAIN + "for i in range(4):\n    F.mse_loss(model(x), y).backward()\n    if i % 2:\n    " + CLIP + "        opt.step()\n        opt.zero_grad()\n"),
    ("clip_before_backward", CLIPPED.replace("            self.opt.zero_grad()\n", "")),
    ("clip_before_backward", CLIPPED.replace("fit = Fit", "frozen = nn.Linear(2, 2).requires_grad_(False)\nfit = Fit")),
    ("clip_before_backward", CLIPPED.replace("= nn.utils.clip_grad_norm_(self.net", "= nn.utils.clip_grad_norm_(nn.Linear(3, 1)")),
    ("clip_after_step", TRAIN + ROUND.format(before="", between=CLIP, after="    print(loss)\n")),
    ("clip_after_step", SGD + "for i in range(2):\n" + FIT + "    total = nn.utils.clip_grad_norm_(net.parameters(), float('inf'))\n"),
    ("update_lost", "params = [torch.ones(2, requires_grad=True)]\n(params[0] ** 2).sum().backward()\nwith torch.no_grad():\n    for p in params:\n        p -= 0.1 * p.grad\n    fresh = [p - 0.1 * p.grad for p in params]\n"),
    ("update_lost", """net, kept = nn.Linear(3, 1), {}
F.mse_loss(net(torch.ones(2, 3)), torch.ones(2, 1)).backward()
with torch.no_grad():
    for name, p in net.named_parameters():
        p = 0.9 * p
        kept[name] = p
    for p in net.parameters():
        p = p - 1
        print((p + 1).mean())
    for p in net.parameters():
        p = (0.5 * p).sum()
"""),
    ("update_lost", """net = nn.Linear(3, 1)
fresh = {}
for name, v in net.state_dict().items():
    v = v * 0.5
    fresh[name] = v
for row in torch.ones(3, 2):
    row = row * 2
for name, v in torch.nn.Linear(3, 1).state_dict().items():
    w = v * 2
"""),
    ("dropout_ignores_eval", FUNCTIONAL.format(more=", training=self.training") + "net.eval()\nprint(net(torch.ones(1, 2)))\n"),
    ("dropout_ignores_eval", FUNCTIONAL.format(more="") + "print(net(torch.ones(1, 2)))\n"),
    ("plus_without_effect", """a, b = torch.randn(3), torch.randn(3)
c = a + +b
a = +b
print(a, c, +a - +b)
"""),
)  # fmt: skip
