"""What `engine/findings/graphs_kept.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import LOOP, STEP, TRAIN, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("losses_kept", 13, "losses = []\n" + TRAIN + LOOP + "    losses.append(loss)\n", says={"list": "losses", "name": "loss", "count": "3"}, mends=True),
    Mistake("losses_kept", 9, """w = torch.ones(2, requires_grad=True)
kept = []
for i in range(2):
    loss = (w ** 2).sum()
    loss.backward()
    kept.append(loss)
""", says={"list": "kept", "count": "2"}, mends=True),
    Mistake("losses_kept", 10, """lin = nn.Linear(2, 1)
opt = torch.optim.SGD(lin.parameters(), 0.1)
history = {"loss": [], "rate": []}
for _ in range(3):
    loss = lin(torch.randn(4, 2)).pow(2).mean()
""" + STEP + """    history["loss"].append(loss)
""", cure=(("append(loss)", "append(loss.item())"),), mends=True),
    Mistake("losses_kept", 10, """lin, losses = nn.Linear(2, 1), []
opt = torch.optim.SGD(lin.parameters(), 0.1)
def fit(net, mover, kept):
    for _ in range(3):
        loss = net(torch.randn(4, 2)).pow(2).mean()
        mover.zero_grad(); loss.backward(); mover.step()
        kept.append(loss)
fit(lin, opt, losses)
""", cure=(("append(loss)", "append(loss.item())"),), mends=True),
    Mistake("total_kept", 13, "total = 0\n" + TRAIN + LOOP + "    total += loss\n", says={"name": "total", "added": "loss", "count": "3"}, mends=True),
    Mistake("total_kept", 13, "total = 0\n" + TRAIN + LOOP + "    total += loss / 5\n", says={"name": "total", "added": "loss / 5", "whole": "(loss / 5)"}, mends=True),
    # set back every three steps: never more than three hang together
    Mistake("total_kept", 13, "total = 0\n" + TRAIN + "for i in range(9):\n    opt.zero_grad()\n    loss = F.mse_loss(model(x), y)\n    loss.backward()\n    opt.step()\n    total += loss\n    if i % 3 == 2:\n        print(total / 3)\n        total = 0\n", says={"count": "3"}, mends=True),
    # one layer twice, each with a mean of its own
    Mistake("total_kept", 9, """class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain, self.mean = nn.Parameter(torch.ones(3)), torch.zeros(3)
    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return self.gain * (x - x.mean(0))
net = nn.Sequential(nn.Linear(3, 3), Norm(), nn.Linear(3, 3), Norm())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    loss = (net(torch.randn(8, 3)) - 1).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(("0.1 * x.mean(0)", "0.1 * x.mean(0).detach()"),), says={"count": "5"}, mends=True),
    Mistake("total_kept", 9, """w = torch.ones(2, requires_grad=True)
s = torch.tensor(0.0)
for i in range(4):
    loss = (w ** 2).sum()
    loss.backward()
    s = s + loss
""", says={"name": "s", "added": "loss", "count": "4"}, mends=True),
    Mistake("total_kept", 12, """import copy
net = nn.Linear(3, 1)
slow = dict(net.named_parameters())
for _ in range(4):
    fast = copy.deepcopy(net)
    opt = torch.optim.SGD(fast.parameters(), lr=0.1)
    loss = fast(torch.randn(8, 3)).pow(2).mean(); opt.zero_grad(); loss.backward(); opt.step()
    for name, new in fast.named_parameters():
        slow[name] = slow[name] + 0.5 * (new - slow[name])
    net.load_state_dict(slow)
""", cure=(("slow[name] + 0.5 * (new - slow[name])", "(slow[name] + 0.5 * (new - slow[name])).detach()"),), says={"name": "slow[name]"}, mends=True),
    Mistake("total_kept", 12, TRAIN + """mean = torch.zeros(3, 2)
for i in range(4):
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
    mean = 0.9 * mean + 0.1 * model[0].weight
""", cure=(("0.1 * model[0].weight", "0.1 * model[0].weight.detach()"),), mends=True),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("losses_kept", "losses = []\n" + TRAIN + LOOP + "    losses.append(loss.item())\n"),
    ("losses_kept", "w = torch.ones(2, requires_grad=True)\nlosses = []\nfor i in range(3):\n    losses.append((w * i).sum())\ntorch.stack(losses).sum().backward()\n"),
    ("losses_kept", """lin = nn.Linear(2, 1)
def fit(losses):
    kept = []
    for _ in range(3):
        loss = lin(torch.randn(4, 2)).pow(2).mean()
        lin.zero_grad()
        loss.backward()
        loss = loss.item()
        losses.append(loss)
        kept.append(loss)
    return kept
fit([])
"""),
    ("losses_kept", """w = torch.ones(2, requires_grad=True)
def train():
    for i in range(3):
        loss = (w * w).sum()
        loss.backward()
        w.grad = None
def log():
    values = []
    for i in range(3):
        loss = torch.tensor(float(i))
        values.append(loss)
    return values
train()
log()
"""),
    ("total_kept", "total = 0\n" + TRAIN + LOOP + "    total += loss.item()\n"),
    # blocks that are run with the graph on, after training; and a state that each pass goes back to
    ("total_kept", TRAIN + LOOP + "h = x\nfor i in range(4):\n    h = h + model[0](h)[:, :2]\n"),
    ("total_kept", TRAIN + "s = torch.zeros(1)\nfor i in range(4):\n    s = 0.5 * s.detach() + model(x).mean()\n    (s - 1).pow(2).backward()\n"),
    # a sum that is begun anew for each update
    ("total_kept", TRAIN + "for _ in range(3):\n    moved = torch.zeros(3, 2)\n    for i in range(3):\n        opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()\n        moved = moved + model[0].weight\n    print(moved.mean().item())\n"),
    ("total_kept", "w = torch.ones(2, requires_grad=True)\ntotal = 0\nfor i in range(4):\n    loss = (w ** 2).sum()\n    total = total + loss\ntotal.backward()\n"),
)  # fmt: skip
