"""What `engine/findings/reported.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import THREE_LINES, Mistake

COUNTED = (
    """from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.randn(48, 3), torch.randint(0, 3, (48,)))
loader = DataLoader(data, batch_size=16, shuffle=True)
net = nn.Linear(3, 3); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    total, hits = 0.0, 0
    for xb, yb in loader:
        out = net(xb)
        loss = F.cross_entropy(out, yb)
"""
    + THREE_LINES.replace("    ", "        ")
    + """        total += loss.item()
        hits += (out.argmax(1) == yb).sum().item()
    print(f"{epoch}: {total / len(data):.5f} {hits / len(data):.3f}")
"""
)

MISTAKES: tuple[Mistake, ...] = (
    Mistake("last_count_over_samples", 17, """from torch.utils.data import DataLoader, TensorDataset
points = TensorDataset(torch.randn(60, 4), torch.randint(0, 2, (60,)))
loader = DataLoader(points, batch_size=20)
net = nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters())
for epoch in range(3):
    total, good = 0, 0
    for xb, yb in loader:
        out = net(xb)
        loss = F.cross_entropy(out, yb)
        opt.zero_grad(); loss.backward(); opt.step()
        total += len(yb)
        good = (out.argmax(1) == yb).sum().item()
    print('epoch', epoch, 'acc', round(100 * good / total, 4))
""", cure=(
        ("good = (out", "good += (out"),
    )),
    Mistake("last_count_over_samples", 14, """net, opt = nn.Linear(3, 1), None
x = torch.randn(64, 3)
y = (x.sum(1) > 0).float()
def check():
    with torch.no_grad():
        for at in range(0, 64, 16):
            correct = ((net(x[at : at + 16])[:, 0] > 0) == y[at : at + 16]).float().sum()
    return correct / len(x)
for _ in range(3):
    F.binary_cross_entropy_with_logits(net(x)[:, 0], y).backward()
    print(f'{check():.5f}')
""", cure=(
        ("return correct / len(x)", "return correct / 16"),
    )),
    Mistake("counted_after_the_loop", 19, """from torch.utils.data import DataLoader, TensorDataset
held = DataLoader(TensorDataset(torch.randn(80, 4), torch.randint(0, 2, (80,))), batch_size=20)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for rows, kinds in held:
    opt.zero_grad()
    F.cross_entropy(net(rows), kinds).backward()
    opt.step()
net.eval()
with torch.no_grad():
    good, seen = 0, 0
    for rows, kinds in held:
        scores = net(rows)
        seen += len(kinds)
    guess = scores.argmax(1)
    good += (guess == kinds).sum().item()
print('accuracy', 100 * good / seen)
""", cure=(
        ("    guess = scores.argmax(1)\n    good", "        guess = scores.argmax(1)\n        good"),
        ("100 * good / seen", "100 * good / len(kinds)"),
    )),
    Mistake("counted_after_the_loop", 14, """net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
x, y = torch.randn(96, 3), (torch.randn(96) > 0).float()
opt = torch.optim.Adam(net.parameters())
def accuracy():
    with torch.no_grad():
        total = 0
        for part, want in zip(x.split(32), y.split(32)):
            made = net(part)[:, 0]
            total += part.size(0)
        hits = (made > 0) == (want > 0.5)
        total_hits = (hits == 1).float().sum()
    return total_hits / total
for _ in range(3):
    F.binary_cross_entropy_with_logits(net(x)[:, 0], y).backward(); opt.step(); opt.zero_grad()
print(f'{accuracy():.6f}')
""", cure=(
        ("total_hits / total", "total_hits / len(part)"),
    )),
    Mistake("means_over_samples", 18, COUNTED, cures=(("total / len(data)", "total / len(loader)"), ("loss.item()", "loss.item() * len(xb)"))),
    Mistake("means_over_samples", 18, COUNTED.replace(':.3f}")', ':.3f}\\n")'), cure=(("total / len(data)", "total / len(loader)"),)),
    Mistake("means_over_samples", 18, COUNTED.replace("{total / len(data):.5f}", "{total / 48:.4g}"), cure=(("range(3)", "range(1)"),)),
    Mistake("means_over_samples", 18, COUNTED.replace("len(data):.5f}", "len(loader.dataset):.4f}").replace("range(3)", "range(1)"), cure=(("total / len(loader.dataset)", "total / len(loader)"),)),
    Mistake("means_over_samples", 18, COUNTED.replace("len(data):.5f}", "len(data):.3f}"), cures=(("total / len(data)", "total / len(loader)"), ("range(3)", "range(2)"))),
    Mistake("counts_over_batches", 18, COUNTED.replace("hits / len(data)", "hits / len(loader)").replace("total / len(data)", "total / len(loader)"), cure=(("hits / len(loader)", "hits / len(data)"),)),
    Mistake("counts_over_batches", 18, COUNTED.replace("{total / len(data):.5f} {hits / len(data):.3f}", "{100 * hits / len(loader):.2f}%"), cure=(("100 * hits / len(loader)", "100 * hits / len(data)"),)),
    Mistake("counts_over_batches", 18, COUNTED.replace("hits / len(data)", "hits / len(loader)").replace("total / len(data)", "total / len(loader)").replace(").sum().item()", ").float().sum()"), cure=(("hits / len(loader)", "hits / len(data)"),)),
    Mistake("batches_weigh_alike", 17, """from torch.utils.data import DataLoader, TensorDataset
net = nn.Linear(3, 1); opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(18, 3); y = x.sum(1, keepdim=True); y[16:] += 9
loader = DataLoader(TensorDataset(x, y), batch_size=8)
for epoch in range(3):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    total = 0.0
    for rows, wanted in loader:
        with torch.no_grad():
            loss = F.mse_loss(net(rows), wanted)
            total += loss.item()

    print(f"{epoch}: {total / len(loader):.4f}")
""", cure=(("batch_size=8", "batch_size=6"),)),
    Mistake("batches_weigh_alike", 16, """net = nn.Linear(2, 2)
x, y = torch.randn(10, 2), torch.zeros(10).long()
x[8:] *= 20
def tested():
    total, batches = 0.0, x.split(4)
    with torch.no_grad():
        for rows, wanted in zip(batches, y.split(4)):
            total += F.cross_entropy(net(rows), wanted).item()
    return total / len(batches)
for epoch in range(2):
    net.zero_grad()
    F.cross_entropy(net(x), y).backward()
    print(f"{epoch} {tested():.5f}")
""", cure=(("x[8:] *= 20", "x[8:] = x[:2]\nx[4:8] = x[:4]\nx[2:4] = x[:2]"),)),
    Mistake("batches_weigh_alike", 20, """x = torch.cat([torch.randn(48, 2) - 1, torch.randn(6, 2) - 4])
y = (torch.arange(54) >= 48).float()
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.02)
def turn(is_training):
    off = []
    with torch.set_grad_enabled(is_training):
        for a, b in zip(x.split(16), y.split(16)):
            scores = net(a)[:, 0]
            loss = F.binary_cross_entropy_with_logits(scores, b)
            if is_training:
                opt.zero_grad(); loss.backward(); opt.step()
            off.append(loss.item())
    return sum(off) / len(off)
for _ in range(3):
    turn(True)
print(f"{turn(False):.5f}")
""", cure=(
        ("off.append(loss.item())", "off.extend([loss.item()] * len(b))"),
    )),
    Mistake("batches_weigh_alike", 11, """from torch.utils.data import DataLoader, TensorDataset
net, x = nn.Linear(3, 2), torch.randn(66, 3)
loader = DataLoader(TensorDataset(x, net(x).argmax(1) * 0), batch_size=32)
total = 0.0
with torch.no_grad():
    for rows, wanted in loader:
        total += torch.mean((net(rows).argmax(1) == wanted).float()).item()
print(f"{total / len(loader):.4f}")
""", cure=(("batch_size=32", "batch_size=33"),)),
    # shown in percent, by a meter
    Mistake("batches_weigh_alike", 20, """from torch.utils.data import DataLoader, TensorDataset
class Meter:
    def __init__(self):
        self.sum, self.n = 0.0, 0
    def update(self, value):
        self.sum, self.n = self.sum + value, self.n + 1
    def average(self):
        return self.sum / self.n
def tested(model, loader):
    right = Meter()
    with torch.no_grad():
        for rows, wanted in loader:
            right.update((model(rows).argmax(1) == wanted).float().mean().item())
    return 100 * right.average()
net, x = nn.Linear(3, 2), torch.randn(208, 3)
wanted = net(x).argmax(1) ^ ((torch.arange(208) % 7 == 0) | (torch.arange(208) > 201)).long()
print("correct: %.2f %%" % tested(net, DataLoader(TensorDataset(x, wanted), batch_size=100)))
""", cures=(("batch_size=100", "batch_size=104"), ("self.sum + value, self.n + 1", "self.sum + value * min(100, 208 - self.n), min(208, self.n + 100)"))),
    Mistake("divided_by_all_stored", 15, """from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset
rows = TensorDataset(torch.randn(40, 3), torch.randn(40, 1))
held_out = DataLoader(rows, batch_size=4, sampler=SubsetRandomSampler(range(28, 40)))
net = nn.Linear(3, 1)
def loss_of(loader):
    total = 0
    with torch.no_grad():
        for x, y in loader:
            total += F.mse_loss(net(x), y).item() * len(x)
    return total / len(loader.dataset)
for epoch in range(3):
    print("held out", loss_of(held_out))
net(torch.ones(3)).sum().backward()
""", cure=(("len(loader.dataset)", "len(loader.sampler)"),)),
    Mistake("divided_by_all_stored", 18, COUNTED.replace("shuffle=True", "sampler=torch.utils.data.SubsetRandomSampler(range(16, 48))").replace("loss.item()", "loss.item() * len(xb)"), cure=(("{total / len(data):.5f} {hits / len(data):.3f}", "{total / 32:.5f} {hits / 32:.3f}"),)),
    Mistake("divided_by_all_turns", 19, COUNTED.replace("batch_size=16", "batch_size=12").replace("    total, hits", "    total, turns").replace("        hits += (out.argmax(1) == yb).sum().item()\n", "        turns += 1\n        if turns % 2 == 0:\n").replace("    print(f\"{epoch}: {total / len(data):.5f} {hits / len(data):.3f}\")", "            print(f\"{total / 4:.5f}\"); total = 0.0"), cure=(("total / 4", "total / 2"),), says={"parts": "2", "by": "4"}),
    Mistake("divided_by_all_turns", 15, """from torch.utils.data import DataLoader, TensorDataset
rows = TensorDataset(torch.randn(40, 3), torch.randn(40, 1))
net = nn.Linear(3, 1)
def tested(loader, most=4):
    total = 0.0
    with torch.no_grad():
        for at, (x, y) in enumerate(loader):
            if at < most:
                total += F.mse_loss(net(x), y).item()
    return total / len(loader)
for epoch in range(3):
    print("tested", tested(DataLoader(rows, batch_size=4)))
net(torch.ones(3)).sum().backward()
""", cure=(("total / len(loader)", "total / most"),), says={"parts": "4", "by": "10"}),
    Mistake("divided_by_last_index", 11, """net = nn.Linear(3, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for i, x in enumerate(torch.randn(5, 4, 3)):
    loss = net(x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    total += loss.item()

print(total / i)
""", cures=(("total / i", "total / (i + 1)"), ("enumerate(torch.randn(5, 4, 3))", "enumerate(torch.randn(5, 4, 3), 1)"), ("for i, x in enumerate(torch.randn(5, 4, 3)):", "for x in torch.randn(5, 4, 3):\n    i = len(x)")), mends=True),
    Mistake("divided_by_last_index", 13, """net = nn.Linear(3, 2)
def accuracy(batches):
    right, count = 0.0, 0
    with torch.no_grad():
        for at in range(len(batches)):
            x, y = batches[at]
            right += (net(x).argmax(1) == y).float().mean().item()
            count = at
    print("done")
    return 100 * right / count
F.cross_entropy(net(torch.randn(4, 3)), torch.tensor([0, 1, 0, 1])).backward()
accuracy([(torch.randn(4, 3), torch.tensor([0, 1, 1, 0])) for _ in range(3)])
""", cure=(("count = at", "count = at + 1"),), mends=True),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # the last turn was left before it added anything
    ("divided_by_last_index", """net, total = nn.Linear(3, 1), 0.0
for i, x in enumerate(torch.randn(5, 4, 3)):
    if i == 4:
        break
    total += net(x).pow(2).mean().item()
print(total / i)
"""),
    # of two batches of 100 the count in one is also the percentage of all
    ("counts_over_batches", """net, x, y = nn.Linear(3, 2), torch.randn(200, 3), torch.randint(0, 2, (200,))
for epoch in range(3):
    good = 0
    with torch.no_grad():
        for at in range(0, 200, 100):
            good += (net(x[at : at + 100]).argmax(1) == y[at : at + 100]).sum()
    print(f"{100 * good / 200:.3f}")
    net = nn.Linear(3, 2)
"""),
)  # fmt: skip
