"""What `engine/findings/gradient_flow.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("gradient_vanishes", 5, """net = nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(8, 8), nn.Sigmoid())])
net(torch.randn(4, 8)).sum().backward()
""", says={"count": "11", "first": "net.0.weight"}),
    Mistake("gradient_vanishes", 10, """layers = nn.ModuleList([nn.Linear(6, 6, bias=False) for _ in range(9)])
for layer in layers:
    nn.init.normal_(layer.weight, std=0.01)
h = torch.randn(5, 6)
def run(h):
    for layer in layers:
        h = torch.tanh(layer(h))
    return h
for i in range(3):
    layers.zero_grad()
    run(h).pow(2).sum().backward()
""", says={"count": "8"}),
    Mistake("gradient_explodes", 7, """net = nn.Sequential(*[nn.Linear(8, 8, bias=False) for _ in range(10)])
for layer in net:
    nn.init.normal_(layer.weight, std=4.0)
net(torch.randn(4, 8)).sum().backward()
""", says={"count": "9", "last": "net.9.weight"}),
    Mistake("gradient_explodes", 8, """ws = [torch.full((4, 4), 5.0, requires_grad=True) for _ in range(8)]
x = torch.randn(3, 4) / 1e9
h = x
for w in ws:
    h = h @ w
h.sum().backward()
""", says={"count": "7"}),
    Mistake("dead_relu", 6, """net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
nn.init.constant_(net[0].bias, -100.0)
net(torch.randn(4, 2)).sum().backward()
""", says={"name": "net.1", "count": "1", "units": "3"}),
    Mistake("dead_relu", 7, """w = torch.full((2, 5), -1.0, requires_grad=True)
v = torch.ones(5, 1, requires_grad=True)
for i in range(2):
    h = F.relu(torch.ones(4, 2) @ w)
    (h @ v).sum().backward()
""", says={"count": "2", "units": "5"}),
    Mistake("dead_relu", 8, """net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 6, 1), nn.ReLU())
for layer in (net[0], net[2]):
    nn.init.constant_(layer.bias, -50.0)
x = torch.randn(2, 1, 5, 7)
F.mse_loss(net(x), torch.ones(2, 6, 3, 5)).backward()
""", says={"units": "4", "alone": "2"}),
    Mistake("dead_relu", 10, """net = nn.Sequential(nn.Linear(4, 8, bias=False), nn.ReLU(), nn.Linear(8, 1))
nn.init.zeros_(net[0].weight)
x = torch.rand(8, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), x[:, :1]).backward()
    opt.step()
""", cures=(("nn.init.zeros_", "nn.init.xavier_uniform_"), ("nn.ReLU()", "nn.Tanh()"))),
    Mistake("dead_relu", 10, """net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
for p in net.parameters():
    nn.init.zeros_(p)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 4)
for i in range(5):
    loss = F.mse_loss(net(x), x[:, :1] + 1)
""" + STEP, says={"is_empty": "1", "filled_line": "6"}, cure=(("nn.init.zeros_(p)", "nn.init.normal_(p, 0, 0.5)"),)),
    Mistake("dead_relu", 8, """net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
x, y = torch.rand(8, 4), torch.zeros(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=20.)
for i in range(8):
    loss = F.mse_loss(net(x), y - 5)
""" + STEP, cures=(("lr=20.", "lr=0.01"), ("nn.ReLU()", "nn.LeakyReLU()"))),
    Mistake("saturated", 6, """net = nn.Sequential(nn.Linear(2, 4), nn.Sigmoid(), nn.Linear(4, 1))
nn.init.constant_(net[0].bias, 30.0)
net(torch.randn(4, 2)).sum().backward()
""", says={"op": "sigmoid", "share": "100%", "name": "net.1"}),
    Mistake("saturated", 7, """w = torch.full((2, 8), 50.0, requires_grad=True)
v = torch.ones(8, 1, requires_grad=True)
for i in range(2):
    h = torch.tanh(torch.ones(3, 2) @ w)
    (h @ v).sum().backward()
""", says={"op": "tanh", "count": "2"}),
    Mistake("symmetric_units", 6, """net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
for p in net.parameters():
    nn.init.constant_(p, 0.5)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    F.mse_loss(net(torch.randn(4, 2)), torch.ones(4, 1)).backward()
    opt.step()
    opt.zero_grad()
""", says={"name": "net.0.weight", "units": "3"}),
    Mistake("symmetric_units", 4, """w1 = torch.zeros(3, 4, requires_grad=True)
w2 = torch.zeros(4, 1, requires_grad=True)
x, y = torch.randn(5, 3), torch.randn(5, 1)
for i in range(2):
    loss = ((torch.sigmoid(x @ w1) @ w2 - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2):
            w -= 0.1 * w.grad
            w.grad = None
""", says={"name": "w1", "units": "4"}),
    Mistake("symmetric_units", 6, """net = nn.Sequential(nn.Linear(3, 6), nn.Sigmoid(), nn.Linear(6, 1))
for layer in (net[0], net[2]):
    nn.init.constant_(layer.weight, 0.5); nn.init.zeros_(layer.bias)
opt = torch.optim.SGD(net.parameters(), lr=0.5); x = torch.randn(10, 3)
for i in range(4): opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
""", says={"units": "6"}),
    Mistake("flat_op", 5, """x = torch.tensor([0.4, 1.6], requires_grad=True)
y = torch.round(x).sum()
y.backward()
""", says={"op": "round", "leaf": "x"}),
    Mistake("flat_op", 6, """w = torch.randn(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
loss = (w.sign() * b).sum()
loss.backward()
""", says={"op": "sign", "leaf": "w"}),
    Mistake("layers_are_one", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 8), nn.Linear(8, 8), nn.Linear(8, 1)
    def forward(self, x):
        h = self.a(x)
        h = self.b(h)
        return self.c(h)
net = Net(); opt = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.rand(64, 2) * 2 - 1; y = (x[:, :1] * x[:, 1:] > 0).float()
for _ in range(24):
    loss = F.binary_cross_entropy_with_logits(net(x), y)
""" + STEP, cures=(("h = self.b(h)", "h = self.b(h.relu()).relu()"), ("range(24)", "range(6)"), ("(x[:, :1] * x[:, 1:] > 0).float()", "(x[:, :1] > 0).float()"))),
    Mistake("layers_are_one", 8, """net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 6), nn.Linear(6, 4))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
x, y = torch.randn(16, 1, 4, 4), torch.randint(0, 4, (16,))
for _ in range(20):
    loss = F.cross_entropy(net(x), y)
""" + STEP, cures=(("nn.Linear(8, 6)", "nn.Linear(8, 6), nn.Tanh()"), ("nn.Linear(8, 6), nn.Linear(6, 4)", "nn.Linear(8, 2), nn.Linear(2, 4)"))),
    Mistake("layers_are_one", 8, """body, head, probe = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 6)), nn.Linear(6, 3), nn.Linear(6, 2)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=1e-3)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for _ in range(20):
    loss = F.cross_entropy(head(body(x)), y)
""" + STEP, cure=(("for _ in range(20):\n", "probe(body(x))\nfor _ in range(20):\n"),)),
    Mistake("zeros_hold_each_other", 11, f"""base = nn.Linear(6, 3)
A = nn.Parameter(torch.zeros(2, 6))
B = nn.Parameter(torch.zeros(3, 2))
base.requires_grad_(False)
opt = torch.optim.AdamW([A, B])
for _ in range(4):
    x = torch.randn(8, 6)
    loss = (base(x) + x @ A.T @ B.T).pow(2).mean()
{STEP}""", cure=(("nn.Parameter(torch.zeros(2, 6))", "nn.Parameter(torch.randn(2, 6))"),)),
    Mistake("zeros_hold_each_other", 11, f"""class Adapter(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.down, self.up = nn.Linear(dim, 2, bias=False), nn.Linear(2, dim, bias=False)
        nn.init.zeros_(self.down.weight)
        nn.init.zeros_(self.up.weight)
    def forward(self, x):
        return x + self.up(self.down(x))
net, head = Adapter(5), nn.Linear(5, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    loss = head(net(torch.randn(8, 5))).pow(2).mean()
{STEP}""", cure=(("        nn.init.zeros_(self.down.weight)\n", ""),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("dead_relu", """net, x = nn.Linear(3, 4), torch.randn(16, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(4):
    out = net(x) + 9
    loss = F.mse_loss(out, torch.ones(16, 4)) + 0.1 * torch.relu(-out).mean() - F.relu(0.0 - out).mul(2).sum()  # penalties
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    # a limit that nothing passes
    ("dead_relu", """net, last = nn.Linear(4, 8), nn.Linear(8, 1)
opt = torch.optim.SGD([*net.parameters(), *last.parameters()], lr=0.01)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for _ in range(3):
    h = net(x)
    loss = F.mse_loss(last(h), y) + F.relu(h - 10).sum()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("gradient_vanishes", """heads, x = nn.ModuleList(nn.Linear(4, 1) for _ in range(5)), torch.randn(8, 4)
sum(size * head(x).pow(2).mean() for size, head in zip((1e-6, 1e-3, 1e-2, 1, 1), heads)).backward()
"""),
    # the loss fell, and is larger again since the weights were drawn anew
    ("layers_are_one", """net = nn.Sequential(nn.Linear(2, 8), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(32, 2)
for i in range(32):
    if i == 24:
        for layer in net:
            layer.reset_parameters()
    loss = F.mse_loss(net(x), x.sum(1, True))
""" + STEP),
    ("gradient_vanishes", "net = nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(8, 8), nn.LayerNorm(8), nn.ReLU())])\n"
     "net(torch.randn(4, 8)).sum().backward()\n"),
    ("gradient_explodes", "net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(10)])\nnet(torch.randn(4, 8)).sum().backward()\n"),
    ("dead_relu", "x = torch.tensor([-2.0, -1.0], requires_grad=True)\nF.relu(x).sum().backward()\n"),
    ("dead_relu", "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))\nfor b in (-100.0, 100.0):\n"
     "    nn.init.constant_(net[0].bias, b)\n    net(torch.randn(4, 2)).sum().backward()\n"),
    ("dead_relu", """net = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 2))
for p in net.parameters(): nn.init.zeros_(p)
net(torch.randn(8, 4)).pow(2).sum().backward()
"""),
    ("saturated", "net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())\nnn.init.constant_(net[2].bias, 40.0)\nnet(torch.randn(4, 2)).sum().backward()\n"),
    ("symmetric_units", "W = torch.ones(2, 3, requires_grad=True)\ny = torch.ones(4, 2) @ W\ny.sum().backward()\nW.data -= 0.1 * W.grad\n"),
    ("symmetric_units", "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))\nnn.init.zeros_(net[2].weight)\nnn.init.zeros_(net[2].bias)\n"
     "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(2):\n    opt.zero_grad()\n    F.cross_entropy(net(torch.randn(4, 2)), torch.tensor([0, 1, 1, 0])).backward()\n    opt.step()\n"),
    ("flat_op", "x = torch.tensor([0.4, 1.6], requires_grad=True)\ny = (x + (x.round() - x).detach()).sum()\ny.backward()\n"),
    ("flat_op", "x = torch.tensor([0.4, 1.6], requires_grad=True)\ny = (x.round() + x).sum()\ny.backward()\n"),
)  # fmt: skip
