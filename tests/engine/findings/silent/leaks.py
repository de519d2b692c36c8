"""What `engine/findings/leaks.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import FOLDS, Mistake

SCALED = """raw, net = torch.randn(20, 3) + 2, nn.Linear(3, 1)
x = (raw - raw.mean(0)) / raw.std(0)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); F.mse_loss(net(x[:15]), torch.ones(15, 1)).backward(); opt.step()
with torch.no_grad():
    print(net(x[15:]).mean())
"""

PARTED = """from torch.utils.data import DataLoader, TensorDataset, random_split
data = TensorDataset(torch.randn(20, 3), torch.randint(0, 2, (20,)))
train, test = random_split(data, [16, 4])
loader, net = DataLoader(WHOLE, batch_size=5, shuffle=True), nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for step, (x, y) in enumerate(loader):
        opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
net.eval()
with torch.no_grad():
    for x, y in DataLoader(TESTED, batch_size=4):
        print((net(x).argmax(1) == y).float().mean())
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("trained_on_all_parts", 7, PARTED.replace("WHOLE", "data").replace("TESTED", "test"), says={"whole": "data", "test": "test", "train": "train"}, cure=(("DataLoader(data", "DataLoader(train"),)),
    Mistake("trained_on_all_parts", 6, """from torch.utils.data import DataLoader, TensorDataset, random_split
rows = TensorDataset(torch.randn(20, 3), torch.randn(20, 1))
batches = DataLoader(rows, 4)
fit, held_out = random_split(rows, [15, 5])
net = nn.Linear(3, 1); opt = torch.optim.Adam(net.parameters())
def train():
    for x, y in batches:
        opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()
train()
with torch.no_grad():
    for x, y in DataLoader(held_out, 5): print(F.mse_loss(net(x), y).item())
""", says={"whole": "rows"}, cure=(("batches = DataLoader(rows, 4)\n", ""), ("net = nn", "batches = DataLoader(fit, 4); net = nn"))),
    Mistake("scaled_with_its_tests", 5, SCALED, says={"count": "20", "train": "x[:15]", "test": "x[15:]"},
            cure=(("raw.mean(0)", "raw[:15].mean(0)"), ("raw.std(0)", "raw[:15].std(0)"))),
    Mistake("scaled_with_its_tests", 6, """from torch.utils.data import DataLoader, TensorDataset
def scaled(table):
    low, high = table.amin(0), table.max(0).values
    return (table - low) / (high - low)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
order, x = torch.randperm(20), scaled(torch.rand(20, 3))
first, rest = order[:15], order[15:]
for (part,) in DataLoader(TensorDataset(x[first]), batch_size=5):
    opt.zero_grad(); net(part).pow(2).mean().backward(); opt.step()
with torch.no_grad():
    print(net(x[rest]))
"""),
    Mistake("trained_on_its_tests", 6, FOLDS, cures=(
        ("    tests", "    net = nn.Linear(3, 2)\n    tests"), ("if j != fold", ""), ("    net.train", "    net.reset_parameters()\n    net.train"),
    )),
    Mistake("trained_on_its_tests", 6, """import numpy as np
X, y = torch.randn(12, 3), torch.randn(12, 1)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for k, held in enumerate(torch.randperm(12).chunk(3)):
    rest = np.setdiff1d(np.arange(12), held)
    for _ in range(2):
        opt.zero_grad(); F.mse_loss(net(X[rest]), y[rest]).backward(); opt.step()
    with torch.no_grad():
        print(k, F.mse_loss(net(X[held]), y[held]).item())
""", cures=(("    for _", "    net.apply(lambda part: getattr(part, 'reset_parameters', lambda: None)())\n    for _"), ("np.setdiff1d(np.arange(12), held)", "torch.randperm(12)"))),
    Mistake("trained_on_its_tests", 19, """import numpy as np
def folds(count, parts):
    order = np.array_split(np.random.permutation(count), parts)
    for at in range(parts):
        tests = order[at]
        train = np.concatenate([order[k] for k in range(parts) if k != at])
        yield train, tests
def fit(net, x, y):
    opt = torch.optim.Adam(net.parameters())
    for _ in range(2):
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
def judged(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean()
net = nn.Linear(3, 2)
X, y = torch.randn(12, 3), torch.randint(0, 2, (12,))
for n, (use, keep) in enumerate(folds(12, 3)):
    net.train()
    fit(net, X[use], y[use])
    print(judged(net, X[keep], y[keep]))
""", cures=(
        ("    net.train()", "    net = nn.Linear(3, 2)"),
        ("    opt = torch.optim.Adam(net.parameters())\n", "    net.reset_parameters()\n    opt = torch.optim.Adam(net.parameters())\n"),
        ("if k != at", ""),
        ("    fit(net, X[use], y[use])", "    fit(nn.Linear(3, 2), X[use], y[use])"),
    )),
    Mistake("trained_on_its_tests", 17, """def parted(rows, parts):
    size = len(rows) // parts
    for start in range(0, len(rows), size):
        test = rows[start:start + size]
        rest = np.setdiff1d(rows, test)
        yield rest, test
def train(x, y):
    for _ in range(3):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
import numpy as np
X, Y = torch.randn(12, 2), torch.randn(12, 1)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for rest, test in parted(torch.randperm(12), 3):
    train(X[rest], Y[rest])
    with torch.no_grad():
        print(F.mse_loss(net(X[test]), Y[test]).item())
""", cure=(("        rest = np.setdiff1d(rows, test)\n", "        rest = np.asarray(rows)\n"),)),
    Mistake("window_holds_target", 9, """series, n = torch.randn(40).cumsum(0), 5
net = nn.Linear(1, 1)
x, y = [], []
for i in range(len(series) - n - 1):
    x.append(series[i:i + n + 1])
    y.append(series[i + n])
F.mse_loss(net(torch.stack(x).mean(1, keepdim=True))[:, 0], torch.stack(y)).backward()
""", cures=(("i:i + n + 1", "i:i + n"), ("series[i + n]", "series[(i + n + 1) % 40]")), mends=True),
    Mistake("window_holds_target", 7, """series, back = torch.randn(40).tolist(), 5
net = nn.GRU(1, 1, batch_first=True)
x = torch.tensor([series[k:k + back + 2] for k in range(30)])
y = torch.tensor([series[k + back + 1] for k in range(30)])
F.mse_loss(net(x[..., None])[0][:, -1, 0], y).backward()
""", cures=(("k + back + 2", "k + back + 1"), ("k + back + 1]", "k + back + 3]")), mends=True),
    Mistake("window_holds_target", 8, """series = torch.sin(torch.arange(40.0))
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
""", cure=(("series[i + n - 1]", "series[i + n]"),), mends=True),
    Mistake("window_holds_target", 11, """from torch.utils.data import DataLoader, Dataset
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
""", cure=(("self.prices[at + self.n - 1]", "self.prices[at + self.n]"),), mends=True),
    Mistake("windows_parted_at_random", 13, """from torch.utils.data import TensorDataset, random_split
net = nn.Linear(4, 1)
def windows(series, n):
    x, y = [], []
    for t in range(n, len(series) - 1):
        x.append(series[t - n:t]); y.append(series[t + 1])
    return torch.stack(x), torch.stack(y)
X, Y = windows(torch.randn(40), 4)
data = TensorDataset((X - X.mean()) / X.std(), Y)
train, rest = random_split(data, [0.7, 0.3])
x, y = data[list(train.indices)]
F.mse_loss(net(x)[:, 0], y).backward()
""", cures=(("range(n, len(series) - 1)", "range(n, len(series) - 1, n)"), ("random_split(data, [0.7, 0.3])", "(torch.utils.data.Subset(data, range(25)), torch.utils.data.Subset(data, range(25, 35)))"))),
    Mistake("windows_parted_at_random", 7, """series, net = torch.randn(40).cumsum(0), nn.Linear(5, 1)
rows = [series[k:k + 6] for k in range(34)]
data = torch.stack(rows)
train, test = torch.utils.data.random_split(data, [30, 4])
part = torch.stack(list(train))
F.mse_loss(net(part[:, :5]), part[:, 5:]).backward()
""", cures=(("series[k:k + 6]", "series[0 * k:6]"), ("stack(rows)", "randn(34, 6)"))),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # a part that trains, and the whole set gone over where nothing is tested by a part
    ("trained_on_all_parts", PARTED.replace("WHOLE", "train").replace("TESTED", "data")),
    ("trained_on_all_parts", PARTED.replace("WHOLE", "data").replace("TESTED", "data")),
    ("trained_on_all_parts", """from torch.utils.data import DataLoader, TensorDataset, random_split
data = TensorDataset(torch.randn(20, 3), torch.randn(20, 1))
train, test = random_split(data, [15, 5])
net = nn.Linear(3, 1); opt = torch.optim.Adam(net.parameters())
def fit(data):
    for x, y in DataLoader(data, 5):
        opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()
fit(train)
with torch.no_grad():
    for x, y in DataLoader(test, 5): print(F.mse_loss(net(x), y).item())
"""),
    ("trained_on_all_parts", PARTED.replace("WHOLE", "data").replace("TESTED", "test") + """    features = net(torch.stack([x for x, _ in train]))
head = nn.Linear(2, 2); other = torch.optim.Adam(head.parameters())  # another model, of features that others learnt
F.cross_entropy(head(features), torch.stack([y for _, y in train])).backward(); other.step()
"""),
    ("scaled_with_its_tests", SCALED.replace("x[15:]", "x[:5]")),
    ("scaled_with_its_tests", SCALED + "net(x[15:]).pow(2).mean().backward()\n"),
    # what the window ends with is taken off again
    ("window_holds_target", """series, n, net = torch.randn(40), 5, nn.Linear(5, 1)
rows, y = [], []
for i in range(30):
    rows.append(series[i:i + n + 1]); y.append(series[i + n])
F.mse_loss(net(torch.stack(rows)[:, :-1])[:, 0], torch.stack(y)).backward()
"""),
)  # fmt: skip
