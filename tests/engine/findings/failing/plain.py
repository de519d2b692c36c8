"""Errors that the table in `engine/findings/errors.py` explains by itself, and programs near to them. `#<` ends the line named."""

from tests.engine.findings.failures import DATA, LAYERS, Row, W, X

TRIGGERS: dict[str, list[Row]] = {
    "cannot_stop_tracking": [
        Row(W + "v = w * 2\nv.requires_grad = False #<\n", {"name": "v"}, True),
        Row(W + "v = w * 2\nv.requires_grad_(False) #<\n", {"name": "v", "is_on": "0"}),
        Row(
            W + "v = w * 2\nv.requires_grad = True #<\ntorch.autograd.grad((v**2).sum(), v)\n",
            {"name": "v", "is_on": "1"},
            True,
        ),
        Row(W + "v = w * 2\nv.requires_grad = True #<\nv.sum().backward()\nprint(v.grad)\n", {"is_on": "1"}),
    ],
    "in_place_shape": [
        Row("a = torch.ones(3)\na += torch.ones(2, 3) #<\n", {"result": "[2, 3]"}),
        Row("a = torch.zeros(1, 3)\na.add_(torch.ones(2, 3)) #<\n", {"name": "a", "shape": "[1, 3]"}),
    ],
    "indices_many": [
        Row(X + "x[0, 0, 0] #<\n", {"name": "x", "axes": "2"}),
        Row("v = torch.ones(3)\nv[:, 1] #<\n", {"name": "v", "shape": "[3]"}),
    ],
    "index_of_scalar": [
        Row(X + "loss = x.sum()\nprint(loss.data[0]) #<\n", {"name": "loss"}, True),
        Row("t = torch.tensor(3.)\ny = t[0] #<\n", {"name": "t"}, True),
    ],
    "iterate_scalar": [
        Row("for v in torch.tensor(1.): #<\n    pass\n", {"line": "5"}),
        Row("n = len(torch.ones(3).sum()) #<\n", {"line": "5"}),
    ],
    "conv_axes": [
        Row("conv, x = nn.Conv2d(1, 6, 5), torch.ones(2, 1, 8, 8)\nx = x.view(2, -1)\nconv(x) #<\n", {"origin_line": "6", "origin_given": "[2, 1, 8, 8]", "is_flat": "1"}),
        Row("conv, x = nn.Conv1d(1, 6, 5), torch.ones(2, 1, 8, 8)\nx = x.view(2, -1)\nconv(x.mean(0)) #<\n", {"is_flat": "0"}),
        Row("conv = nn.Conv2d(1, 6, 5)\nconv(torch.ones(28, 28)) #<\n", {"op": "conv2d", "shape": "[28, 28]"}),
        Row("x = torch.ones(5)\nF.conv1d(x, torch.ones(1, 1, 3)) #<\n", {"op": "conv1d", "name": "x"}),
    ],
    "kernel_too_large": [
        Row("conv = nn.Conv2d(1, 6, 5)\nconv(torch.ones(1, 1, 3, 3)) #<\n", {"size": "3 x 3", "kernel": "5 x 5"}),
        Row("x = torch.ones(1, 1, 2)\nF.conv1d(x, torch.ones(1, 1, 3)) #<\n", {"name": "x"}),
    ],
    "ragged_list": [
        Row("x = torch.tensor([[1, 2], [3]]) #<\n", {"expected": "2", "got": "1", "axis": "1"}),
        Row("x = torch.tensor([[[1.], [2.]], [[3.]]]) #<\n", {"axis": "1"}),
    ],
    "index_not_whole": [
        Row(X + "x[0.5] #<\n", {"index": "0.5", "type": "float"}),
        Row(X + "n = 2\nx[n / 2] #<\n", {"index": "n / 2"}, True),
    ],
    "pin_memory": [
        Row("x = torch.tensor([1.], pin_memory=True) #<\n", {"line": "5"}),
        Row("x = torch.ones(2, #<\n    pin_memory=True)\n", {"line": "5"}),
    ],
    "optimizer_of_tensor": [
        Row(W + "opt = torch.optim.SGD(w, lr=.1) #<\n", {"name": "w"}, True),
        Row("p = nn.Parameter(torch.ones(2))\nopt = torch.optim.Adam(p) #<\n", {"name": "p"}, True),
    ],
    "argument_type": [
        Row(
            "x = torch.ones(2, requires_grad=torch)  #<\n",
            {"argument": "requires_grad", "wanted": "bool", "got": "module"},
        ),
        Row("x = torch.full((2,), fill_value='a')  #<\n", {"function": "full", "got": "str"}),
    ],
    "no_file": [
        Row("open('data.csv') #<\n", {"path": "data.csv"}),
        Row("state = torch.load('model.pt') #<\n", {"path": "model.pt"}),
    ],
    "input_not_available": [
        Row("n = input() #<\n", {"line": "5"}),
        Row("def ask():\n    return int(input('n')) #<\nask()\n", {"code": "input('n')"}),
    ],
    "tied_transposed": [
        Row("enc, dec = nn.Linear(3, 2), nn.Linear(2, 3)\ndec.weight = enc.weight.t() #<\n", {"name": "dec.weight", "shared": "enc.weight"}),
        Row("net = nn.Module()\nnet.up, net.down = nn.Linear(3, 2), nn.Linear(2, 3)\nnet.down.weight = net.up.weight.T #<\n", {"shared": "net.up.weight", "attribute": "weight"}),
    ],
    "parameter_overwritten": [
        Row("net = nn.Linear(2, 1)\nnet.weight = torch.ones(1, 2) #<\n", {"name": "net.weight", "attribute": "weight"}, True),
        Row("net = nn.Linear(2, 1)\nnet.bias = net.bias.detach() * 2 #<\nnet(torch.ones(1, 2))\n", {"owner": "net"}, True),
    ],
    "layer_overwritten": [
        Row(LAYERS + "    def forward(self, x):\n        self.fc1 = self.fc1(x) #<\n        return self.fc1\nNet()(torch.ones(1, 3))\n", {"name": "self.fc1"}),
        Row("net = nn.Sequential(nn.Linear(2, 2))\nouter = nn.Sequential(net)\nouter.net = nn.Linear(1, 1)\nouter.net = torch.ones(1) #<\n", {"attribute": "net"}),
    ],
    "modules_in_list": [
        Row("layers = [nn.Linear(2, 4), nn.ReLU()]\nnet = nn.Sequential(layers) #<\n", {"written": "layers"}, True),
        Row("net = nn.Sequential([nn.Linear(2, 1)]) #<\n", {"container": "nn.Sequential"}, True),
    ],
    "t_of_batch": [
        Row("q = torch.ones(2, 3, 4)\nscores = q @ q.T #<\n", {"name": "q", "axes": "3"}, True),
        Row("x = torch.ones(2, 3, 4)\ny = x.t() #<\n", {"name": "x", "axes": "3"}, True),
        Row("q = torch.ones(2, 3, 4)\nscores = q @ q.t() #<\n", {"shape": "[2, 3, 4]"}, True),
    ],
    "two_inferred": [
        Row(X + "x.view(-1, -1) #<\n", {"name": "x", "count": "6"}),
        Row(X + "y = torch.reshape(x, (-1, 2, -1)) #<\n", {"shape": "[2, 3]"}),
    ],
    "norm_shape": [
        Row("norm = nn.LayerNorm(10)\nnorm(torch.randn(2, 8)) #<\n", {"wanted": "10", "got": "2, 8"}),
        Row("F.layer_norm(torch.randn(2, 8), (4,)) #<\n", {"wanted": "4"}),
    ],
    "dataset_sizes": [
        Row("from torch.utils.data import TensorDataset\nTensorDataset(torch.randn(10, 2), torch.randn(9)) #<\n", {"line": "6"}),
        Row("from torch.utils.data import TensorDataset as Data\ndata = Data(torch.ones(2), torch.ones(3)) #<\n", {"line": "6"}),
    ],
    "not_an_iterator": [
        Row(DATA + "loader = DataLoader(TensorDataset(torch.ones(4, 2)))\nbatch = next(loader) #<\n", {"name": "loader", "type": "DataLoader"}, True),
        Row("xs = [torch.ones(2)]\nfirst = next(xs) #<\n", {"type": "list", "right": "next(iter(xs))"}, True),
    ],
    "closure_missing": [
        Row(W + "opt = torch.optim.LBFGS([w])\n(w * w).sum().backward()\nopt.step() #<\n", {"line": "8"}),
        Row("net = nn.Linear(1, 1)\nbfgs = torch.optim.LBFGS(net.parameters())\nnet(torch.ones(1, 1)).sum().backward()\nbfgs.step() #<\n", {"code": "bfgs.step()"}),
    ],
    "learning_rate_invalid": [
        Row(W + "torch.optim.SGD([w], lr=-0.1) #<\n", {"value": "-0.1"}),
        Row(W + "opt = torch.optim.Adam([w], -1) #<\n", {"value": "-1"}),
    ],
    "tensor_append": [
        Row("t = torch.tensor([1.0])\nt.append(2.0) #<\n", {"name": "append"}),
        Row("t = torch.tensor([1.0])\nt.extend([2.0]) #<\n", {"name": "extend"}),
    ],
    "numpy_lacks_type": [
        Row("x = torch.ones(2, dtype=torch.bfloat16)\nx.numpy() #<\n", {"type": "BFloat16"}, True),
        Row("print(torch.ones(2).bfloat16().numpy()) #<\n", {}, True),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "cannot_stop_tracking": W + "w.requires_grad = False\n",
    "in_place_shape": "a = torch.ones(2, 3)\na += torch.ones(3)\n",
    "indices_many": X + "x[..., 0, 0]\nx[None, 0, 0]\n",
    "index_of_scalar": "t = torch.tensor(3.)\nprint(t[None], t[...])\n",
    "iterate_scalar": "for v in torch.tensor([1.]):\n    pass\n",
    "conv_axes": "conv = nn.Conv2d(1, 6, 5)\nconv(torch.ones(1, 28, 28))\n",
    "kernel_too_large": "conv = nn.Conv2d(1, 6, 5, padding=1)\nconv(torch.ones(1, 1, 3, 3))\n",
    "ragged_list": "torch.tensor([[1, 2], [3, 4]])\n",
    "index_not_whole": X + "n = 2\nx[n // 2]\n",
    "pin_memory": "torch.tensor([1.], pin_memory=False)\n",
    "optimizer_of_tensor": W + "torch.optim.SGD([w], lr=.1)\n",
    "argument_type": "torch.ones(2, requires_grad=True)\ntorch.exp(2.0)\n",
    "no_file": "open('mine.txt', 'w').write('a')\nprint(open('mine.txt').read())\n",
    "input_not_available": "raise EOFError('my file has ended')\n",
    "tied_transposed": "enc, dec = nn.Linear(3, 2), nn.Linear(2, 3)\ndec.weight = nn.Parameter(enc.weight.t())\n",
    "parameter_overwritten": "net = nn.Linear(2, 1)\nnet.weight = nn.Parameter(torch.ones(1, 2))\n",
    "layer_overwritten": "net = nn.Sequential(nn.Linear(2, 2))\nnet.extra = torch.ones(1)\nnet[0] = nn.Linear(2, 1)\n",
    "modules_in_list": "layers = [nn.Linear(2, 4), nn.ReLU()]\nnet = nn.Sequential(*layers)\nnn.ModuleList(layers)\n",
    "t_of_batch": "torch.ones(2, 3).t()\ntorch.ones(2, 3, 4).transpose(0, 5)\n",
    "two_inferred": X + "x.view(-1, 2)\nx.view(-1, 4)\n",
    "norm_shape": "nn.LayerNorm(8)(torch.randn(2, 8))\n",
    "dataset_sizes": "from torch.utils.data import TensorDataset\nTensorDataset(torch.randn(10, 2), torch.randn(10))\nassert False, 'Sizes'\n",
    "not_an_iterator": "xs = iter([1])\nnext(xs)\nnext(xs)\n",
    "closure_missing": W + "opt = torch.optim.SGD([w], lr=.1)\nopt.step()\nopt.zero_grad(1, 2, 3)\n",
    "learning_rate_invalid": W + "torch.optim.SGD([w], lr=0.0)\nraise ValueError('learning rate')\n",
    "tensor_append": "xs = []\nxs.append(1)\nclass Bag:\n    pass\nBag().append(1)\n",
    "numpy_lacks_type": "torch.ones(2).half().numpy()\n",
}  # fmt: skip
