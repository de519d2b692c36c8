"""What `engine/findings/failing/names.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import INIT, LAYERS, NET, Row, W, X

SPLIT = (
    "class Set(torch.utils.data.Dataset):\n    def __init__(self):\n        self.targets = self.data = torch.arange(8)\n"
    "        self.tags, self.classes = [*'abcdefgh'], ['cat', 'dog']\n    def __len__(self):\n        return 8\n"
    "    def __getitem__(self, at):\n        return self.data[at]\n"
    "full = Set()\npart, rest = torch.utils.data.random_split(full, [6, 2])\n"
)

TRIGGERS: dict[str, list[Row]] = {
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
    "method_without_tensor": [
        Row("torch.zero_() #<\n", {"name": "zero_"}),
        Row(X + "y = unsqueeze(x, 0) #<\n", {"name": "unsqueeze"}),
    ],
    "unbound_local": [
        Row(
            "total = 0\ndef add(x):\n    total += x #<\nadd(1)\n",
            {"name": "total", "function": "add", "assigned_line": "7"},
        ),
        Row("def f():\n    print(a) #<\n    a = 3\nf()\n", {"name": "a", "assigned_line": "7"}),
        Row(
            "def f(x):\n    if x.sum() > 9:\n        y = x\n    return y #<\nf(torch.ones(2))\n",
            {"assigned_line": "7", "is_outside": "0"},
        ),
        Row(
            "def main():\n    best = 9.0\n    def check(x):\n        if x < best: #<\n            best = x\n    check(1.0)\nmain()\n",
            {"scope": "nonlocal", "is_outside": "1"},
        ),
    ],
    "import_missing": [
        Row("x = math.pi #<\n", {"statement": "import math"}, True),
        Row("loader = DataLoader([1]) #<\n", {"statement": "from torch.utils.data import DataLoader"}, True),
        Row("print(random.random()) #<\n", {"name": "random"}, True),
    ],
    "defined_later": [
        Row("y = helper(2) #<\ndef helper(a):\n    return a\n", {"name": "helper", "defined_line": "6"}),
        Row("print(rate) #<\nrate = 0.1\n", {"name": "rate", "defined_line": "6"}),
        Row("for x in (1, 2):\n    y = x + before #<\n    before = y\n", {"defined_line": "7", "is_turn": "1"}),
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
    "super_of_another": [
        Row(
            "class Net(nn.Module):\n    def __init__(self):\n        super(Model, self).__init__() #<\n        self.w = nn.Linear(2, 1)\nprint(Net())\n",
            {"name": "Model", "cls": "Net"}, True,
        ),
        Row(
            "class Base(nn.Module):\n    pass\nclass Net(Base):\n    def __init__(self, n):\n        super(Bas, self).__init__() #<\nprint(Net(1))\n",
            {"name": "Bas", "cls": "Net"}, True,
        ),
    ],
    "name_not_defined": [
        Row("model = Net() #<\n", {"name": "Net"}),
        Row("for batch in get_batches(3): #<\n    pass\n", {"name": "get_batches"}),
        Row("plt.plot([1]) #<\n", {"name": "plt"}),
        Row("for i in range(0):\n    loss = i\nprint(loss) #<\n", {"is_set": "1", "set_line": "6"}),
        Row("print(w) #<\ntotal = sum(w for w in range(3))\n", {"is_set": "0"}),
        Row("x = torch.ones(2).to(device) #<\n", {"name": "device"}),
        Row("for x in data: #<\n    print(x)\n", {"name": "data"}),
        Row("y_train = torch.ones(1)\nprint(x_train + y_train) #<\n", {"name": "x_train"}),
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
        Row(
            "import torchvision #<\nimport torchvision.transforms as T\nturn = T.Compose([T.ToTensor()])\n"
            "seen = torchvision.datasets.MNIST('data', transform=turn)\n",
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
        Row("from torch.nn import relu #<\nx = relu(torch.ones(2))\n", {"place": "torch.nn.functional.relu"}, True),
    ],
    "no_such_import": [
        Row("from torch import quickly_please #<\n", {"module": "torch"}),
        Row("from math import gradient_descent #<\n", {"name": "gradient_descent"}),
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
        Row(X + "y = nn.relu(x) #<\n", {"name": "relu"}, True),
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
        Row(NET + "    def __init__(self, n_hidden=5):\n        super().__init__()\n        self.n_hidden = n_hidden\n        self.first = nn.Linear(1, self.hidden) #<\nNet()\n", {"suggestion": "n_hidden"}, True),
    ],
    "layer_not_kept": [
        Row(NET + INIT + "        fc = nn.Linear(3, 2) #<\n    def forward(self, x):\n        return self.fc(x)\nNet()(torch.ones(1, 3))\n", {"right": "self.fc"}, True),
        Row("class Data:\n    def __init__(me):\n        rows = list(range(3)) #<\n    def __len__(me):\n        return len(me.rows)\nlen(Data())\n", {"name": "rows"}, True),
    ],
    "argument_not_kept": [
        Row(NET + "    def __init__(self, depth):\n        super().__init__()\n        self.layer = nn.Linear(2, 2 ** depth)\n    def forward(self, x):\n        return self.layer(x) * self.depth #<\nNet(2)(torch.ones(1, 2))\n", {"right": "self.depth = depth"}, True),
        Row("class Data:\n    def __init__(me, rows, *, width):\n        me.rows = rows\n    def __len__(me):\n        return len(me.rows) // me.width #<\nlen(Data([1, 2, 3], width=2))\n", {"right": "me.width = width", "init_line": "6"}, True),
    ],
    "attribute_set_later": [
        Row(NET + "    def __init__(self, depth):\n        super().__init__()\n        self.layer = nn.Linear(self.depth, 1) #<\n        self.depth = depth\nNet(2)\n", {"set_line": "9", "is_below": "1"}),
        Row("class Data:\n    def load(self):\n        self.rows = [1, 2]\n    def __len__(self):\n        return len(self.rows) #<\nlen(Data())\n", {"function": "load", "is_below": "0"}),
    ],
    "attribute_missing": [
        Row(X + "x.numpy().flurb #<\n", {"owner": "ndarray"}),
        Row("net = nn.Linear(2, 2)\nnet.temperature #<\n", {"receiver": "net", "is_own": "0"}),
        Row("class Run:\n    def start(self):\n        return self.temperature #<\nRun().start()\n", {"is_own": "1"}),
    ],
    "attribute_inside": [
        Row(SPLIT + "labels = part.targets #<\nprint(labels.sum(), part.targets.shape)\n", {"right": "part.dataset.targets[part.indices]", "owner": "Subset"}, True),
        Row(SPLIT + "tags = part.tags #<\nassert len(tags) == 6\n", {"right": "[part.dataset.tags[i] for i in part.indices]"}, True),
        Row(SPLIT + "print(part.classes) #<\n", {"right": "part.dataset.classes", "is_each": "0"}, True),
        Row(SPLIT + "loader = torch.utils.data.DataLoader(full, 2)\nprint(loader.data) #<\n", {"right": "loader.dataset.data", "is_each": "0"}, True),
        Row(LAYERS + "    def forward(self, x):\n        return self.fc2(self.fc1(x))\nmodel = nn.DataParallel(Net())\nmodel(torch.ones(1, 3))\nmodel.fc2.requires_grad_(False) #<\n", {"owner": "DataParallel", "right": "model.module.fc2"}, True),
    ],
    "key_misspelt": [
        Row("d = {'weight': 1}\nd['wieght'] #<\n", {"suggestion": "weight"}, True),
        Row("state = nn.Linear(1, 1).state_dict()\nb = state['bais'] #<\n", {"receiver": "state"}, True),
    ],
    "key_missing": [
        Row("d = {'a': 1}\nd['learning rate'] #<\n", {"receiver": "d", "keys": "'a'"}),
        Row("import io\nfile, net = io.BytesIO(), nn.Linear(1, 1)\ntorch.save({'epoch': 1, 'state_dict': net.state_dict()}, file)\nfile.seek(0)\nsaved = torch.load(file)\nnet.load_state_dict(saved['model']) #<\n", {"keys": "'epoch', 'state_dict'", "is_known": "1"}),
        Row("d = {}\nd['rate'] #<\n", {"is_known": "0"}),
        Row("d = {f'{i}{i}': i for i in range(20)}\nd['rate'] #<\n", {"keys": "'00', '11', '22', '33', '44', '55', '66', '77', …"}),
        Row("p = nn.ParameterDict({'first': nn.Parameter(torch.ones(2))})\np['second'] #<\n", {"receiver": "p"}),
    ],
    "self_left_out": [
        Row(LAYERS + "    def forward(self, x):\n        return self.fc2(fc1(x)) #<\nNet()(torch.ones(1, 3))\n", {"name": "fc1"}, True),
        Row("class A:\n    def __init__(self):\n        self.rate = 2\n    def f(self):\n        return rate * 2 #<\nA().f()\n", {"name": "rate"}, True),
        Row(
            "class Job:\n    def run(self):\n        return helper(2) #<\n    def helper(self, a):\n        return a\nJob().run()\n",
            {"name": "helper"},
            True,
        ),
    ],
    "compared_not_set": [
        Row(NET + INIT + "        self.conv == nn.Linear(2, 3) #<\n        self.head == nn.Linear(\n            3, 1)\n        self.act = nn.Tanh()\n    def forward(self, x):\n        return self.head(self.act(self.conv(x)))\nNet()(torch.ones(1, 2))\n", {"name": "self.conv", "count": "2", "is_several": "1"}, True),
        Row("class Total:\n    def reset(self):\n        self.count == 0 #<\nTotal().reset()\n", {"owner": "Total", "is_several": "0"}, True),
    ],
    "layer_missing": [
        Row(LAYERS + "    def forward(self, x):\n        return self.head(x) #<\nNet()(torch.ones(1, 3))\n", {"name": "head", "parts": "fc1, fc2"}),
        Row("class Rates:\n    def __init__(self):\n        self.first, self.last = 1, 2\nclass Falling(Rates):\n    steps = 3\n    def middle(self):\n        return self.between #<\nFalling().middle()\n", {"parts": "first, last"}),
        Row(LAYERS + "    def forward(self, x):\n        return self.fc1(x)\nnet = Net()\nprint(net(torch.ones(1, 3)))\nnet.softmax_layer #<\n", {"owner": "Net"}),
        Row("class Options:\n    def __init__(self, lr):\n        self.rate = lr\nOptions(0.1).lr #<\n", {"parts": "rate"}),
    ],
    "name_of_other_function": [
        Row("def load():\n    scale = 3.0\n    return torch.ones(2)\ndef use(x):\n    return x * scale #<\nuse(load())\n", {"function": "load", "bound_line": "6"}),
        Row("def main():\n    model = nn.Linear(2, 1)\n    report()\ndef report():\n    print(model.weight) #<\nmain()\n", {"function": "main"}),
        Row(
            NET + "    def __init__(self, hidden):\n        super().__init__()\n        self.fc = nn.Linear(2, hidden)\n    def forward(self, x):\n        return self.fc(x).view(-1, hidden) #<\nNet(3)(torch.ones(4, 2))\n",
            {"function": "__init__", "bound_line": "6", "is_method": "1", "holder": "self"},
        ),
        Row("class Cube(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x**3\n    @staticmethod\n    def backward(ctx, g):\n        return 3 * x**2 * g #<\nCube.apply(torch.ones(2, requires_grad=True)).sum().backward()\n", {"holder": "ctx"}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "super_underscores": NET + "    def __init__(self):\n        super().__init__()\n        super().forwards\nNet()\n",
    "method_without_tensor": X + "torch.zero_(x)\n",
    "unbound_local": "total = 0\ndef add(x):\n    global total\n    total += x\nadd(1)\n",
    "import_missing": "import math\nmath.pie\n",
    "defined_later": "def f():\n    helper = 3\n    return helper\nhelper(2)\n",
    "used_to_make_itself": "total = 0\ntotal = total + 1\nprint(rate)\nrate = 1\n",
    "name_misspelt": "encoder = nn.Linear(1, 1)\nconv1 = encoder\nprint(conv1, decoder)\n",
    "self_undefined": NET + "    def forward(self, x):\n        return self.w * x\nNet()(torch.ones(2))\n",
    "super_of_another": "class Net(nn.Module):\n    def __init__(self):\n        super(Net, self).__init__()\n        self.w = nn.Parameter(Ones(2))\nNet()\n",
    "name_not_defined": "loss = torch.ones(1)\nprint(los)\n",
    "no_module": "import json, collections\n",
    "split_missing": "from sklearn.model_selection import train_test_split\ntrain_test_split(torch.ones(9), stratify=torch.ones(9))\n",
    "sketch": "def evaluate_gradient(data):\n    return data\nevaluate_gradient(nb_epochs)\n",
    "sample_set_missing": "from torchvision import datasets, models\nseen, net = datasets.MNIST('data'), models.resnet18()\n",
    "module_misspelt": "import pandas\n",
    "import_misspelt": "from torch.nn import Linear\n",
    "import_elsewhere": "from torch.nn import linear\n",
    "no_such_import": "from torch import optm\n",
    "tensor_method": "torch.one(3)\n",
    "function_not_method": X + "x.relu()\nx.flurb()\n",
    "import_of_other": "import torch.nn as F\nlayer = F.Linear(2, 1)\nF.relu(layer(torch.ones(1, 2)))\n",
    "name_elsewhere": "nn.linear(2, 3)\n",
    "attribute_misspelt": NET + INIT + "        self.weight_decay = 1\nNet().weight\n",
    "layer_not_kept": NET + INIT + "        fc = nn.Linear(3, 2)\n        self.net = nn.Sequential(fc)\n    def forward(self, x):\n        return self.fc(x)\nNet()(torch.ones(1, 3))\n",
    "argument_not_kept": NET + "    def __init__(self, depth):\n        super().__init__()\n        print(self.depth)\n        self.depth = depth\nNet(2)\n",
    "attribute_set_later": "class Data:\n    def load(self):\n        self.rows = [1, 2]\nData().length\n",
    "attribute_missing": "torch.one(2, 3)\n",
    "attribute_inside": SPLIT + "part.weights\n",
    "key_misspelt": "words = {'cat': 1}\n[words[word] for word in ('cat', 'cats')]\n",
    "key_missing": "d = {'weight': 1}\nd['wieght']\n",
    "self_left_out": LAYERS + "    def forward(self, x):\n        return undefined(x)\nNet()(torch.ones(1, 3))\n",
    "compared_not_set": "class A:\n    def same(self, other):\n        return self.size == other\nA().same(1)\n",
    "layer_missing": "class A:\n    pass\nA().head\n",
    "name_of_other_function": "def f():\n    a = 1\nprint(undefined_here)\n",
}  # fmt: skip
