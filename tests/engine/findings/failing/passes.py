"""What `engine/findings/failing/passes.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import LAYERS, Row, W, X

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
    "gradcheck_differs": [
        Row(
            SLOPE
            + "x = torch.ones(2, dtype=torch.double, requires_grad=True)\ntorch.autograd.gradcheck(Half.apply, (x,)) #<\n",
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
        Row(
            "x = torch.tensor([1., 3.], requires_grad=True)\nmoved = torch.tensor([1., 3.])\n(x ** 2).sum().backward()\n"
            "moved = moved + 0.1 * x.grad.sign()\nloss = (moved ** 2).sum()\nloss.backward() #<\n",
            {"name": "loss", "is_apart": "0"},
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
        Row(
            "mean = torch.zeros(3, requires_grad=True)\nx = torch.distributions.Normal(mean, 1.0).sample() #<\n(x ** 2).sum().backward()\n",
            {"is_all": "1", "leaves": "mean", "pass_line": "7"},
            True,
        ),
        Row(
            "net = nn.Linear(2, 1)\ndef act(x):\n    return torch.distributions.Normal(net(x), 1.0).sample() #<\nloss = act(torch.ones(4, 2)).pow(2).mean()\nloss.backward()\n",
            {"leaves": "net.weight, net.bias"},
            True,
        ),
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
            + W
            + "q = Level.apply(w * 2) #<\n(q * 0.5).sum().backward()\n",
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
        Row(
            W + "(w**3).sum().backward()  #<\npenalty = w.grad.norm()\npenalty.backward()\n",
            {"name": "penalty", "is_left": "1", "is_summed": "1"},
        ),
        Row(
            "class Curved(torch.optim.Optimizer):\n    def step(self):\n        for p in self.param_groups[0]['params']:\n"
            "            slope = (p.grad * torch.randn_like(p)).sum()\n            bend = torch.autograd.grad(slope, p)[0]\n"
            "            p.data -= p.grad / bend.abs()\n"
            + W
            + "opt = Curved([w], {})\n(w**3).sum().backward()  #<\nopt.step()\n",
            {"name": "slope", "is_left": "1", "is_summed": "0"},
        ),
    ],
    "cut_by_item": [
        Row(W + "loss = w.sum().item() * torch.ones(1)  #<\nloss.backward()\n", {"leaf": "w"}, True),
        Row(
            W + "loss = torch.tensor((w.sum().item() - 10) ** 2)  #<\nloss.backward()\n", {"leaf": "w", "op": ".item()"}
        ),
        Row(
            W + "loss = float(w.sum() * 2) * torch.ones(1)  #<\nloss.backward()\n",
            {"leaf": "w", "op": "float(…)"},
            True,
        ),
        Row(
            "import math\n" + W + "loss = math.sqrt(w.sum()) * torch.ones(1)  #<\nloss.backward()\n",
            {"leaf": "w", "op": "math.sqrt(…)"},
        ),
    ],
    "cut_by_detach": [
        Row(W + "y = (w * 2).detach().sum() #<\ny.backward()\n", {"leaf": "w"}, True),
        Row(W + "y = w.data.sum() #<\ny.backward()\n", {"leaf": "w"}, True),
    ],
    "cut_by_tensor": [
        Row(W + "loss = torch.tensor((w * 2).sum()) #<\nloss.backward()\n", {"leaf": "w"}, True),
        Row(W + "v = torch.tensor(w + 1) #<\nv.sum().backward()\n", {"leaf": "w"}, True),
    ],
    "cut_by_no_grad": [
        Row(
            "net = nn.Linear(2, 1)\ndef loss(x):\n    return net(x).mean() #<\nwith torch.no_grad():\n    loss(torch.ones(3, 2)).backward()\n",
            {"is_both": "1", "is_block": "0", "pass_line": "9"},
        ),
        Row(
            "net = nn.Linear(2, 1)\nwith torch.no_grad():\n    out = net(torch.ones(3, 2)) #<\nout.mean().backward()\n",
            {"leaf": "net.weight, net.bias"},
        ),
        Row(W + "with torch.no_grad():\n    loss = (w * 2).sum() #<\nloss.backward()\n", {"leaf": "w"}),
        Row(
            "class Energy(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = nn.Linear(2, 1)\n    def forward(self, pos):\n        pos = pos.clone().requires_grad_(True)\n        e = self.net(pos).sum() #<\n        return -torch.autograd.grad(e, pos, create_graph=True)[0]\nmodel = Energy()\nmodel(torch.randn(4, 2)).pow(2).mean().backward()\nwith torch.no_grad():\n    print(model(torch.randn(4, 2)))\n",
            {"leaf": "pos", "is_own": "1"},
        ),
        Row(
            "net = nn.Linear(2, 1)\ndef push(x):\n    with torch.no_grad():\n        e = net(x) #<\n    return torch.autograd.grad(e.sum(), x)[0]\npush(torch.randn(4, 2, requires_grad=True))\n",
            {"is_own": "0", "is_block": "1"},
        ),
        Row(
            "net = nn.Linear(2, 1)\ndef scores(x):\n    return net(x) #<\n@torch.no_grad()\ndef predict(x):\n    return scores(x) * 2\npredict(torch.ones(3, 2)).sum().backward()\n",
            {"is_marked": "1", "function": "predict", "marked_line": "9", "is_block": "0"},
        ),
    ],
    "cut_by_decorator": [
        Row(
            LAYERS
            + "    @torch.no_grad() #<\n    def forward(self, x):\n        return self.fc1(x)\nNet()(torch.ones(2, 3)).sum().backward()\n",
            {"decorator": "torch.no_grad()"},
            True,
        ),
        Row(
            "net = nn.Linear(2, 1)\n@torch.inference_mode() #<\ndef loss_of(x):\n    return net(x).mean()\nloss_of(torch.ones(2, 2)).backward()\n",
            {"decorator": "torch.inference_mode()"},
            True,
        ),
        Row(
            "class Q(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.f = nn.Linear(2, 1)\n    @torch.no_grad() #<\n    def forward(self, x):\n        return self.f(x)\nnow, old = Q(), Q()\nold.load_state_dict(now.state_dict())\nopt = torch.optim.SGD(now.parameters(), lr=.1)\nloss = F.mse_loss(now(torch.ones(3, 2)), 1 + old(torch.ones(3, 2)))\nopt.zero_grad()\nloss.backward()\nopt.step()\n",
            {"leaf": "now.f.weight, now.f.bias"},
            True,
        ),
    ],
    "recording_switched_off": [
        Row(
            "net = nn.Linear(2, 1)\ndef evaluate():\n    torch.set_grad_enabled(False) #<\n    return net(torch.ones(1, 2)).item()\nevaluate()\nnet(torch.ones(1, 2)).sum().backward()\n",
            {"used_line": "10"},
        ),
        Row(W + "torch.set_grad_enabled(False) #<\nloss = (w * w).sum()\nloss.backward()\n", {"name": "loss"}),
    ],
    "rebound_without_graph": [
        Row(
            W
            + "for i in range(2):\n    (w * w).sum().backward()\n    with torch.no_grad():\n        w = w - 0.1 * w.grad #<\n",
            {"name": "w"},
            True,
        ),
        Row(
            "b = torch.zeros(1, requires_grad=True)\n(b * 2).sum().backward()\nwith torch.no_grad():\n    b = b.clone() * 2 #<\n(b * 3).sum().backward()\n",
            {"name": "b"},
        ),
    ],
    "asked_too_late": [
        Row(
            "x = torch.ones(3)\ny = (x * 2).sum()\nx.requires_grad_(True) #<\ny.backward()\n",
            {"name": "x", "used_line": "6"},
        ),
        Row("x = torch.ones(3)\ny = x.exp()\nx.requires_grad = True #<\ny.sum().backward()\n", {"name": "x"}),
    ],
}

NEAR_MISSES: dict[str, str] = {
    "gradcheck_differs": SLOPE.replace("[0]", "[0] * 2")
    + "x = torch.ones(2, dtype=torch.double, requires_grad=True)\nassert torch.autograd.gradcheck(Half.apply, (x,))\n",
    "non_scalar_backward": W + "(w * w).backward(torch.ones(2))\n",
    "complex_loss": "w = torch.ones(3, dtype=torch.cfloat, requires_grad=True)\n(w.abs() ** 2).sum().backward()\n",
    "nothing_requires_grad": W + "y = w.argmax().float()\ny.backward()\n",
    "parameters_frozen": X + "net = nn.Linear(3, 1)\nnet.bias.requires_grad = False\nnet(x).sum().backward()\n",
    "checkpoint_without_gradient": "from torch.utils.checkpoint import checkpoint\nnet, x = nn.Linear(2, 1), torch.ones(3, 2)\nwith torch.no_grad():\n    loss = checkpoint(net, x, use_reentrant=True).mean()\nloss.backward()\n",
    "sample_without_gradient": "mean = torch.zeros(3, requires_grad=True)\nx = torch.distributions.Normal(mean, 1.0).rsample()\n(x ** 2).sum().backward()\n",
    "graph_lost": "net = nn.Linear(2, 1)\nsaved = dict(net.state_dict())\nnet(torch.ones(3, 2)).sum().backward()\n",
    "cut_by_integer": W + "right = (w > 1).float().mean()\nw.sum().backward()\n",
    "create_graph_missing": W
    + "(g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)\n(g * g).sum().backward()\n"
    + "(w**3).sum().backward(create_graph=True)\ntorch.autograd.grad(w.grad.sum(), w)\n",
    "cut_by_item": W + "print(w.sum().item())\n(w * 2).sum().backward()\n",
    "cut_by_detach": W + "y = (w.detach() * w).sum()\ny.backward()\n",
    "cut_by_tensor": W + "y = (torch.tensor([1., 2.]) * w).sum()\ny.backward()\n",
    "cut_by_no_grad": "net = nn.Linear(2, 1)\nwith torch.no_grad():\n    print(net(torch.ones(3, 2)))\nnet(torch.ones(3, 2)).mean().backward()\n",
    "cut_by_decorator": "net = nn.Linear(2, 1)\n@torch.no_grad()\ndef evaluate(x):\n    return net(x)\nevaluate(torch.ones(1, 2))\nnet(torch.ones(1, 2)).sum().backward()\n",
    "recording_switched_off": W
    + "torch.set_grad_enabled(False)\nprint(w * 2)\ntorch.set_grad_enabled(True)\n(w * w).sum().backward()\n",
    "rebound_without_graph": W
    + "(w * w).sum().backward()\nwith torch.no_grad():\n    w -= 0.1 * w.grad\n    old = w - 1\n(w * w).sum().backward()\n",
    "asked_too_late": "x = torch.ones(3)\nprint(x.sum())\nx.requires_grad_()\n(x * 2).sum().backward()\n",
}
