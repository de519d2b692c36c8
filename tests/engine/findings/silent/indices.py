"""What `engine/findings/indices.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("mask_as_places", 7, """net, x = nn.Linear(3, 1), torch.randn(12, 3)
seen = (torch.arange(12) % 3 == 0).long()
each = (net(x) - 1).pow(2)
loss = each[seen].mean()
loss.backward()
""", says={"places": "seen", "name": "each", "size": "12"}, mends=True),
    Mistake("mask_as_places", 8, """def risk(hazard, event):
    order = torch.arange(29, -1, -1)
    hazard, event = hazard[order], event[order]
    below = torch.logcumsumexp(hazard, 0)
    return -(hazard - below)[event].mean()
net, x, event = nn.Linear(3, 1), torch.randn(30, 3), (torch.arange(30) * 7 % 5 > 2).int().long()
risk(net(x).squeeze(1), event).backward()
""", says={"places": "event", "size": "30"}, mends=True),
    Mistake("added_once", 7, """lin = nn.Linear(3, 2)
h, to = torch.randn(5, 3), torch.tensor([0, 1, 1, 4, 0])
sums = torch.zeros(5, 2)
sums[to] += lin(h)
sums.pow(2).sum().backward()
""", cure=(("[0, 1, 1, 4, 0]", "[0, 1, 2, 4, 3]"),)),
    Mistake("added_once", 7, """labels = torch.tensor([2, 0, 2, 2, 1])
counts = torch.zeros(3)
for _ in range(1):
    counts[labels] = counts[labels] + 1
weights = nn.Parameter(torch.ones(3))
(weights * counts).sum().backward()
""", cure=(("counts[labels] + 1", "1.0"),)),
    Mistake("place_for_value", 8, """q, old = nn.Linear(3, 4), nn.Linear(3, 4)
opt = torch.optim.Adam(q.parameters())
now, after, reward = torch.randn(7, 3), torch.randn(7, 3), torch.randn(7)
for _ in range(2):
    best = old(after).detach().argmax(1)
    loss = F.mse_loss(q(now)[:, 0], reward + 0.99 * best)
""" + STEP, cure=(("0.99 * best", "0.99 * old(after).detach()[range(7), best]"),), cures=(("reward + 0.99", "0.3 + 0.99"),)),
    Mistake("place_for_value", 5, """def target(net, s, r, gamma):
    top = net(s).max(dim=1, keepdim=True)
    return r + top[1] * 0.9
net = nn.Linear(2, 3)
loss = (net(torch.randn(4, 2)) - target(net, torch.randn(4, 2), torch.randn(4, 1), 0.9)).pow(2).mean()
loss.backward()
""", cure=(("top[1]", "top[0]"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("mask_as_places", """net, x, group = nn.Linear(3, 1), torch.randn(12, 3), torch.arange(12) % 2
table = torch.randn(12, 3, requires_grad=True)
(table[group] - net(x)).pow(2).mean().backward()  # of twelve rows two in use
"""),
    ("mask_as_places", "scores, actions = nn.Linear(3, 2)(torch.randn(20, 3)), torch.arange(20) % 2\nscores[range(20), actions].mean().backward()\n"),
    ("mask_as_places", """net, x, seen = nn.Linear(3, 1), torch.randn(12, 3), (torch.arange(12) % 3 == 0)
both = torch.stack([net(x).mean(), net(x).sum()])
(net(x)[seen].mean() + both[seen.long()].mean() + (net(x)[:, 0] * seen.long()).sum()).backward()
"""),
    ("added_once", """logits, y = torch.randn(4, 3, requires_grad=True), torch.tensor([2, 0, 2, 1])
F.cross_entropy(logits, y).backward()
slope = logits.detach().softmax(1)
slope[range(4), y] -= 1
print((slope / 4 - logits.grad).abs().max())
"""),
    ("added_once", """w = torch.ones(4, requires_grad=True)
seen, hit = torch.ones(4), torch.tensor([1, 3, 1])
for _ in range(2):
    seen[hit] = seen[hit] * 0.5
    (w * seen).sum().backward()
"""),
)  # fmt: skip
