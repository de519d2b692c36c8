"""Programs that fail because something else was given, kept or written than was meant. `#<` ends the line a finding names."""

from tests.engine.findings.failing import NET, Row, W, X

INIT = "    def __init__(self):\n        super().__init__()\n"
LAYERS = NET + INIT + "        self.fc1 = nn.Linear(3, 4)\n        self.fc2 = nn.Linear(4, 2)\n"
SQUARE = (
    "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):{mark}\n{saved}        return x * x\n"
    "    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        return 2 * x * g\n"
)
SAVES = "        ctx.save_for_backward(x)\n"
DATA = "from torch.utils.data import DataLoader, Dataset, TensorDataset\n"
LSTM = (
    NET
    + INIT
    + "        self.lstm = nn.LSTM(5, 8)\n        self.out = nn.Linear(8, 2)\n    def forward(self, x):\n{body}"
    "Net()(torch.ones(3, 1, 5))\n"
)

GIVEN: dict[str, list[Row]] = {
    "layer_not_called": [
        Row(
            LAYERS + "    def forward(self, x):\n        x = F.relu(self.fc1) #<\n        return self.fc2(x)\nNet()(X)\n".replace("X", "torch.ones(2, 3)"),
            {"layer": "self.fc1", "type": "Linear", "right": "self.fc1(x)"}, True,
        ),
        Row("act = nn.Sigmoid()\ny = torch.exp(act) #<\n", {"layer": "act", "function": "exp"}),
    ],
    "layer_not_made": [
        Row(
            LAYERS + "    def forward(self, x):\n        x = nn.ReLU(self.fc1(x)) #<\n        return self.fc2(x)\nNet()(torch.ones(2, 3))\n",
            {"layer": "nn.ReLU"}, True,
        ),
        Row(X + "p = nn.Sigmoid(x) #<\nprint(p.sum())\n", {"right": "nn.Sigmoid()(x)"}, True),
    ],
    "none_for_tensor": [
        Row("target = None\nF.mse_loss(torch.ones(2, requires_grad=True) * 1, torch.ones(2)).backward()\ntorch.exp(target) #<\n", {"function": "exp", "argument": "input"}),
        Row("nn.CrossEntropyLoss()(torch.ones(2, 3), None) #<\n", {"argument": "target"}),
    ],
    "recurrent_pair": [
        Row(LSTM.format(body="        out = self.lstm(x) #<\n        return self.out(out)\n"), {"type": "LSTM", "name": "out"}, True),
        Row("gru = nn.GRU(2, 3)\ny = gru(torch.ones(4, 1, 2)) #<\nlast = y[:, -1]\n", {"layer": "gru", "name": "y"}, True),
        Row(LSTM.format(body="        return self.out(self.lstm(x)) #<\n"), {"layer": "self.lstm"}, True),
    ],
    "list_method_result": [
        Row("xs = []\nxs = xs.append(torch.ones(2)) #<\ntorch.stack(xs)\n", {"receiver": "xs", "used_line": "7"}, True),
        Row("names = ['b', 'a']\nnames = names.sort() #<\nprint(names.index('a'))\n", {"method": "sort"}, True),
        Row("w = torch.ones(3, requires_grad=True)\nopt = torch.optim.SGD([w], lr=.1)\nfor i in range(3):\n    opt.zero_grad()\n    w.sum().backward()\n    opt = opt.step() #<\n", {"name": "opt", "is_pass": "0"}, True),
        Row("import random\ndata = [1, 2]\ndata = random.shuffle(data) #<\nfor x in data:\n    print(x)\n", {"receiver": "random"}, True),
    ],
    "tensors_not_listed": [
        Row("a, b = torch.ones(2), torch.zeros(2)\nc = torch.cat(a, b) #<\n", {"names": "a, b", "function": "cat"}, True),
        Row(X + "torch.stack(x, x, dim=0) #<\n", {"function": "stack"}, True),
    ],
    "size_not_whole": [
        Row("n = 10 / 2 #<\nx = torch.zeros(n, 3)\n", {"name": "n", "used_line": "6"}, True),
        Row("torch.ones(6).view(2, 6 / 2) #<\n", {"name": "6 / 2"}, True),
        Row("width = 4.0\nnn.Linear(width, 2) #<\n", {"name": "width"}, True),
    ],
    "compared_as_wholes": [
        Row("pred = torch.ones(3)\nlabels = [1, 1, 1]\nprint((pred == labels).sum()) #<\n", {"compared": "pred == labels", "attribute": "sum"}),
        Row("a, b = 'x', 'y'\n(a == b).float() #<\n", {"attribute": "float"}),
    ],
    "pair_returned": [
        Row("pred = torch.max(torch.ones(4, 3), 1)\nacc = (pred == torch.zeros(4)).float().mean() #<\n", {"op": "max", "name": "pred"}, True),
        Row("best = torch.ones(4, 3).max(dim=1)\nhits = best == torch.zeros(4)\nprint(best + 1) #<\n", {"op": "max"}, True),
    ],
    "tied_transposed": [
        Row("enc, dec = nn.Linear(3, 2), nn.Linear(2, 3)\ndec.weight = enc.weight.t() #<\n", {"name": "dec.weight", "shared": "enc.weight"}),
        Row("net = nn.Module()\nnet.up, net.down = nn.Linear(3, 2), nn.Linear(2, 3)\nnet.down.weight = net.up.weight.T #<\n", {"shared": "net.up.weight", "attribute": "weight"}),
    ],
    "value_not_tensor": [
        Row("m = torch.distributions.Categorical(torch.ones(3))\na = m.sample().item()\nm.log_prob(a).exp() #<\n", {"name": "m", "given": "a"}, True),
        Row("normal = torch.distributions.Normal(0., 1.)\nprint(normal.log_prob(0.5)) #<\n", {"given": "0.5"}, True),
    ],
    "parameter_overwritten": [
        Row("net = nn.Linear(2, 1)\nnet.weight = torch.ones(1, 2) #<\n", {"name": "net.weight", "attribute": "weight"}, True),
        Row("net = nn.Linear(2, 1)\nnet.bias = net.bias.detach() * 2 #<\nnet(torch.ones(1, 2))\n", {"owner": "net"}, True),
    ],
    "layer_overwritten": [
        Row(LAYERS + "    def forward(self, x):\n        self.fc1 = self.fc1(x) #<\n        return self.fc1\nNet()(torch.ones(1, 3))\n", {"name": "self.fc1"}),
        Row("net = nn.Sequential(nn.Linear(2, 2))\nouter = nn.Sequential(net)\nouter.net = nn.Linear(1, 1)\nouter.net = torch.ones(1) #<\n", {"attribute": "net"}),
    ],
    "modules_in_list": [
        Row("layers = [nn.Linear(2, 4), nn.ReLU()]\nnet = nn.Sequential(layers) #<\n", {"written": "layers"}, True),
        Row("net = nn.Sequential([nn.Linear(2, 1)]) #<\n", {"container": "nn.Sequential"}, True),
    ],
    "layer_class_given": [
        Row("net = nn.Sequential(\n    nn.Linear(2, 4),\n    nn.ReLU, #<\n)\n", {"written": "nn.ReLU"}),
        Row("net = nn.ModuleList([nn.Linear]) #<\n", {"container": "nn.ModuleList"}),
    ],
    "function_among_layers": [
        Row("net = nn.Sequential(nn.Linear(2, 4), F.relu) #<\n", {"written": "F.relu", "right": "nn.ReLU()"}, True),
        Row("net = nn.Sequential(nn.Linear(2, 4), torch.tanh, nn.Linear(4, 1)) #<\n", {"written": "torch.tanh"}, True),
    ],
    "optimizer_all_frozen": [
        Row(
            "net = nn.Linear(2, 1)\nfor p in net.parameters():\n    p.requires_grad = False\nopt = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters())) #<\n",
            {"asked": "p.requires_grad", "frozen_lines": "7", "count": "2"},
        ),
        Row(
            "net = nn.Linear(2, 1)\nnet.requires_grad_(False)\nopt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=.1) #<\n",
            {"frozen_lines": "6"},
        ),
        Row(
            "class Setup:\n    def __init__(self, net, train):\n        self.net = net\n        for name, part in net.named_children():\n            part.requires_grad_(train[name])\n"
            "    def trained(self):\n        for p in self.net.parameters():\n            if p.requires_grad:\n                yield p\n    def optimizer(self):\n        return torch.optim.AdamW(self.trained(), lr=1e-3) #<\n"
            "net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))\nSetup(net, {'0': False, '1': False}).optimizer()\n",
            {"asked_line": "12", "frozen_lines": "9", "count": "4"},
        ),
    ],
    "optimizer_given_used_up": [
        Row(
            "net = nn.Linear(2, 1)\nparams = net.parameters()\nprint(sum(p.numel() for p in params))\nopt = torch.optim.SGD(params, lr=.1) #<\n",
            {"name": "params", "made": "net.parameters()", "first_line": "7"},
            True,
        ),
        Row(
            "def train(net):\n    chosen = filter(lambda p: p.dim() > 1, net.parameters())\n    names = len(list(chosen))\n    return torch.optim.Adam(chosen) #<\ntrain(nn.Linear(2, 1))\n",
            {"name": "chosen", "first_line": "7"},
            True,
        ),
    ],
    "optimizer_empty_list": [
        Row(
            NET + INIT + "        self.layers = [nn.Linear(1, 1)] #<\nnet = Net()\nopt = torch.optim.Adam(net.parameters())\n",
            {"name": "self.layers", "better": "nn.ModuleList", "used_line": "10"}, True,
        ),
        Row(
            NET + INIT + "        self.parts = {'a': nn.Linear(1, 1)} #<\ntorch.optim.SGD(Net().parameters(), lr=.1)\n",
            {"type": "dict", "better": "nn.ModuleDict"}, True,
        ),
    ],
    "super_init_not_called": [
        Row(NET + "    def __init__(self):\n        super().__init__ #<\n        self.w = nn.Parameter(torch.ones(2))\nNet()\n", {"cls": "Net"}, True),
        Row(NET + "    def __init__(self):\n        super(Net, self).__init__ #<\n        self.a = nn.Linear(1, 1)\nnet = Net()\n", {"cls": "Net"}, True),
    ],
    "forward_inside_init": [
        Row(
            "class Block(nn.Module):\n" + INIT + "        def forward(self, x): #<\n            return x\nBlock()(torch.ones(2))\n",
            {"cls": "Block"}, True,
        ),
        Row(
            LAYERS + "        def forward(self, x): #<\n            x = self.fc1(x)\n\n            return self.fc2(x)\nnet = Net()\nnet(torch.ones(2, 3))\n",
            {"cls": "Net"}, True,
        ),
    ],
    "self_left_out": [
        Row(LAYERS + "    def forward(self, x):\n        return self.fc2(fc1(x)) #<\nNet()(torch.ones(1, 3))\n", {"name": "fc1"}, True),
        Row("class A:\n    def __init__(self):\n        self.rate = 2\n    def f(self):\n        return rate * 2 #<\nA().f()\n", {"name": "rate"}, True),
    ],
    "layer_missing": [
        Row(LAYERS + "    def forward(self, x):\n        return self.head(x) #<\nNet()(torch.ones(1, 3))\n", {"name": "head", "parts": "fc1, fc2"}),
        Row(LAYERS + "    def forward(self, x):\n        return self.fc1(x)\nnet = Net()\nprint(net(torch.ones(1, 3)))\nnet.softmax_layer #<\n", {"owner": "Net"}),
    ],
    "number_taken_out": [
        Row(W + "loss = (w * w).sum().item() #<\nloss.backward()\n", {"name": "loss", "used_line": "7"}, True),
        Row(W + "loss = float(w.sum()) #<\nloss.backward()\n", {"name": "loss", "type": "float"}, True),
    ],
    "grad_none_never_computed": [
        Row(W + "with torch.no_grad():\n    w -= 0.1 * w.grad #<\n", {"name": "w"}),
        Row(W + "step = w.grad * 2 #<\n", {"grad": "w.grad"}),
    ],
    "function_not_static": [
        Row(SQUARE.replace("    @staticmethod\n", "").format(mark=" #<", saved=SAVES) + W + "Square()(w).sum().backward()\n", {"cls": "Square"}, True),
        Row(SQUARE.replace("    @staticmethod\n", "").format(mark=" #<", saved=SAVES) + W + "square = Square()\ny = square(w)\n", {"cls": "Square"}, True),
    ],
    "function_not_applied": [
        Row(SQUARE.format(mark="", saved=SAVES) + W + "y = Square.forward(w) #<\n", {"written": "Square.forward(w)"}, True),
        Row(SQUARE.format(mark="", saved=SAVES) + W + "y = Square()(w) #<\n", {"cls": "Square"}, True),
    ],
    "custom_backward_shape": [
        Row(
            SQUARE.format(mark="", saved=SAVES).replace("return 2 * x * g", "return (2 * x * g).sum(0, keepdim=True).expand(3) #<") + W + "Square.apply(w).sum().backward()\n",
            {"input": "x", "got": "[3]", "wanted": "[2]"},
        ),
        Row(
            "class Add(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n        return a + b\n    @staticmethod\n"
            "    def backward(ctx, g):\n        return g, g.repeat(2) #<\n" + W + "Add.apply(w, w * 1).sum().backward()\n",
            {"input": "b", "got": "[4]"},
        ),
    ],
    "saved_count": [
        Row(SQUARE.format(mark=" #<", saved="") + W + "Square.apply(w).sum().backward()\n", {"names": "x", "got": "0"}, True),
        Row(
            SQUARE.format(mark="", saved="        ctx.save_for_backward(x, x * 2) #<\n") + W + "Square.apply(w).sum().backward()\n",
            {"expected": "1", "got": "2"},
        ),
    ],
    "dataset_method_missing": [
        Row(DATA + "class DS(Dataset): #<\n    def __getitem__(self, i):\n        return i\nfor b in DataLoader(DS(), batch_size=2, shuffle=True):\n    pass\n", {"method": "__len__", "cls": "DS"}),
        Row(DATA + "class DS(Dataset): #<\n    def __len__(self):\n        return 4\nnext(iter(DataLoader(DS())))\n", {"method": "__getitem__"}),
    ],
    "dataset_method_misspelt": [
        Row(DATA + "class DS(Dataset):\n    def __getitem__(self, i):\n        return i\n    def __lens__(self):\n        return 4\n    def _len__(self): #<\n        return 4\nfor b in DataLoader(DS()):\n    pass\n", {"method": "__len__", "name": "_len__"}, True),
        Row(DATA + "class DS(Dataset):\n    def __len__(self):\n        return 4\n    def getitem(self, i): #<\n        return i\nnext(iter(DataLoader(DS())))\n", {"name": "getitem"}, True),
    ],
    "turn_parts": [
        Row(DATA + "loader = DataLoader(TensorDataset(torch.ones(6, 2)), batch_size=2)\nfor x, y in loader: #<\n    pass\n", {"names": "x, y", "value": "loader"}),
        Row("for a, b in torch.ones(2, 3): #<\n    pass\n", {"expected": "2", "is_numbered": "0"}),
        Row(DATA + "for i, (x, y) in DataLoader(TensorDataset(torch.ones(6, 2), torch.ones(6)), batch_size=3): #<\n    pass\n", {"is_numbered": "1"}, True),
        Row(DATA + "def train(data):\n    for i, (x, y) in data: #<\n        print(i, x.shape)\ntrain(DataLoader(TensorDataset(torch.ones(6, 2), torch.ones(6)), batch_size=3))\n", {"value": "data"}, True),
    ],
    "enumerate_parts": [
        Row(DATA + "loader = DataLoader(TensorDataset(torch.ones(4, 2), torch.ones(4)))\nfor i, x, y in enumerate(loader): #<\n    print(x.shape)\n", {"right": "i, (x, y)"}, True),
        Row("pairs = [(1, 2), (3, 4)]\nfor n, a, b in enumerate(pairs): #<\n    print(a + b)\n", {"value": "enumerate(pairs)"}, True),
    ],
    "channels_last": [
        Row("conv = nn.Conv2d(3, 8, 3)\nconv(torch.ones(16, 32, 32, 3)) #<\n", {"order": "0, 3, 1, 2", "wanted": "3", "got": "32"}, True),
        Row("image = torch.ones(28, 28, 1)\nnet = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU())\nnet(image) #<\n", {"order": "2, 0, 1", "layer": "net.0"}, True),
    ],
    "t_of_batch": [
        Row("x = torch.ones(2, 3, 4)\ny = x.t() #<\n", {"name": "x", "axes": "3"}, True),
        Row("q = torch.ones(2, 3, 4)\nscores = q @ q.t() #<\n", {"shape": "[2, 3, 4]"}, True),
    ],
    "two_inferred": [
        Row(X + "x.view(-1, -1) #<\n", {"name": "x", "count": "6"}),
        Row(X + "y = torch.reshape(x, (-1, 2, -1)) #<\n", {"shape": "[2, 3]"}),
    ],
    "expanded_written": [
        Row("x = torch.zeros(3, 1).expand(3, 4) #<\nx += 1\n", {"name": "x", "shape": "[3, 4]"}, True),
        Row("row = torch.zeros(4)\ntable = row.expand(2, 4) #<\ntable.mul_(2)\n", {"name": "table"}, True),
    ],
    "bce_out_of_range": [
        Row("net = nn.Linear(2, 1)\nnn.init.ones_(net.weight)\nloss = nn.BCELoss()(net(torch.ones(3, 2)), torch.ones(3, 1)) #<\n", {"loss": "binary_cross_entropy"}, True),
        Row("score = torch.tensor([2.5], requires_grad=True)\nF.binary_cross_entropy(score, torch.ones(1)).backward() #<\n", {"value": "2.5", "name": "score"}, True),
    ],
    "bce_target_range": [
        Row("p = torch.tensor([.5, .5])\nlabels = torch.tensor([1., 2.])\nF.binary_cross_entropy(p, labels) #<\n", {"value": "2", "name": "labels"}),
        Row("crit = nn.BCELoss()\ncrit(torch.sigmoid(torch.ones(2)), torch.tensor([-1., 1.])) #<\n", {"value": "-1"}),
    ],
    "heads_do_not_divide": [
        Row("nn.MultiheadAttention(10, 3) #<\n", {"code": "nn.MultiheadAttention(10, 3)"}),
        Row("layer = nn.TransformerEncoderLayer(d_model=10, nhead=4) #<\n", {"line": "5"}),
    ],
    "list_never_filled": [
        Row(
            "class Ensemble(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.heads = nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 1)])\n    def forward(self, x):\n        votes = []\n"
            "        for head in self.heads:\n            vote = head(x)\n        return torch.stack(votes).mean(0) #<\nEnsemble()(torch.ones(2, 3))\n",
            {"name": "votes", "made_line": "10"},
        ),
        Row("parts = list()\nfor row in torch.ones(3, 2):\n    part = row * 2\nwhole = torch.cat(parts, dim=0) #<\n", {"made": "list()"}),
    ],
    "list_empty": [
        Row(
            "kept = []\nfor row in torch.ones(3, 2):\n    if row.sum() > 5:\n        kept.append(row)\nprint(torch.vstack(kept)) #<\n",
            {"name": "kept", "is_skipped": "1", "fill_line": "8"},
        ),
        Row("def long(words):\n    found = [torch.ones(2) for word in words if len(word) > 9]\n    return torch.cat(found) #<\nlong(['a', 'b'])\n", {"is_skipped": "0"}),
    ],
    "made_before_loop": [
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
        Row(W + "y = (w * w).sum() #<\nfor i in range(2):\n    y.backward()\n", {"shared": "y", "used_line": "8"}),
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
        Row("net = nn.Linear(2, 1)\nwith torch.no_grad():\n    out = net(torch.ones(3, 2)) #<\nout.mean().backward()\n", {"leaf": "net.weight, net.bias"}),
        Row(W + "with torch.no_grad():\n    loss = (w * 2).sum() #<\nloss.backward()\n", {"leaf": "w"}),
        Row("class Energy(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = nn.Linear(2, 1)\n    def forward(self, pos):\n        pos = pos.clone().requires_grad_(True)\n        e = self.net(pos).sum() #<\n        return -torch.autograd.grad(e, pos, create_graph=True)[0]\nmodel = Energy()\nmodel(torch.randn(4, 2)).pow(2).mean().backward()\nwith torch.no_grad():\n    print(model(torch.randn(4, 2)))\n", {"leaf": "pos", "is_own": "1"}),
        Row("net = nn.Linear(2, 1)\ndef push(x):\n    with torch.no_grad():\n        e = net(x) #<\n    return torch.autograd.grad(e.sum(), x)[0]\npush(torch.randn(4, 2, requires_grad=True))\n", {"is_own": "0"}),
    ],
    "cut_by_decorator": [
        Row(LAYERS + "    @torch.no_grad() #<\n    def forward(self, x):\n        return self.fc1(x)\nNet()(torch.ones(2, 3)).sum().backward()\n", {"decorator": "torch.no_grad()"}),
        Row("net = nn.Linear(2, 1)\n@torch.inference_mode() #<\ndef loss_of(x):\n    return net(x).mean()\nloss_of(torch.ones(2, 2)).backward()\n", {"decorator": "torch.inference_mode()"}),
    ],
    "recording_switched_off": [
        Row("net = nn.Linear(2, 1)\ndef evaluate():\n    torch.set_grad_enabled(False) #<\n    return net(torch.ones(1, 2)).item()\nevaluate()\nnet(torch.ones(1, 2)).sum().backward()\n", {"used_line": "10"}),
        Row(W + "torch.set_grad_enabled(False) #<\nloss = (w * w).sum()\nloss.backward()\n", {"name": "loss"}),
    ],
    "rebound_without_graph": [
        Row(W + "for i in range(2):\n    (w * w).sum().backward()\n    with torch.no_grad():\n        w = w - 0.1 * w.grad #<\n", {"name": "w"}, True),
        Row("b = torch.zeros(1, requires_grad=True)\n(b * 2).sum().backward()\nwith torch.no_grad():\n    b = b.clone() * 2 #<\n(b * 3).sum().backward()\n", {"name": "b"}),
    ],
    "clip_of_nothing": [
        Row("net = nn.Linear(2, 1)\nnn.utils.clip_grad_value_(net.parameters(), 1.0) #<\n", {"line": "6"}),
        Row("net = nn.Linear(2, 1)\nloss = net(torch.ones(3, 2)).mean()\ntorch.nn.utils.clip_grad_value_(net.parameters(), 0.5) #<\nloss.backward()\n", {"line": "7"}),
    ],
    "target_one_hot": [
        Row("logits = torch.randn(4, 3)\ny = F.one_hot(torch.tensor([0, 1, 2, 1]), 3)\nF.cross_entropy(logits, y) #<\n", {"target": "y", "op": "cross_entropy"}, True),
        Row("crit = nn.CrossEntropyLoss()\nrows = torch.eye(3).long()\nloss = crit(torch.randn(3, 3), rows) #<\n", {"target": "rows", "shape": "[3, 3]"}, True),
    ],
    "batch_flattened": [
        Row("net = nn.Linear(784, 10)\nx = torch.rand(32, 1, 28, 28)\nnet(x.view(-1)) #<\n", {"samples": "32", "wanted": "784"}, True),
        Row("net = nn.Linear(4, 1)\nx = torch.rand(3, 2, 2)\nflat = x.flatten() #<\nnet(flat)\n", {"samples": "3", "layer": "net"}, True),
    ],
    "channel_axis_missing": [
        Row("conv = nn.Conv2d(1, 4, 3)\nconv(torch.rand(8, 28, 28)) #<\n", {"shape": "[8, 28, 28]", "got": "8"}, True),
        Row("x = torch.rand(5, 9, 9)\nnet = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())\nnet(x) #<\n", {"name": "x", "layer": "net.0"}, True),
    ],
    "lstm_state": [
        Row("lstm = nn.LSTM(3, 5)\nh0 = torch.zeros(1, 2, 5)\nout, h = lstm(torch.randn(7, 2, 3), h0) #<\n", {"name": "h0"}, True),
        Row("net = nn.LSTM(2, 2)\nnet(torch.randn(4, 1, 2), torch.zeros(1, 1, 2)) #<\n", {"layer": "net"}),
    ],
    "hidden_size": [
        Row("rnn = nn.RNN(3, 5, batch_first=True)\nh0 = torch.zeros(1, 7, 5)\nrnn(torch.randn(2, 7, 3), h0) #<\n", {"wanted": "1, 2, 5", "got": "1, 7, 5"}),
        Row("lstm = nn.LSTM(3, 5)\ns = torch.zeros(2, 2, 5)\nlstm(torch.randn(7, 2, 3), (s, s)) #<\n", {"layer": "lstm"}),
    ],
    "hidden_axes": [
        Row("lstm = nn.LSTM(3, 5, batch_first=True)\nh0 = torch.zeros(1, 5)\nlstm(torch.randn(2, 7, 3), (h0, h0)) #<\n", {"wanted": "3", "got": "2", "input_shape": "[2, 7, 3]"}),
        Row("gru = nn.GRU(3, 5)\nstate = torch.zeros(1, 1, 5)\ngru(torch.randn(7, 3), state) #<\n", {"layer": "gru", "wanted": "2", "got": "3"}),
    ],
    "norm_features": [
        Row("net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(4))\nnet(torch.randn(3, 4)) #<\n", {"wanted": "4", "got": "8", "layer": "net.1"}, True),
        Row("norm = nn.BatchNorm2d(num_features=3)\nnorm(torch.randn(2, 6, 4, 4)) #<\n", {"got": "6"}, True),
    ],
    "norm_shape": [
        Row("norm = nn.LayerNorm(10)\nnorm(torch.randn(2, 8)) #<\n", {"wanted": "10", "got": "2, 8"}),
        Row("F.layer_norm(torch.randn(2, 8), (4,)) #<\n", {"wanted": "4"}),
    ],
    "gather_axes": [
        Row("x = torch.randn(3, 4)\nbest = torch.tensor([0, 1, 2])\nx.gather(1, best) #<\n", {"other": "best", "axis": "1"}, True),
        Row("x = torch.randn(4)\ntorch.gather(x, 0, torch.zeros(2, 2, dtype=torch.long)) #<\n", {"name": "x"}),
        Row("labels = torch.tensor([0, 2])\nhot = torch.zeros(2, 3).scatter_(1, labels, 1.) #<\n", {"other": "labels", "op": "scatter_", "is_gather": "0"}, True),
        Row("at, parts = torch.tensor([0, 2]), torch.ones(2, 4)\ntorch.zeros(3, 4).scatter_add(0, at, parts) #<\n", {"op": "scatter_add", "is_alone": "0"}),
    ],
    "split_sizes": [
        Row("from torch.utils.data import random_split\nrandom_split(range(10), [6, 3]) #<\n", {"line": "6"}),
        Row("from torch.utils.data import TensorDataset, random_split\ndata = TensorDataset(torch.ones(4))\na, b = random_split(data, [3, 2]) #<\n", {"line": "7"}),
    ],
    "dataset_sizes": [
        Row("from torch.utils.data import TensorDataset\nTensorDataset(torch.randn(10, 2), torch.randn(9)) #<\n", {"line": "6"}),
        Row("from torch.utils.data import TensorDataset as Data\ndata = Data(torch.ones(2), torch.ones(3)) #<\n", {"line": "6"}),
    ],
    "closure_missing": [
        Row(W + "opt = torch.optim.LBFGS([w])\n(w * w).sum().backward()\nopt.step() #<\n", {"line": "8"}),
        Row("net = nn.Linear(1, 1)\nbfgs = torch.optim.LBFGS(net.parameters())\nnet(torch.ones(1, 1)).sum().backward()\nbfgs.step() #<\n", {"code": "bfgs.step()"}),
    ],
    "learning_rate_invalid": [
        Row(W + "torch.optim.SGD([w], lr=-0.1) #<\n", {"value": "-0.1"}),
        Row(W + "opt = torch.optim.Adam([w], -1) #<\n", {"value": "-1"}),
    ],
    "list_by_tensor": [
        Row("xs = []\nfor i in range(4):\n    sound = torch.ones(3) * i\n    xs.append(sound)\nfor rows in torch.randperm(4).split(2):\n    batch = xs[rows] #<\n", {"name": "xs", "count": "2", "made": "torch.stack(xs)"}, True),
        Row("class Data:\n    def __init__(self):\n        self.labels = [0, 1, 1]\ndata = Data()\nkept = torch.tensor(data.labels) == 1\ndata.labels[kept] #<\n", {"name": "data.labels", "place": "kept", "is_alike": "0"}),
    ],
    "tensor_of_text": [
        Row("labels = torch.tensor(['cat', 'dog']) #<\n", {"line": "5"}),
        Row("torch.tensor([['1', '2']]) #<\n", {"line": "5", "is_array": "0"}),
        Row("rows = [line.split(',') for line in ('1,2', '3,4.5')]\nx = torch.from_numpy(np.array(rows)) #<\n", {"is_read": "1"}, True),
        Row("table = np.array([[1, 2.5], ['3', 4]], dtype=object)\nx = torch.tensor(table[:, 0]) #<\n", {"is_objects": "1"}, True),
    ],
    "tensor_append": [
        Row("t = torch.tensor([1.0])\nt.append(2.0) #<\n", {"name": "append"}),
        Row("t = torch.tensor([1.0])\nt.extend([2.0]) #<\n", {"name": "extend"}),
    ],
    "division_of_nothing": [
        Row("total, seen = 3.0, []\nprint(total / len(seen)) #<\n", {"divisor": "len(seen)"}),
        Row("count = 0\nmean = 5 // count #<\n", {"divisor": "count"}),
    ],
    "method_as_value": [
        Row("cell = nn.RNNCell(2, 3)\nh = torch.zeros(1, 3)\nh = h.detach #<\nh = cell(torch.ones(1, 2), h)\n", {"method": "h.detach"}, True),
    ],
    "already_number": [
        Row("acc = torch.tensor(0.5)\nprint(acc.item().item()) #<\n", {"name": "acc.item()", "type": "float"}, True),
        Row("total = 0\nprint(total.mean()) #<\n", {"name": "total", "attribute": "mean"}),
    ],
    "mask_dtype": [
        Row("m = torch.tril(torch.ones(3, 3))\na = torch.ones(3, 3).masked_fill(m, 0.0) #<\n", {"name": "m", "dtype": "float32"}, True),
        Row("x, keep = torch.ones(2), torch.tensor([0, 1])\nx.masked_fill_(keep, 9.) #<\n", {"dtype": "int64"}, True),
    ],
    "second_backward_in_loop": [
        Row(
            NET + INIT + "        self.rnn = nn.GRU(2, 4)\n        self.h = None\n    def forward(self, x):\n        y, self.h = self.rnn(x, self.h) #<\n        return y\n"
            "net = Net()\nfor i in range(2):\n    net(torch.ones(3, 1, 2)).sum().backward()\n",
            {"shared": "self.h"}, True,
        ),
    ],
    "asked_too_late": [
        Row("x = torch.ones(3)\ny = (x * 2).sum()\nx.requires_grad_(True) #<\ny.backward()\n", {"name": "x", "used_line": "8"}),
        Row("x = torch.ones(3)\ny = x.exp()\nx.requires_grad = True #<\ny.sum().backward()\n", {"name": "x"}),
    ],
}  # fmt: skip

TOLD_BY_VALUES: dict[str, list[Row]] = {
    "class_not_made": [
        Row(LAYERS + "    def forward(self, x):\n        return self.fc1(x)\nmodel = Net #<\nopt = torch.optim.SGD(model.parameters(), lr=.1)\n", {"cls": "Net"}, True),
        Row("crit = nn.MSELoss #<\nprint(crit(torch.ones(2), torch.zeros(2)))\n", {"name": "crit"}, True),
        Row(LAYERS + "    def forward(self, x):\n        return self.fc1(x)\ndef run(model):\n    return model(torch.ones(1, 3))\nnet = Net #<\nrun(net)\n", {"name": "model", "cls": "Net"}, True),
    ],
    "loss_swapped": [
        Row("y, p = torch.tensor([0, 1]), torch.ones(2, 3)\nF.cross_entropy(y, p) #<\n", {"name": "y", "other": "p"}, True),
        Row("crit = nn.NLLLoss()\ny, p = torch.tensor([0, 1]), torch.ones(2, 3)\ncrit(y, p) #<\n", {"dtype": "int64"}, True),
    ],
    "joined_tensors": [
        Row("a, b = torch.ones(3) > 0, torch.ones(3) > 1\nboth = (a and b).sum() #<\n", {"word": "and", "sign": "&"}, True),
        Row("x = torch.ones(3)\nif x > 0 or x < -1: #<\n    pass\n", {"sign": "|", "shape": "[3]"}),
    ],
    "second_backward_detach": [
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
    "none_asked": [
        Row("best = None\nfor loss in torch.ones(2):\n    print(best.item()) #<\n", {"receiver": "best", "made_line": "5"}),
        Row("def f():\n    h = None\n    return h.detach() #<\nf()\n", {"name": "detach", "made_line": "6"}),
    ],
    "none_by_default": [
        Row("def scaled(x, scale=None):\n    return x * scale.exp() #<\nw = torch.ones(2, requires_grad=True)\nscaled(w, torch.ones(2)).sum().backward()\nscaled(w).sum().backward()\n", {"argument": "scale", "call_line": "9"}),
        Row(
            "class Conv(nn.Module):\n    def message(self, x, weight):\n        return weight.view(-1, 1) * x #<\n"
            "    def forward(self, x, edges=None):\n        if x.size(0) > 9:\n            edges = torch.ones(10)\n        return self.message(x, edges)\n"
            "Conv()(torch.ones(2, 3))\n",
            {"receiver": "weight", "argument": "edges", "function": "forward", "call_line": "12"},
        ),
    ],
    "cat_scalars": [
        Row("losses = [torch.ones(2).sum(), torch.ones(3).mean()]\ntorch.cat(losses).mean() #<\n", {"count": "2"}, True),
        Row("a = torch.tensor(1.)\ntorch.cat([a, a, a]) #<\n", {"count": "3"}, True),
    ],
    "class_axis": [
        Row("scores, tags = torch.ones(2, 5, 3), torch.zeros(2, 5).long()\nF.cross_entropy(scores, tags) #<\n", {"order": "0, 2, 1", "classes": "3"}, True),
        Row("crit = nn.CrossEntropyLoss()\npixels = torch.ones(2, 4, 5, 3)\ncrit(pixels, torch.zeros(2, 4, 5).long()) #<\n", {"name": "pixels"}, True),
    ],
    "features_last": [
        Row("conv = nn.Conv1d(16, 4, 3)\nwords = torch.ones(2, 9, 16)\nconv(words) #<\n", {"order": "0, 2, 1", "got": "9"}, True),
        Row("x = torch.ones(2, 5, 6, 7, 3)\nnn.Conv3d(3, 4, 3)(x) #<\n", {"order": "0, 4, 1, 2, 3"}, True),
    ],
    "grad_none_made_untracked": [
        Row("ws = [torch.ones(2, requires_grad=True)]\nws[0].sum().backward()\nwith torch.no_grad():\n    ws[0] = ws[0] - ws[0].grad #<\n    ws[0].grad.zero_()\n", {"name": "ws[0]"}),
        Row(W + "w.sum().backward()\nwith torch.no_grad():\n    w = w * 2 #<\nprint(w.grad.sum())\n", {"op": "*"}),
        Row(W + "v = torch.ones(2, requires_grad=True)\nfor i in range(2):\n    (w * v).sum().backward()\n    with torch.no_grad():\n        w = w - 0.1 * w.grad #<\n        v = v - 0.1 * v.grad\n    w.requires_grad_(True)\n    v.requires_grad_(True)\n    w.grad.zero_()\n    v.grad.zero_()\n", {"name": "w"}, True),
        Row(W + "w.sum().backward()\nw = (w - 0.1 * w.grad).detach().requires_grad_() #<\nw.grad.zero_()\n", {"name": "w", "op": "detach"}),
    ],
    "grad_not_a_tensor": [
        Row(W + "w.sum().backward()\nw.grad = 0 #<\n", {"value": "0", "got": "int"}, True),
        Row(W + "w.grad = [1., 1.] #<\n", {"got": "list"}),
    ],
    "sample_is_none": [
        Row(DATA + "class DS(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        if i > 1:\n            return i\n        i + 1 #<\nfor b in DataLoader(DS()):\n    pass\n", {"cls": "DS"}, True),
        Row(DATA + "class DS(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        print(i) #<\nnext(iter(DataLoader(DS())))\n", {"used_line": "11"}),
    ],
    "state_dict_inside": [
        Row("net = nn.Linear(2, 1)\nsaved = {'epoch': 1, 'model': net.state_dict()}\nnet.load_state_dict(saved) #<\n", {"key": "model", "given": "saved"}, True),
        Row("net = nn.Linear(2, 1)\nnet.load_state_dict({'state_dict': net.state_dict()}) #<\n", {"key": "state_dict"}, True),
    ],
    "pair_inside": [
        Row("net = nn.Sequential(nn.GRU(2, 3), nn.Linear(3, 1))\nnet(torch.ones(4, 1, 2)) #<\n", {"layer": "net.0"}),
        Row("net = nn.Sequential(nn.RNN(2, 3), nn.Flatten())\nnet(torch.ones(4, 1, 2)) #<\n", {"layer": "net.0"}),
        Row("seq = nn.Sequential(nn.LSTM(2, 3), nn.ReLU())\ny = seq(torch.ones(4, 1, 2)) #<\n", {"type": "LSTM"}),
    ],
    "operand_other": [
        Row(X + "act = nn.ReLU()\ny = x + act #<\n", {"other": "act", "got": "ReLU"}),
        Row(X + "y = x * {} #<\n", {"got": "dict"}),
    ],
    "tensor_method_asked": [
        Row("xs = [1., 2.]\nxs.mean() #<\n", {"receiver": "xs", "owner": "list"}),
        Row("names = ('cat', 'dog')\nnames.to('cpu') #<\n", {"name": "to", "owner": "tuple"}),
    ],
    "not_a_tensor_inside": [
        Row("both = nn.Bilinear(2, 2, 1)\nboth(torch.ones(1, 2), 'b') #<\n", {"got": "str"}),
        Row("both = nn.Bilinear(2, 2, 1)\nboth(3, torch.ones(1, 2)) #<\n", {"got": "int"}),
    ],
    "called_back": [
        Row("def keep(module, output):\n    print(output)\nnet = nn.Linear(2, 1)\nnet.register_forward_hook(keep)\nnet(torch.ones(1, 2)) #<\n", {"function": "keep", "defined_line": "5"}),
        Row(W + "def seen():\n    pass\nw.register_hook(seen)\nw.sum().backward() #<\n", {"takes": "0", "given": "1"}),
    ],
    "raised_by_program": [
        Row("def check(n):\n    if n > 1:\n        raise ValueError('too many') #<\ncheck(2)\n", {"type": "ValueError"}),
        Row("class Odd(Exception):\n    pass\nraise Odd() #<\n", {"type": "Odd"}),
    ],
    "assertion_failed": [
        Row(X + "assert x.shape == (3, 2) #<\n", {"line": "6"}),
        Row("def f(n):\n    assert n > 3, n #<\nf(1)\n", {"type": "AssertionError"}),
    ],
    "op_refused": [
        Row(X + "torch.linalg.inv(x) #<\n", {"op": "linalg_inv"}),
        Row(X + "F.binary_cross_entropy(x, 1) #<\n", {"values": "1: int; x: float32 [2, 3]"}),
        Row("w = torch.ones(2)\nF.cross_entropy(torch.ones(4, 3), torch.zeros(4).long(), weight=w) #<\n", {"op": "cross_entropy"}),
    ],
    "call_refused": [
        Row("memory = [1, 2]\nimport random\nrandom.sample(memory, 5) #<\n", {"values": "memory: list"}),
        Row("text = 'three'\nint(text) #<\n", {"type": "ValueError"}),
    ],
    "line_stopped": [
        Row("import json\njson.loads('{') #<\n", {"type": "JSONDecodeError"}),
        Row("next(iter([])) #<\n", {"type": "StopIteration"}),
    ],
    "batch_first_missing": [
        Row("x = torch.ones(5, 7, 3)\nrnn = nn.GRU(3, 4) #<\nrnn(x, torch.zeros(1, 5, 4))\n", {"samples": "5", "used_line": "7"}, True),
        Row(NET + INIT + "        self.rnn = nn.LSTM(3, 4) #<\n    def forward(self, x):\n        h = torch.zeros(1, x.size(0), 4)\n        return self.rnn(x, (h, h))\nNet()(torch.ones(5, 7, 3))\n", {"input": "x"}, True),
    ],
    "cat_rounded": [
        Row("e = torch.ones(1, 2, 15, 15)\nd = F.max_pool2d(e, 2) #<\nu = F.interpolate(d, scale_factor=2)\ntorch.cat([u, e], 1)\n", {"size": "15", "back": "14", "small": "u"}),
        Row("e = torch.ones(1, 2, 9)\nd = nn.Conv1d(2, 2, 3, stride=2, padding=0)(e[:, :, :-1]) #<\nu = nn.ConvTranspose1d(2, 2, 2, stride=2)(d)\ntorch.cat([u, e[:, :, :-1]], 1)\n", {"size": "8", "back": "6"}),
    ],
    "batch_squeezed": [
        Row("x = torch.ones(1, 1, 4, requires_grad=True)\ns = x.squeeze() * 2 #<\nF.cross_entropy(s, torch.tensor([1])).backward()\n", {"name": "s", "given": "[1, 1, 4]"}, True),
        Row("x = torch.ones(1, 4, 1, requires_grad=True)\ns = x.squeeze() #<\nF.nll_loss(F.log_softmax(s, -1), torch.tensor([1])).backward()\n", {"classes": "4", "is_loss": "1"}),
        Row("for count in (3, 1):\n    x = torch.ones(count, 1, 4)\n    w = x.squeeze() #<\n    y = torch.einsum('bc,bcd->bd', w * 2, torch.ones(count, 4, 5))\n", {"given": "[1, 1, 4]", "is_loss": "0", "shape": "[4]"}, True),
        Row("def best(scores):\n    scores = scores.squeeze() #<\n    return scores.softmax(1)\nfor batch in torch.ones(5, 1, 4).split(2):\n    best(batch)\n", {"used_line": "7"}, True),
    ],
    "slice_too_short": [
        Row("pe, x = torch.zeros(1, 4, 2), torch.ones(3, 6, 2)\nx + pe[:, :x.size(1)] #<\n", {"base": "pe", "has": "4", "wanted": "6"}),
        Row("pe, x = torch.zeros(4, 2), torch.ones(3, 6, 2)\ny = pe[:6] + x #<\n", {"at": "0"}),
    ],
    "loss_lengths": [
        Row("scores, words = torch.ones(2, 4, 3), torch.zeros(2, 5).long()\nF.cross_entropy(scores.reshape(-1, 3), words.reshape(-1)) #<\n", {"here": "4", "there": "5", "axis": "1"}),
        Row("scores, words = torch.ones(2, 4, 3), torch.zeros(3, 4).long()\nF.cross_entropy(scores.flatten(0, 1), words.flatten()) #<\n", {"axis": "0"}),
    ],
}  # fmt: skip

TOLD_BY_MESSAGES: dict[str, list[Row]] = {
    "interrupted": [
        Row("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass #<\n", {}),
        Row("raise KeyboardInterrupt #<\n", {"line": "5"}),
    ],
    "ended_itself": [
        Row("import sys\nsys.exit('no data\\nfound') #<\n", {"said": "no data found", "code": "sys.exit('no data\\nfound')"}),
        Row("raise SystemExit('x' * 10_000) #<\n", {"said": "x" * 159 + "…"}),
    ],
    "lengths_unsorted": [
        Row("from torch.nn.utils.rnn import pack_padded_sequence\npack_padded_sequence(torch.ones(3, 2, 1), torch.tensor([2, 3])) #<\n", {"line": "6"}, True),
    ],
    "sequence_empty": [
        Row("from torch.nn.utils.rnn import pack_padded_sequence\nlens = torch.tensor([2, 0, 1])\npack_padded_sequence(torch.ones(3, 2, 1), lens, batch_first=True, enforce_sorted=False) #<\n", {"name": "lens", "places": "1"}),
        Row("from torch.nn.utils.rnn import pack_padded_sequence as pack\nlens = [len(words) for words in (['a', 'b'], [])]\npack(torch.ones(2, 2, 1), lens) #<\n", {"name": "lens", "is_known": "0"}),
    ],
    "text_and_value": [Row("print('loss: ' + torch.tensor(.5)) #<\n", {"got": "Tensor"})],
    "einsum_sizes": [Row("a, b = torch.ones(2, 3), torch.ones(4, 5)\ntorch.einsum('ij,jk->ik', a, b) #<\n", {"letter": "j", "a": "3", "b": "4"})],
    "parameter_invalid": [
        Row("s = torch.tensor(-1.)\ntorch.distributions.Normal(torch.tensor(0.), s) #<\n", {"parameter": "scale", "name": "s"}),
        Row("coin = torch.distributions.Beta(torch.ones(2), 1.)\nseen = torch.tensor([0.5, 1.5])\ncoin.log_prob(seen) #<\n", {"name": "seen", "type": "Beta", "constraint": "Interval"}),
    ],
    "probs_invalid": [
        Row("out = torch.tensor([[-1., 2.]])\ntorch.distributions.Categorical(out) #<\n", {"name": "out"}, True),
        Row("out = torch.tensor([-1., 2.])\ntorch.distributions.Binomial(10, out) #<\n", {"name": "out"}, True),
    ],
    "sample_not_batched": [Row(DATA + "next(iter(DataLoader([{1}, {2}]))) #<\n", {"type": "set"})],
    "state_dict_of_path": [Row("net = nn.Linear(1, 1)\ntorch.save(net.state_dict(), 'n.pt')\nnet.load_state_dict('n.pt') #<\n", {"given": "'n.pt'"}, True)],
    "weights_only": [Row("net = nn.Linear(1, 1)\ntorch.save(net, 'n.pt')\ntorch.load('n.pt') #<\n", {"line": "7"}, True)],
    "not_an_optimizer": [Row("net = nn.Linear(1, 1)\nopt = torch.optim.SGD(net.parameters(), lr=.1)\ntorch.optim.lr_scheduler.StepLR(net, 2) #<\n", {"right": "opt"}, True)],
    "iterator_next": [Row(DATA + "batches = iter(DataLoader([1, 2]))\nbatches.next() #<\n", {"right": "next(batches)"}, True)],
    "groups_attribute": [Row(W + "opt = torch.optim.SGD([w], lr=.1)\nopt.param_groups.lr = 0.2 #<\n", {"groups": "opt.param_groups"}, True)],
    "group_attribute": [
        Row(W + "opt = torch.optim.SGD([w], lr=.1)\nfor group in opt.param_groups:\n    group.lr = 0.2 #<\n", {"right": "group['lr']"}, True),
        Row(W + "opt = torch.optim.Adam([w])\nprint(opt.param_groups[0].betas) #<\n", {"group": "opt.param_groups[0]"}, True),
    ],
    "metric_missing": [Row(W + "opt = torch.optim.SGD([w], lr=.1)\nplateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)\nplateau.step() #<\n", {"line": "8"})],
    "anomaly_nan": [Row(W + "with torch.autograd.detect_anomaly(check_nan=True):\n    y = torch.sqrt(w * 0) * 0 #<\n    y.sum().backward()\n", {"op": "sqrt", "pass_line": "8"})],
    "distributed": [Row("import torch.distributed as dist\ndist.TCPStore('127.0.0.1', 29500, 1, True) #<\n", {"line": "6"})],
    "too_many_ranks": [Row('import torch.distributed as dist\ndist.init_process_group("gloo", "tcp://127.0.0.1:29500", rank=0, world_size=5) #<\n', {"line": "6"})],
    "ranks_apart": [Row('import torch.distributed as dist\ndist.init_process_group("gloo", "tcp://127.0.0.1:29500", rank=0, world_size=2) #<\n', {"line": "6"})],
    "raised_no_exception": [Row("raise NotImplemented #<\n", {"line": "5"})],
    "signal_handler": [Row("import signal\nsignal.signal(signal.SIGALRM, print) #<\n", {"line": "6"})],
    "element_not_tensor": [Row("torch.stack([torch.ones(2), 3.0]) #<\n", {"at": "1", "got": "float"})],
    "element_put_in": [Row("xs = []\nfor i in range(2):\n    xs.append(torch.ones(1).item()) #<\ntorch.stack(xs)\n", {"used_line": "8"}, True)],
    "format_refused": [Row("losses = [1., 2.]\nprint(f'{losses:.3f}') #<\n", {"name": "losses", "spec": ".3f"})],
    "format_of_many": [Row(X + "print(f'sum {x.sum():.1f}', f'{x:.3f}') #<\n", {"name": "x", "shape": "[2, 3]"})],
    "not_indexable": [Row("def scores(): return [1]\nscores[0] #<\n", {"type": "function", "name": "scores"})],
    "loader_indexed": [Row(DATA + "loader = DataLoader([1, 2])\nloader[0] #<\n", {"name": "loader"}, True)],
    "scheduler_steps": [Row(W + "opt = torch.optim.SGD([w], lr=.1)\nplan = torch.optim.lr_scheduler.OneCycleLR(opt, .1, total_steps=1)\nfor i in range(3):\n    plan.step() #<\n", {"total": "1", "is_floored": "0"}),
        Row(W + DATA + "data = TensorDataset(torch.ones(7, 2))\nloader = DataLoader(data, batch_size=3)\nopt = torch.optim.SGD([w], lr=.1)\neach = len(data) // 3 #<\nplan = torch.optim.lr_scheduler.OneCycleLR(opt, .1, epochs=2, steps_per_epoch=each)\nfor epoch in range(2):\n    for i, (x,) in enumerate(loader):\n        (x * w).sum().backward()\n        opt.step()\n        plan.step()\n", {"is_floored": "1", "whole": "2", "batches": "3", "loader": "loader"}, True)],
    "hook_result": [Row(W + "h = w * 2\nh.register_hook(lambda g: g.sum()) #<\nh.sum().backward()\n", {"what": "size"})],
    "hook_returned": [Row(W + "w.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(2)) #<\n(w * w).sum().backward()\n", {"line": "6", "used_line": "7"}), Row(W + "def halve(p):\n    p.grad /= 2\n    return p.grad\nfor one in (w,):\n    one.register_post_accumulate_grad_hook(halve) #<\n(w * w).sum().backward()\n", {"line": "10"}),
        Row(X + "seen = {}\ndef keep(name):\n    def hook(module, given, made):\n        seen[name] = made.detach().numpy()\n        return seen[name] #<\n    return hook\nnet = nn.Sequential(nn.Linear(3, 2), nn.ReLU())\nnet[0].register_forward_hook(keep('first'))\nnet(x)\n", {"is_forward": "1", "got": "numpy.ndarray", "used_line": "14"}, True),
        Row(X + "net = nn.Sequential(nn.Conv1d(2, 2, 1), nn.Conv1d(2, 2, 1))\nclass Watch:\n    def look(self, module, given, made):\n        self.last = made\n        return made.tolist() #<\nnet[0].register_forward_hook(Watch().look)\nnet(x)\n", {"is_forward": "1", "got": "list"}, True)],
    "numpy_function": [Row(W + "np.exp(w) #<\n", {"name": "np.exp"}, True)],
    "written_shape": [Row("x = torch.zeros(4, 3)\nx[:, 1:] = torch.ones(4, 3) #<\n", {"target_name": "x[:, 1:]", "value": "torch.ones(4, 3)"})],
    "index_tensor_out_of_range": [Row(X + "rows = torch.tensor([0, 2])\nx[rows] #<\n", {"place": "rows", "index": "2"}), Row("weights, labels = torch.rand(4), torch.tensor([0, 4])\nweights.gather(0, labels) #<\n", {"place": "labels", "index": "4", "last": "3"})],
    "cat_sizes": [Row("torch.cat([torch.ones(1, 2, 4, 4), torch.ones(1, 2, 5, 5)], 1) #<\n", {"axis": "2"})],
    "result_meant": [Row("criterion = nn.MSELoss()\nw = torch.ones(2, requires_grad=True)\nloss = criterion(w, w * 2)\ncriterion.backward() #<\n", {"result": "loss"}, True)],
    "sample_holds_none": [Row(DATA + "class Data(Dataset):\n    def __len__(self):\n        return 2\n    def __getitem__(self, i):\n        return i, None #<\nnext(iter(DataLoader(Data())))\n", {"cls": "Data"})],
    "dataset_too_long": [Row(DATA + "class Data(Dataset):\n    def __len__(self):\n        return 3 #<\n    def __getitem__(self, i):\n        return torch.ones(2)[i]\nfor x in DataLoader(Data()):\n    pass\n", {"cls": "Data"})],
    "deepcopy_of_holder": [Row(W + "import copy\nkept = [w * 2]\ncopy.deepcopy(kept) #<\n", {"name": "kept"})],
    "deepcopy_of_state": [Row("import copy\n" + NET + INIT + "        self.fc = nn.Linear(2, 2)\n    def forward(self, x):\n        self.h = self.fc(x) #<\n        return self.h\nnet = Net()\nnet(torch.ones(1, 2))\ncopy.deepcopy(net)\n", {"held": "self.h", "name": "net"})],
}  # fmt: skip
"""Errors whose message alone decides: one program each is enough."""

NEAR_GIVEN: dict[str, str] = {
    "class_not_made": LAYERS + "    def forward(self, x):\n        return self.fc1(x)\nkind = Net\nmodel = kind()\nmodel(torch.ones(3, 4))\n",
    "loss_swapped": "F.cross_entropy(torch.ones(2, 3).long(), torch.tensor([0, 1]))\n",
    "joined_tensors": "a, n = torch.ones(3), 2\nif a > 0 and n > 1:\n    pass\n",
    "second_backward_detach": "trunk, p, v = nn.Linear(2, 2), nn.Linear(2, 1), nn.Linear(2, 1)\nopt = torch.optim.SGD([*trunk.parameters(), *p.parameters(), *v.parameters()], lr=.1)\nh = trunk(torch.ones(3, 2))\na, b = p(h).mean(), v(h).exp().mean()\na.backward()\nopt.step()\nb.backward()\nnet, head = nn.Linear(2, 2), nn.Linear(2, 1)\nh = net(torch.ones(3, 2))\nhead(h).mean().backward()\nh.exp().sum().backward()\n",
    "none_asked": "best = torch.ones(1)\nbest.item()\nbest.items\n",
    "none_by_default": "def f(x, h=None):\n    h = dict(a=x).get('b')\n    return h.sum()\nf(torch.ones(2))\n",
    "cat_scalars": "torch.cat([torch.ones(1), torch.ones(1, 1)])\n",
    "class_axis": "F.cross_entropy(torch.ones(2, 3, 5), torch.zeros(2, 4).long())\n",
    "features_last": "nn.Conv1d(16, 4, 3)(torch.ones(2, 9, 8))\n",
    "grad_none_made_untracked": W + "w.sum().backward()\nv = (w * 2).detach().requires_grad_()\nv.grad.zero_()\n",
    "grad_not_a_tensor": W + "w.sum().backward()\nw.grad = None\n",
    "sample_is_none": DATA + "next(iter(DataLoader([{1}, {2}])))\n",
    "state_dict_inside": "net = nn.Linear(2, 1)\nnet.load_state_dict({'w': torch.ones(1)})\n",
    "pair_inside": "net = nn.Sequential(nn.Linear(2, 3))\nnet((1, 2))\n",
    "operand_other": X + "y = x + 'a'\n",
    "tensor_method_asked": "xs = [1.]\nxs.apend(2.)\n",
    "not_a_tensor_inside": "torch.exp('a')\n",
    "called_back": "def f(a):\n    return a\nf(1, 2)\n",
    "raised_by_program": "torch.ones(2) @ torch.ones(3)\n",
    "assertion_failed": X + "assert x.shape == (2, 3)\n",
    "op_refused": "torch.linalg.inv(torch.eye(2))\n",
    "call_refused": "int('3')\n",
    "line_stopped": "next(iter([1]))\n",
    "layer_not_called": "act = nn.Sigmoid()\ntorch.exp(act(torch.ones(2)))\n",
    "layer_not_made": X + "p = nn.Sigmoid()(x)\nd = nn.Dropout(0.5)\nprint(p.sum(), d)\n",
    "none_for_tensor": "F.mse_loss(torch.ones(2), torch.ones(2), weight=None)\n",
    "recurrent_pair": "gru = nn.GRU(2, 3)\ny, h = gru(torch.ones(4, 1, 2))\nlast = y[:, -1]\n(1, 2).shape\n",
    "list_method_result": "xs = []\nxs.append(torch.ones(2))\ntorch.stack(xs)\ntorch.stack(None)\n",
    "tensors_not_listed": "a = torch.ones(2)\ntorch.cat([a, a])\ntorch.cat((a, a))\n",
    "size_not_whole": "n = 10 // 2\nx = torch.zeros(n, 3)\n",
    "compared_as_wholes": "flag = True\nflag.float()\n",
    "pair_returned": "values, indices = torch.max(torch.ones(4, 3), 1)\nacc = (indices == torch.zeros(4)).float().mean()\n",
    "tied_transposed": "enc, dec = nn.Linear(3, 2), nn.Linear(2, 3)\ndec.weight = nn.Parameter(enc.weight.t())\n",
    "value_not_tensor": "m = torch.distributions.Categorical(torch.ones(3))\nm.log_prob(torch.tensor(2))\n",
    "parameter_overwritten": "net = nn.Linear(2, 1)\nnet.weight = nn.Parameter(torch.ones(1, 2))\n",
    "layer_overwritten": "net = nn.Sequential(nn.Linear(2, 2))\nnet.extra = torch.ones(1)\nnet[0] = nn.Linear(2, 1)\n",
    "modules_in_list": "layers = [nn.Linear(2, 4), nn.ReLU()]\nnet = nn.Sequential(*layers)\nnn.ModuleList(layers)\n",
    "layer_class_given": "net = nn.Sequential(nn.Linear(2, 4), nn.ReLU())\n",
    "function_among_layers": "net = nn.Sequential(nn.Linear(2, 4), nn.ReLU())\nF.relu(net(torch.ones(1, 2)))\n",
    "optimizer_all_frozen": "net = nn.Linear(2, 1)\nnet.weight.requires_grad = False\nopt = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()))\n",
    "optimizer_given_used_up": "net = nn.Linear(2, 1)\nparams = [p for p in net.parameters() if p.dim() > 3]\nprint(len(params))\nopt = torch.optim.SGD(params, lr=.1)\n",
    "optimizer_empty_list": NET + INIT + "        self.names = ['a']\nnet = Net()\nopt = torch.optim.Adam(net.parameters())\n",
    "super_init_not_called": NET + INIT + "        self.w = nn.Parameter(torch.ones(2))\nNet().missing\n",
    "forward_inside_init": NET + "    def call(self, x):\n        def forward(y):\n            return y\n        return forward(x)\nNet()(torch.ones(2))\n",
    "self_left_out": LAYERS + "    def forward(self, x):\n        return undefined(x)\nNet()(torch.ones(1, 3))\n",
    "layer_missing": "class A:\n    pass\nA().head\n",
    "number_taken_out": W + "loss = (w * w).sum()\nprint(loss.item())\nloss.backward()\n",
    "grad_none_never_computed": W + "(w * w).sum().backward()\nw.grad = None\nstep = w.grad * 2\n",
    "function_not_static": SQUARE.format(mark="", saved=SAVES) + W + "Square.apply(w).sum().backward()\n",
    "function_not_applied": NET + INIT + "    def forward(self, x):\n        return x\nNet().forward()\n",
    "custom_backward_shape": SQUARE.format(mark="", saved=SAVES) + W + "Square.apply(w).sum().backward()\n",
    "saved_count": "a, b = (1, 2, 3)\n",
    "dataset_method_missing": "class Bag:\n    pass\nlen(Bag())\n",
    "dataset_method_misspelt": DATA + "class DS(Dataset):\n    def __len__(self):\n        return 2\n    def __getitem__(self, i):\n        return i\nfor b in DataLoader(DS()):\n    pass\nlen(3)\n",
    "turn_parts": DATA + "for x, y in DataLoader(TensorDataset(torch.ones(4, 2), torch.ones(4))):\n    a, b = x.unbind(1)\n    c, d, e = x\n",
    "enumerate_parts": "for i, (a, b) in enumerate([(1, 2)]):\n    c, d = a, b\n    e, f = (1, 2, 3)\n",
    "channels_last": "conv = nn.Conv2d(3, 6, 5)\nconv(torch.ones(1, 1, 28, 28))\n",
    "t_of_batch": "torch.ones(2, 3).t()\ntorch.ones(2, 3, 4).transpose(0, 5)\n",
    "two_inferred": X + "x.view(-1, 2)\nx.view(-1, 4)\n",
    "expanded_written": "x = torch.zeros(3, 1).expand(3, 4).clone()\nx += 1\n",
    "bce_out_of_range": "F.binary_cross_entropy(torch.tensor([0., 1.]), torch.ones(2))\n",
    "bce_target_range": "F.binary_cross_entropy(torch.tensor([.3]), torch.tensor([.7]))\n",
    "heads_do_not_divide": "nn.MultiheadAttention(12, 3)\nassert False, 'embed_dim'\n",
    "list_never_filled": "parts = []\nparts += [torch.ones(2)] * 0\ntorch.cat(parts)\n",
    "list_empty": "parts = [torch.ones(2), torch.ones(2)]\nprint(torch.cat(parts), torch.stack([]))\n",
    "made_before_loop": W + "for i in range(2):\n    y = (w * w).sum()\n    y.backward()\n",
    "changed_by_layer": "net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True))\nnet(torch.ones(2, 3)).sum().backward()\n",
    "cut_by_no_grad": "net = nn.Linear(2, 1)\nwith torch.no_grad():\n    print(net(torch.ones(3, 2)))\nnet(torch.ones(3, 2)).mean().backward()\n",
    "cut_by_decorator": "net = nn.Linear(2, 1)\n@torch.no_grad()\ndef evaluate(x):\n    return net(x)\nevaluate(torch.ones(1, 2))\nnet(torch.ones(1, 2)).sum().backward()\n",
    "recording_switched_off": W + "torch.set_grad_enabled(False)\nprint(w * 2)\ntorch.set_grad_enabled(True)\n(w * w).sum().backward()\n",
    "rebound_without_graph": W + "(w * w).sum().backward()\nwith torch.no_grad():\n    w -= 0.1 * w.grad\n    old = w - 1\n(w * w).sum().backward()\n",
    "clip_of_nothing": "net = nn.Linear(2, 1)\nnn.utils.clip_grad_norm_(net.parameters(), 1.0)\nnet(torch.ones(1, 2)).sum().backward()\nnn.utils.clip_grad_value_(net.parameters(), 1.0)\n",
    "target_one_hot": "F.cross_entropy(torch.randn(4, 3), F.one_hot(torch.tensor([0, 1, 2, 1]), 3).float())\nF.binary_cross_entropy(torch.ones(2), torch.ones(2).long())\n",
    "batch_flattened": "net = nn.Linear(784, 10)\nnet(torch.rand(32, 784).flatten(1))\nnet(torch.rand(783))\n",
    "channel_axis_missing": "conv = nn.Conv2d(1, 4, 3)\nconv(torch.rand(1, 28, 28))\nconv(torch.rand(2, 3, 9, 9))\n",
    "lstm_state": "lstm = nn.LSTM(3, 5)\nh = torch.zeros(1, 2, 5)\nlstm(torch.randn(7, 2, 3), (h, h))\nh[3]\n",
    "hidden_size": "rnn = nn.RNN(3, 5)\nrnn(torch.randn(7, 2, 3), torch.zeros(1, 2, 5))\n",
    "hidden_axes": "gru = nn.GRU(3, 5)\ngru(torch.randn(7, 3), torch.zeros(1, 5))\n",
    "norm_features": "nn.BatchNorm1d(4)(torch.randn(3, 4))\n",
    "norm_shape": "nn.LayerNorm(8)(torch.randn(2, 8))\n",
    "gather_axes": "torch.randn(3, 4).gather(1, torch.tensor([[0], [1], [2]]))\ntorch.zeros(2, 3).scatter_(1, torch.tensor([[0], [2]]), 1.)\n",
    "split_sizes": "from torch.utils.data import random_split\nrandom_split(range(10), [6, 4])\nrandom_split(range(10), [0.8, 0.2])\n",
    "dataset_sizes": "from torch.utils.data import TensorDataset\nTensorDataset(torch.randn(10, 2), torch.randn(10))\nassert False, 'Sizes'\n",
    "closure_missing": W + "opt = torch.optim.SGD([w], lr=.1)\nopt.step()\nopt.zero_grad(1, 2, 3)\n",
    "learning_rate_invalid": W + "torch.optim.SGD([w], lr=0.0)\nraise ValueError('learning rate')\n",
    "list_by_tensor": "xs = [1, 2, 3]\nxs[torch.tensor(1)], torch.tensor(xs)[torch.tensor([0, 1])], range(torch.tensor([1, 2]))\n",
    "tensor_of_text": "torch.tensor([1, 2])\ntorch.from_numpy(np.array(['1', '2']).astype(int))\nprint('too many dimensions')\n",
    "tensor_append": "xs = []\nxs.append(1)\nclass Bag:\n    pass\nBag().append(1)\n",
    "division_of_nothing": "x = torch.ones(2) / 0\n1 // 1\n",
    "method_as_value": "f = torch.ones(2).sum\nprint(f())\n",
    "already_number": "class Mean:\n    pass\nMean().item()\n",
    "mask_dtype": "torch.ones(2).masked_fill(torch.tensor([True, False]), 0.)\n",
    "arguments_missing_own": "def area(a, b=1):\n    return a * b\narea(3)\nnn.Linear(3)\n",
    "keyword_other": "nn.Linear(2, 3, dtyp=torch.float32)\n",
    "batch_first_missing": "rnn = nn.GRU(3, 4)\nrnn(torch.ones(5, 7, 3), torch.zeros(1, 6, 4))\n",
    "cat_rounded": "e = torch.ones(1, 2, 15, 15)\nd = F.max_pool2d(torch.ones(1, 2, 14, 14), 2)\ntorch.cat([F.interpolate(d, scale_factor=2), e], 1)\n",
    "batch_squeezed": "for k in (3, 1):\n    v = torch.ones(k, 2).squeeze().softmax(-1)\ns = torch.ones(3, requires_grad=True)\nF.cross_entropy(s, torch.tensor([1])).backward()\n",
    "slice_too_short": "pe, x = torch.zeros(9, 2), torch.ones(3, 6, 2)\nx + pe[:4]\n",
    "loss_lengths": "F.cross_entropy(torch.ones(8, 3), torch.zeros(10).long())\n",
    "asked_too_late": "x = torch.ones(3)\nprint(x.sum())\nx.requires_grad_()\n(x * 2).sum().backward()\n",
}  # fmt: skip
