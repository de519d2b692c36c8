"""What `engine/findings/unrecorded.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import STEP, TRAIN, Mistake

PARTS = "enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)\nx = torch.randn(6, 4)\n"

MISTAKES: tuple[Mistake, ...] = (
    Mistake("cut_by_integer", 6, """w = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor(1., requires_grad=True)
k = (w * 2).long()
loss = (k * b).sum()
loss.backward()
""", says={"leaf": "w", "op": "long", "dtype": "int64"}),
    Mistake("cut_by_integer", 6, """limit = torch.tensor(1.5, requires_grad=True)
x = torch.tensor([1., 2.], requires_grad=True)
mask = x > limit
(mask.float() * x).sum().backward()
""", says={"leaf": "limit", "op": ">", "dtype": "bool"}),
    Mistake("cut_by_integer", 5, """z = torch.randn(4, 3, requires_grad=True)
top = z.topk(1).indices
c = torch.ones(1, requires_grad=True)
(top.float() * c).mean().backward()
""", says={"leaf": "z", "op": "topk"}),
    Mistake("cut_by_integer", 6, "net, y = nn.Linear(4, 3), torch.tensor([0, 1])\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\npred = net(torch.randn(2, 4)).argmax(1).float()\nloss = (pred - y).abs().mean()\nloss.requires_grad = True\nloss.backward()\nopt.step()\n", says={"op": "argmax", "is_hidden": "1", "asked_line": "8"}),
    Mistake("cut_by_numpy", 7, """import numpy as np
w = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor(1., requires_grad=True)
h = (w * 3).detach().numpy()
h = np.square(h)
loss = (torch.from_numpy(h) * b).sum()
loss.backward()
""", says={"leaf": "w", "op": "detach"}),
    Mistake("cut_by_numpy", 6, """w = torch.tensor([1., 2.], requires_grad=True)
c = torch.ones(2, requires_grad=True)
loss = (torch.tensor((w * 3).detach().numpy() + 1) * c).sum()
loss.backward()
""", says={"leaf": "w"}),
    Mistake("cut_by_numpy", 7, TRAIN + """z = model(x).detach().numpy()
z = torch.from_numpy(z)
z = z.requires_grad_()
opt.zero_grad()
((z * y) ** 2).mean().backward()
opt.step()
""", says={"value": "model(x)"}),
    Mistake("leaf_recreated", 5, """w = torch.tensor([1., 2.], requires_grad=True)
h = (w * 2).detach().requires_grad_()
loss = (h ** 2).sum()
loss.backward()
""", says={"leaf": "w", "name": "h"}, mends=True),
    Mistake("leaf_recreated", 6, """w = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor(1., requires_grad=True)
v = torch.tensor((w * 2).tolist(), requires_grad=True)
loss = (v * b).sum()
loss.backward()
""", says={"leaf": "w", "name": "v", "op": "tensor"}),
    Mistake("leaf_recreated", 8, "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(2):\n    loss = net(torch.randn(3, 2)).pow(2).mean()\n"
         "    loss = torch.autograd.Variable(loss, requires_grad=True)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n", says={"name": "loss"}),
    Mistake("leaf_recreated", 6, "from torch.autograd import Variable\nw = torch.ones(2, requires_grad=True)\nloss = Variable((w * 3).sum().data, requires_grad=True)\nloss.backward()\n", says={"leaf": "w", "name": "loss"}),
    Mistake("leaf_recreated", 9, "net = nn.Linear(2, 2)\ndef parts(x):\n    out = net(x)\n    return {'a': out[:, 0].mean().item(), 'b': out[:, 1].mean().item()}\nd = parts(torch.ones(4, 2))\ntotal = torch.tensor(d['a'] + d['b'], requires_grad=True)\ntotal.backward()\n", says={"leaf": "net.weight, net.bias", "name": "total", "is_number": "1"}),
    Mistake("leaf_recreated", 8, """net, x = nn.Linear(3, 1), torch.randn(5, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    errors = [net(row).pow(2).sum() for row in x]
    total = torch.FloatTensor(errors)
    total.requires_grad_()
    loss = total.mean()
""" + STEP, cure=(("torch.FloatTensor(errors)", "torch.stack(errors)"),)),
    Mistake("leaf_recreated", 9, f"""net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    rows = [net(row).squeeze() for row in torch.randn(5, 3)]
    rows = rows[1:]
    errors = torch.tensor(rows, requires_grad=True)
    loss = errors.pow(2).mean()
{STEP}""", cure=(("torch.tensor(rows, requires_grad=True)", "torch.stack(rows)"),), mends=True),
    Mistake("leaf_recreated", 5, """t = torch.ones((), requires_grad=True)
turn = torch.tensor([[t.cos(), -t.sin()], [t.sin(), t.cos()]], requires_grad=True)
turn.mean().backward()
""", says={"leaf": "t", "name": "turn", "is_nested": "1"}, mends=True),
    Mistake("leaf_recreated", 5, """t = torch.ones(1, requires_grad=True)
turn = torch.tensor([[1, 0, 0], [0, t.cos(), -t.sin()], [0, t.sin(), t.cos()]], requires_grad=True)
turn.mean().backward()
""", says={"leaf": "t", "is_nested": "1"}),
    Mistake("leaf_recreated", 5, """t = torch.ones((), requires_grad=True)
pair = torch.tensor([t.cos(), 0], requires_grad=True)
pair.mean().backward()
""", says={"is_nested": "0"}),
    Mistake("asked_too_late", 6, "x = torch.ones(3)\ny = (x * 2).sum()\nx.requires_grad_(True)\ny.requires_grad_(True)\ny.backward()\nprint(x.grad)\n", says={"name": "x", "used_line": "5"}),
    Mistake("asked_too_late", 6, "w = torch.ones(2)\nloss = w.exp().sum()\nw.requires_grad = True\nloss.requires_grad = True\nloss.backward()\nprint(w.grad)\n", says={"name": "w"}),
    Mistake("cut_by_no_grad", 9, PARTS + "opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])\nfor i in range(2):\n    with torch.no_grad():\n        z = enc(x)\n    loss = (dec(z) - x).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n", says={"leaf": "enc.weight, enc.bias"}),
    Mistake("cut_by_no_grad", 8, PARTS + "params = list(enc.parameters()) + list(dec.parameters())\nopt = torch.optim.SGD(params, lr=0.1)\nz = torch.no_grad()(lambda v: enc(v))(x)\n(dec(z) - x).pow(2).mean().backward()\nopt.step()\n", says={"leaf": "enc.weight, enc.bias"}),
    Mistake("checkpoint_without_gradient", 9, """from torch.utils.checkpoint import checkpoint
stem, head = nn.Sequential(nn.Linear(3, 5), nn.ReLU()), nn.Linear(5, 1)
opt = torch.optim.SGD([*stem.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(2):
    loss = F.mse_loss(head(checkpoint(stem, x, use_reentrant=True)), y)
""" + STEP, cure=(("use_reentrant=True", "use_reentrant=False"),), mends=True),
    Mistake("checkpoint_without_gradient", 10, """import torch.utils.checkpoint as saving
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 2)
    def forward(self, x):
        h = saving.checkpoint(self.a, x, use_reentrant=True)
        return self.b(h.relu())
net = Net()
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(6, 4), torch.arange(6) % 2
for _ in range(2):
    loss = F.cross_entropy(net(x), y)
""" + STEP, cure=(("x, y = torch.randn(6, 4)", "x, y = torch.randn(6, 4, requires_grad=True)"),), mends=True),
    # what is given is a function that another one made
    Mistake("checkpoint_without_gradient", 14, """from torch.utils.checkpoint import checkpoint
def runs(module):
    def run(*inputs):
        return module(*inputs)
    return run
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 2)
    def forward(self, x):
        return self.b(checkpoint(runs(self.a), x, use_reentrant=True).relu())
net, x = Net(), torch.randn(6, 4)
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    loss = net(x).pow(2).mean()
""" + STEP + "with torch.no_grad():\n    print(net(x).mean())\n", cures=(("use_reentrant=True", "use_reentrant=False"), ("randn(6, 4)", "randn(6, 4, requires_grad=True)")), mends=True),
    # PyTorch's warning is silenced, and the layers are in a method that is given
    Mistake("checkpoint_without_gradient", 16, """import warnings
from torch.utils.checkpoint import checkpoint
warnings.filterwarnings("ignore")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.blocks, self.head = nn.Linear(4, 4), nn.ModuleList(nn.Linear(4, 4) for _ in range(2)), nn.Linear(4, 2)
    def body(self, x):
        x = self.stem(x)
        for block in self.blocks: x = block(x).relu()
        return x
    def forward(self, x):
        x = checkpoint(self.body, x, use_reentrant=True) if self.training else self.body(x)
        return self.head(x)
net = Net()
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(6, 4), torch.arange(6) % 2
for _ in range(2):
    loss = F.cross_entropy(net(x), y)
""" + STEP + "with torch.no_grad():\n    print(net.eval()(x))\n", cure=(("use_reentrant=True", "use_reentrant=False"),), mends=True),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("leaf_recreated", "t = torch.ones(1, requires_grad=True)\nturn = torch.stack([torch.cat([t.cos(), -t.sin()]), torch.cat([t.sin(), t.cos()])])\nturn.mean().backward()\n"
     "print(torch.tensor([[t, t], [1, t]]))\n"),
    ("leaf_recreated", "x = torch.randn(3, requires_grad=True)\nJ = torch.autograd.functional.jacobian(lambda t: t ** 2, x)\n"),
    ("leaf_recreated", "w = torch.tensor([0.5, 1.5], requires_grad=True)\nfor i in range(3):\n    (g,) = torch.autograd.grad(((w - 1) ** 2).sum(), w)\n"
     "    w = (w - 0.2 * g).detach().requires_grad_()\n(w ** 2).sum().backward()\n"),
    ("leaf_recreated", "w = torch.tensor([1., 2.], requires_grad=True)\nh = w * 2\nz = h.detach().requires_grad_()\n(z ** 2).sum().backward()\nh.backward(z.grad)\n"),
    ("leaf_recreated", "w = torch.ones(2, requires_grad=True)\nloss = (w * 2).sum()\nprint(loss.item())\nloss.backward()\nx = torch.tensor(3., requires_grad=True)\nx.backward()\n"),
    ("leaf_recreated", "x = torch.tensor(3., requires_grad=True)\nx.backward()\n"),
    ("cut_by_no_grad", "net = nn.Sequential(torch.nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)), nn.ReLU())\nnet(torch.randn(5, 3)).sum().backward()\n"),
    ("cut_by_no_grad", "net = torch.nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4))\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet(torch.randn(5, 3)).sum().backward()\nopt.step()\n"),
    ("cut_by_no_grad", "w = torch.ones(2, 2, requires_grad=True)\nwith torch.no_grad():\n    row = w[0]\n    scale = row.sum() * 2\n(w * scale).sum().backward()\n"),
    ("cut_by_no_grad", PARTS + "oe = torch.optim.SGD(enc.parameters(), lr=.1)\nod = torch.optim.SGD(dec.parameters(), lr=.1)\nwith torch.no_grad():\n    z = enc(x)\n(dec(z) - x).pow(2).mean().backward()\nod.step()\n"),
    ("cut_by_no_grad", PARTS + "opt = torch.optim.SGD(dec.parameters(), lr=.1)\nprint(sum(p.numel() for p in enc.parameters()))\nwith torch.no_grad():\n    z = enc(x)\n(dec(z) - x).pow(2).mean().backward()\nopt.step()\n"),
    # its input requires a gradient, but what it gives is no part of the loss
    ("checkpoint_without_gradient", """import warnings
from torch.utils.checkpoint import checkpoint
warnings.filterwarnings("ignore")
net, more = nn.Linear(3, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*net.parameters(), *more.parameters()], lr=0.1)
x = torch.randn(6, 3)
for i in range(3):
    opt.zero_grad()
    h = net(x)
    print(checkpoint(more, h, use_reentrant=True).mean())
    h.pow(2).mean().backward()
    opt.step()
"""),
    # recording is off in a checkpoint: the switch around the evaluation has nothing to do with it
    ("cut_by_no_grad", """from torch.utils.checkpoint import checkpoint
stem, head, x = nn.Linear(4, 4), nn.Linear(4, 1), torch.randn(6, 4)
opt = torch.optim.Adam([*stem.parameters(), *head.parameters()])
for _ in range(2):
    loss = head(checkpoint(lambda rows: stem(rows).relu(), x, use_reentrant=True)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
with torch.no_grad():
    print(head(stem(x)).mean())
"""),
    ("cut_by_no_grad", """from torch.utils.checkpoint import checkpoint
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), nn.Linear(3, 1)
    def forward(self, x):
        h = checkpoint(self.stem, x, use_reentrant=True) if self.training else self.stem(x)
        return self.head(h)
net, x = Net(), torch.randn(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
net.eval()
with torch.no_grad():
    print(net(x).mean())
"""),
    ("cut_by_no_grad", "actor, critic = nn.Linear(2, 1), nn.Linear(1, 1)\na_opt, c_opt = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (actor, critic))\n"
     "for i in range(2):\n    with torch.no_grad():\n        a = actor(torch.randn(4, 2))\n    c_opt.zero_grad()\n    critic(a).pow(2).mean().backward()\n    c_opt.step()\n"
     "    a_opt.zero_grad()\n    loss = -critic(a).mean()\n    loss.backward()\n    a_opt.step()\n"),
    ("cut_by_integer", "w = torch.tensor([1., 2.], requires_grad=True)\nloss = w[w.argmax()] * 2 + (w * (w > 0)).sum()\nloss.backward()\n"),
    ("cut_by_integer", "teacher, model = nn.Linear(4, 3), nn.Linear(4, 3)\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\nx = torch.randn(5, 4)\n"
     "F.cross_entropy(model(x), teacher(x).argmax(1)).backward()\nopt.step()\n"),
    ("cut_by_integer", "net = nn.Linear(4, 3)\nscores = net(torch.randn(2, 4))\nacc = (scores.argmax(1) == torch.tensor([0, 1])).float().mean()\nscores.sum().backward()\nprint(acc)\n"),
    ("cut_by_numpy", "w = torch.tensor([1., 2.], requires_grad=True)\nshown = w.detach().numpy()\nprint(shown)\n(w * 3).sum().backward()\n"),
    ("asked_too_late", "x = torch.ones(3)\nprint(x.sum())\nx.requires_grad_()\n(x * 2).sum().backward()\nprint(x.grad)\n"),
)  # fmt: skip
