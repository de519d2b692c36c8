"""What `engine/findings/plain_containers.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("modules_in_plain_list", 7, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 1)]
        self.head = nn.Linear(1, 1)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(3, 2)).sum().backward()
opt.step()
""", says={"name": "self.layers", "better": "nn.ModuleList", "type": "list"}, mends=True),
    Mistake("modules_in_plain_list", 7, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ws = [nn.Parameter(torch.ones(2, 2)) for _ in range(2)]
    def forward(self, x):
        return x @ self.ws[0] @ self.ws[1]
net = Net()
net(torch.ones(3, 2)).sum().backward()
""", says={"name": "self.ws", "better": "nn.ParameterList"}, mends=True),
    Mistake("modules_in_plain_list", 7, """class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.layers.append(nn.Linear(a, b))
        self.head = nn.Linear(sizes[-1], 1)
    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.head(x)
net = MLP([3, 8, 8])
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(32, 3); y = X.prod(1, keepdim=True)
for _ in range(5):
    loss = F.mse_loss(net(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("self.layers = []", "self.layers = nn.ModuleList()"),
    ), mends=True),
    Mistake("modules_in_plain_list", 7, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(2)]
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
net = Net()
print(list(net.parameters()), net(torch.randn(8, 4)).shape)
""", mends=True),
    Mistake("modules_in_plain_list", 8, """class Heads(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.heads = {}
        for n in names:
            self.heads[n] = nn.Linear(8, 1)
    def forward(self, x):
        h = torch.relu(self.body(x))
        return {n: head(h) for n, head in self.heads.items()}
m = Heads(["a", "b"])
opt = torch.optim.SGD(m.parameters(), lr=0.1)
X = torch.randn(16, 4)
for _ in range(4):
    out = m(X)
    loss = (out["a"] - X[:, :1]).pow(2).mean() + (out["b"] - X[:, 1:2]).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(loss.item())
""", cure=(
        ("self.heads = {}", "self.heads = nn.ModuleDict()"),
    ), mends=True),
    Mistake("modules_in_plain_list", 7, """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for _ in range(2):
            layer = nn.Linear(3, 3)
            self.layers.append(layer)
        self.out = nn.Linear(3, 1)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return self.out(x)
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(5, 3)).square().mean()
""" + STEP, cure=(("self.layers = []", "self.layers = nn.ModuleList()"),), mends=True),
    Mistake("modules_in_plain_list", 9, """from torch.nn import Linear, Module
class Deep(Module):
    def __init__(self):
        super().__init__()
        self.first = Linear(3, 4)
        self.hidden = [Linear(4, 4, bias=False) for _ in range(2)]
    def forward(self, x):
        x = torch.relu(self.first(x))
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return x
model = Deep(); opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    loss = F.cross_entropy(model(torch.randn(8, 3)), torch.randint(4, (8,)))
""" + STEP, cure=(("[Linear(4, 4, bias=False) for _ in range(2)]", "nn.ModuleList([Linear(4, 4, bias=False) for _ in range(2)])"),), mends=True),
    Mistake("modules_in_plain_list", 14, f"""class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
    def forward(self, x):
        return x + self.lin(x).relu()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 1)
        self.blocks = {{f"b{{i}}": Block().to("cpu") for i in range(2)}}
    def forward(self, x):
        for block in self.blocks.values():
            x = block(x)
        return self.head(x)
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", says={"better": "nn.ModuleDict", "type": "dict"}, mends=True),
    Mistake("layers_out_of_sight", 14, f"""class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
    def forward(self, x):
        return x + self.lin(x).relu()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 1)
        self.blocks = tuple(Block() for _ in range(2))
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", says={"model": "Net", "layer": "Block", "names": "lin.weight, lin.bias"}, cure=(("tuple(Block() for _ in range(2))", "nn.Sequential(*[Block() for _ in range(2)])"),)),
    Mistake("layers_out_of_sight", 9, f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = []
        for _ in range(2):
            self.blocks.append([nn.Linear(3, 3), torch.tanh])
        self.out = nn.Linear(3, 1)
    def forward(self, x):
        for layer, squash in self.blocks:
            x = squash(layer(x))
        return self.out(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", cure=(("append([nn.Linear(3, 3), torch.tanh])", "append(nn.ModuleList([nn.Linear(3, 3), nn.Tanh()]))"), ("self.blocks = []", "self.blocks = nn.ModuleList()"))),
    Mistake("layers_out_of_sight", 8, f"""import types
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = types.SimpleNamespace(body=nn.Linear(3, 4))
        self.head = nn.Linear(4, 1)
    def forward(self, x):
        return self.head(self.parts.body(x).relu())
net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}""", cure=(("types.SimpleNamespace(body=nn.Linear(3, 4))", "nn.ModuleDict({'body': nn.Linear(3, 4)})"),)),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("layers_out_of_sight", f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 3)
    def forward(self, x):
        last = nn.Linear(3, 1)
        return last(self.head(x))
net = Net(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}"""),
    ("modules_in_plain_list", f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 1)
        self.layers = [nn.Linear(3, 3) for _ in range(2)]
    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return self.head(x)
net = Net(); params = [*net.parameters()]
for layer in net.layers:
    params += layer.parameters()
opt = torch.optim.SGD(params, lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
{STEP}"""),
    ("modules_in_plain_list", """class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.teacher = nn.Linear(4, 2), [nn.Linear(4, 2)]
    def forward(self, x):
        with torch.no_grad():
            told = self.teacher[0](x)
        return self.own(x) - told
print(Student()(torch.randn(3, 4)))
"""),
    ("modules_in_plain_list", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
     "        self.layers = [nn.Linear(2, 2), nn.Linear(2, 1)]\n        self.net = nn.Sequential(*self.layers)\n"
     "    def forward(self, x):\n        return self.net(x)\nnet = Net()\nnet(torch.ones(3, 2)).sum().backward()\n"),
    ("modules_in_plain_list", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
     "        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 1)])\n        self.sizes = [1, 2]\n"
     "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"
     "net = Net()\nnet(torch.ones(3, 2)).sum().backward()\n"),
)  # fmt: skip
