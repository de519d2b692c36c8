"""What `engine/findings/cut_gradients.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import GAN, QUANTISER, SGD, STEP, Mistake

TARGET = """class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.online, self.target = nn.Linear(3, 2), nn.Linear(3, 2)
    def loss(self, s):
        return F.mse_loss(self.online(s), self.target(s).detach())
agent = Agent()
"""

BRANCHES = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(2, 2), nn.Linear(2, 2)
        self.experts = nn.ModuleList(nn.Linear(2, 1) for _ in range(3))
    def forward(self, x, choice):
        h = self.left(x) if choice else self.right(x)
        return self.experts[choice](h)
net = Net()
net(torch.ones(3, 2), 1).sum().backward()
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("unused_parameters", 8, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(2, 1)
        self.spare = nn.Linear(2, 1)
    def forward(self, x):
        return self.used(x)
net = Net()
net(torch.ones(3, 2)).sum().backward()
""", says={"model": "net", "count": "2"}),
    Mistake("unused_parameters", 8, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(2))
        self.b = nn.Parameter(torch.ones(2))
    def forward(self, x):
        return self.a * x
net = Net()
net(torch.ones(2)).sum().backward()
""", says={"model": "net", "count": "1", "names": "net.b"}),
    Mistake("cut_for_two_passes", 7, GAN + """    fake = G(torch.randn(4, 2)).detach()
    of_d.zero_grad()
    D(fake).mean().backward()
    of_d.step()
    of_g.zero_grad()
    (-D(fake).mean()).backward()
    of_g.step()
""", says={"first_line": "9", "pass_line": "12", "value": "G(torch.randn(4, 2))"}),
    Mistake("cut_for_two_passes", 7, GAN + """    judged = D(G(torch.randn(4, 2)).detach())
    judged.mean().backward(retain_graph=True)
    of_d.step(); of_d.zero_grad()
    (-judged.sum()).backward()
    of_g.step()
""", says={"first_line": "8", "pass_line": "10"}),
    Mistake("taken_straight_through", 10, QUANTISER.replace("MADE", "z + (q - z).detach()").replace("AIM", "made") + STEP, cure=(("mse_loss(made, z.d", "mse_loss(q, z.d"),)),
    Mistake("taken_straight_through", 8, """enc, levels = nn.Linear(3, 4), torch.linspace(-1, 1, 5).requires_grad_()
for _ in range(3):
    z = enc(torch.randn(6, 3))
    near = levels[(z.unsqueeze(-1) - levels).abs().argmin(-1)]
    out = z + (near - z).detach()
    (out - 0.5).pow(2).mean().backward()
""", cure=(("(out - 0.5)", "(out - 0.5 + near)"),)),
    Mistake("cut_by_item", 8, """class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(2, 1); self.scale = nn.Parameter(torch.tensor(0.7))
    def forward(self, x):
        return self.fc(x) / self.scale.item()
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.randn(3, 2)).sum().backward()
opt.step()
""", says={"leaf": "net.scale"}, mends=True),
    Mistake("cut_by_item", 9, """actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
def play():
    sure, values = [], []
    for x in torch.randn(4, 3):
        values.append(critic(x).item())
        sure.append(actor(x).log_softmax(0)[0])
    return torch.stack(sure), values
for _ in range(3):
    sure, worth = play()
    worth = torch.tensor(worth)
    loss = F.mse_loss(worth, torch.ones(4)) - (sure * (1 - worth)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", says={"is_listed": "1", "value": "critic(x)"}, cure=(
        ("critic(x).item()", "critic(x)"),
        ("torch.tensor(worth)", "torch.stack(worth).squeeze(1)"),
    )),
    Mistake("cut_by_item", 5, """w, v = torch.ones(2, 2, requires_grad=True), torch.tensor([1.0, -1.0], requires_grad=True)
h = torch.tensor((w @ torch.ones(2)).tolist())
(h @ v).backward()
""", says={"leaf": "w", "is_many": "1"}),
    Mistake("cut_by_item", 7, """w, t = torch.ones(2, requires_grad=True), torch.tensor(0.3, requires_grad=True)
opt = torch.optim.SGD([w, t], lr=0.1)
def loss():
    return (w * t.item()).sum()
loss().backward()
opt.step()
""", says={"leaf": "t", "is_many": "0"}, mends=True),
    Mistake("cut_by_detach", 8, SGD + """out = net(x)
pred = out.detach().squeeze()
loss = F.mse_loss(pred, y[:, 0])
loss.requires_grad_(True)
loss.backward()
opt.step()
""", says={"leaf": "net.weight, net.bias"}, mends=True),
    Mistake("cut_by_detach", 7, """enc, dec = nn.Linear(2, 4), nn.Linear(2, 1)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
h = enc(torch.randn(3, 2))
flat = h.detach().view(-1, 2)
dec(flat).sum().backward()
opt.step()
""", says={"leaf": "enc.weight, enc.bias"}, mends=True),
    Mistake("cut_by_detach", 10, """from torch.autograd import Variable
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc1, self.fc2 = nn.Linear(2, 4), nn.Linear(4, 1)
    def forward(self, x):
        h = F.relu(self.fc1(x))
        return self.fc2(Variable(h))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(Variable(torch.randn(3, 2))).sum().backward()
opt.step()
""", says={"leaf": "net.fc1.weight, net.fc1.bias", "op": "Variable"}, mends=True),
    Mistake("cut_by_detach", 9, """enc, dec = nn.Linear(2, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
rows = torch.FloatTensor()
for row in torch.randn(3, 1, 2):
    made = enc(row)
    rows = torch.cat((rows, made.cpu().data))
rows = torch.autograd.Variable(rows)
dec(rows).sum().backward()
opt.step()
""", says={"op": ".data"}, mends=True),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("cut_by_detach", """q, slow = nn.Linear(4, 2), nn.Linear(4, 2)
opt = torch.optim.SGD([*q.parameters(), *slow.parameters()], lr=0.1)
goal = torch.randn(3) + 0.9 * slow(torch.randn(3, 4)).max(1)[0].detach()
F.mse_loss(q(torch.randn(3, 4))[:, 0], goal).backward()
opt.step()
"""),
    ("unused_parameters", "model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\nmodel(torch.ones(3, 2)).sum().backward()\n"),
    ("unused_parameters", BRANCHES),
    ("unused_parameters", """net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
net(torch.ones(1, 2)).sum().backward()
net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
net[0](torch.ones(1, 2)).sum().backward()
"""),
    ("cut_by_detach", "q, target = nn.Linear(4, 2), nn.Linear(4, 2)\nopt = torch.optim.SGD(q.parameters(), lr=0.1)\n"
     "goal = target(torch.randn(3, 4)).detach()\nF.mse_loss(q(torch.randn(3, 4)), goal).backward()\nopt.step()\n"),
    ("cut_by_detach", TARGET + """opt = torch.optim.SGD(agent.online.parameters(), lr=0.1)
for i in range(2): opt.zero_grad(); agent.loss(torch.randn(4, 3)).backward(); opt.step()
"""),
    ("cut_by_detach", TARGET + """opt = torch.optim.SGD(agent.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad(); agent.loss(torch.randn(4, 3)).backward(); opt.step()
    for t, p in zip(agent.target.parameters(), agent.online.parameters()): t.data.copy_(0.9 * t.data + 0.1 * p.data)
"""),
    ("cut_by_detach", "class Rnd(nn.Module):\n    def __init__(self):\n        super().__init__(); self.goal, self.guess = nn.Linear(2, 3), nn.Linear(2, 3)\n"
     "    def forward(self, s):\n        return (self.guess(s) - self.goal(s).detach()).pow(2).mean()\nrnd = Rnd()\nopt = torch.optim.Adam(rnd.parameters())\n"
     "for i in range(2):\n    opt.zero_grad()\n    rnd(torch.randn(4, 2)).backward()\n    opt.step()\n"),
    ("cut_by_detach", "from torch.autograd import Variable\nrnn, head, h = nn.RNN(3, 8), nn.Linear(8, 1), Variable(torch.zeros(1, 4, 8))\n"
     "opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)\nfor i in range(4):\n    out, h = rnn(Variable(torch.randn(5, 4, 3)), h)\n"
     "    h = Variable(h)\n    opt.zero_grad()\n    head(out[-1]).pow(2).mean().backward()\n    opt.step()\n"),
    ("cut_for_two_passes", GAN + """    fake = G(torch.randn(4, 2))
    of_d.zero_grad(); D(fake.detach()).mean().backward(); of_d.step()
    of_g.zero_grad(); (-D(fake).mean()).backward(); of_g.step()
"""),
    ("cut_by_item", "from torch.utils.data import DataLoader, TensorDataset\nbody, head = nn.Linear(2, 3), nn.Linear(3, 1)\nopt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)\n"
     "rows = DataLoader(TensorDataset(torch.randn(8, 2), torch.randn(8, 1)), batch_size=4, shuffle=True)\nfor epoch in range(2):\n    total = 0\n    for x, y in rows:\n"
     "        with torch.no_grad():\n            h = body(x)\n        loss = F.mse_loss(head(h), y)\n        opt.zero_grad(); loss.backward(); opt.step()\n        total += loss.item()\n"),
    ("cut_by_item", """# what the values are worth is computed anew, with a gradient, beside those that the play noted
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
def play(steps):
    values = []
    for x in steps:
        values.append(critic(x).item())
    return steps, values
for _ in range(3):
    steps, values = play(torch.randn(4, 3))
    gain = 1 - torch.tensor(values)
    loss = (critic(steps)[:, 0] - 1).pow(2).mean() - (actor(steps).log_softmax(1)[:, 0] * gain).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""),
    ("cut_by_item", SGD + "for i in range(2):\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    print(loss.item(), net.bias.item())\n    loss.backward()\n    opt.step()\n"),
    ("cut_by_detach", """def size(model):
    x = torch.randn(1, 16, requires_grad=True)
    J = torch.autograd.functional.jacobian(model, x).squeeze()
    return torch.linalg.svdvals(J)[0].item()
def build(wide, count, deep):
    layers = []
    for _ in range(count):
        for _ in range(deep):
            layers += [nn.Linear(wide, wide), nn.ReLU()]
        layers += [nn.Linear(wide, 2 * wide), nn.ReLU()]
        wide *= 2
    for _ in range(deep):
        layers += [nn.Linear(wide, wide), nn.ReLU()]
    return nn.Sequential(*layers)
for deep in (0, 2):
    for turn in range(12):
        print(size(build(16, 1 + turn % 2, deep)))
"""),
)  # fmt: skip
