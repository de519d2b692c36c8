"""What `engine/findings/shared_data.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import SGD, STEP, THREE_LINES, Mistake

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
    + THREE_LINES
)

MISTAKES: tuple[Mistake, ...] = (
    Mistake("argument_changed", 9, """class Bias(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(4))
    def forward(self, x):
        x += self.bias
        return x
net, x = Bias(), torch.randn(8, 4)
y, opt = x + 1, torch.optim.Adam(net.parameters(), lr=0.01)
for i in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
""", cures=(("x += self.bias", "x = x + self.bias"), ("net(x), y)", "net(x.clone()), y)")), says={"right": "x = x + self.bias", "is_followed": "1"}, mends=True),
    Mistake("argument_changed", 8, """class Scaled(nn.Module):
    def __init__(self):
        super().__init__(); self.layer = nn.Linear(4, 1)
    def forward(self, pixels):
        pixels.div_(3)
        return self.layer(pixels)
net, x, y = Scaled(), torch.rand(8, 4) * 255, torch.randn(8, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for i in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("pixels.div_(3)", "pixels = pixels / 3"),), says={"is_followed": "0"}, mends=True),
    Mistake("one_tensor_many_times", 7, """state, memory = torch.zeros(3), []
for _ in range(6):
    memory.append(state)
    state += torch.randn(3)
net = nn.Linear(3, 1)
net(torch.stack(memory)).sum().backward()
""", cures=(("append(state)", "append(state.clone())"), ("state += torch", "state = state + torch"))),
    Mistake("one_tensor_many_times", 6, """position, path = torch.zeros(1, 2), []
def kept(by):
    position.add_(by)
    return position.detach()
for at in range(5):
    path.append(kept(at))
nn.Linear(2, 2)(torch.cat(path)).sum().backward()
""", cure=(("return position.detach()", "return position.detach().clone()"),)),
    Mistake("views_are_one", 19, """net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def shaken(x):
    return x + 0.1 * torch.randn_like(x)
def contrast(one, two):
    z = F.normalize(torch.cat([one, two]), dim=1)
    near = z @ z.t() / 0.5
    near.fill_diagonal_(float("-inf"))
    n = len(one)
    return F.cross_entropy(near, (torch.arange(2 * n) + n) % (2 * n))
class Trainer:
    def embed(self, x):
        return net(x)
    def step(self, views):
        here = self.embed(views[0])
        there = self.embed(views[0])
        loss = contrast(here, there)
        opt.zero_grad(); loss.backward(); opt.step()
trainer = Trainer()
for _ in range(4):
    x = torch.randn(6, 5)
    trainer.step((shaken(x), shaken(x)))
""", cure=(("there = self.embed(views[0])", "there = self.embed(views[1])"),)),
    Mistake("views_are_one", 9, """net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(6, 5)
    a, b = F.normalize(net(x)), F.normalize(net(x + 0.1 * torch.randn_like(x)))
    b = F.normalize(net(x))
    z = torch.cat([a, b])
    share = (torch.mm(z, z.T) / 0.2).exp() * (1 - torch.eye(12))
    pull = (a * b).sum(1) / 0.2
    loss = (share.sum(1).log() - torch.cat([pull, pull])).mean()
""" + STEP, cures=(("    b = F.normalize(net(x))\n", ""), ("F.normalize(net(x))\n", "F.normalize(F.dropout(net(x)))\n"))),
    Mistake("views_are_one", 9, f"""net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    one, two = torch.randn(6, 5), torch.randn(6, 5)
    a = F.normalize(net(one), dim=1)
    b = F.normalize(net(one), dim=1)
    logits = a @ b.T / 0.2
    loss = F.cross_entropy(logits, torch.arange(6))
{STEP}""", cure=(("b = F.normalize(net(one)", "b = F.normalize(net(two)"),)),
    Mistake("views_are_one", 9, f"""net = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.5), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net.eval()
for _ in range(4):
    x = torch.randn(6, 5)
    q, k = net(x), net(x)
    loss = F.cross_entropy(torch.matmul(q, k.transpose(0, 1)), torch.arange(6))
{STEP}""", cure=(("net.eval()", "net.train()"),)),
    Mistake("kept_and_overwritten", 6, """net, kept = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 1)), {}
def keep(module, given, made):
    kept["first"] = made.detach()
net[0].register_forward_hook(keep)
net(torch.randn(5, 3)).sum().backward()
print((kept["first"] < 0).float().mean())
""", cures=(("made.detach()", "made.detach().clone()"), ("nn.ReLU(inplace=True)", "nn.ReLU()"), ("net[0].register", "net[1].register"), ('print((kept["first"] < 0).float().mean())', 'print(len(kept))')), mends=True),
    Mistake("kept_and_overwritten", 7, """class Net(nn.Module):
    def forward(self, x, w):
        h = x @ w
        before = h.detach()
        h = F.leaky_relu(h, 0.1, inplace=True)
        print(before.min())
        return h
Net()(torch.randn(4, 2), torch.randn(2, 3, requires_grad=True)).sum().backward()
""", cures=(("h.detach()", "h.detach() * 1"), ("        h = F.leaky_relu(h, 0.1, inplace=True)\n        print(before.min())\n", "        print(before.min())\n        h = F.leaky_relu(h, 0.1, inplace=True)\n")), mends=True),
    Mistake("changed_by_reading", 11, """from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self):
        self.data = torch.randn(8, 3) + 5
    def __len__(self):
        return 8
    def __getitem__(self, at):
        return self.data[at].sub_(5)
net, data = nn.Linear(3, 1), Rows()
for epoch in range(2):
    for rows in DataLoader(data, batch_size=4):
        net(rows).sum().backward()
""", cures=((".sub_(5)", " - 5"), ("(data, batch", "(Rows(), batch")), mends=True),
    Mistake("changed_by_reading", 13, """import numpy as np
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self):
        self.rows = np.ones((8, 3), dtype=np.float32)
    def __len__(self):
        return 8
    def __getitem__(self, at):
        row = torch.from_numpy(self.rows[at])
        row.add_(torch.randn(3))
        return row
net = nn.Linear(3, 1)
for rows in DataLoader(Rows(), batch_size=4):
    net(rows).sum().backward()
""", cures=(("row.add_(torch", "row = row.add(torch"), ("self.rows[at])", "self.rows[at].copy())")), mends=True),
    Mistake("changed_by_reading", 10, """import numpy as np
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self):
        self.rows = np.random.randn(8, 3).astype(np.float32)
    def scaled(self, row):
        row -= 0.1
        row /= 5
        return row
    def __len__(self):
        return 8
    def __getitem__(self, at):
        row = self.rows[at]
        return torch.from_numpy(self.scaled(row))
net, loader = nn.Linear(3, 1), DataLoader(Rows(), batch_size=4)
for epoch in range(3):
    for rows in loader:
        net(rows).sum().backward()
""", cures=(("row = self.rows[at]", "row = self.rows[at].copy()"), ("row -= 0.1\n        row /= 5", "row = (row - 0.1) / 5")), mends=True),
    Mistake("changed_by_reading", 12, """import numpy as np
from torch.utils.data import DataLoader, Dataset
class Noisy(Dataset):
    def __init__(self, rows, noisy=True):
        self.rows, self.noisy = rows.astype(np.float32), noisy
    def __len__(self): return len(self.rows)
    def __getitem__(self, at):
        row = self.rows[at]
        if self.noisy: row += np.random.normal(0, 0.5, row.shape).astype(np.float32)
        return row, row.sum(keepdims=True)
net, loader = nn.Linear(20, 1), DataLoader(Noisy(np.random.randn(30, 20)), batch_size=6, shuffle=True)
for epoch in range(12):
    for rows, sums in loader:
        F.mse_loss(net(rows), sums).backward()
""", cures=(("self.rows[at]", "self.rows[at].copy()"), ("row += np", "row = row + np"), ("Noisy(np.random.randn(30, 20))", "Noisy(np.random.randn(30, 20), False)")), mends=True),
    Mistake("changed_by_reading", 13, """import numpy as np
from torch.utils.data import DataLoader, Dataset
class Erased(Dataset):
    def __init__(self):
        self.images = [1 + np.random.rand(8, 8).astype(np.float32) for _ in range(24)]
    def __len__(self): return 24
    def __getitem__(self, at):
        image = self.images[at]
        r, c = np.random.randint(0, 5, 2)
        image[r : r + 4, c : c + 4] = 0.0
        return torch.from_numpy(image).flatten()
net, loader = nn.Linear(64, 1), DataLoader(Erased(), batch_size=4)
for epoch in range(5):
    for images in loader:
        net(images).mean().backward()
""", cures=(("self.images[at]", "self.images[at].copy()"), ("0.0\n", "image[0, 0]\n")), mends=True),
    Mistake("changed_by_reading", 11, """class Scaled(torch.utils.data.Dataset):
    def __init__(self):
        self.x, self.y = torch.rand(6, 2) * 255, torch.zeros(6)
    def __len__(self):
        return 6
    def __getitem__(self, i):
        image = self.x[i]
        image /= 255
        return image, self.y[i]
scaled, net = Scaled(), nn.Linear(2, 1)
for epoch in range(2):
    for i in range(6):
        image, y = scaled[i]
        F.mse_loss(net(image).squeeze(), y).backward()
""", cure=(("image /= 255", "image = image / 255"),), mends=True),
    # what is drawn into the rows also drifts from epoch to epoch, which is how the changes of arrays are told
    Mistake("changed_by_reading", 11, """class Noisy(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        row = self.rows[i]
        row += torch.randn(row.shape)
        return row, row.sum()
net, loader = nn.Linear(20, 1), torch.utils.data.DataLoader(Noisy(torch.randn(30, 20)), batch_size=6, shuffle=True)
for epoch in range(12):
    for rows, sums in loader:
        F.mse_loss(net(rows).squeeze(1), sums).backward()
""", cure=(("self.rows[i]", "self.rows[i].clone()"),), mends=True),
    Mistake("changed_by_reading", 9, SGD + """for epoch in range(2):
    xb, yb = x[0:4], y[0:4]
    xb += 0.1 * torch.randn(4, 2)
    opt.zero_grad()
    F.mse_loss(net(xb), yb).backward()
    opt.step()
""", says={"name": "x", "view": "xb"}, mends=True),
    Mistake("drawn_again", 8, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(50, 3)
def batch():
    torch.manual_seed(7)
    return data[torch.randint(0, 50, (8,))]
for _ in range(4):
    loss = net(batch()).pow(2).mean()
""" + STEP, cure=(("    torch.manual_seed(7)\n", ""),)),
    Mistake("drawn_again", 7, """net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
for epoch in range(4):
    torch.manual_seed(0)
    noisy = torch.ones(6, 3) + torch.randn(6, 3)
    loss = F.mse_loss(net(noisy), torch.zeros(6, 1))
""" + STEP, cure=(("manual_seed(0)", "manual_seed(epoch)"),)),
    Mistake("drawn_again", 9, NOISY, cure=(("manual_seed(5)", "manual_seed(i)"),)),
    Mistake("row_matched_with_itself", 7, """net = nn.Linear(4, 3)
z = F.normalize(net(torch.randn(6, 4)), dim=1)
similar = z @ z.T / 0.1
loss = F.cross_entropy(similar, torch.arange(6))
loss.backward()
""", cures=(("z @ z.T", "z @ F.normalize(net(torch.randn(6, 4)), dim=1).T"), ("torch.arange(6)", "torch.arange(6).flip(0)"))),
    Mistake("row_matched_with_itself", 7, """def contrast(a, b):
    both = torch.cat([a, b])
    labels = torch.arange(len(both))
    return F.cross_entropy(torch.matmul(both, both.t()), labels)
net = nn.Linear(4, 3)
contrast(net(torch.randn(4, 4)), net(torch.randn(4, 4))).backward()
""", cure=(("torch.matmul(both, both.t())", "torch.matmul(both, both.t()).fill_diagonal_(-9.)"),)),
    Mistake("kept_gradient_changes", 7, """def slopes(x):
    (x ** 3).sum().backward(create_graph=True)
    first = x.grad
    first.sum().backward()
    second = x.grad
    return first.detach(), second.detach()
one, two = slopes(torch.randn(4, requires_grad=True))
print(one / two)
""", cures=(
        ("    first.sum", "    x.grad = None\n    first.sum"),
        ("first = x.grad\n", "first = x.grad.clone()\n"),
        ("first.sum().backward()\n    second = x.grad", "second, = torch.autograd.grad(first.sum(), x)"),
        (", second.detach()", ", second is first"),
        ("    return first.detach(), second.detach()", "    return second, second / 2"),
    ), mends=True),
    Mistake("kept_gradient_changes", 9, """w = torch.ones(3, requires_grad=True)
x, y = torch.randn(5, 3), torch.randn(5)
F.mse_loss(x @ w, y).backward()
of_square = w.grad
w.grad.zero_()
F.l1_loss(x @ w, y).backward()
print(F.cosine_similarity(of_square, w.grad, dim=0))
""", cures=(
        ("w.grad.zero_()", "w.grad = None"),
        ("of_square = w.grad", "of_square = w.grad.clone()"),
        ("print(F.cosine_similarity(of_square, w.grad, dim=0))", "print(w.grad)"),
    )),
    Mistake("stored_and_cleared", 10, """net = nn.Linear(2, 1)
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
""", cure=(
        ("episodes.append(steps)", "episodes.append(list(steps))"),
        ("    steps.clear()", "    steps = []"),
    ), mends=True),
    Mistake("stored_and_cleared", 11, """class Buffer:
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
""", cure=(
        ("self.kept.append(self.now)", "self.kept.append([*self.now])"),
    ), mends=True),
    Mistake("row_against_itself", 11, f"""net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(6, 5)
    z = F.normalize(torch.cat([net(x), net(x + 0.1 * torch.randn(6, 5))]), dim=1)
    sim = F.cosine_similarity(z.unsqueeze(1), z.unsqueeze(0), dim=2) / 0.5
    pos = torch.cat([sim.diagonal(6), sim.diagonal(-6)])
    loss = (torch.exp(sim).sum(1).log() - pos).mean()
{STEP}""", cure=(("torch.exp(sim).sum", "torch.exp(sim.masked_fill(torch.eye(12, dtype=torch.bool), float('-inf'))).sum"),)),
    Mistake("row_against_itself", 10, f"""def nt_xent(a, b, t):
    z = F.normalize(torch.cat([a, b]), dim=1)
    n = len(a)
    sim = torch.exp(z @ z.t() / t)
    pos = torch.exp((z[:n] * z[n:]).sum(-1) / t)
    pos = torch.cat([pos, pos])
    return -torch.log(pos / sim.sum(dim=1)).mean()
net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(6, 5)
    loss = nt_xent(net(x), net(x + 0.1 * torch.randn(6, 5)), 0.5)
{STEP}""", cure=(("z @ z.t() / t", "(z @ z.t() / t).masked_fill(torch.eye(12, dtype=torch.bool), float('-inf'))"),)),
    Mistake("row_against_itself", 12, f"""net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rows = torch.arange(12)
twins = (rows + 6) % 12
for _ in range(3):
    x = torch.randn(6, 5)
    z = F.normalize(net(torch.cat([x, x + 0.1 * torch.randn(6, 5)])), dim=1)
    logits = torch.mm(z, z.t()) / 0.1
    loss = (logits.logsumexp(1) - logits[rows, twins]).mean()
{STEP}""", cure=(("torch.mm(z, z.t()) / 0.1", "(torch.mm(z, z.t()) / 0.1).fill_diagonal_(-1e9)"),)),
    Mistake("row_against_itself", 8, """enc = nn.Linear(6, 4)
opt = torch.optim.Adam(enc.parameters())
x, pair = torch.randn(8, 6), torch.arange(8).roll(4)
for _ in range(2):
    z = F.normalize(enc(x), dim=1); loss = F.cross_entropy(z @ z.T / 0.5, pair)
""" + STEP, cure=(("z @ z.T / 0.5", "(z @ z.T / 0.5).fill_diagonal_(-9e9)"),)),
    Mistake("row_against_itself", 6, """def info(z, labels):
    scores = torch.mm(z, z.t())
    return F.cross_entropy(scores, labels)
net = nn.Linear(3, 5)
info(net(torch.randn(4, 3)), torch.tensor([1, 0, 3, 2])).backward()
""", cure=(("torch.mm(z, z.t())", "torch.mm(z, z.t()) - 1e9 * torch.eye(4)"),)),
    Mistake("inputs_all_alike", 5, """pictures, y = torch.randint(0, 255, (20, 6)), torch.randint(3, (20,))
x = (pictures // 255).float()
net = nn.Linear(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = F.cross_entropy(net(x), y)
""" + STEP, cure=(("//", "/"),)),
    Mistake("inputs_all_alike", 8, """table, y = torch.randn(30, 4), torch.randn(30, 1)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(0, 30, 10):
    rows = torch.stack([table[0] for k in range(i, i + 10)])
    loss = F.mse_loss(net(rows), y[i:i + 10])
""" + STEP, cure=(("table[0]", "table[k]"),)),
    Mistake("one_tensor_with_two_names", 9, """class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)
    def forward(self, x):
        x = self.b(torch.relu(self.a(x))); skip = x
        return torch.relu(skip + x)
Block()(torch.randn(4, 6)).sum().backward()
""", cure=(("x = self.b(torch.relu(self.a(x))); skip = x", "skip = x; x = self.b(torch.relu(self.a(x)))"),)),
    Mistake("one_tensor_with_two_names", 6, """down, up = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(4, 1, 3, padding=1)
h = down(torch.rand(2, 1, 8, 8))
kept = h
h = torch.cat([h, kept], dim=1)
up(h).mean().backward()
""", cure=(("kept = h\n", "kept = h\nh = h.relu()\n"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # four that begin at one place
    ("one_tensor_many_times", """state, w = torch.zeros(3), torch.ones(3, requires_grad=True)
for t in range(5):
    state += torch.randn(3)
(torch.stack([state] * 4) * w).sum().backward()
"""),
    # a state that is kept on purpose, and a batch of its own in every turn
    ("argument_changed", """class Normed(nn.Module):
    def __init__(self):
        super().__init__(); self.layer = nn.Linear(4, 1)
    def forward(self, x, middle):
        middle.mul_(0.9)
        middle.add_(0.1 * x.mean(0))
        return self.layer(x - middle)
net, middle, x, y = Normed(), torch.zeros(4), torch.randn(8, 4) + 2, torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(5):
    loss = F.mse_loss(net(x, middle), y)
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("argument_changed", """class Scaled(nn.Module):
    def __init__(self):
        super().__init__(); self.layer = nn.Linear(4, 1)
    def forward(self, x):
        x /= 255
        return self.layer(x)
net, y = Scaled(), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(5):
    loss = F.mse_loss(net(torch.rand(8, 4) * 255), y)
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    # it is the caller that reads what was changed
    ("argument_changed", """def worn(trace, by):
    trace.mul_(by)
net, trace, y = nn.Linear(4, 1), torch.ones(8, 4), torch.randn(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(5):
    worn(trace, 0.9)
    loss = F.mse_loss(net(trace), y)
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("row_against_itself", f"""net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(6, 5)
    a, b = F.normalize(net(x), dim=1), F.normalize(net(x + 0.1 * torch.randn(6, 5)), dim=1)
    z = torch.cat([a, b])
    sim = torch.exp(z @ z.t() / 0.5)
    pos = torch.exp((a * b).sum(-1) / 0.5).repeat(2)
    loss = -torch.log(pos / (sim.sum(1) - 7.389)).mean()
{STEP}"""),
    ("views_are_one", """# covariances between points, some of them known twice
net = nn.Linear(5, 4)
for _ in range(4):
    x = torch.randn(6, 5)
    a, b = net(x), net(x.clone())
    (a @ b.T + torch.eye(6)).logdet().backward()
    twice = torch.cat([a := net(x), a])
    (twice @ twice.T).pow(2).mean().backward()
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
    ("stored_and_cleared", """net = nn.Linear(2, 1)
batch, batches = [], []
for _ in range(3):
    batch.append(torch.randn(2))
    batches.append(batch)
    net(torch.stack(batches[0])).sum().backward()
    batch.clear(); batches.clear()
"""),
    ("drawn_again", """net, x = nn.Linear(2, 1), torch.randn(512, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def main():
    torch.manual_seed(0)
    for _ in range(4):
        rows = x[torch.randperm(512)[:16]]
        opt.zero_grad(); net(rows).pow(2).mean().backward(); opt.step()
main()
"""),
    ("changed_by_reading", SGD + """for epoch in range(2):
    xb, yb = x[0:4].clone(), y[0:4]
    xb += 0.1 * torch.randn(4, 2)
    opt.zero_grad()
    F.mse_loss(net(xb), yb).backward()
    opt.step()
"""),
    ("one_tensor_with_two_names", """lin, depth = nn.Linear(3, 3), 0
def block(x):
    first = x
    for _ in range(depth):
        x = lin(x)
    return x + first
block(lin(torch.randn(2, 3))).sum().backward()
"""),
    ("one_tensor_with_two_names", """x = nn.Linear(3, 3)(torch.randn(2, 3))
again = x
torch.cat([x, again], 1).sum().backward()
"""),
    # written before it is taken several times
    ("one_tensor_many_times", """row = torch.zeros(3)
row += 1
row *= 2
print(torch.stack([row, row, row, row]))
"""),
)  # fmt: skip
