"""Mistakes whose cause is easily mistaken for another one, and right programs that look like them."""

from tests.engine.findings.silent import DROP, TRAIN, Case

GAN = """G, D = nn.Linear(2, 3), nn.Linear(3, 1)
of_g, of_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(3):
"""
"""Lines 4 to 6."""

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
TRAIN_MODE = DROP + "for i in range(2):\n    opt.zero_grad()\n    F.mse_loss(model(x), y).backward()\n    opt.step()\n"

TRIGGERS: tuple[Case, ...] = (
    Case("cut_for_two_passes", 7, {"first_line": "9", "pass_line": "12", "value": "G(torch.randn(4, 2))"}, GAN + """    fake = G(torch.randn(4, 2)).detach()
    of_d.zero_grad()
    D(fake).mean().backward()
    of_d.step()
    of_g.zero_grad()
    (-D(fake).mean()).backward()
    of_g.step()
"""),
    Case("cut_for_two_passes", 7, {"first_line": "8", "pass_line": "10"}, GAN + """    judged = D(G(torch.randn(4, 2)).detach())
    judged.mean().backward(retain_graph=True)
    of_d.step(); of_d.zero_grad()
    (-judged.sum()).backward()
    of_g.step()
"""),
    Case("step_moves_nothing", 11, {"optimizer": "opt", "pass_line": "10"}, TRAIN + """start = torch.randn(8, 1, requires_grad=True)
for i in range(2):
    opt.zero_grad()
    loss = (model(x).detach() * start).mean(); loss.backward()
    opt.step()
"""),
    Case("step_moves_nothing", 10, {"optimizer": "opt", "pass_line": "9"}, TRAIN + """for i in range(2):
    loss = torch.tensor(F.mse_loss(model(x), y).item(), requires_grad=True)
    loss.backward()
    opt.step()
"""),
    Case("trained_while_evaluating", 14, {"step_line": "15", "train_line": "9", "eval_line": "11"}, DROP + """for i in range(2):
    model.train()
    F.mse_loss(model(x), y).backward()
    opt.step()
    model.eval()
    for _ in range(2):
        opt.zero_grad()
        F.mse_loss(model(x), y).backward()
        opt.step()
    opt.zero_grad()
"""),
    Case("trained_while_evaluating", 13, {"module": "net.1"}, """net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
optim = torch.optim.Adam(net.parameters())
def fit(data):
    F.mse_loss(net(data), data[:, :1]).backward(); optim.step(); optim.zero_grad()
def test(data):
    net.eval()
    loss = F.mse_loss(net(data), data[:, :1])
    if loss > 0:
        pass
    loss.backward()
    optim.step()
fit(torch.randn(5, 2))
test(torch.randn(5, 2))
"""),
    Case("nan_in_data", 7, {"name": "x", "place": "[1, 0]", "root": "loss", "is_stepped": "1"}, TRAIN + """x[1, 0] = float("nan")
loss = F.mse_loss(model(x), y)
loss.backward()
opt.step()
"""),
    Case("nan_in_data", 4, {"name": "table", "place": "[2, 1]", "is_stepped": "0"}, """table = torch.tensor([[1., 2.], [3., 4.], [5., float("nan")]])
w = torch.ones(2, requires_grad=True)
loss = (table @ w).sum()
loss.backward()
"""),
    Case("log_of_zero", 6, {"operand": "p[:, 1]"}, """net = nn.Linear(2, 3)
p = torch.softmax(net(torch.ones(2, 2)) * 0 + torch.tensor([300.0, 0.0, 0.0]), 1)
loss = -torch.log(p[:, 1]).mean()
loss.backward()
"""),
    Case("dead_relu", 8, {"units": "4", "alone": "2"}, """net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 6, 1), nn.ReLU())
for layer in (net[0], net[2]):
    nn.init.constant_(layer.bias, -50.0)
x = torch.randn(2, 1, 5, 7)
net(x).sum().backward()
"""),
    Case("cut_by_numpy", 7, {"value": "model(x)"}, TRAIN + """z = model(x).detach().numpy()
z = torch.from_numpy(z)
z = z.requires_grad_()
opt.zero_grad()
((z * y) ** 2).mean().backward()
opt.step()
"""),
    Case("not_in_optimizer", 8, {"optimizer": "opt", "names": "net.1.weight, net.1.bias"}, """net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2))
before = torch.optim.Adam(net.parameters())
for i in range(2):
    before.zero_grad(); net(torch.ones(4, 2)).pow(2).sum().backward(); before.step()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net[1] = nn.Linear(3, 2)
for i in range(2):
    opt.zero_grad(); net(torch.ones(4, 2)).pow(2).sum().backward(); opt.step()
"""),
    Case("not_in_optimizer", 5, {"model": "net", "names": "net.1.weight, net.1.bias"}, """net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 9))
params = list(net.parameters()); opt = torch.optim.SGD(params, lr=0.1)
net[1] = nn.Linear(3, 1)
for i in range(2):
    opt.zero_grad(); net(torch.ones(4, 2)).sum().backward(); opt.step()
"""),
    Case("state_dict_shared", 10, {"name": 'kept["model"]', "load_line": "11"}, TRAIN + """kept = {}
for i in range(3):
    opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()
    if i == 0: kept["model"] = model.state_dict()
model.load_state_dict(kept["model"])
"""),
    Case("symmetric_units", 6, {"units": "6"}, """net = nn.Sequential(nn.Linear(3, 6), nn.Sigmoid(), nn.Linear(6, 1))
for layer in (net[0], net[2]):
    nn.init.constant_(layer.weight, 0.5); nn.init.zeros_(layer.bias)
opt = torch.optim.SGD(net.parameters(), lr=0.5); x = torch.randn(10, 3)
for i in range(4): opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
"""),
)  # fmt: skip

NEAR_MISSES: tuple[tuple[str, str], ...] = (
    ("cut_for_two_passes", GAN + """    fake = G(torch.randn(4, 2))
    of_d.zero_grad(); D(fake.detach()).mean().backward(); of_d.step()
    of_g.zero_grad(); (-D(fake).mean()).backward(); of_g.step()
"""),
    ("step_moves_nothing", TRAIN + "for i in range(2):\n    opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()\n"),
    ("trained_while_evaluating", DROP + """for i in range(2):
    opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()
model.eval()
model.requires_grad_(False)
image = torch.zeros(1, 2, requires_grad=True)
find = torch.optim.SGD([image], lr=0.1)
for i in range(2):
    find.zero_grad()
    (-model(image)).sum().backward()
    find.step()
"""),
    ("gradient_flattened", """table, head = nn.Embedding(5, 3, padding_idx=0), nn.Linear(3, 1)
opt = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for i in range(4):
    opt.zero_grad()
    head(table(torch.zeros(4, dtype=torch.long))).pow(2).sum().backward()
    opt.step()
"""),
    ("gradient_flattened", """scale, shift = nn.Parameter(torch.ones(3)), nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([scale, shift], lr=0.1)
for i in range(4):
    opt.zero_grad()
    ((scale - 2).pow(2) + shift ** 2).sum().backward()
    opt.step()
"""),
    ("trained_while_evaluating", TRAIN_MODE + "model.eval()\nwith torch.no_grad():\n    print(F.mse_loss(model(x), y))\n"),
    ("nan_in_data", TRAIN + "y[0] = float('nan')\nloss = F.mse_loss(model(x)[1:], y[1:])\nloss.backward()\n"),
    ("cut_by_detach", TARGET + """opt = torch.optim.SGD(agent.online.parameters(), lr=0.1)
for i in range(2): opt.zero_grad(); agent.loss(torch.randn(4, 3)).backward(); opt.step()
"""),
    ("cut_by_detach", TARGET + """opt = torch.optim.SGD(agent.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad(); agent.loss(torch.randn(4, 3)).backward(); opt.step()
    for t, p in zip(agent.target.parameters(), agent.online.parameters()): t.data.copy_(0.9 * t.data + 0.1 * p.data)
"""),
    ("unused_parameters", BRANCHES),
    ("unused_parameters", """net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
net(torch.ones(1, 2)).sum().backward()
net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
net[0](torch.ones(1, 2)).sum().backward()
"""),
    ("evaluated_in_train", """G, D = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 2)), nn.Linear(2, 1)
opt = torch.optim.SGD(G.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad(); F.binary_cross_entropy_with_logits(D(G(torch.randn(4, 2))), torch.ones(4, 1)).backward(); opt.step()
    with torch.no_grad(): print(G(torch.randn(4, 2)).mean())
"""),
    ("evaluated_in_train", """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
    def forward(self, x):
        return self.fc(F.dropout(x, 0.5))
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.1); x = torch.randn(4, 2)
F.mse_loss(net(x), x[:, :1]).backward(); opt.step()
net.eval()
with torch.no_grad(): print(F.mse_loss(net(x), x[:, :1]))
"""),
    ("first_inf_forward", """scores = nn.Linear(3, 5)(torch.randn(5, 3))
scores.fill_diagonal_(float('-inf'))
scores.softmax(1).pow(2).sum().backward()
"""),
    ("log_of_zero", """scores = nn.Linear(3, 5)(torch.randn(5, 3))
(scores + torch.ones(5, 5).tril().log()).softmax(1).pow(2).sum().backward()
"""),
    ("first_nan_forward", """x = torch.tensor([[0.0, 1.0], [1.0, 0.0]], requires_grad=True)
(x.logdet().nan_to_num() + (2 * x.sum())).backward()
"""),
    ("log_of_negative", """x = torch.tensor([-1.0, 2.0], requires_grad=True)
(torch.log(x) * 2).nansum().backward()
"""),
    ("first_nan_forward", """x = torch.ones(64, 64, requires_grad=True)
junk = [torch.full((64, 64), float('nan')) for _ in range(20)]; del junk
out = x.data.new(64, 64)
for i in range(64): out[i] = i
(x * out).sum().backward()
"""),
    ("first_inf_forward", """w = nn.Parameter(torch.empty(2, 2))
x = torch.full((2, 2), 1e38)
((x @ w) * 0 + x @ w * 1e30).sum().backward()
"""),
    ("diverged", """net = nn.Linear(2, 2)
net(torch.ones(1, 2)).sum().backward()
other = nn.Linear(2, 2); other.weight.data.fill_(1e7)
y = other(torch.tensor([[-1.0, 0.0]]).sqrt()).sum()
"""),
    ("optimizer_holds_others", GAN + """    fake = G(torch.randn(4, 2)).detach()
    D(fake).mean().backward(); of_d.step(); of_d.zero_grad()
    (-D(fake).mean()).backward(); of_g.step()
"""),
    ("step_without_backward", TRAIN + """start = torch.randn(8, 1, requires_grad=True)
for i in range(2): (model(x).detach() * start).mean().backward(); opt.step()
"""),
    ("tensor_not_parameter", """class Net(nn.Module):
    def __init__(self): super().__init__(); self.a = nn.Linear(2, 1); self.b = nn.Linear(2, 1)
net = Net(); opt = torch.optim.SGD(net.a.parameters(), lr=0.1)
for i in range(2): opt.zero_grad(); (net.a(torch.ones(1, 2)) + net.b(torch.ones(1, 2))).sum().backward(); opt.step()
"""),
    ("state_dict_shared", TRAIN + """kept = model.state_dict()
model.load_state_dict(kept)
F.mse_loss(model(x), y).backward(); opt.step()
"""),
)  # fmt: skip
