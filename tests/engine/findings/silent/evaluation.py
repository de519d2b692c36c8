"""What `engine/findings/evaluation.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import SGD, Mistake

BEST_MODEL = (
    SGD
    + """best = float("inf")
for i in range(3):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if loss.item() < best:
        best = loss.item(); best_model = net
print(best_model.weight)
"""
)

MISTAKES: tuple[Mistake, ...] = (
    Mistake("best_is_the_model", 15, "import copy\n" + BEST_MODEL, says={"name": "best_model", "model": "net"}, mends=True),
    Mistake("best_is_the_model", 17, """x, y = torch.randn(8, 2), torch.randn(8, 1)
def fit(net):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    best = float("inf")
    for i in range(3):
        opt.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        with torch.no_grad():
            value = F.mse_loss(net(x + 1), y).item()
        if value < best:
            best = value
            saved = net
    return saved
fit(nn.Linear(2, 1))
""", cure=(("saved = net", "saved = {k: v.clone() for k, v in net.state_dict().items()}"),)),
    Mistake("total_never_reset", 11, """net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(12, 3), torch.randint(2, (12,))
right = 0
for epoch in range(3):
    for i in range(0, 12, 4):
        loss = F.cross_entropy(net(x[i:i + 4]), y[i:i + 4])
        right += (net(x[i:i + 4]).argmax(1) == y[i:i + 4]).sum().item()
        opt.zero_grad(); loss.backward(); opt.step()
    print(epoch, right / len(x))
""", says={"is_rate": "1"}, cure=(("    for i in", "    right = 0\n    for i in"),), mends=True),
    Mistake("total_never_reset", 10, """def run(net, batches):
    opt = torch.optim.Adam(net.parameters())
    total = 0.0
    for epoch in range(4):
        for x in batches:
            loss = net(x).pow(2).mean()
            total += loss.item()
            opt.zero_grad(); loss.backward(); opt.step()
        mean = total / len(batches)
        print(mean)
run(nn.Linear(2, 1), [torch.randn(3, 2), torch.randn(3, 2)])
""", cure=(("len(batches)\n", "(len(batches) * (epoch + 1))\n"),), says={"is_rate": "0"}, mends=True),
    Mistake("total_overwritten", 7, """net, loss, right = nn.Linear(3, 2), 0, 0
for x in torch.randn(4, 5, 3):
    y = torch.zeros(5).long()
    loss = F.cross_entropy(net(x), y)
    right += (net(x).argmax(1) == y).sum().item()
    loss += loss.item()
loss.backward()
print(loss / 4, right)
""", cure=(("loss += loss.item()", "loss += 0.1 * loss.sqrt()"),)),
    Mistake("total_overwritten", 9, """net = nn.Linear(3, 2)
def tested(batches):
    total = 0.0
    with torch.no_grad():
        for x, y in batches:
            total = F.mse_loss(net(x), y)
            total += total.item() * len(x)
    return total / len(batches)
net(torch.ones(3)).sum().backward()
tested([(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(3)])
""", cure=(("            total = F.mse_loss(net(x), y)\n            total += total.item()", "            loss = F.mse_loss(net(x), y)\n            total += loss.item()"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("best_is_the_model", BEST_MODEL.replace("best_model = net", "best_model = net.state_dict()").replace(".weight", "")),
    ("best_is_the_model", """best, x = 9e9, torch.randn(8, 2)
for lr in (0.1, 0.2, 0.3):
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=lr)
    loss = net(x).pow(2).mean()
    loss.backward()
    opt.step()
    if loss.item() < best:
        best, kept = loss.item(), net
print(kept.weight)
"""),
    ("best_is_the_model", """first, second, x = nn.Linear(2, 1), nn.Linear(2, 1), torch.randn(8, 2)
opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for i in range(4):
    if i < 2:
        active = first
        loss = first(x).pow(2).mean()
    else:
        loss = second(x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print(active.weight)
"""),
    ("total_never_reset", SGD + """step = seen = 0
for epoch in range(2):
    for xb, yb in zip(x.split(2), y.split(2)):
        opt.zero_grad(); F.mse_loss(net(xb), yb).backward(); opt.step()
        step += 1
        seen += xb.size(0)
    print("epochs", step / 4, seen / len(x))
"""),
)  # fmt: skip
