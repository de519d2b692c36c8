"""What `engine/findings/copied_lines.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

LEARNT = """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in train_loader:
    opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
right = 0
with torch.no_grad():
    for x, y in {held}:
        right += (net(x).argmax(1) == y).sum().item()
print(right, len(test_set))
"""

SETS = """from torch.utils.data import DataLoader, TensorDataset, random_split
def samples(count):
    return TensorDataset(torch.randn(count, 4), torch.randint(3, (count,)))
train_set = samples(40)
test_set = samples(10)
"""

MISTAKES: tuple[Mistake, ...] = (
    Mistake("loader_of_another_set", 10, SETS
        + """train_loader = DataLoader(dataset=train_set, batch_size=10, shuffle=True)
test_loader = DataLoader(dataset=train_set, batch_size=10)
"""
        + LEARNT.format(held="test_loader"), cure=(("test_loader = DataLoader(dataset=train_set", "test_loader = DataLoader(dataset=test_set"),), mends=True),
    Mistake("loader_of_another_set", 8, """from torch.utils.data import DataLoader, TensorDataset, random_split
def main():
    trainset, valset = random_split(TensorDataset(torch.randn(50, 4), torch.randint(3, (50,))), [40, 10])
    trainloader = DataLoader(trainset, 10, shuffle=True)
    valloader = DataLoader(trainset, 10)
    net = nn.Linear(4, 3)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in trainloader:
        opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
    print(sum((net(x).argmax(1) == y).sum().item() for x, y in valloader))
main()
""", cure=(("valloader = DataLoader(trainset", "valloader = DataLoader(valset"),), mends=True),
    Mistake("loader_of_another_set", 10, (SETS
        + """trainLoader = DataLoader(dataset=train_set, batch_size=10, shuffle=True)
testLoader = DataLoader(dataset=train_set, batch_size=10)
"""
        + LEARNT.replace("train_loader", "trainLoader").format(held="testLoader")).replace("train_set", "toy_train").replace("test_set", "toy_test"),
        cure=(("testLoader = DataLoader(dataset=toy_train", "testLoader = DataLoader(dataset=toy_test"),), mends=True),
    Mistake("batch_of_another_loop", 16, """train = [(torch.randn(6, 4), torch.randint(3, (6,))) for _ in range(3)]
valid = [(torch.randn(6, 4), torch.randint(3, (6,))) for _ in range(2)]
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for data, labels in train:
        opt.zero_grad()
        F.cross_entropy(net(data), labels).backward()
        opt.step()
    with torch.no_grad():
        for data, label in valid:
            out = net(data)
            loss = F.cross_entropy(out, labels)
            print(loss.item(), (out.argmax(1) == labels).float().mean().item())
""", cure=(("(out, labels)", "(out, label)"), ("== labels", "== label")), mends=True),
    Mistake("batch_of_another_loop", 16, """class Runner:
    def __init__(self):
        self.net = nn.Linear(4, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def run(self, train, test):
        for i, (inputs, targets) in enumerate(train):
            self.opt.zero_grad()
            F.mse_loss(self.net(inputs), targets).backward()
            self.opt.step()
        total = 0.0
        for i, (images, targets) in enumerate(test):
            with torch.no_grad():
                total += F.mse_loss(self.net(inputs), targets).item()
        print(total / (i + 1))
batches = [(torch.randn(6, 4), torch.randn(6, 1)) for _ in range(4)]
Runner().run(batches[:2], batches[2:])
""", cure=(("self.net(inputs), targets).item()", "self.net(images), targets).item()"),), mends=True),
    Mistake("value_of_the_neighbour", 12, """class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 4, batch_first=True)
    def forward(self, x, lengths):
        order = lengths.argsort(descending=True)
        out, (h, c) = self.rnn(x[order])
        back = order.argsort()
        h, c = h[:, back, :], h[:, back, :]
        return out[back], (h, c)
encoder, decoder = Encoder(), nn.LSTM(3, 4, batch_first=True)
_, state = encoder(torch.randn(5, 6, 3), torch.tensor([4, 6, 3, 5, 2]))
decoder(torch.randn(5, 2, 3), state)[0].sum().backward()
""", cure=(("h[:, back, :], h[:, back, :]", "h[:, back, :], c[:, back, :]"),), mends=True, says={"name": "c", "before_line": "10"}),
    Mistake("value_of_the_neighbour", 6, """def scaled(low, high):
    low = low * 2 - low.mean()
    high = low * 2 - low.mean()
    return (low * high).sum()
scaled(torch.ones(3, requires_grad=True), torch.arange(3.0)).backward()
""", cure=(("high = low * 2 - low.mean()", "high = high * 2 - high.mean()"),), mends=True),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    # the samples that were learnt are measured too
    ("loader_of_another_set", SETS
        + """train_loader = DataLoader(train_set, 10, shuffle=True)
seen_loader = DataLoader(train_set, 10)
"""
        + LEARNT.format(held="seen_loader")),
    ("loader_of_another_set", (SETS
        + """train_loader = DataLoader(train_set, 10, shuffle=True)
toy_loader = DataLoader(train_set, 10)
"""
        + LEARNT.format(held="toy_loader")).replace("train_set", "toy_train").replace("test_set", "toy_test")),
    # two parts of one dataset
    ("loader_of_another_set", SETS
        + """from torch.utils.data import SubsetRandomSampler
train_loader = DataLoader(train_set, 10, sampler=SubsetRandomSampler(range(30)))
test_loader = DataLoader(train_set, 10, sampler=SubsetRandomSampler(range(30, 40)))
"""
        + LEARNT.format(held="test_loader")),
    # the last batch, looked at one by one
    ("batch_of_another_loop", """net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for images, labels in [(torch.randn(6, 4), torch.randint(3, (6,))) for _ in range(3)]:
    opt.zero_grad(); F.cross_entropy(net(images), labels).backward(); opt.step()
for image, label in zip(images, labels):
    print(net(image).argmax().item())
"""),
    # a function made in between reads it
    ("value_of_the_neighbour", """def step(h, c):
    size = lambda: c.norm()
    total = size()
    h, c = torch.tanh(h + 1), torch.tanh(h + 1)
    return (h * c).sum() + total
step(torch.ones(3, requires_grad=True), torch.ones(3)).backward()
"""),
    # two names of one value, of which the other had none or was read before
    ("value_of_the_neighbour", """def step(h, x):
    last = None
    total = x.sum()
    h, x = torch.tanh(h + 1), torch.tanh(h + 1)
    h, last = h.detach(), h.detach()
    return h, x, last, total
step(torch.ones(3, requires_grad=True), torch.ones(3))
"""),
    # the place of the batch before, and one that is thrown away
    ("batch_of_another_loop", """net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step, noise in enumerate(torch.randn(3, 2, 4)):
    opt.zero_grad(); net(noise).pow(2).mean().backward(); opt.step()
for at, _ in enumerate(torch.randn(2, 2, 4)):
    print(step, at, (net(noise) - noise).norm().item())
"""),
)  # fmt: skip
