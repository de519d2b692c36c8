"""Mistakes that numbers show whatever they are written like: other scales, other orders, other counts, no effect."""

from tests.engine.findings.silent import Case
from tests.engine.findings.silent_values import Pair

STEP = "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
CLASSES = (
    """x = torch.rand(60, 4) * 100 + 50
y = (x[:, 0] > x[:, 1]).long()
def scaled(x): return (x - 100) / 30
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters())
for i in range(0, 40, 10):
    loss = F.cross_entropy(net(scaled(x[i:i + 10])), y[i:i + 10])
"""
    + STEP
    + """net.eval()
with torch.no_grad():
    hits = (net(x[40:]).argmax(1) == y[40:]).float().mean()
"""
)
PICTURES = (
    """from torch.utils.data import DataLoader, TensorDataset
images, labels = torch.randint(0, 256, (24, 1, 4, 4)).float(), torch.randint(0, 3, (24,))
train = DataLoader(TensorDataset(images[:16], labels[:16]), batch_size=8)
net = nn.Sequential(nn.Flatten(), nn.Linear(16, 3)); opt = torch.optim.SGD(net.parameters(), lr=1e-4)
for xb, yb in train:
    loss = F.cross_entropy(net(xb), yb)
"""
    + STEP
    + """with torch.no_grad():
    wrong = F.cross_entropy(net(images[16:] / 255), labels[16:]).item()
"""
)
PRICES = (
    """x = torch.randn(50, 2)
price = 3000 * x[:, :1] + 20000 + 100 * torch.randn(50, 1)
y, unseen = (price[:40] - price[:40].mean()) / price[:40].std(), price[40:]
net = nn.Linear(2, 1); opt = torch.optim.Adam(net.parameters(), lr=0.05)
for epoch in range(5):
    loss = F.mse_loss(net(x[:40]), y)
"""
    + STEP
    + """with torch.no_grad():
    pred = net(x[40:])
    error = F.l1_loss(pred, unseen)
"""
)
FAR = (
    """x = torch.randn(50, 2)
y = 3000 * x[:, :1] + 250000
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(24):
    pred = net(x)
    loss = F.mse_loss(pred, y)
"""
    + STEP
)
COUNTED = (
    """from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.randn(48, 3), torch.randint(0, 3, (48,)))
loader = DataLoader(data, batch_size=16, shuffle=True)
net = nn.Linear(3, 3); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    total, hits = 0.0, 0
    for xb, yb in loader:
        out = net(xb)
        loss = F.cross_entropy(out, yb)
"""
    + STEP.replace("    ", "        ")
    + """        total += loss.item()
        hits += (out.argmax(1) == yb).sum().item()
    print(f"{epoch}: {total / len(data):.5f} {hits / len(data):.3f}")
"""
)
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
    + STEP
)
SCHEDULED = (
    """net = nn.Linear(3, 2); opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1)
for i in range(2):
    loss = F.cross_entropy(net(torch.randn(8, 3)), torch.randint(0, 2, (8,)))
"""
    + STEP
)
TAGGER = """class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(12, 8), nn.GRU(8, 16), nn.Linear(16, 5)
    def forward(self, x):
        return self.out(self.rnn(self.emb(x.t()))[0])
net, x, tags = Tagger(), torch.randint(0, 12, (4, 7)), torch.randint(0, 5, (4, 7))
logits = net(x)
loss = F.cross_entropy(logits.view(-1, 5), tags.view(-1))
loss.backward()
"""
FORECAST = """class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.LSTM(3, 8), nn.Linear(8, 1)
    def forward(self, x):
        return self.out(self.rnn(x.permute(1, 0, 2))[0]).flatten()
net, x, y = Forecast(), torch.randn(4, 6, 3), torch.randn(4, 6)
F.mse_loss(net(x), y.flatten()).backward()
"""
CAUSAL = """tok, qkv, out = nn.Embedding(9, 8), nn.Linear(8, 24), nn.Linear(8, 9)
ids, mask = torch.randint(0, 9, (4, 7)), torch.ones(6, 6).tril()
x = tok(ids[:, :-1])
q, k, v = qkv(x).chunk(3, dim=-1)
ATTEND
F.cross_entropy(out(x + seen).flatten(0, 1), ids[:, 1:].flatten()).backward()
"""

FROZEN = """body, head = nn.Linear(2, 3), nn.Linear(3, 1)
x = torch.randn(8, 2)
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.1)
for i in range(4):
    if i == 2: body.requires_grad_(False)
    opt.zero_grad(set_to_none=False)
    head(body(x)).pow(2).mean().backward()
    opt.step()
"""
ENSEMBLE = """nets = [nn.Linear(2, 1)] * 3
for net in nets:
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        net(torch.randn(6, 2)).pow(2).mean().backward()
        opt.step()
"""
DECAYED = (
    FROZEN.replace("Adam(", "SGD(")
    .replace("lr=0.1", "lr=0.1, weight_decay=0.5")
    .replace("    opt.zero_grad(set_to_none=False)\n", "")
    .replace("opt.step()", "opt.step()\n    for p in head.parameters(): p.grad = None")
)
KEPT = (
    """net = nn.Linear(2, 1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
best = float("inf")
for i in range(4):
    loss = F.mse_loss(net(x), y)
"""
    + STEP
    + """    if loss.item() < best:
        kept = {name: value.clone() for name, value in net.state_dict().items()}
"""
)
BEST = """class Stopper:
    def __init__(self):
        self.best_score, self.bad = None, 0
        self.best_acc = 0
    def stop(self, acc):
        if acc > self.best_acc:
            self.bad = 0
        else:
            self.bad += 1
        return self.bad > 2
stopper = Stopper()
for acc in (0.5, 0.6, 0.4, 0.3):
    print(stopper.stop(acc))
print(torch.ones(1))
"""
DECAY = """net = nn.Linear(2, 1)
weight_decay = 0.01
opt = torch.optim.SGD(net.parameters(), 0.1, weight_decay)
net(torch.ones(4, 2)).pow(2).mean().backward()
opt.step()
"""
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
NOISY = (
    """from torch.utils.data import DataLoader, Dataset
class Noisy(Dataset):
    def __init__(self): self.x = torch.arange(24.).view(8, 3) / 24
    def __len__(self): return 8
    def __getitem__(self, i):
        torch.manual_seed(5)
        return self.x[i] + torch.randn(3)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in DataLoader(Noisy(), batch_size=4):
    loss = net(x).pow(2).mean()
"""
    + STEP
)

PAIRS = (
    Pair("inputs_of_another_size", 16, CLASSES, (("net(x[40:])", "net(scaled(x[40:]))"), (".argmax(1) == y[40:]).float()", ".softmax(1))"))),
    Pair("inputs_of_another_size", 14, PICTURES, (("net(images[16:] / 255)", "net(images[16:])"), ("images[16:] / 255", "images[16:] / 4"))),
    Pair("targets_in_other_units", 15, PRICES, (("pred = net(x[40:])", "pred = net(x[40:]) * 3000 + 20000"), ("unseen = (price[:40] - price[:40].mean()) / price[:40].std(), price[40:]", "unseen = price[:40] / 20000, price[40:] / 20000"))),
    Pair("targets_in_other_units", 15, PRICES.replace("F.l1_loss", "F.mse_loss").replace("net(x[40:])", "net(x[40:]).view(-1, 1)"), (("price[40:]\n", "price[40:] / 20000\n"),)),
    Pair("targets_too_far", 10, FAR, (("250000", "250000\ny = (y - y.mean()) / y.std()"), ("range(24)", "range(12)"), ("3000 * x[:, :1] + 250000", "x[:, :1] * 1\ny[::25] *= 900."))),
    Pair("targets_too_far", 10, FAR.replace("50, 2", "2000, 2"), (("3000 * x[:, :1] + 250000", "x[:, :1] * 1\ny[::50] *= 900."),)),
    Pair("targets_too_far", 10, FAR.replace("mse_loss", "smooth_l1_loss"), (("lr=1e-3", "lr=200."),)),
    Pair("means_over_samples", 18, COUNTED, (("total / len(data)", "total / len(loader)"), ("loss.item()", "loss.item() * len(xb)"))),
    Pair("means_over_samples", 18, COUNTED.replace(':.3f}")', ':.3f}\\n")'), (("total / len(data)", "total / len(loader)"),)),
    Pair("means_over_samples", 18, COUNTED.replace("{total / len(data):.5f}", "{total / 48:.4g}"), (("range(3)", "range(1)"),)),
    Pair("counts_over_batches", 18, COUNTED.replace("hits / len(data)", "hits / len(loader)").replace("total / len(data)", "total / len(loader)"), (("hits / len(loader)", "hits / len(data)"),)),
    Pair("counts_over_batches", 18, COUNTED.replace("{total / len(data):.5f} {hits / len(data):.3f}", "{100 * hits / len(loader):.2f}%"), (("100 * hits / len(loader)", "100 * hits / len(data)"),)),
    Pair("counts_over_batches", 18, COUNTED.replace("hits / len(data)", "hits / len(loader)").replace("total / len(data)", "total / len(loader)").replace(").sum().item()", ").float().sum()"), (("hits / len(loader)", "hits / len(data)"),)),
    Pair("batches_weigh_alike", 17, """from torch.utils.data import DataLoader, TensorDataset
net = nn.Linear(3, 1); opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(18, 3); y = x.sum(1, keepdim=True); y[16:] += 9
loader = DataLoader(TensorDataset(x, y), batch_size=8)
for epoch in range(3):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    total = 0.0
    for rows, wanted in loader:
        with torch.no_grad():
            loss = F.mse_loss(net(rows), wanted)
            total += loss.item()

    print(f"{epoch}: {total / len(loader):.4f}")
""", (("batch_size=8", "batch_size=6"),)),
    Pair("divided_by_all_stored", 15, """from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset
rows = TensorDataset(torch.randn(40, 3), torch.randn(40, 1))
held_out = DataLoader(rows, batch_size=4, sampler=SubsetRandomSampler(range(28, 40)))
net = nn.Linear(3, 1)
def loss_of(loader):
    total = 0
    with torch.no_grad():
        for x, y in loader:
            total += F.mse_loss(net(x), y).item() * len(x)
    return total / len(loader.dataset)
for epoch in range(3):
    print("held out", loss_of(held_out))
net(torch.ones(3)).sum().backward()
""", (("len(loader.dataset)", "len(loader.sampler)"),)),
    Pair("batches_weigh_alike", 16, """net = nn.Linear(2, 2)
x, y = torch.randn(10, 2), torch.zeros(10).long()
x[8:] *= 20
def tested():
    total, batches = 0.0, x.split(4)
    with torch.no_grad():
        for rows, wanted in zip(batches, y.split(4)):
            total += F.cross_entropy(net(rows), wanted).item()
    return total / len(batches)
for epoch in range(2):
    net.zero_grad()
    F.cross_entropy(net(x), y).backward()
    print(f"{epoch} {tested():.5f}")
""", (("x[8:] *= 20", "x[8:] = x[:2]\nx[4:8] = x[:4]\nx[2:4] = x[:2]"),)),
    Pair("blank_among_targets", 8, """net = nn.Linear(4, 6); opt = torch.optim.SGD(net.parameters(), lr=0.1)
ctc = nn.CTCLoss(blank=0)
texts, lengths = torch.tensor([[1, 0, 2], [3, 4, 0]]), torch.tensor([3, 2])
for x in torch.randn(3, 7, 2, 4):
    loss = ctc(net(x).log_softmax(-1), texts, torch.tensor([7, 7]), lengths)
    opt.zero_grad(); loss.backward(); opt.step()
""", (("[1, 0, 2]", "[1, 5, 2]"),)),
    Pair("blank_among_targets", 6, """net = nn.Linear(4, 5)
texts = torch.tensor([0, 1, 2, 4])
loss = F.ctc_loss(net(torch.randn(7, 2, 4)).log_softmax(-1), texts, (7, 7), (2, 2), blank=4)
loss.backward()
""", (("2, 4]", "2, 3]"),)),
    Pair("infinity_chosen", 9, """net = nn.Linear(3, 4); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(3, 6, 3):
    h = net(x)
    distances = torch.cdist(h, h)
    farthest = distances.max(1).values
    nearest = distances.masked_fill(torch.eye(6).bool(), float("inf")).max(dim=1)[0]
    loss = F.relu(farthest - nearest + 1).mean() + 0.1 * h.pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", ((").max(dim=1)[0]", ").min(dim=1)[0]"),)),
    Pair("infinity_chosen", 8, """net = nn.Linear(3, 5)
scores = net(torch.randn(4, 3))
seen = torch.tensor([True, False, True, True, False])
filled = torch.where(seen, scores, float("-inf"))
best = filled.amin(-1)
loss = torch.sigmoid(best).mean() + scores.pow(2).mean()
loss.backward()
""", ((".amin(-1)", ".amax(-1)"),)),
    Pair("average_pushed_away", 11, """net, slow = nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(5, 6, 3):
    opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    with torch.no_grad():
        for own, trained in zip(slow.parameters(), net.parameters()):
            gap = own - trained
            own.add_(gap * 0.05)
""", (("add_", "sub_"),)),
    Pair("average_pushed_away", 9, """import copy
net = nn.Linear(3, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
slow = copy.deepcopy(net).requires_grad_(False)
for x in torch.randn(5, 6, 3):
    opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    slow.weight -= 0.1 * (net.weight.detach() - slow.weight)
""", (("-= 0.1", "+= 0.1"),)),
    Pair("nan_left_out_late", 8, """net = nn.Linear(3, 2); opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 3), torch.randn(6, 2)
y[1, 0] = y[4, 1] = float("nan")
for _ in range(3):
    loss = F.mse_loss(net(x), y, reduction="none")[~y.isnan()].mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (("F.mse_loss(net(x), y, reduction=\"none\")[~y.isnan()].mean()", "F.mse_loss(net(x)[~y.isnan()], y[~y.isnan()])"),)),
    Pair("nan_left_out_late", 8, """w = torch.tensor([0.5, 1.5], requires_grad=True)
seen = torch.tensor([[1.0, 2.0], [float("nan"), 3.0]])
errors = ((seen * w).sum(1) - 1).square()
known = torch.tensor([True, False])
loss = torch.where(known, errors, torch.zeros(2)).sum()
loss.backward()
""", (("(seen * w)", "(torch.nan_to_num(seen) * w)"),)),
    Pair("leaf_made_non_leaf", 4, """w = torch.randn(6, requires_grad=True).view(3, 2)
b = torch.zeros(2, requires_grad=True)
for x in torch.randn(3, 5, 3):
    (x @ w + b).pow(2).mean().backward()
    with torch.no_grad():
        for p in [w, b]:
            if p.grad is not None:
                p -= 0.1 * p.grad
                p.grad = None
""", (("torch.randn(6, requires_grad=True).view(3, 2)", "torch.randn(3, 2, requires_grad=True)"),)),
    Pair("hook_output_lost", 6, """net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
def silence(module, inputs, output):
    output = output * torch.tensor([0.0, 1, 1, 1])
handle = net[1].register_forward_hook(silence)
print(net(torch.ones(2, 3)).sum())
""", (("    output = output", "    return output"),)),
    Pair("hook_output_lost", 8, """net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
def without(units):
    def hook(layer, given, out):
        mask = torch.ones_like(out)
        out = out.index_fill(1, units, 0)
    return hook
net[0].register_forward_hook(without(torch.tensor([1])))
net(torch.ones(2, 3)).sum().backward()
""", (("        out = out.index_fill", "        return out.index_fill"),)),
    Pair("hook_output_lost", 6, """w = torch.full((3,), 5.0, requires_grad=True)
def limit(grad, most=1.0):
    grad = torch.clamp(grad, -most, most)
w.register_hook(limit)
for _ in range(3):
    (w * w).sum().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad; w.grad = None
""", (("    grad = torch.clamp", "    return torch.clamp"), ("    grad = torch.clamp(grad, -most, most)", "    grad = grad.norm()\n    print(grad)"), ("w.register_hook(limit)", "print(limit(w))"))),
    Pair("hook_output_lost", 7, """net = nn.Linear(3, 1)
def limit(grad):
    most = 0.01
    grad.clamp(-most, most)
for _ in range(3):
    out = net(torch.ones(2, 3))
    out.register_hook(limit)
    out.pow(2).sum().backward()
""", (("    grad.clamp", "    return grad.clamp"), ("    grad.clamp(", "    grad.clamp_("), ("    grad.clamp(-most, most)", "    print(grad.norm())"))),
    Pair("hook_output_lost", 9, """net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
class Scale:
    def __init__(self, by): self.by = by
    def hook(self, layer, inputs, outputs):
        if inputs[0] is not None:
            inputs = (inputs[0] * self.by,)
net[1].register_full_backward_hook(Scale(0.5).hook)
net(torch.ones(2, 3)).sum().backward()
""", (("            inputs = ", "            return "),)),
    Pair("argument_without_slope", 6, """from torch.func import functional_call, grad
net, x = nn.Linear(3, 1), torch.randn(5, 3)
def loss_of(weights, rows):
    return net(rows).pow(2).mean()
weights = dict(net.named_parameters())
print(grad(loss_of)(weights, x)["bias"])
""", (("net(rows)", "functional_call(net, weights, (rows,))"),)),
    Pair("argument_without_slope", 5, """w = torch.randn(3)
def error(weight, rows):
    return (rows @ w).pow(2).mean()
slope, value = torch.func.grad_and_value(error)(w, torch.randn(4, 3))
""", (("rows @ w)", "rows @ weight)"),)),
    Pair("scheduler_of_another_optimizer", 10, """net = nn.Linear(3, 1)
def make():
    return torch.optim.SGD(net.parameters(), lr=0.1)
opt = make()
plan = torch.optim.lr_scheduler.StepLR(opt, 2)
for epoch in range(3):
    opt = make()
    for x in torch.randn(2, 4, 3):
        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    plan.step()
""", (("    opt = make()\n", ""),)),
    Pair("window_holds_target", 8, """series = torch.sin(torch.arange(40.0))
def split(series, n):
    rows, targets = [], []
    for i in range(len(series) - n):
        rows.append(series[i : i + n]); targets.append(series[i + n - 1])
    return torch.stack(rows), torch.stack(targets)
x, y = split(series, 4)
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = F.mse_loss(net(x).squeeze(1), y)
    opt.zero_grad(); loss.backward(); opt.step()
""", (("series[i + n - 1]", "series[i + n]"),)),
    Pair("window_holds_target", 11, """from torch.utils.data import DataLoader, Dataset
class Windows(Dataset):
    def __init__(self, prices, n):
        self.prices, self.n = prices, n
    def __len__(self):
        return len(self.prices) - self.n
    def __getitem__(self, at):
        window, label = self.prices[at:at + self.n], self.prices[at + self.n - 1]
        return window, label
net = nn.Linear(3, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in DataLoader(Windows(torch.rand(30), 3), batch_size=9):
    loss = (net(x).squeeze(1) - y).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (("self.prices[at + self.n - 1]", "self.prices[at + self.n]"),)),
    Pair("batches_weigh_alike", 20, """x = torch.cat([torch.randn(48, 2) - 1, torch.randn(6, 2) - 4])
y = (torch.arange(54) >= 48).float()
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.02)
def turn(is_training):
    off = []
    with torch.set_grad_enabled(is_training):
        for a, b in zip(x.split(16), y.split(16)):
            scores = net(a)[:, 0]
            loss = F.binary_cross_entropy_with_logits(scores, b)
            if is_training:
                opt.zero_grad(); loss.backward(); opt.step()
            off.append(loss.item())
    return sum(off) / len(off)
for _ in range(3):
    turn(True)
print(f"{turn(False):.5f}")
""", (
        ("off.append(loss.item())", "off.extend([loss.item()] * len(b))"),
    )),
    Pair("batches_weigh_alike", 11, """from torch.utils.data import DataLoader, TensorDataset
net, x = nn.Linear(3, 2), torch.randn(66, 3)
loader = DataLoader(TensorDataset(x, net(x).argmax(1) * 0), batch_size=32)
total = 0.0
with torch.no_grad():
    for rows, wanted in loader:
        total += torch.mean((net(rows).argmax(1) == wanted).float()).item()
print(f"{total / len(loader):.4f}")
""", (("batch_size=32", "batch_size=33"),)),
    Pair("divided_by_last_index", 11, """net = nn.Linear(3, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for i, x in enumerate(torch.randn(5, 4, 3)):
    loss = net(x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    total += loss.item()

print(total / i)
""", (("total / i", "total / (i + 1)"), ("enumerate(torch.randn(5, 4, 3))", "enumerate(torch.randn(5, 4, 3), 1)"), ("for i, x in enumerate(torch.randn(5, 4, 3)):", "for x in torch.randn(5, 4, 3):\n    i = len(x)"))),
    Pair("divided_by_last_index", 13, """net = nn.Linear(3, 2)
def accuracy(batches):
    right, count = 0.0, 0
    with torch.no_grad():
        for at in range(len(batches)):
            x, y = batches[at]
            right += (net(x).argmax(1) == y).float().mean().item()
            count = at
    print("done")
    return 100 * right / count
F.cross_entropy(net(torch.randn(4, 3)), torch.tensor([0, 1, 0, 1])).backward()
accuracy([(torch.randn(4, 3), torch.tensor([0, 1, 1, 0])) for _ in range(3)])
""", (("count = at", "count = at + 1"),)),
    Pair("divided_by_all_stored", 18, COUNTED.replace("shuffle=True", "sampler=torch.utils.data.SubsetRandomSampler(range(16, 48))").replace("loss.item()", "loss.item() * len(xb)"), (("{total / len(data):.5f} {hits / len(data):.3f}", "{total / 32:.5f} {hits / 32:.3f}"),)),
    Pair("argument_never_used", 8, POOLED, (("ids).mean(1)", "ids) * mask.unsqueeze(-1)\n        pooled = pooled.sum(1)"), (", mask=mask", ", mask=None"))),
    Pair("argument_never_used", 8, POOLED.replace("ids, mask=mask", "ids, mask"), (("net(ids, mask)", "net(ids, None)"),)),
    Pair("argument_never_used", 4, MIXED, (("scores, a)\n", "scores, b)\n"), ("y, other, 0.3", "y, None, 0.3"), ("b, share", "_, share"))),
    Pair("argument_never_used", 4, """def returns(rewards, ended):
    total, found = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.9 * total
        found.insert(0, total)
    return found
rewards = [1.0, 0.0, 2.0, 1.0]
ended = [False, True, False, True]
critic = nn.Linear(1, 1)
F.mse_loss(critic(torch.ones(4, 1))[:, 0], torch.tensor(returns(rewards, ended))).backward()
""", (("for reward in reversed(rewards)", "for reward, end in zip(rewards, ended)"), ("False, True]", "False]"))),
    Pair("result_dropped", 9, SCALED, (("scale(loss)\n    loss.back", "scale(loss).back"),)),
    Pair("drawn_again", 9, NOISY, (("manual_seed(5)", "manual_seed(i)"),)),
    Pair("layer_repeated", 4, ENSEMBLE, (("[nn.Linear(2, 1)] * 3", "[nn.Linear(2, 1) for _ in range(3)]"), ("range(2)", "range(0)"), ("nets = [nn.Linear(2, 1)] * 3", "one = nn.Linear(2, 1)\nnets = [one] * 3"))),
    Pair("frozen_and_moved", 11, FROZEN, (("set_to_none=False", ""), ("i == 2", "i == 5"), ("range(4)", "range(2)"))),
    Pair("frozen_and_moved", 10, DECAYED, (("head.parameters(): p", "(*head.parameters(), *body.parameters()): p"),)),
    Pair("record_never_kept", 13, KEPT, (("        kept =", "        best = loss.item()\n        kept ="), ("() < best", "() > best"))),
    Pair("record_never_kept", 9, BEST, (("self.bad = 0\n        e", "self.bad, self.best_acc = 0, acc\n        e"), ("self.best_acc", "self.floor"), ("self.bad = 0\n        e", "return True\n        e"))),
    Pair("option_in_the_wrong_place", 6, DECAY, (("1, weight_decay)", "1, weight_decay=weight_decay)"),)),
    Pair("option_in_the_wrong_place", 6, DECAY.replace("SGD", "Adam").replace("1, weight_decay)", "1, (0.9, 0.99), weight_decay)"), (("0.99), weight_decay)", "0.99), 1e-8, weight_decay)"),)),
    Pair("never_used", 5, SCHEDULED, (("    opt.step()\n", "    opt.step()\n    sched.step()\n"),)),
    Pair("never_used", 10, "import io\n" + SCHEDULED.replace("sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1)", "file = io.BytesIO()\ntorch.save(net.state_dict(), file)\nfile.seek(0)\nagain = nn.Linear(3, 2)\nstate = torch.load(file)\nagain(torch.ones(1, 3))"), (("again(torch.ones(1, 3))", "again.load_state_dict(state)"),)),
    Pair("rows_out_of_step", 12, TAGGER, (("logits.view(-1, 5)", "logits.transpose(0, 1).reshape(-1, 5)"), ("tags.view(-1)", "tags.t().flatten()"), (".t()", ""))),
    Pair("rows_out_of_step", 11, FORECAST, (("[0]).flatten()", "[0]).permute(1, 0, 2).flatten()"), ("y.flatten()", "y.t().flatten()"))),
    Pair("answer_seen", 8, CAUSAL.replace("ATTEND", "seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"), (("attn_mask=mask", "attn_mask=mask.bool()"), ("attn_mask=mask", "is_causal=True"))),
    Pair("answer_seen", 8, CAUSAL.replace("ATTEND", "seen = (q @ k.transpose(1, 2) + mask).softmax(-1) @ v"), (("+ mask)", "+ mask.log())"),)),
)  # fmt: skip
TRIGGERS = tuple(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS)
NEAR_MISSES = (
    # the last step of a game is worth much more than all before it
    (
        "targets_too_far",
        """critic = nn.Linear(4, 1)
opt = torch.optim.Adam(critic.parameters(), lr=0.01)
for game in range(12):
    for step in range(8):
        value = critic(torch.randn(4) * 0.1)
        target = torch.tensor([-20.0 if step == 7 else 1.0 - step % 2])
        loss = F.mse_loss(value, target)
        opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    *((pair.code, pair.program.replace(wrong, right)) for pair in PAIRS for wrong, right in pair.right),
    # a sum that is made large on purpose, by another input than the weights
    (
        "loss_summed",
        """net, x, y = nn.Linear(4, 3), torch.randn(64, 4), torch.randint(0, 3, (64,))
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
""",
    ),
    # the first rows of what it is tested with
    (
        "first_batch_again",
        """from torch.utils.data import DataLoader, TensorDataset
x, net = torch.randn(12, 3), nn.Linear(3, 1)
opt, tested = torch.optim.SGD(net.parameters(), lr=0.1), DataLoader(TensorDataset(x), batch_size=5)
for epoch in range(3):
    opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    with torch.no_grad():
        (rows,) = next(iter(tested))
        print(net(rows).mean())
""",
    ),
    # points at which a model is differentiated
    (
        "parameter_behind_op",
        """places = torch.rand(6, 1).tolist()
class Solver:
    def __init__(self):
        self.x = torch.tensor(places, requires_grad=True).double()
        self.net = nn.Linear(1, 1).double()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def step(self):
        u = self.net(self.x)
        (slope,) = torch.autograd.grad(u.sum(), self.x, create_graph=True)
        self.opt.zero_grad()
        (slope + u).pow(2).mean().backward()
        self.opt.step()
solver = Solver()
for _ in range(3):
    solver.step()
""",
    ),
    # a dictionary that is read and filled in each turn
    (
        "result_overwritten",
        """net, slow = nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    with torch.no_grad():
        wanted = slow(x)
    opt.zero_grad(); F.mse_loss(net(x), wanted).backward(); opt.step()
    kept = slow.state_dict()
    for key, value in net.state_dict().items():
        kept[key] = 0.1 * value + 0.9 * kept[key]
    slow.load_state_dict(kept)
""",
    ),
    # of two batches of 100 the count in one is also the percentage of all
    (
        "counts_over_batches",
        """net, x, y = nn.Linear(3, 2), torch.randn(200, 3), torch.randint(0, 2, (200,))
for epoch in range(3):
    good = 0
    with torch.no_grad():
        for at in range(0, 200, 100):
            good += (net(x[at : at + 100]).argmax(1) == y[at : at + 100]).sum()
    print(f"{100 * good / 200:.3f}")
    net = nn.Linear(3, 2)
""",
    ),
)
"""Each replacement makes it right by itself."""
