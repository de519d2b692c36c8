"""What `engine/findings/losses.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, THREE_LINES, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("loss_broadcast", 6, """model = nn.Linear(2, 1)
x, y = torch.randn(4, 2), torch.randn(4)
loss = F.mse_loss(model(x), y)
loss.backward()
""", says={"shape": "4×4", "first_shape": "4×1", "second_shape": "4"}, mends=True),
    Mistake("loss_broadcast", 6, """pred = torch.randn(3, requires_grad=True)
target = torch.randn(3, 1)
loss = nn.L1Loss()(pred, target)
loss.backward()
""", says={"shape": "3×3", "second": "target"}, mends=True),
    Mistake("loss_broadcast", 9, """import warnings
warnings.filterwarnings("ignore")
net, x, y = nn.Linear(2, 1), torch.randn(9, 2), torch.randn(9)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    loss = F.mse_loss(net(x), y)
""" + THREE_LINES, cure=(("F.mse_loss(net(x), y)", "F.mse_loss(net(x).squeeze(1), y)"),), mends=True),
    Mistake("loss_broadcast", 7, """lstm, head = nn.LSTM(3, 4), nn.Linear(4, 2)
for i in range(2):
    guess = head(lstm(torch.randn(1, 5, 3))[0]).flatten(1)
    F.mse_loss(guess, torch.tensor([2.0])).backward()
""", says={"is_all": "0", "few": "torch.tensor([2.0])", "many": "guess", "each": "10"}),
    Mistake("loss_broadcast", 6, """guess = torch.randn(3, 1, requires_grad=True)
target = torch.randn(3, 1, 1, 1)
F.mse_loss(guess, target).backward()
""", says={"is_all": "1", "cut": ".view_as(target)", "grown": ".view_as(guess)"}, cure=(("(guess, target)", "(guess, target.view_as(guess))"),)),
    Mistake("difference_broadcast", 5, """w, x, y = nn.Parameter(torch.randn(4)), torch.randn(9, 4), torch.zeros(9, 1)
def mse(guess, wanted): return ((guess - wanted) ** 2).mean()
y[5:] = 1
for _ in range(3):
    mse(torch.sigmoid(x @ w), y).backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
""", says={"first_shape": "9×1", "first": "wanted", "second": "guess"}, mends=True),
    Mistake("difference_broadcast", 7, """net, x, y = nn.Linear(3, 2), torch.randn(8, 3), torch.randn(8)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
mu, log_var = net(x).chunk(2, dim=1)
(log_var + (y - mu) ** 2 / log_var.exp()).mean().backward()
opt.step()
""", says={"is_part": "1"}, mends=True),
    Mistake("difference_broadcast", 6, """model = nn.Linear(2, 1)
x, y = torch.randn(4, 2), torch.randn(4)
loss = ((model(x) - y) ** 2).mean()
loss.backward()
""", says={"shape": "4×4", "first": "model(x)", "second": "y"}, mends=True),
    Mistake("difference_broadcast", 8, """w = torch.randn(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
x, y = torch.randn(5, 3), torch.randn(5)
pred = x @ w + b
error = y - pred
error.abs().mean().backward()
""", says={"shape": "5×5", "first": "pred", "second": "y"}, mends=True),
    Mistake("difference_broadcast", 7, """net, x, where = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 3, 1)), torch.randn(6, 4, 5, 5), torch.randn(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = (net(x) - where).abs().mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("net(x) - where", "net(x).flatten(1) - where"),)),
    Mistake("difference_broadcast", 9, """class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 1, 8)
    def forward(self, x, labels):
        return (torch.sigmoid(self.conv(x)) - labels).pow(2).sum()
net = Judge()
net(torch.randn(5, 2, 8), torch.rand(5)).backward()
""", cure=(("self.conv(x)", "self.conv(x).view(-1)"),)),
    Mistake("difference_broadcast", 10, """net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(12, 2)
returns = x.sum(1).unsqueeze(1)
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    for at in torch.randperm(12).split(6):
        error = returns[at] - net(x[at]).squeeze(-1)
        opt.zero_grad(); error.pow(2).mean().backward(); opt.step()
""", cures=((".squeeze(-1)", ""), ("returns[at] -", "returns[at, 0] -"), ("returns[at] -", "x[at].sum(1)[:, None] -")), mends=True),
    Mistake("difference_broadcast", 8, """x, y = torch.randn(4, 2), torch.randn(4)
w, b = torch.randn(2, 1, requires_grad=True), torch.randn(1, requires_grad=True)
for i in range(2):
    out = x.mm(w).add_(b)
    (out - y).square().mean().backward()
""", cures=(("torch.randn(4)", "torch.randn(4, 1)"), ("(out - y)", "(out.squeeze(1) - y)")), mends=True),
    Mistake("difference_broadcast", 10, """value, policy = nn.Linear(3, 1), nn.Linear(3, 2)
opt = torch.optim.Adam([*value.parameters(), *policy.parameters()])
x, gain, taken = torch.randn(6, 3), torch.randn(6), torch.randint(0, 2, (6,))
for i in range(3):
    told = value(x)
    chosen = policy(x).log_softmax(1)[range(6), taken]
    better = gain - told.detach()
    loss = F.mse_loss(told.squeeze(1), gain) - (better * chosen).mean()
""" + STEP, cure=(("told.detach()", "told.squeeze(1).detach()"),), mends=True),
    Mistake("difference_broadcast", 8, """net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
t = torch.linspace(0, 1, 7)
at = t.unsqueeze(1).requires_grad_()
(slope,) = torch.autograd.grad(net(at).sum(), at, create_graph=True)
(slope - t.cos()).pow(2).mean().backward()
""", cure=(("t.cos()", "at.cos()"),), mends=True),
    Mistake("difference_broadcast", 9, """w = nn.Parameter(torch.zeros(3))
x = torch.randn(20, 3)
target = (x * torch.tensor([1.0, 2.0, 3.0])).sum(dim=1, keepdim=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    loss = (x.mv(w) - target).pow(2).mean()
""" + STEP, cure=(("- target)", "- target[:, 0])"),), mends=True),
    Mistake("softmax_before_cross_entropy", 7, """z = torch.randn(4, 3, requires_grad=True)
t = torch.tensor([0, 1, 2, 0])
p = torch.softmax(z, dim=1)
loss = F.cross_entropy(p, t)
loss.backward()
""", says={"op": "softmax", "op_line": "6", "name": "p"}, mends=True),
    Mistake("softmax_before_cross_entropy", 7, """net, x, y = nn.Linear(2, 3), torch.randn(8, 2), torch.arange(8) % 3
def loss_of(p):
    chosen = torch.gather(
        torch.log_softmax(p, 1), 1, y[:, None])
    return -chosen.mean()
loss_of(torch.softmax(net(x), 1)).backward()
""", mends=True),
    Mistake("sigmoid_before_logits_loss", 6, """net = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
x, y = torch.randn(8, 2), torch.randint(0, 2, (8, 1)).float()
p = torch.sigmoid(net(x))
F.binary_cross_entropy(p, y).backward()
""", says={"is_twice": "1"}, mends=True),
    Mistake("softmax_before_cross_entropy", 6, """model = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
loss = criterion(model(torch.randn(4, 2)), torch.tensor([0, 1, 2, 0]))
loss.backward()
""", says={"op": "softmax"}, mends=True),
    Mistake("softmax_before_cross_entropy", 11, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
    def forward(self, x):
        return self.fc(x).softmax(1)
net, y = Net(), torch.randint(0, 3, (8,))
loss = F.cross_entropy(net(torch.randn(8, 4)), y)
loss.backward()
print(F.cross_entropy(net(torch.randn(8, 4)), y).item())
""", cure=((".softmax(1)", ""),), mends=True),
    Mistake("softmax_before_cross_entropy", 8, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.arange(6) % 3
for _ in range(3):
    loss = F.cross_entropy(net(x).log_softmax(1).exp(), y)
""" + STEP, cure=((".log_softmax(1).exp()", ""),), mends=True),
    Mistake("softmax_before_cross_entropy", 11, """w, b = nn.Parameter(torch.randn(4, 3)), nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([w, b], lr=0.2)
def scores(x):
    z = x @ w + b
    return torch.exp(z) / torch.exp(z).sum(dim=1, keepdim=True)
x = torch.randn(20, 4)
for _ in range(4):
    loss = F.cross_entropy(scores(x), x[:, :3].argmax(1))
""" + STEP, cure=(("torch.exp(z) / torch.exp(z).sum(dim=1, keepdim=True)", "z - torch.exp(z).sum(dim=1, keepdim=True).log()"),)),
    Mistake("softmax_before_cross_entropy", 12, """net = nn.Linear(6, 5)
opt = torch.optim.Adam(net.parameters())
known, of = torch.randn(9, 6), torch.arange(9) % 3
asked, y = torch.randn(60, 6), torch.arange(60) % 3
for _ in range(4):
    near = F.softmax(net(asked) @ net(known).t(), dim=1)
    opt.zero_grad()
    guess = near @ F.one_hot(of, 3).float()
    F.cross_entropy(guess, y).backward()
    opt.step()
""", cure=(("F.cross_entropy(guess, y)", "F.nll_loss((guess + 1e-8).log(), y)"),), says={"name": "guess", "is_seen": "1"}),
    Mistake("softmax_before_cross_entropy", 10, """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.arange(6) % 3
for _ in range(3):
    heat = net(x).exp()
    share = torch.einsum("nc,n->nc", heat, 1 / heat.sum(1))
    loss = F.cross_entropy(share, y)
""" + STEP, cure=(("F.cross_entropy(share, y)", "F.nll_loss(share.log(), y)"),)),
    Mistake("sigmoid_before_logits_loss", 5, """z, t = torch.randn(4, requires_grad=True), torch.ones(4)
F.binary_cross_entropy_with_logits(torch.sigmoid(z), t).backward()
""", says={"op": "sigmoid"}, mends=True),
    Mistake("sigmoid_before_logits_loss", 6, """model = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
criterion = nn.BCEWithLogitsLoss()
criterion(model(torch.randn(4, 2)), torch.ones(4, 1)).backward()
""", says={"op": "sigmoid"}, mends=True),
    Mistake("sigmoid_before_logits_loss", 10, """w = nn.Parameter(torch.randn(4))
opt = torch.optim.SGD([w], lr=0.2)
squash = lambda z: 1 / (1 + torch.exp(-z))
score = lambda x: squash(x @ w)
x = torch.randn(20, 4)
for _ in range(4):
    loss = F.binary_cross_entropy_with_logits(score(x), (x[:, 0] > 0).float())
""" + STEP, cure=(("squash(x @ w)", "x @ w"),)),
    Mistake("bce_without_sigmoid", 7, """model = nn.Linear(2, 1, bias=False)
nn.init.constant_(model.weight, 0.25)
out = model(torch.ones(4, 2))
loss = F.binary_cross_entropy(out, torch.ones(4, 1))
loss.backward()
""", says={"name": "out"}, mends=True),
    Mistake("bce_without_sigmoid", 6, """w = torch.tensor([[0.5], [0.25]], requires_grad=True)
criterion = nn.BCELoss()
criterion(F.relu(torch.ones(3, 2) @ w), torch.ones(3, 1)).backward()
""", says={"op": "relu"}, mends=True),
    Mistake("softmax_without_dim", 5, """z = torch.randn(4, 3, requires_grad=True)
p = F.softmax(z)
p[0, 0].backward()
""", says={"dim": "1", "op": "softmax"}, mends=True),
    Mistake("softmax_without_dim", 5, """layer = nn.LogSoftmax()
print(layer(torch.randn(3)))
""", says={"dim": "0", "op": "log_softmax"}, mends=True),
    Mistake("comparison_broadcast", 7, "net, x = nn.Linear(3, 1), torch.randn(8, 3)\ny = torch.ones(8)\npred = (torch.sigmoid(net(x)) > 0.5).float()\nprint((pred == y).float().mean())\n", says={"first": "pred", "shape": "8×8"}, mends=True),
    Mistake("comparison_broadcast", 6, "net, y = nn.Linear(3, 1), torch.ones(5)\nout = net(torch.randn(5, 3)).round()\nwrong = (out != y).sum()\n", says={"op": "!=", "first_shape": "5×1"}, mends=True),
    Mistake("comparison_broadcast", 10, f"""net, x, y = nn.Linear(3, 4), torch.randn(8, 3), torch.randint(0, 4, (8,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
{STEP}_, best = net(x).topk(1, 1)
print(1 - torch.eq(best, y).float().mean())
""", cure=(("torch.eq(best, y)", "torch.eq(best[:, 0], y)"),), mends=True),
    Mistake("bounded_before_logits_loss", 6, "net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3), nn.Tanh())\nx, y = torch.randn(9, 4), torch.arange(9) % 3\nF.cross_entropy(net(x), y).backward()\n", says={"op": "tanh", "most": "0.787", "least": "0.24"}, mends=True),
    Mistake("bounded_before_logits_loss", 6, "net, y = nn.Linear(4, 1), torch.ones(9, 1)\nscores = torch.tanh(net(torch.randn(9, 4)))\nF.binary_cross_entropy_with_logits(scores, y).backward()\n", says={"most": "0.731", "least": "0.313"}, mends=True),
    Mistake("bounded_before_logits_loss", 8, """cell, state = nn.RNNCell(4, 4), torch.zeros(1, 4)
loss = 0
for x, y in zip(torch.eye(4), torch.tensor([3, 1, 2, 3])):
    state = cell(x.view(1, 4), state)
    loss = loss + F.cross_entropy(state, y.view(1))
loss.backward()
""", says={"op": "RNNCell", "name": "state", "most": "0.711", "least": "0.341"}),
    Mistake("relu_before_logits_loss", 6, "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.ReLU())\nx, y = torch.randn(9, 4), torch.arange(9) % 3\nF.cross_entropy(net(x), y).backward()\n", says={"loss": "cross_entropy"}, mends=True),
    Mistake("relu_before_logits_loss", 6, "net, y = nn.Linear(4, 1), torch.ones(9, 1)\nscores = F.relu(net(torch.randn(9, 4)))\nF.binary_cross_entropy_with_logits(scores, y).backward()\n", says={"loss": "binary_cross_entropy_with_logits", "op_line": "5"}, mends=True),
    Mistake("relu_before_logits_loss", 6, """net, y = nn.Sequential(nn.Linear(4, 3), nn.ReLU()), torch.arange(9) % 3
scores = net(torch.randn(9, 4))
F.nll_loss(F.log_softmax(scores, dim=1), y).backward()
""", says={"loss": "log_softmax"}, mends=True),
    Mistake("relu_before_logits_loss", 10, """class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 3)
    def forward(self, x):
        x = F.relu(self.out(x))
        return F.log_softmax(x, dim=-1)
policy = Policy()
likely = policy(torch.randn(9, 4)).gather(1, torch.zeros(9, 1).long())
(-likely.squeeze(1) * torch.rand(9)).mean().backward()
""", says={"op_line": "9"}, mends=True),
    # the class is two layers of the model: its ReLU is right in one of them
    Mistake("relu_before_logits_loss", 12, """class Block(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.fc = nn.Linear(a, b)
    def forward(self, x):
        return F.relu(self.fc(x))
net = nn.Sequential(Block(4, 16), Block(16, 3))
x, y = torch.randn(9, 4), torch.arange(9) % 3
F.cross_entropy(net(x), y).backward()
""", says={"op_line": "9"}, cure=(("Block(16, 3)", "nn.Linear(16, 3)"),)),
    Mistake("weights_after_the_mean", 7, """net = nn.Linear(6, 4)
x, real = torch.randn(30, 20, 6), (torch.rand(30, 20) < 0.7).float()
size = net(x).pow(2)
loss = size.sum() * real
(loss.sum() / real.sum()).backward()
""", cure=(("size.sum()", "size.sum(-1)"),)),
    Mistake("weights_after_the_mean", 9, """x, y, weights = torch.randn(8, 2), torch.randn(8), torch.rand(8)
net = nn.Linear(2, 1)
for i in range(2):
    predicted = net(x).squeeze(1)
    loss = F.mse_loss(predicted, y)
    (loss * weights).mean().backward()
""", says={"name": "weights", "loss": "mse_loss", "count": "8", "is_loss": "1"}),
    Mistake("weights_after_the_mean", 7, """x, y = torch.randn(6, 2), torch.tensor([0, 1, 2, 0, 1, 2])
net = nn.Linear(2, 3)
rare = torch.tensor([1., 5., 1., 1., 5., 1.])
(rare * F.cross_entropy(net(x), y)).sum().backward()
""", says={"name": "rare", "loss": "cross_entropy"}),
    Mistake("weights_after_the_mean", 7, """lin = nn.Linear(6, 4)
real = (torch.arange(5) < torch.tensor([[2], [5], [3]])).float()
mean, log_var = lin(torch.randn(3, 5, 6)).chunk(2, -1)
kl = -0.5 * torch.sum(1 + log_var - mean ** 2 - log_var.exp()) * real
(kl.sum() / real.sum()).backward()
""", says={"is_loss": "0"}, cure=(("log_var.exp())", "log_var.exp(), -1)"),)),
    Mistake("weights_after_the_mean", 8, """net = nn.Linear(3, 2)
x, y = torch.randn(4, 5, 3), torch.randn(4, 5, 2)
mask = (torch.arange(5) < torch.tensor([[2], [5], [3], [1]])).float()
loss = F.mse_loss(net(x), y)
loss = (loss * mask).sum() / mask.sum()
loss.backward()
""", cure=(("net(x), y)", "net(x), y, reduction='none').mean(2)"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("loss_broadcast", "model = nn.Linear(2, 1)\nx, y = torch.randn(4, 2), torch.randn(4)\nF.mse_loss(model(x).squeeze(1), y).backward()\n"),
    ("loss_broadcast", "critic = nn.Linear(2, 1)\nF.smooth_l1_loss(critic(torch.randn(1, 2)), torch.tensor([3.0])).backward()\n"),
    ("difference_broadcast", "model = nn.Linear(2, 1)\nx, y = torch.randn(4, 2), torch.randn(4)\n((model(x)[:, 0] - y) ** 2).mean().backward()\n"),
    ("difference_broadcast", "w, x = nn.Parameter(torch.randn(4)), torch.randn(9, 4)\nsteps = torch.arange(9.).view(-1, 1)\n(torch.sigmoid(x @ w) - steps).abs().mean().backward()\n"),
    ("difference_broadcast", "z = torch.randn(4, requires_grad=True)\npairs = z.unsqueeze(1) - z\npairs.pow(2).mean().backward()\n"),
    ("difference_broadcast", "model = nn.Linear(2, 1)\nout = model(torch.randn(4, 2))\nloss = torch.relu(1 - (out - out.squeeze(1))).mean()\nloss.backward()\n"),
    ("difference_broadcast", "net = nn.Linear(2, 3)\nz = net(torch.randn(4, 2))\nd = (z[:, None] - z).norm(dim=-1) + (z.view(4, 3, 1, 1) - z).mean()\nd.sum().backward()\n"),
    ("difference_broadcast", "net = nn.Conv2d(2, 3, 3)\ny = net(torch.randn(4, 2, 3, 3))\n((y - torch.randn(3, 1, 1)).mean() + (y - y.mean(0)).mean()).backward()\n"),
    ("softmax_before_cross_entropy", "z = torch.randn(4, 3, requires_grad=True)\nt = torch.tensor([0, 1, 2, 0])\nloss = F.cross_entropy(z, t)\n"
     "loss.backward()\nprint(torch.softmax(z, dim=1))\n"),
    # a table that adds up to 1 as a whole, and probabilities as targets
    ("softmax_before_cross_entropy", "net = nn.Linear(4, 3)\nfor _ in range(4):\n    z = net(torch.randn(6, 4)).relu() + 0.01\n    (F.cross_entropy(z / z.sum(), torch.arange(6) % 3) + F.cross_entropy(net(torch.randn(6, 4)), z.softmax(1).detach())).backward()\n"),
    ("sigmoid_before_logits_loss", "z = torch.randn(4, requires_grad=True)\ngate = torch.sigmoid(z) * z\nF.binary_cross_entropy_with_logits(gate, torch.ones(4)).backward()\n"),
    ("bce_without_sigmoid", "model = nn.Linear(2, 1)\nF.binary_cross_entropy(torch.sigmoid(model(torch.ones(4, 2))), torch.ones(4, 1)).backward()\n"),
    ("bce_without_sigmoid", "z = nn.Linear(2, 4)(torch.randn(3, 2))\nF.binary_cross_entropy(z.softmax(1) @ torch.rand(4, 1), torch.ones(3, 1)).backward()\n"),
    ("softmax_without_dim", "z = torch.randn(4, 3)\nprint(F.softmax(z, dim=-1), nn.Softmax(1)(z))\n"),
    ("comparison_broadcast", "labels = torch.tensor([0, 2, 1])\nonehot = labels.view(-1, 1) == torch.arange(3)\nsame = labels.unsqueeze(1) == labels\nguess = nn.Linear(2, 3)(torch.ones(3, 2)).argmax(1)\nprint(onehot, same, guess.unsqueeze(1) == guess)\n"),
    ("bounded_before_logits_loss", "net = nn.Linear(4, 3)\nF.cross_entropy(net(torch.randn(9, 4)).tanh() * 5, torch.arange(9) % 3).backward()\n"),
    ("relu_before_logits_loss", "net, y = nn.Linear(4, 3), torch.arange(9) % 3\nloss = F.nll_loss(net(torch.randn(9, 4)).log_softmax(1), y)\nprint(F.relu(net(torch.randn(1, 4))).log_softmax(1))\nloss.backward()\n"),
    ("relu_before_logits_loss", "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))\nF.cross_entropy(net(torch.randn(9, 4)), torch.arange(9) % 3).backward()\n"),
    ("weights_after_the_mean", """x, y, weights = torch.randn(8, 2), torch.randn(8), torch.rand(8)
net = nn.Linear(2, 1)
(F.mse_loss(net(x).squeeze(1), y, reduction="none") * weights).mean().backward()
"""),
)  # fmt: skip
