"""Programs that fail, and what must be said of them.

`#<` ends the line a finding must name. Each row: the program, parameters that must be among the finding's, and whether its
fix must make the program run to its end.
"""

from typing import NamedTuple

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nimport numpy as np\n"


class Row(NamedTuple):
    """A failing program and what is expected of its finding."""

    program: str
    parameters: dict[str, str]
    mends: bool = False


W = "w = torch.tensor([1., 2.], requires_grad=True)\n"
X = "x = torch.ones(2, 3)\n"
NET = "class Net(nn.Module):\n"


AUTOGRAD: dict[str, list[Row]] = {
    "second_backward": [
        Row(
            "encoder, first, second = nn.Linear(4, 3), nn.Linear(3, 1), nn.Linear(3, 1)\none, two = (torch.optim.SGD([*encoder.parameters(), *net.parameters()], lr=.1) for net in (first, second))\n"
            "def update(optimizer, loss):\n    loss.backward() #<\n    optimizer.step()\nfor i in range(3):\n    h = encoder(torch.randn(5, 4)).tanh()\n"
            "    a, b = first(h).mean(), second(h).pow(2).mean()\n    update(one, a)\n    update(two, b)\n",
            {"shared": "h", "is_stepped": "1"},
        ),
        Row(W + "y = (w * w).sum()\ny.backward()\ny.backward() #<\n", {"first_line": "7", "shared": "y"}, True),
        Row(
            W + "h = w.exp()\na = h.sum()\nb = (h * h).sum()\na.backward(torch.tensor(1.))\nb.backward() #<\n",
            {"shared": "h", "shared_line": "6"},
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
    ],
    "zeroed_with_history": [
        Row(
            "w = torch.tensor(0.9, requires_grad=True)\nstate = torch.zeros(2)\nfor x in torch.ones(3, 2):\n    state.zero_() #<\n    state = torch.tanh(state * w + x)\n    state.sum().backward()\n",
            {"shared": "state", "change": "state.zero_()", "right": "state.detach_().zero_()"},
            True,
        ),
        Row(
            "class Cell(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.tensor(0.9))\n        self.register_buffer('charge', torch.zeros(3))\n"
            "    def reset(self):\n        for kept in self.buffers():\n            kept.zero_() #<\n    def forward(self, x):\n        self.charge = self.w * self.charge + x\n        return self.charge\n"
            "cell = Cell()\nfor i in range(2):\n    cell.reset()\n    cell(torch.ones(3)).sum().backward()\n",
            {"shared": "self.charge", "change": "kept.zero_()"},
            True,
        ),
    ],
    "non_scalar_backward": [
        Row(
            "def train(v):\n    y = v * 2\n    y.backward() #<\ntrain(torch.ones(3, requires_grad=True))\n",
            {"name": "y", "count": "3"},
            True,
        ),
        Row(W + "torch.autograd.grad(w * w, w) #<\n", {"name": "w * w", "shape": "2"}, True),
        Row(
            X + "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(3):\n"
            "    loss = (net(x) - 1.0) ** 2\n    opt.zero_grad()\n    loss.backward() #<\n    opt.step()\n",
            {"name": "loss"},
            True,
        ),
    ],
    "axes_turned": [
        Row(
            "scores = torch.randn(4, 9, 5).log_softmax(2)\nloss = nn.CTCLoss()\nloss(scores, torch.ones(4, 3, dtype=torch.long), torch.full((4,), 9), torch.full((4,), 3)) #<\n",
            {"name": "scores", "columns": "9", "right_shape": "[9, 4, 5]"},
            True,
        ),
        Row(
            "scores = torch.randn(2, 9, 5).log_softmax(2)\nF.ctc_loss(scores, torch.ones(2, 3).long(), (9, 9), (3, 3)) #<\n",
            {"count": "2", "is_ctc": "1"},
            True,
        ),
        Row(
            "edges = torch.tensor([(0, 1), (1, 2), (2, 0)])\na = torch.sparse_coo_tensor(edges, torch.ones(3), (3, 3)) #<\n",
            {"turn": ".t()", "right_shape": "[2, 3]"},
            True,
        ),
        Row(
            "at = torch.tensor([(0, 1), (1, 2), (2, 0)])\na = torch.sparse_coo_tensor(at, torch.ones(3)) #<\n",
            {"count": "3"},
            True,
        ),
    ],
    "not_coalesced": [
        Row(
            "places = torch.tensor([[0, 1], [1, 0]])\na = torch.sparse_coo_tensor(places, torch.ones(2))\nrow, col = a.indices() #<\nkept = a.values() * torch.ones(2)[row]\n",
            {"name": "a"},
            True,
        ),
        Row("print(torch.sparse_coo_tensor([[0, 0]], [1., 2.], (3,)).values()) #<\n", {}, True),
    ],
    "ctc_samples": [
        Row(
            "scores = torch.randn(9, 4, 5).log_softmax(2)\nsizes = torch.full((scores.size(0),), scores.size(1)) #<\nnn.CTCLoss()(scores, torch.ones(4, 3).long(), sizes, torch.full((4,), 3))\n",
            {"argument": "input_lengths", "count": "9", "samples": "4", "is_steps": "1"},
        ),
        Row(
            "scores = torch.randn(9, 4, 5).log_softmax(2)\nF.ctc_loss(scores, torch.ones(6).long(), (9, 9, 9, 9), (3, 3)) #<\n",
            {"argument": "target_lengths", "count": "2", "is_steps": "0", "is_sure": "1"},
        ),
        Row(
            "scores = torch.randn(9, 4, 5).log_softmax(2)\nF.ctc_loss(scores, torch.ones(3, 3).long(), (9, 9, 9), (3, 3, 3)) #<\n",
            {"argument": "input_lengths", "name": "scores", "is_sure": "0"},
        ),
    ],
    "divergence_unknown": [
        Row(
            "from torch import distributions as D\nq = D.Independent(D.Normal(torch.zeros(4, 2), torch.ones(4, 2)), 1)\nprior = D.Normal(torch.zeros(2), torch.ones(2))\nkl = D.kl_divergence(q, prior) #<\n",
            {"bare": "prior", "right": "D.Independent(prior, 1)", "is_wrapped": "1"},
            True,
        ),
        Row(
            "from torch.distributions import *\nkl_divergence(Normal(torch.ones(2), 1.), Independent(Normal(torch.zeros(2), 1.), 1)) #<\n",
            {"second_type": "Independent"},
            True,
        ),
        Row(
            "from torch.distributions import Cauchy, Gumbel, kl_divergence\na, b = Cauchy(0., 1.), Gumbel(0., 1.)\nkl_divergence(a, b) #<\n",
            {"is_wrapped": "0"},
        ),
    ],
    "state_dict_of_parts": [
        Row(
            "from torch.nn.utils import prune\nnet = nn.Sequential(nn.Linear(2, 1))\nprune.l1_unstructured(net[0], 'weight', 0.5)\nnn.Sequential(nn.Linear(2, 1)).load_state_dict(net.state_dict()) #<\n",
            {"name": "0.weight", "is_saved": "1", "undo": "torch.nn.utils.prune.remove(module, 'weight')"},
        ),
        Row(
            "state = nn.Linear(2, 1).state_dict()\nnet = nn.utils.parametrizations.weight_norm(nn.Linear(2, 1))\nnet.load_state_dict(state) #<\n",
            {"name": "weight", "is_saved": "0"},
        ),
    ],
    "meta_weights": [
        Row(X + "net = nn.Linear(3, 1, device='meta') #<\nnet(x)\n", {"is_loaded": "0", "name": "net.weight"}),
        Row(
            "state = nn.Linear(2, 1).state_dict()\nwith torch.device('meta'):\n    net = nn.Linear(2, 1)\nnet.load_state_dict(state) #<\nnet(torch.ones(1, 2))\n",
            {"is_loaded": "1", "name": "net.weight", "meta_line": "6"},
            True,
        ),
        Row(
            "net = nn.Sequential(nn.Linear(2, 1, device='meta')) #<\nnet.to('cpu')\n", {"is_loaded": "0", "name": "net"}
        ),
        Row(
            "state = nn.Embedding(5, 5).state_dict()\nnet = nn.Embedding(5, 5, device='meta')\nnet.load_state_dict(state) #<\nwords = torch.tensor([1, 2])\nnext = net(words).argmax(1)\ntorch.cat((words, next))\n",
            {"is_loaded": "1", "name": "net.weight"},
            True,
        ),
    ],
    "attribute_taken": [
        Row(
            NET
            + "    def __init__(self):\n        super().__init__()\n        self.mask = None #<\n        self.register_buffer('mask', torch.ones(2))\nNet()\n",
            {"name": "mask", "used_line": "9", "is_own": "1"},
            True,
        ),
        Row(
            NET
            + "    def __init__(self):\n        super().__init__()\n        self.register_parameter('scale', nn.Parameter(torch.ones(2)))\n    def scale(self, x): #<\n        return x\nNet()\n",
            {"is_own": "1"},
        ),
        Row("parts = nn.ModuleDict({'keys': nn.Linear(2, 1)}) #<\n", {"is_own": "0"}),
    ],
    "array_backwards": [
        Row(
            "bgr = np.zeros((4, 5, 3), dtype=np.uint8)\nrgb = bgr[:, :, ::-1]\nimage = rgb.transpose(2, 0, 1)\nx = torch.from_numpy(image).float() #<\n",
            {"name": "image", "made": "bgr[:, :, ::-1]", "made_line": "6"},
            True,
        ),
        Row("a = np.arange(6.)\nprint(torch.tensor(np.flip(a))) #<\n", {"name": "np.flip(a)"}, True),
        Row(
            "def turned(a):\n    return a[::-1]\nx = torch.as_tensor(turned(np.arange(3))) #<\n",
            {"is_known": "0"},
            True,
        ),
    ],
    "part_dtype": [
        Row(
            "net, x = nn.Linear(3, 3), torch.ones(4, 3)\nout = torch.zeros_like(x)\nwith torch.autocast('cpu', torch.bfloat16):\n    out[x[:, 0] > 0] = net(x).relu() #<\n",
            {"name": "out", "value": "net(x).relu()", "is_autocast": "1", "maker": "linear"},
            True,
        ),
        Row(
            "counts, at = torch.zeros(3), torch.tensor([0, 2])\ncounts.index_add_(0, at, torch.tensor([1, 1])) #<\n",
            {"right": ".to(counts.dtype)", "is_autocast": "0"},
            True,
        ),
        Row(
            "class Box:\n    pass\nbox = Box()\nbox.sums = torch.zeros(3)\nbox.sums.scatter_(0, torch.tensor([0, 2]), torch.ones(2).double()) #<\n",
            {"name": "box.sums", "value_dtype": "float64"},
            True,
        ),
        Row(
            "places = torch.zeros(3, dtype=torch.long)\nplaces[torch.tensor([0, 1])] = torch.ones(2) / 2 #<\n",
            {"is_lossy": "1"},
        ),
    ],
    "one_of_several_views": [
        Row(
            W
            + "total = 0\nfor part in (w * torch.ones(3, 2)).unbind(0):\n    part += total #<\n    total = part.sum()\ntotal.backward()\n",
            {"name": "part", "made_line": "7", "right": "part = part + total"},
            True,
        ),
        Row(
            W + "h = torch.outer(w, w)\na, b = h.chunk(2, dim=1)\na.mul_(b) #<\na.sum().backward()\n",
            {"made": "h.chunk(2, dim=1)", "right": "a = a.mul(b)"},
            True,
        ),
        Row(
            W + "for row in torch.outer(w, w):\n    torch.relu_(row) #<\n",
            {"made": "torch.outer(w, w)", "is_known": "0"},
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
            {"line": "9"},
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
        Row(W + "loss = torch.tensor((w.sum().item() - 10) ** 2)  #<\nloss.backward()\n", {"leaf": "w"}),
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
        Row(W + "a = w.exp()\na += 1 #<\na.sum().backward()\n", {"name": "a", "saved_line": "6", "version": "1"}, True),
        Row(
            W + "h = w * 1\ny = h * h\nh[0] = 5 #<\ny.sum().backward()\n",
            {"name": "h", "op": "*", "change": "setitem"},
            True,
        ),
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
        ),
        Row(
            "layer = nn.LSTM(2, 3)\nopt = torch.optim.Adam(layer.parameters())\nh, c = torch.zeros(1, 3), torch.zeros(1, 3)\nfor x in torch.randn(3, 4, 2):\n"
            "    out, (h, c) = layer(x, (h, c))\n    opt.zero_grad()\n    out.sum().backward(retain_graph=True)\n    opt.step() #<\n",
            {"change": "opt.step()"},
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
    "leaf_in_place": [
        Row(W + "w -= 0.1 #<\n", {"name": "w"}, True),
        Row(W + "for i in range(2):\n    w.mul_(0.5) #<\n", {"name": "w", "op": "mul_"}, True),
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
    "leaf_view_in_place": [
        Row(W + "w[0] = 3. #<\n", {"name": "w"}, True),
        Row(W + "w[:1].add_(1) #<\n", {"op": "add_"}, True),
    ],
    "no_derivative": [
        Row(W + "y = w // 2 #<\ny.sum().backward()\n", {"used_line": "7"}),
        Row(W + "(w * torch.floor_divide(w, w)).sum().backward() #<\n", {"line": "6"}),
    ],
    "only_floats_require_grad": [
        Row("x = torch.tensor([1, 2], requires_grad=True) #<\n", {"line": "5"}, True),
        Row("i = torch.arange(3)\ni.requires_grad_() #<\n", {"line": "6"}, True),
        Row("x = torch.ones(2, dtype=torch.long, requires_grad=True) #<\n", {"line": "5"}, True),
        Row("p = nn.Parameter(torch.arange(3)) #<\n", {"line": "5"}, True),
    ],
    "numpy_of_tracked": [
        Row(W + "a = w.numpy() #<\n", {"name": "w"}, True),
        Row(W + "a = np.array(w) #<\n", {"name": "w"}, True),
        Row(W + "a = (w * 2).numpy() #<\n", {"name": "w * 2"}, True),
    ],
    "seed_shape": [
        Row(W + "y = w * 2\ny.backward(torch.ones(3)) #<\n", {"name": "y", "given": "[3]", "wanted": "[2]"}),
        Row(W + "torch.autograd.backward(w * 2, torch.tensor(1.)) #<\n", {"given": "[]", "wanted": "[2]"}),
    ],
    "unused_in_grad": [
        Row(
            W
            + "v = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\ng = torch.autograd.grad(loss, [w, v]) #<\n",
            {"name": "v", "output": "loss"},
        ),
        Row(
            "net = nn.ModuleList([nn.Linear(2, 1), nn.Linear(2, 1)])\nloss = net[0](torch.ones(1, 2)).sum()\n"
            "ws = list(net.parameters())\ntorch.autograd.grad(loss, ws) #<\n",
            {"name": "net.1.weight"},
        ),
    ],
    "grad_asked_untracked": [
        Row(W + "v = torch.ones(2) #<\ntorch.autograd.grad((w * v).sum(), v)\n", {"name": "v"}),
        Row(W + "c = w.detach() #<\ntorch.autograd.grad(w.sum(), inputs=c)\n", {"name": "c", "used_line": "7"}),
    ],
    "cannot_stop_tracking": [
        Row(W + "v = w * 2\nv.requires_grad = False #<\n", {"name": "v"}, True),
        Row(W + "v = w * 2\nv.requires_grad_(False) #<\n", {"name": "v"}),
    ],
    "untracked_asked": [
        Row("x = torch.ones(2)\nx.retain_grad() #<\n", {"name": "x", "method": "retain_grad"}),
        Row("x = torch.ones(2)\nx.register_hook(print) #<\n", {"method": "register_hook"}),
    ],
    "inference_tensor": [
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
    "custom_backward_count": [
        Row(
            W
            + "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g, g #<\nTwice.apply(w).sum().backward()\n",
            {"cls": "Twice", "expected": "1", "got": "2", "few": "0"},
        ),
        Row(
            W
            + "class Mul(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n        return a * b\n    @staticmethod\n    def backward(ctx, g):\n        return g #<\nMul.apply(w, w).sum().backward()\n",
            {"expected": "2", "got": "1", "inputs": "`a`, `b`", "few": "1"},
        ),
    ],
    "custom_backward_missing": [
        Row(
            W
            + "class Twice(torch.autograd.Function): #<\n    @staticmethod\n    def forward(ctx, a):\n        return a * 2\nTwice.apply(w).sum().backward()\n",
            {"cls": "Twice"},
        ),
        Row(
            "from torch.autograd import Function\n"
            + W
            + "class Half(Function): #<\n    @staticmethod\n    def forward(ctx, a):\n        return a / 2\ny = Half.apply(w)\ny.sum().backward()\n",
            {"cls": "Half"},
        ),
    ],
    "custom_backward_misspelt": [
        Row(
            W
            + "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 2\n    @staticmethod\n    def backwards(ctx, g): #<\n        return g * 2\nTwice.apply(w).sum().backward()\n",
            {"name": "backwards"},
            True,
        ),
        Row(
            W
            + "class Id(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 1\n    @staticmethod\n    def backward_(ctx, g): #<\n        return g\nId.apply(w).sum().backward()\n",
            {"cls": "Id"},
            True,
        ),
    ],
    "backward_of_number": [
        Row("loss = 0.5\nloss.backward() #<\n", {"name": "loss", "made_line": "5"}),
        Row(
            "total = 0\nfor i in range(3):\n    total += i\ntotal.backward() #<\n",
            {"name": "total", "type": "int", "made_line": "7"},
        ),
        Row(
            W + "total = 0.0\nfor i in range(3):\n    total += (w * w).sum().item()\ntotal.backward() #<\n",
            {"name": "total", "made_line": "8"},
            mends=True,
        ),
    ],
    "grad_none_untracked": [
        Row("x = torch.ones(2)\nx.grad.zero_() #<\n", {"name": "x", "grad": "x.grad"}),
        Row("x = torch.ones(2)\ny = x - 0.1 * x.grad #<\n", {"name": "x"}),
    ],
    "grad_none_non_leaf": [
        Row(
            W + "w = w * 2\nw.sum().backward()\nw.data -= w.grad * .1 #<\n",
            {"name": "w", "made_line": "6", "op": "*"},
        ),
        Row(
            "x = torch.ones(2, requires_grad=True).double()\nx.sum().backward()\nprint(x.grad.sum()) #<\n",
            {"name": "x", "op": "double"},
        ),
    ],
    "grad_none_before_backward": [
        Row(W + "for i in range(2):\n    w.grad.zero_() #<\n    (w * w).sum().backward()\n", {"grad": "w.grad"}, True),
        Row("v = torch.zeros(1, requires_grad=True)\nv.grad.zero_() #<\n", {"name": "v"}, True),
    ],
    "grad_none_unreached": [
        Row(
            W + "v = torch.ones(2, requires_grad=True)\nw.sum().backward()\nprint(v.grad.sum()) #<\n",
            {"name": "v", "pass_line": "7"},
        ),
        Row(
            "net = nn.Linear(2, 1)\nother = nn.Linear(2, 1)\nnet(torch.ones(1, 2)).sum().backward()\nother.weight.grad.norm() #<\n",
            {"name": "other.weight"},
        ),
    ],
    "grad_none_after_zero_grad": [
        Row(
            W
            + "opt = torch.optim.SGD([w], lr=.1)\n(w * w).sum().backward()\nopt.step()\nopt.zero_grad()\nw.grad.data.zero_() #<\n",
            {"reset_line": "9"},
            True,
        ),
        Row(
            "net = nn.Linear(2, 1)\nnet(torch.ones(1, 2)).sum().backward()\nnet.zero_grad()\nprint(net.weight.grad.norm()) #<\n",
            {"reset_line": "7"},
        ),
    ],
    "grad_none_dropped": [
        Row(W + "w.sum().backward()\nw.grad = None\nw.grad.zero_() #<\n", {"reset_line": "7"}, True),
        Row(W + "w.sum().backward()\nw.grad = None\nprint(w.grad.sum()) #<\n", {"name": "w"}),
    ],
    "return_missing": [
        Row(
            "def double(v):\n    v * 2 #<\nprint(double(torch.ones(2)).sum())\n",
            {"function": "double", "used_line": "7"},
            True,
        ),
        Row(
            NET
            + "    def forward(self, x):\n        y = x * 2 #<\nnet = Net()\nout = net(torch.ones(2))\nprint(out.sum())\n",
            {"function": "forward"},
            True,
        ),
    ],
    "pair_returned": [
        Row(X + "print(x.max(1).sum()) #<\n", {"op": "max"}, True),
        Row(X + "m = torch.sort(x, 1)\nprint(m.mean()) #<\n", {"op": "sort", "name": "m"}, True),
    ],
}

SHAPES: dict[str, list[Row]] = {
    "shape_mismatch_matmul": [
        Row(
            "a = torch.ones(4, 3)\nv = torch.ones(2)\ntorch.mv(a, v) #<\n",
            {"shape": "[4, 3]", "other_shape": "[2]"},
        ),
        Row("a = torch.ones(2, 3, 4)\nb = torch.ones(2, 5, 6)\na @ b #<\n", {"inner": "4", "outer": "5"}),
    ],
    "product_turned": [
        Row(
            "a = torch.ones(4, 3)\nb = torch.ones(5, 3)\na @ b #<\n",
            {"name": "a", "other": "b", "inner": "3", "outer": "5"},
            True,
        ),
        Row(
            "q, k = torch.ones(2, 5, 8), torch.ones(2, 5, 8)\nscores = torch.bmm(q, k) / 8 #<\n",
            {"name": "q", "other": "k", "inner": "8", "outer": "5"},
            True,
        ),
    ],
    "linear_shape": [
        Row(
            X + "net = nn.Linear(4, 2)\nnet(x) #<\n",
            {"layer": "net", "got": "3", "wanted": "4", "made_line": "6"},
            True,
        ),
        Row(
            X
            + NET
            + "    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(3, 4)\n        self.b = nn.Linear(5, 2)\n    def forward(self, x):\n        return self.b(self.a(x)) #<\nnet = Net()\nnet(x)\n",
            {"layer": "net.b", "got": "4", "made_line": "10"},
            True,
        ),
        Row(
            X
            + "net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(in_features=5, out_features=2))\nnet(x) #<\n",
            {"layer": "net.2", "was_map": "0"},
            True,
        ),
        Row(
            "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2, stride=1), nn.Flatten(), nn.Dropout(), nn.Linear(18, 4))\nnet(torch.ones(5, 1, 8, 8)) #<\n",
            {"was_map": "1", "way": "1×8×8 → conv2d 2×6×6 → max_pool2d 2×5×5", "got": "50"},
            True,
        ),
        Row(
            "pool, head = nn.AvgPool1d(2), nn.Linear(12, 4)\nx = pool(torch.ones(5, 3, 10))\nhead(x.view(5, -1)) #<\n",
            {"was_map": "1", "way": "3×10 → avg_pool1d 3×5"},
        ),
        Row("head = nn.Linear(12, 4)\nhead(torch.ones(5, 3, 10).flatten(1)) #<\n", {"was_map": "0"}, True),
    ],
    "flatten_missing": [
        Row(
            "net = nn.Linear(784, 10)\nimages = torch.ones(2, 1, 28, 28)\nnet(images) #<\n",
            {"layer": "net", "wanted": "784"},
            True,
        ),
        Row(
            "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Linear(72, 10))\nnet(torch.ones(4, 1, 8, 8)) #<\n",
            {"shape": "[4, 2, 6, 6]"},
            True,
        ),
    ],
    "product_axes": [
        Row("m = torch.ones(2, 4)\nv = torch.ones(4)\ntorch.mm(m, v) #<\n", {"op": "mm", "other_shape": "[4]"}, True),
        Row(X + "torch.dot(x, x) #<\n", {"op": "dot"}),
        Row(X + "torch.bmm(x, x.T) #<\n", {"op": "bmm"}, True),
    ],
    "shape_mismatch_broadcast": [
        Row(
            X + "b = torch.ones(4)\ny = x + b #<\n",
            {"name": "x", "other": "b", "axis": "1", "a": "3", "b": "4", "back": "1"},
        ),
        Row(
            "p = torch.ones(4, 2)\nt = torch.ones(3)\nF.mse_loss(p, t) #<\n",
            {"name": "p", "other": "t", "axis": "1"},
        ),
    ],
    "in_place_shape": [
        Row("a = torch.ones(3)\na += torch.ones(2, 3) #<\n", {"result": "[2, 3]"}),
        Row("a = torch.zeros(1, 3)\na.add_(torch.ones(2, 3)) #<\n", {"name": "a", "shape": "[1, 3]"}),
    ],
    "cat_shapes": [
        Row(X + "y = torch.ones(2, 4)\ntorch.cat([x, y]) #<\n", {"name": "x", "other": "y", "axis": "1", "along": "0"}),
        Row(X + "torch.cat((x, x, torch.ones(3, 3)), dim=1) #<\n", {"axis": "0", "at": "2"}),
    ],
    "cat_axes": [
        Row(X + "torch.cat([x, torch.ones(3)]) #<\n", {"name": "x", "other_shape": "[3]"}),
        Row(X + "torch.cat([torch.ones(2), x], 0) #<\n", {"shape": "[2]"}),
    ],
    "stack_shapes": [
        Row(X + "torch.stack([x, torch.ones(3)]) #<\n", {"first_shape": "[2, 3]", "other_shape": "[3]"}),
        Row("rows = [torch.ones(2, n) for n in (2, 3)]\nm = torch.stack(rows, 1) #<\n", {"other": "1"}),
    ],
    "batch_shapes": [
        Row(
            "from torch.utils.data import DataLoader\ndata = [torch.ones(2), torch.ones(3)]\nfor batch in DataLoader(data, batch_size=2): #<\n    pass\n",
            {"first_shape": "[2]", "other_shape": "[3]", "is_written": "0"},
        ),
        Row(
            "from torch.utils.data import DataLoader\nfrom torch.nn.utils.rnn import pad_sequence\ndef together(batch):\n    return pad_sequence(batch, batch_first=True)\n"
            "loader = DataLoader([torch.ones(2), torch.ones(3)], batch_size=2) #<\nfor batch in loader:\n    pass\n",
            {"is_written": "1", "function": "together", "function_line": "7"},
            True,
        ),
        Row(
            "from torch.utils.data import DataLoader\ndef wide(x):\n    return F.pad(x, (0, 3))\ndata = [wide(torch.ones(2)), torch.ones(3)]\nfor batch in DataLoader(data, batch_size=2): #<\n    pass\n",
            {"is_written": "0"},
        ),
        Row(
            "from torch.utils.data import DataLoader\nloader = DataLoader([torch.ones(1, 2), torch.ones(2, 2)], batch_size=2)\nfirst = next(iter(loader)) #<\n",
            {"other_shape": "[2, 2]"},
        ),
    ],
    "shape_invalid": [
        Row(X + "x.view(4, 2) #<\n", {"name": "x", "count": "6", "shape": "[4, 2]"}),
        Row(X + "torch.reshape(x, (4, -1)) #<\n", {"given_shape": "[2, 3]"}),
    ],
    "reshape_of_nothing": [
        Row("x = torch.randn(0, 10).view(1, 10) #<\n", {"given_shape": "[0, 10]", "wanted": "10"}),
        Row("e = torch.ones(0, 20)\ny = e.reshape(1, 10) #<\n", {"name": "e", "made_line": "5"}),
    ],
    "view_not_contiguous": [
        Row(X + "y = x.t()\nz = y.view(6) #<\n", {"name": "y", "strides": "[1, 3]"}, True),
        Row("x = torch.ones(2, 3, 4)\nx.permute(2, 0, 1).view(24) #<\n", {"shape": "[4, 2, 3]"}, True),
        Row("q = torch.ones(2, 5, 24).chunk(3, dim=-1)[0]\nq.view(2, 4, -1, 2) #<\n", {"is_mixed": "1"}),
    ],
    "expand_size": [
        Row(X + "x.expand(4, 3) #<\n", {"name": "x", "axis": "0", "wanted": "4", "got": "2"}),
        Row("v = torch.ones(3)\nv.expand(2, 4) #<\n", {"name": "v", "target": "[2, 4]"}),
    ],
    "axes_of_sizes": [
        Row(
            "x = torch.ones(3, 4, 7)\ny = (x * 2).sum(dim=list(x.shape)[1:]) #<\n",
            {"written": "list(x.shape)[1:]", "axis": "4"},
        ),
        Row(X + "torch.flip(x, dims=(x.size(1),)) #<\n", {"op": "flip", "written": "(x.size(1),)"}),
    ],
    "axis_out_of_range": [
        Row("x = torch.ones(5, 4)\nx.permute(2, 0, 1) #<\n", {"axis": "2", "axes": "2", "low": "-2"}),
        Row(X + "x.sum(dim=2) #<\n", {"name": "x", "axis": "2", "axes": "2", "low": "-2"}),
        Row(X + "F.softmax(x, dim=-3) #<\n", {"axis": "-3"}),
    ],
    "target_out_of_range": [
        Row(
            X + "t = torch.tensor([0, 3])\nF.cross_entropy(x, t) #<\n",
            {"value": "3", "classes": "3", "last": "2", "other": "t"},
        ),
        Row("loss = nn.NLLLoss()\nloss(torch.zeros(1, 2), torch.tensor([2])) #<\n", {"value": "2", "classes": "2"}),
        Row(
            "kinds = torch.tensor([0, 4, 1])\nF.one_hot(kinds, 3) #<\n",
            {"value": "4", "other": "kinds", "is_one_hot": "1"},
        ),
        Row("kinds = torch.tensor([0, -1])\nF.one_hot(kinds, num_classes=3) #<\n", {"value": "-1"}),
    ],
    "index_out_of_range": [
        Row(X + "x[2] #<\n", {"name": "x", "axis": "0", "size": "2", "last": "1"}),
        Row(X + "for j in range(4):\n    x[0, j] #<\n", {"axis": "1", "index": "3"}),
    ],
    "attribute_overwritten": [
        Row(
            "class Weighted:\n    def __init__(self):\n        self.weights = torch.rand(10)\n    def __call__(self, losses, labels):\n"
            "        self.weights = self.weights.gather(0, labels.view(-1)) #<\n        return (self.weights * losses).mean()\n"
            "criterion = Weighted()\nfor labels in (torch.tensor([9, 1, 2]), torch.tensor([0, 9, 4])):\n    criterion(torch.ones(3), labels)\n",
            {"name": "self.weights", "first_shape": "[10]", "shape": "[3]", "used_line": "9"},
            True,
        ),
        Row(
            "class Places(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('table', torch.randn(1, 50, 4))\n    def forward(self, x):\n"
            "        self.table = self.table[:, : x.size(1)] #<\n        return x + self.table\nplaces = Places()\nfor length in (5, 3, 9):\n    places(torch.ones(2, length, 4))\n",
            {"name": "self.table", "shape": "[1, 3, 4]", "used_line": "11"},
            True,
        ),
    ],
    "embedding_index": [
        Row(
            "emb = nn.Embedding(3, 2)\nids = torch.tensor([1, 5])\nemb(ids) #<\n",
            {"name": "ids", "value": "5", "rows": "3"},
        ),
        Row("table = torch.ones(4, 2)\nF.embedding(torch.tensor([4]), table) #<\n", {"value": "4", "last": "3"}),
    ],
    "embedding_counted_early": [
        Row(
            "class Words:\n    def __init__(self, texts):\n        self.numbers = {}\n        for word in texts:\n            self.numbers.setdefault(word, len(self.numbers))\n        self.size = len(self.numbers) #<\n"
            "        for special in ('<pad>', '<end>'):\n            self.numbers[special] = len(self.numbers)\nwords = Words(['a', 'b', 'a'])\n"
            "class Net(nn.Module):\n    def __init__(self, count):\n        super().__init__()\n        self.emb = nn.Embedding(count, 3)\nnet = Net(words.size)\nnet.emb(torch.tensor([0, words.numbers['<end>']]))\n",
            {"rows": "2", "value": "3", "growth_line": "12", "count": "len(self.numbers)"},
        ),
        Row(
            "known = {'a': 0, 'b': 1}\nemb = nn.Embedding(len(known), 2) #<\nids = []\nfor word in 'abc':\n    if word not in known:\n        known[word] = len(known)\n    ids.append(known[word])\nx = torch.tensor(ids)\nprint(emb(x))\n",
            {"name": "x", "value": "2", "growth_line": "10"},
        ),
    ],
    "embedding_positions": [
        Row(
            "places = nn.Embedding(4, 2)\nx = torch.ones(3, 6, 2)\nat = torch.arange(x.size(1)).unsqueeze(0).repeat(3, 1)\nx + places(at) #<\n",
            {"layer": "places", "rows": "4", "length": "6", "counted_line": "7", "made_line": "5"},
        ),
        Row(
            "table = torch.randn(5, 2)\ndef embed(tokens):\n    return F.embedding(torch.arange(len(tokens)), table) #<\nembed([3] * 9)\n",
            {"length": "9", "last": "4"},
        ),
    ],
    "embedding_place_of_scores": [
        Row(
            "table = nn.Embedding(3, 8)\nids = torch.zeros(1, 1, dtype=torch.long)\nfor i in range(20):\n    scores = table(ids)[:, -1] #<\n"
            "    scores = scores + torch.arange(8.) * 9\n    ids = torch.cat((ids, scores.softmax(-1).multinomial(1)), dim=1)\n",
            {"op": "multinomial", "columns": "8", "rows": "3", "last": "2"},
        ),
        Row(
            "table = nn.Embedding(3, 2)\nhead = nn.Linear(2, 5)\nnn.init.constant_(head.bias, 0)\nhead.bias.data[4] = 99\nnext_id = head(table(torch.tensor([0]))).argmax(-1)\ntable(next_id) #<\n",
            {"op": "argmax", "value": "4"},
        ),
    ],
    "list_index": [
        Row("layers = [1, 2]\nlayers[2] #<\n", {"name": "layers", "index": "2"}),
        Row("blocks = nn.ModuleList([nn.ReLU()])\nblocks[1] #<\n", {"name": "blocks"}),
    ],
    "indices_many": [
        Row(X + "x[0, 0, 0] #<\n", {"name": "x", "axes": "2"}),
        Row("v = torch.ones(3)\nv[:, 1] #<\n", {"name": "v", "shape": "[3]"}),
    ],
    "index_of_scalar": [
        Row(X + "loss = x.sum()\nprint(loss.data[0]) #<\n", {"name": "loss"}, True),
        Row("t = torch.tensor(3.)\ny = t[0] #<\n", {"name": "t"}, True),
    ],
    "mask_shape": [
        Row(
            X + "m = torch.tensor([True, False, True])\nx[m] #<\n",
            {"mask": "[3]", "shape": "[2, 3]", "axis": "0"},
        ),
        Row("v = torch.ones(4)\nv[torch.ones(3) > 0] #<\n", {"mask": "[3]"}),
    ],
    "iterate_scalar": [
        Row("for v in torch.tensor(1.): #<\n    pass\n", {"line": "5"}),
        Row("n = len(torch.ones(3).sum()) #<\n", {"line": "5"}),
    ],
    "unpack_count": [
        Row("a, b = torch.ones(3) #<\n", {"expected": "2", "value": "torch.ones(3)"}),
        Row(X + "a, b, c = x #<\n", {"expected": "3", "value": "x"}),
    ],
    "conv_channels": [
        Row(
            "conv = nn.Conv2d(3, 6, 5)\nconv(torch.ones(1, 1, 28, 28)) #<\n",
            {"layer": "conv", "wanted": "3", "got": "1"},
            True,
        ),
        Row(
            "net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.Conv1d(in_channels=8, out_channels=2, kernel_size=1))\nnet(torch.ones(1, 2, 9)) #<\n",
            {"layer": "net.1", "got": "4"},
            True,
        ),
    ],
    "conv_axes": [
        Row("conv = nn.Conv2d(1, 6, 5)\nconv(torch.ones(28, 28)) #<\n", {"op": "conv2d", "shape": "[28, 28]"}),
        Row("x = torch.ones(5)\nF.conv1d(x, torch.ones(1, 1, 3)) #<\n", {"op": "conv1d", "name": "x"}),
    ],
    "kernel_too_large": [
        Row("conv = nn.Conv2d(1, 6, 5)\nconv(torch.ones(1, 1, 3, 3)) #<\n", {"size": "3 x 3", "kernel": "5 x 5"}),
        Row("x = torch.ones(1, 1, 2)\nF.conv1d(x, torch.ones(1, 1, 3)) #<\n", {"name": "x"}),
    ],
    "batch_norm_one_value": [
        Row("bn = nn.BatchNorm1d(3)\nbn(torch.ones(1, 3)) #<\n", {"layer": "bn"}),
        Row("net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))\nnet(torch.ones(1, 2)) #<\n", {"layer": "net.1"}),
    ],
    "recurrent_input": [
        Row("lstm = nn.LSTM(3, 4)\nlstm(torch.ones(5, 2, 7)) #<\n", {"layer": "lstm", "wanted": "3", "got": "7"}, True),
        Row(
            "x = torch.ones(5, 2, 6)\nrnn = nn.RNN(input_size=4, hidden_size=2)\nrnn(x) #<\n",
            {"layer": "rnn", "got": "6"},
            True,
        ),
    ],
    "features_without_axis": [
        Row(
            "seq = torch.ones(8, 24)\nlstm = nn.LSTM(1, 4, batch_first=True)\nlstm(seq) #<\n",
            {"name": "seq", "layer": "lstm", "size": "24"},
            True,
        ),
        Row("rnn = nn.RNN(1, 2)\nrnn(torch.ones(6, 5)) #<\n", {"layer": "rnn", "size": "5"}),
    ],
    "loss_batch": [
        Row(
            X + "t = torch.tensor([0, 1, 2])\nF.cross_entropy(x, t) #<\n",
            {"samples": "2", "targets": "3", "other": "t"},
        ),
        Row("loss = nn.NLLLoss()\nloss(torch.zeros(4, 2), torch.zeros(2, dtype=torch.long)) #<\n", {"samples": "4"}),
    ],
    "batch_cut_anew": [
        Row(
            "x, head = torch.randn(6, 4, 5), nn.Linear(15, 3)\nout = head(x.view(-1, 15)) #<\nF.cross_entropy(out, torch.zeros(6, dtype=torch.long))\n",
            {"samples": "8", "targets": "6", "each": "20", "width": "15", "given": "x"},
        ),
        Row(
            NET
            + "    def __init__(self):\n        super().__init__()\n        self.conv, self.fc = nn.Conv2d(1, 2, 3, padding=1), nn.Linear(2 * 4 * 4, 3)\n"
            "    def forward(self, x):\n        x = self.conv(x).relu()\n        x = x.reshape(-1, 2 * 4 * 4) #<\n        return self.fc(x)\n"
            "nn.NLLLoss()(Net()(torch.ones(8, 1, 6, 6)).log_softmax(1), torch.zeros(8, dtype=torch.long))\n",
            {"samples": "18", "targets": "8", "sizes": "2×6×6"},
        ),
    ],
    "target_axes": [
        Row(
            X + "t = torch.tensor([[0], [1]])\nF.cross_entropy(x, t) #<\n",
            {"other": "t", "other_shape": "[2, 1]"},
            True,
        ),
        Row(
            X + "loss = nn.CrossEntropyLoss()\nloss(x, torch.zeros(2, 1, dtype=torch.long)) #<\n",
            {"other_shape": "[2, 1]", "is_long": "1"},
            True,
        ),
        Row(X + "t = torch.tensor([[0.], [2.]])\nF.cross_entropy(x, t) #<\n", {"other": "t", "is_long": "0"}, True),
    ],
    "target_shape": [
        Row(
            "p = torch.full((2, 1), .5)\nt = torch.ones(2)\nF.binary_cross_entropy(p, t) #<\n",
            {"name": "p", "other": "t"},
            True,
        ),
        Row(
            "p = torch.zeros(4)\nloss = nn.BCEWithLogitsLoss()\nloss(p, torch.ones(4, 1)) #<\n",
            {"shape": "[4]"},
            True,
        ),
    ],
    "ragged_list": [
        Row("x = torch.tensor([[1, 2], [3]]) #<\n", {"expected": "2", "got": "1", "axis": "1"}),
        Row("x = torch.tensor([[[1.], [2.]], [[3.]]]) #<\n", {"axis": "1"}),
    ],
}

TYPES: dict[str, list[Row]] = {
    "dtype_mismatch": [
        Row(
            X + "i = torch.ones(3, 2, dtype=torch.long)\nx @ i #<\n",
            {"name": "i", "dtype": "int64", "cast": ".float()"},
            True,
        ),
        Row(
            "net = nn.Linear(3, 1)\nd = torch.from_numpy(np.ones((2, 3)))\nnet(d) #<\n",
            {"name": "d", "dtype": "float64", "layer": "net"},
            True,
        ),
        Row("conv = nn.Conv1d(1, 1, 1)\nx = torch.ones(1, 1, 3).double()\nconv(x) #<\n", {"name": "x"}, True),
        Row("norm = nn.BatchNorm1d(3)\nx = torch.ones(4, 3).double()\nnorm(x) #<\n", {"name": "x"}, True),
        Row(
            NET
            + "    def __init__(self):\n        super().__init__()\n        self.cell = nn.GRU(1, 4)\n    def forward(self, x):\n        return self.cell(x.unsqueeze(-1))[1] #<\nnet = Net()\nx = torch.from_numpy(np.ones((5, 2)))\nnet(x)\n",
            {"name": "x.unsqueeze(-1)", "other": "net.cell.weight_ih_l0", "layer": "net.cell", "origin_line": "12"},
            True,
        ),
    ],
    "mean_of_integers": [
        Row("m = torch.arange(3).mean() #<\n", {"op": "mean", "dtype": "int64"}, True),
        Row("c = torch.tensor([1, 2])\nm = torch.mean(c) #<\n", {"name": "c"}, True),
    ],
    "dtype_not_supported": [
        Row("i = torch.arange(3)\ns = i.softmax(0) #<\n", {"name": "i", "op": "softmax", "dtype": "int64"}, True),
        Row("i = torch.arange(4)\ns = F.log_softmax(i, 0) #<\n", {"name": "i"}, True),
        Row(
            "seen = torch.ones(3) > 0\nx = torch.ones(3)[1 - seen] #<\n",
            {"name": "seen", "op": "-", "is_mask": "1"},
            True,
        ),
        Row("seen = torch.ones(3) > 0\ngap = torch.ones(3) - seen #<\n", {"dtype": "bool"}, True),
    ],
    "in_place_dtype": [
        Row("a = torch.arange(3)\na += 0.5 #<\n", {"name": "a", "own": "int64", "result": "float32"}, True),
        Row("a = torch.tensor([1, 2])\na.div_(2) #<\n", {"op": "div_"}),
    ],
    "target_not_long": [
        Row(
            X + "loss = nn.CrossEntropyLoss()\nt = torch.tensor([0., 1.])\nloss(x, t) #<\n",
            {"target": "t", "dtype": "float32"},
            True,
        ),
        Row(X + "F.nll_loss(x, torch.tensor([0., 1.])) #<\n", {"op": "nll_loss"}, True),
    ],
    "target_not_float": [
        Row(
            "p = torch.full((2,), .5)\nt = torch.tensor([0, 1])\nF.binary_cross_entropy(p, t) #<\n",
            {"target": "t", "dtype": "int64"},
            True,
        ),
        Row(
            "p = torch.zeros(2)\nloss = nn.BCEWithLogitsLoss()\nt = torch.tensor([0, 1])\nloss(p, t) #<\n",
            {"target": "t"},
            True,
        ),
    ],
    "index_dtype": [
        Row(
            "emb = nn.Embedding(3, 2)\nids = torch.tensor([1., 2.])\nemb(ids) #<\n",
            {"name": "ids", "dtype": "float32"},
            True,
        ),
        Row(X + "i = torch.tensor([0.])\nx[i] #<\n", {"name": "i"}, True),
        Row(
            "net = nn.Linear(3, 4)\nacts = torch.from_numpy(np.zeros(2, dtype=np.uint8))\nq = net(torch.ones(2, 3)).gather(1, acts.unsqueeze(1)) #<\n",
            {"name": "acts.unsqueeze(1)", "dtype": "uint8", "is_whole": "1"},
            True,
        ),
        Row(
            X + "rows, parts = torch.tensor([1, 0]).short(), torch.ones(2, 3)\nx.index_add_(0, rows, parts) #<\n",
            {"name": "rows", "dtype": "int16"},
            True,
        ),
        Row(X + "places = torch.zeros(2, 1)\nx.take(places) #<\n", {"name": "places", "is_whole": "0"}, True),
    ],
    "index_not_whole": [
        Row(X + "x[0.5] #<\n", {"index": "0.5", "type": "float"}),
        Row(X + "n = 2\nx[n / 2] #<\n", {"index": "n / 2"}, True),
    ],
    "device_mismatch": [
        Row(X + "y = torch.ones(2, 3, device='meta')\nx + y #<\n", {"name": "x", "other": "y", "other_device": "meta"}),
        Row(X + "net = nn.Linear(3, 1)\nnet(x.to('meta')) #<\n", {"device": "meta", "other_device": "cpu"}),
    ],
    "tensor_of_tensors": [
        Row(X + "y = torch.tensor([x, x]) #<\n", {"line": "6"}, True),
        Row("a, b = torch.ones(2), torch.zeros(2)\ny = torch.tensor((a, b)) #<\n", {"line": "6"}, True),
    ],
    "number_of_many": [
        Row(X + "float(x) #<\n", {"name": "x", "function": "float"}),
        Row("v = torch.tensor([1, 2])\nint(v) #<\n", {"function": "int"}),
    ],
    "scalar_of_many": [
        Row(X + "x.item() #<\n", {"name": "x", "count": "6"}),
        Row("v = torch.tensor([1., 2.])\nprint((v * 2).item()) #<\n", {"name": "v * 2", "count": "2"}),
    ],
    "bool_of_many": [
        Row(X + "if x > 0: #<\n    pass\n", {"name": "x > 0", "shape": "[2, 3]"}),
        Row(X + "while not x: #<\n    pass\n", {"name": "x"}),
    ],
    "loss_not_made": [
        Row(X + "loss = nn.MSELoss(x, x) #<\n", {"name": "MSELoss"}, True),
        Row("p, t = torch.zeros(2, 3), torch.ones(2, 3)\nnn.L1Loss(p, t).item() #<\n", {"name": "L1Loss"}, True),
    ],
}

MODULES: dict[str, list[Row]] = {
    "super_init_missing": [
        Row(NET + "    def __init__(self): #<\n        self.a = nn.Linear(1, 1)\nNet()\n", {"cls": "Net"}, True),
        Row(
            NET
            + "    def __init__(self): #<\n        self.n = 3\n    def forward(self, x):\n        return x\nnet = Net()\nnet(torch.ones(2))\n",
            {"cls": "Net"},
            True,
        ),
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
    "super_underscores": [
        Row(
            NET + "    def __init__(self):\n        super().__init() #<\nNet()\n",
            {"short": "__init", "right": "__init__"},
            True,
        ),
        Row(
            "class Conv(nn.Module):\n    def __init__(self):\n        super(Conv, self).__init() #<\n        self.a = nn.Linear(1, 1)\nConv()\n",
            {"short": "__init"},
            True,
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
            {"function": "Data.__init__"},
        ),
    ],
    "arguments_many": [
        Row("nn.Linear(2, 3, True, None, None, 7) #<\n", {"function": "Linear"}),
        Row("def f(a):\n    return a\nf(1, 2) #<\n", {"takes": "1", "given": "2"}),
    ],
    "arguments_missing": [
        Row("nn.Linear(3) #<\n", {"function": "Linear", "missing": "out_features"}),
        Row(
            W + "opt = torch.optim.SGD([w], lr=0.1)\ntorch.optim.lr_scheduler.StepLR(opt) #<\n",
            {"missing": "step_size"},
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
    "pin_memory": [
        Row("x = torch.tensor([1.], pin_memory=True) #<\n", {"line": "5"}),
        Row("x = torch.ones(2, #<\n    pin_memory=True)\n", {"line": "5"}),
    ],
    "state_dict_keys": [
        Row(
            "net = nn.Linear(2, 2)\nnet.load_state_dict({'w': torch.ones(2, 2)}) #<\n",
            {"missing": "weight, bias", "unexpected": "w"},
        ),
        Row(
            "net = nn.Linear(2, 2)\nstate = nn.Linear(2, 2, bias=False).state_dict()\nnet.load_state_dict(state) #<\n",
            {"missing": "bias", "unexpected": "–"},
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
    ],
    "optimizer_given_nothing": [
        Row("opt = torch.optim.SGD([], lr=.1) #<\n", {"line": "5"}),
        Row("from torch import optim\nnet = nn.Linear(1, 1)\nopt = optim.Adam((), lr=.1) #<\n", {"line": "7"}),
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
            "class Model:\n    def __init__(self):\n"
            "        self.w = torch.randn(2, requires_grad=True) * 0.1 #<\n"
            "        self.b = torch.zeros(2, requires_grad=True)\n"
            "    def parameters(self):\n        return [self.w, self.b]\n"
            "opt = torch.optim.SGD(Model().parameters(), lr=0.1)\n",
            {"name": "self.w", "op": "*"},
            True,
        ),
    ],
    "optimizer_of_tensor": [
        Row(W + "opt = torch.optim.SGD(w, lr=.1) #<\n", {"name": "w"}, True),
        Row("p = nn.Parameter(torch.ones(2))\nopt = torch.optim.Adam(p) #<\n", {"name": "p"}, True),
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
}

CALLS: dict[str, list[Row]] = {
    "module_not_callable": [
        Row("x = torch([5.5, 3]) #<\n", {"receiver": "torch"}, True),
        Row("def make():\n    return torch(3.) #<\nmake()\n", {"suggestion": "torch.tensor"}, True),
    ],
    "other_module_called": [
        Row("import math\nmath(3) #<\n", {"receiver": "math"}),
        Row("import random\nx = random(0, 1) #<\n", {"receiver": "random"}),
    ],
    "size_not_callable": [
        Row(X + "print(x.shape()) #<\n", {"name": "shape", "receiver": "x"}, True),
        Row("k = torch.rand(5, 3)\nrows = k.T.shape()[0] #<\n", {"receiver": "k.T"}, True),
    ],
    "attribute_called": [
        Row(X + "y = x.T() #<\n", {"name": "T"}, True),
        Row(X + "n = x.ndim() #<\n", {"name": "ndim", "type": "int"}, True),
    ],
    "value_called": [
        Row(X + "x(0) #<\n", {"name": "x", "type": "Tensor"}),
        Row("lr = 0.1\nstep = lr(3) #<\n", {"name": "lr", "type": "float"}),
    ],
    "product_sign": [
        Row(X + "y = 3(x.sum() + 1) #<\n", {"written": "3(x.sum() + 1)"}, True),
        Row("x = 2\ny = 2x #<\n", {"written": "2x", "right": "2 * x"}, True),
    ],
    "method_as_value": [
        Row(X + "y = x.mean + 1 #<\n", {"method": "x.mean"}, True),
        Row(
            "net = nn.Linear(2, 2)\nopt = torch.optim.SGD(net.parameters, lr=.1) #<\n",
            {"method": "net.parameters"},
            True,
        ),
        Row(X + "n = x.size[0] #<\n", {"method": "x.size"}, True),
        Row(W + "w.sum.backward() #<\n", {"method": "w.sum"}, True),
    ],
    "method_without_tensor": [
        Row("torch.zero_() #<\n", {"name": "zero_"}),
        Row(X + "y = unsqueeze(x, 0) #<\n", {"name": "unsqueeze"}),
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
    "arguments_invalid": [
        Row("torch.rand(2.0, 3) #<\n", {"function": "rand", "got": "float, int"}),
        Row(X + "torch.sum(x, 'rows') #<\n", {"function": "sum"}),
        Row(
            X + "x.masked_fill(x > 0, '-inf') #<\n",
            {"forms": "`masked_fill(Tensor mask, Tensor value)`, `masked_fill(Tensor mask, float value)`"},
        ),
    ],
    "operand_types": [
        Row(X + "y = x + [1., 2., 3.] #<\n", {"got": "list", "operator": "+"}, True),
        Row(X + "y = x + 'a' #<\n", {"got": "str"}),
    ],
    "argument_type": [
        Row(
            "x = torch.ones(2, requires_grad=torch)  #<\n",
            {"argument": "requires_grad", "wanted": "bool", "got": "module"},
        ),
        Row("x = torch.full((2,), fill_value='a')  #<\n", {"function": "full", "got": "str"}),
    ],
    "not_a_tensor": [
        Row("y = torch.exp(2.0) #<\n", {"function": "exp", "got": "float"}, True),
        Row("net = nn.Linear(2, 1)\nnet([1., 2.]) #<\n", {"argument": "input", "got": "list"}, True),
        Row("net = nn.Linear(2, 1)\nnet(np.ones(2)) #<\n", {"got": "numpy.ndarray"}),
    ],
}

NAMES: dict[str, list[Row]] = {
    "unbound_local": [
        Row(
            "total = 0\ndef add(x):\n    total += x #<\nadd(1)\n",
            {"name": "total", "function": "add", "assigned_line": "7"},
        ),
        Row("def f():\n    print(a) #<\n    a = 3\nf()\n", {"name": "a", "assigned_line": "7"}),
    ],
    "import_missing": [
        Row("x = math.pi #<\n", {"statement": "import math"}, True),
        Row("loader = DataLoader([1]) #<\n", {"statement": "from torch.utils.data import DataLoader"}, True),
        Row("print(random.random()) #<\n", {"name": "random"}, True),
    ],
    "defined_later": [
        Row("y = helper(2) #<\ndef helper(a):\n    return a\n", {"name": "helper", "defined_line": "6"}),
        Row("print(rate) #<\nrate = 0.1\n", {"name": "rate", "defined_line": "6"}),
    ],
    "used_to_make_itself": [
        Row("x = x.new_ones(5, 3)  #<\n", {"name": "x"}),
        Row("for i in range(2):\n    total = total + i  #<\n", {"name": "total"}),
    ],
    "name_misspelt": [
        Row("loss = torch.ones(1)\nprint(los) #<\n", {"name": "los", "suggestion": "loss"}, True),
        Row("y = torchy.mm #<\n", {"suggestion": "torch"}, True),
        Row("flag = true #<\n", {"suggestion": "True"}, True),
        Row("for i in xrange(3): #<\n    pass\n", {"suggestion": "range"}, True),
    ],
    "self_undefined": [
        Row("self.x = 3 #<\n", {"name": "self"}),
        Row(NET + "    def forward(this, x):\n        return self.w * x #<\nNet()(torch.ones(2))\n", {"line": "7"}),
    ],
    "name_not_defined": [
        Row("model = Net() #<\n", {"name": "Net"}),
        Row("for batch in get_batches(3): #<\n    pass\n", {"name": "get_batches"}),
        Row("plt.plot([1]) #<\n", {"name": "plt"}),
    ],
    "no_module": [
        Row("import torchvision #<\n", {"name": "torchvision"}),
        Row("from pandas import DataFrame #<\n", {"name": "pandas"}),
    ],
    "split_missing": [
        Row(
            "from sklearn.model_selection import train_test_split #<\nx, y = torch.rand(10, 2), torch.rand(10)\n"
            "a, b, c, d = train_test_split(x, y, test_size=0.2)\n",
            {"name": "sklearn"},
            True,
        ),
        Row("from sklearn.model_selection import train_test_split #<\n", {"name": "sklearn"}, True),
    ],
    "sketch": [
        Row(
            "for i in range(nb_epochs): #<\n    g = evaluate_gradient(loss_function, data, params)\n"
            "    params = params - learning_rate * g\n",
            {"name": "nb_epochs"},
            True,
        ),
        Row(
            "for i in range(2):\n    np.random.shuffle(data) #<\n    for example in data:\n"
            "        g = evaluate_gradient(loss_function, example, params)\n        params = params - learning_rate * g\n",
            {"name": "data"},
            True,
        ),
    ],
    "sample_set_missing": [
        Row(
            "from torchvision import datasets #<\nseen = datasets.MNIST('data', train=True)\n",
            {"name": "torchvision"},
            True,
        ),
        Row(
            "import torchvision #<\nseen = torchvision.datasets.ImageFolder('pictures')\n",
            {"name": "torchvision"},
            True,
        ),
    ],
    "module_misspelt": [
        Row("import nmpy #<\n", {"suggestion": "numpy"}, True),
        Row("import troch as t #<\n", {"suggestion": "torch"}, True),
    ],
    "import_misspelt": [
        Row("from torch.nn import linear #<\nlayer = linear(2, 1)\n", {"suggestion": "Linear"}, True),
        Row("from torch import optm #<\n", {"suggestion": "optim"}, True),
    ],
    "import_elsewhere": [
        Row("from torch.nn import DataLoader #<\n", {"place": "torch.utils.data.DataLoader"}, True),
        Row("from torch import Linear #<\n", {"place": "torch.nn.Linear"}, True),
    ],
    "no_such_import": [
        Row("from torch import quickly_please #<\n", {"module": "torch"}),
        Row("from math import gradient_descent #<\n", {"name": "gradient_descent"}),
    ],
    "attribute_removed": [
        Row(X + "x.is_mlc #<\n", {"name": "is_mlc"}),
        Row(X + "print(x.names) #<\n", {"name": "names"}),
    ],
    "tensor_method": [
        Row(X + "s = torch.shape(x)  #<\n", {"name": "shape", "call": "shape"}, True),
        Row("y = torch.new_ones(5, 3) #<\n", {"name": "new_ones", "call": "new_ones(...)"}),
        Row(X + "y = torch.view(x, 6) #<\n", {"name": "view"}, True),
        Row(X + "s = torch.size(x) #<\n", {"name": "size"}, True),
    ],
    "function_not_method": [
        Row(X + "y = x.gelu() #<\n", {"place": "torch.nn.functional.gelu"}, True),
        Row(X + "y = x.stack() #<\n", {"place": "torch.stack"}),
    ],
    "import_of_other": [
        Row(
            "import torch.nn as F #<\nprint(F.relu(torch.ones(2)))\n",
            {"owner": "torch.nn", "usual": "torch.nn.functional"},
            True,
        ),
        Row(
            "from torch import functional as F #<\nprint(F.softmax(torch.ones(2), dim=0))\n", {"name": "softmax"}, True
        ),
        Row(
            "import torch.nn.functional as nn #<\nclass Net(nn.Module):\n    pass\n",
            {"right": "from torch import nn"},
            True,
        ),
    ],
    "name_elsewhere": [
        Row("layer = torch.Linear(2, 3) #<\n", {"place": "torch.nn.Linear"}, True),
        Row(W + "opt = nn.SGD([w], lr=.1) #<\n", {"place": "torch.optim.SGD"}, True),
    ],
    "attribute_misspelt": [
        Row("x = torch.one(2, 3) #<\n", {"suggestion": "ones"}, True),
        Row("x = torch.ones(2).gpu() #<\n", {"suggestion": "cuda"}),
        Row("layer = nn.linear(2, 3) #<\n", {"suggestion": "Linear"}, True),
        Row("y = F.softmx(torch.ones(2), 0) #<\n", {"owner": "torch.nn.functional"}, True),
        Row(
            "def train(v):\n    v.sum().backwrd() #<\ntrain(torch.ones(2, requires_grad=True))\n",
            {"owner": "Tensor"},
            True,
        ),
        Row(
            NET
            + "    def __init__(self):\n        super().__init__()\n        self.hidden = nn.Linear(1, 1)\n    def forward(self, x):\n        return self.hiden(x) #<\nNet()(torch.ones(1))\n",
            {"suggestion": "hidden"},
            True,
        ),
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
    "attribute_missing": [
        Row(X + "x.numpy().flurb #<\n", {"owner": "ndarray"}),
        Row("net = nn.Linear(2, 2)\nnet.temperature #<\n", {"receiver": "net"}),
    ],
    "layer_for_result": [
        Row(X + "y = nn.ReLU()\nprint(y.sum()) #<\n", {"owner": "ReLU", "receiver": "y"}),
        Row(X + "h = nn.Softmax(1)\nh.backward() #<\n", {"name": "backward"}),
    ],
    "key_misspelt": [
        Row("d = {'weight': 1}\nd['wieght'] #<\n", {"suggestion": "weight"}, True),
        Row("state = nn.Linear(1, 1).state_dict()\nb = state['bais'] #<\n", {"receiver": "state"}, True),
    ],
    "key_missing": [
        Row("d = {'a': 1}\nd['learning rate'] #<\n", {"receiver": "d"}),
        Row("p = nn.ParameterDict({'first': nn.Parameter(torch.ones(2))})\np['second'] #<\n", {"receiver": "p"}),
    ],
}

OUTSIDE: dict[str, list[Row]] = {
    "no_file": [
        Row("open('data.csv') #<\n", {"path": "data.csv"}),
        Row("state = torch.load('model.pt') #<\n", {"path": "model.pt"}),
    ],
    "no_network": [
        Row("import urllib.request\nurllib.request.urlopen('http://example.com') #<\n", {"line": "6"}),
        Row("import socket\nsocket.create_connection(('127.0.0.1', 80), 1) #<\n", {"line": "6"}),
    ],
    "no_processes": [
        Row("import subprocess\nsubprocess.run(['ls']) #<\n", {"line": "6"}),
        Row("import multiprocessing as mp\np = mp.Process(target=print)\np.start() #<\n", {"line": "7"}),
    ],
    "not_allowed": [
        Row("import os\nos.kill(1, 9) #<\n", {"code": "os.kill(1, 9)"}),
        Row("import os\nopen('mine', 'w').close()\nos.chmod('mine', 0o777) #<\n", {"line": "7"}),
    ],
    "out_of_memory": [
        Row("import numpy\nnumpy.ones(10 ** 12) #<\n", {"amount": "8,000.0 GB", "is_part": "0"}),
        Row(
            "store = []\nfor i in range(99):\n    store.append(torch.ones(8000, 8000)) #<\n",
            {"amount": "256.0 MB", "is_part": "1", "name": "store"},
        ),
        Row("x = torch.ones(1000000, 1000000) #<\n", {"amount": "4,000.0 GB"}),
        Row("def big(n):\n    return torch.zeros(n) #<\nbig(10 ** 12)\n", {"code": "torch.zeros(n)"}),
    ],
    "input_not_available": [
        Row("n = input() #<\n", {"line": "5"}),
        Row("def ask():\n    return int(input('n')) #<\nask()\n", {"code": "input('n')"}),
    ],
    "recursion": [
        Row("def f(n):\n    return f(n + 1) #<\nf(1)\n", {"function": "f", "defined_line": "5"}),
        Row(
            NET + "    def forward(self, x):\n        return self(x) #<\nNet()(torch.ones(1))\n",
            {"function": "forward"},
        ),
    ],
}

SYNTAX: dict[str, list[Row]] = {
    "notebook_prompt": [
        Row("In [1]: x = torch.ones(2) #<\nIn [2]: print(x)\n", {"count": "2"}, True),
        Row(
            ">>> x = torch.ones(2) #<\n>>> print(x)\ntensor([1., 1.])\n>>> for i in range(2):\n...     print(i)\n",
            {},
            True,
        ),
        Row("In [None]: #<\nx = 1\nOut[2]: tensor([1.,\n        2.])\n", {}, True),
        Row(
            "In [8]: #<\nx = 1\nMLP(\n  (act): ReLU()\n)\n\n\ntensor([[1., 2.],\n        [3., 4.]])\nIn [9]:\ny = x\n",
            {},
            True,
        ),
    ],
    "shell_line": [
        Row("!pip install torch #<\nx = 1\n", {"word": "!pip"}, True),
        Row("%matplotlib inline #<\n", {"word": "%matplotlib"}, True),
        Row("x = 1\npip install numpy #<\n", {"word": "pip"}, True),
        Row("python train.py --lr 0.1 #<\n", {"word": "python"}, True),
    ],
    "cuda_visible_shell": [
        Row("CUDA_VISIBLE_DEVICES=0,1 python train.py\n#<", {"name": "CUDA_VISIBLE_DEVICES"}, True),
        Row("x = 1\nexport CUDA_VISIBLE_DEVICE=0\n#<", {"right": "CUDA_VISIBLE_DEVICES"}, True),
    ],
    "pasted_output": [
        Row("x = torch.ones(2)\ntensor(5., grad_fn=<AddBackward0>) #<\n", {}, True),
        Row("x = torch.ones(2)\ntensor([[1., 1.], #<\n        [1., 1.]], grad_fn=<AddBackward0>)\ny = x\n", {}, True),
        Row("tensor([1., 2.]) #<\n", {"name": "tensor"}, True),
        Row("x = 1\n tensor([[0., 0.], #<\n        [0., 0.]]) \n tensor([1, 0])\n tensor(2)\n", {}, True),
        Row("x = 1\n[[1 2 3] #<\n [4 5 6]]\n", {}, True),
        Row(
            "x = 1\nMLP( #<\n  (hidden): Linear(in_features=4, bias=True)\n)\n\n\ntensor([[1., 2.],\n        [3., 4.]], grad_fn=<AddmmBackward0>)\n",
            {},
            True,
        ),
    ],
    "full_width": [
        Row(
            "x = torch.tensor([1.，2.]) #<\n",
            {"character": "，", "codepoint": "U+FF0C", "column": "21", "right": ","},
            True,
        ),
        Row("x = torch.ones（3） #<\nprint（x）\n", {"character": "（", "count": "4"}, True),
        Row("print(“你好”) #<\n", {"right": '"'}, True),
        Row("x = 1 ＋ 2 #<\n", {"codepoint": "U+FF0B"}, True),
    ],
    "invisible_character": [
        Row("x = torch.ones(2)\u00a0+ 1 #<\n", {"codepoint": "U+00A0", "column": "18"}, True),
        Row("y\u200b = 3 #<\n", {"codepoint": "U+200B"}, True),
    ],
    "prose_line": [
        Row("x = 1  # 设置\n显卡 编号 与 数量 #<\ny = 2\n", {}, True),
        Row("下面我们创建一个张量 #<\nx = 1\n", {}, True),
    ],
    "print_statement": [
        Row("x = 1\nprint x #<\n", {}, True),
        Row("for i in range(2):\n    print 'a', i #<\nprint i\n", {}, True),
    ],
    "except_comma": [
        Row("try:\n    pass\nexcept ValueError, e: #<\n    pass\n", {"name": "e"}, True),
        Row("try:\n    x = 1\nexcept Exception, error: #<\n    print(error)\n", {"name": "error"}, True),
    ],
    "bracket_open": [
        Row("x = torch.tensor([1., 2.  #<\ny = 3\n", {"bracket": "[", "right": "]"}, True),
        Row("print(torch.ones(3) #<\ny = 3\n", {"bracket": "("}, True),
    ],
    "bracket_extra": [
        Row("x = torch.randn(1, 10)).view(1, 10) #<\n", {"bracket": ")"}, True),
        Row("x = torch.ones(3)) #<\n", {"bracket": ")"}, True),
    ],
    "bracket_mismatch": [
        Row("x = torch.tensor([1., 2.) #<\n", {"bracket": ")", "open": "["}, True),
        Row("x = (1, 2] #<\n", {"right": ")"}, True),
    ],
    "else_if": [
        Row("x = 1\nif x:\n    pass\nelse if x > 2: #<\n    pass\n", {}, True),
        Row("if 0:\n    y = 1\nelse  if 1: #<\n    y = 2\n", {}, True),
    ],
    "colon_missing": [
        Row("for i in range(2) #<\n    print(i)\n", {"word": "for"}, True),
        Row("class Net(nn.Module) #<\n    pass\n", {"word": "class"}, True),
    ],
    "tabs_and_spaces": [
        Row("def f():\n\ta = 1\n        b = 2 #<\n", {}, True),
        Row("if True:\n        x = 1\n\ty = 2 #<\n", {}, True),
    ],
    "block_missing": [
        Row("for i in range(2):\nprint(i) #<\n", {"head": "for", "head_line": "5"}, True),
        Row("def f(x):\nreturn x #<\nf(1)\n", {"head_line": "5"}),
    ],
    "indent_unexpected": [
        Row("x = 1\n  y = 2 #<\n", {"spaces": "2"}, True),
        Row("x = 1\n    print(x) #<\nz = 2\n", {"spaces": "4"}, True),
    ],
    "indent_mismatch": [
        Row("if True:\n    x = 1\n   y = 2 #<\n", {"spaces": "3"}, True),
        Row("if True:\n        x = 1\n    y = 2 #<\n", {"spaces": "4"}),
    ],
    "equals_in_condition": [
        Row("x = 3\nif x = 3: #<\n    pass\n", {}, True),
        Row("x = 3\nwhile x.real = 2: #<\n    pass\n", {}, True),
    ],
    "keyword_as_name": [
        Row("lambda = 0.1 #<\n", {"name": "lambda"}),
        Row("class = 3 #<\n", {"suggestion": "class_"}),
    ],
    "increment": [
        Row("i = 0\ni++ #<\n", {"right": "i += 1"}, True),
        Row("n = 3\nn--; #<\n", {"operator": "--"}, True),
    ],
    "other_operator": [
        Row("if 1 && 2: #<\n    pass\n", {"right": "and"}, True),
        Row("a = 1 || 0 #<\n", {"right": "or"}, True),
    ],
    "string_open": [
        Row('print("abc) #<\n', {"quote": '"'}),
        Row("name = 'abc\n#<", {"quote": "'"}, True),
        Row('x = torch.ones(2)\n"""A note on it. #<\ny = x + 1\nprint(y)\n', {"quote": '"""'}, True),
        Row('def area(x):\n    """The area, #<\n    of a square.\n    return x * x\narea(2)\n', {"quote": '"""'}, True),
    ],
    "comma_missing": [
        Row("x = torch.tensor([1 2]) #<\n", {}, True),
        Row("y = [3, 4 5] #<\n", {}, True),
    ],
    "outside_function": [
        Row("return 3 #<\n", {"word": "return"}),
        Row("x = 1\nyield x #<\n", {"word": "yield"}),
    ],
    "outside_loop": [
        Row("break #<\n", {"word": "break"}),
        Row("if True:\n    continue #<\n", {"word": "continue"}),
    ],
}

TRIGGERS = AUTOGRAD | SHAPES | TYPES | MODULES | CALLS | NAMES | OUTSIDE | SYNTAX
