"""What a training leaves out or undoes: parts that no step moves, freezing and `eval()` taken back, buffers left behind,
gradients that cancel; each with what makes it right."""

from tests.engine.findings.silent import Case
from tests.engine.findings.silent_values import Pair

CODER = """class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.spread, self.back = nn.Linear(9, 2), nn.Linear(9, 2), nn.Linear(2, 9)
    def forward(self, x):
        mean, spread = self.mean(x), self.spread(x)
        drawn = mean + torch.exp(0.5 * spread) * torch.randn_like(mean)
        return torch.sigmoid(self.back(drawn)), mean, spread
net = Coder()
opt = torch.optim.Adam(net.parameters(), lr=0.05)
x = (torch.rand(60, 9) > 0.5).float()
"""
STEP = "    opt.zero_grad(); loss.backward(); opt.step()\n"
NORMED = "nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))"
DRIFTING = (
    f"import copy\nnet = {NORMED}\ntwin = copy.deepcopy(net).eval()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
)
RATIOS = """policy, value = nn.Linear(4, 3), nn.Linear(4, 1)
opt = torch.optim.Adam(policy.parameters())
for _ in range(3):
    states, actions, rewards = torch.randn(8, 4), torch.randint(0, 3, (8,)), torch.randn(8)
    with torch.no_grad():
        old = F.log_softmax(policy(states), -1)[torch.arange(8), actions]
        gain = rewards.view(-1, 1) - value(states)
    for _ in range(2):
        now = F.log_softmax(policy(states), -1)[torch.arange(8), actions]
        ratio = torch.exp(now - old)
        first = ratio * gain
        other = torch.clamp(ratio, 0.8, 1.2) * gain
        loss = -torch.min(first, other).mean()
        opt.zero_grad(); loss.backward(); opt.step()
"""
WEIGHED = """class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 1)
    def cost(self, x, weight):
        each = F.softplus(self.head(x))
        return (each * weight).sum()
agent = Agent()
table = torch.randn(6, 5)
opt = torch.optim.SGD(agent.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); agent.cost(table[:, :3], table[:, 3].abs()).backward(); opt.step()
"""
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
AVERAGED = f"""{DRIFTING}twin.requires_grad_(False)
def average(weights, others):
    for one, other in zip(weights, others):
        one.data.mul_(0.9)
        one.data.add_(other.data * (1 - 0.9))
for i in range(4):
    loss = net(torch.randn(6, 3)).pow(2).mean()
{STEP}    average(twin.parameters(), net.parameters())
print(twin(torch.randn(4, 3)).mean())
"""
PLATE = """from torch.autograd import grad
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    at = torch.rand(16, 2, requires_grad=True)
    u = net(at)
    slopes = grad(u, at, torch.ones_like(u), create_graph=True)[0]
    bends = grad(slopes, at, torch.ones_like(slopes), create_graph=True)[0]
    loss = (bends[:, 0] + bends[:, 1] - u.squeeze(1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
HEAT = """class Rod(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(2, 8), nn.Linear(8, 1)
    def forward(self, xt):
        return self.outer(torch.tanh(self.inner((xt - 0.5) / 0.5)))
def residual(rod, xt):
    u = rod(xt)
    first, = torch.autograd.grad(u.sum(), xt, create_graph=True)
    second, = torch.autograd.grad(first.sum(), xt, create_graph=True)
    return first[:, 1:] - 0.1 * second[:, :1]
rod = Rod()
opt = torch.optim.Adam(rod.parameters())
for _ in range(3):
    opt.zero_grad(); residual(rod, torch.rand(16, 2).requires_grad_()).pow(2).mean().backward(); opt.step()
"""
QUANTISER = """enc, dec, book = nn.Linear(4, 2), nn.Linear(2, 4), nn.Embedding(5, 2)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters(), *book.parameters()], lr=0.1)
for _ in range(3):
    x = torch.randn(8, 4)
    z = enc(x)
    q = book(torch.cdist(z, book.weight).argmin(1))
    made = MADE
    loss = F.mse_loss(dec(made), x) + F.mse_loss(AIM, z.detach())
"""
PENALTY = """D = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(64, 1))
x = torch.randn(5, 2, 4, 4, requires_grad=True)
g, = torch.autograd.grad(D(x).sum(), x, create_graph=True)
"""
ATTENTION = """emb, q, k, v = nn.Embedding(9, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
words = torch.tensor([[3, 4, 5, 0], [6, 2, 0, 0]])
h = emb(words)
seen = (words != 0)
scores = q(h) @ k(h).transpose(1, 2) / 8 ** 0.5
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
PAIRS = (
    Pair("schedules_of_one", 7, """a, b = nn.Linear(3, 1), nn.Linear(3, 1)
opt_a, opt_b = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
plan_a = torch.optim.lr_scheduler.StepLR(opt_a, 2, 0.5)
plan_b = torch.optim.lr_scheduler.StepLR(opt_a, 2, 0.5)
for i in range(4):
    x = torch.randn(8, 3)
    opt_a.zero_grad(); opt_b.zero_grad()
    (a(x).pow(2).mean() + b(x).pow(2).mean()).backward()
    opt_a.step(); opt_b.step()
    plan_a.step(); plan_b.step()
""", (("plan_b = torch.optim.lr_scheduler.StepLR(opt_a", "plan_b = torch.optim.lr_scheduler.StepLR(opt_b"),)),
    Pair("schedules_of_one", 9, """class Trainer:
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
""", (("self.g_plan = torch.optim.lr_scheduler.ExponentialLR(self.d_opt", "self.g_plan = torch.optim.lr_scheduler.ExponentialLR(self.g_opt"),)),
    Pair("mask_of_ones", 6, """rows = [torch.tensor([3, 4, 5]), torch.tensor([6, 2])]
ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
seen = torch.ones_like(ids)
emb, look = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2, batch_first=True)
h = emb(ids)
look(h, h, h, key_padding_mask=seen == 0)[0].sum().backward()
""", (("torch.ones_like(ids)", "(ids != 0).long()"),)),
    Pair("mask_of_ones", 11, """class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.qkv = nn.Embedding(9, 8), nn.Linear(8, 24)
    def forward(self, rows):
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        q, k, v = self.qkv(self.word(ids)).chunk(3, -1)
        seen = torch.ones(ids.shape, dtype=torch.bool)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen[:, None])
Reader()([torch.tensor([3, 4, 5]), torch.tensor([6])]).sum().backward()
""", (("torch.ones(ids.shape, dtype=torch.bool)", "ids != 0"),)),
    Pair("one_place_for_all", 9, """class Places(nn.Module):
    def __init__(self):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(1, 20, 4))
    def forward(self, x):
        return x + self.pe[:, x.size(1)]
Places()(torch.randn(3, 6, 4)).pow(2).sum().backward()
""", (("self.pe[:, x.size(1)]", "self.pe[:, :x.size(1)]"),)),
    Pair("one_place_for_all", 11, """class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.out = nn.Embedding(9, 4), nn.Linear(4, 2)
        self.register_buffer("where", torch.randn(30, 4))
    def forward(self, ids):
        batch, steps = ids.shape
        places = self.where[steps].unsqueeze(0)
        return self.out(self.word(ids) + places)
Reader()(torch.randint(0, 9, (3, 7))).pow(2).sum().backward()
""", (("self.where[steps]", "self.where[:steps]"),)),
    Pair("dropout_switched_off", 10, f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate, self.out = 0.5, nn.Linear(3, 1)
    def forward(self, x):
        if not self.training:
            self.rate = 0
        return self.out(F.dropout(x, p=self.rate))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    net.train()
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}    net.eval()
    print(net(torch.randn(8, 3)).mean().item())
""", (("            self.rate = 0\n", "            return self.out(x)\n"),)),
    Pair("dropout_switched_off", 8, f"""net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.3), nn.Linear(8, 1))
def evaluate(x):
    net.eval()
    for part in net:
        if isinstance(part, nn.Dropout): part.p = 0.0
    return net(x)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    net.train()
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}    print(evaluate(torch.randn(8, 3)).mean().item())
""", ((": part.p = 0.0", ": part.p = 0.3"),)),
    Pair("rows_run_together", 6, """table, rnn, head = nn.Embedding(9, 4), nn.GRU(4, 6, batch_first=True), nn.Linear(6, 9)
ids = torch.randint(0, 9, (4, 7))
scores, labels = head(rnn(table(ids))[0]).view(-1, 9)[:-1], ids.view(-1)[1:]
F.cross_entropy(scores, labels).backward()
""", (("head(rnn(table(ids))[0]).view(-1, 9)[:-1], ids.view(-1)[1:]", "head(rnn(table(ids))[0])[:, :-1].reshape(-1, 9), ids[:, 1:].reshape(-1)"),)),
    Pair("rows_run_together", 5, """def loss_of(scores, labels):
    labels = F.pad(labels, (0, 1), value=-100)[..., 1:]
    return F.cross_entropy(scores.reshape(-1, 9), labels.reshape(-1), ignore_index=-100)
table, head = nn.Embedding(9, 4), nn.Linear(4, 9)
ids = torch.randint(0, 9, (4, 70))
loss_of(head(table(ids)[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()).backward()
""", ((".flatten(0, 1)", ""), ("ids[:, 1:].flatten()", "ids[:, :-1]"))),
    Pair("scheduled_per_batch", 15, """settings = {"epochs": 3}
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
""", (("        schedule.step()", "    schedule.step()"),)),
    Pair("scheduled_per_batch", 16, """class Fit:
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
""", (("            self.down.step()", "        self.down.step()"),)),
    Pair("weights_along_the_wrong_axis", 7, """key, ask = nn.Linear(6, 8), nn.Linear(6, 8)
x = torch.randn(4, 7, 6)
scores = (ask(x[:, :2]) @ key(x).transpose(1, 2)).reshape(8, 7)
shares = torch.softmax(scores, dim=0).view(4, 2, 7)
torch.bmm(shares, x).pow(2).mean().backward()
""", (("dim=0", "dim=-1"),)),
    Pair("weights_along_the_wrong_axis", 9, """class Look(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))
    def forward(self, x):
        share = (self.q(x).view(3, 5, 2, 4).transpose(1, 2) @ self.k(x).view(3, 5, 2, 4).permute(0, 2, 3, 1)).softmax(1)
        return share.reshape(6, 5, 5) @ self.v(x).view(3, 5, 2, 4).transpose(1, 2).reshape(6, 5, 4)
Look()(torch.randn(3, 5, 8)).sum().backward()
""", (("softmax(1)", "softmax(-1)"),)),
    Pair("weights_after_the_mean", 7, """net = nn.Linear(6, 4)
x, real = torch.randn(30, 20, 6), (torch.rand(30, 20) < 0.7).float()
size = net(x).pow(2)
loss = size.sum() * real
(loss.sum() / real.sum()).backward()
""", (("size.sum()", "size.sum(-1)"),)),
    Pair("loss_of_itself", 9, f"""big, small = nn.Linear(4, 3), nn.Linear(4, 3)
opt = torch.optim.SGD(small.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.arange(8) % 3
for _ in range(3):
    soft, out = big(x).detach() / 2, small(x) / 2
    student = F.log_softmax(soft, dim=1)
    loss = F.cross_entropy(out, y) + F.kl_div(student, F.softmax(soft, dim=1), reduction="batchmean")
{STEP}""", (("log_softmax(soft", "log_softmax(out"),)),
    Pair("loss_of_itself", 9, f"""net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.0), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(8, 4), torch.arange(8) % 3
net.eval()
for _ in range(3):
    loss = F.mse_loss(net(x), net(x).detach()) + F.cross_entropy(net(x), y)
{STEP}""", (("net(x).detach()", "net(x + 0.1 * torch.randn(8, 4)).detach()"),)),
    Pair("part_taken_for_name", 6, f"""net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))
plain = ["bias", "1.weight"]
decayed = [p for name, p in net.named_parameters() if name not in plain]
others = [p for name, p in net.named_parameters() if name in plain]
opt = torch.optim.AdamW([{{"params": decayed}}, {{"params": others, "weight_decay": 0.0}}])
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", (("name not in plain", "not any(word in name for word in plain)"), ("name in plain", "any(word in name for word in plain)"))),
    Pair("part_taken_for_name", 12, f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 1)
    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))
def freeze(model):
    for name, p in model.named_parameters():
        if name in ("body", "stem"):
            p.requires_grad = False
net = Net()
freeze(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", (('("body", "stem")', '("body.weight", "body.bias")'),)),
    Pair("requires_grad_of_copy", 7, f"""net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
for name, p in net.state_dict().items():
    if name.startswith("0."):
        p.requires_grad = False
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", (("net.state_dict().items()", "net.named_parameters()"),)),
    Pair("requires_grad_of_copy", 5, f"""body, head = nn.Linear(3, 4), nn.Linear(4, 1)
for p in body.parameters(): p.data.requires_grad_(False)
opt = torch.optim.Adam([*body.parameters(), *head.parameters()])
for _ in range(3):
    loss = head(body(torch.randn(8, 3))).pow(2).mean()
{STEP}""", ((".data", ""),)),
    Pair("requires_grad_of_copy", 8, """class Fit:
    def __init__(self, net):
        self.net = net
        kept = net.state_dict()
        kept["weight"].requires_grad = False
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def step(self, x):
        self.opt.zero_grad(); self.net(x).pow(2).mean().backward(); self.opt.step()
fit = Fit(nn.Linear(3, 1, bias=False))
fit.step(torch.randn(4, 3))
""", (('kept["weight"].requires_grad', "net.weight.requires_grad"), ("self.opt =", "net.b = nn.Parameter(torch.ones(1)); self.opt ="), ("self.net(x).pow", "(self.net(x) + self.net.b).pow"))),
    Pair("difference_broadcast", 7, """net, x, where = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 3, 1)), torch.randn(6, 4, 5, 5), torch.randn(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = (net(x) - where).abs().mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (("net(x) - where", "net(x).flatten(1) - where"),)),
    Pair("difference_broadcast", 9, """class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 1, 8)
    def forward(self, x, labels):
        return (torch.sigmoid(self.conv(x)) - labels).pow(2).sum()
net = Judge()
net(torch.randn(5, 2, 8), torch.rand(5)).backward()
""", (("self.conv(x)", "self.conv(x).view(-1)"),)),
    Pair("dropout_ignores_eval", 10, FUSED.replace("RATE", "dropout_p=self.drop"), (("=self.drop,", "=self.drop if self.training else 0.0,"),)),
    Pair("dropout_ignores_eval", 10, FUSED.replace("RATE", "None, 0.1"), (("None, 0.1", "None, 0.1 * self.training"),)),
    Pair("dropout_ignores_eval", 8, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv1d(2, 4, 3), nn.Linear(8, 1)
    def forward(self, x): return self.out(F.dropout1d(self.conv(x).relu(), 0.4).flatten(1))
net = Net().eval()
print(net(torch.randn(3, 2, 4)))
""", (("F.dropout1d(self.conv(x).relu(), 0.4)", "F.dropout1d(self.conv(x).relu(), 0.4, training=True)"),)),
    Pair("loaded_from_itself", 11, f"{DRIFTING}for i in range(4):\n    loss = net(torch.randn(6, 3)).pow(2).mean()\n{STEP}" + "    twin.load_state_dict(twin.state_dict())\n", (("(twin.state", "(net.state"),)),
    Pair("loaded_from_itself", 11, """class Agent:
    def __init__(self):
        self.q, self.target = nn.Linear(3, 2), nn.Linear(3, 2)
        self.opt = torch.optim.Adam(self.q.parameters())
    def learn(self, x):
        self.opt.zero_grad(); (self.q(x) - self.target(x).detach()).pow(2).mean().backward(); self.opt.step()
    def sync(self):
        self.target.load_state_dict(self.target.state_dict())
agent = Agent()
for i in range(3):
    agent.learn(torch.randn(4, 3)); agent.sync()
""", (("self.target.state", "self.q.state"),)),
    Pair("optimizer_of_old_model", 8, f"""net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(6):
    if epoch == 2:
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", (("nn.Linear(4, 1))\n", "nn.Linear(4, 1))\n        opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"),)),
    Pair("optimizer_of_old_model", 8, f"""model = nn.Linear(3, 1)
opt = torch.optim.Adam(model.parameters())
for n in range(7):
    if n > 0 and n % 3 == 0:
        model = nn.Linear(3, 1)
    loss = model(torch.ones(8, 3)).pow(2).mean()
{STEP}""", (("n % 3 == 0", "n % 9 == 0"),)),
    Pair("parameters_given_twice", 11, f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(3, 1), nn.Linear(3, 1)
    def forward(self, x):
        return self.left(x) + self.right(x)
net = Net()
opt = torch.optim.SGD(list(net.left.parameters()) + list(net.left.parameters()), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", (("list(net.left.parameters()), lr", "list(net.right.parameters()), lr"),)),
    Pair("parameters_given_twice", 5, f"""net = nn.ModuleDict({{'a': nn.Linear(3, 4), 'b': nn.Linear(4, 1)}})
opt = torch.optim.Adam([*net['b'].parameters(), *net['b'].parameters()], lr=0.1)
for _ in range(3):
    loss = net['b'](net['a'](torch.randn(8, 3))).pow(2).mean()
{STEP}""", (("[*net['b'].parameters(), *net['b'].parameters()]", "[*net['b'].parameters(), *net['a'].parameters()]"),)),
    Pair("layers_out_of_sight", 9, f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = []
        for _ in range(2):
            self.blocks.append([nn.Linear(3, 3), torch.tanh])
        self.out = nn.Linear(3, 1)
    def forward(self, x):
        for layer, squash in self.blocks:
            x = squash(layer(x))
        return self.out(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", (("append([nn.Linear(3, 3), torch.tanh])", "append(nn.ModuleList([nn.Linear(3, 3), nn.Tanh()]))"), ("self.blocks = []", "self.blocks = nn.ModuleList()"))),
    Pair("layers_out_of_sight", 8, f"""import types
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = types.SimpleNamespace(body=nn.Linear(3, 4))
        self.head = nn.Linear(4, 1)
    def forward(self, x):
        return self.head(self.parts.body(x).relu())
net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", (("types.SimpleNamespace(body=nn.Linear(3, 4))", "nn.ModuleDict({'body': nn.Linear(3, 4)})"),)),
    Pair("eval_undone", 12, f"""net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}    net.eval()
    with torch.no_grad():
        for x in torch.randn(2, 4, 3):
            net.train()
            print(F.mse_loss(net(x), x[:, :1]))
    net.train()
""", (("            net.train()\n", ""),)),
    Pair("eval_undone", 11, f"""net = {NORMED}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}net.eval()
print("testing")
net.train()
with torch.no_grad():
    print((net(torch.randn(5, 3)) > 0).float().mean())
""", (("net.train()\n", ""),)),
    Pair("freeze_undone", 9, f"""net = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
for p in net.parameters():
    p.requires_grad_(False)
net.append(nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net.requires_grad_(True)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", (("net.requires_grad_(True)", "net[2].requires_grad_(True)"),)),
    Pair("freeze_undone", 7, f"""net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
net[0].requires_grad_(False)
print("frozen")
net.requires_grad_()
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", (("net.requires_grad_()\n", "net[1].requires_grad_()\n"),)),
    Pair("buffers_not_copied", 12, f"""{DRIFTING}for i in range(4):
    loss = net(torch.randn(6, 3)).pow(2).mean()
{STEP}    with torch.no_grad():
        for ours, theirs in zip(twin.parameters(), net.parameters()): ours.mul_(0.9).add_(theirs, alpha=0.1)
        print(twin(torch.randn(4, 3)).mean())
""", (("twin.parameters(), net.parameters()): ours", "twin.parameters(), net.parameters()): ours.data = theirs.data.clone()\n        for ours, theirs in zip(twin.buffers(), net.buffers()): ours.copy_(theirs)\n        for ours, theirs in zip(twin.parameters(), net.parameters()): ours"),)),
    Pair("buffers_not_copied", 11, f"""{DRIFTING}def sync():
    print('sync')
    for p, target in zip(net.parameters(), twin.parameters()):
        target.data.copy_(p.data)
for i in range(4):
    loss = (net(torch.randn(6, 3)) - twin(torch.randn(6, 3)).detach()).pow(2).mean()
{STEP}    sync()
""", (("        target.data.copy_(p.data)\n", "        target.data.copy_(p.data)\n    twin.load_state_dict(net.state_dict())\n"),)),
    Pair("buffers_not_copied", 12, AVERAGED, (("print(twin", "for one, other in zip(twin.buffers(), net.buffers()): one.copy_(other)\nprint(twin"),)),
    Pair("gradients_cancelled", 10, QUANTISER.replace("MADE", "z + (q - z)").replace("AIM", "q") + STEP, (("z + (q - z)", "z + (q - z).detach()"),)),
    Pair("gradients_cancelled", 8, """net, alpha = nn.Linear(3, 4), torch.tensor(0.5, requires_grad=True)
for _ in range(2):
    score = net(torch.randn(5, 3))
    gain = (alpha.detach() * score).mean()
    price = (-alpha * (score + 3)).mean()
    (gain + price).backward()
""", (("(score + 3)", "(score.detach() + 3)"),)),
    Pair("taken_straight_through", 10, QUANTISER.replace("MADE", "z + (q - z).detach()").replace("AIM", "made") + STEP, (("mse_loss(made, z.d", "mse_loss(q, z.d"),)),
    Pair("taken_straight_through", 8, """enc, levels = nn.Linear(3, 4), torch.linspace(-1, 1, 5).requires_grad_()
for _ in range(3):
    z = enc(torch.randn(6, 3))
    near = levels[(z.unsqueeze(-1) - levels).abs().argmin(-1)]
    out = z + (near - z).detach()
    (out - 0.5).pow(2).mean().backward()
""", (("(out - 0.5)", "(out - 0.5 + near)"),)),
    Pair("rows_hidden", 9, ATTENTION + "scores = scores.masked_fill(~seen.unsqueeze(2), -1e9)\n(F.softmax(scores, dim=-1) @ v(h)).sum().backward()\n", (("unsqueeze(2)", "unsqueeze(1)"),)),
    Pair("rows_hidden", 10, ATTENTION + "mask = seen[:, :, None]\nscores = scores.masked_fill(mask == 0, -10000)\nout = scores.softmax(-1) @ v(h)\nout.pow(2).mean().backward()\n", (("[:, :, None]", "[:, None, :]"),)),
    Pair("slope_of_each_place", 7, PENALTY + "((g.norm(2, dim=1) - 1) ** 2).mean().backward()\n", (("g.norm", "g.flatten(1).norm"),)),
    Pair("slope_of_each_place", 7, PENALTY + "length = torch.linalg.vector_norm(g, dim=(2, 3))\n(length - 1.0).square().mean().backward()\n", (("dim=(2, 3)", "dim=(1, 2, 3)"),)),
    Pair("counter_stands", 13, """class Trainer:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)
        self.best = nn.Linear(3, 1)
        self.done = 0
    def step(self):
        self.opt.zero_grad()
        self.net(torch.ones(2, 3)).pow(2).mean().backward()
        self.opt.step()
        if self.done % 5 == 0:
            self.best.load_state_dict(self.net.state_dict())
trainer = Trainer(nn.Linear(3, 1))
for _ in range(4): trainer.step()
""", (("        self.opt.step()\n", "        self.opt.step()\n        self.done += 1\n"),)),
    Pair("counter_stands", 9, f"""net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
seen = 0
for x in torch.randn(6, 8, 3):
    loss = net(x).pow(2).mean()
    if seen % 2 == 1: print(loss)
{STEP}""", (("    if seen", "    seen += 1\n    if seen"),)),
    Pair("argument_overlooked", 12, """class Pair:
    def __init__(self, tau=0.1):
        self.tau = tau
        self.net, self.aim = nn.Linear(2, 1), nn.Linear(2, 1)
    def follow(self, tau=None):
        tau = self.tau if tau is None else tau
        with torch.no_grad():
            for a, b in zip(self.aim.parameters(), self.net.parameters()):
                a.mul_(1 - self.tau).add_(b, alpha=self.tau)
pair = Pair()
pair.follow(1.0)
F.mse_loss(pair.net(torch.ones(3, 2)), pair.aim(torch.ones(3, 2)).detach()).backward()
""", (("1 - self.tau", "1 - tau"), ("alpha=self.tau", "alpha=tau"))),
    Pair("argument_overlooked", 10, """class Loss(nn.Module):
    def __init__(self, scale=2.0):
        super().__init__()
        self.scale = scale
    def forward(self, x, scale=None):
        if scale is None: scale = self.scale
        return (x * self.scale).pow(2).mean()
net, loss = nn.Linear(2, 1), Loss()
loss(net(torch.ones(3, 2)), scale=0.5).backward()
""", (("x * self.scale", "x * scale"),)),
    Pair("rate_dies", 10, """net, plan = nn.Linear(3, 1), {"step_size": 2, "gamma": 0.1}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(opt, **plan)
for epoch in range(3):
    for x in torch.randn(6, 8, 3):
        loss = net(x).pow(2).mean(); opt.zero_grad(); loss.backward(); opt.step()
        schedule.step()
""", (("        schedule.step()", "    schedule.step()"),)),
    Pair("rate_dies", 10, f"""net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
decay = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.1)
for epoch in range(12):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}    decay.step()
""", (("gamma=0.1", "gamma=0.7"),)),
    Pair("zeros_hold_each_other", 11, f"""base = nn.Linear(6, 3)
A = nn.Parameter(torch.zeros(2, 6))
B = nn.Parameter(torch.zeros(3, 2))
base.requires_grad_(False)
opt = torch.optim.AdamW([A, B])
for _ in range(4):
    x = torch.randn(8, 6)
    loss = (base(x) + x @ A.T @ B.T).pow(2).mean()
{STEP}""", (("nn.Parameter(torch.zeros(2, 6))", "nn.Parameter(torch.randn(2, 6))"),)),
    Pair("zeros_hold_each_other", 11, f"""class Adapter(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.down, self.up = nn.Linear(dim, 2, bias=False), nn.Linear(2, dim, bias=False)
        nn.init.zeros_(self.down.weight)
        nn.init.zeros_(self.up.weight)
    def forward(self, x):
        return x + self.up(self.down(x))
net, head = Adapter(5), nn.Linear(5, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    loss = head(net(torch.randn(8, 5))).pow(2).mean()
{STEP}""", (("        nn.init.zeros_(self.down.weight)\n", ""),)),
    Pair("gradient_left_by_another", 8, """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
of_g, of_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = G(torch.randn(8, 2))
    (D(fake.detach()).mean() - D(torch.randn(8, 3)).mean()).backward()
    of_d.step()
    D.zero_grad(); G.zero_grad()
    (-D(fake).mean()).backward()
    of_g.step()
""", (("    of_g.step()\n", "    of_g.step()\n    D.zero_grad()\n"),)),
    Pair("gradient_left_by_another", 11, """actor, critic = nn.Linear(3, 2), nn.Linear(5, 1)
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
""", (("    value =", "    of_c.zero_grad()\n    value ="),)),
    Pair("ends_in_new_leaf", 5, f"""def decided(p):
    return torch.tensor((p > 0.5).float().tolist(), requires_grad=True)
net, x, y = nn.Linear(3, 1), torch.randn(8, 3), torch.ones(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = F.mse_loss(decided(net(x).sigmoid()), y)
{STEP}""", (("decided(net(x).sigmoid())", "net(x).sigmoid()"),)),
    Pair("ends_in_new_leaf", 8, f"""net, x = nn.Linear(3, 2), torch.randn(8, 3)
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    picked = [int(row.argmax()) for row in net(x)]
    scores = torch.tensor([1.0 * place for place in picked], requires_grad=True)
    loss = (scores - 1).pow(2).mean()
{STEP}""", (("(scores - 1)", "(net(x) - 1)"),)),
    Pair("scheduled_per_epoch", 10, """net, batches = nn.Linear(3, 1), torch.randn(5, 8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
plan = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, steps_per_epoch=len(batches), epochs=3)
for epoch in range(3):
    for x in batches:
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    plan.step()
""", (("    plan.step()", "        plan.step()"),)),
    Pair("scheduled_per_epoch", 14, """class Fit:
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
""", (("            self.schedule", "                self.schedule"),)),
    Pair("scheduled_per_epoch", 11, """net, batches = nn.Linear(3, 1), torch.randn(6, 8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=len(batches))
epochs = 3
for epoch in range(epochs):
    for place, x in enumerate(batches):
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    plan.step()
""", (("T_max=len(batches)", "T_max=epochs"), ("plan = ", "epochs = 3\nplan = "), ("epochs = 3\nfor", "for"))),
    Pair("scheduled_per_epoch", 14, """def train(net, batches, opt):
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
""", (("10 * len(loader)", "1"),)),
    # the same in other forms
    Pair("clip_before_backward", 9, """net, limit = nn.Linear(3, 1), 1.0
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
    if limit is not None:
        nn.utils.clip_grad_norm_(net.parameters(), limit)
    loss.backward()
    opt.step(); opt.zero_grad()
""", (("    if limit is not None:\n        nn.utils.clip_grad_norm_(net.parameters(), limit)\n    loss.backward()\n", "    loss.backward()\n    if limit is not None:\n        nn.utils.clip_grad_norm_(net.parameters(), limit)\n"),)),
    Pair("clip_before_backward", 9, CLIPPED, (("            loss.backward()", "            loss.backward(); nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)"),)),
    Pair("product_broadcast", 14, RATIOS, (("- value(states)", "- value(states)\n        gain = gain.squeeze(-1)"),)),
    Pair("product_broadcast", 10, WEIGHED, (("self.head(x))", "self.head(x)).squeeze(-1)"),)),
    Pair("slopes_added_up", 11, PLATE, (("bends = grad(slopes, at, torch.ones_like(slopes), create_graph=True)[0]", "bends = torch.stack([grad(slopes[:, i].sum(), at, create_graph=True)[0][:, i] for i in range(2)], 1)"),)),
    Pair("slopes_added_up", 11, PLATE.replace("bends[:, 0] + bends[:, 1]", "bends.sum(1)"), (("torch.ones_like(slopes)", "torch.tensor([[1.0, 0.0]]).expand_as(slopes)"),)),
    Pair("slopes_added_up", 13, HEAT, (("first.sum()", "first[:, 0].sum()"),)),
    Pair("update_lost", 7, """def start(layer):
    if isinstance(layer, nn.Linear):
        weight = layer.weight
        weight = torch.randn(weight.shape) * 0.5
        return weight
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
net.apply(start)
net(torch.ones(2, 3)).pow(2).mean().backward()
""", (("        weight = torch.randn(weight.shape) * 0.5", "        weight.data = torch.randn(weight.shape) * 0.5"),)),
    Pair("update_lost", 12, """class Descent:
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
""", (("p = p - 0.1", "p -= 0.1"),)),
    Pair("optimizer_of_another_model", 6, """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
of_g = torch.optim.Adam(G.parameters())
of_d = torch.optim.Adam(G.parameters())
for _ in range(4):
    for p in D.parameters(): p.requires_grad = False
    of_g.zero_grad(); (-D(G(torch.randn(8, 2))).mean()).backward(); of_g.step()
    for p in D.parameters(): p.requires_grad = True
    D.zero_grad(); (D(G(torch.randn(8, 2)).detach()).mean() - D(torch.randn(8, 3)).mean()).backward(); of_d.step()
""", (("of_d = torch.optim.Adam(G.", "of_d = torch.optim.Adam(D."),)),
    Pair("frozen_norm_drifts", 9, f"""net, head = {NORMED}, nn.Linear(1, 1)
def fit(opt):
    for _ in range(3):
        loss = head(net(torch.randn(8, 3))).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
nn.ModuleList([net, head]).train()
fit(torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1))
net.requires_grad_(False)
fit(torch.optim.SGD(head.parameters(), lr=0.1))
""", (("net.requires_grad_(False)\n", "net.requires_grad_(False); net.eval()\n"),)),
    Pair("comparison_broadcast", 10, f"""net, x, y = nn.Linear(3, 4), torch.randn(8, 3), torch.randint(0, 4, (8,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
{STEP}_, best = net(x).topk(1, 1)
print(1 - torch.eq(best, y).float().mean())
""", (("torch.eq(best, y)", "torch.eq(best[:, 0], y)"),)),
    Pair("scores_compared_with_classes", 9, f"""net, x, y = nn.Linear(3, 4), torch.randn(8, 3), torch.randint(0, 4, (8,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    out = net(x)
    best = torch.max(out, 1)[0]
    print((best.round() == y).float().mean())
    loss = F.cross_entropy(out, y)
{STEP}""", (("(out, 1)[0]", "(out, 1)[1].float()"),)),
    Pair("backward_read_at_end", 10, """class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.read, self.say = nn.GRU(3, 4, bidirectional=True), nn.Linear(8, 2)
    def forward(self, x):
        steps, ends = self.read(x)
        return self.say(steps[-1])
net = Tagger()
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    loss = F.cross_entropy(net(torch.randn(9, 5, 3)), torch.randint(0, 2, (5,)))
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("self.say(steps[-1])", "self.say(torch.cat((ends[0], ends[1]), 1))"),
    )),
    Pair("backward_read_at_end", 7, """rnn, head = nn.LSTM(2, 6, num_layers=2, batch_first=True, bidirectional=True), nn.Linear(12, 1)
waves = torch.randn(4, 7, 2)
for _ in range(3):
    value = head(rnn(waves)[0][:, 6])
    F.mse_loss(value.squeeze(1), waves.sum((1, 2))).backward()
""", (
        ("head(rnn(waves)[0][:, 6])", "head(rnn(waves)[0].mean(1))"),
    )),
    Pair("backward_read_at_end", 13, """from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
rnn, head = nn.GRU(2, 6, bidirectional=True, batch_first=True), nn.Linear(12, 1)
lengths, waves = torch.tensor([3, 7, 5, 4]), torch.randn(4, 7, 2)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
for _ in range(3):
    packed = pack_padded_sequence(waves, lengths, batch_first=True, enforce_sorted=False)
    steps, ends = rnn(packed)
    steps, sizes = pad_packed_sequence(steps, batch_first=True)
    at = lengths.view(-1, 1, 1).expand(4, 1, 12) - 1
    last = steps.gather(1, at).squeeze(1)
    loss = (head(last).squeeze(1) - waves.sum((1, 2))).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("steps.gather(1, at).squeeze(1)", "torch.cat((ends[0], ends[1]), 1)"),
    )),
    Pair("backward_read_at_end", 10, """from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
rnn, head = nn.LSTM(2, 6, bidirectional=True), nn.Linear(12, 1)
waves = torch.randn(7, 4, 2)
for _ in range(3):
    packed = pack_padded_sequence(waves, [7, 5, 4, 3])
    steps, sizes = pad_packed_sequence(rnn(packed)[0])
    last = steps[sizes - 1, torch.arange(4)]
    F.mse_loss(head(last).squeeze(1), waves.sum((0, 2))).backward()
""", (
        ("steps[sizes - 1, torch.arange(4)]", "steps.amax(0)"),
    )),
    Pair("shares_counted_alike", 10, """chooser = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(chooser.parameters(), lr=0.1)
for _ in range(4):
    seen = torch.randn(6, 5)
    odds = torch.softmax(chooser(seen), dim=1)
    gain = torch.randn(6)
    loss = -(odds * gain[:, None]).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("gain = torch.randn(6)", "gain = torch.randn(6)\n    picked = torch.multinomial(odds, 1)"),
        ("(odds * gain[:, None])", "(odds.gather(1, picked).log() * gain[:, None])"),
    )),
    Pair("shares_counted_alike", 9, """net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(8, 4), F.one_hot(torch.randint(0, 3, (8,)), 3)
for _ in range(3):
    made = net(x)
    loss = (y - made).sum(1).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("(y - made).sum(1)", "(y - made).pow(2).sum(1)"),
    )),
    Pair("last_count_over_samples", 17, """from torch.utils.data import DataLoader, TensorDataset
points = TensorDataset(torch.randn(60, 4), torch.randint(0, 2, (60,)))
loader = DataLoader(points, batch_size=20)
net = nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters())
for epoch in range(3):
    total, good = 0, 0
    for xb, yb in loader:
        out = net(xb)
        loss = F.cross_entropy(out, yb)
        opt.zero_grad(); loss.backward(); opt.step()
        total += len(yb)
        good = (out.argmax(1) == yb).sum().item()
    print('epoch', epoch, 'acc', round(100 * good / total, 4))
""", (
        ("good = (out", "good += (out"),
    )),
    Pair("last_count_over_samples", 14, """net, opt = nn.Linear(3, 1), None
x = torch.randn(64, 3)
y = (x.sum(1) > 0).float()
def check():
    with torch.no_grad():
        for at in range(0, 64, 16):
            correct = ((net(x[at : at + 16])[:, 0] > 0) == y[at : at + 16]).float().sum()
    return correct / len(x)
for _ in range(3):
    F.binary_cross_entropy_with_logits(net(x)[:, 0], y).backward()
    print(f'{check():.5f}')
""", (
        ("return correct / len(x)", "return correct / 16"),
    )),
    Pair("norm_of_last_batch", 4, """net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, momentum=0.9), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    net(torch.randn(16, 3)).pow(2).mean().backward()
    opt.step()
net.eval()
with torch.no_grad():
    print(net(torch.randn(5, 3)))
""", (
        ("momentum=0.9", "momentum=0.1"),
        ("net.eval()\n", ""),
    )),
    Pair("norm_of_last_batch", 7, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(2, momentum=0.99)
        self.conv = nn.Conv2d(2, 1, 3)
    def forward(self, x):
        return self.conv(self.norm(x)).mean()
net = Net()
opt = torch.optim.Adam(net.parameters())
net(torch.randn(4, 2, 6, 6)).pow(2).backward(); opt.step()
with torch.no_grad():
    print(net.eval()(torch.randn(4, 2, 6, 6)))
""", (
        ("momentum=0.99", "momentum=0.01"),
    )),
    Pair("focal_of_mean", 7, """net = nn.Linear(3, 2)
x, y = torch.randn(10, 3), torch.randint(0, 2, (10,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
ce = F.cross_entropy(net(x), y)
p = torch.exp(-ce)
loss = (1 - p) ** 2 * ce
loss.mean().backward(); opt.step()
""", (
        ("net(x), y)", "net(x), y, reduction='none')"),
        ("(1 - p) ** 2 * ce", "ce"),
    )),
    Pair("focal_of_mean", 6, """class Focal(nn.Module):
    def forward(self, scores, wanted):
        bce = F.binary_cross_entropy_with_logits(scores, wanted)
        return 0.25 * (1 - torch.exp(-bce)).pow(2) * bce
net = nn.Linear(3, 1)
x, y = torch.randn(10, 3), torch.rand(10, 1).round()
Focal()(net(x), y).backward()
torch.optim.SGD(net.parameters(), lr=0.1).step()
""", (
        ("(scores, wanted)\n", "(scores, wanted, reduction='sum')\n"),
    )),
    Pair("generator_looped_twice", 9, """def clip(params, most):
    total = 0.0
    for p in params:
        total += (p.grad ** 2).sum().item()
    if total > most:
        for p in params:
            p.grad *= most / total
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(4, 3)).pow(2).sum().backward()
    clip(net.parameters(), 1e-3)
    opt.step()
""", (
        ("clip(net.parameters()", "clip(list(net.parameters())"),
        ("def clip(params, most):\n", "def clip(params, most):\n    params = list(params)\n"),
    )),
    Pair("generator_looped_twice", 10, """class Trainer:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)
    def decay(self, weights):
        for w in weights:
            w.grad.add_(w.detach(), alpha=0.1)
        for w in weights:
            w.grad.clamp_(-1, 1)
    def fit(self):
        self.net(torch.ones(2, 3)).sum().backward()
        self.decay(self.net.parameters())
        self.opt.step()
Trainer(nn.Linear(3, 2)).fit()
""", (
        ("self.decay(self.net.parameters())", "self.decay([*self.net.parameters()])"),
    )),
    Pair("stored_and_cleared", 10, """net = nn.Linear(2, 1)
opt = torch.optim.Adam(net.parameters())
steps, episodes = [], []
for episode in range(3):
    for _ in range(4):
        steps.append(torch.randn(2))
    episodes.append(steps)
    F.mse_loss(net(torch.stack(episodes[0])).sum(), torch.tensor(1.0)).backward()
    opt.step(); opt.zero_grad()
    steps.clear()
print([len(episode) for episode in episodes])
""", (
        ("episodes.append(steps)", "episodes.append(list(steps))"),
        ("    steps.clear()", "    steps = []"),
    )),
    Pair("stored_and_cleared", 11, """class Buffer:
    def __init__(self):
        self.now = []
        self.kept = []
    def add(self, x):
        self.now.append(x)
        if len(self.now) == 2:
            self.kept.append(self.now)
            self.now.clear()
buffer, w = Buffer(), torch.ones(3, requires_grad=True)
for _ in range(5):
    buffer.add(torch.randn(3))
(w * torch.stack(buffer.now)).sum().backward()
""", (
        ("self.kept.append(self.now)", "self.kept.append([*self.now])"),
    )),
    Pair("counted_after_the_loop", 19, """from torch.utils.data import DataLoader, TensorDataset
held = DataLoader(TensorDataset(torch.randn(80, 4), torch.randint(0, 2, (80,))), batch_size=20)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for rows, kinds in held:
    opt.zero_grad()
    F.cross_entropy(net(rows), kinds).backward()
    opt.step()
net.eval()
with torch.no_grad():
    good, seen = 0, 0
    for rows, kinds in held:
        scores = net(rows)
        seen += len(kinds)
    guess = scores.argmax(1)
    good += (guess == kinds).sum().item()
print('accuracy', 100 * good / seen)
""", (
        ("    guess = scores.argmax(1)\n    good", "        guess = scores.argmax(1)\n        good"),
        ("100 * good / seen", "100 * good / len(kinds)"),
    )),
    Pair("counted_after_the_loop", 14, """net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
x, y = torch.randn(96, 3), (torch.randn(96) > 0).float()
opt = torch.optim.Adam(net.parameters())
def accuracy():
    with torch.no_grad():
        total = 0
        for part, want in zip(x.split(32), y.split(32)):
            made = net(part)[:, 0]
            total += part.size(0)
        hits = (made > 0) == (want > 0.5)
        total_hits = (hits == 1).float().sum()
    return total_hits / total
for _ in range(3):
    F.binary_cross_entropy_with_logits(net(x)[:, 0], y).backward(); opt.step(); opt.zero_grad()
print(f'{accuracy():.6f}')
""", (
        ("total_hits / total", "total_hits / len(part)"),
    )),
    Pair("collected_out_of_order", 17, """from torch.utils.data import DataLoader, Subset, TensorDataset
x, y = torch.randn(30, 3), torch.randint(0, 2, (30,))
rows = list(range(10, 30))
loader = DataLoader(Subset(TensorDataset(x, y), rows), batch_size=5, shuffle=True)
net = nn.Linear(3, 2)
F.cross_entropy(net(x), y).backward()
scores = []
with torch.no_grad():
    for part, _ in loader:
        scores.append(net(part))
scores = torch.cat(scores)

wanted = y[torch.tensor(rows)]
print((scores.argmax(1) == wanted).float().mean())
""", (("shuffle=True", "shuffle=False"), ("torch.tensor(rows)]", "torch.tensor(rows[::-1])]"))),
    Pair("collected_out_of_order", 16, """from torch.utils.data import DataLoader, TensorDataset
held_x, held_y = torch.randn(20, 3), torch.randn(20, 1)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
F.mse_loss(net(held_x), held_y).backward(); opt.step()
held = DataLoader(TensorDataset(held_x, held_y), batch_size=8, shuffle=True)
def error():
    said = []
    with torch.no_grad():
        for rows, _ in held:
            said.append(net(rows))
    whole = torch.cat(said).squeeze(1)
    return (whole - held_y.squeeze(1)).abs().mean()
print(error().item())
""", (
        ("shuffle=True", "shuffle=False"),
    )),
    Pair("collected_out_of_order", 20, """from torch.utils.data import DataLoader, Dataset
class Signs(Dataset):
    def __init__(self):
        self.x = torch.randn(12, 2)
        self.kinds = torch.arange(12) % 3
    def __len__(self):
        return 12
    def __getitem__(self, i):
        return {'x': self.x[i], 'kind': self.kinds[i]}
signs = Signs()
net = nn.Linear(2, 3)
guesses, kinds = [], []
for batch in DataLoader(signs, batch_size=5, shuffle=True):
    F.cross_entropy(net(batch['x']), batch['kind']).backward()
    guesses.append(net(batch['x']).detach())
    kinds.append(batch['kind'])
print((torch.cat(guesses).argmax(1) == signs.kinds).float().mean())
""", (
        ("== signs.kinds)", "== torch.cat(kinds))"),
    )),
    Pair("divergence_drowns_loss", 11, """enc, dec = nn.Linear(16, 4), nn.Linear(2, 16)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.05)
pictures = torch.rand(40, 16)
for _ in range(60):
    middle, log = enc(pictures).chunk(2, 1)
    code = middle + torch.randn_like(middle) * torch.exp(log / 2)
    off = F.mse_loss(dec(code), pictures)
    far = 0.5 * (middle.square() + log.exp() - log - 1).sum()
    opt.zero_grad()
    (off + far).backward()
    opt.step()
""", (
        ("F.mse_loss(dec(code), pictures)", "F.mse_loss(dec(code), pictures, reduction='sum')"),
    )),
    Pair("divergence_drowns_loss", 19, CODER + """for _ in range(50):
    opt.zero_grad()
    made, mean, spread = net(x)
    loss = -(x * made.log() + (1 - x) * (1 - made).log()).mean()
    loss = loss - 0.5 * torch.sum(1 + spread - mean ** 2 - spread.exp())
    loss.backward()
    opt.step()
""", (
        ("loss - 0.5 * torch.sum", "loss - 0.001 * torch.sum"),
    )),
    Pair("divergence_averaged", 11, """enc, dec = nn.Linear(16, 4), nn.Linear(2, 16)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.05)
pictures = torch.rand(40, 16)
for _ in range(4):
    middle, log = enc(pictures).chunk(2, 1)
    code = middle + torch.randn_like(middle) * torch.exp(log / 2)
    off = F.mse_loss(dec(code), pictures, reduction='none').sum(1).mean()
    far = 0.5 * (middle.square() + log.exp() - log - 1).mean(1).mean()
    opt.zero_grad()
    (off + far).backward()
    opt.step()
""", (
        ("- 1).mean(1)", "- 1).sum(1)"),
    )),
    Pair("divergence_averaged", 20, CODER + """for _ in range(4):
    opt.zero_grad()
    made, mean, spread = net(x)
    loss = F.binary_cross_entropy(made, x, reduction="sum")
    kl = 1 + spread - mean ** 2 - spread.exp()
    loss = loss - 0.5 * torch.mean(kl)
    loss.backward()
    opt.step()
""", (
        ("- 0.5 * torch.mean(kl)", "- 0.1 * torch.mean(kl)"),
    )),
    Pair("overlap_counted_once", 9, """net = nn.Conv2d(1, 1, 3, padding=1)
spots = (torch.rand(6, 1, 5, 5) > 0.6).float()
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    made = torch.sigmoid(net(spots + 0.1 * torch.randn(6, 1, 5, 5))).flatten(1)
    share = ((made * spots.flatten(1)).sum(1) + 1) / (made.sum(1) + spots.flatten(1).sum(1) + 1)
    loss = (1 - share).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("((made * spots", "(2 * (made * spots"),
    )),
    Pair("overlap_counted_once", 7, """class Overlap(nn.Module):
    def forward(self, scores, mask):
        p = scores.sigmoid()
        shared = torch.sum(p * mask, (1, 2))
        both = (p ** 2).sum((1, 2)) + mask.square().sum((1, 2))
        return 1 - (shared / both).mean()
net, measure = nn.Linear(5, 5), Overlap()
mask = (torch.rand(6, 5, 5) > 0.6).float()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); measure(net(mask), mask).backward(); opt.step()
""", (
        ("shared / both)", "shared / (both - shared))"),
    )),
    Pair("input_as_target", 12, """notes = torch.arange(90) * 7 % 11
table, rnn, head = nn.Embedding(11, 4), nn.LSTM(4, 6, batch_first=True), nn.Linear(6, 11)
opt = torch.optim.Adam([*table.parameters(), *rnn.parameters(), *head.parameters()])
for _ in range(2):
    begins = torch.randint(0, 60, (20,))
    heard = torch.stack([notes[b : b + 16] for b in begins])
    next_ones = torch.stack([notes[b : b + 16] for b in begins])
    scores = head(rnn(table(heard))[0])
    F.cross_entropy(scores.transpose(1, 2), next_ones).backward()
    opt.step(); opt.zero_grad()
""", (
        ("next_ones = torch.stack([notes[b : b", "next_ones = torch.stack([notes[b + 1 : b + 1"),
    )),
    Pair("padding_of_lookup_scored", 9, """from torch.nn.utils.rnn import pad_sequence
lines = pad_sequence([torch.arange(2, 6 + i % 9) for i in range(30)], batch_first=True, padding_value=0)
table, rnn, head = nn.Embedding(16, 4, padding_idx=0), nn.GRU(4, 6, batch_first=True), nn.Linear(6, 16)
begin = torch.ones(30, 1, dtype=torch.long)
told = torch.cat([begin, lines[:, :-1]], dim=1)
F.cross_entropy(head(rnn(table(told))[0]).transpose(1, 2), lines).backward()
""", (
        ("transpose(1, 2), lines)", "transpose(1, 2), lines, ignore_index=0)"),
    )),
    Pair("end_left_out", 24, """import random
random.seed(1)
value = nn.Linear(3, 1)
opt = torch.optim.SGD(value.parameters(), lr=0.1)
seen = []
def walk():
    place = 0
    while True:
        later = place + random.choice([-1, 1])
        over = later in (-1, 3)
        seen.append((torch.eye(3)[place], float(later == 3), torch.eye(3)[min(max(later, 0), 2)], over))
        if over:
            break
        place = later
for _ in range(3):
    walk()
for _ in range(3):
    here, gains, there, ends = zip(*seen)
    gains = torch.tensor(gains)
    with torch.no_grad():
        aim = gains + 0.9 * value(torch.stack(there)).squeeze(1)
    loss = F.mse_loss(value(torch.stack(here)).squeeze(1), aim)
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("0.9 * value(torch.stack(there)).squeeze(1)", "0.9 * value(torch.stack(there)).squeeze(1) * (1 - torch.tensor(ends).float())"),
    )),
    Pair("end_left_out", 18, """class Memory:
    def __init__(self):
        self.rows = []
    def put(self, s, a, r, n, d):
        self.rows.append([s, a, r, n, d])
memory, q = Memory(), nn.Linear(2, 2)
opt = torch.optim.Adam(q.parameters())
s, done = torch.zeros(2), False
while not done:
    n = s + 1
    done = bool(n[0] > 5)
    memory.put(s, int(n[0]) % 2, 1.0, n, done)
    s = n
for s, a, r, n, end in memory.rows:
    target = torch.tensor(r) + 0.99 * q(n).max().detach()
    loss = (q(s)[a] - target).pow(2)
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("+ 0.99 *", "+ 0.99 * (not end) *"),
    )),
)  # fmt: skip
ALSO_RIGHT = (
    ("overlap_counted_once", """made = torch.rand(6, 9, requires_grad=True)
mask = (torch.rand(6, 9) > 0.6).float()
shared, both = (made * mask).sum(1), (made + mask).sum(1)
loss = (1 - 2 * (shared / both)).mean() + (1 - shared / (both / 2)).mean() + (1 - (shared + shared) / both).mean()
loss = loss - (shared / both).mean() + (1 - shared / (both - shared)).mean() + (1 - torch.mul(shared, 2) / both).mean()
loss.backward()
other = torch.rand(6, 9, requires_grad=True)
(1 - (made * other).sum(1) / (made.sum(1) + other.sum(1))).mean().backward()
"""),
    ("divergence_averaged", """enc, dec = nn.Linear(16, 4), nn.Linear(2, 16)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.05)
pictures = torch.rand(40, 16)
for _ in range(4):
    middle, log = enc(pictures).chunk(2, 1)
    made = dec(middle + torch.randn_like(middle) * torch.exp(log / 2))
    apart = middle.square() + log.exp() - log - 1
    opt.zero_grad()
    (F.mse_loss(made, pictures) + 0.5 * apart.mean()).backward()
    opt.step(); opt.zero_grad()
    ((made - pictures).detach().square().sum(1).mean() + 0.5 * apart.sum(1).mean() / 2).item()
"""),
    ("scheduled_per_epoch", """net, chunks = nn.Linear(3, 1), torch.randn(6, 8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=len(chunks))
for chunk in chunks:
    for x in chunk.split(1):
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    plan.step()
"""),
    ("one_memory_for_two", """body = nn.Linear(4, 3)
warm = torch.optim.SGD(body.parameters(), lr=0.1)
for _ in range(3):
    loss = body(torch.randn(2, 4)).pow(2).mean()
    warm.zero_grad(); loss.backward(); warm.step()
class Kept(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
    def forward(self, x):
        with torch.no_grad():
            return self.body(x)
model = nn.Sequential(Kept(body), nn.Linear(3, 1))
opt = torch.optim.SGD(model[1].parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(2, 4)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("generator_looped_twice", """def tidy(weights, first):
    for w in weights:
        if first:
            break
        w.grad.clamp_(-1, 1)
    for w in weights:
        w.grad.mul_(0.5)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(4, 3)).sum().backward()
tidy(net.parameters(), True)
opt.step()
"""),
    ("stored_and_cleared", """def collect():
    rows = []
    rows.append(torch.ones(2))
    kept.append(rows)
def drop(rows):
    rows.clear()
kept, w = [], torch.ones(2, requires_grad=True)
collect()
(w * kept[0][0]).sum().backward()
drop([1])
"""),
    ("gradients_cancelled", """net = nn.Linear(6, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
y = torch.arange(8).repeat_interleave(5)
for _ in range(3):
    z = net(torch.randn(40, 6))
    d = (z.unsqueeze(0) - z.unsqueeze(1)).pow(2).sum(-1)
    same = y.unsqueeze(0) == y.unsqueeze(1)
    far = d.masked_fill(~same, -1.0).max(dim=1).values
    near = d.masked_fill(same, 1e9).min(dim=1).values
    opt.zero_grad()
    F.relu(far - near + 9.0).mean().backward()
    opt.step()
"""),
    ("stored_and_cleared", """net = nn.Linear(2, 1)
batch, batches = [], []
for _ in range(3):
    batch.append(torch.randn(2))
    batches.append(batch)
    net(torch.stack(batches[0])).sum().backward()
    batch.clear(); batches.clear()
"""),
    ("term_without_gradient", """x, y = torch.randn(6, 2, requires_grad=True), torch.randn(4, 2)
opt = torch.optim.SGD([x], lr=0.5)
for i in range(3):
    cost = (x[:, None] - y).pow(2).sum(-1)
    with torch.no_grad():
        plan = torch.softmax(-cost, 1) / 6
    loss = (plan * cost).sum() + (plan.log().sum() - (plan * cost.detach()).sum())
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("part_taken_for_name", f"net = nn.ModuleList([nn.Linear(3, 2), nn.Linear(2, 1)])\ndef plain(part):\n    return [p for n, p in part.named_parameters() if n not in ['bias']]\nkept = plain(net[0]) + plain(net[1])\nfor part in net:\n    kept += [p for n, p in part.named_parameters() if n in ['bias']]\nopt = torch.optim.SGD(kept, lr=0.1)\nfor _ in range(2):\n    loss = net[1](net[0](torch.ones(2, 3))).mean()\n{STEP}"),
    ("scheduled_per_batch", f"class World:\n    def step(self): return torch.randn(4, 3)\nworld, net = World(), nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\ndef plans(epochs):\n    return {{'schedule': torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)}}\nepochs = 3\nplan = plans(epochs)\nfor epoch in range(epochs):\n    for _ in range(8):\n        loss = net(world.step()).pow(2).mean()\n    {STEP}    plan['schedule'].step()\n"),
    ("mask_of_ones", "rows = [torch.tensor([3, 4, 5]), torch.tensor([6, 2, 1])]\nids = nn.utils.rnn.pad_sequence(rows, batch_first=True)\nemb, look = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2, batch_first=True)\nh = emb(ids)\nlook(h, h, h, key_padding_mask=torch.ones_like(ids) == 0)[0].sum().backward()\n"),
    ("mask_of_ones", "rows = [torch.tensor([3, 4, 5]), torch.tensor([6, 2])]\nids = nn.utils.rnn.pad_sequence(rows, batch_first=True)\nemb, look = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2, batch_first=True)\nh, later = emb(ids), torch.triu(torch.ones(3, 3), 1).bool()\nlook(h, h, h, key_padding_mask=torch.ones_like(ids) == 0, attn_mask=later)[0].sum().backward()\n"),
    ("one_place_for_all", "class Steps(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.times = nn.Parameter(torch.randn(9, 4))\n    def forward(self, x, t):\n        last = self.times[len(x) - 1]\n        return x + self.times[t] + last\nnet = Steps()\nfor t in range(5):\n    net(torch.randn(3, 4), t).sum().backward()\n"),
    ("dropout_switched_off", f"net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.3), nn.Linear(8, 1))\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor epoch in range(6):\n    if epoch == 3:\n        net[1].p = 0.0\n    net.train()\n    loss = net(torch.randn(8, 3)).pow(2).mean()\n{STEP}    net.eval()\n    print(net(torch.randn(8, 3)).mean().item())\n"),
    ("rows_run_together", "table, head = nn.Embedding(9, 4), nn.Linear(4, 9)\ntext = torch.randint(0, 9, (28,))\nids = text.view(4, 7)\nF.cross_entropy(head(table(ids)).view(-1, 9)[:-1], ids.view(-1)[1:]).backward()\n"),
    ("rows_run_together", "table, head = nn.Embedding(9, 4), nn.Linear(4, 9)\nids = torch.randint(1, 9, (4, 7))\nids[:, 0] = 0\nF.cross_entropy(head(table(ids)).view(-1, 9)[:-1], ids.view(-1)[1:], ignore_index=0).backward()\nF.cross_entropy(head(table(ids)).view(-1, 9)[1:], ids.view(-1)[1:]).backward()\n"),
    ("loss_of_itself", f"net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 4))\nopt = torch.optim.Adam(net.parameters())\nx = torch.randn(8, 4)\nfor _ in range(3):\n    one, other = net(x).chunk(2, 1)\n    loss = F.mse_loss(net(x), net(x)) + F.mse_loss(one, other) + F.l1_loss(one[:, 0], one[:, 1])\n{STEP}"),
    ("loss_of_itself", f"import copy\nnet = nn.Linear(4, 3)\nold = copy.deepcopy(net)\nopt = torch.optim.Adam(net.parameters())\nx = torch.randn(8, 4)\nfor _ in range(3):\n    loss = F.kl_div(F.log_softmax(net(x), 1), F.softmax(old(x).detach(), 1), reduction='batchmean') + F.mse_loss(net(x), torch.ones(8, 3))\n{STEP}"),
    ("part_taken_for_name", f"net = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))\nfor n, p in net.named_parameters():\n    if n in ['bias'] or n.endswith('.bias'):\n        p.requires_grad = False\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(2):\n    loss = net(torch.ones(2, 3)).mean()\n{STEP}"),
    ("part_taken_for_name", f"net = nn.Linear(3, 1)\nno_decay = ['bias', 'LayerNorm.weight']\ngroups = [{{'params': [p for n, p in net.named_parameters() if n in no_decay], 'weight_decay': 0.0}}, {{'params': [p for n, p in net.named_parameters() if n not in no_decay]}}]\nopt = torch.optim.SGD(groups, lr=0.1)\nfor _ in range(2):\n    loss = net(torch.ones(2, 3)).mean()\n{STEP}"),
    ("part_taken_for_name", f"net = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))\nfor n, m in net.named_children():\n    for _, p in m.named_parameters():\n        p.requires_grad = n not in ['0']\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(2):\n    loss = net(torch.ones(2, 3)).mean()\n{STEP}"),
    ("requires_grad_of_copy", f"net, old = nn.Linear(3, 1), nn.Linear(3, 1)\nfor p in old.state_dict().values():\n    p.requires_grad = False\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(2):\n    loss = (net(torch.ones(2, 3)) - old(torch.ones(2, 3)).detach()).mean()\n{STEP}"),
    ("requires_grad_of_copy", f"net = nn.Linear(3, 1)\nfor p in net.state_dict(keep_vars=True).values():\n    p.requires_grad = False\nnet.bias.requires_grad = True\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(2):\n    loss = net(torch.ones(2, 3)).mean()\n{STEP}"),
    ("difference_broadcast", "net = nn.Linear(2, 3)\nz = net(torch.randn(4, 2))\nd = (z[:, None] - z).norm(dim=-1) + (z.view(4, 3, 1, 1) - z).mean()\nd.sum().backward()\n"),
    ("slopes_added_up", PLATE.replace("u = net(at)", "u = net(at * torch.tensor([1.0, 0.0])) + at[:, 1:] ** 2").replace("bends[:, 0] + bends[:, 1]", "(slopes * bends).sum(1)")),
    ("slopes_added_up", PLATE.replace("slopes = grad(u, at, torch.ones_like(u), create_graph=True)[0]", "slopes = nn.functional.pad(u, (0, 1)) * at")),
    ("slopes_added_up", PLATE.replace("nn.Linear(2, 8)", "nn.Linear(1, 8)").replace("net(at)", "net(at[:, :1]) + net(at[:, 1:])")),
    ("product_broadcast", RATIOS.replace("loss = -torch.min(first, other).mean()", "loss = -torch.min(first, other).sum(1).max()")),
    ("product_broadcast", RATIOS.replace("loss = -torch.min(first, other).mean()", "loss = (torch.min(first, other) - torch.eye(8)).pow(2).mean()")),
    ("product_broadcast", RATIOS.replace("- value(states)", "- value(states)\n        gain = torch.ones_like(gain)")),
    ("product_broadcast", WEIGHED.replace("(each * weight).sum()", "(each * weight).softmax(1).pow(2).sum()")),
    ("product_broadcast", WEIGHED.replace("(each * weight).sum()", "(each @ weight[None]).pow(2).sum()")),
    ("product_broadcast", WEIGHED.replace("(each * weight).sum()", "(each.view(-1, 1) * weight).sum()")),
    ("clip_before_backward", CLIPPED.replace("            self.opt.zero_grad()\n", "")),
    ("clip_before_backward", CLIPPED.replace("fit = Fit", "frozen = nn.Linear(2, 2).requires_grad_(False)\nfit = Fit")),
    ("clip_before_backward", CLIPPED.replace("= nn.utils.clip_grad_norm_(self.net", "= nn.utils.clip_grad_norm_(nn.Linear(3, 1)")),
    ("buffers_not_copied", AVERAGED.replace("print(twin(", "print(net.eval()(")),
    ("buffers_not_copied", AVERAGED.replace("        one.data.add_(other.data * (1 - 0.9))\n", "")),
    ("product_broadcast", "net, alpha = nn.Linear(3, 6), nn.Parameter(torch.rand(6))\nx, y = torch.randn(6, 3), torch.randn(6).sign()\nheld = alpha * y\n(net(x).pow(2) * (held[:, None] * held)).sum().backward()\n(net(x)[:, :1].exp() * torch.linspace(0, 1, 6)).mean(0).pow(2).sum().backward()\n"),
    ("buffers_not_copied", f"net = {NORMED}\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(4):\n    loss = net(torch.randn(6, 3)).pow(2).mean()\n{STEP}fresh = {NORMED}\nfresh[1].weight.data.normal_(1.0, 0.02)\nprint(fresh.eval()(torch.randn(4, 3)).mean())\n"),
    ("difference_broadcast", "net = nn.Conv2d(2, 3, 3)\ny = net(torch.randn(4, 2, 3, 3))\n((y - torch.randn(3, 1, 1)).mean() + (y - y.mean(0)).mean()).backward()\n"),
    (
        "schedules_of_one",
        """a, b = nn.Linear(3, 1), nn.Linear(3, 1)
opt_a, opt_b = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
plan_a = torch.optim.lr_scheduler.LinearLR(opt_a, 0.5, 1., 2)
plan_b = torch.optim.lr_scheduler.StepLR(opt_a, 2, 0.5)
for i in range(4):
    opt_a.zero_grad(); opt_b.zero_grad()
    (a(torch.randn(8, 3)).pow(2).mean() + b(torch.randn(8, 3)).pow(2).mean()).backward()
    opt_a.step(); opt_b.step()
    plan_a.step(); plan_b.step()
""",
    ),
    (
        "freeze_undone",
        f"""net, head = nn.Linear(3, 4), nn.Linear(4, 1)
for p in [*net.parameters(), *head.parameters()]:
    p.requires_grad_(False)
net.requires_grad_(False)
down = nn.Parameter(torch.randn(3, 4))
for p in head.parameters():
    p.requires_grad_(True)
opt = torch.optim.SGD([down, *head.parameters()], lr=0.1)
for _ in range(3):
    x = torch.randn(8, 3)
    loss = head(net(x) + x @ down).pow(2).mean()
{STEP}""",
    ),
    (
        "drawn_again",
        """net, x = nn.Linear(2, 1), torch.randn(512, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def main():
    torch.manual_seed(0)
    for _ in range(4):
        rows = x[torch.randperm(512)[:16]]
        opt.zero_grad(); net(rows).pow(2).mean().backward(); opt.step()
main()
""",
    ),
    (
        "backward_read_at_end",
        """rnn = nn.LSTM(2, 6, batch_first=True, bidirectional=True)
waves = torch.randn(4, 7, 2)
out = rnn(waves)[0]
both = torch.cat((out[:, -1, :6], out[:, 0, 6:]), 1)
last = rnn(waves)[0][:, -1]
one = rnn(waves[:, :1])[0][:, -1]
way = nn.LSTM(2, 6, batch_first=True)(waves)[0][:, -1]
(both.sum() + last[:, :6].sum() + one.sum() + way.sum()).backward()
""",
    ),
    (
        "backward_read_at_end",
        """from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
rnn, sizes = nn.LSTM(2, 6, batch_first=True, bidirectional=True), torch.tensor([7, 5, 4])
def read(waves):
    packed = pack_padded_sequence(waves, sizes, batch_first=True)
    steps, (ends, _) = rnn(packed)
    return pad_packed_sequence(steps, batch_first=True)[0], ends
at = (sizes - 1).view(-1, 1, 1).expand(3, 1, 12)
halves = read(torch.randn(3, 7, 2))[0].gather(1, at).view(3, 2, 6)[:, 0]
half = read(torch.randn(3, 7, 2))[0].gather(1, at[..., :6])
masked = read(torch.randn(3, 7, 2))[0][torch.arange(3), torch.tensor([2, 4, 1])]
steps, ends = read(torch.randn(3, 7, 2))
beside = torch.cat((steps[torch.arange(3), sizes - 1], ends[-1]), 1)
(halves.sum() + half.sum() + masked.sum() + beside.sum()).backward()
""",
    ),
    (
        "shares_counted_alike",
        """look, net = nn.Linear(4, 1), nn.Linear(4, 2)
opt = torch.optim.Adam([*look.parameters(), *net.parameters()])
for _ in range(3):
    h = net(torch.randn(5, 1, 4).expand(5, 3, 4))
    share = torch.softmax(look(torch.randn(5, 3, 4)), 1)
    loss = (share * h).sum(1).pow(2).mean() + look(torch.randn(2, 4)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    (
        "collected_out_of_order",
        """from torch.utils.data import DataLoader, TensorDataset
x, y = torch.randn(12, 3), torch.randint(0, 2, (12,))
net, order = nn.Linear(3, 2), torch.randperm(12)
loader = DataLoader(TensorDataset(x, y, torch.arange(12)), batch_size=4, sampler=order.tolist())
said = torch.cat([net(rows) for rows, _, _ in loader]).argmax(1)
print((said == y[order]).float().mean(), said.float().mean() - y.float().mean())
known = torch.zeros(12, dtype=torch.long)
for rows, _, at in loader:
    known[at] = net(rows).argmax(1)
print((known == y).float().mean())
F.cross_entropy(net(x), y).backward()
""",
    ),
    (
        "end_never_read",
        """import copy
net = nn.Linear(3, 1)
slow = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); (net(torch.randn(4, 3)) - slow(torch.randn(4, 3))).pow(2).mean().backward(); opt.step()
    for new, old in zip(net.parameters(), slow.parameters()):
        print((0.1 * new + 0.9 * old).sum().item())
""",
    ),
    (
        "answer_seen",
        """ids = torch.randint(2, 9, (20, 16))
table, head = nn.Embedding(9, 4), nn.Linear(4, 9)
layer = nn.TransformerDecoderLayer(4, 2, 8, batch_first=True)
told = torch.cat((torch.ones(20, 1, dtype=torch.long), ids[:, :-1]), 1)
later = torch.triu(torch.ones(16, 16), 1).bool()
scores = head(layer(table(told), table(ids), tgt_mask=later))
F.cross_entropy(scores.transpose(1, 2), ids).backward()
table, enc, dec = nn.Embedding(9, 4), nn.GRU(4, 8, batch_first=True), nn.GRU(4, 8, batch_first=True)
out = nn.Linear(8, 9)(dec(table(told), enc(table(ids))[1])[0])
F.cross_entropy(out.transpose(1, 2), ids).backward()
""",
    ),
    (
        "input_as_target",
        """ids = torch.randint(2, 9, (20, 16))
table, enc, dec = nn.Embedding(9, 4), nn.GRU(4, 8, batch_first=True), nn.GRU(4, 8, batch_first=True)
told = torch.cat((torch.ones(20, 1, dtype=torch.long), ids[:, :-1]), 1)
out = nn.Linear(8, 9)(dec(table(told), enc(table(ids))[1])[0])
F.cross_entropy(out.transpose(1, 2), ids).backward()
begins = torch.randint(0, 200, (20,))
text = ids.flatten()
rows = torch.stack([text[b : b + 16] for b in begins])
blank = torch.stack([torch.where(torch.rand(16) < 0.2, 0, text[b : b + 16]) for b in begins])
out = nn.Linear(8, 9)(enc(table(blank))[0])
F.cross_entropy(out.transpose(1, 2), rows).backward()
""",
    ),
    (
        "end_left_out",
        """net, aim = nn.Linear(2, 1), nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rows, late = [], False
for step in range(6):
    late = step == 5
    rows.append((torch.randn(2), 1.0, torch.randn(2), late, step))
    if step > 7:
        break
for _ in range(3):
    here, gains, there, ends, steps = zip(*rows)
    target = torch.tensor(gains) + 0.9 * aim(torch.stack(there)).squeeze(1).detach() * (1 - torch.tensor(ends).float())
    loss = F.mse_loss(net(torch.stack(here)).squeeze(1), target)
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
)  # fmt: skip
"""Near misses that are told by numbers alone, or by which parameters they are."""
TRIGGERS = tuple(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS)
NEAR_MISSES = (*ALSO_RIGHT, *((pair.code, pair.mended()) for pair in PAIRS))
