"""What `engine/findings/failing/values.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import DATA, INIT, LAYERS, NET, NUMBERS, Row, W, X

LSTM = (
    NET
    + INIT
    + "        self.lstm = nn.LSTM(5, 8)\n        self.out = nn.Linear(8, 2)\n    def forward(self, x):\n{body}"
    "Net()(torch.ones(3, 1, 5))\n"
)

SINE = (
    "class Sine(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        return x.sin()\n    @staticmethod\n    def backward(ctx, g):\n"
    "        {taken}\n        return g * x.cos()\n"
    "Sine.apply(torch.ones(2, requires_grad=True)).sum().backward()\n"
)

TRIGGERS: dict[str, list[Row]] = {
    "comma_makes_tuple": [
        Row(
            NET
            + INIT
            + "        self.fc = nn.Linear(3, 1), #<\n    def forward(self, x):\n        return self.fc(x)\n"
            + "Net()(torch.ones(2, 3))\n",
            {"name": "self.fc", "used_line": "10"},
            True,
        ),
        Row("x = torch.ones(2) * 2, #<\nprint(x.mean())\n", {"name": "x"}, True),
    ],
    "saved_tuple": [
        Row(SINE.format(taken="x = ctx.saved_tensors #<"), {"name": "x", "saved": "ctx.saved_tensors"}, True),
        Row(SINE.format(taken="x = ctx.saved_tensors #<").replace("x.cos()", "torch.cos(x)"), {"name": "x"}, True),
    ],
    "backward_of_number": [
        Row(W + "def scored():\n    return 0.5, (w * w).sum()\nloss, share = scored()\nloss.backward() #<\n", {"made_line": "8", "is_unpacked": "1", "place": "1", "count": "2"}),
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
            "v = torch.ones(2, requires_grad=True)\nx = v.double()\nx.sum().backward()\nprint(x.grad.sum()) #<\n",
            {"name": "x", "op": "double"},
        ),
    ],
    "grad_none_before_backward": [
        Row(W + "for i in range(2):\n    w.grad.zero_() #<\n    (w * w).sum().backward()\n", {"grad": "w.grad"}, True),
        Row("v = torch.zeros(1, requires_grad=True)\nv.grad.zero_() #<\n", {"name": "v"}, True),
        Row(W + "b = torch.zeros(1, requires_grad=True)\nfor i in range(2):\n    w.grad.data.zero_() #<\n    b.grad.data.zero_()\n    (w * w + b).sum().backward()\n", {"name": "w"}, True),
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
        Row(W + "(g,) = torch.autograd.grad((w * w).sum(), w)\nw.grad.sum() #<\n", {"is_returned": "1"}),
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
        Row("def loss_of(x):\n    print((x * x).sum()) #<\nloss_of(torch.ones(2)).backward()\n", {"function": "loss_of"}),
    ],
    "pair_returned": [
        Row(X + "print(x.max(1).sum()) #<\n", {"op": "max"}, True),
        Row(X + "m = torch.sort(x, 1)\nprint(m.mean()) #<\n", {"op": "sort", "name": "m"}, True),
        Row("pred = torch.max(torch.ones(4, 3), 1)\nacc = (pred == torch.zeros(4)).float().mean() #<\n", {"op": "max", "name": "pred"}, True),
        Row("best = torch.ones(4, 3).max(dim=1)\nhits = best == torch.zeros(4)\nprint(best + 1) #<\n", {"op": "max"}, True),
    ],
    "scalar_of_many": [
        Row(X + "x.item() #<\n", {"name": "x", "count": "6"}),
        Row("v = torch.tensor([1., 2.])\nprint((v * 2).item()) #<\n", {"name": "v * 2", "count": "2"}),
    ],
    "compared_in_a_row": [
        Row("p, y = torch.rand(5), torch.ones(5)\nright = (p > 0.5 == y).float() #<\n", {"name": "p > 0.5 == y"}, True),
        Row("p = torch.rand(5)\nhits = 0.2 < p < 0.7 #<\n", {}, True),
    ],
    "bool_of_many": [
        Row(X + "if x > 0: #<\n    pass\n", {"name": "x > 0", "shape": "[2, 3]"}),
        Row(X + "while not x: #<\n    pass\n", {"name": "x"}),
    ],
    "arguments_many": [
        Row("x = torch.tensor(3, 3)  #<\n", {"function": "tensor", "is_method": "0", "is_tensor": "1"}),
        Row("nn.Linear(2, 3, True, None, None, 7) #<\n", {"function": "Linear"}),
        Row("def f(a):\n    return a\nf(1, 2) #<\n", {"takes": "1", "given": "2"}),
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
        Row("cell = nn.RNNCell(2, 3)\nh = torch.zeros(1, 3)\nh = h.detach #<\nh = cell(torch.ones(1, 2), h)\n", {"method": "h.detach"}, True),
        Row("x = torch.ones(4)\ny = x.reshape #<\nprint(y + 1)\n", {"is_more": "1"}),
    ],
    "layer_for_result": [
        Row(X + "y = nn.ReLU()\nprint(y.sum()) #<\n", {"owner": "ReLU", "receiver": "y"}),
        Row(X + "h = nn.Softmax(1)\nh.backward() #<\n", {"name": "backward"}),
    ],
    "layer_not_called": [
        Row(
            LAYERS + "    def forward(self, x):\n        x = F.relu(self.fc1) #<\n        return self.fc2(x)\nNet()(X)\n".replace("X", "torch.ones(2, 3)"),
            {"layer": "self.fc1", "type": "Linear", "right": "self.fc1(x)"}, True,
        ),
        Row("act = nn.Sigmoid()\ny = torch.exp(act) #<\n", {"layer": "act", "function": "exp"}),
        Row("from torch.nn import Tanh\nact = Tanh()\ny = torch.exp(act) #<\n", {"type": "Tanh"}),
    ],
    "samples_hold_lists": [
        Row(DATA + "class Rows(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, at): #<\n        return [1, 2, 3], at\nfor words, label in DataLoader(Rows(), batch_size=2):\n    print(words.shape)\n", {"part": "words", "loop_line": "11", "used_line": "12"}),
        Row(DATA + "class Rows(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, at): #<\n        return [1, 2, 3], at\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.float()\nnet, loader = Net(), DataLoader(Rows(), batch_size=2)\nfor words, label in loader:\n    net(words)\n", {"part": "words", "receiver": "x", "sample_line": "9"}),
    ],
    "layer_not_made": [
        Row("class Far(nn.Module):\n    def __init__(self, scale=2., shift=0.):\n        super().__init__()\n        self.scale = scale\n    def forward(self, a, b):\n        return self.scale * (a - b).abs().mean()\na, b = torch.ones(3, requires_grad=True), torch.zeros(3)\nloss = Far(a, b) #<\nloss.backward()\n", {"layer": "Far", "is_own": "1"}, True),
        Row(
            LAYERS + "    def forward(self, x):\n        x = nn.ReLU(self.fc1(x)) #<\n        return self.fc2(x)\nNet()(torch.ones(2, 3))\n",
            {"layer": "nn.ReLU"}, True,
        ),
        Row(X + "p = nn.Sigmoid(x) #<\nprint(p.sum())\n", {"right": "nn.Sigmoid()(x)"}, True),
    ],
    "recurrent_pair": [
        Row("net = nn.Sequential(nn.Linear(3, 4), nn.LSTM(4, 5))\nout = net(torch.ones(2, 3)) #<\nprint(out.mean())\n", {"layer": "net", "type": "LSTM"}, True),
        Row(LSTM.format(body="        out = self.lstm(x) #<\n        return self.out(out)\n"), {"type": "LSTM", "name": "out"}, True),
        Row("gru = nn.GRU(2, 3)\ny = gru(torch.ones(4, 1, 2)) #<\nlast = y[:, -1]\n", {"layer": "gru", "name": "y"}, True),
        Row(LSTM.format(body="        return self.out(self.lstm(x)) #<\n"), {"layer": "self.lstm"}, True),
        Row(
            NET + "    def forward(self, x):\n        if self.training:\n            return x, x + 1\n        return x\ndef train(model):\n    scores = model(torch.ones(2, 3)) #<\n    F.cross_entropy(scores, torch.tensor([0, 1]))\nnet = Net()\ntrain(net)\n",
            {"layer": "model", "parts": "x, x + 1", "is_mixed": "1"},
        ),
    ],
    "list_method_result": [
        Row("xs = []\nxs = xs.append(torch.ones(2)) #<\ntorch.stack(xs)\n", {"receiver": "xs", "used_line": "7"}, True),
        Row("names = ['b', 'a']\nnames = names.sort() #<\nprint(names.index('a'))\n", {"method": "sort"}, True),
        Row("w = torch.ones(3, requires_grad=True)\nopt = torch.optim.SGD([w], lr=.1)\nfor i in range(3):\n    opt.zero_grad()\n    w.sum().backward()\n    opt = opt.step() #<\n", {"name": "opt", "is_pass": "0"}, True),
        Row("import random\ndata = [1, 2]\ndata = random.shuffle(data) #<\nfor x in data:\n    print(x)\n", {"receiver": "random"}, True),
    ],
    "compared_as_wholes": [
        Row("pred = torch.ones(3)\nlabels = [1, 1, 1]\nprint((pred == labels).sum()) #<\n", {"compared": "pred == labels", "attribute": "sum"}),
        Row("a, b = 'x', 'y'\n(a == b).float() #<\n", {"attribute": "float"}),
    ],
    "number_taken_out": [
        Row(W + "loss = (w * w).sum().item() #<\nloss.backward()\n", {"name": "loss", "used_line": "7"}, True),
        Row(W + "loss = float(w.sum()) #<\nloss.backward()\n", {"name": "loss", "type": "float"}, True),
    ],
    "grad_none_never_computed": [
        Row(W + "with torch.no_grad():\n    w -= 0.1 * w.grad #<\n", {"name": "w"}),
        Row(W + "step = w.grad * 2 #<\n", {"grad": "w.grad"}),
    ],
    "division_of_nothing": [
        Row("total, seen = 3.0, []\nprint(total / len(seen)) #<\n", {"divisor": "len(seen)"}),
        Row("count = 0\nmean = 5 // count #<\n", {"divisor": "count"}),
    ],
    "already_number": [
        Row("acc = torch.tensor(0.5)\nprint(acc.item().item()) #<\n", {"name": "acc.item()", "type": "float"}, True),
        Row("total = 0\nprint(total.mean()) #<\n", {"name": "total", "attribute": "mean"}),
    ],
    "turn_number": [
        Row(NUMBERS + "for x, y in enumerate(DataLoader(data, 4)): #<\n    x = x.to('cpu')\n", {"name": "x", "other": "y"}, True),
        Row(NUMBERS + "loader, net = DataLoader(data, 4), nn.Linear(2, 1)\nfor epoch in range(2):\n    for inputs, labels in enumerate(loader): #<\n        loss = (net(inputs) - labels).sum()\n", {"name": "inputs", "source": "loader"}, True),
    ],
    "class_not_made": [
        Row(LAYERS + "    def forward(self, x):\n        return self.fc1(x)\nmodel = Net #<\nopt = torch.optim.SGD(model.parameters(), lr=.1)\n", {"cls": "Net"}, True),
        Row("crit = nn.MSELoss #<\nprint(crit(torch.ones(2), torch.zeros(2)))\n", {"name": "crit"}, True),
        Row(LAYERS + "    def forward(self, x):\n        return self.fc1(x)\ndef run(model):\n    return model(torch.ones(1, 3))\nnet = Net #<\nrun(net)\n", {"name": "model", "cls": "Net"}, True),
    ],
    "none_asked": [
        Row("best = None\nfor loss in torch.ones(2):\n    print(best.item()) #<\n", {"receiver": "best", "made_line": "5"}),
        Row("def f():\n    h = None\n    return h.detach() #<\nf()\n", {"name": "detach", "made_line": "6"}),
        Row("def f(x):\n    a = b = None\n    if x.sum() > 9:\n        a = x\n    a = a.float() #<\n    return a\nf(torch.ones(2))\n", {"made_line": "6"}),
        Row("best = None\nfor loss in torch.ones(3):\n    if loss > 5:\n        best = loss\nbest.item() #<\n", {"made_line": "5"}),
    ],
    "grad_none_made_untracked": [
        Row("ws = [torch.ones(2, requires_grad=True)]\nws[0].sum().backward()\nwith torch.no_grad():\n    ws[0] = ws[0] - ws[0].grad #<\n    ws[0].grad.zero_()\n", {"name": "ws[0]"}),
        Row(W + "w.sum().backward()\nwith torch.no_grad():\n    w = w * 2 #<\nprint(w.grad.sum())\n", {"op": "*"}),
        Row(W + "v = torch.ones(2, requires_grad=True)\nfor i in range(2):\n    (w * v).sum().backward()\n    with torch.no_grad():\n        w = w - 0.1 * w.grad #<\n        v = v - 0.1 * v.grad\n    w.requires_grad_(True)\n    v.requires_grad_(True)\n    w.grad.zero_()\n    v.grad.zero_()\n", {"name": "w"}, True),
        Row(W + "w.sum().backward()\nw = (w - 0.1 * w.grad).detach().requires_grad_() #<\nw.grad.zero_()\n", {"name": "w", "op": "detach"}),
    ],
    "tensor_method_asked": [
        Row("xs = [1., 2.]\nxs.mean() #<\n", {"receiver": "xs", "owner": "list"}),
        Row("names = ('cat', 'dog')\nnames.to('cpu') #<\n", {"name": "to", "owner": "tuple"}),
    ],
    "return_missing_in_branch": [
        Row("def pick(x):\n    if x.sum() > 9: #<\n        return x\ny = pick(torch.ones(2))\ny.mean()\n", {"function": "pick"}),
        Row(NET + INIT + "    def forward(self, x):\n        if x.ndim > 5:\n            return x\n        else:\n            y = x * 2 #<\nNet()(torch.ones(2)).sum()\n", {"function": "forward"}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "comma_makes_tuple": "x = (torch.ones(2) * 2,)\nprint(x.mean())\n",
    "saved_tuple": SINE.format(taken="x, = ctx.saved_tensors"),
    "backward_of_number": W + "loss = (w * w).sum()\nprint(loss.item())\nloss.backward()\n",
    "grad_none_untracked": W + "w.grad.zero_()\n",
    "grad_none_non_leaf": W + "y = w * 2\ny.retain_grad()\ny.sum().backward()\nprint(y.grad.sum())\n",
    "grad_none_before_backward": W + "w.sum().backward()\nw.grad.zero_()\n",
    "grad_none_unreached": W + "v = torch.ones(2, requires_grad=True)\n(w * v).sum().backward()\nprint(v.grad.sum())\n",
    "grad_none_after_zero_grad": W
    + "opt = torch.optim.SGD([w], lr=.1)\nw.sum().backward()\nopt.zero_grad(set_to_none=False)\nw.grad.data.zero_()\n",
    "grad_none_dropped": W + "w.sum().backward()\nw.grad = None\nw.sum().backward()\nw.grad.zero_()\n",
    "return_missing": "class Box:\n    data = None\nbox = Box()\nprint(box.data.sum())\n",
    "pair_returned": "values, indices = torch.max(torch.ones(4, 3), 1)\nacc = (indices == torch.zeros(4)).float().mean()\n",
    "scalar_of_many": "torch.ones(1, 1).item()\n",
    "compared_in_a_row": "p = torch.rand(5)\nif p > 0:\n    pass\n",
    "bool_of_many": "max(torch.ones(2), torch.zeros(2))\n",
    "arguments_many": "def f(a, *rest):\n    return a\nf(1, 2)\n",
    "method_as_value": "f = torch.ones(2).sum\nprint(f())\n",
    "layer_for_result": X + "y = nn.ReLU()(x)\nprint(y.sum())\n",
    "layer_not_called": "act = nn.Sigmoid()\ntorch.exp(act(torch.ones(2)))\n",
    "samples_hold_lists": DATA + "class Rows(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, at):\n        return torch.ones(3), at\nseen = DataLoader(Rows(), batch_size=2)\nfor words, label in DataLoader([([1, 2], 0), ([3, 4], 1)], batch_size=2):\n    print(words.shape)\n",
    "layer_not_made": X + "p = nn.Sigmoid()(x)\nd = nn.Dropout(0.5)\nprint(p.sum(), d)\n",
    "recurrent_pair": "gru = nn.GRU(4, 8)\nstate = torch.zeros(1, 5, 8), torch.zeros(1, 5, 8)\ngru(torch.ones(3, 5, 4), state)\n",
    "list_method_result": "xs = []\nxs.append(torch.ones(2))\ntorch.stack(xs)\ntorch.stack(None)\n",
    "compared_as_wholes": "flag = True\nflag.float()\n",
    "number_taken_out": W + "loss = (w * w).sum()\nprint(loss.item())\nloss.backward()\n",
    "grad_none_never_computed": W + "(w * w).sum().backward()\nw.grad = None\nstep = w.grad * 2\n",
    "division_of_nothing": "x = torch.ones(2) / 0\n1 // 1\n",
    "already_number": "class Mean:\n    pass\nMean().item()\n",
    "turn_number": "for i, x in enumerate([torch.ones(2)]):\n    i.to('cpu')\n",
    "class_not_made": LAYERS + "    def forward(self, x):\n        return self.fc1(x)\nkind = Net\nmodel = kind()\nmodel(torch.ones(3, 4))\n",
    "none_asked": "best = torch.ones(1)\nbest.item()\nbest.items\n",
    "grad_none_made_untracked": W + "w.sum().backward()\nv = (w * 2).detach().requires_grad_()\nv.grad.zero_()\n",
    "tensor_method_asked": "xs = [1.]\nxs.apend(2.)\n",
    "return_missing_in_branch": "def pick(x):\n    if x.sum() > 9:\n        return x\n    return None\npick(torch.ones(2)).mean()\n",
}  # fmt: skip
