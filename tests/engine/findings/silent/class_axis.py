"""What `engine/findings/class_axis.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("softmax_over_batch", 6, """net = nn.Linear(5, 3)
logits = net(torch.randn(4, 5))
logp = F.log_softmax(logits, dim=0)
loss = F.nll_loss(logp, torch.tensor([0, 2, 1, 1]))
loss.backward()
""", says={"name": "logits", "shape": "4×3", "dim": "1"}, mends=True),
    Mistake("softmax_over_batch", 8, """clf = nn.Sequential(
    nn.Linear(6, 8),
    nn.ReLU(),
    nn.Linear(8, 4),
    nn.Softmax(dim=0),
)
p = clf(torch.randn(10, 6))
print(p.argmax(1))
""", says={"dim": "1"}, mends=True),
    Mistake("softmax_over_batch", 10, """class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
    def forward(self, h):
        scores = self.fc(h)
        return (scores
                .softmax(-2))
m = Head()
q = m(torch.randn(7, 4))
target = torch.randint(3, (7,))
loss = -torch.log(q[torch.arange(7), target]).mean()
loss.backward()
""", says={"batch": "7", "classes": "3"}, mends=True),
    Mistake("softmax_over_batch", 5, """net = nn.Conv2d(3, 5, 1)
seg = torch.softmax(net(torch.randn(2, 3, 4, 4)), 0)
loss = F.nll_loss(seg.log(), torch.randint(5, (2, 4, 4)))
loss.backward()
""", says={"dim": "1", "classes": "5"}, mends=True),
    Mistake("softmax_over_batch", 7, """W = torch.randn(4, 3, requires_grad=True)
b = torch.zeros(3, requires_grad=True)
X = torch.randn(6, 4)
probs = torch.softmax(X @ W + b, dim=0)
loss = -probs[range(6), [0, 1, 2, 0, 1, 2]].log().mean()
loss.backward()
""", mends=True),
    Mistake("softmax_over_batch", 7, """lin = nn.Linear(4, 3)
t = F.one_hot(torch.tensor([0, 1, 2, 0, 1]), 3).float()
def ce(z):
    return -(t * F.log_softmax(z, dim=0)).sum(1).mean()
ce(lin(torch.randn(5, 4))).backward()
""", mends=True),
    Mistake("softmax_over_batch", 9, """class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, 8), nn.ReLU())
        self.head = nn.Linear(8, 3)
        self.sm = nn.LogSoftmax(0)
    def forward(self, x):
        return self.sm(self.head(self.body(x)))
class Trainer:
    def __init__(self):
        self.net = Net(4)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def fit(self, x, y):
        for _ in range(3):
            self.opt.zero_grad()
            loss = F.nll_loss(self.net(x), y)
            loss.backward()
            self.opt.step()
Trainer().fit(torch.randn(6, 4), torch.randint(3, (6,)))
""", mends=True),
    Mistake("softmax_over_batch", 8, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, chosen, reward = torch.randn(6, 4), torch.tensor([0, 2, 1, 1, 0, 2]), torch.randn(6)
for _ in range(2):
    p = torch.softmax(net(x), 0)
    loss = -(p[torch.arange(6), chosen].log() * reward).mean()
""" + STEP, cure=(("net(x), 0)", "net(x), 1)"),), mends=True),
    Mistake("softmax_over_batch", 6, """def softmax(z):
    e = torch.exp(z - z.max(dim=0, keepdim=True).values)
    return e / torch.sum(e, dim=0, keepdim=True)
W = torch.randn(4, 3, requires_grad=True)
p = softmax(torch.randn(6, 4) @ W)
loss = F.nll_loss(torch.log(p), torch.tensor([0, 1, 2, 0, 1, 2]))
loss.backward()
""", says={"op": "sum", "name": "e", "classes": "3"}, mends=True),
    Mistake("softmax_over_batch", 9, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 3)
    def forward(self, x):
        z = self.fc(x).exp(); return z / z.sum(0)
p, y = Net()(torch.randn(6, 5)), torch.randint(0, 3, (6,))
loss = -torch.log(p[torch.arange(6), y]).mean()
loss.backward()
""", cure=(("z.sum(0)", "z.sum(1, keepdim=True)"),), mends=True),
    Mistake("softmax_over_batch", 7, """net, x, y = nn.Linear(5, 3), torch.randn(6, 5), torch.randint(0, 3, (6,))
for _ in range(2):
    z = net(x)
    logp = z - torch.logsumexp(z, 0)
    loss = F.nll_loss(logp, y)
    net.zero_grad(); loss.backward()
""", says={"op": "logsumexp"}, mends=True),
    Mistake("one_class_softmax", 10, """class Net(nn.Module):
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
""", cure=(
        ("F.softmax(self.fc2(torch.relu(self.fc1(x))), dim=1)", "torch.sigmoid(self.fc2(torch.relu(self.fc1(x))))"),
    )),
    Mistake("one_class_softmax", 9, """net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1), nn.Softmax(dim=1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
img = torch.rand(4, 1, 8, 8)
mask = (img > 0.5).float()
for step in range(4):
    pred = net(img)
    loss = F.binary_cross_entropy(pred, mask)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        ("nn.Softmax(dim=1)", "nn.Sigmoid()"),
    )),
    Mistake("one_class_softmax", 9, """class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1), nn.Softmax(dim=0))
    def forward(self, x):
        return self.model(x)
critic = Critic()
opt = torch.optim.Adam(critic.parameters(), lr=0.01)
for _ in range(5):
    loss = (1.5 - critic(torch.randn(3))).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", says={"value": "1", "axis": "0"}, cures=((", nn.Softmax(dim=0)", ""), ("8, 1", "8, 2"))),
    Mistake("one_class_loss", 11, """model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
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
""", cure=(
        ("nn.Linear(16, 1)", "nn.Linear(16, 2)"),
    )),
    Mistake("one_class_loss", 11, """class Net(nn.Module):
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
""", cure=(
        ("nn.CrossEntropyLoss()", "nn.BCEWithLogitsLoss()"),
    )),
    Mistake("one_class_choice", 20, """class Clf(nn.Module):
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
""", cure=(
        ("model(X).argmax(dim=1)", "(model(X).squeeze(1) > 0).float()"),
    )),
    Mistake("one_class_choice", 14, """model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
opt = torch.optim.SGD(model.parameters(), lr=0.5)
X = torch.randn(50, 4); y = (X[:, :1] > 0).float()
for epoch in range(5):
    out = model(X)
    loss = F.binary_cross_entropy(out, y)
    opt.zero_grad(); loss.backward(); opt.step()
correct = 0
with torch.no_grad():
    outputs = model(X)
    _, predicted = torch.max(outputs.data, 1)
    correct += (predicted == y.squeeze(1)).sum().item()
print(correct / 50)
""", cure=(
        ("    _, predicted = torch.max(outputs.data, 1)\n", "    predicted = (outputs.squeeze(1) > 0.5).float()\n"),
    )),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # for each of three questions, which page
    ("softmax_over_batch", """net, pages, best = nn.Linear(6, 3), torch.randn(8, 6), torch.tensor([1, 4, 2])
chance = torch.softmax(net(pages), dim=0)
(-chance[best, torch.arange(3)].log().mean()).backward()
"""),
    # a sequence of one step
    ("one_class_softmax", """score, last = nn.Linear(6, 1), nn.Linear(6, 2)
x = torch.randn(8, 1, 6)
weights = torch.softmax(score(x).squeeze(-1), dim=1)
F.cross_entropy(last((weights[..., None] * x).sum(1)), torch.randint(0, 2, (8,))).backward()
"""),
    # attention over as many places as there are
    ("one_class_softmax", """score, emb = nn.Linear(4, 1), torch.randn(1, 4)
(F.softmax(score(emb), dim=0) * emb).sum().backward()
(F.softmax(score(emb).squeeze(-1), dim=0) @ emb).sum().backward()
"""),
    ("softmax_over_batch", """score, emb = nn.Linear(4, 2), torch.randn(6, 4)
a = F.softmax(score(emb), dim=0)
pooled = a.T @ emb
pooled.sum().backward()
"""),
    ("softmax_over_batch", """score, x = nn.Linear(5, 3), torch.randn(6, 5)
a = score(x).exp()
a = a / a.sum(0)
(a.T @ x).pow(2).mean().backward()
"""),
    ("softmax_over_batch", """score = nn.Linear(4, 4)
h = torch.randn(6, 4)
a = torch.softmax(score(h), dim=0)
out = (a * h).sum(0)
out.sum().backward()
"""),
    ("softmax_over_batch", """net = nn.Linear(4, 3)
p = F.softmax(net(torch.randn(4)), dim=0)
F.nll_loss(p.log()[None], torch.tensor([1])).backward()
"""),
    ("softmax_over_batch", """a, b = nn.Linear(4, 3), nn.Linear(5, 3)
u, v = F.normalize(a(torch.randn(6, 4)), dim=-1), F.normalize(b(torch.randn(6, 5)), dim=-1)
logits = u @ v.T / 0.07
y = torch.arange(6)
loss = F.nll_loss(logits.log_softmax(1), y) + F.nll_loss(logits.log_softmax(0).T, y)
loss.backward()
"""),
    ("softmax_over_batch", """W = torch.randn(3, 4, requires_grad=True)
X = torch.randn(4, 6)
p = torch.softmax(W @ X, dim=0)
(-p[0].log().mean()).backward()
"""),
    ("softmax_over_batch", """lin = nn.Linear(3, 2)
s = lin(torch.randn(2, 3))
print(F.softmax(s, dim=0), F.softmax(s, dim=1))
"""),
    ("softmax_over_batch", """q = nn.Linear(4, 4)
x = torch.randn(5, 4)
att = (q(x) @ x.T / 2).softmax(0)
out = att.T @ x
out.sum().backward()
"""),
    ("softmax_over_batch", """gate = nn.Linear(4, 3)
x = torch.randn(6, 4)
p = F.softmax(gate(x), dim=0)
experts = [nn.Linear(4, 2) for _ in range(3)]
y = sum(p[:, i:i+1] * e(x) for i, e in enumerate(experts))
y.sum().backward()
"""),
)  # fmt: skip
