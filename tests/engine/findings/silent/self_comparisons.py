"""What `engine/findings/self_comparisons.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("answers_are_one", 8, """class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.last = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 2)
    def forward(self, x): return self.head(self.body(x).relu()), self.head(self.body(x).relu())
net = Two()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    one, other = net(torch.randn(9, 4))
    loss = F.mse_loss(one, torch.randn(9, 2)) + F.mse_loss(other, torch.randn(9, 2))
""" + STEP, cures=((", self.head(self", ", self.last(self"), ("self.body(x).relu()), self", "F.dropout(self.body(x))), self"))),
    Mistake("answers_are_one", 9, """class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.more = nn.Sequential(nn.Linear(4, 3), nn.Tanh()), nn.Linear(4, 3)
    def forward(self, x):
        return self.net(x), self.net(x)
net = Two()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    a, b = torch.randint(3, (9,)), torch.randint(3, (9,))
    loss = sum(F.cross_entropy(out, y) for out, y in zip(net(torch.randn(9, 4)), (a, b)))
""" + STEP, cure=(("x), self.net", "x), self.more"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # one answer, two views of what is right
    ("answers_are_one", """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    a, b = torch.randint(3, (9,)), torch.randint(3, (9,))
    out = net(torch.randn(9, 4))
    loss = 0.3 * F.cross_entropy(out, a) + 0.7 * F.cross_entropy(out, b)
""" + STEP),
)  # fmt: skip
