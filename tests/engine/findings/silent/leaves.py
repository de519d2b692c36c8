"""What `engine/findings/leaves.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("leaf_made_non_leaf", 4, """w = torch.randn(3, requires_grad=True) * 0.01
(w ** 2).sum().backward()
print(w.grad)
""", says={"name": "w", "op": "*"}, mends=True),
    Mistake("leaf_made_non_leaf", 4, """w = torch.ones(2, requires_grad=True).to(torch.float64)
w.sum().backward()
g = w.grad
""", says={"name": "w", "op": "to"}, mends=True),
    Mistake("leaf_made_non_leaf", 4, """w = torch.randn(6, requires_grad=True).view(3, 2)
b = torch.zeros(2, requires_grad=True)
for x in torch.randn(3, 5, 3):
    (x @ w + b).pow(2).mean().backward()
    with torch.no_grad():
        for p in [w, b]:
            if p.grad is not None:
                p -= 0.1 * p.grad
                p.grad = None
""", cure=(("torch.randn(6, requires_grad=True).view(3, 2)", "torch.randn(3, 2, requires_grad=True)"),), mends=True),
    Mistake("grad_of_non_leaf", 7, """x = torch.ones(2, requires_grad=True)
y = x * 2
y.sum().backward()
print(y.grad)
""", says={"name": "y", "op": "*", "made_line": "5"}, mends=True),
    Mistake("grad_of_non_leaf", 7, """x = torch.ones(2, requires_grad=True)
x = x.double()
x.sum().backward()
print(x.grad)
""", says={"name": "x", "op": "double", "made_line": "5"}, mends=True),
    Mistake("grad_of_non_leaf", 7, """x = torch.ones(2, requires_grad=True)
loss = (x * 2).sum()
loss.backward()
print(loss.grad)
loss = x.pow(2).sum().sqrt()
loss.backward()
""", says={"name": "loss", "op": "sum", "made_line": "5", "is_early": "0"}, mends=True),
    Mistake("grad_of_non_leaf", 6, """x = torch.ones(2, requires_grad=True)
loss = (x * 2).sum()
print(loss.grad)
loss.backward()
""", says={"made_line": "5", "is_early": "1"}),
    Mistake("grad_of_untracked", 7, """w, b = torch.ones(2, requires_grad=True), torch.ones(2)
print(b.grad)
(w * b).sum().backward()
print(b.grad)
""", mends=True),
    Mistake("grad_of_untracked", 8, """w = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor([3., 4.])
loss = (w * b).sum()
loss.backward()
print(w.grad, b.grad)
""", says={"name": "b"}, mends=True),
    Mistake("grad_of_untracked", 7, """x = torch.ones(3)
w = torch.full((3,), 2.0, requires_grad=True)
(x * w).sum().backward()
g = x.grad
""", says={"name": "x"}, mends=True),
    Mistake("leaf_rebound", 7, """w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w ** 2).sum()
loss.backward()
w = w - 0.1 * w.grad
print(w)
""", says={"name": "w"}, mends=True),
    Mistake("leaf_rebound", 8, """a = torch.tensor(3.0, requires_grad=True)
lr = 0.5
for i in range(1):
    (a * a).backward()
    a = a - lr * a.grad
""", says={"name": "a"}, mends=True),
    Mistake("parameter_made_in_forward", 8, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
    def forward(self, x): return (nn.Parameter(self.w * 2) * x).sum()
net = Net()
net(torch.ones(2)).backward()
""", says={"count": "1"}),
    Mistake("parameter_made_in_forward", 9, """class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
    def forward(self, x):
        s = nn.Parameter(torch.ones(2))
        return self.lin(x) * s
net = Scale()
for i in range(2):
    net(torch.ones(3, 2)).sum().backward()
""", says={"count": "2"}),
    Mistake("parameter_made_in_forward", 9, """class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(5, 3)
    def table(self):
        return nn.Parameter(torch.randn(4, 3))
    def forward(self, u, i):
        return (self.user(u) * self.table()[i]).sum(1)
net = Recommender()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
u, i, r = torch.arange(4), torch.arange(4), torch.rand(4)
for _ in range(3):
    loss = F.mse_loss(net(u, i), r)
""" + STEP, cure=(("nn.Parameter(torch.randn(4, 3))", "torch.ones(4, 3)"),)),
    Mistake("asked_of_new_piece", 6, """w, x = torch.randn(3, 2, requires_grad=True), torch.randn(3, 2)
losses = (w * x).sum(1)
for loss, row in zip(losses, w): print(torch.autograd.grad(loss, row, retain_graph=True, allow_unused=True))
""", cure=(("(loss, row,", "(loss, w,"),)),
    Mistake("asked_of_new_piece", 5, """w = torch.randn(3, requires_grad=True); loss = w.pow(2).sum()
print(torch.autograd.grad(loss, w[0], allow_unused=True))
""", cure=(("w[0]", "w"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("leaf_rebound", """w, x = torch.ones(3, requires_grad=True), torch.randn(4, 3)
for _ in range(3):
    (x @ w).pow(2).mean().backward()
    w = w - 0.1 * w.grad
    w = w.clone().detach().requires_grad_()
"""),
    ("leaf_made_non_leaf", "w = (torch.randn(3) * 0.01).requires_grad_()\n(w ** 2).sum().backward()\nprint(w.grad)\n"),
    ("leaf_made_non_leaf", "w = torch.ones(2, requires_grad=True).float()\nw.sum().backward()\nprint(w.grad)\n"),
    ("grad_of_non_leaf", "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.retain_grad()\ny.sum().backward()\nprint(y.grad)\n"),
    ("grad_of_untracked", "w, b = torch.ones(2, requires_grad=True), torch.ones(2)\n(w * b).sum().backward()\nprint(w.grad, b.grad is None)\n"),
    ("grad_of_untracked", "w, b = torch.ones(2, requires_grad=True), torch.ones(2)\nprint(b.grad)\n(w * b).sum().backward()\n"),
    ("grad_of_untracked", "class Box:\n    grad = 3\nb = Box()\nx = torch.ones(2, requires_grad=True)\n(x * b.grad).sum().backward()\nprint(b.grad)\n"),
    ("leaf_rebound", "def step(params):\n    for p in params:\n        p = p - 0.1 * p.grad\nw = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    (w ** 2).sum().backward()\n    step([w])\n"),
    ("leaf_rebound", "w = torch.tensor([1.0, 2.0], requires_grad=True)\n(w ** 2).sum().backward()\nw = (w - 0.1 * w.grad).detach().requires_grad_()\n"),
    ("leaf_rebound", "w = torch.tensor([1.0, 2.0], requires_grad=True)\n(w ** 2).sum().backward()\nnew = w.detach() - 0.1 * w.grad\ng = 0.5 * w.grad\n"),
    ("parameter_made_in_forward", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = None\n"
     "    def forward(self, x):\n        if self.w is None:\n            self.w = nn.Parameter(torch.ones(2))\n        return x * self.w\n"
     "net = Net()\nnet(torch.ones(2)).sum().backward()\nnet(torch.ones(2)).sum().backward()\n"),
    ("asked_of_new_piece", """w, v = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
first = w[0]
print(torch.autograd.grad(first * 2, first, allow_unused=True))
print(torch.autograd.grad((w * 2).sum(), v[0], allow_unused=True))
"""),
)  # fmt: skip
