"""What `engine/findings/batches.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("first_batch_again", 10, """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(64, 4); y = X @ torch.tensor([1., 2., 3., 4.]).unsqueeze(1)
loader = DataLoader(TensorDataset(X, y), batch_size=8)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(10):
    xb, yb = next(iter(loader))
    loss = F.mse_loss(model(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
""", cure=(
        ("for step in range(10):\n    xb, yb = next(iter(loader))\n", "for xb, yb in loader:\n"),
        ("print(step, loss", "print(loss"),
    )),
    Mistake("first_batch_again", 10, """X = torch.randn(96, 5); y = (X[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
batch_size = 16
for epoch in range(2):
    for i in range(0, len(X), batch_size):
        xb = X[0:batch_size]
        yb = y[0:batch_size]
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
""", cure=(
        ("X[0:batch_size]", "X[i:i + batch_size]"),
        ("y[0:batch_size]", "y[i:i + batch_size]"),
    )),
    Mistake("first_batch_again", 10, """x, y = torch.randn(32, 4), torch.randn(32, 1)
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.05)
def batches():
    for i in range(0, 32, 8):
        yield x[i:i + 8], y[i:i + 8]
for step in range(4):
    xb, yb = next(batches())
    loss = F.mse_loss(net(xb), yb)
""" + STEP, says={"first": "batches"}, cure=(("for step in range(4):\n    xb, yb = next(batches())", "for xb, yb in batches():"),)),
    Mistake("first_batch_again", 10, """x, y = torch.randn(32, 4), torch.randn(32, 1)
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.05)
def get_batch(step, size=8):
    start = 0
    return x[start:start + size], y[start:start + size]
for step in range(4):
    xb, yb = get_batch(step)
    loss = F.mse_loss(net(xb), yb)
""" + STEP, cure=(("start = 0", "start = step * size"),)),
    Mistake("first_batch_again", 7, """x, y = torch.randn(32, 4), torch.randn(32, 1)
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.05)
def batches(size=8):
    for i in range(0, len(x), size): yield x[:size], y[:size]
for xb, yb in batches():
    loss = F.mse_loss(net(xb), yb)
""" + STEP, says={"first": "i"}, cure=(("x[:size], y[:size]", "x[i:i + size], y[i:i + size]"),)),
    Mistake("first_batch_again", 17, """from torch.utils.data import DataLoader, Dataset
class Pairs(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 3); self.y = self.x.sum(1, keepdim=True)
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i], self.y[i]
loader = DataLoader(Pairs(40), batch_size=8)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def train_step():
    for step in range(5):
        x, y = next(iter(loader))
        loss = F.mse_loss(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
    return loss.item()
print(train_step())
""", cure=(
        ("    for step in range(5):\n        x, y = next(iter(loader))\n", "    for x, y in loader:\n"),
    )),
    Mistake("loaders_shuffled_apart", 8, """from torch.utils.data import DataLoader
lin = nn.Linear(3, 1)
rows = DataLoader(torch.randn(12, 3), 4, shuffle=True)
labels = DataLoader(torch.randn(12, 1), 4, shuffle=True)
for x, y in zip(rows, labels):
    F.mse_loss(lin(x), y).backward()
""", cure=(("shuffle=True", "shuffle=False"),)),
    Mistake("loaders_shuffled_apart", 9, """from torch.utils.data import DataLoader
lin, x, y = nn.Linear(3, 2), torch.randn(12, 3), torch.arange(12) % 2
opt = torch.optim.SGD(lin.parameters(), 0.1)
def train(rows, labels):
    for a in rows:
        loss = F.cross_entropy(lin(a), next(labels))
""" + STEP.replace("    ", "        ") + """train(DataLoader(x, 3, shuffle=True), iter(DataLoader(y, 3)))
""", cure=(("x, 3, shuffle=True", "x, 3"),)),
    Mistake("shuffled_apart", 6, """def batches(x, t, bs):
    ix = torch.randperm(x.size(0))
    it = torch.randperm(t.size(0))
    for k in range(0, x.size(0), bs):
        yield x[ix[k:k + bs]], t[it[k:k + bs]]
x = torch.randn(60, 3)
t = 2 * x[:, :1] - x[:, 1:2]
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for xb, tb in batches(x, t, 20):
        loss = F.mse_loss(net(xb), tb)
        opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("t[it[k:k + bs]]", "t[ix[k:k + bs]]"),
        ("    it = torch.randperm(t.size(0))\n", ""),
    )),
    Mistake("shuffled_apart", 10, """class Data:
    def __init__(self, n):
        self.x = torch.randn(n, 6)
        self.t = (self.x.sum(1) > 0).float()
    def shuffle(self):
        self.x = self.x[torch.randperm(len(self.x))]
        self.t = self.t[torch.randperm(len(self.t))]
data = Data(48)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    data.shuffle()
    for k in range(0, 48, 16):
        out = net(data.x[k:k + 16]).squeeze(-1)
        loss = F.binary_cross_entropy_with_logits(out, data.t[k:k + 16])
        opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        ("        self.x = self.x[torch.randperm(len(self.x))]\n        self.t = self.t[torch.randperm(len(self.t))]", "        p = torch.randperm(len(self.x))\n        self.x, self.t = self.x[p], self.t[p]"),
    )),
    Mistake("shuffled_apart", 6, """def mixed(x, y, share):
    other_x = x[torch.randperm(x.size(0))]
    other_y = y[torch.randperm(y.size(0))]
    return share * x + (1 - share) * other_x, share * y + (1 - share) * other_y
x, y = torch.randn(40, 3), F.one_hot(torch.randint(2, (40,)), 2).float()
net = nn.Linear(3, 2); opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    order = torch.randperm(40)
    for at in range(0, 40, 20):
        xs, ys = mixed(x[order[at:at + 20]], y[order[at:at + 20]], 0.7)
        loss = -(ys * F.log_softmax(net(xs), dim=1)).sum(1).mean()
        opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("""x[torch.randperm(x.size(0))]
    other_y = y[torch.randperm(y.size(0))]""", """x[(order := torch.randperm(x.size(0)))]
    other_y = y[order]"""),)),
    Mistake("shuffled_apart", 6, """net = nn.Linear(4, 3)
def shuffled(rows):
    return rows[torch.randperm(len(rows))]
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(8, 4), F.one_hot(torch.arange(8) % 3, 3).float()
    mixed, wanted = 0.7 * x + 0.3 * shuffled(x), 0.7 * y + 0.3 * shuffled(y)
    loss = -(wanted * F.log_softmax(net(mixed), 1)).sum(1).mean()
""" + STEP, cure=(("0.3 * shuffled(y)", "0.3 * y"), ("0.3 * shuffled(x)", "0.3 * x"))),
    Mistake("shuffled_alone", 8, """X = torch.randn(20, 3); y = X.sum(1, keepdim=True)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    X = X[torch.randperm(len(X))]
    loss = F.mse_loss(net(X), y)
""" + STEP, cure=(("    X = X[torch.randperm(len(X))]", "    order = torch.randperm(len(X)); X, y = X[order], y[order]"),)),
    Mistake("shuffled_alone", 8, """data, labels = torch.randn(20, 3), torch.arange(20) % 2
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
order = torch.randperm(20)
batches = data[order].split(5)
for xb, yb in zip(batches, labels.split(5)):
    loss = F.cross_entropy(net(xb), yb)
""" + STEP, cure=(("labels.split", "labels[order].split"),)),
    Mistake("shuffled_alone", 5, """x, y = torch.randn(20, 4), torch.randn(20, 1)
y = y[torch.randperm(20)]
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = F.mse_loss(net(x), y)
""" + STEP, cure=(("y[torch.randperm(20)]", "y * 1.0"),)),
    Mistake("few_samples_drawn", 7, """from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler
x, y = torch.randn(40, 3), (torch.arange(40) % 4 == 0).long()
weights = 1 / torch.bincount(y).float()
sampler = WeightedRandomSampler(weights, 40)
net = nn.Linear(3, 2)
for rows, wanted in DataLoader(TensorDataset(x, y), batch_size=8, sampler=sampler):
    F.cross_entropy(net(rows), wanted).backward()
""", cure=(("Sampler(weights, 40)", "Sampler(weights[y], 40)"),)),
    Mistake("few_samples_drawn", 7, """from torch.utils.data import DataLoader, WeightedRandomSampler
rows = torch.randn(30, 3)
net = nn.Linear(3, 1)
loader = DataLoader(rows, 6, sampler=WeightedRandomSampler([0.2, 0.3, 0.5], num_samples=len(rows)))
for x in loader:
    net(x).sum().backward()
""", cures=(("[0.2, 0.3, 0.5]", "[0.2, 0.3, 0.5] * 10"), ("num_samples=len(rows)", "num_samples=6"))),
    Mistake("shuffled_by_numpy", 8, """import numpy as np
images = np.concatenate([np.random.randn(20, 3) + at for at in range(3)])
labels = np.repeat(np.arange(3), 20)
np.random.shuffle(images)
np.random.shuffle(labels)
data = torch.utils.data.TensorDataset(torch.tensor(images[:40]).float(), torch.tensor(labels[:40]))
net = nn.Linear(3, 3)
for x, y in torch.utils.data.DataLoader(data, batch_size=10):
    F.cross_entropy(net(x), y).backward()
""", cures=(("np.random.shuffle(images)\nnp.random.shuffle(labels)", "order = np.random.permutation(60); images, labels = images[order], labels[order]"), ("\nnp.random.shuffle(labels)", "\nnp.random.seed(0); np.random.shuffle(labels)"), ("np.random.shuffle(labels)", "np.random.shuffle(list(labels))"))),
    Mistake("shuffled_by_numpy", 9, """import random
def split(questions, answers):
    questions, answers = list(questions), list(answers)
    random.shuffle(questions)
    print(len(questions))
    random.shuffle(answers)
    return list(zip(questions, answers))
rows, net = split(torch.arange(8.0), 2 * torch.arange(8.0)), nn.Linear(1, 1)
for x, y in rows:
    F.mse_loss(net(x.view(1, 1)), y.view(1, 1)).backward()
""", cures=(("    random.shuffle(answers)\n", ""), ("list(zip(questions, answers))", "[(each, 2 * each) for each in questions]"))),
    Mistake("shuffled_by_numpy", 8, """import numpy as np
images = np.concatenate([np.random.randn(20, 3) + at for at in range(3)]).astype("float32")
labels = np.repeat(np.arange(3), 20)
np.random.shuffle(images)
np.random.shuffle(labels)
x, y = torch.from_numpy(images[:40]), torch.from_numpy(labels[:40])
mean, net = x.mean(0), nn.Linear(3, 3)
for _ in range(3):
    F.cross_entropy(net(x - mean), y).backward()
""", cures=(("np.random.shuffle(images)\nnp.random.shuffle(labels)", "order = np.random.permutation(60); images, labels = images[order], labels[order]"), ("np.random.shuffle(labels)", "print(labels)"), ("F.cross_entropy(net(x - mean), y)", "(net(x - mean).logsumexp(1).mean() + y.sum())"))),
    Mistake("shuffled_by_numpy", 9, """import numpy as np
def train(net, rows, wanted, rounds=2):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(rounds):
        np.random.shuffle(rows)
        np.random.shuffle(wanted)
        for at in range(0, 8, 4):
            given = torch.tensor(rows[at : at + 4])
            aim = wanted[at : at + 4]
            loss = F.mse_loss(net(given), torch.tensor(aim))
            opt.zero_grad(); loss.backward(); opt.step()
rows = np.random.randn(8, 2).astype("float32")
train(nn.Linear(2, 1), rows, rows.sum(1, keepdims=True))
""", cures=(("        np.random.shuffle(rows)\n", ""), ("net(given), torch.tensor(aim)", "net(given), net(torch.tensor(aim).repeat(1, 2))"))),
    Mistake("shuffled_by_numpy", 8, """import numpy as np
rng = np.random.default_rng(1)
rows = np.concatenate([rng.standard_normal((20, 3)) + at for at in range(3)])
kinds = np.repeat(np.arange(3), 20)
rows, kinds = rows[rng.permutation(len(rows))], kinds[rng.permutation(len(kinds))]
part = int(0.8 * len(rows))
x, y = torch.tensor(rows[:part]).float(), torch.tensor(kinds[:part])
net = nn.Linear(3, 3)
for _ in range(2):
    F.cross_entropy(net(x), y).backward()
""", cures=(("= rows[rng.permutation(len(rows))], kinds[rng.permutation(len(kinds))]", "= (lambda at: (rows[at], kinds[at]))(rng.permutation(len(rows)))"), ("kinds[rng.permutation(len(kinds))]\n", "kinds\n"))),
    Mistake("shuffled_by_numpy", 8, """import numpy as np
given = np.random.randn(40, 3)
wanted = given.sum(1, keepdims=True)
first = np.random.permutation(40)
second = np.random.permutation(40)
rows, aims = given[first], wanted[second]
data = torch.from_numpy(rows).float(), torch.from_numpy(aims).float()
net = nn.Linear(3, 1)
F.mse_loss(net(data[0]), data[1]).backward()
""", cures=(("wanted[second]", "wanted[first]"), ("second = np.random.permutation(40)", "second = first"))),
    Mistake("shuffled_by_numpy", 9, """import numpy as np
given = np.random.randn(40, 3)
wanted = given.sum(1, keepdims=True)
np.random.seed(3)
np.random.shuffle(given)
np.random.RandomState(4).shuffle(wanted)
rows, aims = torch.from_numpy(given).float(), torch.from_numpy(wanted).float()
F.mse_loss(nn.Linear(3, 1)(rows), aims).backward()
""", cures=(("np.random.RandomState(4)", "np.random.RandomState(3)"), ("np.random.RandomState(4).", "np.random.seed(3); np.random."), ("(4)", "(None)"))),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # answers that are put back, and an order of columns
    ("shuffled_alone", """net, x = nn.Linear(6, 1), torch.randn(6, 6)
order, y = torch.randperm(6), torch.randn(6, 1)
F.mse_loss(net(x[:, order]), y).backward()
x, y, order = torch.randn(9, 6), torch.randn(9, 1), torch.randperm(9)
F.mse_loss(net(x[order])[order.argsort()], y).backward()
"""),
    # of which only the means are compared
    ("shuffled_apart", """net, x, y = nn.Linear(3, 2), torch.randn(9, 3), torch.randn(9, 2)
(net(x[torch.randperm(9)]).mean(0) - y[torch.randperm(9)].mean(0)).pow(2).sum().backward()
(net(x[torch.randperm(9)]).mean(0) - y.mean(0)).pow(2).sum().backward()
"""),
    # all that there are, each several times
    ("few_samples_drawn", """from torch.utils.data import DataLoader, WeightedRandomSampler
net = nn.Linear(3, 1)
for x in DataLoader(torch.randn(4, 3), 4, sampler=WeightedRandomSampler([1.0, 2.0, 2.0, 1.0], 80)):
    net(x).sum().backward()
"""),
    # a loop that counts by tens, and what each turn is given beside
    ("first_batch_again", """from torch.utils.data import DataLoader
loader, probe = DataLoader(torch.randn(16, 3), batch_size=4), DataLoader(torch.randn(16, 3), batch_size=4)
net = nn.Linear(3, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for x in loader:
        loss = net(x).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(net(next(iter(probe))).mean().item())
"""),
    ("first_batch_again", """net, x, beside = nn.Linear(3, 1), torch.randn(9, 3), torch.randn(8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(0, 50, 10):
    loss = net(x).pow(2).mean() + net(beside[:4]).abs().mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    # the rows to train with, of which others are tested, and a generator that begins anew in another order
    ("first_batch_again", """x, y = torch.randn(32, 4), torch.randn(32, 1)
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.05)
def train_rows(step):
    return x[:24], y[:24]
for step in range(4):
    xb, yb = train_rows(step)
    loss = F.mse_loss(net(xb), yb)
""" + STEP + "print(F.mse_loss(net(x[24:]), y[24:]).item())"),
    ("first_batch_again", """x, y = torch.randn(32, 4), torch.randn(32, 1)
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.05)
def batches():
    order = torch.randperm(32)
    mixed, wanted = x[order], y[order]
    for i in range(0, 32, 8):
        yield mixed[i:i + 8], wanted[i:i + 8]
for step in range(4):
    xb, yb = next(batches())
    loss = F.mse_loss(net(xb), yb)
""" + STEP),
    ("first_batch_again", """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(64, 4); y = (X[:, 0] > 0).long()
loader = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.05)
xb, yb = next(iter(loader))
for step in range(15):
    loss = F.cross_entropy(model(xb), yb)
    opt.zero_grad(); loss.backward(); opt.step()
print("one batch learnt:", loss.item())
"""),
    # the first rows of what it is tested with
    ("first_batch_again", """from torch.utils.data import DataLoader, TensorDataset
x, net = torch.randn(12, 3), nn.Linear(3, 1)
opt, tested = torch.optim.SGD(net.parameters(), lr=0.1), DataLoader(TensorDataset(x), batch_size=5)
for epoch in range(3):
    opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
    with torch.no_grad():
        (rows,) = next(iter(tested))
        print(net(rows).mean())
"""),
    ("shuffled_apart", """emb = nn.Embedding(30, 5)
opt = torch.optim.Adam(emb.parameters(), lr=0.01)
items = torch.arange(30)
for _ in range(4):
    a = items[torch.randperm(30)][:8]
    neg = items[torch.randperm(30)][:8]
    pos = (a + 1) % 30
    score = (emb(a) * emb(pos)).sum(1) - (emb(a) * emb(neg)).sum(1)
    loss = -F.logsigmoid(score).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
"""),
    ("shuffled_apart", """net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(30, 6); y = torch.randint(0, 3, (30,))
for _ in range(4):
    lam = 0.7
    perm = torch.randperm(30)
    xm = lam * X + (1 - lam) * X[perm]
    out = net(xm)
    loss = lam * F.cross_entropy(out, y) + (1 - lam) * F.cross_entropy(out, y[perm])
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
"""),
    ("shuffled_apart", """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X, Y = torch.randn(30, 4), torch.randint(0, 3, (30,))
for _ in range(2):
    order = torch.randperm(30)
    for x, y in zip(X[order].split(10), Y[order].split(10)):
        loss = -(F.one_hot(y, 3) * F.log_softmax(net(x), 1)).sum(1).mean()
        opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("shuffled_by_numpy", """import numpy as np
one, other = np.random.default_rng(3), np.random.default_rng(3)
given = np.random.randn(40, 3)
wanted = given.sum(1, keepdims=True)
given = one.permutation(given)
wanted = other.permutation(wanted)
rows, aims = torch.from_numpy(given).float(), torch.from_numpy(wanted).float()
F.mse_loss(nn.Linear(3, 1)(rows), aims).backward()
# rows to train with and rows to test with, each with their answers
order = np.random.permutation(40)
given, wanted = given[order], wanted[order]
kept, asked = np.random.randn(20, 3), np.random.randn(20, 1)
turn = np.random.permutation(20)
kept, asked = kept[turn], asked[turn]
print(len((given, wanted, kept, asked)), max(len(wanted), len(kept)))
# two sets that do not belong together
here, there = np.random.randn(40, 3), np.random.randn(40, 3)
mine, theirs = here[np.random.permutation(40)], there[np.random.permutation(40)]
net = nn.Linear(3, 1)
print(len(list(zip(mine, theirs))))
(net(torch.tensor(mine).float()).mean() - net(torch.tensor(theirs).float()).mean()).backward()
"""),
)  # fmt: skip
