"""What `engine/findings/failing/autograd.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import Row, W, X

MIXED = "class Mix(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.mix = nn.Parameter(torch.zeros(3))\n    def forward(self, x):\n"
MIXES = "Mix()(torch.ones(2, 3)).sum().backward()\n"

TRIGGERS: dict[str, list[Row]] = {
    "parameter_for_result": [
        Row(
            MIXED + "        self.mix = F.softmax(self.mix, dim=0) #<\n        return x * self.mix\n" + MIXES,
            {"name": "self.mix", "attribute": "mix"},
            True,
        ),
        Row(
            MIXED + "        if x.sum() > 0:\n            self.mix = self.mix.exp() #<\n        return x * self.mix\n" + MIXES,
            {"name": "self.mix", "value": "self.mix.exp()"},
        ),
    ],
    "leaf_in_place": [
        Row(W + "w -= 0.1 #<\n", {"name": "w"}, True),
        Row(W + "for i in range(2):\n    w.mul_(0.5) #<\n", {"name": "w", "op": "mul_"}, True),
        Row(W + "x = torch.zeros(2, requires_grad=True)\nx += w.sum() #<\n", {"is_asked": "0"}),
        Row("x = torch.randn(4, 6, requires_grad=True)\nx = F.relu(x, inplace=True) #<\nx = F.dropout(x, 0.1, inplace=True)\nx.sum().backward()\n", {"name": "x", "is_asked": "1"}, True),
        Row("net = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 1))\nx = torch.randn(2, 3, requires_grad=True)\nnet(x).sum().backward() #<\n", {"name": "x", "is_asked": "1"}, True),
    ],
    "output_is_input": [
        Row(
            "class Same(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x\n    @staticmethod\n    def backward(ctx, grad):\n        return -grad\n"
            "h = Same.apply(nn.Linear(3, 2)(torch.ones(4, 3)))\nh *= 3 #<\nh.sum().backward()\n",
            {"function": "Same", "name": "h", "forward_line": "7"},
            True,
        ),
        Row(
            "class Row(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.view(-1)\n    @staticmethod\n    def backward(ctx, grad):\n        return grad.view(2, 2)\n"
            "w = torch.ones(2, 2, requires_grad=True)\nrow = Row.apply(w * 2)\nrow.add_(1) #<\nrow.sum().backward()\n",
            {"function": "Row", "right": "row = row.add(1)"},
            True,
        ),
    ],
    "hooked_layer_in_place": [
        Row(
            "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True)) #<\nnet[0].register_full_backward_hook(lambda m, i, o: None)\nnet(torch.ones(1, 2)).sum().backward()\n",
            {"code": "nn.ReLU(inplace=True)"},
            True,
        ),
        Row(
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n        self.act = nn.ELU(1.0, inplace=True) #<\n    def forward(self, x):\n        return self.act(self.fc(x))\n"
            "net = Net()\nnet.fc.register_full_backward_hook(lambda m, i, o: None)\nnet(torch.ones(1, 2)).sum().backward()\n",
            {},
            True,
        ),
    ],
    "grad_through_checkpoint": [
        Row(
            "from torch.utils.checkpoint import checkpoint\nx = torch.ones(2, 3, requires_grad=True)\nnet = nn.Linear(3, 1)\n"
            "y = checkpoint(net, x, use_reentrant=True) #<\ntorch.autograd.grad(y.sum(), x, create_graph=True)\n",
            {"used_line": "9", "asking": "torch.autograd.grad(...)"},
            True,
        ),
        Row(
            "from torch.utils import checkpoint\nx = torch.ones(2, 3, requires_grad=True)\nnet = nn.Linear(3, 1)\n"
            "y = checkpoint.checkpoint(net, x, use_reentrant=True) #<\ny.sum().backward(inputs=[x])\n",
            {"used_line": "9"},
            True,
        ),
    ],
    "leaf_view_in_place": [
        Row(
            "def fill(E):\n    E[:, 0::2] = torch.FloatTensor(np.sin(np.ones((4, 3)))) #<\nfill(nn.Embedding(4, 6).weight)\n",
            {"name": "E"},
            True,
        ),
        Row(W + "w[0] = 3. #<\n", {"name": "w"}, True),
        Row(
            "def waves(E):\n    E[:, 0::2] = torch.ones(4, 3) #<\n\n    E[:, 1::2] += (\n        2)\n    E.requires_grad = False\nwaves(nn.Embedding(4, 6).weight)\n",
            {"name": "E"},
            True,
        ),
        Row(W + "w[:1].add_(1) #<\n", {"op": "add_"}, True),
    ],
    "no_derivative": [
        Row(W + "y = w // 2 #<\ny.sum().backward()\n", {"used_line": "7"}),
        Row(W + "(w * torch.floor_divide(w, w)).sum().backward() #<\n", {"line": "6"}),
    ],
    "seed_shape": [
        Row(W + "y = w * 2\ny.backward(torch.ones(3)) #<\n", {"name": "y", "given": "[3]", "wanted": "[2]"}),
        Row(W + "torch.autograd.backward(w * 2, torch.tensor(1.)) #<\n", {"given": "[]", "wanted": "[2]"}),
    ],
    "unused_in_grad": [
        Row(
            "t = torch.ones(1, requires_grad=True)\nturn = torch.tensor([[t.cos(), t.sin(), 0], [-t.sin(), t.cos(), 0]], requires_grad=True)\n"
            "torch.autograd.grad(outputs=turn.sum() * t.detach(), inputs=t) #<\n",
            {"name": "t", "output": "turn.sum() * t.detach()", "is_cut": "1"},
        ),
        Row(
            W + "h = (w * 2).detach().requires_grad_()\ntorch.autograd.grad((h * h).sum(), w) #<\n",
            {"name": "w", "is_cut": "1", "cut_line": "6", "cut": "(w * 2).detach()"},
        ),
        Row(
            W
            + "v = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\ng = torch.autograd.grad(loss, [w, v]) #<\n",
            {"name": "v", "output": "loss"},
        ),
        Row(
            "net = nn.ModuleList([nn.Linear(2, 1), nn.Linear(2, 1)])\nloss = net[0](torch.ones(1, 2)).sum()\n"
            "ws = list(net.parameters())\ntorch.autograd.grad(loss, ws) #<\n",
            {"name": "net.1.weight", "is_copied": "0"},
        ),
        Row(
            "import copy\nnet = nn.Linear(3, 1)\nfast = copy.deepcopy(list(net.parameters()))\nfor own, p in zip(net.parameters(), fast):\n    own = p\n"
            "loss = net(torch.ones(2, 3)).mean()\ntorch.autograd.grad(loss, fast) #<\n",
            {"name": "fast[0]", "original": "net.weight", "is_copied": "1"},
        ),
        Row(
            W
            + "v = torch.ones(2, requires_grad=True)\ng, = torch.autograd.grad((v * w * w).sum(), w, create_graph=True)\n"
            "torch.autograd.grad((g.detach() * v).sum(), w) #<\n",
            {"name": "w"},
        ),
        Row(
            W
            + "v = torch.ones(2, requires_grad=True)\ng, = torch.autograd.grad((v * w.detach() * w).sum(), w, create_graph=True)\n"
            "torch.autograd.grad(g.sum(), w) #<\n",
            {"name": "w"},
        ),
    ],
    "grad_asked_untracked": [
        Row(W + "v = torch.ones(2) #<\ntorch.autograd.grad((w * v).sum(), v)\n", {"name": "v"}),
        Row(W + "c = w.detach() #<\ntorch.autograd.grad(w.sum(), inputs=c)\n", {"name": "c", "used_line": "7"}),
    ],
    "untracked_asked": [
        Row("x = torch.ones(2)\nx.retain_grad() #<\n", {"name": "x", "method": "retain_grad"}),
        Row("x = torch.ones(2)\nx.register_hook(print) #<\n", {"method": "register_hook"}),
    ],
    "inference_tensor": [
        Row(
            "net, data = nn.Linear(3, 1), torch.rand(6, 3)\n@torch.inference_mode()\ndef features(x):\n    return x.exp() * 2 #<\nseen = features(data)\nfor at in (0, 3):\n    net(seen[at:at + 3]).sum().backward()\n",
            {"name": "seen", "used_line": "11"},
        ),
        Row(
            W + "with torch.inference_mode():\n    a = torch.ones(2) #<\ny = (a * w).sum()\ny.backward()\n",
            {"name": "a", "used_line": "8"},
        ),
        Row(
            W + "with torch.inference_mode():\n    m = torch.ones(2, 2) * 3 #<\n(m @ w).sum().backward()\n",
            {"name": "m"},
        ),
        Row(
            "net, x = nn.Linear(3, 1), torch.ones(4, 3)\nopt = torch.optim.LBFGS(net.parameters())\nwith torch.inference_mode():\n    seen = x * 2 #<\n"
            "def closure():\n    opt.zero_grad()\n    loss = net(seen).pow(2).mean()\n    loss.backward()\n    return loss\nopt.step(closure)\n",
            {"name": "seen"},
        ),
    ],
    "deepcopy_of_result": [
        Row(W + "import copy\nb = w * 2\nc = copy.deepcopy(b) #<\n", {"name": "b"}, True),
        Row(W + "from copy import deepcopy\nc = deepcopy(w + 1) #<\n", {"name": "w + 1"}, True),
    ],
    "grad_shape": [
        Row(W + "w.grad = torch.ones(3) #<\n", {"name": "w", "given": "[3]", "wanted": "[2]"}),
        Row("v = torch.ones(2, 2)\nv.grad = torch.ones(1) #<\n", {"name": "v"}),
    ],
    "arguments_invalid": [
        Row("torch.rand(2.0, 3) #<\n", {"function": "rand", "got": "float, int"}),
        Row(X + "torch.sum(x, 'rows') #<\n", {"function": "sum"}),
        Row(
            X + "x.masked_fill(x > 0, '-inf') #<\n",
            {"forms": "`masked_fill(Tensor mask, Tensor value)`, `masked_fill(Tensor mask, float value)`"},
        ),
    ],
    "not_a_tensor": [
        Row("y = torch.exp(2.0) #<\n", {"function": "exp", "got": "float"}, True),
        Row("net = nn.Linear(2, 1)\nnet([1., 2.]) #<\n", {"argument": "input", "got": "list"}, True),
        Row("net = nn.Linear(2, 1)\nnet(np.ones(2)) #<\n", {"got": "numpy.ndarray"}),
        Row("from types import SimpleNamespace\nresult = SimpleNamespace(x=torch.ones(2))\ntorch.exp(result) #<\n", {"given": "result"}),
        Row("parts = list((1.0, 2.0))\ntorch.exp(parts) #<\n", {"got": "list"}),
    ],
    "grad_not_a_tensor": [
        Row(W + "w.sum().backward()\nw.grad = 0 #<\n", {"value": "0", "got": "int"}, True),
        Row(W + "w.grad = [1., 1.] #<\n", {"got": "list"}),
    ],
    "unused_part_in_grad": [
        Row(W + "first = w[0] #<\ny = (w * w).sum()\ntorch.autograd.grad(y, first)\n", {"whole": "w", "name": "first"}),
        Row("net = nn.Linear(2, 1)\nxt = torch.ones(5, 2, requires_grad=True)\nt = xt[:, 1:] #<\nu = net(xt)\ntorch.autograd.grad(u.sum(), t)\n", {"whole": "xt"}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "parameter_for_result": MIXED
    + "        with torch.no_grad():\n            self.mix = self.mix / 2\n        return x * self.mix\n"
    + MIXES,
    "output_is_input": "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\n"
    + W
    + "h = Twice.apply(w)\nh *= 3\nh.sum().backward()\n",
    "leaf_in_place": W + "with torch.no_grad():\n    w -= 0.1\n",
    "hooked_layer_in_place": "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())\nnet[0].register_full_backward_hook(lambda m, i, o: None)\nnet(torch.ones(1, 2)).sum().backward()\n",
    "grad_through_checkpoint": "from torch.utils.checkpoint import checkpoint\nx = torch.ones(2, 3, requires_grad=True)\ny = checkpoint(nn.Linear(3, 1), x, use_reentrant=False)\ntorch.autograd.grad(y.sum(), x)\n",
    "leaf_view_in_place": W + "with torch.no_grad():\n    w[0] = 3.\n",
    "no_derivative": W + "y = torch.div(w, 2, rounding_mode='floor')\ny.sum().backward()\n",
    "seed_shape": W + "(w * 2).backward(torch.ones(2))\n",
    "unused_in_grad": W
    + "v = torch.ones(2, requires_grad=True)\ntorch.autograd.grad(w.sum(), [w, v], allow_unused=True)\n",
    "grad_asked_untracked": W + "torch.autograd.grad(w.sum(), w)\n",
    "untracked_asked": W + "y = w * 2\ny.retain_grad()\n",
    "inference_tensor": W + "with torch.inference_mode():\n    a = torch.ones(2)\nprint(a * 2)\n",
    "deepcopy_of_result": W + "import copy\nc = copy.deepcopy(w)\n",
    "grad_shape": W + "w.grad = torch.ones(2)\n",
    "arguments_invalid": "torch.rand(2, 3)\n",
    "not_a_tensor": "torch.exp(torch.tensor(2.0))\n",
    "grad_not_a_tensor": W + "w.sum().backward()\nw.grad = None\n",
    "unused_part_in_grad": W
    + "first = w[0]\ny = torch.ones(2, requires_grad=True).sum()\ntorch.autograd.grad(y, first)\n",
}  # fmt: skip
