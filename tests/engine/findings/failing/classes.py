"""What `engine/findings/failing/classes.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import DATA, INIT, LAYERS, NET, Row, W, X

SQUARE = (
    "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):{mark}\n{saved}        return x * x\n"
    "    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        return 2 * x * g\n"
)
SAVES = "        ctx.save_for_backward(x)\n"
TRIGGERS: dict[str, list[Row]] = {
    "module_as_base": [
        Row("import torch.optim.optimizer as Optimizer\nclass Slow(Optimizer): #<\n    pass\n", {"module": "torch.optim.optimizer", "meant": "Optimizer"}, True),
        Row("class Net(nn): #<\n    def forward(self, x):\n        return x\nNet()(torch.ones(1))\n", {"module": "torch.nn", "meant": "Module"}, True),
        Row("from torch.utils.data import dataset\nclass Rows(dataset): #<\n    def __len__(self):\n        return 3\nlen(Rows())\n", {"base": "dataset", "meant": "Dataset"}, True),
    ],
    "saved_no_tensor": [
        Row("class Turn(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, scale):\n        ctx.save_for_backward(scale) #<\n        return x * scale\n    @staticmethod\n    def backward(ctx, g):\n        scale, = ctx.saved_tensors\n        return g * scale, None\nTurn.apply(torch.ones(2, requires_grad=True), 2.0).sum().backward()\n", {"kept": "scale", "kind": "float", "right": "ctx.scale = scale"}, True),
        Row("class Turn(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, scale):\n        ctx.save_for_backward(x, scale) #<\n        return x * scale\n    @staticmethod\n    def backward(ctx, g):\n        (x, scale) = ctx.saved_tensors\n        return g * scale, None\nTurn.apply(torch.ones(2, requires_grad=True), 2.0).sum().backward()\n", {"cls": "Turn"}, True),
        Row("class Turn(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, scale):\n        ctx.save_for_backward(x, scale * 2.0) #<\n        return x * scale\n    @staticmethod\n    def backward(ctx, g):\n        x, scale = ctx.saved_tensors\n        return g * scale, None\nTurn.apply(torch.ones(2, requires_grad=True), 2.0).sum().backward()\n", {"is_named": "0"}),
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
    "custom_backward_count": [
        Row(W + "class Mul(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n        return a * b\n    @staticmethod\n    def backward(ctx, g): #<\n        left, right = g * 2, g * 3\nMul.apply(w, w).sum().backward()\n", {"is_none": "1", "is_few": "0"}),
        Row(
            W
            + "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g, g #<\nTwice.apply(w).sum().backward()\n",
            {"cls": "Twice", "expected": "1", "got": "2", "is_many": "1"},
        ),
        Row(
            W
            + "class Mul(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n        return a * b\n    @staticmethod\n    def backward(ctx, g):\n        return g #<\nMul.apply(w, w).sum().backward()\n",
            {"expected": "2", "got": "1", "inputs": "`a`, `b`", "is_few": "1"},
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
    "list_index": [
        Row("layers = [1, 2]\nlayers[2] #<\n", {"name": "layers", "index": "2"}),
        Row("blocks = nn.ModuleList([nn.ReLU()])\nblocks[1] #<\n", {"name": "blocks"}),
    ],
    "arguments_missing": [
        Row("nn.Linear(3) #<\n", {"function": "Linear", "missing": "out_features"}),
        Row(
            W + "opt = torch.optim.SGD([w], lr=0.1)\ntorch.optim.lr_scheduler.StepLR(opt) #<\n",
            {"missing": "step_size"},
        ),
    ],
    "layer_class_given": [
        Row("net = nn.Sequential(\n    nn.Linear(2, 4),\n    nn.ReLU, #<\n)\n", {"written": "nn.ReLU"}),
        Row("net = nn.ModuleList([nn.Linear]) #<\n", {"container": "nn.ModuleList"}),
    ],
    "function_among_layers": [
        Row("net = nn.Sequential(nn.Linear(2, 4), F.relu) #<\n", {"written": "F.relu", "right": "nn.ReLU()"}, True),
        Row("net = nn.Sequential(nn.Linear(2, 4), torch.tanh, nn.Linear(4, 1)) #<\n", {"written": "torch.tanh"}, True),
        Row("net = nn.Sequential(nn.Linear(2, 4), torch.sin) #<\n", {"is_known": "0", "right": ""}),
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
    "function_not_static": [
        Row(SQUARE.replace("    @staticmethod\n", "").format(mark=" #<", saved=SAVES) + W + "Square()(w).sum().backward()\n", {"cls": "Square"}, True),
        Row(SQUARE.replace("    @staticmethod\n", "").format(mark=" #<", saved=SAVES) + W + "square = Square()\ny = square(w)\n", {"cls": "Square"}, True),
        Row("class Twice(torch.autograd.Function):\n    def forward(ctx, x): #<\n        return 2 * x\n" + W + "Twice()(w).sum().backward()\n", {"methods": "`forward`", "lacks_backward": "1"}),
        Row("class Twice(torch.autograd.Function):\n    def forward(self, ctx, x): #<\n        return 2 * x\n    def backward(self, ctx, g):\n        return 2 * g\n" + W + "Twice()(w).sum().backward()\n", {"has_self": "1", "self": "self"}),
    ],
    "function_not_applied": [
        Row(SQUARE.format(mark="", saved=SAVES) + W + "y = Square.forward(w) #<\n", {"written": "Square.forward(w)"}, True),
        Row(SQUARE.format(mark="", saved=SAVES) + W + "y = Square()(w) #<\n", {"cls": "Square"}, True),
    ],
    "class_without_module": [
        Row("class Net: #<\n    def __init__(self):\n        self.fc = nn.Linear(3, 1)\n    def forward(self, x):\n        return self.fc(x)\nnet = Net()\nnet(torch.ones(2, 3))\n", {"cls": "Net", "is_called": "1", "defined_line": "5"}, True),
        Row("class Net(): #<\n    def __init__(self):\n        self.fc = nn.Linear(3, 1)\n    def forward(self, x):\n        return self.fc(x)\nnet = Net()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n", {"asked": "parameters", "is_called": "0"}, True),
    ],
    "custom_backward_not_none": [
        Row(W + "class Scale(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, k):\n        ctx.save_for_backward(x)\n        ctx.k = k\n        return x * k\n    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        slope = (g * x).sum()\n        return g * ctx.k, slope #<\nScale.apply(w, 2.0).sum().backward()\n", {"input": "k", "code": "slope", "place": "2"}, True),
        Row(W + "class Power(torch.autograd.Function):\n    @staticmethod\n    def forward(n, x):\n        return x ** n\n    @staticmethod\n    def setup_context(ctx, inputs, output):\n        ctx.n, x = inputs\n        ctx.save_for_backward(x)\n    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        both = g, g * ctx.n * x ** (ctx.n - 1)\n        return both #<\nPower.apply(3, w).sum().backward()\n", {"input": "n", "is_apart": "0", "place": "1"}),
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
    "dataset_method_missing": [
        Row(DATA + "class DS(Dataset): #<\n    def __getitem__(self, i):\n        return i\nfor b in DataLoader(DS(), batch_size=2, shuffle=True):\n    pass\n", {"method": "__len__", "cls": "DS"}),
        Row(DATA + "class DS(Dataset): #<\n    def __len__(self):\n        return 4\nnext(iter(DataLoader(DS())))\n", {"method": "__getitem__"}),
    ],
    "dataset_method_misspelt": [
        Row(DATA + "class DS(Dataset):\n    def __getitem__(self, i):\n        return i\n    def __lens__(self):\n        return 4\n    def _len__(self): #<\n        return 4\nfor b in DataLoader(DS()):\n    pass\n", {"method": "__len__", "name": "_len__"}, True),
        Row(DATA + "class DS(Dataset):\n    def __len__(self):\n        return 4\n    def getitem(self, i): #<\n        return i\nnext(iter(DataLoader(DS())))\n", {"name": "getitem"}, True),
    ],
    "split_sizes": [
        Row("from torch.utils.data import random_split\nrandom_split(range(10), [6, 3]) #<\n", {"line": "6"}),
        Row("from torch.utils.data import TensorDataset, random_split\ndata = TensorDataset(torch.ones(4))\na, b = random_split(data, [3, 2]) #<\n", {"line": "7"}),
    ],
    "sample_is_none": [
        Row(DATA + "class DS(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        if i > 1:\n            return i\n        i + 1 #<\nfor b in DataLoader(DS()):\n    pass\n", {"cls": "DS"}, True),
        Row(DATA + "class DS(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        print(i) #<\nnext(iter(DataLoader(DS())))\n", {"used_line": "11"}),
        Row(DATA + "class Few(Dataset):\n    def __len__(self):\n        return 3\n    def __getitem__(self, i):\n        if i != 1: #<\n            return torch.ones(2), 1\nfor x in DataLoader(Few(), batch_size=3):\n    pass\n", {"cls": "Few"}),
        Row(DATA + "class Scans(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        if i == 2:\n            return None #<\n        return torch.ones(2), 1\nfor x, y in DataLoader(Scans(), batch_size=4):\n    pass\n", {"cls": "Scans", "is_said": "1"}),
        Row(DATA + "class Scans(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        x = torch.ones(2) if i is not None else None\n        return x if i % 2 else None #<\nfor x in DataLoader(Scans(), batch_size=2):\n    pass\n", {"is_said": "1"}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "module_as_base": "class Step(torch.optim.Optimizer):\n    pass\nclass Net(nn.Module):\n    pass\nnn.Linear(1)\n",
    "saved_no_tensor": "class Turn(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, scale):\n        ctx.save_for_backward(x, torch.tensor(scale))\n        return x * scale\n    @staticmethod\n    def backward(ctx, g):\n        x, scale = ctx.saved_tensors\n        return g * scale, None\nTurn.apply(torch.ones(2, requires_grad=True), 2.0).sum().backward()\n",
    "attribute_taken": "net = nn.Linear(2, 1)\nnet.register_buffer('mask', torch.ones(2))\nnet.register_buffer('mask', torch.zeros(2))\n{}['mask']\n",
    "custom_backward_count": W
    + "class F2(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, n):\n        return a * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, None\nF2.apply(w, 3).sum().backward()\n",
    "custom_backward_missing": W
    + "class F2(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 2\nF2.apply(w)\n",
    "custom_backward_misspelt": W
    + "class F2(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 2\n    @staticmethod\n    def helper(g):\n        return g\nF2.apply(w).sum().backward()\n",
    "list_index": X + "x[2]\n",
    "arguments_missing": "def f():\n    raise TypeError('f() is missing something')\nf()\n",
    "layer_class_given": "net = nn.Sequential(nn.Linear(2, 4), nn.ReLU())\n",
    "function_among_layers": "net = nn.Sequential(nn.Linear(2, 4), nn.ReLU())\nF.relu(net(torch.ones(1, 2)))\n",
    "forward_inside_init": NET + "    def call(self, x):\n        def forward(y):\n            return y\n        return forward(x)\nNet()(torch.ones(2))\n",
    "function_not_static": SQUARE.format(mark="", saved=SAVES) + W + "Square.apply(w).sum().backward()\n",
    "function_not_applied": NET + INIT + "    def forward(self, x):\n        return x\nNet().forward()\n",
    "class_without_module": "class Net:\n    def forward(self, x):\n        return x\nNet().parts\n",
    "custom_backward_not_none": W + "class Scale(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, k):\n        ctx.k = k\n        return x * k\n    @staticmethod\n    def backward(ctx, g):\n        return g * ctx.k, g.sum()\nScale.apply(w, torch.tensor(2.0)).sum().backward()\n",
    "custom_backward_shape": SQUARE.format(mark="", saved=SAVES) + W + "Square.apply(w).sum().backward()\n",
    "dataset_method_missing": "class Bag:\n    pass\nlen(Bag())\n",
    "dataset_method_misspelt": DATA + "class DS(Dataset):\n    def __len__(self):\n        return 2\n    def __getitem__(self, i):\n        return i\nfor b in DataLoader(DS()):\n    pass\nlen(3)\n",
    "split_sizes": "from torch.utils.data import random_split\nrandom_split(range(10), [6, 4])\nrandom_split(range(10), [0.8, 0.2])\n",
    "sample_is_none": DATA + "class DS(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        while True:\n            return {'x': i, 'y': None}\nnext(iter(DataLoader(DS())))\n",
}  # fmt: skip
