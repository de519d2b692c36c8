"""Mistakes found by values and by the way through the graph, as people write them, each with what makes it right."""

from typing import NamedTuple

from tests.engine.findings.silent import Case


class Pair(NamedTuple):
    """A program with a mistake, and the replacements that make it a right one."""

    code: str
    line: int
    program: str
    right: tuple[tuple[str, str], ...]

    def mended(self) -> str:
        """The right program."""
        program = self.program
        for wrong, right in self.right:
            assert wrong in program
            program = program.replace(wrong, right)
        return program


PAIRS = (
    Pair("one_class_softmax", 10, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 12)
        self.fc2 = nn.Linear(12, 1)
    def forward(self, x):
        return F.softmax(self.fc2(torch.relu(self.fc1(x))), dim=1)
X = torch.randn(64, 6)
y = (X[:, 0] > 0).float().unsqueeze(1)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
crit = nn.BCELoss()
for epoch in range(8):
    opt.zero_grad()
    loss = crit(net(X), y)
    loss.backward()
    opt.step()
    print(epoch, loss.item())
""", (
        ("F.softmax(self.fc2(torch.relu(self.fc1(x))), dim=1)", "torch.sigmoid(self.fc2(torch.relu(self.fc1(x))))"),
    )),
    Pair("one_class_loss", 11, """model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
X = torch.randn(40, 4)
y = torch.zeros(40, dtype=torch.long)
for epoch in range(5):
    out = model(X)
    loss = criterion(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
""", (
        ("nn.Linear(16, 1)", "nn.Linear(16, 2)"),
    )),
    Pair("one_class_choice", 20, """class Clf(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
    def forward(self, x):
        return self.body(x)
X = torch.randn(80, 5)
y = (X.sum(1) > 0).float()
model = Clf()
opt = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(6):
    logits = model(X)
    loss = F.binary_cross_entropy_with_logits(logits.squeeze(1), y)
    opt.zero_grad(); loss.backward(); opt.step()
model.eval()
with torch.no_grad():
    pred = model(X).argmax(dim=1)
    acc = (pred == y).float().mean()
print(acc)
""", (
        ("model(X).argmax(dim=1)", "(model(X).squeeze(1) > 0).float()"),
    )),
    Pair("nothing_loaded", 15, """def train(net):
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(60):
        opt.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        opt.step()
def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
big = nn.Sequential(build())
train(big)
model = build()
model.load_state_dict(big.state_dict(), strict=False)
print(model(torch.ones(1, 4)))
""", (("big.state_dict()", "big[0].state_dict()"),)),
    Pair("nothing_loaded", 14, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 2)
    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))
pretrained = Net()
checkpoint = {"module." + k: v for k, v in pretrained.state_dict().items()}
model = Net()
model.load_state_dict(checkpoint, strict=False)
model.eval()
x = torch.randn(3, 4)
with torch.no_grad():
    print(model(x))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
loss = F.cross_entropy(model(x), torch.tensor([0, 1, 0]))
loss.backward()
opt.step()
print(loss.item())
""", (
        ("{\"module.\" + k: v", "{k: v"),
    )),
    Pair("first_batch_again", 10, """from torch.utils.data import DataLoader, TensorDataset
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
""", (
        ("for step in range(10):\n    xb, yb = next(iter(loader))\n", "for xb, yb in loader:\n"),
        ("print(step, loss", "print(loss"),
    )),
    Pair("first_batch_again", 10, """X = torch.randn(96, 5); y = (X[:, 0] > 0).long()
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
""", (
        ("X[0:batch_size]", "X[i:i + batch_size]"),
        ("y[0:batch_size]", "y[i:i + batch_size]"),
    )),
    Pair("setting_without_effect", 9, """class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    def adjust(self, epoch):
        self.optimizer.lr = 1e-2 * 0.5 ** epoch
    def fit(self, X, y, epochs):
        for epoch in range(epochs):
            self.adjust(epoch)
            loss = F.mse_loss(self.model(X), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(loss.item())
X = torch.randn(16, 2)
Trainer(nn.Linear(2, 1)).fit(X, X.sum(1, keepdim=True), 5)
""", (
        ("self.optimizer.lr = 1e-2 * 0.5 ** epoch", "for g in self.optimizer.param_groups:\n            g[\"lr\"] = 1e-2 * 0.5 ** epoch"),
    )),
    Pair("shuffled_apart", 6, """def batches(x, t, bs):
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
""", (
        ("t[it[k:k + bs]]", "t[ix[k:k + bs]]"),
        ("    it = torch.randperm(t.size(0))\n", ""),
    )),
    Pair("gradient_flattened", 10, """model = nn.Linear(4, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
X = torch.randn(50, 4); y = X.sum(1, keepdim=True)
w = torch.zeros(1, requires_grad=True)
for step in range(5):
    out = model(X)
    loss = F.mse_loss(out, out.detach()) + 0 * w.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
""", (
        ("F.mse_loss(out, out.detach())", "F.mse_loss(out, y)"),
    )),
    Pair("weights_along_the_wrong_axis", 12, """class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q = nn.Linear(d, d); self.k = nn.Linear(d, d); self.v = nn.Linear(d, d)
        self.scale = d ** -0.5
    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        att = q @ k.transpose(-2, -1) * self.scale
        att = F.softmax(att, dim=1)
        return att @ v
x = torch.randn(4, 6, 8); y = torch.randint(0, 3, (4,))
att, head = Attention(8), nn.Linear(8, 3)
opt = torch.optim.Adam([*att.parameters(), *head.parameters()], lr=0.01)
for _ in range(5):
    loss = F.cross_entropy(head(att(x).mean(1)), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("F.softmax(att, dim=1)", "F.softmax(att, dim=-1)"),
    )),
    Pair("view_for_permute", 6, """imgs = torch.rand(8, 16, 16, 3)
labels = torch.randint(0, 4, (8,))
batch = imgs.reshape(-1, 3, 16, 16)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(4):
    loss = F.cross_entropy(net(batch), labels)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("imgs.reshape(-1, 3, 16, 16)", "imgs.permute(0, 3, 1, 2)"),
    )),
    Pair("view_for_permute", 12, """class MHA(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h; self.dk = d // h
        self.qkv = nn.Linear(d, 3 * d); self.out = nn.Linear(d, d)
    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.reshape(B, self.h, T, self.dk)
        k = k.reshape(B, self.h, T, self.dk)
        v = v.reshape(B, self.h, T, self.dk)
        att = F.softmax(q @ k.transpose(-2, -1) / self.dk ** 0.5, dim=-1)
        return self.out((att @ v).transpose(1, 2).reshape(B, T, D))
x = torch.randn(3, 5, 8)
m = MHA(8, 2); opt = torch.optim.Adam(m.parameters(), lr=0.01)
for _ in range(4):
    loss = F.mse_loss(m(x), x)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("q.reshape(B, self.h, T, self.dk)", "q.reshape(B, T, self.h, self.dk).transpose(1, 2)"),
        ("k.reshape(B, self.h, T, self.dk)", "k.reshape(B, T, self.h, self.dk).transpose(1, 2)"),
        ("v.reshape(B, self.h, T, self.dk)", "v.reshape(B, T, self.h, self.dk).transpose(1, 2)"),
    )),
    # 6 and 3 with a common divisor: no place is cut unevenly
    Pair("view_for_permute", 10, """class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(12, 36), nn.Linear(12, 12)
    def forward(self, x):
        q, k, v = self.qkv(x).view(2, 6, 3, 12).chunk(3, -1)
        q, k, v = q.view(2, 3, 6, 4), k.view(2, 3, 6, 4), v.view(2, 3, 6, 4)
        weights = F.softmax(q @ k.transpose(2, 3) / 2, -1)
        return self.out((weights @ v).transpose(1, 2).reshape(2, 6, 12))
x, m = torch.randn(2, 6, 12), Attention()
opt = torch.optim.Adam(m.parameters(), lr=0.01)
for _ in range(4):
    loss = F.mse_loss(m(x), x)
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("q, k, v = q.view(2, 3, 6, 4), k.view(2, 3, 6, 4), v.view(2, 3, 6, 4)", "q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)"),
    )),
    Pair("view_for_permute", 17, """class SelfAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.q = nn.Linear(d, d); self.k = nn.Linear(d, d); self.v = nn.Linear(d, d)
        self.proj = nn.Linear(d, d)
    def split(self, t):
        B, T, D = t.shape
        return t.view(B, T, self.h, D // self.h).transpose(1, 2)
    def forward(self, x):
        B, T, D = x.shape
        q, k, v = map(self.split, (self.q(x), self.k(x), self.v(x)))
        y = F.softmax(q @ k.transpose(2, 3) / (D // self.h) ** 0.5, -1) @ v
        y = y.contiguous().view(B, T, D)
        return self.proj(y)
x = torch.randn(2, 6, 12)
m = SelfAttention(12, 3); opt = torch.optim.Adam(m.parameters(), lr=0.01)
for _ in range(4):
    loss = (m(x) - x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("y.contiguous().view", "y.transpose(1, 2).contiguous().view"),
    )),
    Pair("view_for_permute", 12, """class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 6)
        self.lstm = nn.LSTM(6, 5, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(10, 3)
    def forward(self, x):
        _, (h, c) = self.lstm(self.emb(x))
        h = h.view(x.size(0), -1)
        return self.fc(h)
x = torch.randint(0, 20, (4, 7)); y = torch.randint(0, 3, (4,))
m = Tagger(); opt = torch.optim.Adam(m.parameters(), lr=0.01)
for _ in range(4):
    loss = F.cross_entropy(m(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("h.view(x.size(0), -1)", "h.transpose(0, 1).reshape(x.size(0), -1)"),
    )),
    Pair("view_for_permute", 9, """conv = nn.Conv1d(4, 5, 3, padding=1)
opt = torch.optim.Adam(conv.parameters(), lr=0.01)
x = torch.randn(6, 4, 9); t = torch.randint(0, 5, (6, 9))
for _ in range(3):
    out = conv(x)
    loss = F.cross_entropy(out.view(-1, 5), t.view(-1))
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("out.view(-1, 5)", "out.transpose(1, 2).reshape(-1, 5)"),
    )),
    Pair("batch_taken_for_time", 10, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 8)
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1, :])
X = torch.randn(10, 5, 3)
y = torch.randint(0, 2, (10,))
net = Net(); opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    loss = F.cross_entropy(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("nn.LSTM(3, 8)", "nn.LSTM(3, 8, batch_first=True)"),
    )),
    Pair("batch_taken_for_time", 12, """class Clf(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(25, 8)
        layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, dropout=0.0)
        self.enc = nn.TransformerEncoder(layer, num_layers=1)
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        h = self.enc(self.emb(x))
        return self.fc(h.mean(dim=1))
X = torch.randint(0, 25, (6, 9)); y = torch.randint(0, 2, (6,))
m = Clf(); opt = torch.optim.Adam(m.parameters(), lr=0.01)
for _ in range(3):
    loss = F.cross_entropy(m(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("dropout=0.0)", "dropout=0.0, batch_first=True)"),
    )),
    Pair("sample_picked_for_step", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(4, 6, batch_first=True)
        self.fc = nn.Linear(6, 1)
    def forward(self, x):
        out, h = self.rnn(x)
        return self.fc(out[-1])
X = torch.randn(12, 7, 4); y = torch.randn(7, 1)
net = Net(); opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    loss = F.mse_loss(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("out[-1]", "out[:, -1]"),
        ("torch.randn(7, 1)", "torch.randn(12, 1)"),
    )),
    Pair("modules_in_plain_list", 7, """class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.layers.append(nn.Linear(a, b))
        self.head = nn.Linear(sizes[-1], 1)
    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.head(x)
net = MLP([3, 8, 8])
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(32, 3); y = X.prod(1, keepdim=True)
for _ in range(5):
    loss = F.mse_loss(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("self.layers = []", "self.layers = nn.ModuleList()"),
    )),
    Pair("modules_in_plain_list", 8, """class Heads(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.heads = {}
        for n in names:
            self.heads[n] = nn.Linear(8, 1)
    def forward(self, x):
        h = torch.relu(self.body(x))
        return {n: head(h) for n, head in self.heads.items()}
m = Heads(["a", "b"])
opt = torch.optim.SGD(m.parameters(), lr=0.1)
X = torch.randn(16, 4)
for _ in range(4):
    out = m(X)
    loss = (out["a"] - X[:, :1]).pow(2).mean() + (out["b"] - X[:, 1:2]).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("self.heads = {}", "self.heads = nn.ModuleDict()"),
    )),
    Pair("layer_made_in_forward", 10, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
    def forward(self, x):
        x = torch.relu(self.conv(x)).flatten(1)
        fc = nn.Linear(x.shape[1], 3)
        return fc(x)
X = torch.randn(6, 1, 8, 8); y = torch.randint(0, 3, (6,))
net = Net(); opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(5):
    loss = F.cross_entropy(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("self.conv = nn.Conv2d(1, 4, 3)", "self.conv = nn.Conv2d(1, 4, 3)\n        self.fc = nn.Linear(4 * 36, 3)"),
        ("        fc = nn.Linear(x.shape[1], 3)\n        return fc(x)", "        return self.fc(x)"),
    )),
    Pair("mode_layer_made_in_forward", 10, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16); self.fc2 = nn.Linear(16, 2)
    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = nn.Dropout(0.5)(x)
        return self.fc2(x)
X = torch.randn(40, 4); y = (X[:, 0] > 0).long()
net = Net(); opt = torch.optim.Adam(net.parameters(), lr=0.01)
def train():
    net.train()
    for _ in range(5):
        loss = F.cross_entropy(net(X), y)
        opt.zero_grad(); loss.backward(); opt.step()
def test():
    net.eval()
    with torch.no_grad():
        return (net(X).argmax(1) == y).float().mean().item()
train()
print(test(), test())
""", (
        ("self.fc2 = nn.Linear(16, 2)", "self.fc2 = nn.Linear(16, 2)\n        self.drop = nn.Dropout(0.5)"),
        ("nn.Dropout(0.5)(x)", "self.drop(x)"),
    )),
    Pair("layer_repeated", 7, """class Deep(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(d, d)] * n)
        self.out = nn.Linear(d, 1)
    def forward(self, x):
        for l in self.layers:
            x = torch.relu(l(x))
        return self.out(x)
net = Deep(6, 4); print(sum(p.numel() for p in net.parameters()))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(20, 6); y = X.mean(1, keepdim=True)
for _ in range(4):
    loss = F.mse_loss(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("[nn.Linear(d, d)] * n", "[nn.Linear(d, d) for _ in range(n)]"),
    )),
    Pair("layer_repeated", 5, """block = nn.Sequential(nn.Linear(5, 5), nn.Tanh())
net = nn.Sequential(*[block for _ in range(3)], nn.Linear(5, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(30, 5); y = torch.randint(0, 2, (30,))
for _ in range(4):
    loss = F.cross_entropy(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("block = nn.Sequential(nn.Linear(5, 5), nn.Tanh())", "def block():\n    return nn.Sequential(nn.Linear(5, 5), nn.Tanh())"),
        ("*[block for", "*[block() for"),
    )),
    Pair("tied_by_copy", 9, """class LM(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.out = nn.Linear(d, v, bias=False)
        self.out.weight.data = self.emb.weight.data.clone()  # tie weights
    def forward(self, x):
        return self.out(self.emb(x))
m = LM(12, 6)
opt = torch.optim.Adam(m.parameters(), lr=0.01)
x = torch.randint(0, 12, (4, 5)); y = torch.randint(0, 12, (4, 5))
for _ in range(4):
    loss = F.cross_entropy(m(x).view(-1, 12), y.view(-1))
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
print((m.out.weight - m.emb.weight).abs().max())
""", (
        ("self.out.weight.data = self.emb.weight.data.clone()", "self.out.weight = self.emb.weight"),
    )),
    Pair("parameter_behind_op", 7, """class Layer(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.w = nn.Parameter(torch.randn(a, b)) * 0.1
        self.b = nn.Parameter(torch.zeros(b))
    def forward(self, x):
        return x @ self.w + self.b
m = Layer(4, 1)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
X = torch.randn(20, 4); y = X.sum(1, keepdim=True)
for _ in range(5):
    loss = F.mse_loss(m(X), y)
    opt.zero_grad(); loss.backward(retain_graph=True); opt.step()
    print(loss.item())
""", (
        ("nn.Parameter(torch.randn(a, b)) * 0.1", "nn.Parameter(torch.randn(a, b) * 0.1)"),
        ("retain_graph=True", ""),
    )),
    Pair("evaluated_in_train", 20, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Dropout(0.3), nn.Linear(20, 2))
    def forward(self, x):
        return self.net(x)
X = torch.randn(80, 5); y = (X[:, 0] > 0).long()
Xt = torch.randn(20, 5); yt = (Xt[:, 0] > 0).long()
model = Net(); opt = torch.optim.Adam(model.parameters(), lr=0.01)
def train():
    model.train()
    loss = F.cross_entropy(model(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    return loss.item()
def evaluate():
    with torch.no_grad():
        out = model(Xt)
        return (out.argmax(1) == yt).float().mean().item()
for epoch in range(4):
    print(epoch, train(), evaluate())
""", (
        ("def evaluate():\n", "def evaluate():\n    model.eval()\n"),
    )),
    Pair("evaluated_in_train", 16, """net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
X, y = torch.randn(50, 4), torch.randn(50, 1)
Xv, yv = torch.randn(10, 4), torch.randn(10, 1)
for epoch in range(5):
    net.train()
    for i in range(0, 50, 25):
        opt.zero_grad()
        loss = F.mse_loss(net(X[i:i+25]), y[i:i+25])
        loss.backward()
        opt.step()
    with torch.no_grad():
        val = F.mse_loss(net(Xv), yv)
    print(epoch, loss.item(), val.item())
""", (
        ("    with torch.no_grad():", "    net.eval()\n    with torch.no_grad():"),
    )),
    Pair("penalty_without_graph", 17, """class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    def forward(self, x):
        return self.net(x)
critic = Critic(); opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
real = torch.randn(16, 2) + 2
for _ in range(3):
    fake = torch.randn(16, 2)
    eps = torch.rand(16, 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mix)
    g = torch.autograd.grad(score.sum(), mix, retain_graph=True)[0]
    gp = ((g.norm(dim=1) - 1) ** 2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * gp
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item(), gp.item())
""", (
        ("retain_graph=True", "create_graph=True"),
    )),
    Pair("term_without_gradient", 12, """model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
X = torch.randn(30, 4); y = X.sum(1, keepdim=True)
lam = 0.01
for _ in range(5):
    mse = F.mse_loss(model(X), y)
    reg = 0
    for p in model.parameters():
        reg = reg + (p.data ** 2).sum()
    loss = mse + lam * reg
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("p.data **", "p **"),
    )),
    Pair("term_without_gradient", 10, """G, D = nn.Linear(3, 4), nn.Linear(4, 1)
opt = torch.optim.Adam(G.parameters(), lr=0.01)
for _ in range(3):
    want = torch.randn(8, 4)
    fake = G(torch.randn(8, 3))
    score = D(fake)
    fooled = F.binary_cross_entropy_with_logits(score, torch.ones(8, 1)).detach().item()
    loss = F.l1_loss(fake, want) + 0.1 * fooled
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        (".detach().item()", ""),
    )),
    Pair("term_without_gradient", 10, """G, D = nn.Linear(3, 4), nn.Linear(4, 1)
opt = torch.optim.Adam(G.parameters(), lr=0.01)
for _ in range(3):
    want = torch.randn(8, 4)
    fake = G(torch.randn(8, 3))
    score = D(fake)
    fooled = F.binary_cross_entropy_with_logits(score.detach(), torch.ones(8, 1))
    loss = F.l1_loss(fake, want) + 0.1 * fooled
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("score.detach()", "score"),
    )),
    Pair("term_without_gradient", 10, """net, head = nn.Linear(5, 3), nn.Linear(3, 2)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    a, b, y = torch.randn(6, 5), torch.randn(6, 5), torch.randint(0, 2, (6,))
    ea, eb = net(a), net(b)
    keep = [0, 2, 5]
    far = torch.from_numpy(ea.data.numpy()[keep]) - eb[keep].detach()
    loss = F.cross_entropy(head(ea), y) + far.pow(2).sum(1).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", (
        ("torch.from_numpy(ea.data.numpy()[keep])", "ea[keep]"),
    )),
    Pair("term_without_gradient", 10, """model = nn.Linear(6, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
X = torch.randn(40, 6); y = X[:, :1]
for epoch in range(5):
    opt.zero_grad()
    loss = F.mse_loss(model(X), y)
    l1 = sum(p.abs().sum().item() for p in model.parameters())
    total = loss + 0.001 * l1
    total.backward()
    opt.step()
    print(epoch, total.item())
""", (
        (".sum().item()", ".sum()"),
    )),
    Pair("masked_after_softmax", 12, """class CausalAttention(nn.Module):
    def __init__(self, d, T):
        super().__init__()
        self.q = nn.Linear(d, d); self.k = nn.Linear(d, d); self.v = nn.Linear(d, d)
        self.register_buffer("mask", torch.tril(torch.ones(T, T)))
    def forward(self, x):
        att = self.q(x) @ self.k(x).transpose(1, 2) / x.size(-1) ** 0.5
        att = F.softmax(att, dim=-1)
        att = att * self.mask
        return att @ self.v(x)
x = torch.randn(3, 5, 8)
m = CausalAttention(8, 5); opt = torch.optim.Adam(m.parameters(), lr=0.01)
for _ in range(3):
    loss = F.mse_loss(m(x)[:, :-1], x[:, 1:])
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("        att = F.softmax(att, dim=-1)\n        att = att * self.mask\n", "        att = att.masked_fill(self.mask == 0, float(\"-inf\"))\n        att = F.softmax(att, dim=-1)\n"),
    )),
    Pair("masked_by_zero_scores", 6, """def attend(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
    s = s * mask
    return torch.softmax(s, dim=-1) @ v
emb = nn.Embedding(10, 6); out = nn.Linear(6, 10)
opt = torch.optim.Adam([*emb.parameters(), *out.parameters()], lr=0.01)
x = torch.randint(0, 10, (4, 7))
mask = torch.tril(torch.ones(6, 6))
for _ in range(3):
    h = emb(x[:, :-1])
    loss = F.cross_entropy(out(attend(h, h, h, mask)).transpose(1, 2), x[:, 1:])
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("s = s * mask", "s = s.masked_fill(mask == 0, float(\"-inf\"))"),
    )),
    Pair("kl_of_probabilities", 12, """teacher = nn.Linear(6, 4); student = nn.Linear(6, 4)
for p in teacher.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), lr=0.01)
X = torch.randn(20, 6)
for _ in range(4):
    p = F.softmax(student(X), dim=1)
    q = F.softmax(teacher(X), dim=1)
    loss = F.kl_div(p, q, reduction="batchmean")
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("p = F.softmax(", "p = F.log_softmax("),
    )),
    Pair("kl_target_logarithms", 10, """student = nn.Linear(6, 4)
target = torch.randn(20, 4)
opt = torch.optim.Adam(student.parameters(), lr=0.01)
X = torch.randn(20, 6)
kl = nn.KLDivLoss(reduction="batchmean")
for _ in range(4):
    loss = kl(F.log_softmax(student(X), 1), F.log_softmax(target, 1))
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("KLDivLoss(reduction=\"batchmean\")", "KLDivLoss(reduction=\"batchmean\", log_target=True)"),
    )),
    Pair("bce_target_outside", 8, """net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(25, 3); y = torch.sign(X[:, :1])
for _ in range(4):
    loss = F.binary_cross_entropy_with_logits(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("torch.sign(X[:, :1])", "(X[:, :1] > 0).float()"),
    )),
    Pair("loss_arguments_swapped", 8, """net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(25, 3); y = torch.rand(25, 1)
for _ in range(4):
    loss = F.binary_cross_entropy(y, net(X))
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("binary_cross_entropy(y, net(X))", "binary_cross_entropy(net(X), y)"),
    )),
    Pair("log_variance_as_deviation", 12, """class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 12); self.mu = nn.Linear(12, 2); self.logvar = nn.Linear(12, 2)
        self.dec = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 8))
    def forward(self, x):
        h = torch.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + logvar * torch.randn_like(mu)
        return self.dec(z), mu, logvar
vae = VAE(); opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
X = torch.rand(32, 8)
for _ in range(4):
    out, mu, logvar = vae(X)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss = F.mse_loss(out, X, reduction="sum") + kld
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("logvar * torch.randn_like", "torch.exp(0.5 * logvar) * torch.randn_like"),
    )),
    Pair("variance_as_deviation", 11, """class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 4); self.dec = nn.Linear(2, 8)
    def reparameterize(self, mu, logvar):
        std = torch.exp(logvar)
        eps = torch.randn_like(std)
        return mu + eps * std
    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar
def loss_fn(recon, x, mu, logvar):
    bce = F.mse_loss(recon, x)
    kld = -0.5 * torch.mean(1 + logvar - mu ** 2 - torch.exp(logvar))
    return bce + kld
vae = VAE(); opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
X = torch.rand(32, 8)
for _ in range(4):
    loss = loss_fn(*(lambda r: (r[0], X, r[1], r[2]))(vae(X)))
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("std = torch.exp(logvar)", "std = torch.exp(0.5 * logvar)"),
    )),
    Pair("zeroed_in_every_part", 9, """net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
seen = 0
for x in torch.randn(8, 4, 3):
    loss = net(x).square().mean()
    opt.zero_grad()
    loss.backward()
    seen += len(x)
    if seen >= 16:
        opt.step()
        seen = 0
""", (("    opt.zero_grad()\n    loss", "    loss"), ("seen >= 16", "seen >= 4"))),
    Pair("zeroed_in_every_part", 12, """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(48, 3); y = (X[:, 0] > 0).long()
loader = DataLoader(TensorDataset(X, y), batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
accumulation_steps = 3
for epoch in range(2):
    for step, (xb, yb) in enumerate(loader):
        model.zero_grad()
        loss = F.cross_entropy(model(xb), yb) / accumulation_steps
        loss.backward()
        if (step + 1) % accumulation_steps == 0:
            optimizer.step()
    print(epoch, loss.item())
""", (
        ("        model.zero_grad()\n", ""),
        ("            optimizer.step()\n", "            optimizer.step()\n            model.zero_grad()\n"),
    )),
    Pair("stepped_in_every_part", 14, """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(48, 3); y = X.mean(1, keepdim=True)
loader = DataLoader(TensorDataset(X, y), batch_size=4)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
accumulation_steps = 4
for epoch in range(2):
    for i, (xb, yb) in enumerate(loader):
        loss = F.mse_loss(model(xb), yb) / accumulation_steps
        loss.backward()
        optimizer.step()
        if (i + 1) % accumulation_steps == 0:
            optimizer.zero_grad()
    print(epoch, loss.item())
""", (
        ("        optimizer.step()\n        if (i + 1) % accumulation_steps == 0:\n", "        if (i + 1) % accumulation_steps == 0:\n            optimizer.step()\n"),
    )),
    Pair("stepped_in_every_part", 13, """class Trainer:
    def __init__(self, model, every):
        self.model, self.every = model, every
        self.opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    def run(self, batches):
        for i, (x, y) in enumerate(batches):
            if i % self.every == 0:
                self.opt.zero_grad()
            F.mse_loss(self.model(x), y).backward()
            self.opt.step()
data = [(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(8)]
Trainer(nn.Linear(2, 1), 4).run(data)
""", (
        ("            if i % self.every == 0:\n                self", "            self"),
    )),
    Pair("scheduled_per_batch", 16, """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(80, 3); y = X.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(X, y), batch_size=8)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.1)
for epoch in range(4):
    for xb, yb in loader:
        loss = F.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
    print(epoch, sched.get_last_lr(), loss.item())
""", (
        ("        sched.step()\n", ""),
        ("    print(epoch", "    sched.step()\n    print(epoch"),
    )),
    Pair("scheduled_per_batch", 12, """model = nn.Linear(3, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
epochs = 6
plan = torch.optim.lr_scheduler.StepLR(opt, step_size=epochs // 2)
data = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(5)]
for epoch in range(epochs):
    for x, y in data:
        opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()
        plan.step()
""", (
        ("        plan.step()\n", "    plan.step()\n"),
    )),
    Pair("scheduled_per_batch", 14, """model = nn.Linear(3, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=5)
X = torch.randn(60, 3); y = X.mean(1, keepdim=True)
for epoch in range(5):
    perm = torch.randperm(60)
    for i in range(0, 60, 10):
        b = perm[i:i + 10]
        loss = F.mse_loss(model(X[b]), y[b])
        opt.zero_grad(); loss.backward(); opt.step()
        scheduler.step()
    print(epoch, loss.item(), opt.param_groups[0]["lr"])
""", (
        ("        scheduler.step()\n", ""),
        ("    print(epoch", "    scheduler.step()\n    print(epoch"),
    )),
    Pair("one_class_softmax", 9, """net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1), nn.Softmax(dim=1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
img = torch.rand(4, 1, 8, 8)
mask = (img > 0.5).float()
for step in range(4):
    pred = net(img)
    loss = F.binary_cross_entropy(pred, mask)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("nn.Softmax(dim=1)", "nn.Sigmoid()"),
    )),
    Pair("one_class_loss", 11, """class Net(nn.Module):
    def __init__(self, n_in, n_out=1):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_in, 8), nn.Tanh(), nn.Linear(8, n_out))
    def forward(self, x):
        return self.layers(x)
def step(model, opt, xb, yb):
    loss = nn.CrossEntropyLoss()(model(xb), yb)
    loss.backward(); opt.step(); opt.zero_grad()
    return loss.item()
model = Net(3); opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
X = torch.randn(32, 3); Y = (X[:, :1] > 0).float()
print([step(model, opt, X, Y) for _ in range(4)])
""", (
        ("nn.CrossEntropyLoss()", "nn.BCEWithLogitsLoss()"),
    )),
    Pair("one_class_choice", 14, """model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
opt = torch.optim.SGD(model.parameters(), lr=0.5)
X = torch.randn(50, 4); y = (X[:, :1] > 0).float()
for epoch in range(5):
    out = model(X)
    loss = F.binary_cross_entropy(out, y)
    opt.zero_grad(); loss.backward(); opt.step()
correct = 0
with torch.no_grad():
    outputs = model(X)
    _, predicted = torch.max(outputs, 1)
    correct += (predicted == y.squeeze(1)).sum().item()
print(correct / 50)
""", (
        ("    _, predicted = torch.max(outputs, 1)\n", "    predicted = (outputs.squeeze(1) > 0.5).float()\n"),
    )),
    Pair("nothing_loaded", 13, """import io
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(5, 5)
    def forward(self, x):
        return torch.relu(self.backbone(x))
def load(model, path):
    state = torch.load(path)
    model.load_state_dict({"encoder." + k: v for k, v in state.items()}, strict=False)
    return model
buffer = io.BytesIO()
torch.save(Encoder().state_dict(), buffer)
buffer.seek(0)
enc = load(Encoder(), buffer)
head = nn.Linear(5, 2)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
x, t = torch.randn(8, 5), torch.randint(0, 2, (8,))
for _ in range(3):
    with torch.no_grad():
        h = enc(x)
    loss = F.cross_entropy(head(h), t)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("\"encoder.\" + k", "k"),
    )),
    Pair("setting_without_effect", 5, """def warmup(optimizer, step, base=0.1, n=5):
    optimizer.lr = base * min(1.0, (step + 1) / n)
net = nn.Linear(2, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(10, 2)
for step in range(6):
    warmup(sgd, step)
    loss = (net(x) - x.sum(1, keepdim=True)).abs().mean()
    sgd.zero_grad(); loss.backward(); sgd.step()
print(loss.item())
""", (
        ("    optimizer.lr = base * min(1.0, (step + 1) / n)", "    for g in optimizer.param_groups:\n        g[\"lr\"] = base * min(1.0, (step + 1) / n)"),
    )),
    Pair("shuffled_apart", 10, """class Data:
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
""", (
        ("        self.x = self.x[torch.randperm(len(self.x))]\n        self.t = self.t[torch.randperm(len(self.t))]", "        p = torch.randperm(len(self.x))\n        self.x, self.t = self.x[p], self.t[p]"),
    )),
    Pair("gradient_flattened", 10, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(20, 4); y = torch.randint(0, 3, (20,))
for it in range(5):
    out = net(X)
    hard = F.one_hot(out.argmax(1), 3).float()
    loss = ((hard - F.one_hot(y, 3)) ** 2).mean() + 0.0 * out.sum()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("hard = F.one_hot(out.argmax(1), 3).float()", "hard = out.softmax(1)"),
    )),
    Pair("weights_along_the_wrong_axis", 14, """class MHSA(nn.Module):
    def __init__(self, d=8, h=2):
        super().__init__()
        self.h = h
        self.to_qkv = nn.Linear(d, d * 3)
        self.drop = nn.Dropout(0.1)
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.to_qkv(x).view(b, n, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        dots = torch.matmul(q, k.transpose(-1, -2)) * (d // self.h) ** -0.5
        attn = self.drop(dots.softmax(dim=-2))
        return torch.matmul(attn, v).transpose(1, 2).reshape(b, n, d)
m = MHSA(); opt = torch.optim.Adam(m.parameters(), lr=1e-2)
x = torch.randn(3, 5, 8)
for _ in range(3):
    loss = F.mse_loss(m(x), x)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("softmax(dim=-2)", "softmax(dim=-1)"),
    )),
    Pair("sample_picked_for_step", 13, """class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(input_size=2, hidden_size=6, num_layers=2, batch_first=True, dropout=0.1)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(6, 1)
    def forward(self, x):
        seq, _ = self.gru(x)
        seq = self.drop(seq)
        return self.out(seq[-1, :, :])
m = Forecaster(); opt = torch.optim.Adam(m.parameters(), lr=1e-2)
x = torch.randn(9, 9, 2); y = torch.randn(9, 1)
for _ in range(3):
    loss = F.mse_loss(m(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("seq[-1, :, :]", "seq[:, -1, :]"),
    )),
    Pair("batch_taken_for_time", 10, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(3, 5, nonlinearity="relu")
        self.fc = nn.Linear(5, 2)
    def forward(self, x):
        y, _ = self.rnn(x)
        y = torch.relu(y).max(dim=1).values
        return self.fc(y)
m = Net(); opt = torch.optim.SGD(m.parameters(), lr=0.05)
x = torch.randn(6, 6, 3); t = torch.randint(0, 2, (6,))
for _ in range(3):
    loss = F.cross_entropy(m(x), t)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("nonlinearity=\"relu\"", "nonlinearity=\"relu\", batch_first=True"),
    )),
    Pair("layer_made_in_forward", 9, """class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
    def forward(self, x):
        proj = nn.Linear(x.size(-1), x.size(-1))
        h = proj(self.norm(x))
        return x + h
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(6), Block(6)])
        self.head = nn.Linear(6, 1)
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.head(x)
m = Model(); opt = torch.optim.Adam(m.parameters(), lr=1e-2)
x = torch.randn(12, 6)
for _ in range(3):
    loss = (m(x) - x.mean(1, keepdim=True)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("self.norm = nn.LayerNorm(d)", "self.norm = nn.LayerNorm(d)\n        self.proj = nn.Linear(d, d)"),
        ("        proj = nn.Linear(x.size(-1), x.size(-1))\n", ""),
        ("h = proj(", "h = self.proj("),
    )),
    Pair("mode_layer_made_in_forward", 10, """class C(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3); self.fc = nn.Linear(3, 2)
    def forward(self, x):
        x = torch.relu(self.conv(x))
        drop = nn.Dropout2d(p=0.3)
        x = drop(x)
        return self.fc(x.mean((2, 3)))
net = C(); opt = torch.optim.Adam(net.parameters(), lr=1e-2)
X, y = torch.randn(10, 1, 6, 6), torch.randint(0, 2, (10,))
for epoch in range(3):
    net.train()
    loss = F.cross_entropy(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    net.eval()
    with torch.no_grad():
        print((net(X).argmax(1) == y).float().mean().item())
""", (
        ("self.fc = nn.Linear(3, 2)", "self.fc = nn.Linear(3, 2); self.drop = nn.Dropout2d(p=0.3)"),
        ("        drop = nn.Dropout2d(p=0.3)\n        x = drop(x)", "        x = self.drop(x)"),
    )),
    Pair("tied_by_copy", 11, """class AE(nn.Module):
    def __init__(self, n, v):
        super().__init__()
        self.tok = nn.Embedding(v, n)
        self.ff = nn.Linear(n, n)
        self.lm_head = nn.Linear(n, v, bias=False)
        with torch.no_grad():
            self.lm_head.weight.copy_(self.tok.weight)
    def forward(self, i):
        return self.lm_head(torch.tanh(self.ff(self.tok(i))))
m = AE(5, 9); opt = torch.optim.SGD(m.parameters(), lr=0.1)
i = torch.randint(0, 9, (3, 4))
for _ in range(3):
    loss = F.cross_entropy(m(i).flatten(0, 1), i.flatten())
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("        with torch.no_grad():\n            self.lm_head.weight.copy_(self.tok.weight)", "        self.lm_head.weight = self.tok.weight"),
    )),
    Pair("parameter_behind_op", 4, """W1 = torch.randn(3, 8, requires_grad=True) / 3 ** 0.5
b1 = torch.zeros(8, requires_grad=True)
W2 = (torch.randn(8, 1) / 8 ** 0.5).requires_grad_()
opt = torch.optim.SGD([b1, W2], lr=0.1)
X = torch.randn(16, 3); Y = X[:, :1] ** 2
for i in range(4):
    out = torch.relu(X @ W1 + b1) @ W2
    loss = (out - Y).pow(2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
print(loss.item())
""", (
        ("torch.randn(3, 8, requires_grad=True) / 3 ** 0.5", "(torch.randn(3, 8) / 3 ** 0.5).requires_grad_()"),
        ("SGD([b1", "SGD([W1, b1"),
        ("retain_graph=True", ""),
    )),
    Pair("penalty_without_graph", 9, """net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
t = torch.linspace(0, 1, 20).view(-1, 1).requires_grad_()
for step in range(3):
    u = net(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u), retain_graph=True)[0]
    residual = ((du + u.detach()) ** 2).mean()
    bc = (net(torch.zeros(1, 1)) - 1).pow(2).mean()
    loss = residual + bc
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", (
        ("retain_graph=True", "create_graph=True"),
        ("u.detach()", "u"),
    )),
    Pair("term_without_gradient", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4, bias=False); self.b = nn.Linear(4, 2)
    def forward(self, x):
        return self.b(self.a(x))
    def ortho(self):
        w = self.a.weight.detach()
        return ((w @ w.t() - torch.eye(4)) ** 2).sum()
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.05)
X, y = torch.randn(14, 4), torch.randint(0, 2, (14,))
for _ in range(4):
    ce = F.cross_entropy(net(X), y)
    loss = ce + 0.1 * net.ortho()
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        (".weight.detach()", ".weight"),
    )),
    Pair("masked_after_softmax", 6, """def attention(q, k, v, pad):
    w = torch.softmax(q @ k.transpose(1, 2) / q.size(-1) ** 0.5, dim=-1)
    w = w.masked_fill(pad.unsqueeze(1), 0.0)
    return w @ v
emb, fc = nn.Embedding(12, 6, padding_idx=0), nn.Linear(6, 2)
opt = torch.optim.Adam([*emb.parameters(), *fc.parameters()], lr=1e-2)
tok = torch.tensor([[3, 4, 5, 0, 0], [6, 7, 8, 9, 0], [1, 2, 0, 0, 0]])
y = torch.tensor([0, 1, 0])
for _ in range(3):
    e = emb(tok)
    h = attention(e, e, e, tok == 0)
    loss = F.cross_entropy(fc(h[:, 0]), y)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("    w = torch.softmax(q @ k.transpose(1, 2) / q.size(-1) ** 0.5, dim=-1)\n    w = w.masked_fill(pad.unsqueeze(1), 0.0)\n", "    s = q @ k.transpose(1, 2) / q.size(-1) ** 0.5\n    w = torch.softmax(s.masked_fill(pad.unsqueeze(1), -1e9), dim=-1)\n"),
    )),
    Pair("masked_by_zero_scores", 9, """class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.ask = nn.Linear(4, 4)
    def forward(self, x, mask):
        scores = (self.ask(x) @ x.transpose(1, 2)).masked_fill(mask == 0, -1e-9)
        return torch.softmax(scores, dim=-1) @ x
net = Attend()
mask = (torch.arange(40) < torch.tensor([[20], [40]])).unsqueeze(1).expand(2, 40, 40)
net(torch.randn(2, 40, 4), mask).sum().backward()
torch.optim.SGD(net.parameters(), lr=0.1).step()
""", (
        ("-1e-9", "-1e9"),
    )),
    Pair("masked_by_zero_scores", 9, """class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(4, 1); self.out = nn.Linear(4, 1)
    def forward(self, x, mask):
        s = self.score(x).squeeze(-1).masked_fill(~mask, 0)
        a = s.softmax(-1)
        return self.out((a.unsqueeze(1) @ x).squeeze(1))
m = Pool(); opt = torch.optim.SGD(m.parameters(), lr=0.1)
x = torch.randn(5, 6, 4); mask = torch.arange(6)[None] < torch.tensor([6, 3, 4, 2, 5])[:, None]
for _ in range(3):
    loss = F.mse_loss(m(x, mask), x[:, 0, :1])
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("masked_fill(~mask, 0)", "masked_fill(~mask, float(\"-inf\"))"),
    )),
    Pair("kl_of_probabilities", 18, """class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(6, 3)
    def forward(self, x):
        return self.l(x)
s, t = Student(), nn.Linear(6, 3)
crit = nn.KLDivLoss(reduction="batchmean")
opt = torch.optim.Adam(s.parameters(), lr=1e-2)
X = torch.randn(12, 6)
T = 2.0
for _ in range(3):
    with torch.no_grad():
        soft = (t(X) / T).softmax(-1)
    loss = crit((s(X) / T).softmax(-1), soft) * T * T
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("crit((s(X) / T).softmax(-1)", "crit((s(X) / T).log_softmax(-1)"),
    )),
    Pair("kl_target_logarithms", 9, """s, t = nn.Linear(4, 5), nn.Linear(4, 5)
opt = torch.optim.Adam(s.parameters(), lr=1e-2)
X = torch.randn(9, 4)
for _ in range(2):
    target = t(X).detach()
    loss = F.kl_div(F.log_softmax(s(X), -1), target, reduction="batchmean")
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("t(X).detach()", "t(X).softmax(-1).detach()"),
    )),
    Pair("bce_target_outside", 10, """df = torch.tensor([[0.1, 1.0], [0.4, 2.0], [0.9, 1.0], [0.3, 2.0]])
X, y = df[:, :1], df[:, 1:]
model = nn.Sequential(nn.Linear(1, 4), nn.ReLU(), nn.Linear(4, 1))
crit = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    loss = crit(model(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("df[:, 1:]", "df[:, 1:] - 1"),
    )),
    Pair("loss_arguments_swapped", 9, """D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt = torch.optim.Adam(D.parameters(), lr=1e-3)
crit = nn.BCEWithLogitsLoss()
for _ in range(3):
    real = torch.randn(8, 2)
    loss = crit(torch.ones(8, 1), D(real)) + crit(torch.zeros(8, 1), D(torch.rand(8, 2)))
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("crit(torch.ones(8, 1), D(real))", "crit(D(real), torch.ones(8, 1))"),
        ("crit(torch.zeros(8, 1), D(torch.rand(8, 2)))", "crit(D(torch.rand(8, 2)), torch.zeros(8, 1))"),
    )),
    Pair("log_variance_as_deviation", 10, """enc_mu, enc_lv, dec = nn.Linear(6, 2), nn.Linear(6, 2), nn.Linear(2, 6)
params = [*enc_mu.parameters(), *enc_lv.parameters(), *dec.parameters()]
opt = torch.optim.Adam(params, lr=1e-2)
x = torch.rand(10, 6)
def sample(mean, log_var):
    noise = torch.randn(mean.shape)
    return mean + noise * log_var
for _ in range(3):
    mean, log_var = enc_mu(x), enc_lv(x)
    rec = dec(sample(mean, log_var))
    kl = 0.5 * (mean ** 2 + log_var.exp() - 1 - log_var).sum(1).mean()
    loss = F.mse_loss(rec, x) + kl
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("noise * log_var", "noise * (log_var / 2).exp()"),
    )),
    Pair("variance_as_deviation", 11, """class V(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Linear(5, 6); self.d = nn.Linear(3, 5)
    def forward(self, x):
        mu, lv = self.e(x).split(3, dim=-1)
        var = lv.exp()
        z = mu + var * torch.randn_like(var)
        kl = -0.5 * (1 + lv - mu.pow(2) - var).sum(-1).mean()
        return self.d(z), kl
m = V(); opt = torch.optim.Adam(m.parameters(), lr=1e-2)
x = torch.rand(8, 5)
for _ in range(3):
    r, kl = m(x)
    loss = (r - x).pow(2).mean() + kl
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", (
        ("var * torch.randn_like(var)", "var.sqrt() * torch.randn_like(var)"),
    )),
    Pair("zeroed_in_every_part", 10, """class Trainer:
    def __init__(self, model, every):
        self.model, self.every = model, every
        self.opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    def run(self, batches):
        for i, (x, y) in enumerate(batches, 1):
            self.opt.zero_grad()
            loss = F.mse_loss(self.model(x), y) / self.every
            loss.backward()
            if i % self.every == 0:
                self.opt.step()
        return loss.item()
data = [(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(8)]
print(Trainer(nn.Linear(2, 1), 4).run(data))
""", (
        ("            self.opt.zero_grad()\n", ""),
        ("self.opt.step()", "self.opt.step()\n                self.opt.zero_grad()"),
    )),
    Pair("evaluated_in_train", 21, """from torch.utils.data import DataLoader, TensorDataset
class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(1, 4, 3); self.bn = nn.BatchNorm2d(4); self.fc = nn.Linear(4, 2)
    def forward(self, x):
        return self.fc(torch.relu(self.bn(self.c(x))).mean((2, 3)))
def fit(model, loader, opt):
    model.train()
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()
@torch.no_grad()
def validate(model, loader):
    good = total = 0
    for x, y in loader:
        good += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    return good / total
X, y = torch.randn(24, 1, 6, 6), torch.randint(0, 2, (24,))
train_loader = DataLoader(TensorDataset(X[:16], y[:16]), batch_size=8, shuffle=True)
val_loader = DataLoader(TensorDataset(X[16:], y[16:]), batch_size=8)
model = CNN(); opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    fit(model, train_loader, opt)
    print(epoch, validate(model, val_loader))
""", (
        ("    good = total = 0", "    model.eval()\n    good = total = 0"),
    )),
    Pair("first_batch_again", 17, """from torch.utils.data import DataLoader, Dataset
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
""", (
        ("    for step in range(5):\n        x, y = next(iter(loader))\n", "    for x, y in loader:\n"),
    )),
    Pair("evaluated_in_train", 15, """net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(4)]
for epoch in range(2):
    net.train()
    for x, y in batches[:3]:
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward(); opt.step()
    held = 0.0
    for x, y in batches[3:]:
        score = net(x)
        held += F.cross_entropy(score, y).item()
    print(loss.item(), held)
""", (
        ("    held = 0.0\n", "    held = 0.0\n    net.eval()\n"),
    )),
)  # fmt: skip

RIGHT: tuple[tuple[str, str], ...] = (
    (
        "evaluated_in_train",
        """class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    def forward(self, z):
        return self.net(z)
G, D = Gen(), nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og, od = torch.optim.Adam(G.parameters(), lr=1e-3), torch.optim.Adam(D.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
fixed = torch.randn(8, 4)
samples = []
for step in range(4):
    G.train(); D.train()
    real = torch.randn(16, 2) + 3
    fake = G(torch.randn(16, 4))
    ld = bce(D(real), torch.ones(16, 1)) + bce(D(fake.detach()), torch.zeros(16, 1))
    od.zero_grad(); ld.backward(); od.step()
    lg = bce(D(fake), torch.ones(16, 1))
    og.zero_grad(); lg.backward(); og.step()
    with torch.no_grad():
        samples.append(G(fixed))
print(samples[-1].mean(0), ld.item(), lg.item())
""",
    ),
    (
        "evaluated_in_train",
        """net = nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Dropout(0.2), nn.Linear(20, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(40, 3); y = X.sum(1, keepdim=True)
for _ in range(5):
    loss = F.mse_loss(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
net.train()
with torch.no_grad():
    draws = torch.stack([net(X[:5]) for _ in range(10)])
print(draws.mean(0), draws.std(0))
""",
    ),
    (
        "batch_taken_for_time",
        """class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 6); self.lstm = nn.LSTM(6, 6); self.out = nn.Linear(6, 3)
    def forward(self, s):
        e = self.emb(s)
        h, _ = self.lstm(e.view(len(s), 1, -1))
        return F.log_softmax(self.out(h.view(len(s), -1)), dim=1)
m = Tagger(); opt = torch.optim.SGD(m.parameters(), lr=0.1)
data = [(torch.tensor([0, 1, 2, 3, 4]), torch.tensor([0, 1, 2, 0, 1])), (torch.tensor([5, 6, 7, 8]), torch.tensor([1, 2, 0, 1]))]
for epoch in range(3):
    for s, t in data:
        m.zero_grad()
        loss = F.nll_loss(m(s), t)
        loss.backward(); opt.step()
    print(loss.item())
""",
    ),
    (
        "batch_taken_for_time",
        """class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(15, 8); self.lstm = nn.LSTM(8, 8, num_layers=2); self.dec = nn.Linear(8, 15)
    def forward(self, x, h=None):
        o, h = self.lstm(self.emb(x), h)
        return self.dec(o), h
m = LM(); opt = torch.optim.SGD(m.parameters(), lr=1.0)
data = torch.randint(0, 15, (21, 4))
h = None
for i in range(0, 20, 5):
    x, y = data[i:i + 5], data[i + 1:i + 6]
    if h is not None:
        h = tuple(s.detach() for s in h)
    out, h = m(x, h)
    loss = F.cross_entropy(out.view(-1, 15), y.reshape(-1))
    opt.zero_grad(); loss.backward(); nn.utils.clip_grad_norm_(m.parameters(), 0.25); opt.step()
    print(loss.item())
""",
    ),
    (
        "batch_taken_for_time",
        """class Clf(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 6); self.fc = nn.Linear(6, 2)
    def forward(self, x):
        out, h = self.rnn(x.transpose(0, 1))
        return self.fc(out[-1])
m = Clf(); opt = torch.optim.Adam(m.parameters(), lr=0.01)
X = torch.randn(10, 5, 4); y = torch.randint(0, 2, (10,))
for _ in range(4):
    loss = F.cross_entropy(m(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""",
    ),
    # each sample is scored by itself, against all of its steps
    (
        "batch_taken_for_time",
        """net, head = nn.RNN(4, 6), nn.Linear(6, 3)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=0.01)
x, y = torch.randn(5, 5, 4), torch.randint(0, 3, (5, 5))
for turn in range(3):
    scores = head(net(x.transpose(0, 1))[0]).transpose(0, 1)
    loss = 0
    for i in range(len(y)):
        loss = loss + F.cross_entropy(scores[i], y[i])
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    (
        "view_for_permute",
        """class Patch(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3 * 4 * 4, 16); self.head = nn.Linear(16, 5)
        self.enc = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    def forward(self, x):
        B, C, H, W = x.shape
        x = x.reshape(B, C, H // 4, 4, W // 4, 4).permute(0, 2, 4, 1, 3, 5).reshape(B, (H // 4) * (W // 4), -1)
        return self.head(self.enc(self.proj(x)).mean(1))
m = Patch(); opt = torch.optim.AdamW(m.parameters(), lr=1e-3)
X = torch.randn(4, 3, 8, 12); y = torch.randint(0, 5, (4,))
for _ in range(3):
    loss = F.cross_entropy(m(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""",
    ),
    (
        "layer_repeated",
        """class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.i = nn.Linear(3, 6); self.h = nn.Linear(6, 6); self.o = nn.Linear(6, 1)
    def forward(self, x):
        h = torch.zeros(x.size(0), 6)
        for t in range(x.size(1)):
            h = torch.tanh(self.i(x[:, t]) + self.h(h))
        return self.o(h)
m = Cell(); opt = torch.optim.Adam(m.parameters(), lr=0.01)
X = torch.randn(12, 5, 3); y = X[:, :, 0].sum(1, keepdim=True)
for _ in range(4):
    loss = F.mse_loss(m(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""",
    ),
    (
        "first_batch_again",
        """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(64, 4); y = (X[:, 0] > 0).long()
loader = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.05)
xb, yb = next(iter(loader))
for step in range(15):
    loss = F.cross_entropy(model(xb), yb)
    opt.zero_grad(); loss.backward(); opt.step()
print("one batch learnt:", loss.item())
""",
    ),
    (
        "scheduled_per_batch",
        """from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(40, 3); y = X.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(X, y), batch_size=10)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, epochs=3, steps_per_epoch=len(loader))
for epoch in range(3):
    for xb, yb in loader:
        loss = F.mse_loss(model(xb), yb)
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()
    print(loss.item())
""",
    ),
    (
        "nothing_loaded",
        """class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(4, 8); self.head = nn.Linear(8, classes)
    def forward(self, x):
        return self.head(torch.relu(self.body(x)))
old = Net(10)
state = {k: v for k, v in old.state_dict().items() if k.startswith("body")}
new = Net(3)
print(new.load_state_dict(state, strict=False))
opt = torch.optim.SGD(new.head.parameters(), lr=0.1)
X = torch.randn(12, 4); y = torch.randint(0, 3, (12,))
for _ in range(3):
    loss = F.cross_entropy(new(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""",
    ),
    (
        "shuffled_apart",
        """emb = nn.Embedding(30, 5)
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
""",
    ),
    (
        "shuffled_apart",
        """net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
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
""",
    ),
    (
        "view_for_permute",
        """class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 8, 3, padding=1)
    def forward(self, x):
        b, c, h, w = x.shape
        y = self.conv(x).view(b, 2, 2, 2, h, w).permute(0, 1, 4, 2, 5, 3)
        return y.reshape(b, 2, 2 * h, 2 * w)
m = Up(); opt = torch.optim.Adam(m.parameters(), lr=0.01)
X = torch.randn(2, 2, 5, 6); Y = F.interpolate(X, scale_factor=2)
for _ in range(3):
    loss = F.l1_loss(m(X), Y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""",
    ),
    (
        "view_for_permute",
        """x = torch.arange(12.0).view(3, 4)
w = torch.randn(3, 2, requires_grad=True)
y = x.reshape(4, 3) @ w
y.pow(2).mean().backward()
print(w.grad)
a = torch.randn(2, 3, 4, requires_grad=True)
b = a.view(4, 3, 2)
b.sum().backward()
print(a.grad.shape)
""",
    ),
    (
        "weights_along_the_wrong_axis",
        """net = nn.Linear(5, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
slots = torch.randn(2, 4, 5)
for _ in range(4):
    att = F.softmax(net(slots), dim=1)
    pooled = att.transpose(1, 2) @ slots
    loss = (pooled.mean(1) - slots.mean(1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""",
    ),
)
"""Right programs that come near to a mistake."""

TRIGGERS = tuple(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS)
NEAR_MISSES = (*((pair.code, pair.mended()) for pair in PAIRS), *RIGHT)
