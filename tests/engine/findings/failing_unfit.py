"""Programs that fail because what they hand over does not fit what takes it. `#<` ends the line a finding names."""

from tests.engine.findings.failing import NET, Row, W, X
from tests.engine.findings.failing_not_a_tensor import DATA, INIT, SAVES, SQUARE

ATTENTION = "mha = nn.MultiheadAttention(8, 2)\nq = torch.ones(6, 3, 8)\n"
STREAM = DATA + (
    "from torch.utils.data import IterableDataset\nclass Flow(IterableDataset):\n    def __iter__(self):\n"
    "        yield from torch.ones(6, 2)\n"
)
NUMBERS = DATA + "data = TensorDataset(torch.ones(8, 2), torch.ones(8))\n"
MAPPED = "from torch.func import vmap, functional_call\n"
ONCE = "from torch.autograd.function import once_differentiable\n" + SQUARE.format(mark="", saved=SAVES).replace(
    "@staticmethod\n    def backward", "@staticmethod\n    @once_differentiable #<\n    def backward"
)
SCRIPT = (
    NET
    + INIT
    + "    def forward(self, x, n): #<\n        for _ in range(n):\n            x = x * 2\n        return x\n"
)

UNFIT: dict[str, list[Row]] = {
    "name_of_other_function": [
        Row("def load():\n    scale = 3.0\n    return torch.ones(2)\ndef use(x):\n    return x * scale #<\nuse(load())\n", {"function": "load", "bound_line": "6"}),
        Row("def main():\n    model = nn.Linear(2, 1)\n    report()\ndef report():\n    print(model.weight) #<\nmain()\n", {"function": "main"}),
    ],
    "numpy_of_list": [
        Row(W + "history = []\nfor i in range(3):\n    cost = (w * w).sum()\n    history.append(cost) #<\nprint(np.mean(history))\n", {"taken": ".item()", "name": "history"}, True),
        Row(W + "outs = []\nfor i in range(2):\n    y = w * i\n    outs.append(y) #<\nprint(np.array(outs))\n", {"taken": ".detach()"}, True),
    ],
    "list_not_emptied": [
        Row(W + "terms = []\nfor turn in range(3):\n    for i in range(2):\n        terms.append((w * i * w).sum()) #<\n    sum(terms).backward()\n", {"list": "terms"}, True),
        Row(W + "kept, signs = [], []\nfor turn in range(2):\n    y = (w * w).sum()\n    kept.append(y) #<\n    signs.append(1.)\n    (torch.stack(kept) * torch.tensor(signs)).sum().backward()\n", {"value": "y"}, True),
    ],
    "second_backward_after_grad": [
        Row(W + "y = (w ** 3).sum()\nfirst = torch.autograd.grad(y, w)[0] #<\nagain = torch.autograd.grad(y, w)[0]\n(first * again).sum().backward()\n", {"used_line": "8"}, True),
        Row(W + "y = (w ** 2).sum()\nslope = torch.autograd.grad(y, w)[0] #<\nif True:\n    torch.autograd.grad(y, w)\n(w * slope).sum().backward()\n", {"shared": "y"}, True),
    ],
    "channel_axis_missing": [
        Row("conv = nn.Conv1d(1, 4, 3)\nx = torch.ones(6, 20)\nconv(x) #<\n", {"got": "6"}, True),
        Row("conv = nn.Conv3d(1, 4, 3)\nconv(torch.ones(2, 8, 8, 8)) #<\n", {"got": "2"}, True),
    ],
    "batch_axis_missing": [
        Row("conv = nn.Conv1d(3, 4, 3)\nx = torch.ones(6, 20)\nconv(x) #<\n", {"wanted": "3", "got": "6"}),
        Row("nn.Conv2d(3, 4, 3)(torch.ones(5, 28, 28)) #<\n", {"got": "5"}),
    ],
    "einsum_letters": [
        Row("a = torch.ones(2, 3, 4)\ntorch.einsum('ij,jk->ik', a, torch.ones(4, 5)) #<\n", {"term": "ij", "has": "3", "name": "a"}),
        Row("v = torch.ones(4)\ntorch.einsum('bi,ij->bj', torch.ones(2, 4), v) #<\n", {"term": "ij", "at": "1", "name": "v"}),
    ],
    "padding_mask_turned": [
        Row(ATTENTION + "mha(q, q, q, key_padding_mask=torch.zeros(6, 3) > 0) #<\n", {"wanted": "3"}),
        Row("layer = nn.TransformerEncoderLayer(8, 2)\nhide = torch.zeros(6, 3) > 0\nlayer(torch.ones(6, 3, 8), src_key_padding_mask=hide) #<\n", {"mask": "hide"}),
    ],
    "padding_mask_shape": [
        Row(ATTENTION + "mha(q, q, q, key_padding_mask=torch.zeros(3, 5) > 0) #<\n", {"wanted": "6", "got": "5"}),
        Row(ATTENTION + "pads = torch.zeros(4, 6) > 0\nmha(q, q, q, key_padding_mask=pads) #<\n", {"mask": "pads"}),
    ],
    "attention_mask_shape": [
        Row(ATTENTION + "see = torch.zeros(7, 7)\nmha(q, q, q, attn_mask=see) #<\n", {"mask": "see", "wanted": "6, 6", "origin_line": "7"}),
        Row("layer = nn.TransformerEncoderLayer(8, 2)\nm = torch.zeros(3, 3)\nlayer(torch.ones(6, 3, 8), src_mask=m) #<\n", {"mask": "m"}),
        Row(ATTENTION + "see = torch.zeros(3, 6, 6) > 0\nmha(q, q, q, attn_mask=see) #<\n", {"mask": "see", "samples": "3", "heads": "2"}, True),
        Row("layer = nn.TransformerEncoderLayer(8, 4, batch_first=True)\nm = torch.zeros(3, 5, 5)\nlayer(torch.ones(3, 5, 8), m) #<\n", {"heads": "4"}, True),
        Row(ATTENTION + "see = torch.zeros(1, 6, 6) > 0\nmha(q, q, q, attn_mask=see) #<\n", {"is_length": "0"}),
    ],
    "numpy_lacks_type": [
        Row("x = torch.ones(2, dtype=torch.bfloat16)\nx.numpy() #<\n", {"type": "BFloat16"}, True),
        Row("print(torch.ones(2).bfloat16().numpy()) #<\n", {}, True),
    ],
    "differentiated_once": [
        Row(ONCE + W + "(g,) = torch.autograd.grad((Square.apply(w) * w).sum(), w, create_graph=True)\ng.sum().backward()\n", {"cls": "Square"}),
        Row(ONCE + W + "y = (Square.apply(w * 2) * w).sum()\ng = torch.autograd.grad(y, w, create_graph=True)[0]\ng.norm().backward()\n", {"cls": "Square"}),
    ],
    "script_types": [
        Row(SCRIPT + "torch.jit.script(Net())\n", {"names": "x, n"}),
        Row(SCRIPT + "net = Net()\nnet(torch.ones(2), 3)\nfast = torch.jit.script(net)\n", {"example": "n: int"}),
        Row(
            NET
            + "    def forward(self, parts): #<\n        total = torch.zeros(2)\n        for part in parts:\n            total = total + part\n        return total\n"
            "net = torch.jit.script(Net())\nnet([torch.ones(2), torch.ones(2)])\n",
            {"names": "parts", "got": "list", "function": "forward", "example": "parts: list[torch.Tensor]"},
        ),
        Row(
            "def scaled(x, n): #<\n    return x * n\nprint(torch.jit.script(scaled)(torch.ones(2), 3))\n",
            {"example": "n: int"},
        ),
    ],
    "loader_options": [
        Row(NUMBERS + "DataLoader(data, sampler=range(8), shuffle=True) #<\n", {"clash": "shuffle"}, True),
        Row(NUMBERS + "DataLoader(data, batch_size=4, batch_sampler=[[0, 1]]) #<\n", {"option": "batch_sampler"}, True),
    ],
    "loader_of_stream": [
        Row(STREAM + "DataLoader(Flow(), batch_size=2, shuffle=True) #<\n", {"option": "shuffle"}, True),
        Row(STREAM + "DataLoader(Flow(), sampler=range(6)) #<\n", {"option": "sampler"}, True),
    ],
    "loader_workers": [
        Row(NUMBERS + "DataLoader(data, prefetch_factor=2) #<\n", {"option": "prefetch_factor"}, True),
        Row(NUMBERS + "DataLoader(data, persistent_workers=True, batch_size=2) #<\n", {"option": "persistent_workers"}, True),
    ],
    "parameter_in_two_groups": [
        Row("net = nn.Sequential(nn.Linear(2, 2))\ntorch.optim.SGD([{'params': net.parameters()}, {'params': net[0].parameters()}], lr=.1) #<\n", {"groups": "net.parameters(), net[0].parameters()"}),
        Row(W + "torch.optim.Adam([dict(params=[w])])\ntorch.optim.Adam([{'params': [w]}, {'params': w}]) #<\n", {"groups": "[w], w"}),
    ],
    "context_not_made": [
        Row("with torch.no_grad: #<\n    torch.ones(2)\n", {"name": "torch.no_grad"}, True),
        Row("with torch.inference_mode: #<\n    x = torch.ones(2)\n", {}, True),
    ],
    "builtin_taken": [
        Row("max = 3 #<\nprint(max(1, 2))\n", {"type": "int", "used_line": "6"}),
        Row("len = torch.ones(2).sum() #<\nprint(len([1]))\n", {"name": "len"}),
    ],
    "function_replaced": [
        Row("score = nn.L1Loss()\nfor i in range(2):\n    score = score(torch.ones(2), torch.zeros(2)) #<\n", {"made_line": "5"}),
        Row("act = nn.ReLU()\nact = act(torch.ones(2)) #<\nact(torch.zeros(2))\n", {"made": "nn.ReLU()"}),
    ],
    "return_missing_in_branch": [
        Row("def pick(x):\n    if x.sum() > 9: #<\n        return x\ny = pick(torch.ones(2))\ny.mean()\n", {"function": "pick"}),
        Row(NET + INIT + "    def forward(self, x):\n        if x.ndim > 5:\n            return x\n        else:\n            y = x * 2 #<\nNet()(torch.ones(2)).sum()\n", {"function": "forward"}),
    ],
    "iterator_used_up": [
        Row("pairs = zip([1., 2.], [3., 4.]) #<\nfor turn in range(2):\n    n = 0\n    for a, b in pairs:\n        n += 1\n    print(2.0 / n)\n", {"name": "pairs"}),
        Row("rows = (i for i in range(3)) #<\nfor turn in range(2):\n    seen = 0\n    for row in rows:\n        seen += 1\n    1 // seen\n", {"loop_line": "8"}),
    ],
    "linear_shape_changed": [
        Row("net = nn.Linear(6, 2)\nnet(torch.ones(4, 6))\nnet(torch.ones(4, 8)) #<\n", {"before_line": "6", "before_shape": "[4, 6]"}),
        Row(NET + INIT + "        self.fc = nn.Linear(6, 2)\n    def forward(self, x):\n        return self.fc(x.flatten(1)) #<\nnet = Net()\nnet(torch.ones(3, 2, 3))\nnet(torch.ones(3, 2, 5))\n", {"wanted": "6", "got": "10"}),
    ],
    "target_from_one": [
        Row("F.cross_entropy(torch.zeros(3, 3), torch.tensor([1, 3, 2])) #<\n", {"classes": "3", "last": "2"}),
        Row("stars = torch.tensor([2, 1])\nnn.NLLLoss()(torch.zeros(2, 2), stars) #<\n", {"value": "2"}),
    ],
    "batch_norm_last_batch": [
        Row(NUMBERS + "norm = nn.BatchNorm1d(2)\nloader = DataLoader(data, batch_size=7) #<\nfor x, y in loader:\n    norm(x)\n", {"used_line": "10"}, True),
        Row(NUMBERS + "norm = nn.BatchNorm1d(2)\nfor x, y in DataLoader(data, batch_size=7): #<\n    norm(x)\n", {"shape": "[1, 2]"}, True),
    ],
    "split_rounded": [
        Row(NUMBERS + "from torch.utils.data import random_split\na = int(0.7 * 8)\nb = int(0.3 * 8) #<\nrandom_split(data, [a, b])\n", {"right": "len(data) - a"}, True),
        Row(NUMBERS + "from torch.utils.data import random_split\nfirst, second = 3, 2\nrest = 2 #<\nparts = random_split(data, [first, second, rest])\n", {"name": "rest"}, True),
    ],
    "unused_part_in_grad": [
        Row(W + "first = w[0] #<\ny = (w * w).sum()\ntorch.autograd.grad(y, first)\n", {"whole": "w", "name": "first"}),
        Row("net = nn.Linear(2, 1)\nxt = torch.ones(5, 2, requires_grad=True)\nt = xt[:, 1:] #<\nu = net(xt)\ntorch.autograd.grad(u.sum(), t)\n", {"whole": "xt"}),
    ],
    "asked_after_rebinding": [
        Row(W + "y = (w * w).sum()\nw = w * 1.0 #<\ntorch.autograd.grad(y, w)\n", {"name": "w", "output": "y"}),
        Row(W + "loss = w.exp().sum()\nfor i in range(2):\n    w = w - 0.1 #<\n    torch.autograd.grad(loss, w)\n", {"code": "w - 0.1"}),
    ],
    "asked_under_no_grad": [
        Row(W + "with torch.no_grad(): #<\n    y = w * 2\ny.retain_grad()\n", {"name": "y", "made_line": "7"}),
        Row("net = nn.Linear(2, 1)\nwith torch.no_grad(): #<\n    h = net(torch.ones(1, 2))\n    h.register_hook(print)\n", {"method": "register_hook"}),
    ],
    "model_converted": [
        Row("net = nn.Linear(2, 1)\nnet.double() #<\nnet(torch.ones(3, 2))\n", {"wanted": "float64", "used_line": "7"}),
        Row("net = nn.Linear(2, 1).to(torch.bfloat16) #<\nx = torch.ones(3, 2)\nnet(x)\n", {"name": "x"}),
        Row("rnn = nn.LSTM(2, 3)\nrnn.double() #<\nrnn(torch.ones(4, 1, 2))\n", {"layer": "rnn"}),
    ],
    "shape_mismatch_sizes": [
        Row("torch.ones(2, 3) - torch.ones(2, 4) #<\n", {"a": "3", "b": "4", "is_of_layers": "0"}),
        Row("net = nn.Linear(3, 5)\nF.mse_loss(net(torch.ones(2, 3)), torch.ones(2, 6)) #<\n", {"axis": "1", "is_of_layers": "1"}),
    ],
    "stack_lengths": [
        Row("words = [torch.ones(2), torch.ones(3)]\ntorch.stack(words) #<\n", {"name": "words"}),
        Row("torch.stack([torch.ones(4, 2), torch.ones(3, 2)]) #<\n", {"first_shape": "[4, 2]"}),
    ],
    "keepdim_missing": [
        Row("x = torch.rand(5, 3)\nmean = x.mean(dim=1) #<\ny = x - mean\n", {"made": "x.mean(dim=1)", "used_line": "7"}, True),
        Row("def scale(rows):\n    total = rows.sum(1) + 1e-6 #<\n    return rows / total\nscale(torch.rand(4, 6))\n", {"given": "[4, 6]"}, True),
    ],
    "joined_along_batch": [
        Row("a = torch.ones(4, 3)\nnet = nn.Linear(6, 1)\nboth = torch.cat([a, a]) #<\nnet(both)\n", {"wanted": "6", "parts": "[4, 3], [4, 3]"}, True),
        Row("head = nn.Sequential(nn.Linear(4, 2))\nu = torch.ones(3, 2)\nhead(torch.relu(torch.cat((u, u)))) #<\n", {"got": "2"}, True),
    ],
    "sample_is_none": [
        Row(DATA + "class Few(Dataset):\n    def __len__(self):\n        return 3\n    def __getitem__(self, i):\n        if i != 1: #<\n            return torch.ones(2), 1\nfor x in DataLoader(Few(), batch_size=3):\n    pass\n", {"cls": "Few"}),
    ],
}  # fmt: skip
UNFIT_MESSAGES: dict[str, list[Row]] = {
    "ended_with_code": [Row("import sys\nif True:\n    sys.exit(3) #<\n", {"said": "3"})],
    "ended_for_arguments": [Row("import sys\nif len(sys.argv) < 2:\n    sys.exit(1) #<\n", {"said": "1"})],
    "ctc_lengths": [Row("scores = torch.zeros(9, 2, 5).log_softmax(-1)\nF.ctc_loss(scores, torch.ones(2, 3).long(), torch.full((2,), 12), torch.full((2,), 3)) #<\n", {"value": "12", "most": "9", "name": "scores"})],
    "not_positive_definite": [
        Row("k = torch.ones(3, 3)\ntorch.linalg.cholesky(k - 2) #<\n", {"name": "k - 2"}),
        Row("x = torch.randn(3, 5)\nx = x - x.mean(0)\nc = x.T @ x / 2\ntorch.distributions.MultivariateNormal(x.mean(0), covariance_matrix=c) #<\n", {"name": "c"}),
    ],
    "matrix_singular": [Row("k = torch.ones(3, 3)\ntorch.linalg.inv(k) #<\n", {"name": "k"})],
    "vmap_value_asked": [Row(MAPPED + "def f(x):\n    if x > 0: #<\n        return x\n    return -x\nvmap(f)(torch.ones(3))\n", {"code": "x > 0", "transform": "vmap"}),
        Row("from torch import fx\n" + NET + "    def forward(self, x):\n        while x.sum() > 1: #<\n            x = x / 2\n        return x\nfx.symbolic_trace(Net())\n", {"code": "x.sum() > 1", "transform": "symbolic_trace", "is_traced": "1"})],
    "vmap_random": [Row(MAPPED + "def f(x):\n    return F.dropout(x, 0.5) #<\nvmap(f)(torch.ones(3, 2))\n", {})],
    "vmap_sizes": [Row(MAPPED + "vmap(torch.add)(torch.ones(3), torch.ones(4)) #<\n", {"sizes": "[3, 4]"})],
    "functional_parameters": [Row(MAPPED + "net = nn.Linear(2, 1)\nfunctional_call(net, list(net.parameters()), torch.ones(1, 2)) #<\n", {"module": "net"})],
    "exported_size": [Row("net = torch.export.export(nn.Linear(2, 1), (torch.ones(4, 2),)).module()\nnet(torch.ones(3, 2)) #<\n", {"axis": "0", "size": "4"})],
    "optimizer_state_groups": [
        Row(W + "v = torch.ones(1, requires_grad=True)\na = torch.optim.SGD([{'params': [w]}, {'params': [v], 'lr': .2}], lr=.1)\nb = torch.optim.SGD([w, v], lr=.1)\nb.load_state_dict(a.state_dict()) #<\n", {"name": "b"}),
        Row("net = nn.Linear(2, 1)\nopt = torch.optim.Adam([{'params': [p]} for p in net.parameters()])\nstate = {'opt': opt.state_dict()}\ntorch.optim.Adam(net.parameters()).load_state_dict(state['opt']) #<\n", {"given": "state['opt']"}),
    ],
    "optimizer_state_size": [Row(W + "a = torch.optim.SGD([w], lr=.1)\nb = torch.optim.SGD([w, torch.ones(1, requires_grad=True)], lr=.1)\nb.load_state_dict(a.state_dict()) #<\n", {"name": "b"})],
    "saved_to_object": [Row(X + "torch.save('x.pt', x) #<\n", {"right": "torch.save(x, 'x.pt')"}, True)],
}  # fmt: skip
NEAR_UNFIT: dict[str, str] = {
    "keepdim_missing": "x = torch.rand(5, 3)\nx - x.mean(dim=1, keepdim=True)\nx - torch.ones(5)\n",
    "joined_along_batch": "a = torch.ones(4, 3)\nnn.Linear(6, 1)(torch.cat([a, a], 1))\nnn.Linear(5, 1)(torch.cat([a, a]))\n",
    "linear_shape_changed": "net = nn.Linear(6, 2)\nnn.Linear(6, 2)(torch.ones(4, 6))\nnet(torch.ones(4, 8))\n",
    "target_from_one": "F.cross_entropy(torch.zeros(3, 3), torch.tensor([0, 3, 2]))\n",
    "batch_norm_last_batch": NUMBERS
    + "norm = nn.BatchNorm1d(2)\nfor x, y in DataLoader(data, batch_size=1):\n    norm(x)\n",
    "split_rounded": NUMBERS + "from torch.utils.data import random_split\nrandom_split(data, [3, 4])\n",
    "unused_part_in_grad": W
    + "first = w[0]\ny = torch.ones(2, requires_grad=True).sum()\ntorch.autograd.grad(y, first)\n",
    "asked_after_rebinding": W + "y = (w * w).sum()\nv = w * 1.0\ntorch.autograd.grad(y, v)\n",
    "asked_under_no_grad": "with torch.no_grad():\n    z = torch.ones(1)\ny = torch.ones(2) * 2\ny.retain_grad()\n",
    "model_converted": "net = nn.Linear(2, 1)\nnet(torch.ones(3, 2).double())\n",
    "shape_mismatch_sizes": "torch.ones(3) + torch.ones(2, 4)\n",
    "stack_lengths": "torch.stack([torch.ones(2, 4), torch.ones(2, 3)])\n",
    "name_of_other_function": "def f():\n    a = 1\nprint(undefined_here)\n",
    "numpy_of_list": W + "xs = [1.]\nxs.append(w.sum().item())\nnp.mean(xs)\n(w * 2).numpy()\n",
    "list_not_emptied": W
    + "for turn in range(2):\n    terms = []\n    terms.append((w * w).sum())\n    sum(terms).backward()\n",
    "second_backward_after_grad": W + "y = (w ** 3).sum()\ntorch.autograd.grad(y, w)\ny.backward()\n",
    "channel_axis_missing": "nn.Conv1d(1, 4, 3)(torch.ones(1, 20))\nnn.Conv1d(1, 4, 3)(torch.ones(2, 3, 20))\n",
    "batch_axis_missing": "nn.Conv2d(3, 4, 3)(torch.ones(1, 5, 28, 28))\n",
    "einsum_letters": "torch.einsum('ij,jk->ik', torch.ones(2, 3), torch.ones(4, 5))\n",
    "padding_mask_turned": ATTENTION + "mha(q, q, q, key_padding_mask=torch.zeros(3, 6) > 0)\n",
    "padding_mask_shape": ATTENTION + "mha(q, q, q, key_padding_mask=torch.zeros(6, 3) > 0)\n",
    "attention_mask_shape": ATTENTION
    + "mha(q, q, q, attn_mask=torch.zeros(6, 6))\nmha(q, q, q, attn_mask=torch.zeros(6, 6, 6))\n",
    "numpy_lacks_type": "torch.ones(2).half().numpy()\n",
    "differentiated_once": ONCE.replace(" #<", "") + W + "Square.apply(w).sum().backward()\n",
    "script_types": SCRIPT.replace(" #<", "").replace("n)", "n: int)") + "torch.jit.script(Net())\n",
    "loader_options": NUMBERS + "DataLoader(data, sampler=range(8), shuffle=False)\n",
    "loader_of_stream": STREAM + "DataLoader(Flow(), batch_size=2)\n",
    "loader_workers": NUMBERS + "DataLoader(data, prefetch_factor=None)\n",
    "parameter_in_two_groups": "net = nn.Linear(2, 2)\ntorch.optim.SGD([{'params': [net.weight]}, {'params': [net.bias]}], lr=.1)\n",
    "context_not_made": "class Box:\n    pass\nwith Box():\n    pass\n",
    "builtin_taken": "max = torch.max\nprint(max(torch.ones(2)))\n3(4)\n",
    "function_replaced": "act = nn.ReLU()\nout = act(torch.ones(2))\nout(1)\n",
    "return_missing_in_branch": "def pick(x):\n    if x.sum() > 9:\n        return x\n    return None\npick(torch.ones(2)).mean()\n",
    "iterator_used_up": "rows = [1, 2]\nfor turn in range(2):\n    n = 0\n    for row in rows:\n        n += 0\n    1 / n\n",
}
