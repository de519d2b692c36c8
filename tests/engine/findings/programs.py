"""Programs that make each mistake, and near misses that do not."""

HEAD = "import torch\nfrom torch import nn\n"

MODEL = """
model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(4, 2)
"""

TWO_HEADS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(2, 1)
        self.spare = nn.Linear(2, 1)
    def forward(self, x):
        return self.used(x){extra}
net = Net()
net(torch.ones(3, 2)).sum().backward()
"""

LEAVES = "w = torch.tensor([1., 2., 3.], requires_grad=True)\nb = torch.tensor(0.5, requires_grad=True)\n"

TRIGGERS: dict[str, list[str]] = {
    "cut_by_detach": [
        LEAVES + "h = w * 2\ns = h.detach().sum()\nloss = (s + b) ** 2\nloss.backward()\n",
        LEAVES + "h = (w * w).sum()\nloss = h.data * b\nloss.backward()\n",
        LEAVES + "h = (w * w).sum().detach()\nh.backward()\n",
    ],
    "cut_by_no_grad": [
        LEAVES + "with torch.no_grad():\n    s = (w * 2).sum()\nloss = s * b\nloss.backward()\n",
        LEAVES + "with torch.no_grad():\n    loss = (w * 2).sum()\nloss.backward()\n",
    ],
    "cut_by_item": [
        LEAVES + "s = (w * 2).sum().item()\nloss = s * b\nloss.backward()\n",
        LEAVES + "h = (w * 2).sum()\nloss = torch.tensor((h.item() - 10) ** 2)\nloss.backward()\n",
        LEAVES
        + "losses = []\nfor i in range(2):\n    losses.append((w * i).sum().item())\ntorch.tensor(losses).mean().backward()\n",
        LEAVES + "total = 0.0\nfor i in range(2):\n    total += (w * i).sum().item()\ntorch.tensor(total).backward()\n",
    ],
    "cut_by_tensor": [
        LEAVES + "s = torch.tensor((w * 2).sum())\nloss = s * b\nloss.backward()\n",
        LEAVES + "s = torch.tensor(w) * b\ns.sum().backward()\n",
        LEAVES + "terms = [(w * 2).sum(), w.prod()]\nboth = torch.FloatTensor(terms)\n(both * b).sum().backward()\n",
    ],
    "nothing_requires_grad": [
        "x = torch.ones(3)\ny = (x * 2).sum()\ny.backward()\n",
        "a = torch.tensor(2.0)\nloss = a ** 2\nloss.backward()\n",
    ],
    "unused_parameters": [
        TWO_HEADS.format(extra=""),
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Parameter(torch.ones(2))\n        self.b = nn.Parameter(torch.ones(2))\n"
        "    def forward(self, x):\n        return self.a * x\nnet = Net()\nnet(torch.ones(2)).sum().backward()\n",
    ],
    "second_backward": [
        "x = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\ny.backward()\n",
        "x = torch.ones(2, requires_grad=True)\nh = x.exp()\na = h.sum()\nb = (h * h).sum()\na.backward()\nb.backward()\n",
    ],
    "non_scalar_backward": [
        "x = torch.ones(3, requires_grad=True)\ny = x * 2\ny.backward()\n",
        "x = torch.ones(2, 2, requires_grad=True)\n(x @ x).backward()\n",
    ],
    "saved_tensor_changed": [
        "x = torch.ones(2, requires_grad=True)\na = x.exp()\na.add_(1)\na.sum().backward()\n",
        "x = torch.ones(2, requires_grad=True)\nh = x * 1\ny = h * h\nh[0] = 5\ny.sum().backward()\n",
    ],
    "saved_value_edited": [
        "w = torch.tensor([2.], requires_grad=True)\nx = torch.tensor([3.])\ny = w * x\nx.data.mul_(10)\ny.backward()\n",
        "x = torch.tensor([1.], requires_grad=True)\ny = x * x\nx.data *= 100\ny.backward()\n",
        "x = torch.ones(3, requires_grad=True)\nout = x.sigmoid()\nshown = out.data\nshown.zero_()\nout.sum().backward()\n",
    ],
    "step_without_zero_grad": [
        MODEL + "for i in range(3):\n    loss = model(x).pow(2).mean()\n    loss.backward()\n    opt.step()\n",
        "w = torch.ones(2, requires_grad=True)\nfor i in range(2):\n    loss = (w * w).sum()\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 0.1 * w.grad\n",
    ],
    "gradient_added_up": [
        "x = torch.ones(2, requires_grad=True)\n(x * 3).sum().backward()\n(x * 4).sum().backward()\n",
        MODEL + "for i in range(2):\n    (model(x).mean() / 2).backward()\nopt.step()\n",
    ],
    "grad_of_non_leaf": [
        "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.sum().backward()\nprint(y.grad)\n",
        "x = torch.ones(2, requires_grad=True)\nx = x.double()\nx.sum().backward()\nprint(x.grad)\n",
    ],
    "first_nan_forward": [
        "x = torch.tensor([2., 1.], requires_grad=True)\ny = x.acos()\nz = y.sum()\nz.backward()\n",
        "x = torch.tensor([0.5, -3.])\ny = torch.asin(x)\nprint(y)\n",
    ],
    "first_inf_forward": [
        "x = torch.tensor([0., 1.], requires_grad=True)\ny = x.atanh()\ny.sum().backward()\n",
        "x = torch.tensor(3e38)\ny = x * 100\n",
    ],
    "first_inf_backward": [
        "x = torch.tensor([0., 1.], requires_grad=True)\ny = x.acos().sum()\ny.backward()\n",
        "x = torch.tensor(1., requires_grad=True)\n(x.asin() * 2).backward()\n",
    ],
    "first_nan_backward": [
        "x = torch.ones(2, requires_grad=True)\n(x.acos() * 0).sum().backward()\n",
        "x = torch.tensor([1.0], requires_grad=True)\n(0 * x.asin()).sum().backward()\n",
        "x = torch.eye(3, requires_grad=True)\nu, s, v = torch.linalg.svd(x)\n(u[0, 1] + s.sum()).backward()\n",
        "x = torch.ones(3, requires_grad=True)\nw, v = torch.linalg.eigh(x.diag())\nv.sum().backward()\n",
    ],
}

NEAR_MISSES: dict[str, str] = {
    "cut_by_detach": LEAVES + "h = (w * 2).sum()\nfrozen = h.detach()\nloss = frozen * b + h\nloss.backward()\n",
    "cut_by_no_grad": LEAVES + "loss = (w * b).sum()\nloss.backward()\nwith torch.no_grad():\n    shown = w * 3\n",
    "cut_by_item": LEAVES + "loss = (w * b).sum()\nprint(loss.item())\nloss.backward()\n",
    "cut_by_tensor": LEAVES + "s = torch.tensor([1., 2., 3.])\nloss = (s * w * b).sum()\nloss.backward()\n",
    "nothing_requires_grad": "x = torch.ones(3, requires_grad=True)\ny = (x * 2).sum()\ny.backward()\n",
    "unused_parameters": TWO_HEADS.format(extra=" + self.spare(x)"),
    "second_backward": "x = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward(retain_graph=True)\ny.backward()\n",
    "non_scalar_backward": "x = torch.ones(3, requires_grad=True)\n(x * 2).backward(torch.ones(3))\n",
    "saved_tensor_changed": "x = torch.ones(2, requires_grad=True)\na = x + 1\na.add_(1)\na.sum().backward()\n",
    "saved_value_edited": "w = torch.tensor([2.], requires_grad=True)\ny = w * 3\ny.backward()\nw.data -= 0.1 * w.grad\n",
    "step_without_zero_grad": MODEL
    + "for i in range(3):\n    opt.zero_grad()\n    model(x).mean().backward()\n    opt.step()\n",
    "gradient_added_up": "x = torch.ones(2, requires_grad=True)\n(x * 3).sum().backward()\nx.grad = None\n(x * 4).sum().backward()\n",
    "grad_of_non_leaf": "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.retain_grad()\ny.sum().backward()\nprint(y.grad)\n",
    "first_nan_forward": "x = torch.tensor([float('nan'), 1.])\ny = x * 2\n",
    "first_inf_forward": "m = torch.triu(torch.full((3, 3), float('-inf')), 1)\np = torch.softmax(torch.ones(3, 3) + m, 1)\n",
    "first_inf_backward": "x = torch.tensor([1., 4.], requires_grad=True)\nx.sqrt().sum().backward()\n",
    "first_nan_backward": "x = torch.ones(2, requires_grad=True)\n(x.sqrt() * 0).sum().backward()\n",
}
