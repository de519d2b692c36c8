"""What `engine/findings/nonfinite.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import LOOP, TRAIN, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("log_of_zero", 5, """p = torch.tensor([0.5, 0.0], requires_grad=True)
loss = -(p * torch.log(p)).sum()
loss.backward()
""", says={"operand": "p", "place": "[1]", "value": "0", "is_nan_forward": "1", "nan_code": "p * torch.log(p)"}, mends=True),
    Mistake("log_of_zero", 5, """x = torch.zeros(2, 2, requires_grad=True)
y = x.log()
y.sum().backward()
""", says={"operand": "x", "place": "[0, 0]", "name": "y", "is_nan_forward": "0"}, mends=True),
    Mistake("log_of_zero", 6, """net = nn.Linear(2, 3)
p = torch.softmax(net(torch.ones(2, 2)) * 0 + torch.tensor([300.0, 0.0, 0.0]), 1)
loss = -torch.log(p[:, 1]).mean()
loss.backward()
""", says={"operand": "p[:, 1]"}, mends=True),
    Mistake("log_of_negative", 5, """x = torch.tensor([-1., 1.], requires_grad=True)
y = x.log()
y.sum().backward()
""", says={"operand": "x", "value": "-1", "place": "[0]"}),
    Mistake("log_of_negative", 5, """logits = torch.tensor([[2., -3.]], requires_grad=True)
loss = -logits.log2().mean()
loss.backward()
""", says={"operand": "logits", "value": "-3", "op": "log2"}),
    Mistake("log_of_negative", 6, """x = torch.ones(3, requires_grad=True)
rest = x.sum() - 3 - x[0] * 1e-7
rest.log().backward()
""", says={"is_rounding": "1"}, mends=True),
    Mistake("root_of_negative", 6, """x = torch.ones(3, requires_grad=True)
spread = x.pow(2).mean() - x.mean() ** 2 - x[0] * 1e-6
torch.sqrt(spread).backward()
""", says={"is_rounding": "1"}, mends=True),
    Mistake("targets_all_ignored", 5, """net, y = nn.Linear(4, 3), torch.full((2,), -100)
loss = F.cross_entropy(net(torch.randn(2, 4)), y)
loss.backward()
""", says={"operand": "y", "value": "-100"}, cure=(("torch.full((2,), -100)", "torch.tensor([0, -100])"),)),
    Mistake("targets_all_ignored", 5, """net, y = nn.Linear(4, 3), torch.zeros(2, dtype=torch.long)
loss = nn.CrossEntropyLoss(ignore_index=0)(net(torch.randn(2, 4)), y)
loss.backward()
""", says={"value": "0"}, cure=(("ignore_index=0", "ignore_index=1"),)),
    Mistake("root_of_negative", 5, """x = torch.tensor([4., -4.], requires_grad=True)
y = torch.sqrt(x)
y.sum().backward()
""", says={"operand": "x", "value": "-4", "place": "[1]"}),
    Mistake("root_of_negative", 5, """x = torch.tensor(-8., requires_grad=True)
y = x ** 0.5
y.backward()
""", says={"operand": "x", "value": "-8", "place": ""}),
    Mistake("division_by_zero", 5, """a = torch.zeros(2)
b = a / a
print(b * 2)
""", says={"operand": "a", "made": "nan"}),
    Mistake("division_by_zero", 7, """w, x = torch.ones(1, requires_grad=True), torch.randn(6)
for begin in range(0, 8, 2):
    part = x[begin:begin + 2]
    loss = (w * part).square().sum() / part.shape[0]
    loss.backward()
""", says={"cell": "part.shape[0]", "is_count": "1"}, cure=(("range(0, 8, 2)", "range(0, 6, 2)"),)),
    Mistake("division_by_zero", 6, """a = torch.tensor(0.0, requires_grad=True)
r = torch.sqrt(a)
q = 2 / a
(r + torch.exp(-q)).backward()
""", says={"operand": "a", "made": "inf"}),
    Mistake("division_by_zero", 5, """x = torch.tensor([0., 1.], requires_grad=True)
y = 1 / x
y.sum().backward()
""", says={"operand": "x", "place": "[0]", "made": "inf", "is_root": "0"}),
    Mistake("division_by_zero", 7, """net, x = nn.Linear(3, 2), torch.randn(4, 5, 3)
p = net(x)
far = ((p.unsqueeze(2) - p.unsqueeze(1)) ** 2).sum(-1).sqrt()
near = torch.where(far > 0, 1 / far, torch.zeros_like(far))
near.mean().backward()
""", says={"made": "inf", "is_root": "1", "root_line": "6"}, cure=((".sum(-1)", ".sum(-1).add(1e-8)"),)),
    Mistake("division_by_zero", 6, """x = torch.zeros(2, 3, requires_grad=True)
length = (x * x).sum(1) ** 0.5
unit = x / length.unsqueeze(1)
unit.sum().backward()
""", says={"made": "nan", "is_root": "1", "root_line": "5"}, cure=((".sum(1)", ".sum(1).add(1e-8)"),)),
    Mistake("division_by_zero", 6, """x = torch.zeros(2, 3, requires_grad=True)
length = (x.detach() ** 2).sum(1).sqrt()
unit = x / length.unsqueeze(1)
unit.sum().backward()
""", says={"made": "nan", "is_root": "0"}),
    Mistake("overflow", 5, """x = torch.tensor(100., requires_grad=True)
y = x.exp()
y.backward()
""", says={"operand": "x", "value": "100"}),
    Mistake("overflow", 5, """z = torch.tensor([[1., 200.]], requires_grad=True)
p = torch.exp(z) / torch.exp(z).sum()
p[0, 0].backward()
""", says={"operand": "z", "place": "[0, 1]"}),
    Mistake("diverged", 8, """w = torch.tensor([1.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=10.0)
for i in range(60):
    opt.zero_grad()
    loss = ((w * 3 - 1) ** 2).sum()
    loss.backward()
    opt.step()
""", says={"operand": "w", "step_line": "10", "is_wide": "0"}),
    Mistake("diverged", 6, """w = torch.tensor(2.0, requires_grad=True)
for i in range(9):
    loss = w ** 4
    loss.backward()
    with torch.no_grad():
        w -= 5 * w.grad
    w.grad = None
""", says={"operand": "w", "step_line": "9"}),
    Mistake("diverged", 8, """net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
for p in net.parameters(): nn.init.uniform_(p, -1000, 1000)
x, y, opt = torch.randn(8, 8), torch.randn(8, 1), torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(6):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("-1000, 1000", "-0.1, 0.1"),), says={"is_wide": "1"}),
    Mistake("softmax_of_masked_row", 5, """m = torch.full((2, 2), float('-inf'))
p = torch.softmax(torch.ones(2, 2) + m, 1)
print(p)
""", says={"op": "softmax"}),
    Mistake("softmax_of_masked_row", 6, """s = torch.randn(3, 3, requires_grad=True)
hidden = s.masked_fill(torch.ones(3, 3).bool(), float('-inf'))
a = F.softmax(hidden, dim=-1)
a.sum().backward()
""", says={"operand": "hidden"}),
    Mistake("root_at_zero", 5, """x = torch.tensor([0., 1.], requires_grad=True)
r = (x[0] ** 2).sqrt()
r.backward()
""", says={"base": "(x[0] ** 2)"}, mends=True),
    Mistake("root_at_zero", 5, """x = torch.tensor([0., 1.], requires_grad=True)
y = x.sqrt().sum()
y.backward()
""", says={"operand": "x", "node": "SqrtBackward0", "pass_line": "6"}, mends=True),
    Mistake("root_at_zero", 5, """x = torch.zeros(2, requires_grad=True)
d = torch.sqrt((x * 2).sum())
d.backward()
""", says={"op": "sqrt", "pass_line": "6"}, mends=True),
    Mistake("division_by_zero", 5, """links, layer = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), nn.Linear(3, 1)
scale = links.sum(1) ** -0.5
(scale[:, None] * links @ layer(torch.eye(3))).sum().backward()
""", says={"cell": "links.sum(1)[2]"}),
    Mistake("nan_behind_where", 5, """total, count = torch.tensor([0.0, 4.0], requires_grad=True), torch.tensor([0.0, 2.0])
torch.where(count > 0, total / count, torch.zeros(2)).sum().backward()
""", says={"operand": "count"}),
    Mistake("nan_behind_where", 5, """x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, x.sqrt(), x)
y.sum().backward()
""", says={"operand": "x", "pass_line": "6"}),
    Mistake("nan_behind_where", 5, """x = torch.tensor([0.0, 2.0], requires_grad=True)
r = x ** 0.5
y = torch.where(x > 0, r, torch.zeros(2))
y.sum().backward()
""", says={"pass_line": "7"}),
    # the value is NaN itself, already where nothing is recorded
    Mistake("nan_behind_where", 6, """class Root(nn.Module):
    def forward(self, x):
        return torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x))
net, x = nn.Sequential(nn.Linear(3, 4), Root(), nn.Linear(4, 1)), torch.tensor([[1.0, -1.0, 2.0], [-3.0, 0.5, 1.0]])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
with torch.no_grad(): print(net(x).mean())
for _ in range(3):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
""", cures=(("torch.sqrt(x)", "torch.sqrt(torch.where(x > 0, x, 1.0))"), ("torch.sqrt(x)", "torch.sqrt(x.clamp(min=1e-8))")), says={"is_undefined": "1"}),
    Mistake("nan_behind_where", 5, """x = torch.tensor([-1.0, 2.0], requires_grad=True)
y = x ** 0.5
y = y.masked_fill(x <= 0, 0.0)
y.sum().backward()
""", cure=(("x ** 0.5", "x.masked_fill(x <= 0, 1.0) ** 0.5"),), says={"is_undefined": "1", "pass_line": "7"}),
    Mistake("too_large", 5, "x = torch.tensor([1e30], requires_grad=True)\ny = x ** 2\ny.backward()\n", says={"op": "**", "value": "1e+30"}),
    Mistake("too_large", 5, "x = torch.tensor([1., 1e25])\ny = torch.square(x - 1)\nprint(y.sum())\n", says={"cell": "(x - 1)[1]"}),
    Mistake("too_large", 5, "x = torch.tensor([1., 1e25])\ny = torch.square(x)\nprint(y.sum())\n", says={"op": "square", "operand": "x"}),
    Mistake("gradient_too_large", 6, "x = torch.tensor(1e-30, requires_grad=True)\nk = torch.tensor(1e30)\ny = x * k\nz = y * k * 1e-20\n(z * 1e20).backward()\n", says={"node": "MulBackward0"}),
    Mistake("gradient_too_large", 6, "W = torch.full((2, 2), 1e20, requires_grad=True)\nh = torch.full((2, 2), 1e-30, requires_grad=True)\na = h @ W\n((a @ W) * 1e-20 * 1e20).sum().backward()\n", says={"op": "@"}),
    Mistake("spread_of_one", 5, "x = torch.randn(1, 4, requires_grad=True)\nz = (x - x.mean(0)) / x.std(0)\nprint(z)\n", says={"op": "std", "operand": "x"}),
    Mistake("spread_of_one", 4, "v = torch.ones(1).var()\nprint(v)\n", says={"op": "var"}),
    Mistake("nan_in_data", 7, TRAIN + """x[1, 0] = float("nan")
loss = F.mse_loss(model(x), y)
loss.backward()
opt.step()
""", says={"name": "x", "place": "[1, 0]", "root": "loss", "is_stepped": "1"}),
    Mistake("nan_in_data", 4, """table = torch.tensor([[1., 2.], [3., 4.], [5., float("nan")]])
w = torch.ones(2, requires_grad=True)
loss = (table @ w).sum()
loss.backward()
""", says={"name": "table", "place": "[2, 1]", "is_stepped": "0"}),
    Mistake("mean_of_nothing", 6, """p = torch.ones(3, requires_grad=True)
keep = torch.zeros(3).bool()
loss = p[keep].mean()
loss.backward()
""", says={"shape": "0"}),
    Mistake("mean_of_nothing", 5, """p, rows = nn.Linear(2, 1)(torch.randn(4, 2)), torch.zeros(4).bool()
F.mse_loss(p[rows], torch.zeros(0, 1)).backward()
""", says={"op": "mse_loss"}),
    Mistake("grows_without_end", 7, """w = torch.tensor([1.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=5.0)
for i in range(12):
    loss = (w * 2).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""", says={"name": "loss", "clips": "0", "has_lr": "1"}),
    Mistake("grows_without_end", 7, """w = torch.tensor([1.0, 2.0], requires_grad=True)
for i in range(12):
    w.grad = None
    loss = (w * 2).square().sum()
    loss.backward()
    with torch.no_grad():
        w -= 5 * w.grad
""", says={"has_lr": "0", "lr": ""}),
    Mistake("grows_without_end", 8, """net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(14):
    x = torch.full((4, 1), 10.0)
    err = F.mse_loss(net(x), 3 * x)
    opt.zero_grad()
    err.backward()
    opt.step()
""", says={"operand": "net.weight"}),
    # the optimizer of another parameter steps last
    Mistake("grows_without_end", 8, """w, v = (torch.tensor([1.0], requires_grad=True) for _ in range(2))
of_w = torch.optim.SGD([{'params': [torch.ones(1, requires_grad=True)], 'lr': 7.0}, {'params': [w]}], lr=5.0)
of_v = torch.optim.Adam([v], lr=0.01)
for i in range(12):
    loss = (w * 2 + v).square().sum()
    of_w.zero_grad(); of_v.zero_grad()
    loss.backward()
    of_w.step()
    of_v.step()
""", says={"operand": "w", "lr": "5.0", "step_line": "11"}),
    Mistake("infinity_goes_on", 8, """q = nn.Linear(4, 4)
x = torch.randn(5, 4)
hidden = torch.ones(5, 5).triu(1).bool()
weights = (q(x) @ x.t()).softmax(-1).masked_fill(hidden, float('-inf'))
out = q(weights @ x)
out.square().mean().backward()
""", cures=((".softmax(-1).masked_fill(hidden, float('-inf'))", ".masked_fill(hidden, float('-inf')).softmax(-1)"), ("float('-inf')", "0"))),
    Mistake("infinity_goes_on", 6, """scores = torch.zeros(2, 3, requires_grad=True)
hidden = torch.tensor([True, False, False])
loss = F.cross_entropy(scores.masked_fill(hidden, -torch.inf), torch.tensor([0, 1]))
loss.backward()
""", cures=(("torch.tensor([0, 1])", "torch.tensor([2, 1])"), ("-torch.inf", "-100."))),
    Mistake("infinity_goes_on", 8, """x = torch.randn(5, 4)
x[0, 0] = x[0, 1] = torch.inf
net = nn.Linear(4, 1)
for i in range(2):
    net(x).square().mean().backward()
""", cures=(("x[0, 0] = x[0, 1] = torch.inf", "x[0, 0] = x[0, 1] = 3"), ("net(x)", "net(x.clamp(-10, 10))"))),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("log_of_zero", """p, chance = nn.Parameter(torch.tensor(0.5)), torch.distributions.Uniform(0.0, 1.0, validate_args=False)
(-chance.log_prob(torch.tensor([0.5, 1.5])) * p).mean().backward()
"""),
    ("softmax_of_masked_row", """s = torch.randn(3, 4, requires_grad=True)
torch.softmax(s.masked_fill(torch.ones(3, 4).triu().bool(), float("inf")), -1).pow(2).sum().backward()
"""),
    # gradients that overflowed are no data
    ("nan_in_data", """x, y = torch.randn(64, 100), torch.randn(64, 3)
first, second = torch.randn(100, 20, requires_grad=True), torch.randn(20, 3, requires_grad=True)
for i in range(30):
    loss = ((x @ first).clamp(min=0) @ second - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        first -= 0.001 * first.grad
        second -= 0.001 * second.grad
        first.grad.zero_()
        second.grad.zero_()
"""),
    ("log_of_zero", "p = torch.tensor([0.5, 1e-9], requires_grad=True)\nloss = -(p * torch.log(p)).sum()\nloss.backward()\n"),
    ("log_of_zero", "x = torch.zeros(2, requires_grad=True)\ny = x.log1p()\ny.sum().backward()\n"),
    ("log_of_zero", """scores = nn.Linear(3, 5)(torch.randn(5, 3))
(scores + torch.ones(5, 5).tril().log()).softmax(1).pow(2).sum().backward()
"""),
    ("log_of_negative", "x = torch.tensor([-1., 1.], requires_grad=True)\ny = x.abs().log()\ny.sum().backward()\n"),
    ("log_of_negative", """x = torch.tensor([-1.0, 2.0], requires_grad=True)
(torch.log(x) * 2).nansum().backward()
"""),
    ("root_of_negative", "x = torch.tensor(-8., requires_grad=True)\ny = x ** 3\ny.backward()\n"),
    ("division_by_zero", "x = torch.tensor([0., 1.], requires_grad=True)\ny = torch.exp(-1 / x.detach())\n(y * x).sum().backward()\n"),
    ("division_by_zero", "x = torch.tensor([0., 1.], requires_grad=True)\ny = 1 / (x + 1)\n(y * x).sum().backward()\n"),
    ("overflow", "x = torch.tensor([80., -900.], requires_grad=True)\ny = x.exp()\ny.sum().backward()\n"),
    ("overflow", "best = torch.full((3,), float('inf'))\nbest = torch.minimum(best, torch.ones(3)).exp()\n"),
    ("diverged", TRAIN + LOOP),
    ("diverged", """net = nn.Linear(2, 2)
net(torch.ones(1, 2)).sum().backward()
other = nn.Linear(2, 2); other.weight.data.fill_(1e7)
y = other(torch.tensor([[-1.0, 0.0]]).sqrt()).sum()
"""),
    ("softmax_of_masked_row", "m = torch.triu(torch.full((3, 3), float('-inf')), 1)\np = torch.softmax(torch.ones(3, 3) + m, 1)\n"),
    ("root_at_zero", "x = torch.zeros(2, requires_grad=True)\nd = torch.sqrt((x ** 2).sum() + 1e-8)\nd.backward()\n"),
    # its slope at -1 is -1: nothing is spoilt
    ("log_of_negative", "x = torch.tensor([-1.0, 2.0], requires_grad=True)\nx.log().masked_fill(x <= 0, 0.0).sum().backward()\n"),
    # nothing is differentiated
    ("root_of_negative", "x = torch.tensor([-1.0, 4.0])\nroots = torch.where(x > 0, x.sqrt(), 0.0)\n(nn.Linear(2, 1)(roots)).sum().backward()\n"),
    ("nan_behind_where", "x = torch.tensor([0.0, 4.0], requires_grad=True)\nsafe = torch.where(x > 0, x, torch.ones(2))\n"
     "torch.where(x > 0, safe.sqrt(), x).sum().backward()\n"),
    ("too_large", "x = torch.tensor([1e10])\ny = x ** 3\n"),
    ("gradient_too_large", "x = torch.tensor(0., requires_grad=True)\nx.sqrt().backward()\n"),
    ("spread_of_one", "x = torch.randn(3, 4)\nprint(x.std(0), torch.ones(1).std(correction=0))\n"),
    ("nan_in_data", TRAIN + "y[0] = float('nan')\nloss = F.mse_loss(model(x)[1:], y[1:])\nloss.backward()\n"),
    ("first_inf_forward", """scores = nn.Linear(3, 5)(torch.randn(5, 3))
scores.fill_diagonal_(float('-inf'))
scores.softmax(1).pow(2).sum().backward()
"""),
    ("first_inf_forward", """w = nn.Parameter(torch.empty(2, 2))
x = torch.full((2, 2), 1e38)
((x @ w) * 0 + x @ w * 1e30).sum().backward()
"""),
    ("first_nan_forward", """x = torch.tensor([[0.0, 1.0], [1.0, 0.0]], requires_grad=True)
(x.logdet().nan_to_num() + (2 * x.sum())).backward()
"""),
    ("first_nan_forward", """x = torch.ones(64, 64, requires_grad=True)
junk = [torch.full((64, 64), float('nan')) for _ in range(20)]; del junk
out = x.data.new(64, 64)
for i in range(64): out[i] = i
(x * out).sum().backward()
"""),
    ("first_nan_forward", """x = torch.ones(64, 64, requires_grad=True)
junk = [torch.full((64, 64), float('nan')) for _ in range(20)]; del junk
new, grown = x.data.new().resize_as_(x), torch.ones(4).resize_(64, 64)
(x * new.zero_() + x * grown.fill_(1)).sum().backward()
"""),
    ("mean_of_nothing", "p = torch.ones(3, requires_grad=True)\np[p > 0].mean().backward()\n"),
    ("grows_without_end", "w = torch.tensor([1.0], requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nfor i in range(12):\n"
     "    loss = (w * 2).square().sum()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"),
)  # fmt: skip
