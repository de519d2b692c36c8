"""What `engine/findings/unheld.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import LOOP, Mistake

OWN = "class Line(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = {weight}\n        self.b = nn.Parameter(torch.zeros(1))\n    def forward(self, x):\n        return x @ self.w + self.b\nmodel = Line()\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\nx, y = torch.randn(4, 2), torch.randn(4, 1)\n"

ENSEMBLE = """nets = [nn.Linear(2, 1)] * 3
for net in nets:
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        net(torch.randn(6, 2)).pow(2).mean().backward()
        opt.step()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("tensor_not_parameter", 7, OWN.format(weight="torch.randn(2, 1, requires_grad=True)") + LOOP, says={"name": "self.w", "model": "Line"}, mends=True),
    Mistake("tensor_not_parameter", 7, OWN.format(weight="torch.ones(2, 1).requires_grad_()") + LOOP, says={"name": "self.w"}),
    Mistake("tensor_not_parameter", 7, """class Blend(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.empty(4, 1)
        nn.init.xavier_uniform_(self.w)
        self.head = nn.Linear(1, 1)
    def forward(self, x):
        return self.head(torch.tanh(x @ self.w))
net = Blend()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 4)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", says={"name": "self.w", "model": "Blend", "is_asked": "0"}, mends=True),
    Mistake("nothing_loaded", 15, """def train(net):
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
""", cure=(("big.state_dict()", "big[0].state_dict()"),)),
    # of a long program not every index is followed: what was loaded is told all the same
    Mistake("nothing_loaded", 11, """rows = torch.randn(9, 4)
print(sum(float(rows[at % 9][0]) for at in range(600)))
wrapped = nn.DataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
wrapped(rows).mean().backward()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
state = {name: value for name, value in wrapped.state_dict().items() if "2" not in name}
print(len(state))
model.load_state_dict(state, strict=False)
print(model(rows))
""", cure=(("{name: value", '{name.removeprefix("module."): value'),)),
    Mistake("nothing_loaded", 14, """class Net(nn.Module):
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
""", cure=(
        ("{\"module.\" + k: v", "{k: v"),
    )),
    Mistake("nothing_loaded", 13, """import io
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
""", cure=(
        ("\"encoder.\" + k", "k"),
    )),
    Mistake("layer_made_in_forward", 10, """class Net(nn.Module):
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
""", cure=(
        ("self.conv = nn.Conv2d(1, 4, 3)", "self.conv = nn.Conv2d(1, 4, 3)\n        self.fc = nn.Linear(4 * 36, 3)"),
        ("        fc = nn.Linear(x.shape[1], 3)\n        return fc(x)", "        return self.fc(x)"),
    )),
    Mistake("layer_made_in_forward", 9, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
    def forward(self, x):
        return nn.Linear(4, 1)(self.first(x))
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(600):
    opt.zero_grad(); net(torch.randn(6, 2)).pow(2).mean().backward(); opt.step()
""", says={"count": "≥ 366"}, cures=(("nn.Linear(4, 1)(self.first(x))", "self.first(x)"),)),
    Mistake("layer_made_in_forward", 9, """class Block(nn.Module):
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
""", cure=(
        ("self.norm = nn.LayerNorm(d)", "self.norm = nn.LayerNorm(d)\n        self.proj = nn.Linear(d, d)"),
        ("        proj = nn.Linear(x.size(-1), x.size(-1))\n", ""),
        ("h = proj(", "h = self.proj("),
    )),
    Mistake("layer_made_in_forward", 9, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
    def forward(self, x):
        x = nn.Linear(4, 3)(self.first(x))
        return nn.Linear(3, 1)(x)
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(5):
    opt.zero_grad(); net(torch.randn(6, 2)).pow(2).mean().backward(); opt.step()
""", says={"count": "5"}),
    Mistake("mode_layer_made_in_forward", 10, """class Net(nn.Module):
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
""", cure=(
        ("self.fc2 = nn.Linear(16, 2)", "self.fc2 = nn.Linear(16, 2)\n        self.drop = nn.Dropout(0.5)"),
        ("nn.Dropout(0.5)(x)", "self.drop(x)"),
    )),
    Mistake("mode_layer_made_in_forward", 10, """class C(nn.Module):
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
""", cure=(
        ("self.fc = nn.Linear(3, 2)", "self.fc = nn.Linear(3, 2); self.drop = nn.Dropout2d(p=0.3)"),
        ("        drop = nn.Dropout2d(p=0.3)\n        x = drop(x)", "        x = self.drop(x)"),
    )),
    Mistake("layer_repeated", 7, """class Deep(nn.Module):
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
""", cure=(
        ("[nn.Linear(d, d)] * n", "[nn.Linear(d, d) for _ in range(n)]"),
    )),
    Mistake("layer_repeated", 5, """block = nn.Sequential(nn.Linear(5, 5), nn.Tanh())
net = nn.Sequential(*[block for _ in range(3)], nn.Linear(5, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(30, 5); y = torch.randint(0, 2, (30,))
for _ in range(4):
    loss = F.cross_entropy(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("block = nn.Sequential(nn.Linear(5, 5), nn.Tanh())", "def block():\n    return nn.Sequential(nn.Linear(5, 5), nn.Tanh())"),
        ("*[block for", "*[block() for"),
    )),
    Mistake("layer_repeated", 4, ENSEMBLE, cures=(("[nn.Linear(2, 1)] * 3", "[nn.Linear(2, 1) for _ in range(3)]"), ("range(2)", "range(0)"), ("nets = [nn.Linear(2, 1)] * 3", "one = nn.Linear(2, 1)\nnets = [one] * 3"))),
    Mistake("layer_repeated", 7, """net = nn.Sequential(
    nn.Linear(3, 8),
    nn.GELU(),
    *([nn.Linear(8, 8), nn.GELU()] * 2),
    nn.Linear(8, 2),
)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(5, 3)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", says={"layer": "net.2", "count": "2", "made": "nn.Sequential(nn.Linear(8, 8), nn.GELU())"}, cures=(
        ("[nn.Linear(8, 8), nn.GELU()] * 2", "[nn.Sequential(nn.Linear(8, 8), nn.GELU()) for _ in range(2)]"), ("* 2", "* 1"),
    )),
    Mistake("layer_repeated", 7, """class Stack(nn.Module):
    def __init__(self, block, times):
        super().__init__()
        self.blocks = nn.ModuleList([block for _ in range(times)])
    def forward(self, x):
        for block in self.blocks:
            x = torch.tanh(block(x))
        return x
net = Stack(nn.Linear(4, 4), 3)
net(torch.randn(2, 4)).sum().backward()
""", cure=(("([block for", "([nn.Linear(4, 4) for"),)),
    Mistake("tied_by_copy", 9, """class LM(nn.Module):
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
""", cure=(
        ("self.out.weight.data = self.emb.weight.data.clone()", "self.out.weight = self.emb.weight"),
    )),
    Mistake("tied_by_copy", 11, """class AE(nn.Module):
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
""", cure=(
        ("        with torch.no_grad():\n            self.lm_head.weight.copy_(self.tok.weight)", "        self.lm_head.weight = self.tok.weight"),
    )),
    Mistake("parameter_behind_op", 7, """class Layer(nn.Module):
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
""", cure=(
        ("nn.Parameter(torch.randn(a, b)) * 0.1", "nn.Parameter(torch.randn(a, b) * 0.1)"),
        ("retain_graph=True", ""),
    )),
    Mistake("parameter_behind_op", 4, """W1 = torch.randn(3, 8, requires_grad=True) / 3 ** 0.5
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
""", cure=(
        ("torch.randn(3, 8, requires_grad=True) / 3 ** 0.5", "(torch.randn(3, 8) / 3 ** 0.5).requires_grad_()"),
        ("SGD([b1", "SGD([W1, b1"),
        ("retain_graph=True", ""),
    )),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("tensor_not_parameter", OWN.format(weight="nn.Parameter(torch.randn(2, 1))") + LOOP),
    ("tensor_not_parameter", OWN.format(weight="torch.zeros(2, 1, requires_grad=True)") + LOOP + "    with torch.no_grad():\n        model.w -= 0.01 * model.w.grad\n"),
    # numbers drawn once for good, and a buffer
    ("tensor_not_parameter", """class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.turns = torch.randn(2, 8)
        self.register_buffer("start", torch.empty(8))
        nn.init.normal_(self.start)
        self.head = nn.Linear(8, 1)
    def forward(self, x):
        return self.head(torch.sin(x @ self.turns + self.start))
net = Waves()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 2)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("tensor_not_parameter", """class Net(nn.Module):
    def __init__(self): super().__init__(); self.a = nn.Linear(2, 1); self.b = nn.Linear(2, 1)
net = Net(); opt = torch.optim.SGD(net.a.parameters(), lr=0.1)
for i in range(2): opt.zero_grad(); (net.a(torch.ones(1, 2)) + net.b(torch.ones(1, 2))).sum().backward(); opt.step()
"""),
    ("layer_repeated", """class Cell(nn.Module):
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
"""),
    ("layer_repeated", "net = nn.Sequential(*([nn.ReLU(), nn.Tanh()] * 2), nn.Linear(3, 1))\nnet(torch.randn(2, 3)).sum().backward()\n"),
    ("nothing_loaded", """class Net(nn.Module):
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
"""),
    # points at which a model is differentiated
    ("parameter_behind_op", """net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
waves = torch.randn(1, 4)
left = torch.ones(1, 1, requires_grad=True) - 0.5
def end(at):
    right = torch.ones(1, 1, requires_grad=True) * at
    return (net(right) - 1).pow(2).mean() + (right @ waves).sum()
for _ in range(3):
    loss = net(left).pow(2).mean() + (left @ waves).sum() + end(2.0)
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("parameter_behind_op", """places = torch.rand(6, 1).tolist()
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
"""),
)  # fmt: skip
