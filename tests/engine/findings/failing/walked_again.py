"""What `engine/findings/failing/walked_again.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import INIT, NET, Row, W

TRIGGERS: dict[str, list[Row]] = {
    "second_backward": [
        Row(
            "x = torch.tensor(1.5, requires_grad=True)\ny = x.sin() * x ** 2\n(slope,) = torch.autograd.grad(y, x, create_graph=True)\n(bend,) = torch.autograd.grad(slope, x)\n((slope - 1) ** 2).backward() #<\n",
            {"shared": "slope", "shared_line": "7", "first_line": "8"},
            True,
        ),
        Row(
            "encoder, first, second = nn.Linear(4, 3), nn.Linear(3, 1), nn.Linear(3, 1)\none, two = (torch.optim.SGD([*encoder.parameters(), *net.parameters()], lr=.1) for net in (first, second))\n"
            "def update(optimizer, loss):\n    loss.backward() #<\n    optimizer.step()\nfor i in range(3):\n    h = encoder(torch.randn(5, 4)).tanh()\n"
            "    a, b = first(h).mean(), second(h).pow(2).mean()\n    update(one, a)\n    update(two, b)\n",
            {"shared": "h", "is_stepped": "1"},
        ),
        Row(
            W + "y = (w * w).sum()\ny.backward()\ny.backward() #<\n",
            {"first_line": "7", "shared": "y", "is_two": "0"},
            True,
        ),
        Row(
            "G, D = nn.Linear(2, 2), nn.Linear(2, 1)\ng_opt = torch.optim.SGD(G.parameters(), lr=.1)\nd_opt = torch.optim.SGD(D.parameters(), lr=.1)\nscore = D(G(torch.ones(3, 2))).exp()\nscore.mean().backward()\n(-score).mean().backward() #<\n",
            {"shared": "score", "is_two": "1", "is_whole": "0"},
        ),
        Row(
            W + "h = w.exp()\na = h.sum()\nb = (h * h).sum()\na.backward(torch.tensor(1.))\nb.backward() #<\n",
            {"shared": "h", "shared_line": "6"},
            True,
        ),
    ],
    "argument_changed": [
        Row(
            W
            + "def scaled(x):\n    x *= w #<\n    return x\ndata = torch.ones(2)\nfor i in range(3):\n    scaled(data).sum().backward()\n",
            {"right": "x = x * w", "is_followed": "1"},
            True,
        ),
        Row(
            W
            + "def shaped(x):\n    x.mul_(w) #<\n    return x.exp()\ndata = torch.ones(2)\nfor i in range(3):\n    shaped(data).sum().backward()\n",
            {"function": "shaped"},
            True,
        ),
    ],
    "second_backward_in_loop": [
        Row(
            W + "h = torch.zeros(2)\nfor i in range(2):\n    h = torch.tanh(h * w) #<\n    h.sum().backward()\n",
            {"shared": "h", "used_line": "9"},
            True,
        ),
        Row(
            "cell = nn.RNNCell(2, 2)\nh = torch.zeros(1, 2)\nfor t in range(2):\n    h = cell(torch.ones(1, 2), h) #<\n"
            "    loss = h.sum()\n    loss.backward()\n",
            {"shared": "h", "used_line": "10"},
            True,
        ),
        Row(
            "cell = nn.LSTMCell(2, 3)\nh, c = torch.zeros(1, 3), torch.zeros(1, 3)\nfor x in torch.ones(3, 1, 2):\n    h, c = cell(x, (h, c)) #<\n    h.sum().backward()\n",
            {"shared": "h", "cut": "h, c = h.detach(), c.detach()"},
            True,
        ),
        Row(
            NET
            + INIT
            + "        self.rnn = nn.GRU(2, 4)\n        self.h = None\n    def forward(self, x):\n        y, self.h = self.rnn(x, self.h) #<\n        return y\n"
            "net = Net()\nfor i in range(2):\n    net(torch.ones(3, 1, 2)).sum().backward()\n",
            {"shared": "self.h", "is_read": "0"},
            True,
        ),
        Row(
            NET
            + INIT
            + "        self.register_buffer('memory', torch.zeros(4, 2))\n        self.cell = nn.GRUCell(2, 2)\n"
            "    def forward(self, i, x):\n        new = self.cell(x, self.memory[i])\n        kept = self.memory.clone()\n        kept[i] = new #<\n        self.memory = kept\n        return self.memory[i].sum()\n"
            "net = Net()\nopt = torch.optim.SGD(net.parameters(), lr=.1)\nfor t in range(3):\n    net(torch.arange(2), torch.ones(2, 2)).backward()\n    opt.step()\n"
            "assert net.cell.weight_ih.grad is not None\n",
            {"cut": "self.memory = self.memory.detach()", "head": "forward", "is_read": "1", "is_kept": "1"},
            True,
        ),
        Row(
            "w = torch.tensor(.5, requires_grad=True)\nseen = {'h': torch.ones(2)}\ndef loss_of():\n    new = torch.tanh(w * seen['h']) #<\n    seen['h'] = new\n    return new.sum()\n"
            "for t in range(3):\n    loss_of().backward()\n",
            {"is_far": "1"},
        ),
    ],
    "made_in_init": [
        Row(
            NET + INIT + "        self.w = nn.Parameter(torch.ones(3, 3))\n        self.even = self.w @ self.w.T #<\n"
            "    def forward(self, x):\n        return x @ self.even\nnet = Net()\nopt = torch.optim.SGD(net.parameters(), lr=.1)\n"
            "for i in range(2):\n    net(torch.ones(2, 3)).pow(2).sum().backward()\n    opt.step()\n",
            {"shared": "self.even", "shared_line": "9"},
        ),
        Row(
            NET + INIT + "        self.w = nn.Parameter(torch.ones(3))\n        self.p = self.w.softmax(0) #<\n"
            "    def forward(self, x):\n        return x * self.p\nnet = Net()\nopt = torch.optim.Adam(net.parameters())\n"
            "for i in range(2):\n    opt.zero_grad()\n    net(torch.ones(2, 3)).pow(2).sum().backward()\n    opt.step()\n",
            {"shared": "self.p"},
        ),
    ],
    "made_before_loop": [
        Row(
            "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=.1)\nl2 = sum((p ** 2).sum() for p in net.parameters()) #<\n"
            "for i in range(2):\n    opt.zero_grad()\n    (net(torch.ones(2, 3)).pow(2).mean() + l2).backward()\n    opt.step()\n",
            {"shared": "l2", "is_moved": "1", "is_fresh": "0"},
        ),
        Row(
            "class Trainer:\n    def __init__(self, net, data):\n        self.net, self.data = net, data\n        self.opt = torch.optim.SGD(net.parameters(), lr=.1)\n    def train(self):\n        for i in range(3):\n"
            "            loss = self.net(self.data[i : i + 4]).pow(2).mean()\n            loss.backward()\n            self.opt.step()\nto_two = nn.Linear(3, 2)\nfeatures = to_two(torch.ones(8, 3)) #<\nTrainer(nn.Linear(2, 1), features).train()\n",
            {"shared": "features", "is_trained": "0"},
        ),
        Row(
            "slope, x = torch.tensor(3., requires_grad=True), torch.rand(6)\naims = slope * x #<\nguess = torch.zeros((), requires_grad=True)\nfor i in range(4):\n    loss = (guess * x - aims).pow(2).mean()\n"
            "    loss.backward()\n    with torch.no_grad():\n        guess -= .1 * guess.grad\n        guess.grad = None\n",
            {"shared": "aims", "is_trained": "0", "leaves": " (slope)"},
        ),
        Row(
            W + "y = (w * w).sum() #<\nfor i in range(2):\n    y.backward()\n    w.data -= 0.1 * w.grad\n",
            {"shared": "y", "used_line": "8"},
        ),
        Row(
            "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))\nopt = torch.optim.SGD(net.parameters(), lr=.1)\n"
            "seen, values = [], []\nfor i in range(3):\n    x = torch.randn(3)\n    seen.append(x)\n    values.append(net(x))\n"
            "gain = torch.ones(3, 1) - torch.stack(values) #<\nfor i in range(3):\n    loss = -(net(torch.stack(seen)) * gain).mean()\n"
            "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
            {"shared": "gain", "is_fresh": "1", "shared_lines": "12", "is_several": "0"},
            True,
        ),
        Row(
            "enc, dec = nn.Linear(3, 2), nn.Linear(2, 1)\nopt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=.1)\n"
            "code = enc(torch.randn(5, 3)).tanh() #<\nfor i in range(3):\n    loss = dec(code).mean() + enc.weight.pow(2).sum()\n"
            "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
            {"shared": "code", "is_fresh": "0", "is_moved": "1"},
        ),
        Row(
            W
            + "opt = torch.optim.SGD([w], lr=.1)\ns = w * torch.ones(2)\nprint(s.shape)\ny = s.exp() #<\nfor i in range(2):\n    opt.zero_grad()\n    y.sum().backward()\n    opt.step()\n",
            {"shared": "y", "shared_lines": "7, 9"},
        ),
        Row(
            "class Table(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.rows = nn.Embedding(5, 2)\n    def spread(self):\n        e = self.rows.weight\n        return (torch.eye(5) @ e).tanh()\n"
            "net = Table()\nopt = torch.optim.SGD(net.parameters(), lr=.1)\nall_rows = net.spread()\nfirst = all_rows[:2] #<\nfor i in range(2):\n    opt.zero_grad()\n    (first[i] * first[1 - i]).sum().backward()\n    opt.step()\n",
            {"shared": "first", "shared_lines": "14, 15"},
        ),
        Row(
            "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=.1)\npred = net(torch.ones(3, 2)).exp() #<\nfor i in range(3):\n"
            "    loss = pred.mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
            {"shared": "pred", "used_line": "11"},
        ),
    ],
    "second_backward_detach": [
        Row(
            "G, D = nn.Linear(2, 2), nn.Linear(2, 1)\ng = torch.optim.SGD(G.parameters(), lr=.1)\nd = torch.optim.SGD(D.parameters(), lr=.1)\nfor i in range(2):\n    fake = G(torch.ones(3, 2))\n    D(fake).mean().backward()\n    g.step()\nscores = D(fake) #<\nscores.sum().backward()\nd.step()\n",
            {"shared": "fake", "use_line": "12"},
            True,
        ),
        Row(
            "G, D = nn.Linear(2, 2), nn.Linear(2, 1)\nd = torch.optim.SGD(D.parameters(), lr=.1)\nfake = G(torch.ones(3, 2))\n"
            "D(fake).mean().backward() #<\nd.step()\nD(fake).sum().backward()\n",
            {"shared": "fake", "line": "10"},
            True,
        ),
        Row(
            "actor, critic = nn.Linear(2, 1), nn.Linear(2, 1)\nc = torch.optim.SGD(critic.parameters(), lr=.1)\nx = torch.ones(3, 2)\n"
            "gain = 1 - critic(x)\n(gain ** 2).mean().backward()\nc.step()\nloss = -(actor(x).exp() * gain).mean() #<\nloss.backward()\n",
            {"shared": "gain", "use_line": "11"},
            True,
        ),
    ],
    "list_not_emptied": [
        Row(
            W
            + "terms = []\nfor turn in range(3):\n    for i in range(2):\n        terms.append((w * i * w).sum()) #<\n    sum(terms).backward()\n",
            {"list": "terms"},
            True,
        ),
        Row(
            W
            + "kept, signs = [], []\nfor turn in range(2):\n    y = (w * w).sum()\n    kept.append(y) #<\n    signs.append(1.)\n    (torch.stack(kept) * torch.tensor(signs)).sum().backward()\n",
            {"value": "y"},
            True,
        ),
    ],
    "second_backward_after_grad": [
        Row(
            W
            + "y = (w ** 3).sum()\nfirst = torch.autograd.grad(y, w)[0] #<\nagain = torch.autograd.grad(y, w)[0]\n(first * again).sum().backward()\n",
            {"used_line": "8"},
            True,
        ),
        Row(
            W
            + "y = (w ** 2).sum()\nslope = torch.autograd.grad(y, w)[0] #<\nif True:\n    torch.autograd.grad(y, w)\n(w * slope).sum().backward()\n",
            {"shared": "y"},
            True,
        ),
    ],
}

NEAR_MISSES: dict[str, str] = {
    "second_backward": W + "y = (w * w).sum()\ny.backward(retain_graph=True)\ny.backward()\n",
    "argument_changed": W
    + "def scaled(x):\n    x = x * w\n    return x\ndata = torch.ones(2)\nfor i in range(3):\n    data = scaled(data)\n    data.sum().backward()\n",
    "second_backward_in_loop": W
    + "h = torch.zeros(2)\nfor i in range(2):\n    h = torch.tanh(h.detach() * w)\n    h.sum().backward()\n",
    "made_in_init": NET
    + INIT
    + "        self.w = nn.Parameter(torch.ones(3))\n    def forward(self, x):\n        return x * self.w.softmax(0)\n"
    "net = Net()\nopt = torch.optim.Adam(net.parameters())\nfor i in range(2):\n    net(torch.ones(2, 3)).pow(2).sum().backward()\n    opt.step()\n",
    "made_before_loop": W + "y = w * w\nfor i in range(2):\n    y[i].backward()\n",
    "second_backward_detach": "trunk, p, v = nn.Linear(2, 2), nn.Linear(2, 1), nn.Linear(2, 1)\nopt = torch.optim.SGD([*trunk.parameters(), *p.parameters(), *v.parameters()], lr=.1)\nh = trunk(torch.ones(3, 2))\na, b = p(h).mean(), v(h).exp().mean()\na.backward()\nopt.step()\nb.backward()\nnet, head = nn.Linear(2, 2), nn.Linear(2, 1)\nh = net(torch.ones(3, 2))\nhead(h).mean().backward()\nh.exp().sum().backward()\n",
    "list_not_emptied": W
    + "for turn in range(2):\n    terms = []\n    terms.append((w * w).sum())\n    sum(terms).backward()\n",
    "second_backward_after_grad": W + "y = (w ** 3).sum()\ntorch.autograd.grad(y, w)\ny.backward()\n",
}
