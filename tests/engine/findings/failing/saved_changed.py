"""What `engine/findings/failing/saved_changed.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import INIT, NET, Row, W

TRIGGERS: dict[str, list[Row]] = {
    "saved_tensor_changed": [
        Row(
            "m = torch.ones(1, requires_grad=True)\nx = torch.zeros(1)\nloss = 0\nfor i in range(3):\n    x.detach_()\n    x.copy_(m.exp()) #<\n    loss += (x ** 2).sum()\nloss.backward()\n",
            {"name": "x"},
            True,
        ),
        Row(W + "a = w.exp()\na += 1 #<\na.sum().backward()\n", {"name": "a", "saved_line": "6", "version": "1"}, True),
        Row(
            W + "h = w * 1\ny = h * h\nh[0] = 5 #<\ny.sum().backward()\n",
            {"name": "h", "op": "*", "change": "setitem"},
            True,
        ),
        Row(
            "net = nn.Linear(3, 2)\ndef run(x):\n    h = net(x)\n    h[:, 1] = F.elu(h[:, 1]) + 1 #<\n    return h\nout = run(torch.ones(4, 3))\nout.sum().backward()\n",
            {"name": "h", "saved_line": "8", "is_part": "0"},
            True,
        ),
        Row(W + "a = w * 1\na += a ** 2 #<\na.sum().backward()\n", {"name": "a"}, True),
        Row(
            "cells = [nn.GRUCell(2, 2), nn.GRUCell(2, 2)]\nstate = torch.zeros(2, 3, 2)\nx = torch.ones(3, 2)\nfor t in range(3):\n    for i, cell in enumerate(cells):\n        state[i] = cell(x, state[i]) #<\n        x = state[i]\nstate[-1].sum().backward()\n",
            {"name": "state", "is_part": "1"},
            True,
        ),
        Row(
            W
            + "grid = torch.zeros(4, 2)\nbefore = w.exp()\nfor t in range(1, 4):\n    grid[t] = (before * grid[t - 1] + w).tanh() #<\n    before = grid[t]\ngrid[-1].sum().backward()\n",
            {"name": "grid"},
            True,
        ),
        Row(W + "h = w.exp()\ny = h * h\nh += 1\nz = h * h\nh *= 2 #<\n(y + z + h).sum().backward()\n", {"name": "h"}),
    ],
    "saved_changed_by_step": [
        Row(
            W
            + "opt = torch.optim.SGD([w], lr=.1)\na = (w * w).sum()\nb = (w * w * 2).sum()\na.backward()\nopt.step() #<\nb.backward()\n",
            {"name": "w", "change": "opt.step()", "root": "b", "again_line": "8"},
        ),
        Row(
            "net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))\nopt = torch.optim.SGD(net.parameters(), lr=.1)\nout = net(torch.ones(5, 2))\n"
            "a, b = out[:, 0].pow(2).mean(), out[:, 1].pow(2).mean()\na.backward(retain_graph=True)\nopt.step() #<\nb.backward()\n",
            {"name": "net.2.weight", "root": "b", "root_line": "8", "again_line": "7"},
        ),
        Row(
            "def f(p):\n    return (p[0] ** 2 * p[1] ** 3).sum()\n"
            + W
            + "g, = torch.autograd.grad(f(w), w, create_graph=True)\n"
            "with torch.no_grad():\n    w += g #<\npenalty = g.pow(2).sum()\npenalty.backward()\n",
            {"root": "penalty", "saved_line": "6", "again_line": "8", "is_step": "0"},
        ),
        Row(
            "class Pair:\n    def __init__(self):\n        self.judge = nn.Linear(2, 1)\n        self.opt = torch.optim.SGD(self.judge.parameters(), lr=.1)\n"
            "    def losses(self, x):\n        made = x * 2\n        own = self.judge(made.detach()).pow(2).mean()\n        scores = self.judge(made)\n        other = scores.pow(2).mean()\n"
            "        return own, other\n    def learn(self, own, other):\n        own.backward()\n        self.opt.step() #<\n        other.backward()\n"
            "pair = Pair()\nown, other = pair.losses(torch.ones(3, 2, requires_grad=True))\npair.learn(own, other)\n",
            {"is_apart": "1", "first_line": "12", "root_line": "13", "again_line": "20"},
        ),
        Row(
            "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\nadam = torch.optim.Adam(net.parameters())\nout = net(torch.ones(1, 2))\nout.sum().backward(retain_graph=True)\nadam.step() #<\nout.sum().backward()\n",
            {"change": "adam.step()"},
        ),
        Row(
            "class Agent:\n    def __init__(self):\n        self.actor, self.q1, self.q2 = nn.Linear(2, 2), nn.Linear(2, 1), nn.Linear(2, 1)\n"
            "        self.optimizers = [torch.optim.Adam(net.parameters()) for net in (self.q1, self.q2, self.actor)]\n    def train(self, x):\n"
            "        policy_loss = -torch.min(self.q1(self.actor(x)), self.q2(self.actor(x))).mean()\n        losses = [self.q1(x).mean(), self.q2(x).mean(), policy_loss]\n"
            "        for optimizer, loss in zip(self.optimizers, losses):\n            loss.backward()\n            optimizer.step() #<\nAgent().train(torch.ones(3, 2))\n",
            {"name": "self.q2.weight", "root": "policy_loss", "again_line": "10", "change": "optimizer.step()"},
        ),
        Row(
            "net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))\nloss = net(torch.ones(4, 3)).pow(2).mean()\nwith torch.no_grad():\n    for p in net.parameters():\n        p.clamp_(-0.1, 0.1) #<\nloss.backward()\n",
            {"name": "net.2.weight", "root": "loss", "change": "p.clamp_(-0.1, 0.1)", "is_step": "0"},
        ),
    ],
    "saved_changed_in_loop": [
        Row(
            "cell = nn.RNNCell(2, 3)\nopt = torch.optim.SGD(cell.parameters(), lr=.1)\nh = torch.zeros(1, 3)\nfor i in range(3):\n    h = cell(torch.ones(1, 2), h)\n"
            "    loss = h.sum()\n    loss.backward(retain_graph=True)\n    opt.step() #<\n",
            {"shared": "h", "change": "opt.step()", "cut": "h = h.detach()"},
            True,
        ),
        Row(
            NET
            + INIT
            + "        self.fc, self.h, self.c = nn.Linear(2, 2), torch.ones(2), torch.ones(2)\n    def forward(self):\n        self.c = torch.tanh(self.fc(self.h)) * self.c\n        self.h = self.c.sigmoid()\n        return self.h.sum()\n"
            "net = Net()\nopt = torch.optim.SGD(net.parameters(), lr=.1)\nfor i in range(3):\n    net().backward(retain_graph=True)\n    opt.step() #<\n",
            {"cut": "self.h, self.c = self.h.detach(), self.c.detach()", "is_read": "1", "is_far": "0"},
        ),
        Row(
            "layer = nn.LSTM(2, 3)\nopt = torch.optim.Adam(layer.parameters())\nh, c = torch.zeros(1, 3), torch.zeros(1, 3)\nfor x in torch.randn(3, 4, 2):\n"
            "    out, (h, c) = layer(x, (h, c))\n    opt.zero_grad()\n    out.sum().backward(retain_graph=True)\n    opt.step() #<\n",
            {"change": "opt.step()", "cut": "h, c = h.detach(), c.detach()"},
            True,
        ),
    ],
    "saved_changed_since": [
        Row(
            "class Prefix(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.prompt, self.mlp, self.kept = nn.Parameter(torch.ones(2, 4)), nn.Linear(4, 4), None\n"
            "    def forward(self, x):\n        if self.kept is None:\n            self.kept = self.mlp(self.prompt)\n        return (x @ self.kept.t()).softmax(-1)\n"
            "net = Prefix()\nopt = torch.optim.SGD(net.parameters(), lr=.1)\nfor i in range(3):\n    loss = net(torch.ones(3, 4)).pow(2).sum()\n    loss.backward(retain_graph=True)\n    opt.step() #<\n",
            {"shared": "self.kept", "shared_line": "11"},
        ),
        Row(
            "make, judge = nn.Linear(2, 2), nn.Linear(2, 1)\nopt = torch.optim.Adam(make.parameters())\nfor epoch in range(2):\n    for j in range(1):\n        fake = make(torch.ones(1, 2)).tanh() @ make.weight\n"
            "    for j in range(2):\n        make.zero_grad()\n        (-judge(fake).mean()).backward(retain_graph=True)\n        opt.step() #<\n",
            {"shared": "fake", "change": "opt.step()"},
        ),
        Row(
            W
            + "opt = torch.optim.SGD([w], lr=.1)\nenergy = (w * w).sum()\nfor i in range(2):\n    opt.zero_grad()\n    (energy * 2).backward(retain_graph=True)\n    opt.step() #<\n",
            {"shared": "energy", "change": "opt.step()"},
        ),
    ],
    "changed_by_layer": [
        Row(
            "net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))\nnet(torch.ones(2, 3)).sum().backward() #<\n",
            {"op": "sigmoid", "saver": "net.1", "layer": "net.2"},
            True,
        ),
        Row(
            "net = nn.Sequential(nn.Tanh(), nn.Hardtanh(inplace=True))\n" + W + "y = net(w) #<\ny.sum().backward()\n",
            {"saver": "net.0", "layer": "net.1"},
            True,
        ),
    ],
}

NEAR_MISSES: dict[str, str] = {
    "saved_tensor_changed": W + "a = w + 1\na += 1\na.sum().backward()\n",
    "saved_changed_by_step": W
    + "opt = torch.optim.SGD([w], lr=.1)\nfor i in range(2):\n    (w * w).sum().backward()\n    opt.step()\n",
    "saved_changed_in_loop": "cell = nn.RNNCell(2, 3)\nopt = torch.optim.SGD(cell.parameters(), lr=.1)\nh = torch.zeros(1, 3)\nfor i in range(3):\n    h = cell(torch.ones(1, 2), h.detach())\n    h.sum().backward(retain_graph=True)\n    opt.step()\n",
    "saved_changed_since": W
    + "opt = torch.optim.SGD([w], lr=.1)\nfor i in range(2):\n    energy = (w * w).sum()\n    (energy * 2).backward(retain_graph=True)\n    opt.step()\n",
    "changed_by_layer": "net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True))\nnet(torch.ones(2, 3)).sum().backward()\n",
}
