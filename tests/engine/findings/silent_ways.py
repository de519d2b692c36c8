"""Numbers that go another way than they seem to: lost where places repeat, taken for each other, thrown away before
they are learnt from; each with what makes it right."""

from tests.engine.findings.silent import Case
from tests.engine.findings.silent_values import Pair

STEP = "    opt.zero_grad(); loss.backward(); opt.step()\n"
PAIRS = (
    Pair("weights_after_the_mean", 7, """lin = nn.Linear(6, 4)
real = (torch.arange(5) < torch.tensor([[2], [5], [3]])).float()
mean, log_var = lin(torch.randn(3, 5, 6)).chunk(2, -1)
kl = -0.5 * torch.sum(1 + log_var - mean ** 2 - log_var.exp()) * real
(kl.sum() / real.sum()).backward()
""", (("log_var.exp())", "log_var.exp(), -1)"),)),
    Pair("parameters_used_up", 12, """from itertools import chain
a, b = nn.Linear(2, 3), nn.Linear(3, 1)
both = chain(a.parameters(), b.parameters())
opt = torch.optim.SGD(both, lr=0.1)
x, y = torch.randn(6, 2), torch.randn(6, 1)
for _ in range(3):
    loss = F.mse_loss(b(a(x)), y)
    opt.zero_grad(); loss.backward()
    nn.utils.clip_grad_norm_(both, 1.0)
    opt.step()
""", (("both = chain(a.parameters(), b.parameters())", "both = list(chain(a.parameters(), b.parameters()))"),)),
    Pair("step_without_zero_grad", 9, """net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(12, 4), torch.arange(12) % 3
for xb, yb in zip(x.split(4), y.split(4)):
    loss = F.cross_entropy(net(xb), yb)
    loss.backward()
    size = nn.utils.clip_grad_norm_(net.parameters(), 50.0)
    if torch.isfinite(size):
        opt.step()
""", (("    loss.backward()", "    opt.zero_grad(); loss.backward()"),)),
    Pair("hooks_pile_up", 8, """back, head = nn.Linear(3, 4), nn.Linear(4, 2)
opt = torch.optim.SGD([*back.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(8, 3), torch.arange(8) % 2
for _ in range(4):
    back.weight.register_hook(lambda g: 0.5 * g)
    loss = F.cross_entropy(head(back(x).relu()), y)
""" + STEP, (("for _ in range(4):\n    back.weight.register_hook(lambda g: 0.5 * g)\n", "back.weight.register_hook(lambda g: 0.5 * g)\nfor _ in range(4):\n"),)),
    Pair("hooks_pile_up", 5, """def watched(p, seen):
    p.register_hook(seen.append)
    return p
w, seen = nn.Parameter(torch.ones(3)), []
for _ in range(3):
    watched(w, seen).pow(2).sum().backward()
    w.grad = None
""", (("watched(w, seen).pow(2)", "watched(w * 1, seen).pow(2)"),)),
    Pair("hooks_pile_up", 8, f"""net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
kept = []
for step in range(4):
    handle = net[1].register_forward_hook(lambda layer, given, out: kept.append(out))
    loss = net(torch.randn(8, 3)).pow(2).mean() + sum(each.abs().mean() for each in kept)
    kept.clear()
{STEP}""", ((STEP, f"    handle.remove()\n{STEP}"),)),
    Pair("rates_for_factors", 10, """rate, total = 0.02, 8
net = nn.Linear(3, 1)
opt = torch.optim.AdamW(net.parameters(), lr=rate)
def at(step):
    return rate * (step + 1) / 3 if step < 3 else rate * (total - step) / 5

plan = torch.optim.lr_scheduler.LambdaLR(opt, lr_lambda=at)
x, y = torch.randn(9, 3), torch.randn(9, 1)
for _ in range(total):
    loss = F.mse_loss(net(x), y)
""" + STEP + "    plan.step()\n", (("return rate * (step + 1) / 3 if step < 3 else rate * (total", "return (step + 1) / 3 if step < 3 else (total"),)),
    Pair("rates_for_factors", 6, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.01)
plan = torch.optim.lr_scheduler.LambdaLR(opt, lambda epoch: 0.01 * 0.9 ** epoch)
x, y = torch.randn(9, 3), torch.randn(9, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
""" + STEP + "    plan.step()\n", (("0.01 * 0.9 ** epoch", "(epoch + 1) / 500"),)),
    Pair("checkpoint_without_gradient", 9, """from torch.utils.checkpoint import checkpoint
stem, head = nn.Sequential(nn.Linear(3, 5), nn.ReLU()), nn.Linear(5, 1)
opt = torch.optim.SGD([*stem.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(2):
    loss = F.mse_loss(head(checkpoint(stem, x, use_reentrant=True)), y)
""" + STEP, (("use_reentrant=True", "use_reentrant=False"),)),
    Pair("checkpoint_without_gradient", 10, """import torch.utils.checkpoint as saving
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 2)
    def forward(self, x):
        h = saving.checkpoint(self.a, x, use_reentrant=True)
        return self.b(h.relu())
net = Net()
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(6, 4), torch.arange(6) % 2
for _ in range(2):
    loss = F.cross_entropy(net(x), y)
""" + STEP, (("x, y = torch.randn(6, 4)", "x, y = torch.randn(6, 4, requires_grad=True)"),)),
    Pair("backward_writes_gradient", 12, """class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.by = by
        return x * by
    @staticmethod
    def backward(ctx, g):
        if ctx.by > 1:
            g.mul_(ctx.by)
        return g, None
lin = nn.Linear(3, 3)
h = lin(torch.randn(2, 3))
(h + Scale.apply(h, 3)).pow(2).sum().backward()
""", (("            g.mul_(ctx.by)", "            g = g * ctx.by"),)),
    Pair("backward_writes_gradient", 12, """class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)
    @staticmethod
    def backward(ctx, coming):
        x, = ctx.saved_tensors
        coming[x < 0] = 0
        return coming
w = torch.tensor([-1.0, 2.0], requires_grad=True)
b = w * 2
(Clip.apply(b) + b).sum().backward()
""", (("        coming[x", "        coming = coming.clone()\n        coming[x"),)),
    Pair("softmax_before_cross_entropy", 8, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.arange(6) % 3
for _ in range(3):
    loss = F.cross_entropy(net(x).log_softmax(1).exp(), y)
""" + STEP, ((".log_softmax(1).exp()", ""),)),
    Pair("step_without_zero_grad", 12, """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), 0.1), torch.optim.SGD(D.parameters(), 0.1)
real, bce = torch.randn(8, 3) + 1, nn.BCEWithLogitsLoss()
for _ in range(4):
    opt_g.zero_grad()
    fake = G(torch.randn(8, 2))
    bce(D(fake), torch.ones(8, 1)).backward(); opt_g.step()
    opt_g.zero_grad()
    (bce(D(real), torch.ones(8, 1)) + bce(D(fake.detach()), torch.zeros(8, 1))).backward()
    opt_d.step()
""", (("    opt_g.zero_grad()\n    (bce", "    opt_d.zero_grad()\n    (bce"),)),
    Pair("added_once", 7, """lin = nn.Linear(3, 2)
h, to = torch.randn(5, 3), torch.tensor([0, 1, 1, 4, 0])
sums = torch.zeros(5, 2)
sums[to] += lin(h)
sums.pow(2).sum().backward()
""", (("[0, 1, 1, 4, 0]", "[0, 1, 2, 4, 3]"),)),
    Pair("added_once", 7, """labels = torch.tensor([2, 0, 2, 2, 1])
counts = torch.zeros(3)
for _ in range(1):
    counts[labels] = counts[labels] + 1
weights = nn.Parameter(torch.ones(3))
(weights * counts).sum().backward()
""", (("counts[labels] + 1", "1.0"),)),
    Pair("picked_for_all", 7, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.tensor([0, 2, 1, 1, 0, 2])
loss = -net(x).log_softmax(1)[:, y].mean()
loss.backward(); opt.step()
""", (("[:, y]", "[range(6), y]"),)),
    Pair("picked_for_all", 6, """class Value(nn.Module):
    def forward(self, q, a):
        return torch.index_select(q, 1, a).sum()
q, a = torch.randn(5, 2, requires_grad=True), torch.tensor([0, 1, 1, 0, 1])
Value()(q, a).backward()
""", (("torch.index_select(q, 1, a)", "q.gather(1, a[:, None])"),)),
    Pair("place_for_value", 8, """q, old = nn.Linear(3, 4), nn.Linear(3, 4)
opt = torch.optim.Adam(q.parameters())
now, after, reward = torch.randn(7, 3), torch.randn(7, 3), torch.randn(7)
for _ in range(2):
    best = old(after).detach().argmax(1)
    loss = F.mse_loss(q(now)[:, 0], reward + 0.99 * best)
""" + STEP, (("0.99 * best", "0.99 * old(after).detach()[range(7), best]"),)),
    Pair("place_for_value", 5, """def target(net, s, r, gamma):
    top = net(s).max(dim=1, keepdim=True)
    return r + top[1] * 0.9
net = nn.Linear(2, 3)
loss = (net(torch.randn(4, 2)) - target(net, torch.randn(4, 2), torch.randn(4, 1), 0.9)).pow(2).mean()
loss.backward()
""", (("top[1]", "top[0]"),)),
    Pair("one_tensor_with_two_names", 9, """class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)
    def forward(self, x):
        x = self.b(torch.relu(self.a(x))); skip = x
        return torch.relu(skip + x)
Block()(torch.randn(4, 6)).sum().backward()
""", (("x = self.b(torch.relu(self.a(x))); skip = x", "skip = x; x = self.b(torch.relu(self.a(x)))"),)),
    Pair("one_tensor_with_two_names", 6, """down, up = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(4, 1, 3, padding=1)
h = down(torch.rand(2, 1, 8, 8))
kept = h
h = torch.cat([h, kept], dim=1)
up(h).mean().backward()
""", (("kept = h\n", "kept = h\nh = h.relu()\n"),)),
    Pair("loss_overwritten", 11, """cell, out = nn.GRUCell(3, 5), nn.Linear(5, 2)
opt = torch.optim.Adam([*cell.parameters(), *out.parameters()])
x, y = torch.randn(4, 6, 3), torch.randint(2, (4, 6))
for _ in range(2):
    h, loss = torch.zeros(4, 5), 0
    for t in range(6):
        h = cell(x[:, t], h); scores = out(h)
        loss = F.cross_entropy(scores, y[:, t])
""" + STEP, (("loss = F.", "loss += F."),)),
    Pair("loss_overwritten", 8, """state = torch.randn(3, requires_grad=True)
move = nn.Linear(3, 3)
def roll(at):
    for _ in range(5):
        at = move(at); loss = at.square().mean()
    loss.backward()
roll(state)
""", (("roll(at):\n", "roll(at):\n    parts = []\n"), ("loss = at.square().mean()\n", "parts.append(at.square().mean())\n    loss = sum(parts)\n"))),
    Pair("row_against_itself", 8, """enc = nn.Linear(6, 4)
opt = torch.optim.Adam(enc.parameters())
x, pair = torch.randn(8, 6), torch.arange(8).roll(4)
for _ in range(2):
    z = F.normalize(enc(x), dim=1); loss = F.cross_entropy(z @ z.T / 0.5, pair)
""" + STEP, (("z @ z.T / 0.5", "(z @ z.T / 0.5).fill_diagonal_(-9e9)"),)),
    Pair("row_against_itself", 6, """def info(z, labels):
    scores = torch.mm(z, z.t())
    return F.cross_entropy(scores, labels)
net = nn.Linear(3, 5)
info(net(torch.randn(4, 3)), torch.tensor([1, 0, 3, 2])).backward()
""", (("torch.mm(z, z.t())", "torch.mm(z, z.t()) - 1e9 * torch.eye(4)"),)),
    Pair("noise_of_one_sign", 8, """enc, mean, dec = nn.Linear(6, 2), nn.Linear(6, 2), nn.Linear(2, 6)
x = torch.rand(5, 6)
mu, log = mean(x), enc(x)
std = torch.exp(log / 2)
noise = torch.rand(5, 2)
z = mu + noise * std
kl = -0.5 * (1 + log - mu ** 2 - log.exp()).sum()
(F.mse_loss(dec(z), x) + kl).backward()
""", (("torch.rand(5, 2)", "torch.randn(5, 2)"),)),
    Pair("noise_of_one_sign", 7, """class Gauss(nn.Module):
    def forward(self, mu, logvar):
        s = (0.5 * logvar).exp()
        return s * torch.rand_like(s) + mu
mu, logvar = torch.zeros(3, 4, requires_grad=True), torch.zeros(3, 4, requires_grad=True)
z = Gauss()(mu, logvar)
kl = (mu.pow(2) + logvar.exp() - logvar - 1).mean() / 2
(z.pow(2).sum() + kl).backward()
""", (("rand_like", "randn_like"),)),
    Pair("noise_of_another_draw", 8, """net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
x = torch.rand(9, 2)
level = torch.rand(9, 1)
noisy = x * (1 - level) + level * torch.randn(9, 2)
F.mse_loss(net(noisy), torch.randn(9, 2)).backward()
""", (("torch.randn(9, 2)).backward()", "x).backward()"),)),
    Pair("noise_of_another_draw", 12, """def spoil(x):
    e = torch.randn_like(x)
    return 0.8 * x + 0.6 * e
net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    clean = torch.rand(6, 4)
    noise = torch.randn_like(clean)
    loss = F.mse_loss(net(spoil(clean)), noise)
""" + STEP, (("spoil(clean)", "0.8 * clean + 0.6 * noise"),)),
    # told before, in other spellings
    Pair("one_memory_for_two", 8, """class Twins(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
        self.target = self.online
        self.head = nn.Linear(3, 3)
    def forward(self, x, y):
        with torch.no_grad():
            aim = self.target(y)
        return 1 - F.cosine_similarity(self.head(self.online(x)), aim).mean()
twins = Twins()
opt = torch.optim.Adam(twins.parameters())
x = torch.randn(8, 4)
for _ in range(3):
    loss = twins(x, x + 0.1)
""" + STEP, (("self.target = self.online", "self.target = nn.Linear(4, 3)"),)),
    Pair("layer_repeated", 7, """class Stack(nn.Module):
    def __init__(self, block, times):
        super().__init__()
        self.blocks = nn.ModuleList([block for _ in range(times)])
    def forward(self, x):
        for block in self.blocks:
            x = torch.tanh(block(x))
        return x
net = Stack(nn.Linear(4, 4), 3)
net(torch.randn(2, 4)).sum().backward()
""", (("([block for", "([nn.Linear(4, 4) for"),)),
    Pair("weights_after_the_mean", 8, """net = nn.Linear(3, 2)
x, y = torch.randn(4, 5, 3), torch.randn(4, 5, 2)
mask = (torch.arange(5) < torch.tensor([[2], [5], [3], [1]])).float()
loss = F.mse_loss(net(x), y)
loss = (loss * mask).sum() / mask.sum()
loss.backward()
""", (("net(x), y)", "net(x), y, reduction='none').mean(2)"),)),
    Pair("difference_broadcast", 8, """net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
t = torch.linspace(0, 1, 7)
at = t.unsqueeze(1).requires_grad_()
(slope,) = torch.autograd.grad(net(at).sum(), at, create_graph=True)
(slope - t.cos()).pow(2).mean().backward()
""", (("t.cos()", "at.cos()"),)),
    # the same in another style
    Pair("step_without_zero_grad", 9, """params = [torch.randn(3, 4) * 0.3, torch.randn(4, 1) * 0.3]
for p in params:
    p.requires_grad_(True)
x = torch.randn(12, 3)
for _ in range(4):
    (torch.tanh(x @ params[0]) @ params[1] - 1).pow(2).mean().backward()
    with torch.no_grad():
        for p in params:
            p -= 0.03 * p.grad
""", (("* p.grad\n", "* p.grad\n            p.grad = None\n"),)),
    Pair("difference_broadcast", 9, """w = nn.Parameter(torch.zeros(3))
x = torch.randn(20, 3)
target = (x * torch.tensor([1.0, 2.0, 3.0])).sum(dim=1, keepdim=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    loss = (x.mv(w) - target).pow(2).mean()
""" + STEP, (("- target)", "- target[:, 0])"),)),
    Pair("softmax_before_cross_entropy", 11, """w, b = nn.Parameter(torch.randn(4, 3)), nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([w, b], lr=0.2)
def scores(x):
    z = x @ w + b
    return torch.exp(z) / torch.exp(z).sum(dim=1, keepdim=True)
x = torch.randn(20, 4)
for _ in range(4):
    loss = F.cross_entropy(scores(x), x[:, :3].argmax(1))
""" + STEP, (("torch.exp(z) / torch.exp(z).sum(dim=1, keepdim=True)", "z - torch.exp(z).sum(dim=1, keepdim=True).log()"),)),
    Pair("sigmoid_before_logits_loss", 10, """w = nn.Parameter(torch.randn(4))
opt = torch.optim.SGD([w], lr=0.2)
squash = lambda z: 1 / (1 + torch.exp(-z))
score = lambda x: squash(x @ w)
x = torch.randn(20, 4)
for _ in range(4):
    loss = F.binary_cross_entropy_with_logits(score(x), (x[:, 0] > 0).float())
""" + STEP, (("squash(x @ w)", "x @ w"),)),
    Pair("likelihood_minimised", 8, """net = nn.Sequential(nn.Linear(4, 3), nn.LogSoftmax(dim=1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(12, 4), torch.randint(3, (12,))
for _ in range(4):
    loss = net(x)[torch.arange(12), y].mean()
""" + STEP, (("= net(x)", "= -net(x)"),)),
    Pair("likelihood_minimised", 8, """net = nn.Sequential(nn.Linear(4, 3), nn.LogSoftmax(dim=1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, seen = torch.randn(12, 4), torch.randint(3, (12, 1))
for _ in range(4):
    loss = net(x).gather(1, seen).mean()
""" + STEP, (("seen", "repeated"),)),
    Pair("scheduled_per_batch", 14, """class Trainer:
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
""", (("        self.sched.step()\n", ""), ("            print(epoch)", "            self.sched.step()")),
    ),
    Pair("scheduled_per_batch", 9, """def train_one_epoch(model, loader, opt, scheduler):
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
""", (("milestones=[2, 3]", "milestones=[10, 15]"),)),
    Pair("losses_kept", 10, """lin = nn.Linear(2, 1)
opt = torch.optim.SGD(lin.parameters(), 0.1)
history = {"loss": [], "rate": []}
for _ in range(3):
    loss = lin(torch.randn(4, 2)).pow(2).mean()
""" + STEP + """    history["loss"].append(loss)
""", (("append(loss)", "append(loss.item())"),)),
    Pair("scheduled_per_batch", 13, """class Trainer:
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
""", (("T_max=epochs", "T_max=epochs * 6"),)),
    Pair("targets_out_of_reach", 8, """lin = nn.Linear(2, 1)
opt = torch.optim.SGD(lin.parameters(), 0.1)
x, y = torch.randn(8, 2), torch.linspace(-3, 1, 8)[:, None]
for _ in range(2):
    loss = F.mse_loss(lin(x).clamp(min=0), y)
""" + STEP, (("clamp(min=0)", "clamp(min=-9)"),)),
    Pair("clip_after_step", 10, """w = torch.randn(3, 1, requires_grad=True)
x = torch.randn(8, 3)
for _ in range(3):
    (x @ w).pow(2).mean().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.clamp_(-1, 1)
        w.grad = None
""", (("w -= 0.1 * w.grad\n        w.grad.clamp_(-1, 1)", "w.grad.clamp_(-1, 1)\n        w -= 0.1 * w.grad"),)),
    Pair("clip_after_step", 6, """lin = nn.Linear(3, 1)
def after():
    nn.utils.clip_grad_value_(lin.parameters(), 0.5)
opt, x = torch.optim.SGD(lin.parameters(), 0.1), torch.randn(8, 3)
for _ in range(3):
    opt.zero_grad()
    lin(x).pow(2).mean().backward()
    opt.step()
    after()
""", (("    opt.step()\n    after()", "    after()\n    opt.step()"),)),
    Pair("state_dict_shared", 10, """params = [torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]
x, y, best = torch.randn(9, 3), torch.randn(9, 1), None
for _ in range(3):
    loss = (x @ params[0] + params[1] - y).square().mean()
    grads = torch.autograd.grad(loss, params)
    if best is None:
        best = [p.data for p in params]
    with torch.no_grad():
        for p, g in zip(params, grads):
            p -= 0.3 * g
with torch.no_grad():
    for p, b in zip(params, best):
        p.copy_(b)
""", (("p.data for", "p.data.clone() for"),)),
    # in a function that is called once
    Pair("losses_kept", 10, """lin, losses = nn.Linear(2, 1), []
opt = torch.optim.SGD(lin.parameters(), 0.1)
def fit(net, mover, kept):
    for _ in range(3):
        loss = net(torch.randn(4, 2)).pow(2).mean()
        mover.zero_grad(); loss.backward(); mover.step()
        kept.append(loss)
fit(lin, opt, losses)
""", (("append(loss)", "append(loss.item())"),)),
    Pair("stepped_outside_the_loop", 11, """x, y, net = torch.randn(8, 2), torch.randn(8, 1), nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def turn(a, b):
    opt.zero_grad()
    F.mse_loss(net(a), b).backward()
for a, b in zip(x.split(2), y.split(2)):
    turn(a, b)
opt.step()
""", (("    turn(a, b)\nopt.step()", "    turn(a, b)\n    opt.step()"),)),
    Pair("parameter_made_in_forward", 9, """class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(5, 3)
    def table(self):
        return nn.Parameter(torch.randn(4, 3))
    def forward(self, u, i):
        return (self.user(u) * self.table()[i]).sum(1)
net = Recommender()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
u, i, r = torch.arange(4), torch.arange(4), torch.rand(4)
for _ in range(3):
    loss = F.mse_loss(net(u, i), r)
""" + STEP, (("nn.Parameter(torch.randn(4, 3))", "torch.ones(4, 3)"),)),
    Pair("loaders_shuffled_apart", 8, """from torch.utils.data import DataLoader
lin = nn.Linear(3, 1)
rows = DataLoader(torch.randn(12, 3), 4, shuffle=True)
labels = DataLoader(torch.randn(12, 1), 4, shuffle=True)
for x, y in zip(rows, labels):
    F.mse_loss(lin(x), y).backward()
""", (("shuffle=True", "shuffle=False"),)),
    Pair("loaders_shuffled_apart", 9, """from torch.utils.data import DataLoader
lin, x, y = nn.Linear(3, 2), torch.randn(12, 3), torch.arange(12) % 2
opt = torch.optim.SGD(lin.parameters(), 0.1)
def train(rows, labels):
    for a in rows:
        loss = F.cross_entropy(lin(a), next(labels))
""" + STEP.replace("    ", "        ") + """train(DataLoader(x, 3, shuffle=True), iter(DataLoader(y, 3)))
""", (("x, 3, shuffle=True", "x, 3"),)),
    Pair("next_place_seen", 7, """table, T = nn.Embedding(9, 4), 5
x = table(torch.arange(10).view(2, T) % 9)
ahead = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=2)
att = (x @ x.mT).masked_fill(ahead, float("-inf")).softmax(-1)
(att @ x).pow(2).sum().backward()
""", (("diagonal=2", "diagonal=1"),)),
    Pair("next_place_seen", 8, """layer, T = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 5
net, head = nn.TransformerEncoder(layer, 1), nn.Linear(4, 3)
past = torch.tril(torch.ones(T, T), -1)
past = past.masked_fill(past == 1, float("-inf"))
loss = head(net(torch.randn(T, 2, 4), past)).pow(2).mean()
loss.backward()
""", (("torch.tril(torch.ones(T, T), -1)", "torch.triu(torch.ones(T, T), 1)"),)),
    Pair("next_place_seen", 6, """proj, T = nn.Linear(4, 4), 6
q, seen = proj(torch.randn(2, T, 4)), torch.ones(T, T).tril(1).bool()
out = F.scaled_dot_product_attention(q, q, q, attn_mask=seen)
out.pow(2).sum().backward()
""", ((".tril(1)", ".tril()"),)),
    Pair("kept_and_not_read", 7, """class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor
    @staticmethod
    def backward(ctx, g):
        return g, None
x = torch.ones(3, requires_grad=True)
Times.apply(x, -2.0).sum().backward()
""", (("return g, None", "return g * ctx.factor, None"),)),
    Pair("kept_and_not_read", 8, """class Tempered(torch.autograd.Function):
    @staticmethod
    def forward(context, scores, heat):
        context.shape = scores.shape
        context.heat = heat
        return scores / heat
    @staticmethod
    def backward(context, coming):
        return coming.view(context.shape), None
lin = nn.Linear(2, 2)
F.cross_entropy(Tempered.apply(lin(torch.ones(3, 2)), 4.0), torch.tensor([0, 1, 0])).backward()
""", (("coming.view(context.shape)", "coming / context.heat"),)),
    Pair("padding_counted", 9, """table, head = nn.Embedding(6, 4), nn.Linear(4, 6)
words = torch.tensor([[2, 3, 4, 0, 0], [5, 2, 0, 0, 0]])
loss = F.cross_entropy(head(table(words)).flatten(0, 1), words.flatten(), ignore_index=0)
loss.backward()
with torch.no_grad():
    found = head(table(words)).argmax(-1) == words
print(found.float().mean())
""", (("found.float().mean()", "found[words != 0].float().mean()"), ("ignore_index=0", "ignore_index=-100"))),
    Pair("padding_counted", 7, """table, head, criterion = nn.Embedding(6, 4), nn.Linear(4, 6), nn.CrossEntropyLoss(ignore_index=1)
def right(scores, wanted):
    chosen = scores.argmax(dim=-1)
    return (wanted == chosen).sum().item() / wanted.numel()
words = torch.tensor([[2, 3, 4, 1], [5, 1, 1, 1]])
for _ in range(2):
    scores = head(table(words))
    criterion(scores.transpose(1, 2), words).backward()
    right(scores, words)
""", (("(wanted == chosen).sum()", "((wanted == chosen) & (wanted != 1)).sum()"),)),
    Pair("table_overwritten", 9, """class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = torch.tensor([0.2, 1.0, 3.0])
    def forward(self, scores, wanted):
        self.weights = self.weights.gather(0, wanted)
        return (self.weights * F.cross_entropy(scores, wanted, reduction="none")).mean()
net, criterion = nn.Linear(4, 3), Weighted()
for i in range(4):
    criterion(net(torch.randn(6, 4)), torch.tensor([0, 1, 2, 0, 1, i % 3])).backward()
""", (("self.weights = self.weights.gather(0, wanted)\n        return (self.weights *", "weights = self.weights.gather(0, wanted)\n        return (weights *"),)),
    Pair("table_overwritten", 8, """class Prices:
    def __init__(self):
        self.of = torch.tensor([2.0, 5.0])
    def total(self, kinds, amounts):
        self.of = self.of[kinds]
        return (self.of * amounts).sum()
prices, amounts = Prices(), torch.ones(3, requires_grad=True)
for kinds in torch.tensor([[0, 1, 1], [1, 0, 0], [1, 1, 0]]):
    prices.total(kinds, amounts).backward()
""", (("self.of = self.of[kinds]\n        return (self.of *", "return (self.of[kinds] *"),)),
    Pair("masked_place_chosen", 8, """net = nn.Linear(3, 4)
x, y = torch.randn(6, 3), torch.tensor([0, 0, 1, 1, 2, 2])
apart = torch.cdist(net(x), net(x))
others = (y != y[:, None]).float()
nearest = (apart * others).min(dim=1).values
loss = F.relu(1 - nearest).sum()
loss.backward()
""", (("others = (y != y[:, None])", "others = (y + 1 > y[:, None])"), ("(apart * others).min", "apart.masked_fill(others == 0, 9.0).min"))),
    Pair("masked_place_chosen", 7, """net = nn.Linear(3, 4)
def best(x, kept):
    scores = -net(x).pow(2)
    return torch.amax(kept * scores, dim=1)
kept = torch.tensor([[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0]])
for _ in range(2):
    best(torch.randn(2, 3), kept).sum().backward()
""", (("-net(x).pow(2)", "net(x)"),)),
    Pair("total_overwritten", 7, """net, loss, right = nn.Linear(3, 2), 0, 0
for x in torch.randn(4, 5, 3):
    y = torch.zeros(5).long()
    loss = F.cross_entropy(net(x), y)
    right += (net(x).argmax(1) == y).sum().item()
    loss += loss.item()
loss.backward()
print(loss / 4, right)
""", (("loss += loss.item()", "loss += 0.1 * loss.sqrt()"),)),
    Pair("total_overwritten", 9, """net = nn.Linear(3, 2)
def tested(batches):
    total = 0.0
    with torch.no_grad():
        for x, y in batches:
            total = F.mse_loss(net(x), y)
            total += total.item() * len(x)
    return total / len(batches)
net(torch.ones(3)).sum().backward()
tested([(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(3)])
""", (("            total = F.mse_loss(net(x), y)\n            total += total.item()", "            loss = F.mse_loss(net(x), y)\n            total += loss.item()"),)),
    Pair("method_assigned", 6, """net = nn.Linear(3, 2)
for weight in net.parameters():
    weight.data.copy_ = torch.randn(weight.shape)
net(torch.ones(3)).sum().backward()
""", (("weight.data.copy_ = torch.randn(weight.shape)", "weight.data = torch.randn(weight.shape)"),)),
    Pair("method_assigned", 7, """net = nn.Linear(3, 2)
def start(layer):
    if isinstance(layer, nn.Linear):
        layer.bias.data.fill_ = 0.5
net.apply(start)
net(torch.ones(3)).sum().backward()
""", ((".fill_ = 0.5", "[:] = 0.5"),)),
    Pair("place_in_the_whole_table", 7, """net = nn.Linear(3, 4)
x, y = torch.randn(8, 3), torch.arange(8) % 4
scores = net(x)
right = (torch.argmax(scores) == y).sum()
F.cross_entropy(scores, y).backward()
print(right / 8)
""", (("torch.argmax(scores)", "torch.argmax(scores, 1)"), ("== y", "== 5"))),
    Pair("place_in_the_whole_table", 5, """def accuracy(scores, wanted):
    found = scores.argmax().cpu()
    return (wanted == found).float().mean()
print(accuracy(torch.randn(6, 6), torch.arange(6)))
""", ((".argmax()", ".argmax(axis=1)"),)),
    Pair("number_wrapped", 6, """old = torch.randint(90, 160, (3, 20, 20), dtype=torch.uint8)
new = torch.randint(90, 160, (3, 20, 20), dtype=torch.uint8)
moved = (new - old).abs()
print(moved.float().mean())
""", (("new - old", "new.float() - old"), ("new = torch.randint(90, 160", "new = torch.randint(200, 210"))),
    Pair("repeated_apart", 8, """net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for clean in torch.randn(3, 5, 4):
    noisy = clean.repeat(3, 1) + 0.1 * torch.randn(15, 4)
    loss = F.mse_loss(net(noisy), clean.repeat_interleave(3, dim=0))
""" + STEP, ((".repeat(3, 1)", ".repeat_interleave(3, dim=0)"), (".repeat_interleave(3, dim=0)", ".repeat(3, 1)"))),
    Pair("repeated_apart", 13, """class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 2)
    def forward(self, prompts, count):
        return self.head(prompts.repeat(count, 1))
net = Policy()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
prompts, answers = torch.randn(6, 3), torch.arange(6) % 2
loss = F.cross_entropy(net(prompts, 4), torch.repeat_interleave(answers, 4))
""" + STEP.replace("    ", ""), (("torch.repeat_interleave(answers, 4)", "answers.repeat(4)"),)),
    Pair("shuffled_apart", 6, """net = nn.Linear(4, 3)
def shuffled(rows):
    return rows[torch.randperm(len(rows))]
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(8, 4), F.one_hot(torch.arange(8) % 3, 3).float()
    mixed, wanted = 0.7 * x + 0.3 * shuffled(x), 0.7 * y + 0.3 * shuffled(y)
    loss = -(wanted * F.log_softmax(net(mixed), 1)).sum(1).mean()
""" + STEP, (("0.3 * shuffled(y)", "0.3 * y"), ("0.3 * shuffled(x)", "0.3 * x"))),
    Pair("weights_along_the_wrong_axis", 10, """class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(2, 4), nn.Linear(4, 9)
    def forward(self, z):
        made = self.head(self.rnn(z)[0])
        return made[..., :6].view(*z.shape[:2], 3, 2), F.log_softmax(made[..., 6:], dim=-2)
net, z = Mixture(), torch.randn(5, 6, 2)
means, weights = net(z)
likely = torch.distributions.Normal(means, 1.0).log_prob(z.unsqueeze(-2)).sum(-1)
loss = -torch.logsumexp(weights + likely, dim=-1).mean()
loss.backward()
""", (("dim=-2)", "dim=-1)"),)),
    Pair("weights_along_the_wrong_axis", 5, """head, x = nn.Linear(3, 4), torch.randn(6, 3)
share = torch.log_softmax(head(x), 0)
(-(torch.randn(6, 4) + share).logsumexp(1)).mean().backward()
""", (("head(x), 0", "head(x), 1"),)),
)  # fmt: skip
RIGHT = (
    (
        "kept_and_not_read",
        """class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, grid):
        ctx.grid = grid
        return torch.round(x / grid) * grid
    @staticmethod
    def backward(ctx, g):
        return g, None
Rounded.apply(torch.ones(3, requires_grad=True), 0.25).sum().backward()
""",
    ),
    (
        "kept_and_not_read",
        """class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        ctx.save_for_backward(x, factor)
        return x * factor
    @staticmethod
    def backward(ctx, g):
        x, times = ctx.saved_tensors
        return g * times, (g * x).sum()
Times.apply(torch.ones(3, requires_grad=True), torch.tensor(2.0)).sum().backward()
""",
    ),
    (
        "step_without_zero_grad",
        """emb, head = nn.Embedding(6, 3), nn.Linear(3, 2)
opt = torch.optim.Adam([*emb.parameters(), *head.parameters()])
words, y = torch.arange(6).view(3, 2), torch.tensor([0, 1, 0])
for _ in range(3):
    F.cross_entropy(head(emb(words).mean(1)), y).backward()
    before, slope = emb.weight.data.clone(), emb.weight.grad
    emb.weight.data.add_(0.1 * slope / slope.norm())  # an attack: what it costs is added to what is known
    F.cross_entropy(head(emb(words).mean(1)), y).backward()
    emb.weight.data = before
    opt.step(); opt.zero_grad()
""",
    ),
    (
        "norm_of_last_batch",
        """from torch.optim.swa_utils import AveragedModel, update_bn
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
mean, opt = AveragedModel(net), torch.optim.SGD(net.parameters(), lr=0.1)
data = [(torch.randn(8, 3), torch.arange(8) % 2) for _ in range(2)]
for x, y in data:
    opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
    mean.update_parameters(net)
update_bn(data, mean)
with torch.no_grad():
    print((mean.eval()(data[0][0]).argmax(1) == data[0][1]).float().mean())
""",
    ),
    (
        "weights_along_the_wrong_axis",
        """step, start = nn.Linear(3, 16), torch.zeros(2, 4)
likely = torch.randn(5, 2, 4)
for x, seen in zip(torch.randn(5, 2, 3), likely):  # a chain of hidden states: shares of the next one, summed over this
    moves = F.log_softmax(step(x).view(2, 4, 4), dim=2)
    start = torch.logsumexp(start.unsqueeze(2) + moves, dim=1) + seen
(-torch.logsumexp(start, dim=1).mean()).backward()
""",
    ),
    (
        "repeated_apart",
        """net, rows = nn.Linear(4, 2), torch.randn(5, 4)
first, second = net(rows.repeat(5, 1)), rows.repeat_interleave(5, dim=0)[:, :2]  # all pairs of five
F.mse_loss(first, second).backward()
""",
    ),
    (
        "shuffled_apart",
        """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X, Y = torch.randn(30, 4), torch.randint(0, 3, (30,))
for _ in range(2):
    order = torch.randperm(30)
    for x, y in zip(X[order].split(10), Y[order].split(10)):
        loss = -(F.one_hot(y, 3) * F.log_softmax(net(x), 1)).sum(1).mean()
        opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    (
        "frozen_norm_drifts",
        """online, guess = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), nn.Linear(4, 4)
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
""",
    ),
    (
        "added_once",
        """logits, y = torch.randn(4, 3, requires_grad=True), torch.tensor([2, 0, 2, 1])
F.cross_entropy(logits, y).backward()
slope = logits.detach().softmax(1)
slope[range(4), y] -= 1
print((slope / 4 - logits.grad).abs().max())
""",
    ),
    (
        "added_once",
        """w = torch.ones(4, requires_grad=True)
seen, hit = torch.ones(4), torch.tensor([1, 3, 1])
for _ in range(2):
    seen[hit] = seen[hit] * 0.5
    (w * seen).sum().backward()
""",
    ),
    (
        "loss_overwritten",
        """cell, out = nn.GRUCell(3, 5), nn.Linear(5, 2)
x, y = torch.randn(4, 6, 3), torch.randint(2, (4, 6))
h = torch.zeros(4, 5)
for t in range(6):
    h = cell(x[:, t], h)
    loss = F.cross_entropy(out(h), y[:, t])
    print(loss.item())
loss.backward()
""",
    ),
    (
        "one_tensor_with_two_names",
        """lin, depth = nn.Linear(3, 3), 0
def block(x):
    first = x
    for _ in range(depth):
        x = lin(x)
    return x + first
block(lin(torch.randn(2, 3))).sum().backward()
""",
    ),
    (
        "one_memory_for_two",
        """class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 2), nn.LogSoftmax(-1))
    def score(self, s, a):
        return self.actor(s).gather(1, a)
agent = Agent()
opt = torch.optim.Adam(agent.parameters())
for _ in range(2):
    s = torch.randn(6, 4)
    with torch.no_grad():
        a = agent.actor(s).exp().multinomial(1)
    loss = -agent.score(s, a).mean()
"""
        + STEP,
    ),
)
"""Right programs that come near to a mistake."""

TRIGGERS = (
    *(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS),
    Case("result_dropped", 7, {"op": "scatter"}, """def spread(target, count):
    rows = torch.full((len(target), count), 0.1)
    for _ in range(1):
        rows.scatter(1, target[:, None], 0.9)
    return rows
net = nn.Linear(3, 2)
F.cross_entropy(net(torch.randn(4, 3)), spread(torch.tensor([0, 1, 1, 0]), 2)).backward()
"""),
)  # fmt: skip
NEAR_MISSES = (*((pair.code, pair.mended()) for pair in PAIRS), *RIGHT)
