"""Training that runs and does not move what it should, or is judged by numbers that say something else; each with what
makes it right."""

from tests.engine.findings.silent import Case
from tests.engine.findings.silent_values import Pair

STEP = "    opt.zero_grad(); loss.backward(); opt.step()\n"
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
PAIRS = (
    Pair("schedule_begun_anew", 22, RESUMED, (
        ('again.load_state_dict(kept["opt"])', 'again.load_state_dict(kept["opt"]); rest.load_state_dict(kept["schedule"])'),
        (', "schedule": plan.state_dict()}', '}'), ('kept["turn"], 8', '0, 0'), ("(opt, 8)", "(opt, 9000, 0.1)"),
        ('"schedule": plan', '"schedule": net'),
    )),
    Pair("schedule_begun_anew", 14, """class Fit:
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
""", (('self.turns = parts["turns"]', 'self.turns = parts["turns"]; self.plan.load_state_dict(parts["plan"])'), (' self.opt.load_state_dict(parts["opt"])', ' print(len(parts["opt"]))\n        for _ in range(4):\n            self.plan.step()'))),
    # what is never moved
    Pair("limit_overwritten", 11, """import copy
class Average:
    def __init__(self, net, decay=0.99):
        self.twin, self.decay, self.turn = copy.deepcopy(net).requires_grad_(False), decay, 0
    @torch.no_grad()
    def update(self, net):
        warm = (1 + self.turn) / (10 + self.turn)
        self.decay = min(self.decay, warm)
        for slow, p in zip(self.twin.parameters(), net.parameters()):
            slow.mul_(self.decay).add_(p, alpha=1 - self.decay)
        self.turn += 1
net = nn.Linear(3, 1)
average, opt = Average(net), torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
""" + STEP + """    average.update(net)
print(average.twin(torch.ones(1, 3)))
""", (("self.decay = min(self.decay, warm)", "self.decay = min(0.99, warm)"), ("decay=0.99", "decay=0.05"))),
    Pair("limit_overwritten", 8, """net = nn.Linear(3, 2)
opt, share = torch.optim.SGD(net.parameters(), lr=0.1), 1.0
for step in range(5):
    out = net(torch.randn(8, 3))
    share = min(step / 4, share)
    loss = F.mse_loss(out, torch.ones(8, 2)) + share * out.abs().mean(1).mean()
""" + STEP, (("min(step / 4, share)", "min(step / 4, 1.0)"), ("share = min(step / 4, share)", "share = min(0.5, share)"))),
    Pair("step_never_reached", 10, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean() / 8
    loss.backward()
    if (i + 1) % 8 == 0:
        opt.step()
        opt.zero_grad()
""", (("% 8", "% 5"),)),
    Pair("step_never_reached", 11, """def fit(model, opt, batches, warm):
    for n, x in enumerate(batches):
        loss = model(x).square().mean()
        loss.backward()
        if n > warm:
            print(n)
            print(loss.item())
            opt.step()
            opt.zero_grad()
model = nn.Linear(2, 2)
fit(model, torch.optim.Adam(model.parameters()), torch.randn(3, 4, 2), 10)
""", (("4, 2), 10)", "4, 2), 1)"),)),
    Pair("step_never_reached", 12, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(opt, 10)
for i in range(3):
    opt.zero_grad(); net(torch.randn(4, 3)).pow(2).mean().backward()
    if plan:
        plan.step()
    else:
        opt.step()
""", (("        plan.step()\n    else:\n        opt.step()", "        opt.step()\n        plan.step()"),)),
    Pair("backward_without_step", 9, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(opt, 10)
for i in range(3):
    opt.zero_grad()
    net(torch.randn(4, 3)).pow(2).mean().backward()
    plan.step()
""", (("    plan.step()", "    opt.step(); plan.step()"),)),
    Pair("backward_without_step", 14, """made, told = nn.Linear(3, 3), nn.Linear(3, 1)
m_opt = torch.optim.SGD(made.parameters(), lr=0.1)
t_opt = torch.optim.SGD(told.parameters(), lr=0.1)
real = torch.randn(4, 3)
for i in range(3):
    made.zero_grad()
    (-told(made(real)).mean()).backward()
    m_opt.step()
    told.zero_grad()
    loss = told(made(real).detach()).mean() - told(real).mean()
    loss.backward()
    m_opt.step()
""", (("    loss.backward()\n    m_opt", "    loss.backward()\n    t_opt"),)),
    Pair("term_trains_nothing", 10, """make, judge = nn.Linear(3, 4), nn.Linear(4, 1)
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
""", (("told = judge(fake.detach())", "told = judge(fake)"), ("    j_opt.zero_grad()\n", ""))),
    Pair("term_trains_nothing", 8, """body, probe = nn.Linear(3, 4), nn.Linear(4, 2)
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
""", (("    probe.zero_grad()\n", ""), ("+ probe(seen)", "+ probe(h)"))),
    # what was computed goes on being wrong
    Pair("permute_without_effect", 6, """a = torch.randn(2, 3, 3, requires_grad=True)
v = torch.randn(2, 4, 3)
out = v @ a.permute(0, 1, 2)
out.sum().backward()
""", (("(0, 1, 2)", "(0, 2, 1)"),)),
    Pair("permute_without_effect", 7, """x = torch.randn(2, 5, requires_grad=True)
for i in range(2):
    y = x.tanh()
    y = torch.permute(y, (1, 0)).permute(0, 1)
    y.sum().backward()
""", ((".permute(0, 1)", ".permute(1, 0)"),)),
    Pair("infinity_goes_on", 8, """q = nn.Linear(4, 4)
x = torch.randn(5, 4)
hidden = torch.ones(5, 5).triu(1).bool()
weights = (q(x) @ x.t()).softmax(-1).masked_fill(hidden, float('-inf'))
out = q(weights @ x)
out.square().mean().backward()
""", ((".softmax(-1).masked_fill(hidden, float('-inf'))", ".masked_fill(hidden, float('-inf')).softmax(-1)"), ("float('-inf')", "0"))),
    Pair("infinity_goes_on", 6, """scores = torch.zeros(2, 3, requires_grad=True)
hidden = torch.tensor([True, False, False])
loss = F.cross_entropy(scores.masked_fill(hidden, -torch.inf), torch.tensor([0, 1]))
loss.backward()
""", (("torch.tensor([0, 1])", "torch.tensor([2, 1])"), ("-torch.inf", "-100."))),
    Pair("infinity_goes_on", 8, """x = torch.randn(5, 4)
x[0, 0] = x[0, 1] = torch.inf
net = nn.Linear(4, 1)
for i in range(2):
    net(x).square().mean().backward()
""", (("x[0, 0] = x[0, 1] = torch.inf", "x[0, 0] = x[0, 1] = 3"), ("net(x)", "net(x.clamp(-10, 10))"))),
    Pair("difference_broadcast", 10, """net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(12, 2)
returns = x.sum(1).unsqueeze(1)
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    for at in torch.randperm(12).split(6):
        error = returns[at] - net(x[at]).squeeze(-1)
        opt.zero_grad(); error.pow(2).mean().backward(); opt.step()
""", ((".squeeze(-1)", ""), ("returns[at] -", "returns[at, 0] -"), ("returns[at] -", "x[at].sum(1)[:, None] -"))),
    Pair("difference_broadcast", 8, """x, y = torch.randn(4, 2), torch.randn(4)
w, b = torch.randn(2, 1, requires_grad=True), torch.randn(1, requires_grad=True)
for i in range(2):
    out = x.mm(w).add_(b)
    (out - y).square().mean().backward()
""", (("torch.randn(4)", "torch.randn(4, 1)"), ("(out - y)", "(out.squeeze(1) - y)"))),
    Pair("difference_broadcast", 10, """value, policy = nn.Linear(3, 1), nn.Linear(3, 2)
opt = torch.optim.Adam([*value.parameters(), *policy.parameters()])
x, gain, taken = torch.randn(6, 3), torch.randn(6), torch.randint(0, 2, (6,))
for i in range(3):
    told = value(x)
    chosen = policy(x).log_softmax(1)[range(6), taken]
    better = gain - told.detach()
    loss = F.mse_loss(told.squeeze(1), gain) - (better * chosen).mean()
""" + STEP, (("told.detach()", "told.squeeze(1).detach()"),)),
    Pair("dead_relu", 10, """net = nn.Sequential(nn.Linear(4, 8, bias=False), nn.ReLU(), nn.Linear(8, 1))
nn.init.zeros_(net[0].weight)
x = torch.rand(8, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), x[:, :1]).backward()
    opt.step()
""", (("nn.init.zeros_", "nn.init.xavier_uniform_"), ("nn.ReLU()", "nn.Tanh()"))),
    Pair("dead_relu", 8, """net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
x, y = torch.rand(8, 4), torch.zeros(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=20.)
for i in range(8):
    loss = F.mse_loss(net(x), y - 5)
""" + STEP, (("lr=20.", "lr=0.01"), ("nn.ReLU()", "nn.LeakyReLU()"))),
    Pair("fed_and_never_moved", 11, """net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
groups, group = [], {"lr": 0.1, "params": []}
for name, p in net.named_parameters():
    if name.startswith("0"): group["params"].append(p)
groups.append(group); group = {"lr": 0.5, "params": []}
for name, p in net.named_parameters():
    if name.startswith("2"): group["params"].append(p)
opt = torch.optim.SGD(groups)
for _ in range(3):
    opt.zero_grad(); net(torch.ones(2, 3)).pow(2).mean().backward(); opt.step()
""", (("opt = torch", "groups.append(group); opt = torch"), ("    if name.startswith(\"2\"): group[\"params\"].append(p)", "    if name.startswith(\"2\"): p.requires_grad_(False)"))),
    Pair("fed_and_never_moved", 6, """net = nn.Linear(4, 2)
scale = nn.Parameter(torch.ones(2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(8, 4), torch.randn(8, 2)
for _ in range(3):
    loss = F.mse_loss(net(x) * scale, y)
""" + STEP, (("Adam(net.parameters()", "Adam([*net.parameters(), scale]"), ("nn.Parameter(torch.ones(2))", "torch.ones(2)"))),
    Pair("fed_and_never_moved", 6, """mlp = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
weights = [p for p in mlp.parameters() if p.dim() > 1]
opt = torch.optim.SGD(weights, lr=0.1)
for _ in range(4):
    loss = (mlp(torch.randn(6, 3)) - 5).square().mean()
""" + STEP, (("if p.dim() > 1", "if p.dim() > 0"),)),
    Pair("result_overwritten", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = nn.Linear(6, 6)
        self.last = nn.Linear(6, 1)
    def forward(self, x):
        h = torch.tanh(self.first(x))
        h = torch.tanh(self.second(x))
        return self.last(h)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(9, 6), torch.randn(9, 1)
for _ in range(2):
    loss = F.mse_loss(net(x), y)
""" + STEP, (("self.second(x)", "self.second(h)"),)),
    Pair("result_overwritten", 7, """enc, mix = nn.Linear(4, 4), nn.Linear(4, 4)
opt = torch.optim.Adam([*enc.parameters(), *mix.parameters()])
def run(x):
    z = enc(x).relu()
    x = x * 2
    z = mix(x)
    return z.mean()
for _ in range(3):
    loss = run(torch.randn(5, 4))
""" + STEP, (("z = mix(x)", "z = mix(x) + z"),)),
    Pair("result_overwritten", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6)])
        self.last = nn.Linear(6, 1)
    def forward(self, x):
        for layer in self.layers:
            out = layer(x)
        return self.last(out + x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(9, 6)).pow(2).mean()
""" + STEP, (("        for layer in self.layers:\n            out = layer(x)",
           "        out = x\n        for layer in self.layers:\n            out = layer(out)"),)),
    Pair("embedding_frozen", 5, """vectors = torch.randn(10, 4)
table = nn.Embedding.from_pretrained(vectors)
model = nn.Sequential(table, nn.Flatten(), nn.Linear(12, 2))
opt = torch.optim.Adam(model.parameters())
words, y = torch.randint(10, (6, 3)), torch.randint(2, (6,))
for _ in range(2):
    loss = F.cross_entropy(model(words), y)
""" + STEP, (("pretrained(vectors)", "pretrained(vectors, freeze=False)"), ("pretrained(vectors)", "pretrained(vectors, freeze=True)"))),
    Pair("embedding_frozen", 7, """class Bag(nn.Module):
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
""", (("SGD(bag.parameters()", "SGD(bag.out.parameters()"),)),
    Pair("one_memory_for_two", 5, """student = nn.Linear(4, 3)
teacher = student
opt = torch.optim.SGD(student.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.randint(3, (8,))
for _ in range(3):
    with torch.no_grad():
        aim = teacher(x).softmax(1)
    scores = student(x)
    loss = F.cross_entropy(scores, y) + F.kl_div(scores.log_softmax(1), aim, reduction="batchmean")
""" + STEP, (("teacher = student", "teacher = nn.Linear(4, 3)"),)),
    Pair("one_memory_for_two", 6, """fast, slow = nn.Linear(3, 2), nn.Linear(3, 2)
for a, b in zip(slow.parameters(), fast.parameters()):
    a.data = b.data
opt = torch.optim.Adam(fast.parameters())
for _ in range(4):
    now, later, reward = torch.randn(5, 3), torch.randn(5, 3), torch.randn(5)
    with torch.no_grad():
        target = reward + 0.9 * slow(later).amax(1)
    loss = F.mse_loss(fast(now)[:, 0], target)
""" + STEP, (("a.data = b.data", "a.data = b.data.clone()"),)),
    Pair("weights_decayed_away", 5, """net = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=8)
x, y = torch.randn(20, 5), torch.randint(2, (20,))
for _ in range(9):
    loss = F.cross_entropy(net(x), y)
""" + STEP, (("weight_decay=8", "weight_decay=0.01"),)),
    Pair("weights_decayed_away", 5, """net = nn.Linear(6, 1)
opt = torch.optim.AdamW(net.parameters(), lr=0.5, weight_decay=1.9)
x = torch.zeros(8, 6)
for _ in range(12):
    loss = net(x).square().mean() * 1e-6
""" + STEP, (("lr=0.5", "lr=0.001"),)),
    Pair("penalty_drowns_loss", 8, """net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-9)
x = torch.randn(20, 5); y = x.sum(1, keepdim=True)
for _ in range(4):
    penalty = 1e5 * net.weight.abs().sum()
    loss = F.mse_loss(net(x), y) + penalty
""" + STEP, (("1e5", "1e-3"),)),
    Pair("penalty_drowns_loss", 8, """a, b = nn.Linear(3, 4), nn.Linear(4, 2)
opt = torch.optim.Adam([*a.parameters(), *b.parameters()], lr=1e-5)
x, y = torch.randn(12, 3), torch.randint(2, (12,))
for _ in range(3):
    size = a.weight.pow(2).sum().mul(5000)
    loss = F.cross_entropy(b(a(x).tanh()), y)
    loss = loss + size
""" + STEP, (("5000", "0.01"),)),
    Pair("optimizer_holds_frozen", 7, """body, head = nn.Linear(4, 5), nn.Linear(5, 2)
for p in head.parameters():
    p.requires_grad = False
opt = torch.optim.SGD(head.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.randint(2, (8,))
for _ in range(3):
    loss = F.cross_entropy(head(body(x)), y)
""" + STEP, (("SGD(head", "SGD(body"),)),
    Pair("optimizer_holds_frozen", 9, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.low, self.high = nn.Linear(3, 4), nn.Linear(4, 1).requires_grad_(False)
net = Net()
opt = torch.optim.Adam(net.high.parameters())
for _ in range(3):
    loss = net.high(net.low(torch.randn(6, 3)).relu()).mean()
""" + STEP, ((".requires_grad_(False)", ""),)),
    Pair("steps_too_short", 5, """net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-9)
x, y = torch.randn(9, 4), torch.randn(9, 1) + 3
for _ in range(10):
    loss = F.mse_loss(net(x), y)
""" + STEP, (("lr=1e-9", "lr=1e-2"),)),
    Pair("steps_too_short", 5, """net = nn.Linear(5, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(12, 5), torch.randint(2, (12,))
for _ in range(9):
    loss = F.cross_entropy(net(x) * 3, y)
    opt.zero_grad(); loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1e-7)
    opt.step()
""", (("1e-7", "1.0"),)),
    Pair("shuffled_alone", 5, """x, y = torch.randn(20, 4), torch.randn(20, 1)
y = y[torch.randperm(20)]
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = F.mse_loss(net(x), y)
""" + STEP, (("y[torch.randperm(20)]", "y * 1.0"),)),
    # what is judged by other numbers
    Pair("positive_is_anchor", 8, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(6, 4)
for _ in range(3):
    loss = F.triplet_margin_loss(net(x), net(x), net(x.flip(0)))
""" + STEP, (("net(x), net(x)", "net(x), net(x + 0.1 * torch.randn(6, 4))"),)),
    Pair("positive_is_anchor", 9, """f = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
opt, criterion = torch.optim.Adam(f.parameters()), nn.TripletMarginLoss(0.3)
for _ in range(4):
    rows = torch.randn(7, 2)
    others = rows.clone()
    loss = criterion(f(rows), f(others), f(torch.randn(7, 2)))
""" + STEP, (("rows.clone()", "rows * 1.1"),)),
    Pair("scores_compared_with_classes", 6, """net, x, y = nn.Linear(4, 3), torch.randn(9, 4), torch.randint(3, (9,))
best = torch.max(net(x), 1)[0]
print((best == y).float().mean())
""", (("1)[0]", "1)[1]"),)),
    Pair("scores_compared_with_classes", 7, """net, x, y = nn.Linear(4, 1), torch.randn(9, 4), torch.randint(2, (9,))
with torch.no_grad():
    p = torch.sigmoid(net(x)).squeeze(1)
    hits = (p == y).sum()
print(hits / len(y))
""", (("(p == y)", "((p > 0.5) == y)"),)),
    Pair("total_never_reset", 11, """net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(12, 3), torch.randint(2, (12,))
right = 0
for epoch in range(3):
    for i in range(0, 12, 4):
        loss = F.cross_entropy(net(x[i:i + 4]), y[i:i + 4])
        right += (net(x[i:i + 4]).argmax(1) == y[i:i + 4]).sum().item()
        opt.zero_grad(); loss.backward(); opt.step()
    print(epoch, right / len(x))
""", (("    for i in", "    right = 0\n    for i in"),)),
    Pair("total_never_reset", 10, """def run(net, batches):
    opt = torch.optim.Adam(net.parameters())
    total = 0.0
    for epoch in range(4):
        for x in batches:
            loss = net(x).pow(2).mean()
            total += loss.item()
            opt.zero_grad(); loss.backward(); opt.step()
        mean = total / len(batches)
        print(mean)
run(nn.Linear(2, 1), [torch.randn(3, 2), torch.randn(3, 2)])
""", (("len(batches)\n", "(len(batches) * (epoch + 1))\n"),)),
    Pair("log_taken_for_probability", 10, """net, x, y = nn.Linear(4, 3), torch.randn(8, 4), torch.randint(3, (8,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
chosen = F.one_hot(y, 3).float()
for _ in range(3):
    log_p = F.log_softmax(net(x), 1)
    p = chosen * log_p
    rest = 1 - p
    loss = (-torch.tensor([0.5, 1.0, 1.0]) * rest ** 2 * log_p * chosen).sum(1).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("p = chosen * log_p", "p = chosen * log_p.exp()"),
        ("p = chosen * log_p", "p = torch.exp(chosen * log_p)"),
        ("p = chosen * log_p", "p = torch.softmax(net(x), 1) * log_p"),
        ("rest ** 2 * log_p", "rest * log_p"),
    )),
    Pair("log_taken_for_probability", 8, """class Focal(nn.Module):
    def forward(self, scores, wanted):
        cost = F.cross_entropy(scores, wanted, reduction="none")
        log_p = -cost
        return (torch.pow(1 - log_p, 2.0) * cost).mean()
net, x, y = nn.Linear(4, 3), torch.randn(8, 4), torch.randint(3, (8,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = Focal()(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("log_p = -cost", "log_p = torch.exp(-cost)"),
        ("log_p = -cost", "log_p = -F.nll_loss(torch.softmax(scores, 1), wanted, reduction='none')"),
        ("(torch.pow(1 - log_p, 2.0) * cost)", "torch.pow(1 - log_p, 2.0)"),
    )),
    Pair("turned_apart", 15, """import random
from torch.utils.data import DataLoader, Dataset
random.seed(1)
class Scans(Dataset):
    def __init__(self):
        self.scans, self.masks = torch.randn(24, 1, 6, 6), (torch.rand(24, 6, 6) > 0.5).long()
    def __len__(self):
        return 24
    def __getitem__(self, i):
        scan, mask = self.scans[i], self.masks[i]
        if random.random() < 0.5: scan = torch.flip(scan, [2])
        if random.random() < 0.5: mask = torch.flip(mask, [1])
        return scan, mask
net = nn.Conv2d(1, 2, 3, padding=1)
opt = torch.optim.Adam(net.parameters())
for scan, mask in DataLoader(Scans(), batch_size=8, shuffle=True):
    loss = F.cross_entropy(net(scan), mask)
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("[2])\n        if random.random() < 0.5: mask", "[2]); mask"),
        ("mask = torch.flip(mask, [1])", "pass"),
        ("F.cross_entropy(net(scan), mask)", "F.cross_entropy(net(scan).mean((2, 3)), mask[:, 0, 0])"),
        ("if random.random() < 0.5: mask =", "mask ="),
    )),
    Pair("turned_apart", 7, """def turned(x):
    if torch.rand(1) < 0.5:
        x = x.fliplr()
    return torch.rot90(x, int(torch.randint(4, (1,))), (0, 1))
net = nn.Conv2d(1, 1, 3, padding=1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
maps, heights = torch.randn(12, 6, 6), torch.randn(12, 6, 6)
for step in range(3):
    rows = torch.randperm(12)[:5]
    x = torch.stack([turned(maps[i]) for i in rows])
    y = torch.stack([turned(heights[i]) for i in rows])
    loss = F.mse_loss(net(x[:, None]), y[:, None])
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("    y = torch.stack([turned(heights[i]) for i in rows])", "    y = torch.stack([heights[i] for i in rows])"),
        ("F.mse_loss(net(x[:, None]), y[:, None])", "F.mse_loss(net(x[:, None]).flip(3), net(y[:, None]).detach())"),
    )),
    Pair("schedule_of_the_wrong_end", 6, """net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", patience=0)
for _ in range(3):
    loss = net(torch.ones(4, 2)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    plan.step(loss)
""", (('mode="max"', 'mode="min"'),)),
    Pair("schedule_of_the_wrong_end", 6, """net, x, y = nn.Linear(2, 2), torch.randn(8, 2), torch.randint(2, (8,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    accuracy = (net(x).argmax(1) == y).float().mean().item()
    plan.step(accuracy)
""", (("plan.step(accuracy)", "plan.step(loss.item())"),)),
    Pair("inputs_all_alike", 5, """pictures, y = torch.randint(0, 255, (20, 6)), torch.randint(3, (20,))
x = (pictures // 255).float()
net = nn.Linear(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = F.cross_entropy(net(x), y)
""" + STEP, (("//", "/"),)),
    Pair("inputs_all_alike", 8, """table, y = torch.randn(30, 4), torch.randn(30, 1)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(0, 30, 10):
    rows = torch.stack([table[0] for k in range(i, i + 10)])
    loss = F.mse_loss(net(rows), y[i:i + 10])
""" + STEP, (("table[0]", "table[k]"),)),
    Pair("norm_never_learned", 10, """net = nn.Sequential(nn.BatchNorm1d(3, momentum=0), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 3) * 9 + 30, torch.randn(16, 1)
for _ in range(4):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
print(net.eval()(x).mean())
""", (("momentum=0", "momentum=0.5"),)),
    Pair("norm_never_learned", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 1)
        self.norm = nn.BatchNorm2d(2, momentum=0.0)
        nn.init.constant_(self.conv.weight, 50.0)
    def forward(self, x):
        return self.norm(self.conv(x)).mean((1, 2, 3))
net = Net()
opt = torch.optim.Adam(net.parameters())
x, y = torch.rand(5, 1, 4, 4), torch.randn(5)
loss = F.mse_loss(net(x), y)
loss.backward(); opt.step()
net.eval()
with torch.no_grad():
    print(net(x))
""", (("momentum=0.0", "momentum=None"),)),
    Pair("noise_of_all_samples", 8, """enc, dec = nn.Linear(6, 4), nn.Linear(4, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
x = torch.rand(10, 6)
for _ in range(2):
    z = enc(x) + 0.1 * torch.randn(4) * enc(x)
    loss = F.mse_loss(dec(z), x)
""" + STEP, (("torch.randn(4)", "torch.randn(10, 4)"),)),
    Pair("noise_of_all_samples", 7, """mean, log = nn.Linear(5, 2), nn.Linear(5, 2)
def draw(x):
    noise = torch.randn(1, 2)
    return mean(x) + (log(x) / 2).exp() * noise
draw(torch.randn(8, 5)).pow(2).sum().backward()
""", (("torch.randn(1, 2)", "torch.randn(8, 2)"),)),
    Pair("overlap_made_small", 8, """net, x = nn.Linear(4, 6), torch.randn(5, 4)
t = (torch.rand(5, 6) > 0.5).float()
def overlap(p):
    both = (p * t).sum()
    return 2 * both / (p.sum() + t.sum() + 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = overlap(torch.sigmoid(net(x)))
""" + STEP, (("loss = overlap", "loss = 1 - overlap"),)),
    Pair("overlap_made_small", 10, """seg, x = nn.Conv2d(1, 1, 3, padding=1), torch.rand(3, 1, 6, 6)
mask = (x > 0.5).float()
opt = torch.optim.Adam(seg.parameters())
for _ in range(2):
    p = seg(x).sigmoid()
    shared = (p * mask).sum((1, 2, 3))
    iou = shared / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) - shared + 1e-6)
    loss = iou.mean()
""" + STEP, (("loss = iou.mean()", "loss = -iou.mean().log()"),)),
)  # fmt: skip
TRIGGERS = tuple(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS)
NEAR_MISSES = tuple((pair.code, pair.program.replace(wrong, right)) for pair in PAIRS for wrong, right in pair.right)
"""Each replacement makes it right by itself."""
