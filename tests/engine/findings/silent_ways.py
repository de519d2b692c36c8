"""What goes another way than it seems to; each with what makes it right."""

from tests.engine.findings.silent import Case
from tests.engine.findings.silent_values import Pair

STEP = "    opt.zero_grad(); loss.backward(); opt.step()\n"
PAIRS = (
    Pair("one_memory_for_two", 8, """class Twins(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
        self.target = self.online
        self.head = nn.Linear(3, 3)
    def forward(self, x, y):
        with torch.no_grad():
            aim = self.target(y)
        return 1 - F.cosine_similarity(self.head(self.online(x)), aim).mean()
twins = Twins()
opt = torch.optim.Adam(twins.parameters())
x = torch.randn(8, 4)
for _ in range(3):
    loss = twins(x, x + 0.1)
""" + STEP, (("self.target = self.online", "self.target = nn.Linear(4, 3)"),)),
    Pair("layer_repeated", 7, """class Stack(nn.Module):
    def __init__(self, block, times):
        super().__init__()
        self.blocks = nn.ModuleList([block for _ in range(times)])
    def forward(self, x):
        for block in self.blocks:
            x = torch.tanh(block(x))
        return x
net = Stack(nn.Linear(4, 4), 3)
net(torch.randn(2, 4)).sum().backward()
""", (("([block for", "([nn.Linear(4, 4) for"),)),
)  # fmt: skip
RIGHT = (
    (
        "one_memory_for_two",
        """class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 2), nn.LogSoftmax(-1))
    def score(self, s, a):
        return self.actor(s).gather(1, a)
agent = Agent()
opt = torch.optim.Adam(agent.parameters())
for _ in range(2):
    s = torch.randn(6, 4)
    with torch.no_grad():
        a = agent.actor(s).exp().multinomial(1)
    loss = -agent.score(s, a).mean()
"""
        + STEP,
    ),
)
"""Right programs that come near to a mistake."""

TRIGGERS = tuple(Case(pair.code, pair.line, {}, pair.program) for pair in PAIRS)
NEAR_MISSES = (*((pair.code, pair.mended()) for pair in PAIRS), *RIGHT)
