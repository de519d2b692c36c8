"""What `engine/findings/failing/layers.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import DATA, INIT, NET, NUMBERS, Row, X

ATTENTION = "mha = nn.MultiheadAttention(8, 2)\nq = torch.ones(6, 3, 8)\n"

TRIGGERS: dict[str, list[Row]] = {
    "shape_mismatch_matmul": [
        Row("torch.bmm(torch.ones(2, 3, 4), torch.ones(5, 6, 7)) #<\n", {"inner": "4", "outer": "6"}),
        Row(
            "a = torch.ones(4, 3)\nv = torch.ones(2)\ntorch.mv(a, v) #<\n",
            {"shape": "[4, 3]", "other_shape": "[2]"},
        ),
        Row("a = torch.ones(2, 3, 4)\nb = torch.ones(2, 5, 6)\na @ b #<\n", {"inner": "4", "outer": "5"}),
    ],
    "linear_shape": [
        Row(
            "rnn = nn.GRU(2, 4, bidirectional=True, batch_first=True)\nhead = nn.Linear(4, 1)\nhead(rnn(torch.ones(3, 5, 2))[0]) #<\n",
            {"is_both": "1", "recurrent": "rnn", "recurrent_line": "5", "got": "8"},
            True,
        ),
        Row(
            "rnn = nn.GRU(2, 8, batch_first=True)\nhead = nn.Linear(4, 1)\nhead(rnn(torch.ones(3, 5, 2))[0]) #<\n",
            {"is_both": "0"},
            True,
        ),
        Row(
            "net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(4 * 28 * 28, 2))\nnet(torch.ones(2, 1, 28, 28)) #<\n",
            {"got": "2704", "wanted": "3136"},
            True,
        ),
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
        # one image without an axis of samples; labels where rows are wanted; a map whose channels are last
        Row("head = nn.Linear(64, 4)\nhead(torch.ones(8, 8)) #<\n", {"is_whole": "1"}),
        Row("labels = torch.arange(6) % 2\nhead = nn.Linear(2, 4)\nhead(labels.float()) #<\n", {"shape": "[6]", "is_row": "1"}),
        Row("conv = nn.Conv2d(1, 5, 3)\nhead = nn.Linear(7, 2)\nhead(conv(torch.ones(2, 1, 6, 6)).permute(0, 2, 3, 1)) #<\n", {"got": "5"}, True),
    ],
    "flatten_missing": [
        Row(
            "net = nn.Linear(784, 10)\nimages = torch.ones(2, 1, 28, 28)\nnet(images) #<\n",
            {"layer": "net", "wanted": "784"},
            True,
        ),
        Row(
            "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Linear(72, 10))\nnet(torch.ones(4, 1, 8, 8)) #<\n",
            {"shape": "[4, 2, 6, 6]", "is_exact": "1"},
            True,
        ),
        Row(
            "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Linear(50, 10))\nnet(torch.ones(4, 1, 8, 8)) #<\n",
            {"shape": "[4, 2, 3, 3]", "is_exact": "0", "size": "18"},
            True,
        ),
        Row(
            "conv = nn.Conv1d(3, 4, 2)\nhead = nn.Linear(64, 2)\nhead(conv(torch.ones(5, 3, 9)).relu()) #<\n",
            {"size": "32", "is_exact": "0"},
            True,
        ),
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
        Row("F.cross_entropy(torch.ones(4, 3), torch.tensor([0, 1, -1, 2])) #<\n", {"is_low": "1"}),
    ],
    "index_out_of_range": [
        Row(X + "x[2] #<\n", {"name": "x", "axis": "0", "size": "2", "last": "1"}),
        Row(X + "for j in range(4):\n    x[0, j] #<\n", {"axis": "1", "index": "3"}),
    ],
    "mask_shape": [
        Row(
            X + "m = torch.tensor([True, False, True])\nx[m] #<\n",
            {"mask": "[3]", "shape": "[2, 3]", "axis": "0"},
        ),
        Row("v = torch.ones(4)\nv[torch.ones(3) > 0] #<\n", {"mask": "[3]"}),
        Row(X + "m = torch.tensor([1, 0, 1], dtype=torch.uint8)\nx[m] #<\n", {"mask": "[3]"}),
    ],
    "conv_channels": [
        Row("conv = nn.Conv2d(3, 6, 5)\nconv(torch.ones(32, 3, 784)) #<\n", {"is_flat": "1", "sides": "28, 28", "last": "784"}),
        Row("edge = torch.ones(3, 3).view(1, 1, 3, 3)\nF.conv2d(torch.ones(2, 3, 9, 9), edge) #<\n", {"layer": "edge", "made_line": "5", "is_flat": "0"}),
        Row(
            "conv = nn.Conv2d(3, 6, 5)\nconv(torch.ones(1, 1, 28, 28)) #<\n",
            {"layer": "conv", "wanted": "3", "got": "1"},
            True,
        ),
        Row("conv = nn.Conv2d(8, 16, 3, groups=4)\nconv(torch.ones(2, 10, 9, 9)) #<\n", {"groups": "4", "is_uneven": "1"}),
        Row(
            "net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.Conv1d(in_channels=8, out_channels=2, kernel_size=1))\nnet(torch.ones(1, 2, 9)) #<\n",
            {"layer": "net.1", "got": "4"},
            True,
        ),
        Row(
            NET + "    def __init__(self, n):\n        super().__init__()\n        self.conv = nn.Conv2d(n, 4, 3)\n    def forward(self, x):\n        return self.conv(x) #<\n"
            "net, up, y = Net(4), nn.ConvTranspose2d(4, 4, 2, stride=2), torch.ones(2, 4, 2, 2)\nnet(torch.cat([up(y), torch.ones(2, 4, 4, 4)], 1))\n",
            {"is_joined": "1", "parts": "4 + 4", "joined_line": "12"},
        ),
        Row(
            NET + INIT + "        self.down = nn.Sequential(Block(3), Block(8))\n        self.last = Block(16)\n    def forward(self, x):\n        return self.last(self.down(x))\n"
            "class Block(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.conv = nn.Conv2d(n, 8, 3, 2, 1)\n    def forward(self, x):\n        return self.conv(x).relu() #<\n"
            "Net()(torch.ones(2, 3, 64, 64))\n",
            {"is_joined": "0", "got": "8", "wanted": "16", "made_line": "9"},
        ),
        Row("nn.Conv2d(3, 4, 3)(torch.ones(1, 28, 28)) #<\n", {"is_single": "1", "axis": "0"}),
        Row("up = nn.ConvTranspose2d(8, 4, 2)\nup(torch.ones(1, 4, 7, 7)) #<\n", {"axis": "1", "is_single": "0"}, True),
    ],
    "batch_norm_one_value": [
        Row("bn = nn.BatchNorm1d(3)\nbn(torch.ones(1, 3)) #<\n", {"layer": "bn"}),
        Row("net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))\nnet(torch.ones(1, 2)) #<\n", {"layer": "net.1"}),
    ],
    "recurrent_input": [
        Row("x = nn.Conv1d(1, 4, 3)(torch.ones(2, 1, 9))\nnn.LSTM(4, 5, batch_first=True)(x) #<\n", {"is_second": "1"}),
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
        Row("loss = nn.NLLLoss()\nloss(torch.zeros(4, 2), torch.zeros(2, dtype=torch.long)) #<\n", {"samples": "4", "is_cut": "0"}),
        Row("maps = torch.ones(2, 3, 4, 4)\nscores = nn.Linear(16, 5)(maps.view(-1, 16))\nF.cross_entropy(scores, torch.tensor([0, 1])) #<\n", {"is_cut": "1", "cut_line": "6", "cut": "maps.view(-1, 16)", "is_steps": "0", "is_open": "1"}),
        Row("words = torch.ones(2, 7, 4)\nscores = nn.Linear(4, 3)(words.reshape(-1, 4))\nF.cross_entropy(scores, torch.tensor([0, 1])) #<\n", {"is_steps": "1", "steps": "7"}),
        Row("hot = torch.eye(4).long()[:3]\nF.cross_entropy(torch.ones(3, 4), hot.view(-1)) #<\n", {"is_hot": "1", "hot": "hot", "is_open": "0"}, True),
        Row("both = torch.ones(3, 4).long()\nF.cross_entropy(torch.ones(3, 4), both.view(-1)) #<\n", {"is_hot": "0", "is_open": "1"}),
        Row("scores, words = torch.ones(2, 4, 6), torch.zeros(2, 4).long()\nF.cross_entropy(scores.view(-1, 6), words) #<\n", {"is_table": "1"}, True),
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
        Row("F.binary_cross_entropy(torch.rand(4, 2), torch.ones(4)) #<\n", {"is_same": "0", "is_repeated": "0"}),
        Row("p, grey = torch.rand(2, 1, 4), torch.rand(2, 1, 4).round()\nt = grey.repeat(1, 3, 1)\nF.binary_cross_entropy(p, t) #<\n", {"axis": "1", "size": "3", "part": "[:, :1]"}, True),
        Row("p, t = torch.rand(2, 1, 4), torch.eye(4)[:3].repeat(2, 1, 1)\nF.binary_cross_entropy_with_logits(p, t) #<\n", {"is_repeated": "0", "is_unlike": "1"}),
    ],
    "batch_counted_on": [
        Row(
            DATA + "size = 3\ndata = TensorDataset(torch.ones(8, 6))\nfor (x,) in DataLoader(data, batch_size=size):\n    x.view(size, 2, 3) #<\n",
            {"rows": "2", "before_rows": "3", "axis": "0", "is_last": "1", "loader_line": "8"},
            True,
        ),
        Row(
            NET + "    def forward(self, x):\n        x = x.reshape(4, 10) #<\n        return x.view(4, 5, 2)\nnet = Net()\nfor x in torch.ones(2, 6, 5).split(4, 1):\n    net(x)\n",
            {"rows": "2", "before_rows": "4", "axis": "1", "is_last": "0", "before_shape": "[2, 4, 5]"},
        ),
    ],
    "channels_last": [
        Row("conv = nn.Conv2d(3, 8, 3)\nconv(torch.ones(16, 32, 32, 3)) #<\n", {"order": "0, 3, 1, 2", "wanted": "3", "got": "32"}, True),
        Row("image = torch.ones(28, 28, 1)\nnet = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU())\nnet(image) #<\n", {"order": "2, 0, 1", "layer": "net.0"}, True),
    ],
    "bce_out_of_range": [
        Row("net = nn.Linear(2, 1)\nnn.init.ones_(net.weight)\nloss = nn.BCELoss()(net(torch.ones(3, 2)), torch.ones(3, 1)) #<\n", {"loss": "binary_cross_entropy"}, True),
        Row("score = torch.tensor([2.5], requires_grad=True)\nF.binary_cross_entropy(score, torch.ones(1)).backward() #<\n", {"value": "2.5", "name": "score"}, True),
        Row("net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1), nn.Tanh())\nfor part in net.parameters():\n    nn.init.constant_(part, -1.)\nmade = net(torch.ones(3, 2))\nnn.BCELoss()(made.squeeze(1), torch.ones(3)) #<\n", {"maker": "tanh", "is_scores": "0"}, True),
        Row(NET + INIT + "        self.tanh, self.fc = nn.Tanh(), nn.Linear(2, 1)\n        nn.init.constant_(self.fc.weight, -1.)\n    def forward(self, x):\n        return self.tanh(self.fc(x))\nF.binary_cross_entropy(Net()(torch.ones(3, 2)), torch.ones(3, 1)) #<\n", {"maker": "tanh"}, True),
        Row("net, bend = nn.Linear(2, 1), nn.Tanh()\nnn.init.constant_(net.weight, -1.)\nmade = bend(net(bend(torch.ones(3, 2))))\nF.binary_cross_entropy(made, torch.ones(3, 1)) #<\n", {"maker": "tanh"}),
        Row("net = nn.Linear(2, 1)\nnn.init.ones_(net.weight)\nchance = torch.sigmoid(net(torch.ones(3, 2))) * 2\nF.binary_cross_entropy(chance, torch.ones(3, 1)) #<\n", {"is_bent": "0", "is_scores": "0"}),
    ],
    "bce_target_range": [
        Row("p = torch.tensor([.5, .5])\nlabels = torch.tensor([1., 2.])\nF.binary_cross_entropy(p, labels) #<\n", {"value": "2", "name": "labels"}),
        Row("crit = nn.BCELoss()\ncrit(torch.sigmoid(torch.ones(2)), torch.tensor([-1., 1.])) #<\n", {"value": "-1"}),
    ],
    "heads_do_not_divide": [
        Row("nn.MultiheadAttention(10, 3) #<\n", {"code": "nn.MultiheadAttention(10, 3)"}),
        Row("layer = nn.TransformerEncoderLayer(d_model=10, nhead=4) #<\n", {"line": "5"}),
    ],
    "norm_axes": [
        Row(
            "net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm1d(4))\nnet(torch.ones(2, 1, 8, 8)) #<\n",
            {"made": "BatchNorm1d", "right": "BatchNorm2d"},
            True,
        ),
        Row("norm = nn.BatchNorm2d(8)\nnorm(torch.ones(4, 8, 8)) #<\n", {"right": "BatchNorm1d", "is_alone": "1"}),
    ],
    "one_score": [
        Row("F.cross_entropy(torch.ones(3, 1), torch.tensor([0, 1, 1])) #<\n", {"shape": "[3, 1]", "value": "1"}),
        Row("p = nn.Linear(2, 1)(torch.ones(2, 2))\nnn.CrossEntropyLoss()(p, torch.tensor([0, 1])) #<\n", {"name": "p"}),
    ],
    "batch_flattened": [
        Row(
            "x = torch.ones(2, 4, 6).view(-1, 12) #<\nnn.Linear(24, 1)(x)\n",
            {"samples": "2", "before": "[2, 4, 6]", "is_one": "0"},
            True,
        ),
        Row("net = nn.Linear(784, 10)\nx = torch.rand(32, 1, 28, 28)\nnet(x.view(-1)) #<\n", {"samples": "32", "wanted": "784"}, True),
        Row("net = nn.Linear(4, 1)\nx = torch.rand(3, 2, 2)\nflat = x.flatten() #<\nnet(flat)\n", {"samples": "3", "layer": "net"}, True),
        Row("net = nn.Linear(4, 1)\nx = torch.rand(3, 2, 2)\nflat = torch.flatten(x) #<\nnet(flat)\n", {"samples": "3"}, True),
        Row("net = nn.Linear(4, 1)\nx = torch.rand(3, 2, 2)\nflat = torch.reshape(x, (-1,)) #<\nnet(flat)\n", {"samples": "3"}, True),
        Row("net = nn.Linear(4, 1)\nx = torch.rand(3, 4)\nflat = x.reshape(-1) #<\nnet(flat.relu())\n", {"samples": "3"}, True),
    ],
    "channel_axis_missing": [
        Row("conv = nn.Conv2d(1, 4, 3)\nconv(torch.rand(8, 28, 28)) #<\n", {"shape": "[8, 28, 28]", "got": "8"}, True),
        Row("x = torch.rand(5, 9, 9)\nnet = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())\nnet(x) #<\n", {"name": "x", "layer": "net.0"}, True),
        Row("conv = nn.Conv1d(1, 4, 3)\nx = torch.ones(6, 20)\nconv(x) #<\n", {"got": "6"}, True),
        Row("conv = nn.Conv3d(1, 4, 3)\nconv(torch.ones(2, 8, 8, 8)) #<\n", {"got": "2"}, True),
    ],
    "lstm_state": [
        Row("lstm = nn.LSTM(3, 5)\nh0 = torch.zeros(1, 2, 5)\nout, h = lstm(torch.randn(7, 2, 3), h0) #<\n", {"name": "h0"}, True),
        Row("net = nn.LSTM(2, 2)\nnet(torch.randn(4, 1, 2), torch.zeros(1, 1, 2)) #<\n", {"layer": "net"}),
    ],
    "hidden_size": [
        Row("gru = nn.GRU(3, 5, batch_first=True)\ngru(torch.ones(6, 2, 3), torch.zeros(1, 2, 5)) #<\n", {"is_turned": "1", "batch": "2"}),
        Row("rnn = nn.RNN(3, 5, batch_first=True)\nh0 = torch.zeros(1, 7, 5)\nrnn(torch.randn(2, 7, 3), h0) #<\n", {"wanted": "1, 2, 5", "got": "1, 7, 5"}),
        Row("lstm = nn.LSTM(3, 5)\ns = torch.zeros(2, 2, 5)\nlstm(torch.randn(7, 2, 3), (s, s)) #<\n", {"layer": "lstm", "is_layers": "1", "is_batch": "0", "is_both": "0"}),
        Row("both = nn.LSTM(3, 5, 2, bidirectional=True)\ns = torch.zeros(2, 2, 5)\nboth(torch.randn(7, 2, 3), (s, s)) #<\n", {"first": "4", "is_both": "1", "is_carried": "0"}),
        Row("_, h = nn.GRU(3, 4)(torch.randn(7, 2, 3))\nrnn = nn.GRU(3, 5)\nrnn(torch.randn(1, 2, 3), h) #<\n", {"is_hidden": "1", "is_layers": "0", "is_carried": "1", "is_own": "0", "given": "5", "given_line": "6"}),
        Row("two, n = False, 4\nclass Reader(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n        self.size = size\n        self.rnn = nn.GRU(3, self.size)\n    def forward(self, x, h):\n        return self.rnn(x, h) #<\n_, h = nn.GRU(3, n)(torch.randn(7, 2, 3))\nread = Reader(n * 2 if two else 1)\nread(torch.randn(1, 2, 3), h)\n", {"given_line": "14", "right": "n * (2 if two else 1)"}, True),
        Row("rnn = nn.GRU(3, 5)\nrnn(torch.randn(1, 2, 3), torch.zeros(1, 2, 4)) #<\n", {"is_own": "1", "is_given": "0"}),
    ],
    "hidden_axes": [
        Row("lstm = nn.LSTM(3, 5, batch_first=True)\nh0 = torch.zeros(1, 5)\nlstm(torch.randn(2, 7, 3), (h0, h0)) #<\n", {"wanted": "3", "got": "2", "input_shape": "[2, 7, 3]"}),
        Row("gru = nn.GRU(3, 5)\nstate = torch.zeros(1, 1, 5)\ngru(torch.randn(7, 3), state) #<\n", {"layer": "gru", "wanted": "2", "got": "3", "call": ".unsqueeze(1)"}, True),
        Row("gru = nn.GRU(3, 5, batch_first=True)\nx = torch.randn(4, 3)\nstate = torch.zeros(1, 4, 5)\ngru(x, state) #<\n", {"is_step": "1", "call": ".unsqueeze(1)", "batch": "4"}),
        Row(NET + INIT + "        self.lstm = nn.LSTM(2, 5)\n        self.state = (torch.zeros(1, 1, 5), torch.zeros(1, 1, 5))\n    def forward(self, x):\n        return self.lstm(x.view(len(x), -1), self.state) #<\nNet()(torch.ones(7, 2))\n", {"is_single": "1"}, True),
        Row("gru, x = nn.GRU(3, 5), torch.randn(1, 3)\nstate = torch.zeros(1, 1, 5)\ngru(x, state) #<\n", {"is_open": "1"}),
    ],
    "norm_features": [
        Row("def block(a, b):\n    return nn.Sequential(\n        nn.Conv2d(a, b, 3),\n        nn.BatchNorm2d(a),\n        nn.ReLU())\nsizes = [3, 6, 9]\nnet = nn.Sequential(*[block(a, b) for a, b in zip(sizes, sizes[1:])])\nnet(torch.ones(2, 3, 8, 8)) #<\n", {"layer": "net.0.1", "made_line": "8", "got": "6"}),
        Row("def block(a, b):\n    norm = nn.BatchNorm1d(a)\n    return nn.Sequential(nn.Linear(a, b), norm, nn.Linear(b, a), nn.BatchNorm1d(a))\nnet = nn.Sequential(*[block(3, 6)])\nnet(torch.ones(2, 3)) #<\n", {"layer": "net.0.1", "made_line": "8"}),
        Row("net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(4))\nnet(torch.randn(3, 4)) #<\n", {"wanted": "4", "got": "8", "layer": "net.1"}, True),
        Row("norm = nn.BatchNorm2d(num_features=3)\nnorm(torch.randn(2, 6, 4, 4)) #<\n", {"got": "6"}, True),
        Row("nn.BatchNorm1d(8)(torch.ones(4, 10, 8)) #<\n", {"is_elsewhere": "1"}),
        Row("class Net(nn.Module):\n    def __init__(self, width=8):\n        super().__init__()\n        self.norm = nn.BatchNorm1d(width)\n    def forward(self, x):\n        return self.norm(x) #<\nNet()(torch.ones(4, 10, 8))\n", {"made_line": "8"}),
    ],
    "class_axis": [
        Row("scores, tags = torch.ones(2, 5, 3), torch.zeros(2, 5).long()\nF.cross_entropy(scores, tags) #<\n", {"order": "0, 2, 1", "classes": "3"}, True),
        Row("crit = nn.CrossEntropyLoss()\npixels = torch.ones(2, 4, 5, 3)\ncrit(pixels, torch.zeros(2, 4, 5).long()) #<\n", {"name": "pixels"}, True),
    ],
    "features_last": [
        Row("x = torch.ones(8, 16)\nnn.Conv1d(16, 4, 3)(x) #<\n", {"order": "1, 0", "is_flat": "1"}),
        Row("conv = nn.Conv1d(16, 4, 3)\nwords = torch.ones(2, 9, 16)\nconv(words) #<\n", {"order": "0, 2, 1", "got": "9"}, True),
        Row("x = torch.ones(2, 5, 6, 7, 3)\nnn.Conv3d(3, 4, 3)(x) #<\n", {"order": "0, 4, 1, 2, 3"}, True),
    ],
    "batch_first_missing": [
        Row("x = torch.ones(5, 7, 3)\nrnn = nn.GRU(3, 4) #<\nrnn(x, torch.zeros(1, 5, 4))\n", {"samples": "5", "used_line": "7"}, True),
        Row(NET + INIT + "        self.rnn = nn.LSTM(3, 4) #<\n    def forward(self, x):\n        h = torch.zeros(1, x.size(0), 4)\n        return self.rnn(x, (h, h))\nNet()(torch.ones(5, 7, 3))\n", {"input": "x"}, True),
    ],
    "batch_squeezed": [
        Row(
            "loss = nn.BCEWithLogitsLoss()\nfor scores, y in zip(torch.ones(5, 1).split(2), torch.ones(5).split(2)):\n    s = scores.squeeze() #<\n    loss(s, y)\n",
            {"name": "s", "given": "[1, 1]", "used_line": "8"},
            True,
        ),
        Row("x = torch.ones(1, 1, 4, requires_grad=True)\ns = x.squeeze() * 2 #<\nF.cross_entropy(s, torch.tensor([1])).backward()\n", {"name": "s", "given": "[1, 1, 4]"}, True),
        Row("x = torch.ones(1, 4, 1, requires_grad=True)\ns = x.squeeze() #<\nF.nll_loss(F.log_softmax(s, -1), torch.tensor([1])).backward()\n", {"classes": "4", "is_loss": "1"}),
        Row("for count in (3, 1):\n    x = torch.ones(count, 1, 4)\n    w = x.squeeze() #<\n    y = torch.einsum('bc,bcd->bd', w * 2, torch.ones(count, 4, 5))\n", {"given": "[1, 1, 4]", "is_loss": "0", "shape": "[4]"}, True),
        Row("def best(scores):\n    scores = scores.squeeze() #<\n    return scores.softmax(1)\nfor batch in torch.ones(5, 1, 4).split(2):\n    best(batch)\n", {"used_line": "7"}, True),
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
        Row("layer = nn.TransformerEncoderLayer(8, 2)\nm = torch.zeros(4, 4)\nlayer(torch.ones(6, 3, 8), src_mask=m) #<\n", {"mask": "m"}),
        Row(ATTENTION + "see = torch.zeros(3, 6, 6) > 0\nmha(q, q, q, attn_mask=see) #<\n", {"mask": "see", "samples": "3", "heads": "2"}, True),
        Row("layer = nn.TransformerEncoderLayer(8, 4, batch_first=True)\nm = torch.zeros(3, 5, 5)\nlayer(torch.ones(3, 5, 8), m) #<\n", {"heads": "4"}, True),
        Row(ATTENTION + "see = torch.zeros(1, 6, 6) > 0\nmha(q, q, q, attn_mask=see) #<\n", {"is_length": "0"}),
    ],
    "attention_axes_turned": [
        Row("layer = nn.TransformerEncoderLayer(8, 2)\nm = nn.Transformer.generate_square_subsequent_mask(3)\nx = torch.ones(6, 3, 8)\nlayer(x, src_mask=m) #<\n", {"mask": "m", "axis": "0", "taken": "6"}, True),
        Row("mha = nn.MultiheadAttention(8, 2, batch_first=True)\nq, m = torch.ones(5, 2, 8), torch.zeros(5, 5)\nmha(q, q, q, attn_mask=m) #<\n", {"is_first": "1", "length": "5"}, True),
        Row(NET + INIT + "        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 1)\n    def forward(self, x):\n        m = torch.zeros(x.size(1), x.size(1))\n        return self.enc(x, mask=m) #<\nNet()(torch.ones(4, 7, 8))\n", {"length": "7"}, True),
    ],
    "target_from_one": [
        Row("F.cross_entropy(torch.zeros(3, 3), torch.tensor([1, 3, 2])) #<\n", {"classes": "3", "last": "2"}),
        Row("stars = torch.tensor([2, 1])\nnn.NLLLoss()(torch.zeros(2, 2), stars) #<\n", {"value": "2"}),
    ],
    "batch_norm_last_batch": [
        Row(NUMBERS + "norm = nn.BatchNorm1d(2)\nloader = DataLoader(data, batch_size=7) #<\nfor x, y in loader:\n    norm(x)\n", {"used_line": "10"}, True),
        Row(NUMBERS + "norm = nn.BatchNorm1d(2)\nfor x, y in DataLoader(data, batch_size=7): #<\n    norm(x)\n", {"shape": "[1, 2]"}, True),
        Row(NUMBERS + NET + INIT + "        self.norm = nn.BatchNorm1d(2)\n    def forward(self, x):\n        return self.norm(x)\nnet = Net()\nbatches = DataLoader(data, batch_size=7) #<\ndef epoch():\n    for x, y in batches:\n        net(x)\nepoch()\n", {}, True),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "shape_mismatch_matmul": "a = torch.ones(4, 3)\nb = torch.ones(3, 5)\na @ b\n",
    "linear_shape": "net = nn.Linear(3, 2)\nnet(torch.ones(5, 4, 3))\n",
    "flatten_missing": "net = nn.Linear(784, 10)\nnet(torch.ones(2, 1, 28, 27))\n",
    "target_out_of_range": X + "F.cross_entropy(x, torch.tensor([0, 2]))\n",
    "index_out_of_range": X + "x[-2]\n",
    "mask_shape": X + "x[torch.tensor([True, False])]\n",
    "conv_channels": "conv = nn.Conv2d(3, 6, 5)\nconv(torch.ones(1, 3, 28, 28))\n",
    "batch_norm_one_value": "bn = nn.BatchNorm1d(3).eval()\nbn(torch.ones(1, 3))\n",
    "recurrent_input": "lstm = nn.LSTM(3, 4)\nlstm(torch.ones(5, 2, 3))\n",
    "features_without_axis": "lstm = nn.LSTM(1, 4, batch_first=True)\nlstm(torch.ones(8, 24, 1))\nlstm(torch.ones(24, 1))\n",
    "loss_batch": X + "F.cross_entropy(x, torch.tensor([0, 1]))\n",
    "batch_cut_anew": "x, head = torch.randn(6, 4, 5), nn.Linear(5, 3)\nF.cross_entropy(head(x.view(-1, 5)), torch.zeros(6, dtype=torch.long))\n",
    "target_shape": "p = torch.full((2,), .5)\nF.binary_cross_entropy(p, torch.ones(2))\n",
    "batch_counted_on": "for x in (torch.ones(4, 6), torch.ones(2, 5)):\n    x.view(4, 6)\n",
    "channels_last": "net = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 4, 3))\nnet(torch.ones(2, 3, 32, 32))\n",
    "bce_out_of_range": "x = torch.zeros(4) / 0\nF.binary_cross_entropy(torch.sigmoid(x), torch.ones(4))\n",
    "bce_target_range": "F.binary_cross_entropy(torch.tensor([.3]), torch.tensor([.7]))\n",
    "heads_do_not_divide": "nn.MultiheadAttention(12, 3)\nassert False, 'embed_dim'\n",
    "norm_axes": "nn.InstanceNorm1d(4)(torch.ones(2, 4, 8, 8))\n",
    "one_score": "F.cross_entropy(torch.ones(3, 2), torch.tensor([0, 2, 1]))\n",
    "batch_flattened": "net = nn.Linear(784, 10)\nnet(torch.rand(32, 784).flatten(1))\nnet(torch.rand(783))\n",
    "channel_axis_missing": "nn.Conv1d(1, 4, 3)(torch.ones(1, 20))\nnn.Conv1d(1, 4, 3)(torch.ones(2, 3, 20))\n",
    "lstm_state": "lstm = nn.LSTM(3, 5)\nh = torch.zeros(1, 2, 5)\nlstm(torch.randn(7, 2, 3), (h, h))\nh[3]\n",
    "hidden_size": "rnn = nn.RNN(3, 5)\nrnn(torch.randn(7, 2, 3), torch.zeros(1, 2, 5))\n",
    "hidden_axes": "gru = nn.GRU(3, 5)\ngru(torch.randn(7, 3), torch.zeros(1, 5))\n",
    "norm_features": "nn.BatchNorm1d(4)(torch.randn(3, 4))\n",
    "class_axis": "F.cross_entropy(torch.ones(2, 3, 5), torch.zeros(2, 4).long())\n",
    "features_last": "nn.Conv1d(16, 4, 3)(torch.ones(2, 9, 8))\n",
    "batch_first_missing": "rnn = nn.GRU(3, 4)\nrnn(torch.ones(5, 7, 3), torch.zeros(1, 6, 4))\n",
    "batch_squeezed": "for k in (3, 1):\n    v = torch.ones(k, 2).squeeze().softmax(-1)\ns = torch.ones(3, requires_grad=True)\nF.cross_entropy(s, torch.tensor([1])).backward()\n",
    "padding_mask_turned": ATTENTION + "mha(q, q, q, key_padding_mask=torch.zeros(3, 6) > 0)\n",
    "padding_mask_shape": ATTENTION + "mha(q, q, q, key_padding_mask=torch.zeros(6, 3) > 0)\n",
    "attention_mask_shape": ATTENTION
    + "mha(q, q, q, attn_mask=torch.zeros(6, 6))\nmha(q, q, q, attn_mask=torch.zeros(6, 6, 6))\n",
    "attention_axes_turned": ATTENTION + "mha(q, q, q, attn_mask=torch.zeros(4, 4))\n",
    "target_from_one": "F.cross_entropy(torch.zeros(3, 3), torch.tensor([0, 3, 2]))\n",
    "batch_norm_last_batch": NUMBERS + "norm = nn.BatchNorm1d(2)\nfor x, y in DataLoader(data, batch_size=4):\n    norm(x[:1])\n",
}  # fmt: skip
