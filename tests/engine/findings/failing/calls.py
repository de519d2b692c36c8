"""What `engine/findings/failing/calls.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import DATA, INIT, LAYERS, NET, NUMBERS, Row, W, X

TRIGGERS: dict[str, list[Row]] = {
    "argument_twice": [
        Row(DATA + "x, y = torch.ones(8, 2), torch.ones(8)\ntrain = DataLoader(x, y, batch_size=4) #<\ntest = DataLoader(\n    x[:4],\n    y[:4],\n    batch_size=2)\nfor a, b in [*train, *test]:\n    print(a @ a.T, b)\n", {"given": "y", "argument": "batch_size", "is_loader": "1"}, True),
        Row("def scale(x, factor, shift=0):\n    return x * factor + shift\nscale(torch.ones(2), 3, factor=2) #<\n", {"given": "3", "at": "2", "names": "x, factor", "is_loader": "0"}),
        Row(NUMBERS + "DataLoader(data, 4, batch_size=2) #<\n", {"given": "4", "is_loader": "0"}),
    ],
    "rsample_missing": [
        Row("from torch.distributions import Categorical\nq = Categorical(logits=torch.zeros(3))\nz = q.rsample() #<\n", {"type": "Categorical", "is_choice": "1"}),
        Row("torch.distributions.Bernoulli(torch.ones(2) / 2).rsample((3,)) #<\n", {"relaxed": "RelaxedBernoulli", "is_choice": "0"}),
        Row("q = torch.distributions.Poisson(torch.ones(2))\nz = q.rsample() #<\n", {"is_relaxed": "0"}),
    ],
    "scaler_without_gradients": [
        Row("a, b = nn.Linear(2, 1), nn.Linear(2, 1)\nfirst = torch.optim.SGD(a.parameters(), lr=.1)\nother = torch.optim.SGD(b.parameters(), lr=.1)\nscaler = torch.amp.GradScaler('cpu')\nscaler.scale(a(torch.ones(1, 2)).sum()).backward()\nscaler.step(first)\nscaler.step(other) #<\n", {"name": "other", "pass_line": "9", "scaler": "scaler"}),
        Row(W + "opt = torch.optim.Adam([w])\nscaler = torch.amp.GradScaler('cpu')\nloss = scaler.scale((w * w).sum())\nscaler.step(opt) #<\n", {"is_some": "0"}),
    ],
    "function_removed": [
        Row("a, b = torch.eye(2), torch.ones(2, 1)\nx, _ = torch.solve(b, a) #<\n", {"called": "torch.solve", "right": "torch.linalg.solve", "new": "X = torch.linalg.solve(A, B)"}),
        Row("a = torch.eye(2)\nvalues, vectors = torch.symeig(a, eigenvectors=True) #<\n", {"right": "torch.linalg.eigh", "is_shown": "1"}),
        Row("torch.symeig(torch.eye(2)) #<\n", {"right": "torch.linalg.eigvalsh"}),
        Row("torch.matrix_rank(torch.eye(2)) #<\n", {"right": "torch.linalg.matrix_rank", "is_shown": "0"}),
    ],
    "func_returns_more": [
        Row(
            "def loss_of(w):\n    made = w * 2\n    return made.sum(), made #<\nslopes, made = torch.func.grad(loss_of)(torch.ones(3))\nprint(slopes.shape)\n",
            {"function": "loss_of", "first": "made.sum()", "got": "tuple", "is_pair": "1"},
            True,
        ),
        Row(
            "from torch.func import grad\ndef loss_of(w):\n    return w.sum(), w, w * 2 #<\nslopes = grad(loss_of)\nslopes(torch.ones(3))\n",
            {"is_more": "1"},
        ),
        Row(
            "from torch.func import grad\ndef loss_of(w):\n    return 3.0 #<\nslopes = grad(loss_of)(torch.ones(3))\n",
            {"is_other": "1", "got": "float"},
        ),
    ],
    "super_init_missing": [
        Row(
            "class Base(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n"
            "class Net(Base):\n    def __init__(self, d): #<\n        self.fc = nn.Linear(d, d)\nNet(3)\n",
            {"cls": "Net", "right": "super().__init__(d)"},
            True,
        ),
        Row(NET + "    def __init__(self): #<\n        self.a = nn.Linear(1, 1)\nNet()\n", {"cls": "Net"}, True),
        Row(
            NET
            + "    def __init__(self): #<\n        self.n = 3\n    def forward(self, x):\n        return x\nnet = Net()\nnet(torch.ones(2))\n",
            {"cls": "Net"},
            True,
        ),
        Row(NET + "    def __init__(self, n): #<\n        self.n = n\nclass Deep(Net):\n    def __init__(self):\n        super().__init__(2)\n        self.a = nn.Linear(2, 1)\nDeep()\n", {"cls": "Net"}, True),
    ],
    "super_init_late": [
        Row(
            NET + "    def __init__(self):\n        self.a = nn.Linear(1, 1)\n        super().__init__() #<\nNet()\n",
            {"cls": "Net"},
        ),
        Row(
            NET
            + "    def __init__(self, n):\n        self.a = nn.Linear(n, 1)\n        super(Net, self).__init__() #<\nNet(2)\n",
            {"cls": "Net"},
        ),
    ],
    "forward_missing": [
        Row(
            NET + "    def call(self, x):\n        return x\nnet = Net()\nnet(torch.ones(2)) #<\n",
            {"type": "Net", "defined_line": "5"},
        ),
        Row(
            "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\nBlock()(torch.ones(2)) #<\n",
            {"type": "Block"},
        ),
    ],
    "forward_misspelt": [
        Row(NET + "    def foward(self, x): #<\n        return x\nNet()(torch.ones(2))\n", {"name": "foward"}, True),
        Row(
            NET + "    def Forward(self, x): #<\n        return x\nnet = Net()\nnet(torch.ones(2))\n",
            {"cls": "Net"},
            True,
        ),
    ],
    "list_called": [
        Row("layers = nn.ModuleList([nn.ReLU()])\nlayers(torch.ones(2)) #<\n", {"type": "ModuleList"}),
        Row("heads = nn.ModuleDict({'a': nn.ReLU()})\nheads(torch.ones(2)) #<\n", {"type": "ModuleDict"}),
    ],
    "init_misspelt": [
        Row(NET + "    def __int__(self, n): #<\n        super().__init__()\nNet(3)\n", {"name": "__int__"}, True),
        Row(
            "class Net(nn.Module):\n    def _init_(self): #<\n        super(Net, self)._init_()\n        self.out = nn.Linear(2, 1)\n"
            "torch.optim.SGD(Net().parameters(), lr=.1)\n",
            {"name": "_init_"},
            True,
        ),
        Row(NET + "    def init(self, n): #<\n        super().__init__()\nNet(3)\n", {"cls": "Net"}, True),
        Row(
            NET
            + "    def _init_(self): #<\n        super().__init__()\n        self.out = nn.Linear(2, 1)\ndef fit(net):\n    return torch.optim.Adam(net.parameters(), lr=.1)\nfit(Net())\n",
            {"name": "_init_", "cls": "Net"},
            True,
        ),
    ],
    "self_missing": [
        Row(NET + "    def forward(x): #<\n        return x\nNet()(torch.ones(2))\n", {"function": "forward"}, True),
        Row("class Data:\n    def size(n): #<\n        return n\nd = Data()\nd.size(3)\n", {"cls": "Data"}, True),
    ],
    "arguments_many_own": [
        Row(
            NET + "    def forward(self, x):\n        return x\nNet()(torch.ones(2), 3) #<\n",
            {"takes": "2", "given": "3", "defined_line": "6"},
        ),
        Row(
            "class Data:\n    def __init__(self, n):\n        self.n = n\nData(1, 2) #<\n",
            {"function": "Data.__init__", "is_backward": "0"},
        ),
        Row(
            W + "class Split(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2, x * 3\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2\na, b = Split.apply(w)\n(a + b).sum().backward() #<\n",
            {"is_backward": "1", "gradients": "2", "defined_line": "11"},
        ),
    ],
    "arguments_missing_own": [
        Row(
            "def area(a, b):\n    return a * b\narea(3) #<\n", {"function": "area", "missing": "b", "defined_line": "5"}
        ),
        Row(
            NET + "    def forward(self, x, y):\n        return x + y\nNet()(torch.ones(2)) #<\n",
            {"missing": "y", "defined_line": "6"},
        ),
        Row(NET + "    def forward(self, x, mask):\n        return x\nnn.Sequential(Net(), nn.ReLU())(torch.ones(1, 2)) #<\n", {"is_inside": "1", "missing": "mask", "is_call": "0"}),
        Row(W + "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g, x):\n        return g * 2\nTwice.apply(w).sum().backward() #<\n", {"is_backward": "1", "is_inside": "0", "missing": "x"}),
    ],
    "no_cuda_several": [
        Row(X + "y = x.to('cuda:0').sum().to('cuda:1') #<\n", {"devices": "cuda:0, cuda:1"}, True),
        Row("net = nn.Linear(2, 1).cuda(2) #<\n", {"devices": "cuda:0, cuda:1, cuda:2"}, True),
    ],
    "no_cuda": [
        Row(X + "y = x.cuda() #<\n", {"line": "6"}, True),
        Row("device = torch.device('cuda')\nx = torch.ones(2, device=device) #<\n", {"line": "6"}, True),
        Row("net = nn.Linear(2, 1).to('cuda:0') #<\n", {"line": "5"}, True),
    ],
    "device_absent": [
        Row("x = torch.ones(2, device='mps') #<\n", {"name": "MPS"}, True),
        Row("net = nn.Linear(2, 1).to('xpu') #<\n", {"name": "XPU"}, True),
    ],
    "device_unknown": [
        Row("d = torch.device('gpu') #<\n", {"name": "gpu"}, True),
        Row("x = torch.ones(2).to('CUDA') #<\n", {"name": "CUDA"}, True),
    ],
    "state_dict_keys": [
        Row(
            "net = nn.Linear(2, 2)\nnet.load_state_dict({'w': torch.ones(2, 2)}) #<\n",
            {"missing": "weight, bias", "unexpected": "w", "fits": "0"},
        ),
        Row(
            "net = nn.Linear(2, 2)\nstate = nn.Linear(2, 2, bias=False).state_dict()\nnet.load_state_dict(state) #<\n",
            {"missing": "bias", "unexpected": "–", "fits": "1"},
        ),
        Row(
            "net = nn.ModuleDict({'body': nn.Linear(2, 2), 'head': nn.Linear(2, 1)})\nstate = {'old.' * k.startswith('head') + k: v for k, v in net.state_dict().items()}\nnet.load_state_dict(state) #<\n",
            {"missing": "head.weight, head.bias", "fits": "1"},
        ),
    ],
    "state_dict_shape": [
        Row(
            "net = nn.Linear(2, 2)\nnet.load_state_dict(nn.Linear(3, 2).state_dict()) #<\n",
            {"name": "weight", "given": "[2, 3]", "wanted": "[2, 2]"},
        ),
        Row("a, b = nn.Linear(2, 2), nn.Linear(2, 5)\na.load_state_dict(b.state_dict()) #<\n", {"count": "2"}),
    ],
    "state_dict_prefix": [
        Row(
            "net = nn.Linear(2, 2)\nnet.load_state_dict({'module.' + k: v for k, v in net.state_dict().items()}) #<\n",
            {"first": "module.weight"},
        ),
        Row(
            "net = nn.Linear(1, 1, bias=False)\nnet.load_state_dict({'module.weight': torch.ones(1, 1)}) #<\n",
            {"type": "Linear"},
        ),
        Row(
            "net = nn.Sequential(nn.Linear(2, 2))\nkept = torch.optim.swa_utils.AveragedModel(net)\nnet(torch.ones(1, 2))\nnet.load_state_dict(kept.state_dict()) #<\n",
            {"prefix": "module.", "wrapper": "AveragedModel", "is_saved": "1"},
        ),
        Row(
            LAYERS + "    def forward(self, x):\n        return self.fc2(self.fc1(x))\nclass Lit(nn.Module):\n" + INIT + "        self.net = Net()\n        self.weight = nn.Parameter(torch.ones(1))\n"
            "net = Net()\nnet.load_state_dict(Lit().state_dict()) #<\n",
            {"prefix": "net.", "inner": "net", "is_torch": "0"},
        ),
        Row(
            "net = nn.Linear(2, 2)\nnn.ModuleDict({'encoder': net}).load_state_dict(net.state_dict()) #<\n",
            {"prefix": "encoder.", "is_saved": "0"},
        ),
    ],
    "optimizer_empty": [
        Row("class Net(nn.Module):\n    pass\nopt = torch.optim.SGD(Net().parameters(), lr=.1) #<\n", {"line": "7"}),
        Row("net = nn.Sequential(nn.ReLU())\nopt = torch.optim.Adam(net.parameters()) #<\n", {"line": "6"}),
    ],
    "not_a_leaf_in_optimizer": [
        Row(
            "w = torch.ones(2, requires_grad=True).double() #<\nopt = torch.optim.SGD([w], lr=.1)\n",
            {"name": "w", "op": "double", "used_line": "6"},
            True,
        ),
        Row(W + "v = w * 0.1 #<\nopt = torch.optim.Adam([v])\n", {"name": "v", "op": "*"}),
        Row(
            "u = torch.randn(3, 2, requires_grad=True) * 0.1 #<\nv = torch.randn(4, 2, requires_grad=True) * 0.1\n"
            "b = torch.zeros(1, requires_grad=True)\nopt = torch.optim.SGD([u, v, b], lr=.1)\n",
            {"name": "u", "is_several": "1", "others": "`v`"},
            True,
        ),
        Row(
            "class Model:\n    def __init__(self):\n"
            "        self.w = torch.randn(2, requires_grad=True) * 0.1 #<\n"
            "        self.b = torch.zeros(2, requires_grad=True)\n"
            "    def parameters(self):\n        return [self.w, self.b]\n"
            "opt = torch.optim.SGD(Model().parameters(), lr=0.1)\n",
            {"name": "self.w", "op": "*"},
            True,
        ),
    ],
    "parameters_inside_list": [
        Row("layers = [nn.Linear(2, 4), nn.Linear(4, 1)]\nopt = torch.optim.SGD([l.parameters() for l in layers], lr=.1) #<\n", {"right": "[parameter for l in layers for parameter in l.parameters()]"}, True),
        Row("net, head = nn.Linear(2, 4), nn.Linear(4, 1)\nopt = torch.optim.Adam([net.parameters(), head.parameters()]) #<\n", {"right": "[*net.parameters(), *head.parameters()]"}, True),
        Row("net = nn.Linear(2, 4)\nheld = [list(net.parameters())]\nopt = torch.optim.Adam(held) #<\n", {"given": "held", "is_right": "0"}),
    ],
    "optimizer_of_module": [
        Row("net = nn.Linear(2, 2)\nopt = torch.optim.SGD(net, lr=.1) #<\n", {"name": "net", "module": "Linear"}, True),
        Row(
            "net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())\nopt = torch.optim.Adam(net, lr=.1) #<\n",
            {"module": "Sequential"},
            True,
        ),
        Row(
            NET
            + "    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(1, 1)\nnet = Net()\nopt = torch.optim.Adam(net) #<\n",
            {"module": "Net"},
            True,
        ),
    ],
    "module_not_callable": [
        Row("x = torch([5.5, 3]) #<\n", {"receiver": "torch"}, True),
        Row("def make():\n    return torch(3.) #<\nmake()\n", {"suggestion": "torch.tensor"}, True),
    ],
    "other_module_called": [
        Row("import math\nmath(3) #<\n", {"receiver": "math"}),
        Row("import random\nx = random(0, 1) #<\n", {"receiver": "random"}),
    ],
    "attribute_called": [
        Row(X + "y = x.T() #<\n", {"name": "T"}, True),
        Row(X + "n = x.ndim() #<\n", {"name": "ndim", "type": "int"}, True),
    ],
    "model_not_made": [
        Row(
            LAYERS + "    def forward(self, x):\n        return self.fc1(x)\nx = torch.ones(2, 3)\nprint(Net(x).shape) #<\n",
            {"cls": "Net", "right": "Net()(x)"},
            True,
        ),
        Row(
            LAYERS + "    def forward(self, x, y):\n        return self.fc1(x * y)\nx = torch.ones(2, 3)\nout = Net(x, 2 * x) #<\n",
            {"right": "Net()(x, 2 * x)"},
            True,
        ),
    ],
    "step_given_loss": [
        Row(
            W + "opt = torch.optim.LBFGS([w])\ndef closure():\n    opt.zero_grad()\n    loss = (w * w).sum()\n"
            "    loss.backward()\n    return loss\nopt.step(closure()) #<\n",
            {"right": "opt.step(closure)", "is_closure": "1"},
            True,
        ),
        Row(
            "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=.1)\nloss = net(torch.ones(2, 3)).mean()\n"
            "loss.backward()\nopt.step(loss) #<\n",
            {"owner": "opt", "given": "loss"},
            True,
        ),
        Row(
            W + "opt = torch.optim.Adam([w])\nw.sum().backward()\nopt.step(w.sum().item()) #<\n",
            {"given": "w.sum().item()"},
            True,
        ),
    ],
    "value_called": [
        Row(
            LAYERS + "    def forward(self, x):\n        return self.act(self.fc1(x)) #<\nnet = Net()\n"
            "net.act = None\nnet(torch.ones(2, 3))\n",
            {"name": "self.act", "is_none": "1", "made_line": "13"},
        ),
        Row(X + "x(0) #<\n", {"name": "x", "type": "Tensor"}),
        Row("lr = 0.1\nstep = lr(3) #<\n", {"name": "lr", "type": "float"}),
    ],
    "product_sign": [
        Row(X + "y = 3(x.sum() + 1) #<\n", {"written": "3(x.sum() + 1)"}, True),
        Row("x = 2\ny = 2x #<\n", {"written": "2x", "right": "2 * x"}, True),
    ],
    "keyword_misspelt": [
        Row(
            "torch.tensor([1.], requires_gard=True) #<\n",
            {"name": "requires_gard", "suggestion": "requires_grad"},
            True,
        ),
        Row("torch.tensor([1.], pin_momemory=False) #<\n", {"suggestion": "pin_memory"}, True),
        Row("nn.Linear(2, 3, biass=True) #<\n", {"function": "nn.Linear"}, True),
        Row(
            "def load(data, transform=None):\n    return data\nload(1, transfom=2) #<\n",
            {"suggestion": "transform"},
            True,
        ),
    ],
    "keyword_unknown": [
        Row("make = {'a': nn.Linear}\nmake['a'](2, 3, **{'activation': 1}) #<\n", {"name": "activation"}),
        Row("make = [nn.Linear][0:1]\n[m(2, 3, **{'act': 1}) for m in make] #<\n", {"name": "act"}),
    ],
    "keyword_other": [
        Row(W + "opt = torch.optim.Adam([w], momentum=.9) #<\n", {"name": "momentum"}),
        Row("nn.Linear(2, 3, activation='relu') #<\n", {"known": "in_features, out_features, bias, device, dtype"}),
    ],
    "keys_taken_for_model": [
        Row(
            "net = nn.Linear(2, 2)\nnet = net.load_state_dict(net.state_dict()) #<\nnet(torch.ones(1, 2))\n",
            {"name": "net", "model": "net"},
            True,
        ),
        Row(
            "def restored(state):\n    model = nn.Linear(2, 2)\n    loaded = model.load_state_dict(state) #<\n    return loaded\nrestored(nn.Linear(2, 2).state_dict()).eval()\n",
            {"name": "loaded", "model": "model"},
        ),
        Row(
            "state = nn.Linear(2, 2).state_dict()\nnet = nn.Linear(2, 2).load_state_dict(state) #<\nnet.eval()\n",
            {"name": "net", "right": "net.load_state_dict(state)"},
            True,
        ),
        Row(
            "net = nn.Linear(2, 2)\nnet.load_state_dict(net.state_dict()).eval() #<\n",
            {"model": "net"},
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
        Row(
            NET + INIT + "        kept = nn.Linear(3, 1).state_dict()\n        self.w = kept['weight']\n        self.w = self.w * 2 #<\n        self.b = kept['bias']\n"
            "    def forward(self, x):\n        return F.linear(x, self.w, self.b)\nnet = Net()\nnet(torch.ones(2, 3))\nopt = torch.optim.SGD(net.parameters(), lr=.1)\n",
            {"model": "Net", "name": "`self.w`, `self.b`", "is_tensor": "1", "used_line": "16"},
        ),
        Row(
            NET + INIT + "        self.w = torch.randn(3, 1, requires_grad=True) #<\n    def forward(self, x):\n        return x @ self.w\n"
            "opt = torch.optim.SGD(Net().parameters(), lr=.1)\nprint(Net()(torch.ones(2, 3)))\n",
            {"name": "`self.w`"}, True,
        ),
    ],
    "super_init_not_called": [
        Row(NET + "    def __init__(self):\n        super().__init__ #<\n        self.w = nn.Parameter(torch.ones(2))\nNet()\n", {"cls": "Net"}, True),
        Row(NET + "    def __init__(self):\n        super(Net, self).__init__ #<\n        self.a = nn.Linear(1, 1)\nnet = Net()\n", {"cls": "Net"}, True),
    ],
    "state_dict_inside": [
        Row("net = nn.Linear(2, 1)\nsaved = {'epoch': 1, 'model': net.state_dict()}\nnet.load_state_dict(saved) #<\n", {"key": "model", "given": "saved"}, True),
        Row("net = nn.Linear(2, 1)\nnet.load_state_dict({'state_dict': net.state_dict()}) #<\n", {"key": "state_dict"}, True),
    ],
    "parameter_in_two_groups": [
        Row(
            "net = nn.Sequential(nn.Linear(2, 2))\ndef groups():\n    head = [p for n, p in net.named_parameters() if n == '0.weight']\n"
            "    rest = list(net.parameters())\n    return [{'params': rest}, {'params': head, 'lr': .1}]\ntorch.optim.SGD(groups(), lr=.1) #<\n",
            {"groups": "rest, head", "is_whole": "0"},
        ),
        Row("net = nn.Sequential(nn.Linear(2, 2))\ntorch.optim.SGD([{'params': net.parameters()}, {'params': net[0].parameters()}], lr=.1) #<\n", {"groups": "net.parameters(), net[0].parameters()"}),
        Row(W + "torch.optim.Adam([dict(params=[w])])\ntorch.optim.Adam([{'params': [w]}, {'params': w}]) #<\n", {"groups": "[w], w"}),
    ],
    "context_not_made": [
        Row("with torch.no_grad: #<\n    torch.ones(2)\n", {"name": "torch.no_grad"}, True),
        Row("with torch.inference_mode: #<\n    x = torch.ones(2)\n", {}, True),
        Row("with torch.autocast: #<\n    pass\n", {"is_sure": "0"}),
    ],
    "builtin_taken": [
        Row("max = 3 #<\nprint(max(1, 2))\n", {"type": "int", "used_line": "6"}),
        Row("len = torch.ones(2).sum() #<\nprint(len([1]))\n", {"name": "len"}),
    ],
    "function_replaced": [
        Row("score = nn.L1Loss()\nfor i in range(2):\n    score = score(torch.ones(2), torch.zeros(2)) #<\n", {"made_line": "5"}),
        Row("act = nn.ReLU()\nact = act(torch.ones(2)) #<\nact(torch.zeros(2))\n", {"made": "nn.ReLU()"}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "rsample_missing": "class Odd:\n    def rsample(self):\n        raise NotImplementedError\nOdd().rsample()\n",
    "scaler_without_gradients": W + "opt = torch.optim.SGD([w], lr=.1)\nscaler = torch.amp.GradScaler('cpu')\nscaler.scale((w * w).sum()).backward()\nscaler.step(opt)\n",
    "argument_twice": "class A:\n    def scale(factor):\n        return factor\nA().scale(factor=2)\n",
    "function_removed": "torch.linalg.solve(torch.eye(2), torch.ones(3, 1))\n",
    "func_returns_more": "torch.func.grad(lambda w: (w.sum(), w), has_aux=True)(torch.ones(3))\n",
    "super_init_missing": NET
    + "    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(1, 1)\nNet()\n",
    "super_init_late": NET + "    def __init__(self, n):\n        super(nn.Module, self).__init__()\n        self.a = nn.Linear(n, 1)\nNet(1)\n",
    "forward_missing": NET + "    def foward(self, x):\n        return x\nNet()(torch.ones(2))\n",
    "forward_misspelt": NET + "    def backward(self, x):\n        return x\nNet()(torch.ones(2))\n",
    "list_called": "nn.Sequential(nn.ReLU())(torch.ones(2))\n",
    "init_misspelt": NET + "    def __init__(self):\n        super().__init__()\nNet(3)\n",
    "self_missing": "class Data:\n    def size(me, n):\n        return n\n    def half(me):\n        return 1\nData().size(1, 2)\n",
    "arguments_many_own": NET + "    def forward(self, x, y=None):\n        return x\nNet()(torch.ones(2), 3)\n",
    "arguments_missing_own": "def area(a, b=1):\n    return a * b\narea(3)\nnn.Linear(3)\n",
    "no_cuda_several": "torch.ones(2).to('cuda:0')\n",
    "no_cuda": "device = 'cuda' if torch.cuda.is_available() else 'cpu'\ntorch.ones(2).to(device)\n",
    "device_absent": "x = torch.ones(2, device='cpu')\n",
    "device_unknown": "torch.device('cuda:1')\n",
    "state_dict_keys": "net = nn.Linear(2, 2)\nnet.load_state_dict({}, strict=False)\n",
    "state_dict_shape": "net = nn.Linear(2, 2)\nnet.load_state_dict(nn.Linear(2, 2).state_dict())\n",
    "state_dict_prefix": "net = nn.Linear(2, 2)\nnet.load_state_dict({'modules.weight': torch.ones(2, 2)})\n",
    "optimizer_empty": "torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=.1)\n",
    "not_a_leaf_in_optimizer": W + "v = (w * 2).detach().requires_grad_()\ntorch.optim.SGD([v], lr=.1)\n",
    "parameters_inside_list": "opt = torch.optim.SGD([{'params': nn.Linear(2, 1).parameters()}, 3.0], lr=.1)\n",
    "optimizer_of_module": "net = nn.Linear(2, 2)\nfor layer in net:\n    pass\n",
    "module_not_callable": "import math\nmath(3)\n",
    "other_module_called": "torch([1., 2.])\n",
    "attribute_called": X + "x.size()\nx(0)\n",
    "model_not_made": LAYERS + "    def forward(self, x):\n        return self.fc1(x)\nnet = Net(3)\n",
    "step_given_loss": W + "opt = torch.optim.SGD([w], lr=.1)\nopt.step(closure=lambda: w.sum())\n",
    "value_called": DATA + "TensorDataset(np.ones(2), np.ones(2))\n",
    "product_sign": X + "y = 3 * (x.sum() + 1)\n",
    "keyword_misspelt": "nn.Linear(2, 3, activation='relu')\n",
    "keyword_unknown": "nn.Linear(2, 3, biass=True)\n",
    "keyword_other": "nn.Linear(2, 3, dtyp=torch.float32)\n",
    "keys_taken_for_model": "net = nn.Linear(2, 2)\nkeys = net.load_state_dict(net.state_dict())\nprint(keys)\nnet(torch.ones(1, 2))\n",
    "optimizer_given_used_up": "net = nn.Linear(2, 1)\nparams = [p for p in net.parameters() if p.dim() > 3]\nprint(len(params))\nopt = torch.optim.SGD(params, lr=.1)\n",
    "optimizer_empty_list": NET + INIT + "        self.names = ['a']\nnet = Net()\nopt = torch.optim.Adam(net.parameters())\n",
    "super_init_not_called": NET + INIT + "        self.w = nn.Parameter(torch.ones(2))\nNet().missing\n",
    "state_dict_inside": "net = nn.Linear(2, 1)\nnet.load_state_dict({'w': torch.ones(1)})\n",
    "parameter_in_two_groups": "net = nn.Linear(2, 2)\ntorch.optim.SGD([{'params': [net.weight]}, {'params': [net.bias]}], lr=.1)\n",
    "context_not_made": "class Box:\n    pass\nwith Box():\n    pass\n",
    "builtin_taken": "def total(xs):\n    sum = 0\n    return sum\ntotal([1])\ndef use(sum):\n    return sum([1])\nuse(3)\n",
    "function_replaced": "x = torch.ones(2)\nloss = x.mean()\nfor i in range(2):\n    loss = loss(x)\n",
}  # fmt: skip
