"""What `engine/findings/iterators.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import SGD, STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("generator_looped_twice", 9, """def clip(params, most):
    total = 0.0
    for p in params:
        total += (p.grad ** 2).sum().item()
    if total > most:
        for p in params:
            p.grad *= most / total
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(4, 3)).pow(2).sum().backward()
    clip(net.parameters(), 1e-3)
    opt.step()
""", cure=(
        ("clip(net.parameters()", "clip(list(net.parameters())"),
        ("def clip(params, most):\n", "def clip(params, most):\n    params = list(params)\n"),
    ), mends=True),
    Mistake("generator_looped_twice", 10, """class Trainer:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)
    def decay(self, weights):
        for w in weights:
            w.grad.add_(w.detach(), alpha=0.1)
        for w in weights:
            w.grad.clamp_(-1, 1)
    def fit(self):
        self.net(torch.ones(2, 3)).sum().backward()
        self.decay(self.net.parameters())
        self.opt.step()
Trainer(nn.Linear(3, 2)).fit()
""", cure=(
        ("self.decay(self.net.parameters())", "self.decay([*self.net.parameters()])"),
    ), mends=True),
    Mistake("generator_looped_twice", 9, f"""x, y = torch.randn(12, 3), torch.randn(12, 1)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
parts, epochs = zip(x.split(4), y.split(4)), 3
for epoch in range(epochs):
    for a, b in parts:
        loss = F.mse_loss(net(a), b)
    {STEP}""", cures=(
        ("zip(x.split(4), y.split(4))", "[*zip(x.split(4), y.split(4))]"),
        ("in parts:", "in zip(x.split(4), y.split(4)):"),
        ("epochs = zip(x.split(4), y.split(4)), 3", "epochs = zip(x.split(4), y.split(4)), 1"),
        ("    loss = F", "    if a is None: break\n        loss = F"),
    ), mends=True, says={"is_turn": "1"}),
    Mistake("generator_looped_twice", 9, f"""{SGD}weights = filter(lambda p: p.dim() > 1, net.parameters())
while net.bias.item() < 9:
    size = sum(w.pow(2).sum() for w in weights)
    loss = F.mse_loss(net(x), y) + 0.1 * size
{STEP}    if net.bias.grad.norm() < 9: net.bias.data.add_(5)
""", cures=(("filter(lambda p: p.dim() > 1, net.parameters())", "[net.weight]"), ("for w in weights)", "for w in [net.weight])")), mends=True),
    Mistake("generator_looped_twice", 10, """from torch.utils.data import DataLoader
class Trainer:
    def __init__(self, net, loader):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)
        self.batches = iter(loader)
    def epoch(self):
        for i, x in enumerate(self.batches):
            loss = self.net(x).square().mean()
            self.opt.zero_grad(); loss.backward(); self.opt.step()
trainer = Trainer(nn.Linear(3, 1), DataLoader(torch.randn(8, 3), batch_size=4))
for epoch in range(2):
    trainer.epoch()
""", cure=(("iter(loader)", "loader"),), mends=True, says={"kept": "loader"}),
    Mistake("generator_looped_twice", 10, f"""{SGD}ws = net.parameters()
print(sum(w.numel() for w in ws))
for turn in range(3):
    loss = F.mse_loss(net(x), y) + sum((w ** 2).sum() for w in ws)
{STEP}""", cure=(("ws = net.parameters()", "ws = list(net.parameters())"),), mends=True),
)  # fmt: skip

RIGHT: tuple[tuple[str, str], ...] = (
    ("generator_looped_twice", """def tidy(weights, first):
    for w in weights:
        if first:
            break
        w.grad.clamp_(-1, 1)
    for w in weights:
        w.grad.mul_(0.5)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(4, 3)).sum().backward()
tidy(net.parameters(), True)
opt.step()
"""),
    ("generator_looped_twice", f"""{SGD}rows = iter(x.split(2))
for epoch in range(2):
    for a in rows:
        loss = net(a).square().mean()
    {STEP}        if epoch < 1: break
"""),
    ("generator_looped_twice", f"""{SGD}def batches():
    return x.split(2)
rows = batches()
for epoch in range(2):
    for a in rows:
        loss = net(a).square().mean()
    {STEP}"""),
    ("generator_looped_twice", f"""{SGD}for epoch in range(2):
    rows = zip(x, y)
    for a, b in rows:
        loss = F.mse_loss(net(a), b)
    {STEP}"""),
    ("generator_looped_twice", f"""{SGD}rows = map(torch.square, x)
for epoch in range(3):
    loss = F.mse_loss(net(x), y)
{STEP}    if epoch == 2:
        print(sum(row.sum() for row in rows))
"""),
)  # fmt: skip
