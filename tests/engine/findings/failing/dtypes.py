"""What `engine/findings/failing/dtypes.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import NET, Row, W, X

TRIGGERS: dict[str, list[Row]] = {
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
        Row(
            "net, y = nn.Linear(3, 1), torch.randn(6, 1)\ndef spread(p, t):\n    gap = p.numpy() - t.numpy() #<\n    return np.abs(gap).mean()\n"
            "loss = torch.tensor(spread(net(torch.randn(6, 3)), y))\nloss.backward()\n",
            {"name": "p", "is_in_loss": "1", "root": "loss", "pass_line": "10"},
        ),
        Row(
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.f = nn.Linear(4, 4)\n    def forward(self, x):\n"
            "        z = np.sort(self.f(x)) #<\n        return torch.from_numpy(z)\nnet = Net()\nout = net(torch.randn(2, 4))\nloss = out.mean()\nloss.backward()\n",
            {"is_in_loss": "1", "root": "loss"},
        ),
        Row(
            "net, x, y = nn.Linear(3, 2), torch.randn(6, 3), torch.randint(2, (6,))\nout = net(x)\nloss = F.cross_entropy(out, y)\n"
            "guess = out.numpy() #<\nright = (guess.argmax(1) == y.numpy()).mean()\nloss.backward()\n",
            {"name": "out", "is_in_loss": "0"},
            True,
        ),
        Row(
            "net, x = nn.Linear(3, 2), torch.randn(6, 3)\nopt = torch.optim.SGD(net.parameters(), lr=.1)\nfor i in range(2):\n    out = net(x)\n"
            "    loss = abs(out.numpy()).mean() #<\n    print(loss)\n    loss = out.pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
            {"name": "out", "is_in_loss": "0"},
            True,
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
    "dtype_mismatch": [
        Row("w, y = torch.tensor([1, 2, 3]), torch.tensor([0, 2])\nF.cross_entropy(torch.ones(2, 3), y, w) #<\n", {"name": "w"}, True),
        Row(
            "w = nn.Parameter(torch.ones(2, 3))\nz = torch.fft.fft(torch.ones(4, 2))\ntorch.einsum('bi,io->bo', z, w) #<\n",
            {"name": "w", "cast": ".to(torch.complex64)", "is_learnt": "1"},
            True,
        ),
        Row(
            "z = torch.ones(3, 3) * 1j\ntorch.ones(2, 3) @ z #<\n",
            {"name": "torch.ones(2, 3)", "is_complex": "1", "is_learnt": "0"},
            True,
        ),
        Row(
            "net, counts = nn.Linear(3, 2), np.array([3, 1])\nloss = nn.CrossEntropyLoss(weight=torch.tensor(4 / counts))\nloss(net(torch.ones(4, 3)), torch.tensor([0, 0, 1, 0])) #<\n",
            {"name": "loss.weight", "other_dtype": "float32", "is_data": "1", "data_line": "6"},
            True,
        ),
        Row(
            X + "w = torch.tensor([1., 2., 1.], dtype=torch.float64)\nF.nll_loss(F.log_softmax(x, 1), torch.tensor([0, 1]), w) #<\n",
            {"name": "w", "cast": ".float()", "is_data": "0"},
            True,
        ),
        Row("actor, critic = nn.Linear(3, 1), nn.Linear(4, 1)\nrows = np.zeros((9, 3))\nobs = torch.from_numpy(rows)[:4]\nact = actor(obs) #<\ncritic(torch.cat([obs, act], 1))\n", {"is_data": "1", "data_line": "7"}, True),
        Row("net = nn.Linear(3, 1)\nx, y = torch.tensor(np.ones((4, 3))), torch.ones(4, 1)\nF.mse_loss(net(x), y).backward() #<\n", {"is_data": "1"}, True),
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
        Row("conv = nn.Conv1d(1, 1, 1)\nx = torch.ones(1, 1, 3, dtype=torch.float64)\nconv(x) #<\n", {"name": "x"}, True),
        Row("norm = nn.BatchNorm1d(3)\nx = torch.ones(4, 3, dtype=torch.float64)\nnorm(x) #<\n", {"name": "x"}, True),
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
        Row("z = torch.ones(3) * 1j\nF.mse_loss(z, z * 2) #<\n", {"name": "z", "is_complex": "1", "cast": ".abs()"}),
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
        Row("a = torch.tensor([1, 2])\na[0] += 0.5 #<\n", {"name": "a", "is_part": "1"}),
        Row("a = torch.tensor([[1, 2]])\nfor row in a:\n    row += 0.5 #<\n", {"name": "a", "is_part": "1"}),
    ],
    "target_not_long": [
        Row(
            X + "loss = nn.CrossEntropyLoss()\nt = torch.tensor([0., 1.])\nloss(x, t) #<\n",
            {"target": "t", "dtype": "float32"},
            True,
        ),
        Row(X + "F.nll_loss(x, torch.tensor([0., 1.])) #<\n", {"op": "nll_loss"}, True),
        Row(X + "t = torch.from_numpy(np.array([0, 1], dtype=np.int32))\nF.nll_loss(x, t) #<\n", {"dtype": "int32"}, True),
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
        Row(X + "seen = torch.tensor([0., 1.])\nx[seen] #<\n", {"is_mask": "1"}),
        Row(
            X + "act = np.array([2, 0], dtype=np.uint8)\nx[np.arange(2), act] #<\n",
            {"name": "act", "is_taken": "1", "is_open": "0", "cast": '.astype("int64")'},
            True,
        ),
        Row(
            "rows = torch.eye(9)\nlabels = torch.tensor([3, 8], dtype=torch.uint8)\nrows[labels] #<\n",
            {"name": "labels", "dtype": "uint8", "is_taken": "1"},
            True,
        ),
        Row(
            "rows = torch.eye(9)\nlabels = np.array([3, 8], dtype=np.uint8)\nrows[labels] #<\n",
            {"name": "labels", "is_taken": "1", "is_open": "1"},
        ),
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
        Row("near = torch.from_numpy(np.zeros((2, 60), dtype=np.int32))\nparts = torch.randn(60, 16)\ntorch.zeros(15, 16).scatter_add(0, near[1].unsqueeze(1).expand_as(parts), parts) #<\n", {"dtype": "int32", "is_whole": "1"}, True),
        Row(X + "kinds = torch.zeros(2).int()\nnn.MultiMarginLoss()(x, kinds) #<\n", {"name": "kinds", "dtype": "int32"}, True),
    ],
    "device_mismatch": [
        Row(X + "y = torch.ones(2, 3, device='meta')\nx + y #<\n", {"name": "x", "other": "y", "other_device": "meta"}),
        Row(X + "net = nn.Linear(3, 1)\nnet(x.to('meta')) #<\n", {"device": "meta", "other_device": "cpu"}),
    ],
    "tensor_of_tensors": [
        Row(X + "y = torch.tensor([x, x]) #<\n", {"line": "6"}, True),
        Row("a, b = torch.ones(2), torch.zeros(2)\ny = torch.tensor((a, b)) #<\n", {"line": "6"}, True),
        Row("pairs = [(torch.ones(3), 1), (torch.ones(3), 0)]\ny = torch.tensor(pairs) #<\n", {"function": "torch.tensor"}),
    ],
    "number_of_many": [
        Row(X + "float(x) #<\n", {"name": "x", "function": "float"}),
        Row("v = torch.tensor([1, 2])\nint(v) #<\n", {"function": "int"}),
        Row("import math\ndef density(s):\n    return -math.log(s) #<\ndensity(torch.ones(3))\n", {"name": "s", "function": "math.log", "right": "torch.log"}, True),
        Row("import math\ndef density(s):\n    return -math.log(s) #<\ndensity(2.0)\ndensity(torch.ones(3))\n", {"is_math": "1"}),
        Row("import math\na = math.pow(torch.ones(3), 2) #<\n", {"right": "torch.pow"}, True),
        Row("import math\na = math.ceil(torch.ones(3)) #<\n", {"is_math": "0"}),
    ],
    "scores_chosen": [
        Row("p, y = torch.rand(4, 3), torch.tensor([0, 2, 1, 1])\npred = p.argmax(1) #<\nF.cross_entropy(pred, y)\n", {"name": "pred"}, True),
        Row("p, y = torch.rand(4, 3), torch.tensor([0, 2, 1, 1])\nF.nll_loss(p.argmax(dim=-1), y) #<\n", {"op": "nll_loss"}, True),
    ],
    "target_one_hot": [
        Row("logits = torch.randn(4, 3)\ny = F.one_hot(torch.tensor([0, 1, 2, 1]), 3)\nF.cross_entropy(logits, y) #<\n", {"target": "y", "op": "cross_entropy"}, True),
        Row("crit = nn.CrossEntropyLoss()\nrows = torch.eye(3).long()\nloss = crit(torch.randn(3, 3), rows) #<\n", {"target": "rows", "shape": "[3, 3]"}, True),
    ],
    "mask_dtype": [
        Row("m = torch.tril(torch.ones(3, 3))\na = torch.ones(3, 3).masked_fill(m, 0.0) #<\n", {"name": "m", "dtype": "float32"}, True),
        Row("x, keep = torch.ones(2), torch.tensor([0, 1])\nx.masked_fill_(keep, 9.) #<\n", {"dtype": "int64"}, True),
    ],
    "loss_swapped": [
        Row("y, p = torch.tensor([0, 1]), torch.ones(2, 3)\nF.cross_entropy(y, p) #<\n", {"name": "y", "other": "p"}, True),
        Row("crit = nn.NLLLoss()\ny, p = torch.tensor([0, 1]), torch.ones(2, 3)\ncrit(y, p) #<\n", {"dtype": "int64"}, True),
    ],
    "numpy_of_list": [
        Row(W + "history = []\nfor i in range(3):\n    cost = (w * w).sum()\n    history.append(cost) #<\nprint(np.mean(history))\n", {"right": "cost.item()", "name": "history"}, True),
        Row(W + "outs = []\nfor i in range(2):\n    y = w * i\n    outs.append(y) #<\nprint(np.array(outs))\n", {"right": "y.detach()"}, True),
        Row(W + "sizes, losses = (2, 3), ((w * w).sum(), w.sum())\nprint(np.array([n * l for n, l in zip(sizes, losses)]).sum()) #<\n", {"right": "(n * l).item()", "value": "n * l"}, True),
        Row(W + "a, b = w.sum(), w.exp().sum()\nprint(np.mean([a, b])) #<\n", {"right": "a.item()"}, True),
        Row("net = nn.Linear(2, 1)\nlosses = [net(x).mean() for x in torch.ones(3, 2)] #<\nprint(np.mean(losses))\n", {"right": "net(x).mean().item()"}, True),
    ],
    "converted_alone": [
        Row("net = nn.Linear(2, 1)\nnet.double() #<\nnet(torch.ones(3, 2))\n", {"wanted": "float64", "used_line": "7"}),
        Row("net = nn.Linear(2, 1).to(torch.bfloat16) #<\nx = torch.ones(3, 2)\nnet(x)\n", {"name": "x"}),
        Row("rnn = nn.LSTM(2, 3)\nrnn.double() #<\nrnn(torch.ones(4, 1, 2))\n", {"layer": "rnn"}),
        Row("conv = nn.Conv1d(2, 3, 3, padding=1, padding_mode='circular')\nx = torch.ones(4, 6, 2)\nx = x.to(torch.bfloat16) #<\nconv(x.permute(0, 2, 1))\n", {"name": "x.permute(0, 2, 1)", "is_model": "0"}, True),
        Row("net, x = nn.Linear(2, 1), torch.ones(3, 2)\nnet(x.double()) #<\n", {"code": "x.double()"}, True),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "only_floats_require_grad": "x = torch.tensor([1., 2.], requires_grad=True)\ni = torch.tensor([1], requires_grad=False)\n",
    "numpy_of_tracked": W + "a = w.detach().numpy()\n",
    "target_axes": X + "F.cross_entropy(x, torch.ones(2, 3))\n",
    "dtype_mismatch": X + "y = x + torch.ones(3, dtype=torch.long)\n",
    "mean_of_integers": "torch.arange(3).sum()\n",
    "dtype_not_supported": "w = torch.zeros(3, dtype=torch.long)\nnn.init.normal_(w)\n",
    "in_place_dtype": "a = torch.arange(3)\na += 1\n",
    "target_not_long": X + "F.cross_entropy(x, torch.ones(2, 3))\n",
    "target_not_float": X + "F.mse_loss(x, torch.ones(2, 3, dtype=torch.long))\n",
    "index_dtype": X + "try:\n    x[torch.tensor([1, 0, 1], dtype=torch.uint8)]\nexcept IndexError:\n    pass\nx[torch.tensor([0])]\nx.gather(1, torch.zeros(2, 1).int())\n",
    "device_mismatch": X + "y = torch.ones(2, 3, device='meta') + 1\n",
    "tensor_of_tensors": "a, b = torch.ones(1), torch.zeros(1)\ntorch.tensor([a, b])\n",
    "number_of_many": "import math\nfloat(torch.ones(1, 1)) + math.log(torch.ones(1))\ntorch.tensor([torch.ones(2)])\n",
    "scores_chosen": "F.cross_entropy(torch.rand(3), torch.tensor([0, 1, 0]))\n",
    "target_one_hot": "F.cross_entropy(torch.randn(4, 3), F.one_hot(torch.tensor([0, 1, 2, 1]), 3).float())\nF.binary_cross_entropy(torch.ones(2), torch.ones(2).long())\n",
    "mask_dtype": "torch.ones(2).masked_fill(torch.tensor([True, False]), 0.)\n",
    "loss_swapped": "F.cross_entropy(torch.ones(2, 3).long(), torch.tensor([0, 1]))\n",
    "numpy_of_list": "w, outs = torch.ones(1, requires_grad=True), []\nfor i in range(2):\n    outs.append([i, w * i])\nnp.array(outs)\n",
    "converted_alone": "net = nn.Linear(2, 1)\nnet(torch.ones(3, 2, dtype=torch.float64))\n",
}  # fmt: skip
