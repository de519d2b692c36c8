"""What `engine/findings/failing/shapes.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import DATA, NET, Row, X

TRIGGERS: dict[str, list[Row]] = {
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
    "product_axes": [
        Row("m = torch.ones(2, 4)\nv = torch.ones(4)\ntorch.mm(m, v) #<\n", {"op": "mm", "other_shape": "[4]"}, True),
        Row(X + "torch.dot(x, x) #<\n", {"op": "dot"}),
        Row(X + "torch.bmm(x, x.T) #<\n", {"op": "bmm"}, True),
    ],
    "class_numbers_regressed": [
        Row("scores, classes = torch.randn(10, 5), torch.randint(0, 5, (10,))\nnn.MSELoss()(scores, classes) #<\n", {"name": "scores", "other": "classes", "classes": "5"}),
        Row("net = nn.Linear(4, 3)\ny = torch.arange(6) % 3\nloss = F.smooth_l1_loss(net(torch.ones(6, 4)), y) #<\n", {"op": "smooth_l1_loss", "other_shape": "[6]"}),
    ],
    "sign_for_equals": [
        Row(NET + "    def forward(self, x):\n        x - nn.Linear(3, 4)(x) #<\n        return x\nNet()(torch.ones(2, 3))\n", {"right": "x = nn.Linear(3, 4)(x)", "name": "x"}, True),
        Row("fc = nn.Linear(3, 5)\nfor x in torch.ones(2, 4, 3):\n    x * fc(x) #<\n    print(x.shape)\n", {"right": "x = fc(x)"}, True),
    ],
    "shape_mismatch_broadcast": [
        Row(
            X + "b = torch.ones(4)\ny = x + b #<\n",
            {"name": "x", "other": "b", "axis": "1", "a": "3", "b": "4", "back": "1"},
        ),
        Row(
            "p = torch.ones(4, 2)\nt = torch.ones(3)\nF.mse_loss(p, t) #<\n",
            {"name": "p", "other": "t", "axis": "1", "is_led": "0"},
        ),
        Row("maps, shift = torch.ones(8, 6, 5, 5), torch.ones(8, 6)\ny = maps + shift #<\n", {"small": "shift", "index": ":, :, None, None", "led": "0, 1"}, True),
        Row("noise = torch.rand(8)\ny = noise * torch.ones(8, 1, 5, 5) #<\n", {"index": ":, None, None, None", "led": "0"}, True),
        Row("maps, shift = torch.ones(6, 6, 5), torch.ones(6)\ny = maps + shift #<\n", {"is_led": "0"}),
    ],
    "cat_shapes": [
        Row(X + "y = torch.ones(2, 4)\ntorch.cat([x, y]) #<\n", {"name": "x", "other": "y", "axis": "1", "would_fit": "1"}),
        Row(X + "torch.cat((x, x, torch.ones(3, 3)), dim=1) #<\n", {"axis": "0", "at": "2"}),
        Row(X + "torch.cat((x, torch.ones(3, 5)), dim=1) #<\n", {"axis": "0", "would_fit": "0"}),
        Row("a, b, c = torch.ones(2, 3), torch.ones(3, 3), torch.ones(2, 4)\ntorch.cat([a, b, c]) #<\n", {"would_fit": "0"}),
    ],
    "cat_axes": [
        Row(X + "torch.cat([x, torch.ones(3)]) #<\n", {"name": "x", "other_shape": "[3]"}),
        Row(X + "torch.cat([torch.ones(2), x], 0) #<\n", {"shape": "[2]"}),
        Row("torch.cat([torch.tensor(1.), torch.ones(3)]) #<\n", {"other_shape": "[3]"}),
    ],
    "stack_shapes": [
        Row(X + "torch.stack([x, torch.ones(3)]) #<\n", {"first_shape": "[2, 3]", "other_shape": "[3]"}),
        Row("rows = [torch.ones(2, n) for n in (2, 3)]\nm = torch.stack(rows, 1) #<\n", {"other": "1"}),
    ],
    "batch_behind": [
        Row("states, query = torch.ones(7, 4, 3), torch.ones(4, 3, 1)\nscores = torch.bmm(states, query) #<\n", {"name": "states", "turned_shape": "[4, 7, 3]"}, True),
        Row("gru = nn.GRU(3, 5)\nout, h = gru(torch.ones(7, 4, 3))\nscores = torch.bmm(out, h.permute(1, 2, 0)) #<\nprint(torch.bmm(scores.mT, out))\n", {"name": "out", "is_several": "1"}),
        Row("weights, values = torch.ones(4, 1, 7), torch.ones(7, 4, 3)\nmade = weights.bmm(values) #<\n", {"name": "values", "other_shape": "[4, 1, 7]"}, True),
    ],
    "batch_shapes": [
        Row(
            "from torch.utils.data import DataLoader\ndata = [torch.ones(2), torch.ones(3)]\nfor batch in DataLoader(data, batch_size=2): #<\n    pass\n",
            {"first_shape": "[2]", "other_shape": "[3]"},
        ),
        Row(
            "from torch.utils.data import DataLoader\ndata = [(0, [1, 2]), (1, [1, 2, 3])]\nfor word, near in DataLoader(data, batch_size=2): #<\n    pass\n",
            {"is_list": "1"},
        ),
        Row("from torch.utils.data import DataLoader\ndef joined(samples):\n    return torch.stack(samples) #<\nloader = DataLoader([torch.ones(2), torch.ones(3)], batch_size=2, collate_fn=joined)\nnext(iter(loader))\n", {"is_own": "1"}),
        Row(
            "from torch.utils.data import DataLoader\nloader = DataLoader([torch.ones(1, 2), torch.ones(2, 2)], batch_size=2)\nfirst = next(iter(loader)) #<\n",
            {"other_shape": "[2, 2]"},
        ),
    ],
    "shape_invalid": [
        Row(X + "x.view(4, 2) #<\n", {"name": "x", "count": "6", "shape": "[4, 2]", "is_free": "1"}),
        Row("torch.ones(4, 147).view(4, 3, 8, 8) #<\n", {"front": "[4, 3]", "side": "7", "is_square": "1", "is_free": "0"}),
        Row("q = torch.ones(2, 5, 10)\nq.view(2, 5, 4, 10 // 4) #<\n", {"whole": "10", "parts": "4", "each_part": "2", "is_free": "0"}),
        Row(X + "torch.reshape(x, (4, -1)) #<\n", {"given_shape": "[2, 3]", "is_open": "1"}),
        Row(
            NET + "    def __init__(self):\n        super().__init__()\n        self.conv, self.fc = nn.Conv2d(1, 2, 3), None\n        self.fc = nn.Linear(2 * 5 * 5, 3)\n"
            "    def forward(self, x):\n        x = self.conv(x)\n        return self.fc(x.view(-1, 2 * 5 * 5)) #<\nnet = Net()\nnet(torch.ones(3, 1, 9, 9))\n",
            {"is_row": "1", "each": "98", "layer": "net.fc", "layer_line": "9"},
            True,
        ),
        Row(
            NET + "    def __init__(self):\n        super().__init__()\n        self.conv, self.fc = nn.Conv1d(1, 2, 3), None\n        self.fc = nn.Linear(40, 3)\n"
            "    def forward(self, x):\n        x = self.conv(x)\n        x = x.view(x.size(0), 40) #<\n        return self.fc(x)\nnet = Net()\nnet(torch.ones(3, 1, 9))\n",
            {"is_row": "1", "each": "14", "takes": "40", "is_wrong": "0", "is_free": "0"},
            True,
        ),
        Row("fc, x = nn.Linear(8, 2), torch.ones(4, 3, 5)\nfc(x.view(-1, 8)) #<\n", {"is_row": "0", "is_open": "1"}),
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
    "axis_out_of_range": [
        Row("x = torch.ones(5, 4)\nx.permute(2, 0, 1) #<\n", {"axis": "2", "axes": "2", "low": "-2"}),
        Row(X + "x.sum(dim=2) #<\n", {"name": "x", "axis": "2", "axes": "2", "low": "-2"}),
        Row(X + "F.softmax(x, dim=-3) #<\n", {"axis": "-3"}),
        Row("net, y = nn.Linear(3, 1), torch.rand(5)\npred = net(torch.rand(5, 3)).flatten()\nloss = F.mse_loss(pred, y)\nright = (pred.argmax(1) == y).sum() #<\n", {"is_number": "1", "loss": "mse_loss", "loss_line": "7"}),
        Row("q, y = torch.rand(5), torch.rand(5)\nloss, best = F.mse_loss(q, y), torch.tensor([1])\nhit = q.argmax(1) == best #<\n", {"is_number": "0"}),
    ],
    "embedding_index": [
        Row(
            "emb = nn.Embedding(3, 2)\nids = torch.tensor([1, 5])\nemb(ids) #<\n",
            {"name": "ids", "value": "5", "rows": "3"},
        ),
        Row("table = torch.ones(4, 2)\nF.embedding(torch.tensor([4]), table) #<\n", {"value": "4", "last": "3"}),
        Row("table = nn.Embedding(9, 4)\nat = torch.arange(1, 10)\ntable(at) #<\n", {"value": "9", "is_low": "0"}),
        Row("table = nn.Embedding(4, 6)\nat = torch.tensor([0])\nscores = table(at) * 0 + torch.arange(6)\nat = torch.cat((at, scores.argmax(-1)))\ntable(at) #<\n", {"value": "5", "is_drawn": "1", "width": "6", "draw": "argmax", "drawn_line": "8", "is_given": "0"}),
        Row("nn.Embedding(9, 4)(torch.tensor([2, -1])) #<\n", {"value": "-1", "is_low": "1"}),
    ],
    "embedding_one_short": [
        Row(
            "words = {}\nfor word in 'abc':\n    words[word] = len(words) + 1\nemb = nn.Embedding(len(words), 2, padding_idx=0) #<\nemb(torch.tensor([words['a'], words['c'], 0]))\n",
            {"rows": "3", "count": "len(words)", "used_line": "9"},
            True,
        ),
        Row(
            "class Tagger(nn.Module):\n    def __init__(self, count):\n        super().__init__()\n        self.table = nn.Embedding(count, 2)\n    def forward(self, x):\n        return self.table(x)\n"
            "letters = 'ab'\ncodes = {each: at for at, each in enumerate(letters, 1)}\ntag = Tagger(len(codes)) #<\ntag(torch.tensor([[0, codes['b']]]))\n",
            {"rows": "2", "count": "len(codes)"},
            True,
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
    "recurrent_parts": [
        Row("lstm = nn.LSTM(3, 4)\nout, h, c = lstm(torch.ones(5, 2, 3)) #<\n", {"layer": "lstm", "right": "out, (h, c)"}, True),
        Row("gru = nn.GRU(3, 4)\nout, (h, c) = gru(torch.ones(5, 2, 3)) #<\n", {"right": "out, h"}),
    ],
    "unpack_count": [
        Row("a, b = torch.ones(3) #<\n", {"expected": "2", "value": "torch.ones(3)"}),
        Row(X + "a, b, c = x #<\n", {"expected": "3", "value": "x"}),
        Row("x = torch.ones(2, 3)\na, b, c = x #<\n", {"is_turned": "1"}),
    ],
    "turn_parts": [
        Row(DATA + "loader = DataLoader(TensorDataset(torch.ones(6, 2)), batch_size=2)\nfor x, y in loader: #<\n    pass\n", {"names": "x, y", "value": "loader"}),
        Row("for a, b in torch.ones(2, 3): #<\n    pass\n", {"expected": "2", "is_numbered": "0"}),
        Row(DATA + "for i, (x, y) in DataLoader(TensorDataset(torch.ones(6, 2), torch.ones(6)), batch_size=3): #<\n    pass\n", {"is_numbered": "1"}, True),
        Row(DATA + "def train(data):\n    for i, (x, y) in data: #<\n        print(i, x.shape)\ntrain(DataLoader(TensorDataset(torch.ones(6, 2), torch.ones(6)), batch_size=3))\n", {"value": "data"}, True),
        Row("rows = torch.ones(6, 2)\nfor i, (a, b, c) in enumerate(rows): #<\n    print(a)\n", {"names": "(a, b, c)", "value": "rows"}),
    ],
    "enumerate_parts": [
        Row(DATA + "loader = DataLoader(TensorDataset(torch.ones(4, 2), torch.ones(4)))\nfor i, x, y in enumerate(loader): #<\n    print(x.shape)\n", {"right": "i, (x, y)"}, True),
        Row("pairs = [(1, 2), (3, 4)]\nfor n, a, b in enumerate(pairs): #<\n    print(a + b)\n", {"value": "enumerate(pairs)"}, True),
    ],
    "expanded_written": [
        Row("x = torch.zeros(3, 1).expand(3, 4) #<\nx += 1\n", {"name": "x", "shape": "[3, 4]"}, True),
        Row("row = torch.zeros(4)\ntable = row.expand(2, 4) #<\ntable.mul_(2)\n", {"name": "table"}, True),
    ],
    "gather_axes": [
        Row("x = torch.randn(3, 4)\nbest = torch.tensor([0, 1, 2])\nx.gather(1, best) #<\n", {"other": "best", "axis": "1"}, True),
        Row("x, t, best = torch.randn(3, 4), torch.ones(3), torch.tensor([0, 1, 2])\nq = x.gather(1, best) #<\nF.mse_loss(q, t.unsqueeze(1))\n", {"is_kept": "1", "is_squeezed": "0"}, True),
        Row("x = torch.randn(4)\ntorch.gather(x, 0, torch.zeros(2, 2, dtype=torch.long)) #<\n", {"name": "x"}),
        Row("labels = torch.tensor([0, 2])\nhot = torch.zeros(2, 3).scatter_(1, labels, 1.) #<\n", {"other": "labels", "op": "scatter_", "is_gather": "0"}, True),
        Row("at, parts = torch.tensor([0, 2]), torch.ones(2, 4)\ntorch.zeros(3, 4).scatter_add(0, at, parts) #<\n", {"op": "scatter_add", "is_alone": "0"}),
    ],
    "cat_scalars": [
        Row("losses = [torch.ones(2).sum(), torch.ones(3).mean()]\ntorch.cat(losses).mean() #<\n", {"count": "2"}, True),
        Row("a = torch.tensor(1.)\ntorch.cat([a, a, a]) #<\n", {"count": "3"}, True),
    ],
    "cat_rounded": [
        Row("e = torch.ones(1, 2, 15, 15)\nd = F.max_pool2d(e, 2) #<\nu = F.interpolate(d, scale_factor=2)\ntorch.cat([u, e], 1)\n", {"size": "15", "back": "14", "small": "u"}),
        Row("e = torch.ones(1, 2, 9)\nd = nn.Conv1d(2, 2, 3, stride=2, padding=0)(e[:, :, :-1]) #<\nu = nn.ConvTranspose1d(2, 2, 2, stride=2)(d)\ntorch.cat([u, e[:, :, :-1]], 1)\n", {"size": "8", "back": "6"}),
    ],
    "scores_compared": [
        Row("p, y = torch.rand(5, 3), torch.ones(5).long()\n(p == y).float().mean() #<\n", {"name": "p", "other": "y"}, True),
        Row("p, y = torch.rand(5, 3), torch.ones(5).long()\nwrong = y != p #<\n", {"name": "p"}, True),
    ],
    "slice_cut_short": [
        Row(
            "class Places(nn.Module):\n    def __init__(self, most):\n        super().__init__()\n        self.register_buffer('pe', torch.randn(most, 4))\n"
            "    def forward(self, x):\n        return x + self.pe[:x.size(1)] #<\n"
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.places = Places(5)\n    def forward(self, x):\n        return self.places(x)\n"
            "net = Net()\nfor n in (3, 8):\n    net(torch.ones(2, n, 4))\n",
            {"name": "self.pe", "got": "5", "asked": "8", "axis": "0", "made_line": "14"},
        ),
        Row(
            "table = nn.Parameter(torch.zeros(1, 9, 4))\nx = torch.ones(2, 12, 4)\npart = table[:, :x.size(1)] #<\nx * part.expand(2, -1, -1)\n",
            {"name": "table", "shape": "[1, 9, 4]", "axis": "1", "asked": "12"},
        ),
    ],
    "shape_mismatch_sizes": [
        Row(
            "table = nn.Parameter(torch.zeros(1, 9, 4))\n"
            "torch.ones(2, 7, 4) + table #<\n",
            {"is_of_layers": "0"},
        ),
        Row("torch.ones(2, 3) - torch.ones(2, 4) #<\n", {"a": "3", "b": "4", "is_of_layers": "0"}),
        Row("net = nn.Linear(3, 5)\nF.mse_loss(net(torch.ones(2, 3)), torch.ones(2, 6)) #<\n", {"axis": "1", "is_of_layers": "1", "is_window": "0"}),
        Row(
            "x, a, b = torch.ones(2, 3, 8, 8), nn.Conv2d(3, 3, 3, 2, 1), nn.Conv2d(3, 3, 1)\ny = x.relu()\nF.relu(a(y)) + b(y) #<\n",
            {"is_window": "1", "common": "8", "way": "8 → 4 (`a`)", "other_way": "8"},
        ),
        Row(
            "x, a, b = torch.ones(2, 3, 8, 8), nn.Conv2d(3, 3, 3, 2, 1), nn.Conv2d(3, 3, 1)\ny = x.relu()\na(y) + b(y)[..., :5] #<\n",
            {"is_window": "0"},
        ),
    ],
    "stack_lengths": [
        Row("words = [torch.ones(2), torch.ones(3)]\ntorch.stack(words) #<\n", {"name": "words"}),
        Row("torch.stack([torch.ones(4, 2), torch.ones(3, 2)]) #<\n", {"first_shape": "[4, 2]"}),
    ],
    "keepdim_missing": [
        Row("x = torch.rand(5, 3)\nmean = x.mean(dim=1) #<\ny = x - mean\n", {"made": "x.mean(dim=1)", "used_line": "7"}, True),
        Row("def scale(rows):\n    total = rows.sum(1) + 1e-6 #<\n    return rows / total\nscale(torch.rand(4, 6))\n", {"given": "[4, 6]"}, True),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "product_turned": "a = b = torch.ones(3, 4)\na @ b\n",
    "product_axes": "m = torch.ones(2, 4)\ntorch.mm(m, m.T)\n",
    "class_numbers_regressed": "F.mse_loss(torch.randn(10, 1), torch.randint(0, 5, (10, 1)).float())\n",
    "sign_for_equals": X + "fc = nn.Linear(3, 4)\ndef both(x):\n    x = x - fc(x)\n    return x\nboth(x)\n",
    "shape_mismatch_broadcast": X + "y = x + torch.ones(2, 1)\n",
    "cat_shapes": X + "torch.cat([x, torch.ones(4, 3)])\n",
    "cat_axes": X + "torch.cat([x, torch.ones(1, 3)])\n",
    "stack_shapes": X + "torch.stack([x, x + 1])\n",
    "batch_behind": "torch.bmm(torch.ones(4, 4, 3), torch.ones(5, 3, 1))\n",
    "batch_shapes": "torch.stack([torch.ones(2), torch.ones(3)])\n",
    "shape_invalid": X + "x.view(3, -1)\n",
    "view_not_contiguous": X + "x.t().contiguous().view(6)\n",
    "expand_size": "torch.ones(1, 3).expand(4, 3)\n",
    "axis_out_of_range": X + "x.sum(dim=-2)\n",
    "embedding_index": "emb = nn.Embedding(3, 2)\nemb(torch.tensor([0, 2]))\n",
    "embedding_one_short": "words = 'abc'\nemb = nn.Embedding(len(words), 2)\nemb(torch.tensor([1, 3]))\n",
    "embedding_positions": "places = nn.Embedding(4, 2)\nplaces(torch.arange(4))\nplaces(torch.tensor([5]))\n",
    "recurrent_parts": "(a, (b, c)), d = (1, (2, 3)), nn.LSTM(3, 4)\na, b, c = torch.ones(2, 3)\n",
    "unpack_count": "a, b, c = torch.ones(3)\n",
    "turn_parts": DATA + "for x, y in DataLoader(TensorDataset(torch.ones(4, 2), torch.ones(4))):\n    a, b = x.unbind(1)\n    c, d, e = x\n",
    "enumerate_parts": "for i, (a, b) in enumerate([(1, 2)]):\n    c, d = a, b\n    e, f = (1, 2, 3)\n",
    "expanded_written": "x = torch.zeros(3, 1).expand(3, 4).clone()\nx += 1\n",
    "gather_axes": "torch.randn(3, 4).gather(1, torch.tensor([[0], [1], [2]]))\ntorch.zeros(2, 3).scatter_(1, torch.tensor([[0], [2]]), 1.)\n",
    "cat_scalars": "torch.cat([torch.ones(1), torch.ones(1, 1)])\n",
    "cat_rounded": "e = torch.ones(1, 2, 15, 15)\nd = F.max_pool2d(torch.ones(1, 2, 14, 14), 2)\ntorch.cat([F.interpolate(d, scale_factor=2), e], 1)\n",
    "scores_compared": "torch.rand(5, 3) == torch.rand(5)\n",
    "slice_cut_short": "x, table = torch.ones(2, 7), torch.zeros(9, 5)\ntable[:9, :7]\nx + table[:2, 0]\n",
    "shape_mismatch_sizes": "torch.ones(3) + torch.ones(2, 4)\n",
    "stack_lengths": "torch.stack([torch.ones(2, 4), torch.ones(2, 3)])\n",
    "keepdim_missing": "x = torch.rand(5, 3)\nx - x.mean(dim=1, keepdim=True)\nx - torch.ones(5)\n",
}  # fmt: skip
