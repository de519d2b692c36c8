"""What `engine/findings/loss_arguments.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, THREE_LINES, Mistake

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

MISTAKES: tuple[Mistake, ...] = (
    Mistake("nll_without_log_softmax", 5, """z = torch.tensor([[1., 2.], [3., -1.]], requires_grad=True)
F.nll_loss(z, torch.tensor([0, 1])).backward()
""", says={"name": "z"}, mends=True),
    Mistake("nll_without_log_softmax", 6, """model = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1))
criterion = nn.NLLLoss()
criterion(model(torch.randn(4, 2)), torch.tensor([0, 1, 2, 0])).backward()
""", says={"op": "softmax"}, mends=True),
    Mistake("nll_without_log_softmax", 8, """rnn, fc = nn.LSTM(4, 6), nn.Linear(6, 5)
x, words = torch.randn(9, 2, 4), torch.randint(1, 5, (2, 3))
out = fc(rnn(x)[0]).softmax(-1)
sizes = torch.tensor([9, 9]), torch.tensor([3, 3])
F.ctc_loss(out, words, *sizes).backward()
""", cure=((".softmax(-1)", ".log_softmax(-1)"),), mends=True),
    Mistake("kl_of_probabilities", 12, """teacher = nn.Linear(6, 4); student = nn.Linear(6, 4)
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
""", cure=(
        ("p = F.softmax(", "p = F.log_softmax("),
    )),
    Mistake("kl_of_probabilities", 5, """student, t = nn.Linear(6, 3), torch.randn(8, 3).softmax(1)
loss = F.kl_div(t, student(torch.randn(8, 6)).log_softmax(1), reduction="sum")
loss.backward()
""", says={"is_exchanged": "1"}, mends=True),
    Mistake("kl_of_probabilities", 18, """class Student(nn.Module):
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
""", cure=(
        ("crit((s(X) / T).softmax(-1)", "crit((s(X) / T).log_softmax(-1)"),
    )),
    Mistake("kl_target_logarithms", 10, """student = nn.Linear(6, 4)
target = torch.randn(20, 4)
opt = torch.optim.Adam(student.parameters(), lr=0.01)
X = torch.randn(20, 6)
kl = nn.KLDivLoss(reduction="batchmean")
for _ in range(4):
    loss = kl(F.log_softmax(student(X), 1), F.log_softmax(target, 1))
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("KLDivLoss(reduction=\"batchmean\")", "KLDivLoss(reduction=\"batchmean\", log_target=True)"),
    )),
    Mistake("kl_target_logarithms", 9, """s, t = nn.Linear(4, 5), nn.Linear(4, 5)
opt = torch.optim.Adam(s.parameters(), lr=1e-2)
X = torch.randn(9, 4)
for _ in range(2):
    target = t(X).detach()
    loss = F.kl_div(F.log_softmax(s(X), -1), target, reduction="batchmean")
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        ("t(X).detach()", "t(X).softmax(-1).detach()"),
    )),
    Mistake("bce_target_outside", 8, """net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(25, 3); y = torch.sign(X[:, :1])
for _ in range(4):
    loss = F.binary_cross_entropy_with_logits(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("torch.sign(X[:, :1])", "(X[:, :1] > 0).float()"),
    )),
    Mistake("bce_target_outside", 10, """df = torch.tensor([[0.1, 1.0], [0.4, 2.0], [0.9, 1.0], [0.3, 2.0]])
X, y = df[:, :1], df[:, 1:]
model = nn.Sequential(nn.Linear(1, 4), nn.ReLU(), nn.Linear(4, 1))
crit = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    loss = crit(model(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        ("df[:, 1:]", "df[:, 1:] - 1"),
    )),
    Mistake("loss_arguments_swapped", 8, """net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(25, 3); y = torch.rand(25, 1)
for _ in range(4):
    loss = F.binary_cross_entropy(y, net(X))
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("binary_cross_entropy(y, net(X))", "binary_cross_entropy(net(X), y)"),
    )),
    Mistake("loss_arguments_swapped", 9, """D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt = torch.optim.Adam(D.parameters(), lr=1e-3)
crit = nn.BCEWithLogitsLoss()
for _ in range(3):
    real = torch.randn(8, 2)
    loss = crit(torch.ones(8, 1), D(real)) + crit(torch.zeros(8, 1), D(torch.rand(8, 2)))
    opt.zero_grad(); loss.backward(); opt.step()
print(loss.item())
""", cure=(
        ("crit(torch.ones(8, 1), D(real))", "crit(D(real), torch.ones(8, 1))"),
        ("crit(torch.zeros(8, 1), D(torch.rand(8, 2)))", "crit(D(torch.rand(8, 2)), torch.zeros(8, 1))"),
    )),
    Mistake("target_without_signs", 8, """net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
a, b, same = torch.randn(300, 4), torch.randn(300, 4), torch.randint(0, 2, (300,)).float()
for _ in range(3):
    loss = F.cosine_embedding_loss(net(a), net(b), same)
""" + STEP, cure=(("), same)", "), same * 2 - 1)"),)),
    Mistake("target_without_signs", 8, """rank = nn.Linear(4, 1)
opt = torch.optim.Adam(rank.parameters())
left, right = torch.randn(8, 4), torch.randn(8, 4); better = (left.sum(1) > right.sum(1)).float()
criterion = nn.MarginRankingLoss(0.1)
loss = criterion(rank(left).squeeze(1), rank(right).squeeze(1), better)
opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("better)\nopt", "better * 2 - 1)\nopt"),)),
    Mistake("targets_no_probabilities", 8, """net = nn.Linear(4, 3)
x, y = torch.randn(6, 4), torch.randn(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
""" + STEP, says={"name": "y", "axis": "1", "is_below": "1"}, cure=(("F.cross_entropy", "F.mse_loss"),)),
    Mistake("targets_no_probabilities", 7, """net, series = nn.Linear(32, 32), torch.rand(2, 20, 32)
x = torch.rand(2, 20, 32)
criterion = nn.CrossEntropyLoss()
criterion(net(x), series).backward()
""", says={"name": "series", "axis": "1", "is_below": "0"}, cure=(("CrossEntropyLoss", "MSELoss"),)),
    Mistake("softmax_of_several_labels", 8, """net = nn.Sequential(nn.Linear(5, 4), nn.Softmax(dim=-1))
opt = torch.optim.Adam(net.parameters())
x = torch.randn(100, 5); genres = (x[:, :4] > -0.5).float()
for _ in range(3):
    loss = nn.BCELoss()(net(x), genres)
""" + STEP, cure=(("nn.Softmax(dim=-1)", "nn.Sigmoid()"),)),
    Mistake("softmax_of_several_labels", 6, """net = nn.Linear(5, 3)
x, parts = torch.randn(4, 5), torch.tensor([[1., 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1]])
loss = F.cross_entropy(net(x), parts)
loss.backward()
""", cure=(("[1., 1, 0], [0, 1, 1]", "[1., 0, 0], [0, 0.5, 0.5]"),)),
    Mistake("rate_for_its_logarithm", 7, """net = nn.Sequential(nn.Linear(3, 1), nn.Softplus())
x, calls = torch.randn(20, 3), torch.poisson(torch.full((20, 1), 4.0))
criterion = nn.PoissonNLLLoss()
criterion(net(x), calls).backward()
""", cure=(("PoissonNLLLoss()", "PoissonNLLLoss(log_input=False)"),)),
    Mistake("rate_for_its_logarithm", 7, """w = torch.zeros(3, requires_grad=True)
x, n = torch.randn(9, 3), torch.ones(9)
mu = torch.exp(x @ w)
loss = F.poisson_nll_loss(mu, n)
loss.backward()
""", cure=(("torch.exp(x @ w)", "x @ w"),)),
    Mistake("scores_cut_at_half", 15, BINARY, cures=(
        ("net(x) > 0.5", "net(x) > 0"), ("net(x) > 0.5", "net(x).sigmoid() > 0.5"), ("net(x) > 0.5", "x[:, :1] > 0.5"),
    ), mends=True),
    Mistake("scores_cut_at_half", 14, """class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(2, 3)
    def forward(self, x): return self.fc(x)
net, x, y = Net(), 9 * torch.randn(20, 2), torch.randint(0, 2, (20, 3)).float()
opt = torch.optim.Adam(net.parameters()); criterion = nn.BCEWithLogitsLoss()
for i in range(2):
    loss = criterion(net(x), y)
""" + THREE_LINES.replace("\n    ", "; ") .replace("opt.step()", "opt.step()") + """net.eval(); out = net(x).detach()
pred = torch.round(out)
print((pred == y).float().mean())
""", cure=(("torch.round(out)", "torch.round(torch.sigmoid(out))"),)),
    Mistake("blank_among_targets", 8, """net = nn.Linear(4, 6); opt = torch.optim.SGD(net.parameters(), lr=0.1)
ctc = nn.CTCLoss(blank=0)
texts, lengths = torch.tensor([[1, 0, 2], [3, 4, 0]]), torch.tensor([3, 2])
for x in torch.randn(3, 7, 2, 4):
    loss = ctc(net(x).log_softmax(-1), texts, torch.tensor([7, 7]), lengths)
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("[1, 0, 2]", "[1, 5, 2]"),)),
    Mistake("blank_among_targets", 6, """net = nn.Linear(4, 5)
texts = torch.tensor([0, 1, 2, 4])
loss = F.ctc_loss(net(torch.randn(7, 2, 4)).log_softmax(-1), texts, (7, 7), (2, 2), blank=4)
loss.backward()
""", cure=(("2, 4]", "2, 3]"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # shares, smoothed ones, padding without any, and one class weighed by a reward of either sign
    ("targets_no_probabilities", """net, teacher, x = nn.Linear(2, 3), nn.Linear(2, 3), torch.randn(8, 2)
hot = F.one_hot(torch.arange(8) % 3, 3).float()
for target in (teacher(x).softmax(1).detach(), hot * 0.9 + 0.1 / 3, hot * (torch.arange(8) < 5)[:, None], hot * torch.randn(8, 1) * 4):
    F.cross_entropy(net(x), target).backward()
"""),
    ("nll_without_log_softmax", "z = torch.randn(4, 3, requires_grad=True)\nF.nll_loss(F.log_softmax(z, dim=1), torch.tensor([0, 1, 2, 0])).backward()\n"),
    ("nll_without_log_softmax", """z, t = nn.Parameter(torch.randn(3, 2) * 40), torch.tensor([0, 1, 0])
F.nll_loss(torch.log(z.softmax(1) + 1e-5), t).backward()
F.nll_loss(z.log_softmax(1) * torch.tensor([[0.5], [-0.5], [1.0]]), t).backward()
"""),
    # numbers that are no targets, which a mask or weights leave out
    ("bce_target_outside", """net, x = nn.Linear(3, 2), torch.randn(4, 3)
t = torch.tensor([[1., 0.], [0., -1.], [-1., 1.], [0., 1.]])
known = (t >= 0).float()
(F.binary_cross_entropy_with_logits(net(x), t, reduction="none") * known).mean().backward()
F.binary_cross_entropy_with_logits(net(x), t, weight=known).backward()
"""),
)  # fmt: skip
