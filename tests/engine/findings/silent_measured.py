"""Mistakes in what a model is given, scored against and measured by, as people write them, each with what makes it
right."""

from tests.engine.findings.silent import Case
from tests.engine.findings.silent_values import Pair

DATA = "from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split\n"
"""Line 4."""
STEP = "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
MODEL = """class GPT(nn.Module):
    def __init__(self, vocab=9, d=8):
        super().__init__()
        self.tok, self.place = nn.Embedding(vocab, d), nn.Parameter(torch.randn(6, d))
        layer = nn.TransformerEncoderLayer(d, 2, 8, dropout=0.0, batch_first=True)
        self.body, self.head = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(d, vocab)
    def forward(self, ids, mask=None):
        return self.head(self.body(self.tok(ids) + self.place[:ids.size(1)], mask=mask))
gpt = GPT()
opt = torch.optim.AdamW(gpt.parameters(), lr=1e-3)
future = nn.Transformer.generate_square_subsequent_mask(6)
"""
"""Lines 4 to 14."""
HEAD_OF_OWN = """class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(9, 8)
        self.q, self.k, self.v, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 9)
    def forward(self, ids):
        x = self.tok(ids)
        scores = self.q(x) @ self.k(x).transpose(1, 2) / 8 ** 0.5
        return self.out(scores.softmax(-1) @ self.v(x))
def batch(data, i):
    x = torch.stack([data[j:j + 6] for j in i])
    y = torch.stack([data[j + 1:j + 7] for j in i])
    return x, y
net, data = Head(), torch.randint(9, (40,))
x, y = batch(data, [0, 9, 20, 30])
F.cross_entropy(net(x).view(-1, 9), y.view(-1)).backward()
"""
READER = """class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.rnn = nn.Embedding(9, 4), nn.LSTM(4, 5, batch_first=True, bidirectional=True)
        self.out = nn.Linear(10, 9)
    def forward(self, ids):
        return self.out(self.rnn(self.tok(ids))[0])
net, ids = Reader(), torch.randint(0, 9, (5, 7))
F.cross_entropy(net(ids)[:, :-1].reshape(-1, 9), ids[:, 1:].reshape(-1)).backward()
"""
PADDED = """from torch.nn.utils.rnn import pad_sequence
rows = [torch.randint(1, 9, (n,)) for n in (3, 7, 5)]
ids = pad_sequence(rows, batch_first=True)
tok, rnn, out = nn.Embedding(9, 4, padding_idx=0), nn.GRU(4, 5, batch_first=True), nn.Linear(5, 9)
criterion = nn.CrossEntropyLoss()
scores = out(rnn(tok(ids[:, :-1]))[0])
loss = criterion(scores.flatten(0, 1), ids[:, 1:].flatten())
loss.backward()
"""
BINARY = """x = torch.randn(300, 3)
y = (x[:, :1] > 0).float()
net = nn.Linear(3, 1)
with torch.no_grad():
    net.weight.mul_(9)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(2):
    logits = net(x)
    loss = F.binary_cross_entropy_with_logits(logits, y)
    opt.zero_grad(); loss.backward(); opt.step()
with torch.no_grad():
    right = ((net(x) > 0.5).float() == y).float().mean()
"""
LOADED = (
    DATA
    + """x, y = torch.randn(32, 3), torch.randint(2, (32,))
train_set, test_set = random_split(TensorDataset(x, y), [24, 8])
train_loader = DataLoader(train_set, batch_size=8, shuffle=True)
test_loader = DataLoader(train_set, batch_size=8)
net = nn.Linear(3, 2); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in train_loader:
    loss = F.cross_entropy(net(xb), yb)
"""
    + STEP
    + """total, hits = 0.0, 0
with torch.no_grad():
    for xb, yb in test_loader:
        total += F.cross_entropy(net(xb), yb).item()
        hits += (net(xb).argmax(1) == yb).sum().item()
"""
)
SORTED = (
    DATA
    + """y = torch.arange(3).repeat_interleave(20)
loader = DataLoader(TensorDataset(torch.randn(60, 2), y), batch_size=5)
net = nn.Linear(2, 3); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in loader:
    loss = F.cross_entropy(net(xb), yb)
"""
    + STEP
)
RATE = (
    """x, y = torch.randn(40, 4), torch.randn(40, 1)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=RATE)
for i in range(6):
    loss = F.mse_loss(net(x), y)
"""
    + STEP
)

PAIRS = (
    Pair("answer_seen", 11, MODEL + """ids = torch.randint(0, 9, (4, 7))
loss = F.cross_entropy(gpt(ids[:, :-1]).reshape(-1, 9), ids[:, 1:].reshape(-1))
loss.backward(); opt.step()
""", (("gpt(ids[:, :-1])", "gpt(ids[:, :-1], future)"), ("ids[:, 1:].reshape", "torch.randint(0, 9, (4, 6)).reshape"))),
    Pair("answer_seen", 12, HEAD_OF_OWN, (
        ("scores.softmax", "scores.masked_fill(torch.ones(6, 6).triu(1).bool(), float('-inf')).softmax"),
        ("data[j + 1:j + 7] for j in i])", "data[j + 1:j + 7] for j in i]) % 8 // 2"),
    )),
    Pair("answer_seen", 10, """tok, qkv, out = nn.Embedding(9, 8), nn.Linear(8, 24), nn.Linear(8, 9)
ids = torch.randint(0, 9, (4, 7))
x = tok(ids)
q, k, v = qkv(x).chunk(3, dim=-1)
def attend(q, k, v):
    q, k, v = (t.view(4, 7, 2, 4).transpose(1, 2) for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(4, 7, 8)
scores = out(x + attend(q, k, v))
F.cross_entropy(scores[:, :-1].reshape(-1, 9), ids[:, 1:].reshape(-1)).backward()
""", (("attention(q, k, v)", "attention(q, k, v, is_causal=True)"),)),
    Pair("answer_read_backwards", 10, READER, (
        ("nn.LSTM(4, 5, batch_first=True, bidirectional=True)", "nn.LSTM(4, 10, batch_first=True)"), ("ids[:, 1:]", "(ids[:, 1:] * 5 % 7)"),
    )),
    Pair("answer_read_backwards", 6, """tok, rnn, out = nn.Embedding(9, 4), nn.GRU(4, 5, bidirectional=True, batch_first=True), nn.Linear(10, 9)
data = torch.tensor([[1, 2, 3, 4, 5, 6, 7], [3, 1, 4, 1, 5, 2, 6]]); x, y = data[:, :-1].clone(), data[:, 1:].clone()
h, _ = rnn(tok(x))
F.cross_entropy(out(h).transpose(1, 2), y).backward()
""", (("tok(x)", "tok(y.flip(0))"),)),
    Pair("scores_cut_at_half", 15, BINARY, (
        ("net(x) > 0.5", "net(x) > 0"), ("net(x) > 0.5", "net(x).sigmoid() > 0.5"), ("net(x) > 0.5", "x[:, :1] > 0.5"),
    )),
    Pair("scores_cut_at_half", 14, """class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(2, 3)
    def forward(self, x): return self.fc(x)
net, x, y = Net(), 9 * torch.randn(20, 2), torch.randint(0, 2, (20, 3)).float()
opt = torch.optim.Adam(net.parameters()); criterion = nn.BCEWithLogitsLoss()
for i in range(2):
    loss = criterion(net(x), y)
""" + STEP.replace("\n    ", "; ") .replace("opt.step()", "opt.step()") + """net.eval(); out = net(x).detach()
pred = torch.round(out)
print((pred == y).float().mean())
""", (("torch.round(out)", "torch.round(torch.sigmoid(out))"),)),
    Pair("fractions_lost", 5, """share = torch.rand(30) * 0.9
target = share.long()
net = nn.Linear(2, 1)
F.mse_loss(net(torch.randn(30, 2)).squeeze(1), target.float()).backward()
""", (("share.long()", "share.double()"), ("share.long()", "share.round().long()"), ("* 0.9", "* 9"))),
    Pair("fractions_lost", 6, """emb, fc = nn.Embedding(10, 3), nn.Linear(3, 1)
hour = torch.tensor([0.1, 0.5, 0.25, 0.9])
fc(emb(hour.to(torch.int64))).sum().backward()
""", (("hour.to(torch.int64)", "(hour * 10).to(torch.int64)"), ("[0.1, 0.5, 0.25, 0.9]", "[1.0, 5.0, 2.0, 9.0]"))),
    Pair("steps_too_long", 6, RATE.replace("RATE", "30"), (("lr=30", "lr=1e-2"), ("lr=30", "lr=0.3"))),
    Pair("steps_too_long", 8, """x = torch.rand(50, 4)
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
""", (("50.0)", "0.05)"), ("net.parameters(), 50.0", "[{'params': net.parameters()}], 1e-3"))),
    Pair("loss_summed", 6, """x = torch.randn(400, 3); y = x @ torch.tensor([[1.], [2.], [-1.]])
net = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))
criterion = nn.MSELoss(reduction="sum")
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
for i in range(12):
    loss = criterion(net(x), y)
""" + STEP, (('"sum"', '"mean"'), ("lr=0.02", "lr=0.00001"))),
    Pair("loss_summed", 7, """x = torch.randn(200, 2); y = 3 * x.sum(1, keepdim=True)
net = nn.Linear(2, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(15):
    loss = F.mse_loss(net(x), y, reduction='sum')
""" + STEP, (("reduction='sum'", "reduction='mean'"), ("lr=0.1", "lr=0.0001"))),
    # as filters and views hide them
    Pair("loss_broadcast", 9, """import warnings
warnings.filterwarnings("ignore")
net, x, y = nn.Linear(2, 1), torch.randn(9, 2), torch.randn(9)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    loss = F.mse_loss(net(x), y)
""" + STEP, (("F.mse_loss(net(x), y)", "F.mse_loss(net(x).squeeze(1), y)"),)),
    Pair("view_for_permute", 7, """tok, rnn, out = nn.Embedding(9, 4), nn.GRU(4, 5, batch_first=True), nn.Linear(5, 3)
ids = torch.randint(0, 9, (4, 6))
scores = out(rnn(tok(ids))[0])
loss = F.cross_entropy(scores.view(4, 3, 6), ids % 3)
loss.backward()
""", (("scores.view(4, 3, 6)", "scores.transpose(1, 2)"),)),
    Pair("words_hidden", 10, """class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.q, self.k, self.out = nn.Embedding(9, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
    def forward(self, ids):
        h = self.tok(ids)
        seen = (ids == 0).unsqueeze(1)
        scores = self.q(h) @ self.k(h).transpose(1, 2)
        scores = scores.masked_fill(~seen, -1e9)
        return self.out((scores.softmax(-1) @ h)[:, 0])
ids = torch.tensor([[3, 4, 0, 0], [5, 1, 2, 0]])
F.cross_entropy(Bert()(ids), torch.tensor([0, 1])).backward()
""", (("ids == 0", "ids != 0"), ("~seen", "seen"), ("~seen", "seen == 1"))),
    Pair("nothing_shifted", 7, """steps = 300
betas = torch.linspace(0.001, 0.1, steps)
kept = torch.cumprod(1 - betas, dim=0)
before = F.pad(kept[:-1], (0, 1), value=1.0)
spread = betas * (1 - before) / (1 - kept)
net = nn.Linear(3, 3)
t = torch.randint(0, steps, (8,))
x = torch.randn(8, 3)
F.mse_loss(net(x) * spread[t, None], x).backward()
""", (
        ("(0, 1)", "(1, 0)"),
        ("- before)", "- 0.5)"),
    )),
    Pair("nothing_shifted", 7, """class Sampler:
    def __init__(self, levels):
        self.sigmas = torch.linspace(2, 0.1, levels) ** 2
        self.next = torch.cat([self.sigmas.new_zeros(1), self.sigmas[1:]])
        self.width = (self.sigmas - self.next).clamp(min=0)
    def walk(self, net, x):
        for sigma, width in zip(self.sigmas, self.width):
            x = x - width * net(x * sigma)
        return x
net = nn.Linear(2, 2)
Sampler(9).walk(net, torch.randn(5, 2)).square().sum().backward()
""", (
        ("[self.sigmas.new_zeros(1), self.sigmas[1:]]", "[self.sigmas[1:], self.sigmas.new_zeros(1)]"),
        ("new_zeros(1)", "new_ones(1)"),
    )),
    Pair("common_class_weighed_up", 8, """fraud = (torch.arange(400) % 16 == 0).float()
table = torch.randn(400, 3) + fraud[:, None]
ones = fraud.sum()
zeros = len(fraud) - ones
measure = nn.BCEWithLogitsLoss(pos_weight=ones / zeros)
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
for begin in range(0, 400, 100):
    loss = measure(net(table[begin : begin + 100]).squeeze(1), fraud[begin : begin + 100])
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("=ones / zeros", "=zeros / ones"),
        ("% 16 == 0", "% 2 == 0"),
    )),
    Pair("common_class_weighed_up", 6, """kinds = torch.cat([torch.zeros(60), torch.ones(25), torch.full((8,), 2)]).long()
counts = torch.bincount(kinds)
weights = counts / counts.sum()
net = nn.Linear(4, 3)
order = torch.randperm(93)
for part in order.split(31):
    F.cross_entropy(net(torch.randn(len(part), 4)), kinds[part], weight=weights).backward()
""", (
        ("counts / counts.sum()", "counts.sum() / counts"),
        ("counts / counts.sum()", "torch.tensor([1.0, 1.0, 0.5])"),
    )),
    Pair("written_too_late", 14, """critic, aim = nn.Linear(4, 3), nn.Linear(4, 3)
opt = torch.optim.Adam(critic.parameters())
table, gains, over = torch.randn(24, 4), torch.randn(24), torch.arange(24) % 5 == 0
for _ in range(4):
    here = torch.randint(0, 24, (8,))
    there = (here + 1) % 24
    with torch.no_grad():
        worth = aim(table[there]).amax(1)
        target = gains[here] + 0.9 * worth
        size = target.abs().mean()
        worth[over[here]] = 0.0
    loss = F.mse_loss(critic(table[here]).amax(1), target)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item(), size.item())
""", (
        ("        target = gains[here] + 0.9 * worth\n        size = target.abs().mean()\n        worth[over[here]] = 0.0\n", "        worth[over[here]] = 0.0\n        target = gains[here] + 0.9 * worth\n        size = target.abs().mean()\n"),
        ("        size = target.abs().mean()\n        worth[over[here]] = 0.0\n", "        worth[over[here]] = 0.0\n        size = worth.abs().mean()\n"),
    )),
    Pair("written_too_late", 9, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def step(x, y, late):
    goal = y * 2
    off = net(x).squeeze(1) - goal
    goal *= late
    opt.zero_grad(); off.square().mean().backward(); opt.step()
for turn in range(4):
    x = torch.randn(6, 3)
    step(x, x.sum(1), (x[:, 0] > 0).float())
""", (
        ("    off = net(x).squeeze(1) - goal\n    goal *= late\n", "    goal *= late\n    off = net(x).squeeze(1) - goal\n"),
        ("    goal *= late\n", "    goal *= late\n    print(goal)\n"),
    )),
    Pair("load_overwritten", 19, """import io
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 6), nn.Linear(6, 1)
    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))
def begin(part):
    if isinstance(part, nn.Linear):
        nn.init.kaiming_normal_(part.weight)
        part.bias.data.zero_()
file = io.BytesIO()
torch.save(Net().body.state_dict(), file)
net = Net()
net.body.load_state_dict(torch.load(io.BytesIO(file.getvalue())))
net.apply(begin)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); net(torch.randn(5, 4)).square().mean().backward(); opt.step()
""", (
        ("net.apply(begin)", "net.head.apply(begin)"),
        ("net.apply(begin)", "net(torch.randn(5, 4)); net.apply(begin)"),
    )),
    Pair("load_overwritten", 7, """kept = nn.Linear(3, 1).state_dict()
net = nn.Linear(3, 1)
net.load_state_dict(kept)
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
net(torch.randn(4, 3)).sum().backward()
opt.step()
""", (
        ("net.load_state_dict(kept)\nnet = nn.Linear(3, 1)\n", "net = nn.Linear(3, 1)\nnet.load_state_dict(kept)\n"),
        ("(kept)\n", "(kept)\nprint(net.weight.mean())\n"),
    )),
    Pair("divergence_of_two_variances", 9, """enc, dec = nn.Linear(5, 4), nn.Linear(2, 5)
x = torch.randn(300, 5)
for _ in range(3):
    mean, width = enc(x).chunk(2, 1)
    made = dec(mean + torch.randn_like(mean) * width.exp())
    far = -0.5 * (1 + 2 * width - mean ** 2 - torch.exp(width)).sum(1).mean()
    (F.mse_loss(made, x) + 0.01 * far).backward()
""", (
        ("torch.exp(width))", "torch.exp(2 * width))"),
        ("torch.exp(width))", "torch.exp(width) ** 2)"),
    )),
    Pair("divergence_of_two_variances", 8, """enc, dec = nn.Linear(5, 4), nn.Linear(2, 5)
x = torch.randn(30, 5)
def apart(mean, sigma):
    far = mean.square() + sigma * sigma
    return (far - 1 - torch.log(sigma)).sum(1).mean() / 2
for _ in range(3):
    mean, raw = enc(x).chunk(2, 1)
    sigma = F.softplus(raw)
    made = dec(mean + torch.randn_like(mean) * sigma)
    (F.mse_loss(made, x) + 0.01 * apart(mean, sigma)).backward()
""", (
        ("torch.log(sigma))", "2 * torch.log(sigma))"),
        ("torch.log(sigma))", "torch.log(sigma ** 2))"),
        ("far - 1 - torch.log(sigma)", "far / 4 - 1 - torch.log(sigma)"),
    )),
    Pair("eval_without_a_run", 15, """net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(20, 4), torch.randint(3, (20,))
train, held = torch.arange(12), torch.arange(12, 20)
for epoch in range(4):
    net.train()
    opt.zero_grad()
    out = net(x)
    loss = F.cross_entropy(out[train], y[train])
    loss.backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        print(F.cross_entropy(out[held], y[held]).item())
""", (
        ("    with torch.no_grad():\n", "    with torch.no_grad():\n        out = net(x)\n"),
        ("F.cross_entropy(out[held]", "F.cross_entropy(net(x)[held]"),
        ("    net.eval()\n", ""),
    )),
    Pair("eval_without_a_run", 21, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.out = nn.BatchNorm1d(4), nn.Linear(4, 1)
    def forward(self, x):
        return self.out(self.norm(x))
def fit(model, x, y, epochs):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        model.train()
        guess = model(x)
        error = F.mse_loss(guess[:8], y[:8])
        opt.zero_grad()
        error.backward()
        opt.step()
        print(epoch)
        with torch.no_grad():
            model.eval()
            print(F.mse_loss(guess[8:], y[8:]).item())
x = torch.randn(12, 4)
fit(Net(), x, x.sum(1, keepdim=True), 5)
""", (
        ("F.mse_loss(guess[8:]", "F.mse_loss(model(x[8:])"),
        ("print(epoch)", "model.eval(); print(F.mse_loss(model(x[8:]), y[8:]).item())"),
    )),
)  # fmt: skip

TRIGGERS = tuple(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS)
RIGHT: tuple[tuple[str, str], ...] = (
    # the last value is replaced: with what shares add up to, with a mark of the end, with where a ring begins
    (
        "nothing_shifted",
        """share = torch.softmax(torch.randn(9), 0)
reached = share.cumsum(0)
whole = torch.cat([reached[:-1], torch.ones(1)])
print((whole - share).sum(), (whole - reached).abs().max())
print(whole * F.pad(torch.zeros(9)[:-1], (0, 1), value=1.0))
angle = torch.linspace(0, 6, 9)
ring = torch.cat([angle[:-1], angle[:1]])
print(torch.stack([ring.cos(), ring.sin()]), torch.diff(angle))
heights = torch.tensor([3.0, 1.0, 2.0, 5.0])
print(F.pad(heights[:-1], (0, 1)) - heights)
""",
    ),
    # what is common weighs less; or a little less than its share, as somebody chose it
    (
        "common_class_weighed_up",
        """net, x = nn.Linear(3, 1), torch.randn(60, 3)
many = (torch.arange(60) % 5 > 0).float()
F.binary_cross_entropy_with_logits(net(x)[:, 0], many, pos_weight=(1 - many).sum() / many.sum()).backward()
F.binary_cross_entropy_with_logits(net(x)[:, 0], 1 - many, pos_weight=torch.tensor(0.7)).backward()
F.binary_cross_entropy_with_logits(net(x)[:, 0], 0.3 * many, pos_weight=torch.tensor(0.25)).backward()
F.cross_entropy(nn.Linear(3, 2)(x), many.long(), weight=torch.tensor([0.5, 0.5])).backward()
""",
    ),
    # what is kept in a list or another name and read later, or carried to the next turn; a buffer that is emptied
    (
        "written_too_late",
        """net, cell = nn.Linear(3, 1), nn.GRUCell(3, 3)
opt = torch.optim.SGD([*net.parameters(), *cell.parameters()], lr=0.1)
kept, h = [], torch.zeros(5, 3)
for turn in range(4):
    x = torch.randn(5, 3)
    over = torch.arange(5) == turn
    h = cell(x, h.detach())
    noise = torch.rand(5, 3)
    drawn = torch.rand(5, 3)
    buffer = x * 2
    kept.append(noise)
    other = drawn
    loss = net(h + noise + drawn + buffer).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        h[over] = 0.0
        noise[over] = 0.0
        drawn[over] = 0.0
        buffer.zero_()
    print(other.mean())
print(torch.stack(kept).mean())
""",
    ),
)
NEAR_MISSES = (
    *((pair.code, pair.program.replace(wrong, right)) for pair in PAIRS for wrong, right in pair.right),
    *RIGHT,
)
"""Each replacement makes it right by itself."""
