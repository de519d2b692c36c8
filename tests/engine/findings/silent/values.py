"""What `engine/findings/values.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("number_wrapped", 5, """a = torch.tensor([300.0])
b = a.to(torch.int8)
""", says={"before": "300", "after": "44", "dtype": "int8"}),
    Mistake("number_wrapped", 6, """a = torch.tensor([200, 10], dtype=torch.uint8)
b = torch.tensor([100, 10], dtype=torch.uint8)
c = a + b
""", says={"before": "300", "after": "44", "dtype": "uint8"}),
    Mistake("number_wrapped", 5, """pixels = torch.randint(0, 256, (3, 20, 20), dtype=torch.uint8)
centred = pixels - 128
nn.Conv2d(3, 2, 3)(centred.float()).sum().backward()
""", cures=(("pixels - 128", "pixels.float() - 128"), ("pixels - 128", "pixels // 2"))),
    Mistake("number_wrapped", 6, """old = torch.randint(90, 160, (3, 20, 20), dtype=torch.uint8)
new = torch.randint(90, 160, (3, 20, 20), dtype=torch.uint8)
moved = (new - old).abs()
print(moved.float().mean())
""", cure=(("new - old", "new.float() - old"), ("new = torch.randint(90, 160", "new = torch.randint(200, 210"))),
    Mistake("squeeze_without_effect", 5, """x = torch.zeros(4, 4)
y = x.squeeze()
""", says={"name": "x", "shape": "4×4"}),
    Mistake("squeeze_without_effect", 5, """x = torch.zeros(2, 1, 3)
y = torch.squeeze(x, 0)
""", says={"name": "x", "shape": "2×1×3"}),
    Mistake("transpose_without_effect", 5, """x = torch.tensor([1.0, 2.0, 3.0])
y = x.t()
""", says={"name": "x", "size": "3"}),
    Mistake("transpose_without_effect", 6, """w = torch.ones(2, requires_grad=True)
x = torch.ones(3, 2)
(x @ w.t()).sum().backward()
""", says={"name": "w", "size": "2"}),
    Mistake("uninitialised_read", 5, """e = torch.empty(3)
f = e + 1
""", says={"name": "e", "op": "+", "made_line": "4"}, mends=True),
    Mistake("uninitialised_read", 5, """w = torch.empty(2, 2)
s = torch.matmul(w, torch.ones(2, 2)).sum()
""", says={"name": "w", "made_line": "4"}, mends=True),
    Mistake("uninitialised_read", 5, "w = nn.Parameter(torch.empty(2, 1))\ny = torch.ones(3, 2) @ w\n", says={"maker": "empty"}, mends=True),
    Mistake("uninitialised_read", 5, "x = torch.Tensor(3)\ny = x * 2\n", says={"maker": "Tensor", "made_line": "4"}, mends=True),
    Mistake("uninitialised_read", 5, "x = torch.ones(2).new().resize_(3)\ny = x * 2\n", says={"name": "x", "maker": "resize_", "made_line": "4"}),
    Mistake("uninitialised_read", 10, """from torch.autograd import Variable
def data(rows):
    if rows > 99:
        return torch.DoubleTensor(99, 2)
    return torch.FloatTensor(4, 2)
x = Variable(data(4))
y = nn.Linear(2, 3)(x)
""", says={"name": "x", "maker": "FloatTensor", "made_line": "8"}, mends=True),
    Mistake("uninitialised_read", 5, "x = torch.FloatTensor(3, 2).to('cpu')\ny = x * 2\n", says={"name": "x", "maker": "FloatTensor", "made_line": "4"}, mends=True),
    Mistake("uninitialised_print", 6, """d = torch.empty(2, 3)
e = torch.empty(3, dtype=torch.int32)
print(d, e)
""", says={"names": "`d`, `e`", "made_line": "4"}, mends=True),
    Mistake("uninitialised_print", 5, """x = torch.empty(2, 2)
print('x', x)
""", says={"names": "`x`", "maker": "torch.empty(2, 2)"}, mends=True),
    Mistake("fractions_lost", 5, """share = torch.rand(30) * 0.9
target = share.long()
net = nn.Linear(2, 1)
F.mse_loss(net(torch.randn(30, 2)).squeeze(1), target.float()).backward()
""", cures=(("share.long()", "share.double()"), ("share.long()", "share.round().long()"), ("* 0.9", "* 9"))),
    Mistake("fractions_lost", 6, """emb, fc = nn.Embedding(10, 3), nn.Linear(3, 1)
hour = torch.tensor([0.1, 0.5, 0.25, 0.9])
fc(emb(hour.to(torch.int64))).sum().backward()
""", cures=(("hour.to(torch.int64)", "(hour * 10).to(torch.int64)"), ("[0.1, 0.5, 0.25, 0.9]", "[1.0, 5.0, 2.0, 9.0]"))),
    Mistake("permute_without_effect", 6, """a = torch.randn(2, 3, 3, requires_grad=True)
v = torch.randn(2, 4, 3)
out = v @ a.permute(0, 1, 2)
out.sum().backward()
""", cure=(("(0, 1, 2)", "(0, 2, 1)"),)),
    Mistake("permute_without_effect", 7, """x = torch.randn(2, 5, requires_grad=True)
for i in range(2):
    y = x.tanh()
    y = torch.permute(y, (1, 0)).permute(0, 1)
    y.sum().backward()
""", cure=((".permute(0, 1)", ".permute(1, 0)"),)),
    Mistake("quotient_all_alike", 8, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(1, 2)
    def forward(self, t): return self.fc((t // 100).float().unsqueeze(1))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randint(100, (8,))).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", cures=((" // ", " / "), ("// 100", "// 10"))),
    Mistake("quotient_all_alike", 9, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.size = nn.Embedding(4, 2), 255
    def forward(self, picture):
        scaled = picture // self.size
        return scaled @ self.table.weight
net = Net()
for _ in range(3): net(torch.rand(8, 4) * 200).sum().backward()
""", cure=(("//", "/"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("uninitialised_read", "print(torch.empty(9).geometric_(0.5) + torch.empty(9).log_normal_() + torch.empty(9).cauchy_())\n"),
    ("number_wrapped", "a = torch.tensor([100, 27], dtype=torch.int8)\nb = a + 0\nc = a.int() * 100\n"),
    ("number_wrapped", "ids = torch.tensor([200, 7], dtype=torch.uint8)\nprint((ids * 31 + 7) % 16)\n"),
    ("transpose_without_effect", "x = torch.ones(1, 3)\ny = x @ x.t()\n"),
    ("squeeze_without_effect", "for n in (1, 3):\n    y = torch.zeros(n, 2).squeeze(0)\n"),
    ("uninitialised_read", "e = torch.empty(3).uniform_()\nf = e + 1\nz = torch.zeros_like(torch.empty(2))\n"),
    ("uninitialised_read", "Y = torch.empty(2, 2)\nfor i in range(2):\n    for j in range(2):\n        Y[i, j] = i + j\nprint(Y.sum())\n"),
    ("uninitialised_read", "from torch.autograd import Variable\ndef data(rows):\n    made = torch.FloatTensor(rows, 2)\n    return made.normal_()\nx = Variable(data(4))\ny = nn.Linear(2, 3)(x)\n"),
    ("uninitialised_read", "x = torch.Tensor([1., 2.])\ny = x * 2\n"),
    ("uninitialised_print", "e = torch.empty(3)\nprint(e.shape)\ne.zero_()\nprint(e)\nf = torch.IntTensor([1, 2])\nprint(f)\n"),
)  # fmt: skip
