"""What `engine/findings/failing/arguments.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import DATA, Row, X

PACKED = (
    "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\nrnn, head = nn.GRU(3, 4), nn.Linear(4, 2)\n"
    "packed = pack_padded_sequence(torch.ones(5, 2, 3), [5, 3])\nout, _ = rnn(packed)\n"
)

TRIGGERS: dict[str, list[Row]] = {
    "packed_for_tensor": [
        Row(PACKED + "head(out) #<\n", {"name": "out", "right": "pad_packed_sequence(out)[0]"}),
        Row(PACKED + "head(out[:, -1]) #<\n", {"name": "out"}),
        Row(PACKED + "print(out.size(0)) #<\n", {"name": "out"}),
        Row(PACKED.replace("[5, 3])", "[3, 2, 2, 1, 1], batch_first=True, enforce_sorted=False)").replace("5, 2, 3", "5, 3, 3") + "torch.tanh(out) #<\n", {"right": "pad_packed_sequence(out, batch_first=True)[0]"}),
    ],
    "rsample_missing": [
        Row("from torch.distributions import Categorical\nq = Categorical(logits=torch.zeros(3))\nz = q.rsample() #<\n", {"type": "Categorical", "is_discrete": "1"}),
        Row("q = torch.distributions.VonMises(torch.tensor(0.), torch.tensor(1.))\nq.rsample((4,)) #<\n", {"type": "VonMises", "is_discrete": "0"}),
    ],
    "dataset_of_arrays": [
        Row(DATA + "x, y = np.ones((4, 2)), np.ones(4)\ndata = TensorDataset(x, y) #<\n", {"arrays": "`x`, `y`"}, True),
        Row(DATA + "y = np.ones(4)\nTensorDataset(torch.ones(4, 2), y) #<\n", {"arrays": "`y`"}, True),
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
    "operand_types": [
        Row(X + "y = x + [1., 2., 3.] #<\n", {"got": "list", "operator": "+"}, True),
        Row(X + "y = x - [x, x] #<\n", {"got": "list"}),
    ],
    "none_for_tensor": [
        Row("target = None\nF.mse_loss(torch.ones(2, requires_grad=True) * 1, torch.ones(2)).backward()\ntorch.exp(target) #<\n", {"function": "exp", "argument": "input"}),
        Row("nn.CrossEntropyLoss()(torch.ones(2, 3), None) #<\n", {"argument": "target"}),
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
    "joined_tensors": [
        Row("a, b = torch.ones(3) > 0, torch.ones(3) > 1\nboth = (a and b).sum() #<\n", {"word": "and", "sign": "&"}, True),
        Row("x = torch.ones(3)\nif x > 0 or x < -1: #<\n    pass\n", {"sign": "|", "shape": "[3]"}),
        Row("x = torch.ones(3)\nif x.any() and x: #<\n    pass\n", {"shape": "[3]"}),
    ],
    "min_of_tensors": [
        Row("r, adv = torch.ones(4), torch.tensor([1., -1., 2., 0.])\nloss = -min(r * adv, r.clamp(0.8, 1.2) * adv).mean() #<\n", {"function": "min", "shape": "[4]"}, True),
        Row("a, b = torch.ones(2, 3), torch.zeros(3)\nc = max(a, b) #<\n", {"right": "torch.maximum(a, b)"}, True),
        Row("def relu(x):\n    return max(0, x) #<\nrelu(torch.randn(5))\n", {"right": "x.clamp(min=0)", "is_one": "0"}, True),
        Row("x, top = torch.ones(5), 0.5\ny = min(x - 1, top) #<\n", {"right": "(x - 1).clamp(max=top)"}, True),
        Row("x = torch.ones(5, 2)\nprint(max(x)) #<\n", {"right": "x.max()", "is_one": "1"}, True),
    ],
    "pair_inside": [
        Row("net = nn.Sequential(nn.GRU(2, 3), nn.Linear(3, 1))\nnet(torch.ones(4, 1, 2)) #<\n", {"layer": "net.0"}),
        Row("net = nn.Sequential(nn.RNN(2, 3), nn.Flatten())\nnet(torch.ones(4, 1, 2)) #<\n", {"layer": "net.0"}),
        Row("seq = nn.Sequential(nn.LSTM(2, 3), nn.ReLU())\ny = seq(torch.ones(4, 1, 2)) #<\n", {"type": "LSTM"}),
    ],
    "operand_other": [
        Row(X + "act = nn.ReLU()\ny = x + act #<\n", {"other": "act", "got": "ReLU"}),
        Row(X + "y = x + 'a' #<\n", {"got": "str"}),
    ],
    "not_a_tensor_inside": [
        Row("both = nn.Bilinear(2, 2, 1)\nboth(torch.ones(1, 2), 'b') #<\n", {"got": "str"}),
        Row("both = nn.Bilinear(2, 2, 1)\nboth(3, torch.ones(1, 2)) #<\n", {"got": "int"}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "packed_for_tensor": PACKED + "pairs = (1, 2)\nprint(out.data.size(0))\npairs[:, -1]\n",
    "rsample_missing": "class Shape:\n    def rsample(self):\n        raise NotImplementedError\nq = Shape()\nq.rsample()\n",
    "dataset_of_arrays": DATA + "x = torch.ones(4, 2)\ndata = TensorDataset(x)\nlen(data)(3)\n",
    "array_backwards": "a = np.arange(6)[::-1]\ntorch.from_numpy(a.copy())\ntorch.tensor([1, 2, 3]).flip(0)\n",
    "operand_types": "y = 3 + 'a'\n",
    "none_for_tensor": "F.mse_loss(torch.ones(2), torch.ones(2), weight=None)\n",
    "tensors_not_listed": "a = torch.ones(2)\ntorch.cat([a, a])\ntorch.cat((a, a))\n",
    "size_not_whole": "n = 10\ntorch.full((n * 0.5,), fill_value=1 / 2)\n",
    "list_never_filled": "parts = []\nparts += [torch.ones(2)] * 0\ntorch.cat(parts)\n",
    "list_empty": "parts = [torch.ones(2), torch.ones(2)]\nprint(torch.cat(parts), torch.stack([]))\n",
    "list_by_tensor": "xs = [1, 2, 3]\nxs[torch.tensor(1)], torch.tensor(xs)[torch.tensor([0, 1])], range(torch.tensor([1, 2]))\n",
    "tensor_of_text": "torch.tensor([1, 2])\ntorch.from_numpy(np.array(['1', '2']).astype(int))\nprint('too many dimensions')\n",
    "joined_tensors": "a, n = torch.ones(3), 2\nif a > 0 and n > 1:\n    pass\n",
    "min_of_tensors": "def min(a, b):\n    return a if a < b else b\nmin(torch.ones(2), torch.zeros(2))\n",
    "pair_inside": "net = nn.Sequential(nn.Linear(2, 3))\nnet((1, 2))\n",
    "operand_other": X + "y = x + [1, 2]\n",
    "not_a_tensor_inside": "torch.exp('a')\n",
}  # fmt: skip
