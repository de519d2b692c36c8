"""What `engine/findings/axes.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

POOLED = """score, fc = nn.Linear(4, 1), nn.Linear(4, 2)
x = torch.randn(3, 5, 4)
w = torch.softmax(score(x), dim=DIM)
fc((w * x).sum(1)).sum().backward()
"""

READ = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.att, self.out = nn.GRU(3, 8LAYER), nn.Linear(8, 1), nn.Linear(8, 2)
    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(POOLED)
net = Net(); opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(8, 5, 3), torch.randint(0, 2, (8,))
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
"""
POOLS = (
    "torch.einsum('bt,bth->bh', torch.softmax(self.att(h).squeeze(-1), 1), h)",
    "torch.bmm(torch.softmax(self.att(h), 1).transpose(1, 2), h).squeeze(1)",
    "(torch.softmax(h @ h.transpose(1, 2), -1) @ h).mean(1)",
)

MISTAKES: tuple[Mistake, ...] = (
    Mistake("power_for_axis", 6, """net, x = nn.Linear(3, 4), torch.randn(5, 3)
def embed(x):
    return F.normalize(net(x), -1)
(embed(x) @ embed(x + 0.1).t()).softmax(1).diagonal().log().mean().backward()
""", says={"value": "-1"}, mends=True),
    Mistake("power_for_axis", 5, """net = nn.Linear(3, 4)
lengths = torch.norm(net(torch.randn(5, 3)), -1)
lengths.mean().backward()
""", mends=True),
    Mistake("weights_along_the_wrong_axis", 6, POOLED.replace("DIM", "0"), says={"dim": "0", "other": "1"}),
    Mistake("weights_along_the_wrong_axis", 8, """class Pool(nn.Module):
    def __init__(self): super().__init__(); self.score = nn.Linear(4, 1)
    def forward(self, x):  # (time, batch, features)
        scores = self.score(x)
        w = F.softmax(scores, 1)
        return torch.sum(w * x, 0)
Pool()(torch.randn(5, 3, 4)).pow(2).sum().backward()
""", says={"dim": "1", "other": "0"}),
    Mistake("weights_along_the_wrong_axis", 8, """class Bag(nn.Module):
    def __init__(self): super().__init__(); self.score, self.out = nn.Linear(6, 1), nn.Linear(6, 1)
    def forward(self, bag):  # (instances, features)
        scores = torch.tanh(self.score(bag))
        share = torch.softmax(scores, dim=1)
        return self.out((share * bag).sum(0))
net = Bag()
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    loss = F.binary_cross_entropy_with_logits(net(torch.randn(5, 6)), torch.ones(1))
    opt.zero_grad(); loss.backward(); opt.step()
""", says={"is_one": "1", "dim": "1", "other": "0", "keys": "5"}, cure=(("dim=1", "dim=0"),)),
    Mistake("weights_along_the_wrong_axis", 12, """class Attention(nn.Module):
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
""", cure=(
        ("F.softmax(att, dim=1)", "F.softmax(att, dim=-1)"),
    )),
    Mistake("weights_along_the_wrong_axis", 14, """class MHSA(nn.Module):
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
""", cure=(
        ("softmax(dim=-2)", "softmax(dim=-1)"),
    )),
    Mistake("weights_along_the_wrong_axis", 7, """key, ask = nn.Linear(6, 8), nn.Linear(6, 8)
x = torch.randn(4, 7, 6)
scores = (ask(x[:, :2]) @ key(x).transpose(1, 2)).reshape(8, 7)
shares = torch.softmax(scores, dim=0).view(4, 2, 7)
torch.bmm(shares, x).pow(2).mean().backward()
""", cure=(("dim=0", "dim=-1"),)),
    Mistake("weights_along_the_wrong_axis", 9, """class Look(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))
    def forward(self, x):
        share = (self.q(x).view(3, 5, 2, 4).transpose(1, 2) @ self.k(x).view(3, 5, 2, 4).permute(0, 2, 3, 1)).softmax(1)
        return share.reshape(6, 5, 5) @ self.v(x).view(3, 5, 2, 4).transpose(1, 2).reshape(6, 5, 4)
Look()(torch.randn(3, 5, 8)).sum().backward()
""", cure=(("softmax(1)", "softmax(-1)"),)),
    Mistake("weights_along_the_wrong_axis", 11, """class Look(nn.Module):
    def __init__(self, heads=2, width=4):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(8, 3 * heads * width), nn.Linear(heads * width, 8), heads
    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], self.heads, -1).chunk(3, dim=-1)
        share = torch.einsum("bihd,bjhd->bijh", q, k) / 2
        share = share.softmax(dim=1)
        return self.out(torch.einsum("bijh,bjhd->bihd", share, v).flatten(2))
Look()(torch.randn(3, 5, 8)).pow(2).mean().backward()
""", cures=(("softmax(dim=1)", "softmax(dim=2)"), ("bijh,bjhd->bihd", "bijh,bihd->bjhd")), says={"dim": "1", "other": "2"}),
    Mistake("weights_along_the_wrong_axis", 7, """q, k, v = torch.randn(2, 3, 5, 4, requires_grad=True), torch.randn(2, 3, 6, 4), torch.randn(2, 3, 6, 4)
scores = torch.einsum("...qd,...kd->...qk", q, k)
kept = nn.Dropout(0.1)
share = torch.softmax(scores, dim=-2)
torch.einsum("...kd,...qk->...qd", v, kept(share)).pow(2).mean().backward()
""", cure=(("dim=-2", "dim=-1"),), says={"dim": "2", "other": "3"}),
    Mistake("view_for_permute", 6, """imgs = torch.rand(8, 16, 16, 3)
labels = torch.randint(0, 4, (8,))
batch = imgs.reshape(-1, 3, 16, 16)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(4):
    loss = F.cross_entropy(net(batch), labels)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("imgs.reshape(-1, 3, 16, 16)", "imgs.permute(0, 3, 1, 2)"),
    )),
    Mistake("view_for_permute", 12, """class MHA(nn.Module):
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
""", cure=(
        ("q.reshape(B, self.h, T, self.dk)", "q.reshape(B, T, self.h, self.dk).transpose(1, 2)"),
        ("k.reshape(B, self.h, T, self.dk)", "k.reshape(B, T, self.h, self.dk).transpose(1, 2)"),
        ("v.reshape(B, self.h, T, self.dk)", "v.reshape(B, T, self.h, self.dk).transpose(1, 2)"),
    )),
    Mistake("view_for_permute", 5, """lin, x = nn.Linear(8, 2), torch.randn(3, 2, 5, 4)
joined = x.reshape(3, 5, 8)
lin(joined).pow(2).mean().backward()
""", says={"is_joined": "1"}, cure=(("x.reshape", "x.transpose(1, 2).reshape"),)),
    Mistake("view_for_permute", 10, """class Attention(nn.Module):
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
""", cure=(
        ("q, k, v = q.view(2, 3, 6, 4), k.view(2, 3, 6, 4), v.view(2, 3, 6, 4)", "q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)"),
    )),
    Mistake("view_for_permute", 17, """class SelfAttention(nn.Module):
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
""", cure=(
        ("y.contiguous().view", "y.transpose(1, 2).contiguous().view"),
    )),
    Mistake("view_for_permute", 12, """class Tagger(nn.Module):
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
""", cure=(
        ("h.view(x.size(0), -1)", "h.transpose(0, 1).reshape(x.size(0), -1)"),
    )),
    Mistake("view_for_permute", 9, """conv = nn.Conv1d(4, 5, 3, padding=1)
opt = torch.optim.Adam(conv.parameters(), lr=0.01)
x = torch.randn(6, 4, 9); t = torch.randint(0, 5, (6, 9))
for _ in range(3):
    out = conv(x)
    loss = F.cross_entropy(out.view(-1, 5), t.view(-1))
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("out.view(-1, 5)", "out.transpose(1, 2).reshape(-1, 5)"),
    )),
    Mistake("view_for_permute", 9, """pictures, y = torch.rand(6, 5, 5, 3), torch.tensor([0, 1, 0, 1, 1, 0])
conv, out = nn.Conv2d(3, 4, 3), nn.Linear(36, 2)
opt = torch.optim.SGD([*conv.parameters(), *out.parameters()], lr=0.1)
for _ in range(2):
    rows = [picture / 255 for picture in pictures]
    x = torch.stack([row.view(3, 5, 5) for row in rows])
    loss = F.cross_entropy(out(conv(x).flatten(1)), y)
""" + STEP, cure=(("row.view(3, 5, 5)", "row.permute(2, 0, 1)"),)),
    Mistake("view_for_permute", 4, """images = torch.rand(12, 5, 6, 3).view(-1, 3, 5, 6)
net, y = nn.Sequential(nn.Conv2d(3, 2, 3), nn.Flatten(), nn.Linear(24, 1)), torch.rand(12, 1)
for rows in torch.randperm(12).split(4):
    F.mse_loss(net(images[rows]), y[rows]).backward()
""", cure=((".view(-1, 3, 5, 6)", ".permute(0, 3, 1, 2)"),)),
    Mistake("view_for_permute", 12, """class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.q, self.k, self.v, self.out = h, *(nn.Linear(d, d) for _ in range(4))
    def forward(self, x):
        b, n, d = x.shape
        parts = [each(x) for each in (self.q, self.k, self.v)]
        h, i = self.h, d // self.h
        q, k, v = (part.view(b * h, -1, i) for part in parts)
        mixed = F.softmax(q @ k.transpose(1, 2) / i ** 0.5, -1) @ v
        return self.out(mixed.view(b, h, n, i).transpose(1, 2).reshape(b, n, d))
net = Heads(8, 2); x = torch.randn(5, 6, 8)
F.mse_loss(net(x), x.flip(1)).backward()
""", cures=(
        ("part.view(b * h, -1, i)", "part.view(b, n, h, i).transpose(1, 2).reshape(b * h, n, i)"),
        ("part.view(b * h, -1, i)", "part.view(b, n, h, i).transpose(1, 2).flatten(0, 1)"),
        ("x = torch.randn(5, 6, 8)", "x = torch.randn(5, 1, 8)"),
    )),
    Mistake("view_for_permute", 9, """class Grouped(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.out = nn.Linear(6, 12), nn.Linear(4, 1)
    def forward(self, x):
        groups = self.q(x).reshape(4 * 3, 10, 4)
        return self.out(torch.softmax(groups @ groups.transpose(1, 2), -1) @ groups)
Grouped()(torch.randn(4, 10, 6)).pow(2).mean().backward()
""", cures=(
        (".reshape(4 * 3, 10, 4)", ".reshape(4 * 10, 3, 4)"),
        (".reshape(4 * 3, 10, 4)", ".transpose(1, 2).reshape(4 * 3, 4, 10).transpose(1, 2)"),
    )),
    Mistake("view_for_permute", 9, """series, steps = torch.sin(torch.arange(40) / 5).tolist(), 8
X = torch.tensor([series[at : at + steps] for at in range(32)])
Y = torch.tensor([series[at + steps] for at in range(32)])
rnn, out = nn.LSTM(1, 6), nn.Linear(6, 1)
opt = torch.optim.Adam([*rnn.parameters(), *out.parameters()], lr=0.01)
X = X.view([steps, -1, 1])
for _ in range(3):
    loss = F.mse_loss(out(rnn(X.view(steps, 32, -1))[0][-1]).view(-1), Y)
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("X = X.view([steps, -1, 1])", "X = X.t().unsqueeze(2)"),)),
    Mistake("view_for_permute", 5, """ages, sizes = torch.rand(20), torch.rand(20)
x = torch.stack([ages, sizes]).view(-1, 2)
y = (3 * ages - sizes).unsqueeze(1)
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
""", cures=(("]).view(-1, 2)", "], dim=1)"), (".view(-1, 2)", ".t()"))),
    Mistake("view_for_permute", 7, """tok, rnn, out = nn.Embedding(9, 4), nn.GRU(4, 5, batch_first=True), nn.Linear(5, 3)
ids = torch.randint(0, 9, (4, 6))
scores = out(rnn(tok(ids))[0])
loss = F.cross_entropy(scores.view(4, 3, 6), ids % 3)
loss.backward()
""", cure=(("scores.view(4, 3, 6)", "scores.transpose(1, 2)"),)),
    Mistake("batch_taken_for_time", 10, """class Net(nn.Module):
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
""", cure=(
        ("nn.LSTM(3, 8)", "nn.LSTM(3, 8, batch_first=True)"),
    ), mends=True),
    Mistake("batch_taken_for_time", 12, """class Clf(nn.Module):
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
""", cure=(
        ("dropout=0.0)", "dropout=0.0, batch_first=True)"),
    ), mends=True),
    *(
        Mistake("batch_taken_for_time", 9, READ.replace("LAYER", "").replace("POOLED", pool), cure=(("nn.GRU(3, 8)", "nn.GRU(3, 8, batch_first=True)"),), mends=True)
        for pool in POOLS
    ),
    Mistake("batch_taken_for_time", 10, """class Net(nn.Module):
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
""", cure=(
        ("nonlinearity=\"relu\"", "nonlinearity=\"relu\", batch_first=True"),
    ), mends=True),
    Mistake("sample_picked_for_step", 11, """class Net(nn.Module):
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
""", cure=(
        ("out[-1]", "out[:, -1]"),
        ("torch.randn(7, 1)", "torch.randn(12, 1)"),
    )),
    Mistake("sample_picked_for_step", 13, """class Forecaster(nn.Module):
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
""", cure=(
        ("seq[-1, :, :]", "seq[:, -1, :]"),
    )),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # capsules: each vote is for one capsule, and each capsule adds up the votes for it
    ("weights_along_the_wrong_axis", """votes = torch.einsum("bpi,pcid->bpcd", torch.randn(2, 6, 4), torch.randn(6, 3, 4, 5, requires_grad=True))
made = votes.mean(1)
for _ in range(2):
    share = torch.einsum("bpcd,bcd->bpc", votes, made).softmax(dim=2)
    made = torch.einsum("bpc,bpcd->bcd", share, votes)
made.pow(2).sum().backward()
"""),
    ("weights_along_the_wrong_axis", POOLED.replace("DIM", "1")),
    ("weights_along_the_wrong_axis", """net = nn.Linear(5, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
slots = torch.randn(2, 4, 5)
for _ in range(4):
    att = F.softmax(net(slots), dim=1)
    pooled = att.transpose(1, 2) @ slots
    loss = (pooled.mean(1) - slots.mean(1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
"""),
    *(("batch_taken_for_time", READ.replace("LAYER", ", batch_first=True").replace("POOLED", pool)) for pool in POOLS),
    ("batch_taken_for_time", READ.replace("LAYER", "").replace("rnn(x)", "rnn(x.mT.permute(2, 0, 1))").replace("POOLED", "torch.einsum('tb,tbh->bh', torch.softmax(self.att(h).squeeze(-1), 0), h)")),
    ("batch_taken_for_time", """rnn, x = nn.GRU(3, 4), torch.randn(7, 5, 3)
h, _ = rnn(x)
spread = (h.transpose(1, 2) @ h).pow(2).mean() + torch.einsum("tbh,tbk->thk", h, h).pow(2).mean()
spread.backward()
"""),
    ("batch_taken_for_time", """class Tagger(nn.Module):
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
"""),
    ("batch_taken_for_time", """class LM(nn.Module):
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
"""),
    ("batch_taken_for_time", """class Clf(nn.Module):
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
"""),
    # each sample is scored by itself, against all of its steps
    ("batch_taken_for_time", """net, head = nn.RNN(4, 6), nn.Linear(6, 3)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=0.01)
x, y = torch.randn(5, 5, 4), torch.randint(0, 3, (5, 5))
for turn in range(3):
    scores = head(net(x.transpose(0, 1))[0]).transpose(0, 1)
    loss = 0
    for i in range(len(y)):
        loss = loss + F.cross_entropy(scores[i], y[i])
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("view_for_permute", """class Patch(nn.Module):
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
"""),
    ("view_for_permute", """class Up(nn.Module):
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
"""),
    ("view_for_permute", """series = torch.sin(torch.arange(40) / 5)
rows = torch.stack(series.split(5))
print(rows.view(5, 8).mean(1))
x = series.view(-1, 5).view(5, 8, 1)
rnn, lin, wide = nn.GRU(1, 3, batch_first=True), nn.Linear(5, 2), nn.Linear(4, 2)
z = torch.rand(4, 6).view(6, 4)
loss = rnn(x)[0].mean() + lin(rows).mean() + wide(z).mean() + lin(rows.view(8, 1, 5)).mean()
loss.backward()
"""),
    ("view_for_permute", """x = torch.arange(12.0).view(3, 4)
w = torch.randn(3, 2, requires_grad=True)
y = x.reshape(4, 3) @ w
y.pow(2).mean().backward()
print(w.grad)
a = torch.randn(2, 3, 4, requires_grad=True)
b = a.view(4, 3, 2)
b.sum().backward()
print(a.grad.shape)
"""),
    ("power_for_axis", """net, p = nn.Linear(3, 4), -1
h = net(torch.randn(5, 3))
(F.normalize(h, 1) + F.normalize(h, p=-1, dim=1) + F.normalize(h, dim=-1)).mean().backward()
print(h.norm(p), h.norm(2, -1), torch.linalg.norm(h, -1), h.norm(0), h.norm(-1, 1))
"""),
)  # fmt: skip
