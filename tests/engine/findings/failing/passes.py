"""What `engine/findings/failing/passes.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import INIT, LAYERS, NET, Row, W, X

SLOPE = """class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, coming):
        return coming * ctx.saved_tensors[0]
"""

TRIGGERS: dict[str, list[Row]] = {
    "second_backward": [
        Row(
            "encoder, first, second = nn.Linear(4, 3), nn.Linear(3, 1), nn.Linear(3, 1)\none, two = (torch.optim.SGD([*encoder.parameters(), *net.parameters()], lr=.1) for net in (first, second))\n"
            "def update(optimizer, loss):\n    loss.backward() #<\n    optimizer.step()\nfor i in range(3):\n    h = encoder(torch.randn(5, 4)).tanh()\n"
            "    a, b = first(h).mean(), second(h).pow(2).mean()\n    update(one, a)\n    update(two, b)\n",
            {"shared": "h", "is_stepped": "1"},
        ),
        Row(W + "y = (w * w).sum()\ny.backward()\ny.backward() #<\n", {"first_line": "7", "shared": "y", "is_two": "0"}, True),
        Row("G, D = nn.Linear(2, 2), nn.Linear(2, 1)\ng_opt = torch.optim.SGD(G.parameters(), lr=.1)\nd_opt = torch.optim.SGD(D.parameters(), lr=.1)\nscore = D(G(torch.ones(3, 2))).exp()\nscore.mean().backward()\n(-score).mean().backward() #<\n", {"shared": "score", "is_two": "1", "is_whole": "0"}),
        Row(
            W + "h = w.exp()\na = h.sum()\nb = (h * h).sum()\na.backward(torch.tensor(1.))\nb.backward() #<\n",
            {"shared": "h", "shared_line": "6"},
            True,
        ),
    ],
    "argument_changed": [
        Row(W + "def scaled(x):\n    x *= w #<\n    return x\ndata = torch.ones(2)\nfor i in range(3):\n    scaled(data).sum().backward()\n", {"right": "x = x * w", "is_followed": "1"}, True),
        Row(W + "def shaped(x):\n    x.mul_(w) #<\n    return x.exp()\ndata = torch.ones(2)\nfor i in range(3):\n    shaped(data).sum().backward()\n", {"function": "shaped"}, True),
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
            NET + INIT + "        self.rnn = nn.GRU(2, 4)\n        self.h = None\n    def forward(self, x):\n        y, self.h = self.rnn(x, self.h) #<\n        return y\n"
            "net = Net()\nfor i in range(2):\n    net(torch.ones(3, 1, 2)).sum().backward()\n",
            {"shared": "self.h", "is_read": "0"}, True,
        ),
        Row(
            NET + INIT + "        self.register_buffer('memory', torch.zeros(4, 2))\n        self.cell = nn.GRUCell(2, 2)\n"
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
    "gradcheck_differs": [
        Row(
            SLOPE + "x = torch.ones(2, dtype=torch.double, requires_grad=True)\ntorch.autograd.gradcheck(Half.apply, (x,)) #<\n",
            {"function": "gradcheck", "is_double": "1", "is_second": "0", "input": "0"},
        ),
        Row(
            SLOPE + "x = torch.ones(2, requires_grad=True)\ntorch.autograd.gradcheck(Half.apply, x) #<\n",
            {"checked": "Half.apply", "is_double": "0", "dtype": "float32"},
        ),
    ],
    "non_scalar_backward": [
        Row(
            "def train(v):\n    y = v * 2\n    y.backward() #<\ntrain(torch.ones(3, requires_grad=True))\n",
            {"name": "y", "count": "3"},
            True,
        ),
        Row(W + "torch.autograd.grad(w * w, w) #<\n", {"name": "w * w", "shape": "[2]", "is_grad": "1"}, True),
        Row(
            X + "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(3):\n"
            "    loss = (net(x) - 1.0) ** 2\n    opt.zero_grad()\n    loss.backward() #<\n    opt.step()\n",
            {"name": "loss"},
            True,
        ),
    ],
    "complex_loss": [
        Row(
            "net = nn.Linear(4, 4)\ndef far(a, b):\n    return ((torch.fft.fft(a) - torch.fft.fft(b)) ** 2).mean() #<\n"
            "y = net(torch.ones(2, 4))\nloss = y.pow(2).mean() + 0.1 * far(y, torch.ones(2, 4))\nloss.backward()\n",
            {"name": "loss", "is_square": "1", "dtype": "complex64"},
            True,
        ),
        Row(
            "w = torch.ones(3, dtype=torch.cfloat, requires_grad=True)\nerror = w * 2 - 1\nloss = error.pow(2).sum() #<\ntorch.autograd.grad(loss, w)\n",
            {"right": "error.abs().pow(2)"},
            True,
        ),
        Row(
            "w = torch.ones(3, dtype=torch.cfloat, requires_grad=True)\nloss = (w * w.conj()).sum() #<\nloss.backward()\n",
            {"is_square": "0"},
        ),
    ],
    "nothing_requires_grad": [
        Row("x = torch.ones(3)\ny = (x * 2).sum()\ny.backward() #<\n", {"name": "y"}, True),
        Row("a, b = torch.ones(3), torch.ones(3)\n(a * b).sum().backward() #<\n", {"line": "6"}),
        Row(
            "policy = nn.Linear(2, 3)\nchosen = torch.distributions.Categorical(logits=policy(torch.ones(2))).sample()\n"
            "rewards = torch.tensor([float(chosen.item() == 1)])\nloss = -rewards.sum()\nloss.backward() #<\n",
            {"name": "loss", "is_apart": "1"},
        ),
    ],
    "parameters_frozen": [
        Row(
            "class Box:\n    pass\nbox = Box()\nbox.net = nn.Linear(3, 2)\nfor p in box.net.parameters():\n    p.requires_grad = False #<\nbox.net(torch.ones(2, 3)).sum().backward()\n",
            {"is_new": "0"},
        ),
        Row(
            "def freeze(model):\n    for p in model.parameters():\n        p.requires_grad = False #<\nclass Net(nn.Sequential):\n    def __init__(self):\n        super().__init__()\n        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 9)\n"
            "net = Net()\nnet.head = nn.Linear(4, 2)\nfreeze(net)\nnet(torch.ones(2, 3)).sum().backward()\n",
            {"is_new": "1", "new": "net.head", "new_line": "13"},
        ),
        Row(
            "table = nn.Embedding.from_pretrained(torch.randn(5, 3)) #<\nuser = nn.Embedding.from_pretrained(torch.randn(4, 3), freeze=True)\nloss = (table(torch.tensor([1, 2])) * user(torch.tensor([0, 3]))).sum()\nloss.backward()\n",
            {"is_table": "1"},
        ),
        Row(
            "net = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))\nnet.requires_grad_(False) #<\nscores = [net(torch.ones(2, 3)).sum() for i in range(2)]\ntorch.stack(scores).mean().backward()\n",
            {},
        ),
        Row(
            X
            + "net = nn.Linear(3, 1)\nfor p in net.parameters():\n    p.requires_grad = False #<\nnet(x).sum().backward()\n",
            {"is_new": "0", "line": "9"},
        ),
        Row(
            X + "net = nn.Linear(3, 1).requires_grad_(False) #<\nloss = net(x).mean()\nloss.backward()\n",
            {"name": "loss"},
        ),
    ],
    "checkpoint_without_gradient": [
        Row(
            "from torch.utils.checkpoint import checkpoint\nembedding, layer = nn.Embedding(5, 3).requires_grad_(False), nn.Linear(3, 1)\nh = embedding(torch.arange(4))\n"
            "loss = checkpoint(layer, h, use_reentrant=True).mean() #<\nloss.backward()\n",
            {"names": "layer.weight, layer.bias", "is_lost": "1"},
            True,
        ),
        Row(
            "from torch.utils.checkpoint import checkpoint\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))\n"
            "    def run(self, x):\n        return self.layers[1](self.layers[0](x).tanh())\n    def forward(self, x):\n        return checkpoint(self.run, x, use_reentrant=True) #<\n"
            "net = Net()\nwith torch.no_grad():\n    print(net(torch.ones(2, 3)).mean())\ntotal = sum({'mean': net(torch.ones(2, 3)).mean()}.values())\ntotal.backward()\n",
            {"is_lost": "1"},
            True,
        ),
    ],
    "sample_without_gradient": [
        Row("mean = torch.zeros(3, requires_grad=True)\nx = torch.distributions.Normal(mean, 1.0).sample() #<\n(x ** 2).sum().backward()\n", {"is_all": "1", "leaves": "mean", "pass_line": "7"}, True),
        Row("net = nn.Linear(2, 1)\ndef act(x):\n    return torch.distributions.Normal(net(x), 1.0).sample() #<\nloss = act(torch.ones(4, 2)).pow(2).mean()\nloss.backward()\n", {"leaves": "net.weight, net.bias"}, True),
    ],
    "graph_lost": [
        Row(
            "net = nn.Linear(2, 1)\nweights = dict(net.state_dict()) #<\nloss = torch.func.functional_call(net, weights, (torch.ones(3, 2),)).sum()\nloss.backward()\n",
            {"op": "detach", "name": "loss", "pass_line": "8"},
        ),
        Row(
            "class Student:\n    def __init__(self):\n        self.net = nn.Linear(2, 1)\n        self.fast = {key: value.clone() for key, value in self.net.state_dict().items()} #<\n"
            "    def loss(self, x):\n        return (x @ self.fast['weight'].t() + self.fast['bias']).pow(2).mean()\nstudent = Student()\ntotal = {'fit': student.loss(torch.ones(3, 2))}['fit']\ntotal.backward()\n",
            {"name": "total", "is_off": "0"},
        ),
    ],
    "cut_by_integer": [
        Row(
            "class Level(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        levels = torch.tensor([-1, 0, 1])\n"
            "        return levels[(x.unsqueeze(1) - levels).abs().argmin(1)]\n    @staticmethod\n    def backward(ctx, coming):\n        return coming\n"
            + W + "q = Level.apply(w * 2) #<\n(q * 0.5).sum().backward()\n",
            {"op": "Level", "dtype": "int64", "is_function": "1"},
        ),
        Row(W + "y = w.argmax().float() #<\ny.backward()\n", {"op": "argmax", "dtype": "int64", "value": "w"}),
        Row(W + "right = (w > 1) #<\nright.float().mean().backward()\n", {"op": ">", "dtype": "bool"}),
    ],
    "create_graph_missing": [
        Row(
            W + "(g,) = torch.autograd.grad((w**3).sum(), w)  #<\n(g * g).sum().backward()\n", {"first_line": "6"}, True
        ),
        Row(
            "x = torch.tensor(2., requires_grad=True)\ny = x**3\nslope = torch.autograd.grad(y, x, retain_graph=True)[0]  #<\n"
            "torch.autograd.grad(slope, x)\n",
            {"name": "slope", "first_line": "7"},
            True,
        ),
        Row(
            W + "def residual(w):\n    u = w**3\n    first = torch.autograd.grad(u, w, torch.ones_like(u))[0] #<\n"
            "    return torch.autograd.grad(first, w, torch.ones_like(u))[0]\nloss = residual(w).sum() + w.sum()\nloss.backward()\n",
            {"first_line": "8"},
            True,
        ),
    ],
    "cut_by_item": [
        Row(W + "loss = w.sum().item() * torch.ones(1)  #<\nloss.backward()\n", {"leaf": "w"}, True),
        Row(W + "loss = torch.tensor((w.sum().item() - 10) ** 2)  #<\nloss.backward()\n", {"leaf": "w", "op": ".item()"}),
        Row(W + "loss = float(w.sum() * 2) * torch.ones(1)  #<\nloss.backward()\n", {"leaf": "w", "op": "float(…)"}, True),
        Row("import math\n" + W + "loss = math.sqrt(w.sum()) * torch.ones(1)  #<\nloss.backward()\n", {"leaf": "w", "op": "math.sqrt(…)"}),
    ],
    "cut_by_detach": [
        Row(W + "y = (w * 2).detach().sum() #<\ny.backward()\n", {"leaf": "w"}, True),
        Row(W + "y = w.data.sum() #<\ny.backward()\n", {"leaf": "w"}, True),
    ],
    "cut_by_tensor": [
        Row(W + "loss = torch.tensor((w * 2).sum()) #<\nloss.backward()\n", {"leaf": "w"}, True),
        Row(W + "v = torch.tensor(w + 1) #<\nv.sum().backward()\n", {"leaf": "w"}, True),
    ],
    "saved_tensor_changed": [
        Row("m = torch.ones(1, requires_grad=True)\nx = torch.zeros(1)\nloss = 0\nfor i in range(3):\n    x.detach_()\n    x.copy_(m.exp()) #<\n    loss += (x ** 2).sum()\nloss.backward()\n", {"name": "x"}, True),
        Row(W + "a = w.exp()\na += 1 #<\na.sum().backward()\n", {"name": "a", "saved_line": "6", "version": "1"}, True),
        Row(
            W + "h = w * 1\ny = h * h\nh[0] = 5 #<\ny.sum().backward()\n",
            {"name": "h", "op": "*", "change": "setitem"},
            True,
        ),
        Row(
            "net = nn.Linear(3, 2)\ndef run(x):\n    h = net(x)\n    h[:, 1] = F.elu(h[:, 1]) + 1 #<\n    return h\nout = run(torch.ones(4, 3))\nout.sum().backward()\n",
            {"name": "h", "saved_line": "8"},
            True,
        ),
        Row(W + "a = w * 1\na += a ** 2 #<\na.sum().backward()\n", {"name": "a"}, True),
        Row("cells = [nn.GRUCell(2, 2), nn.GRUCell(2, 2)]\nstate = torch.zeros(2, 3, 2)\nx = torch.ones(3, 2)\nfor t in range(3):\n    for i, cell in enumerate(cells):\n        state[i] = cell(x, state[i]) #<\n        x = state[i]\nstate[-1].sum().backward()\n", {"name": "state"}, True),
        Row(W + "grid = torch.zeros(4, 2)\nbefore = w.exp()\nfor t in range(1, 4):\n    grid[t] = (before * grid[t - 1] + w).tanh() #<\n    before = grid[t]\ngrid[-1].sum().backward()\n", {"name": "grid"}, True),
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
            NET + INIT + "        self.fc, self.h, self.c = nn.Linear(2, 2), torch.ones(2), torch.ones(2)\n    def forward(self):\n        self.c = torch.tanh(self.fc(self.h)) * self.c\n        self.h = self.c.sigmoid()\n        return self.h.sum()\n"
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
        Row(W + "y = (w * w).sum() #<\nfor i in range(2):\n    y.backward()\n    w.data -= 0.1 * w.grad\n", {"shared": "y", "used_line": "8"}),
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
        Row(W + "opt = torch.optim.SGD([w], lr=.1)\ns = w * torch.ones(2)\nprint(s.shape)\ny = s.exp() #<\nfor i in range(2):\n    opt.zero_grad()\n    y.sum().backward()\n    opt.step()\n", {"shared": "y", "shared_lines": "7, 9"}),
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
    "changed_by_layer": [
        Row("net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))\nnet(torch.ones(2, 3)).sum().backward() #<\n", {"op": "sigmoid", "saver": "net.1", "layer": "net.2"}, True),
        Row("net = nn.Sequential(nn.Tanh(), nn.Hardtanh(inplace=True))\n" + W + "y = net(w) #<\ny.sum().backward()\n", {"saver": "net.0", "layer": "net.1"}, True),
    ],
    "cut_by_no_grad": [
        Row("net = nn.Linear(2, 1)\ndef loss(x):\n    return net(x).mean() #<\nwith torch.no_grad():\n    loss(torch.ones(3, 2)).backward()\n", {"is_both": "1", "is_block": "0", "pass_line": "9"}),
        Row("net = nn.Linear(2, 1)\nwith torch.no_grad():\n    out = net(torch.ones(3, 2)) #<\nout.mean().backward()\n", {"leaf": "net.weight, net.bias"}),
        Row(W + "with torch.no_grad():\n    loss = (w * 2).sum() #<\nloss.backward()\n", {"leaf": "w"}),
        Row("class Energy(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = nn.Linear(2, 1)\n    def forward(self, pos):\n        pos = pos.clone().requires_grad_(True)\n        e = self.net(pos).sum() #<\n        return -torch.autograd.grad(e, pos, create_graph=True)[0]\nmodel = Energy()\nmodel(torch.randn(4, 2)).pow(2).mean().backward()\nwith torch.no_grad():\n    print(model(torch.randn(4, 2)))\n", {"leaf": "pos", "is_own": "1"}),
        Row("net = nn.Linear(2, 1)\ndef push(x):\n    with torch.no_grad():\n        e = net(x) #<\n    return torch.autograd.grad(e.sum(), x)[0]\npush(torch.randn(4, 2, requires_grad=True))\n", {"is_own": "0", "is_block": "1"}),
        Row("net = nn.Linear(2, 1)\ndef scores(x):\n    return net(x) #<\n@torch.no_grad()\ndef predict(x):\n    return scores(x) * 2\npredict(torch.ones(3, 2)).sum().backward()\n", {"is_marked": "1", "function": "predict", "marked_line": "9", "is_block": "0"}),
    ],
    "cut_by_decorator": [
        Row(LAYERS + "    @torch.no_grad() #<\n    def forward(self, x):\n        return self.fc1(x)\nNet()(torch.ones(2, 3)).sum().backward()\n", {"decorator": "torch.no_grad()"}, True),
        Row("net = nn.Linear(2, 1)\n@torch.inference_mode() #<\ndef loss_of(x):\n    return net(x).mean()\nloss_of(torch.ones(2, 2)).backward()\n", {"decorator": "torch.inference_mode()"}, True),
        Row("class Q(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.f = nn.Linear(2, 1)\n    @torch.no_grad() #<\n    def forward(self, x):\n        return self.f(x)\nnow, old = Q(), Q()\nold.load_state_dict(now.state_dict())\nopt = torch.optim.SGD(now.parameters(), lr=.1)\nloss = F.mse_loss(now(torch.ones(3, 2)), 1 + old(torch.ones(3, 2)))\nopt.zero_grad()\nloss.backward()\nopt.step()\n", {"leaf": "now.f.weight, now.f.bias"}, True),
    ],
    "recording_switched_off": [
        Row("net = nn.Linear(2, 1)\ndef evaluate():\n    torch.set_grad_enabled(False) #<\n    return net(torch.ones(1, 2)).item()\nevaluate()\nnet(torch.ones(1, 2)).sum().backward()\n", {"used_line": "10"}),
        Row(W + "torch.set_grad_enabled(False) #<\nloss = (w * w).sum()\nloss.backward()\n", {"name": "loss"}),
    ],
    "rebound_without_graph": [
        Row(W + "for i in range(2):\n    (w * w).sum().backward()\n    with torch.no_grad():\n        w = w - 0.1 * w.grad #<\n", {"name": "w"}, True),
        Row("b = torch.zeros(1, requires_grad=True)\n(b * 2).sum().backward()\nwith torch.no_grad():\n    b = b.clone() * 2 #<\n(b * 3).sum().backward()\n", {"name": "b"}),
    ],
    "asked_too_late": [
        Row("x = torch.ones(3)\ny = (x * 2).sum()\nx.requires_grad_(True) #<\ny.backward()\n", {"name": "x", "used_line": "6"}),
        Row("x = torch.ones(3)\ny = x.exp()\nx.requires_grad = True #<\ny.sum().backward()\n", {"name": "x"}),
    ],
    "second_backward_detach": [
        Row("G, D = nn.Linear(2, 2), nn.Linear(2, 1)\ng = torch.optim.SGD(G.parameters(), lr=.1)\nd = torch.optim.SGD(D.parameters(), lr=.1)\nfor i in range(2):\n    fake = G(torch.ones(3, 2))\n    D(fake).mean().backward()\n    g.step()\nscores = D(fake) #<\nscores.sum().backward()\nd.step()\n", {"shared": "fake", "use_line": "12"}, True),
        Row(
            "G, D = nn.Linear(2, 2), nn.Linear(2, 1)\nd = torch.optim.SGD(D.parameters(), lr=.1)\nfake = G(torch.ones(3, 2))\n"
            "D(fake).mean().backward() #<\nd.step()\nD(fake).sum().backward()\n",
            {"shared": "fake", "line": "10"}, True,
        ),
        Row(
            "actor, critic = nn.Linear(2, 1), nn.Linear(2, 1)\nc = torch.optim.SGD(critic.parameters(), lr=.1)\nx = torch.ones(3, 2)\n"
            "gain = 1 - critic(x)\n(gain ** 2).mean().backward()\nc.step()\nloss = -(actor(x).exp() * gain).mean() #<\nloss.backward()\n",
            {"shared": "gain", "use_line": "11"}, True,
        ),
    ],
    "list_not_emptied": [
        Row(W + "terms = []\nfor turn in range(3):\n    for i in range(2):\n        terms.append((w * i * w).sum()) #<\n    sum(terms).backward()\n", {"list": "terms"}, True),
        Row(W + "kept, signs = [], []\nfor turn in range(2):\n    y = (w * w).sum()\n    kept.append(y) #<\n    signs.append(1.)\n    (torch.stack(kept) * torch.tensor(signs)).sum().backward()\n", {"value": "y"}, True),
    ],
    "second_backward_after_grad": [
        Row(W + "y = (w ** 3).sum()\nfirst = torch.autograd.grad(y, w)[0] #<\nagain = torch.autograd.grad(y, w)[0]\n(first * again).sum().backward()\n", {"used_line": "8"}, True),
        Row(W + "y = (w ** 2).sum()\nslope = torch.autograd.grad(y, w)[0] #<\nif True:\n    torch.autograd.grad(y, w)\n(w * slope).sum().backward()\n", {"shared": "y"}, True),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "second_backward": W + "y = (w * w).sum()\ny.backward(retain_graph=True)\ny.backward()\n",
    "argument_changed": W + "def scaled(x):\n    x = x * w\n    return x\ndata = torch.ones(2)\nfor i in range(3):\n    data = scaled(data)\n    data.sum().backward()\n",
    "second_backward_in_loop": W
    + "h = torch.zeros(2)\nfor i in range(2):\n    h = torch.tanh(h.detach() * w)\n    h.sum().backward()\n",
    "gradcheck_differs": SLOPE.replace("[0]", "[0] * 2") + "x = torch.ones(2, dtype=torch.double, requires_grad=True)\nassert torch.autograd.gradcheck(Half.apply, (x,))\n",
    "non_scalar_backward": W + "(w * w).backward(torch.ones(2))\n",
    "complex_loss": "w = torch.ones(3, dtype=torch.cfloat, requires_grad=True)\n(w.abs() ** 2).sum().backward()\n",
    "nothing_requires_grad": W + "y = w.argmax().float()\ny.backward()\n",
    "parameters_frozen": X + "net = nn.Linear(3, 1)\nnet.bias.requires_grad = False\nnet(x).sum().backward()\n",
    "checkpoint_without_gradient": "from torch.utils.checkpoint import checkpoint\nnet, x = nn.Linear(2, 1), torch.ones(3, 2)\nwith torch.no_grad():\n    loss = checkpoint(net, x, use_reentrant=True).mean()\nloss.backward()\n",
    "sample_without_gradient": "mean = torch.zeros(3, requires_grad=True)\nx = torch.distributions.Normal(mean, 1.0).rsample()\n(x ** 2).sum().backward()\n",
    "graph_lost": "net = nn.Linear(2, 1)\nsaved = dict(net.state_dict())\nnet(torch.ones(3, 2)).sum().backward()\n",
    "cut_by_integer": W + "right = (w > 1).float().mean()\nw.sum().backward()\n",
    "create_graph_missing": W
    + "(g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)\n(g * g).sum().backward()\n",
    "cut_by_item": W + "print(w.sum().item())\n(w * 2).sum().backward()\n",
    "cut_by_detach": W + "y = (w.detach() * w).sum()\ny.backward()\n",
    "cut_by_tensor": W + "y = (torch.tensor([1., 2.]) * w).sum()\ny.backward()\n",
    "saved_tensor_changed": W + "a = w + 1\na += 1\na.sum().backward()\n",
    "saved_changed_by_step": W
    + "opt = torch.optim.SGD([w], lr=.1)\nfor i in range(2):\n    (w * w).sum().backward()\n    opt.step()\n",
    "saved_changed_in_loop": "cell = nn.RNNCell(2, 3)\nopt = torch.optim.SGD(cell.parameters(), lr=.1)\nh = torch.zeros(1, 3)\nfor i in range(3):\n    h = cell(torch.ones(1, 2), h.detach())\n    h.sum().backward(retain_graph=True)\n    opt.step()\n",
    "saved_changed_since": W
    + "opt = torch.optim.SGD([w], lr=.1)\nfor i in range(2):\n    energy = (w * w).sum()\n    (energy * 2).backward(retain_graph=True)\n    opt.step()\n",
    "made_in_init": NET + INIT + "        self.w = nn.Parameter(torch.ones(3))\n    def forward(self, x):\n        return x * self.w.softmax(0)\n"
    "net = Net()\nopt = torch.optim.Adam(net.parameters())\nfor i in range(2):\n    net(torch.ones(2, 3)).pow(2).sum().backward()\n    opt.step()\n",
    "made_before_loop": W + "y = w * w\nfor i in range(2):\n    y[i].backward()\n",
    "changed_by_layer": "net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True))\nnet(torch.ones(2, 3)).sum().backward()\n",
    "cut_by_no_grad": "net = nn.Linear(2, 1)\nwith torch.no_grad():\n    print(net(torch.ones(3, 2)))\nnet(torch.ones(3, 2)).mean().backward()\n",
    "cut_by_decorator": "net = nn.Linear(2, 1)\n@torch.no_grad()\ndef evaluate(x):\n    return net(x)\nevaluate(torch.ones(1, 2))\nnet(torch.ones(1, 2)).sum().backward()\n",
    "recording_switched_off": W + "torch.set_grad_enabled(False)\nprint(w * 2)\ntorch.set_grad_enabled(True)\n(w * w).sum().backward()\n",
    "rebound_without_graph": W + "(w * w).sum().backward()\nwith torch.no_grad():\n    w -= 0.1 * w.grad\n    old = w - 1\n(w * w).sum().backward()\n",
    "asked_too_late": "x = torch.ones(3)\nprint(x.sum())\nx.requires_grad_()\n(x * 2).sum().backward()\n",
    "second_backward_detach": "trunk, p, v = nn.Linear(2, 2), nn.Linear(2, 1), nn.Linear(2, 1)\nopt = torch.optim.SGD([*trunk.parameters(), *p.parameters(), *v.parameters()], lr=.1)\nh = trunk(torch.ones(3, 2))\na, b = p(h).mean(), v(h).exp().mean()\na.backward()\nopt.step()\nb.backward()\nnet, head = nn.Linear(2, 2), nn.Linear(2, 1)\nh = net(torch.ones(3, 2))\nhead(h).mean().backward()\nh.exp().sum().backward()\n",
    "list_not_emptied": W
    + "for turn in range(2):\n    terms = []\n    terms.append((w * w).sum())\n    sum(terms).backward()\n",
    "second_backward_after_grad": W + "y = (w ** 3).sum()\ntorch.autograd.grad(y, w)\ny.backward()\n",
}  # fmt: skip
