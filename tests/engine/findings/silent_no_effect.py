"""Lines that run and change nothing, numbers out of range, leaves nobody recorded: programs that have them, and right ones."""

from tests.engine.findings.silent import DROP, LOOP, TRAIN, Case

CLIP = "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
ROUND = "for i in range(3):\n    opt.zero_grad()\n    loss = F.mse_loss(model(x), y)\n{before}    loss.backward()\n{between}    opt.step()\n{after}"
BEST = "best, kept = 9e9, None\nfor i in range(3):\n    opt.zero_grad()\n    loss = F.mse_loss(model(x), y)\n    loss.backward()\n    if loss.item() < best:\n        best = loss.item()\n        kept = {state}\n    opt.step()\nmodel.load_state_dict(kept)\n"
OWN = "class Line(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = {weight}\n        self.b = nn.Parameter(torch.zeros(1))\n    def forward(self, x):\n        return x @ self.w + self.b\nmodel = Line()\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\nx, y = torch.randn(4, 2), torch.randn(4, 1)\n"
FUNCTIONAL = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 8)\n    def forward(self, x):\n        return F.dropout(self.fc(x), p=0.5{more})\nnet = Net()\n"
PARTS = "enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)\nx = torch.randn(6, 4)\n"

TRIGGERS: tuple[Case, ...] = (
    Case("result_dropped", 5, {"name": "x", "op": "add"}, "x = torch.zeros(3)\nx.add(1)\nprint(x)\n"),
    Case("result_dropped", 6, {"name": "w.grad", "op": "clamp"}, "w = torch.tensor([5., -3.], requires_grad=True)\n(w ** 2).sum().backward()\ntorch.clamp(w.grad, -1, 1)\nprint(w.grad)\n"),
    Case("result_dropped", 5, {"name": "x", "op": "to"}, "def prepare(x):\n    x.to(torch.float64)\n    return x\nprint(prepare(torch.ones(2)).dtype)\n"),
    Case("requires_grad_misspelt", 5, {"name": "require_grad", "receiver": "x"}, "x = torch.ones(3)\nx.require_grad = True\nprint((x * 2).requires_grad)\n"),
    Case("requires_grad_misspelt", 8, {"name": "requires_gard"}, TRAIN + "for name, p in model[0].named_parameters():\n    p.requires_gard = False\n" + LOOP),
    Case("requires_grad_of_module", 7, {"receiver": "model[0]", "value": "False"}, TRAIN + "model[0].requires_grad = False\n" + LOOP),
    Case("requires_grad_of_module", 10, {"receiver": "layer"}, TRAIN + "base = nn.Sequential(nn.Linear(2, 2), nn.Tanh())\nx = base(x).detach()\nfor layer in base:\n    layer.requires_grad = False\n" + LOOP),
    Case("clip_before_backward", 10, {"op": "clip_grad_norm_", "other_line": "11"}, TRAIN + ROUND.format(before=CLIP, between="", after="")),
    Case("clip_before_backward", 8, {"op": "clip_grad_norm_"}, TRAIN + "for i in range(2):\n    size = nn.utils.clip_grad_norm_(model.parameters(), 1.)\n    loss = F.mse_loss(model(x), y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"),
    Case("clip_after_step", 12, {"other_line": "11"}, TRAIN + ROUND.format(before="", between="", after=CLIP)),
    Case("clip_after_step", 11, {"op": "clip_grad_norm_"}, TRAIN + "loss = F.mse_loss(model(x), y)\nopt.zero_grad()\nloss.backward()\nopt.step()\nnorm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)\nprint(norm)\n"),
    Case("state_dict_shared", 14, {"name": "kept", "load_line": "16"}, TRAIN + BEST.format(state="model.state_dict()")),
    Case("state_dict_shared", 9, {"name": "start"}, TRAIN + "for i in range(2):\n    if i == 0:\n        start = model.state_dict()\n    opt.zero_grad()\n    F.mse_loss(model(x), y).backward()\n    opt.step()\nmodel.load_state_dict(start)\n"),
    Case("tensor_not_parameter", 7, {"name": "self.w", "model": "Line"}, OWN.format(weight="torch.randn(2, 1, requires_grad=True)") + LOOP),
    Case("tensor_not_parameter", 7, {"name": "self.w"}, OWN.format(weight="torch.ones(2, 1).requires_grad_()") + LOOP),
    Case("dropout_ignores_eval", 9, {"model": "net"}, FUNCTIONAL.format(more="") + "net.eval()\nwith torch.no_grad():\n    print(net(torch.ones(1, 2)))\n"),
    Case("dropout_ignores_eval", 6, {"model": "m"}, "class M(nn.Module):\n    def forward(self, x):\n        return nn.functional.dropout(x, 0.3)\nm = M().eval()\nprint(m(torch.ones(4)))\n"),
    Case("comparison_broadcast", 7, {"first": "pred", "shape": "8×8"}, "net, x = nn.Linear(3, 1), torch.randn(8, 3)\ny = torch.ones(8)\npred = (torch.sigmoid(net(x)) > 0.5).float()\nprint((pred == y).float().mean())\n"),
    Case("comparison_broadcast", 6, {"op": "!=", "first_shape": "5×1"}, "net, y = nn.Linear(3, 1), torch.ones(5)\nout = net(torch.randn(5, 3)).round()\nwrong = (out != y).sum()\n"),
    Case("relu_before_logits_loss", 6, {"loss": "cross_entropy"}, "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.ReLU())\nx, y = torch.randn(9, 4), torch.arange(9) % 3\nF.cross_entropy(net(x), y).backward()\n"),
    Case("relu_before_logits_loss", 6, {"loss": "binary_cross_entropy_with_logits", "op_line": "5"}, "net, y = nn.Linear(4, 1), torch.ones(9, 1)\nscores = F.relu(net(torch.randn(9, 4)))\nF.binary_cross_entropy_with_logits(scores, y).backward()\n"),
    Case("too_large", 5, {"op": "**", "value": "1e+30"}, "x = torch.tensor([1e30], requires_grad=True)\ny = x ** 2\ny.backward()\n"),
    Case("too_large", 5, {"cell": "(x - 1)[1]"}, "x = torch.tensor([1., 1e25])\ny = torch.square(x - 1)\nprint(y.sum())\n"),
    Case("too_large", 5, {"op": "square", "operand": "x"}, "x = torch.tensor([1., 1e25])\ny = torch.square(x)\nprint(y.sum())\n"),
    Case("gradient_too_large", 6, {"node": "MulBackward0"}, "x = torch.tensor(1e-30, requires_grad=True)\nk = torch.tensor(1e30)\ny = x * k\nz = y * k * 1e-20\n(z * 1e20).backward()\n"),
    Case("gradient_too_large", 6, {"op": "@"}, "W = torch.full((2, 2), 1e20, requires_grad=True)\nh = torch.full((2, 2), 1e-30, requires_grad=True)\na = h @ W\n((a @ W) * 1e-20 * 1e20).sum().backward()\n"),
    Case("spread_of_one", 5, {"op": "std", "operand": "x"}, "x = torch.randn(1, 4, requires_grad=True)\nz = (x - x.mean(0)) / x.std(0)\nprint(z)\n"),
    Case("spread_of_one", 4, {"op": "var"}, "v = torch.ones(1).var()\nprint(v)\n"),
    Case("optimizer_made_anew", 8, {"name": "adam", "type": "Adam", "count": "3"}, TRAIN + "for i in range(3):\n    adam = torch.optim.Adam(model.parameters())\n    adam.zero_grad()\n    F.mse_loss(model(x), y).backward()\n    adam.step()\n".replace("for i", "for _")),
    Case("optimizer_made_anew", 8, {"type": "SGD"}, TRAIN + "for i in range(2):\n    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)\n    loss = F.mse_loss(model(x), y)\n    loss.backward()\n    sgd.step()\n    sgd.zero_grad()\n"),
    Case("asked_too_late", 6, {"name": "x", "used_line": "5"}, "x = torch.ones(3)\ny = (x * 2).sum()\nx.requires_grad_(True)\ny.requires_grad_(True)\ny.backward()\nprint(x.grad)\n"),
    Case("asked_too_late", 6, {"name": "w"}, "w = torch.ones(2)\nloss = w.exp().sum()\nw.requires_grad = True\nloss.requires_grad = True\nloss.backward()\nprint(w.grad)\n"),
    Case("leaf_recreated", 8, {"name": "loss"}, "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(2):\n    loss = net(torch.randn(3, 2)).pow(2).mean()\n"
         "    loss = torch.autograd.Variable(loss, requires_grad=True)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"),
    Case("leaf_recreated", 6, {"leaf": "w", "name": "loss"}, "from torch.autograd import Variable\nw = torch.ones(2, requires_grad=True)\nloss = Variable((w * 3).sum().data, requires_grad=True)\nloss.backward()\n"),
    Case("cut_by_integer", 6, {"op": "argmax"}, "net, y = nn.Linear(4, 3), torch.tensor([0, 1])\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\npred = net(torch.randn(2, 4)).argmax(1).float()\nloss = (pred - y).abs().mean()\nloss.requires_grad = True\nloss.backward()\nopt.step()\n"),
    Case("cut_by_no_grad", 9, {"leaf": "enc.weight, enc.bias"}, PARTS + "opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])\nfor i in range(2):\n    with torch.no_grad():\n        z = enc(x)\n    loss = (dec(z) - x).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"),
    Case("cut_by_no_grad", 8, {"leaf": "enc.weight, enc.bias"}, PARTS + "params = list(enc.parameters()) + list(dec.parameters())\nopt = torch.optim.SGD(params, lr=0.1)\nz = torch.no_grad()(lambda v: enc(v))(x)\n(dec(z) - x).pow(2).mean().backward()\nopt.step()\n"),
    Case("uninitialised_read", 5, {"maker": "Tensor", "made_line": "4"}, "x = torch.Tensor(3)\ny = x * 2\n"),
    Case("leaf_recreated", 9, {"leaf": "net.weight, net.bias", "name": "total", "is_number": "1"}, "net = nn.Linear(2, 2)\ndef parts(x):\n    out = net(x)\n    return {'a': out[:, 0].mean().item(), 'b': out[:, 1].mean().item()}\nd = parts(torch.ones(4, 2))\ntotal = torch.tensor(d['a'] + d['b'], requires_grad=True)\ntotal.backward()\n"),
    Case("update_lost", 8, {"name": "p"}, "params = [torch.ones(2, requires_grad=True)]\n(params[0] ** 2).sum().backward()\nwith torch.no_grad():\n    for p in params:\n        p = p - 0.1 * p.grad\n"),
    Case("item_lost", 9, {"name": "x", "items": "rows", "later_line": "11"}, TRAIN + "rows = [(x * 50 + 100, y) for _ in range(3)]\nfor x, y in rows:\n    x = (x - 100) / 50\nfor i in range(2):\n    for x, y in rows:\n        opt.zero_grad()\n        F.mse_loss(model(x), y).backward()\n        opt.step()\n"),
    Case("item_lost", 9, {"name": "y", "items": "labels"}, TRAIN + "labels = [y, y + 1]\nfor y in labels:\n    y = (y > 0).float()\nfor label in labels:\n    F.mse_loss(model(x), label).backward()\n"),
    Case("update_lost", 10, {"name": "p"}, TRAIN + "F.mse_loss(model(x), y).backward()\nwith torch.no_grad():\n    for name, p in model.named_parameters():\n        p = p - 0.01 * p.grad\n"),
)  # fmt: skip

NEAR_MISSES: tuple[tuple[str, str], ...] = (
    ("result_dropped", "x = torch.zeros(3)\nx.add_(1).mul_(2)\nx.view(3)\n"),
    ("result_dropped", "x = torch.arange(6.)\nx.sum()\nx.shape\ny = x.view(2, 3)\ny.mean(0)\nprint(x)\n"),
    ("result_dropped", "def prepare(m, x):\n    m.double()\n    m.to('cpu')\n    m.train()\n    return m(x.double())\nnet = nn.Linear(2, 1)\nprint(prepare(net, torch.ones(1, 2)))\n"),
    ("result_dropped", "x = torch.ones(2, 2)\nx.t()\nx @ x\nprint(x)\n"),
    ("result_dropped", "x = torch.ones(2, 2)\nx.view(-1)\nx.float()\nprint(x)\n"),
    ("requires_grad_misspelt", "class Settings:\n    pass\nsettings = Settings()\nsettings.require_grad = False\nx = torch.ones(1)\nx.requires_grad = True\n"),
    ("requires_grad_of_module", TRAIN + "model[0].weight.requires_grad = False\nfor p in model[0].parameters():\n    p.requires_grad = False\n" + LOOP),
    ("clip_before_backward", TRAIN + ROUND.format(before="", between=CLIP, after="")),
    ("clip_before_backward", """a, b = nn.Linear(2, 1), nn.Linear(2, 1)
one, two = torch.optim.SGD(a.parameters(), lr=.1), torch.optim.SGD(b.parameters(), lr=.1)
for _ in range(3):
    one.zero_grad()
    for xb in torch.randn(3, 4, 2):
        (9 * a(xb)).pow(2).mean().backward()
    nn.utils.clip_grad_norm_(a.parameters(), 0.1)
    one.step()
    two.zero_grad()
    b(torch.randn(4, 2)).pow(2).mean().backward()
    two.step()
"""),
    ("clip_before_backward", TRAIN + "for i in range(4):\n    F.mse_loss(model(x), y).backward()\n    if i % 2:\n    " + CLIP + "        opt.step()\n        opt.zero_grad()\n"),
    ("clip_after_step", TRAIN + ROUND.format(before="", between=CLIP, after="    print(loss)\n")),
    ("state_dict_shared", "import copy\n" + TRAIN + BEST.format(state="copy.deepcopy(model.state_dict())")),
    ("state_dict_shared", TRAIN + LOOP + "state = model.state_dict()\nother = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\nother.load_state_dict(state)\n"),
    ("optimizer_made_anew", "for fold in range(2):\n    net = nn.Linear(2, 1)\n    opt = torch.optim.Adam(net.parameters())\n    net(torch.ones(3, 2)).sum().backward()\n    opt.step()\n"),
    ("optimizer_made_anew", TRAIN + "for rate in (0.1, 0.01):\n    opt = torch.optim.Adam(model.parameters(), lr=rate)\n    for i in range(2):\n        opt.zero_grad()\n        F.mse_loss(model(x), y).backward()\n        opt.step()\n"),
    ("update_lost", "params = [torch.ones(2, requires_grad=True)]\n(params[0] ** 2).sum().backward()\nwith torch.no_grad():\n    for p in params:\n        p -= 0.1 * p.grad\n    fresh = [p - 0.1 * p.grad for p in params]\n"),
    ("item_lost", TRAIN + "rows = [(x * 50 + 100, y) for _ in range(3)]\nkept = []\nfor x, y in rows:\n    x = (x - 100) / 50\n    kept.append((x, y))\nprint(len(rows), [x.sum() for x, y in rows])\n"),
    ("item_lost", TRAIN + "rows = [x, x + 1]\nfor row in rows:\n    row = row * 2\nprint(row, [each.sum() for each in rows])\n"),
    ("tensor_not_parameter", OWN.format(weight="nn.Parameter(torch.randn(2, 1))") + LOOP),
    ("tensor_not_parameter", OWN.format(weight="torch.zeros(2, 1, requires_grad=True)") + LOOP + "    with torch.no_grad():\n        model.w -= 0.01 * model.w.grad\n"),
    ("dropout_ignores_eval", FUNCTIONAL.format(more=", training=self.training") + "net.eval()\nprint(net(torch.ones(1, 2)))\n"),
    ("dropout_ignores_eval", FUNCTIONAL.format(more="") + "print(net(torch.ones(1, 2)))\n"),
    ("comparison_broadcast", "labels = torch.tensor([0, 2, 1])\nonehot = labels.view(-1, 1) == torch.arange(3)\nsame = labels.unsqueeze(1) == labels\nprint(onehot, same)\n"),
    ("relu_before_logits_loss", "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))\nF.cross_entropy(net(torch.randn(9, 4)), torch.arange(9) % 3).backward()\n"),
    ("too_large", "x = torch.tensor([1e10])\ny = x ** 3\n"),
    ("gradient_too_large", "x = torch.tensor(0., requires_grad=True)\nx.sqrt().backward()\n"),
    ("spread_of_one", "x = torch.randn(3, 4)\nprint(x.std(0), torch.ones(1).std(correction=0))\n"),
    ("asked_too_late", "x = torch.ones(3)\nprint(x.sum())\nx.requires_grad_()\n(x * 2).sum().backward()\nprint(x.grad)\n"),
    ("leaf_recreated", "w = torch.ones(2, requires_grad=True)\nloss = (w * 2).sum()\nprint(loss.item())\nloss.backward()\nx = torch.tensor(3., requires_grad=True)\nx.backward()\n"),
    ("leaf_recreated", "x = torch.tensor(3., requires_grad=True)\nx.backward()\n"),
    ("cut_by_no_grad", PARTS + "oe = torch.optim.SGD(enc.parameters(), lr=.1)\nod = torch.optim.SGD(dec.parameters(), lr=.1)\nwith torch.no_grad():\n    z = enc(x)\n(dec(z) - x).pow(2).mean().backward()\nod.step()\n"),
    ("cut_by_no_grad", PARTS + "opt = torch.optim.SGD(dec.parameters(), lr=.1)\nprint(sum(p.numel() for p in enc.parameters()))\nwith torch.no_grad():\n    z = enc(x)\n(dec(z) - x).pow(2).mean().backward()\nopt.step()\n"),
    ("cut_by_integer", "net = nn.Linear(4, 3)\nscores = net(torch.randn(2, 4))\nacc = (scores.argmax(1) == torch.tensor([0, 1])).float().mean()\nscores.sum().backward()\nprint(acc)\n"),
    ("uninitialised_read", "x = torch.Tensor([1., 2.])\ny = x * 2\n"),
    ("evaluated_in_train", DROP + LOOP + "model.eval()\nwith torch.no_grad():\n    print(model(x))\n"),
)  # fmt: skip
