"""Modules, layers by hand, initialisation, data, training, memory. Rows 95 to 134 of the curriculum."""

import re
from collections import Counter

import numpy as np
import pytest

from engine.program.edits import applied
from tests.curriculum.seen import Seen, numbers, same, words
from tests.golden import GALLERY

pytestmark = pytest.mark.slow
NN = "import torch\nfrom torch import nn\n"
MLP = """
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(784, 256)
        self.act = nn.ReLU()
        self.output = nn.Linear(256, 10)

    def forward(self, x):
        return self.output(self.act(self.hidden(x)))

net = MLP()
print(net)
"""


def test_095_096_a_module_of_ones_own() -> None:
    seen = Seen(MLP + "net(torch.randn(2, 784))\n", imports=NN)
    assert "(hidden): Linear(in_features=784" in seen.printed
    assert [box.title for box in seen.graph.boxes if box.kind == "op"] == [
        "AddmmBackward0",
        "ReluBackward0",
        "AddmmBackward0",
    ]
    assert {"hidden", "act", "output"} <= {group.title for group in seen.graph.groups} | {
        module.path for module in seen.trace.modules
    }
    assert (
        sum(seen.index.elements(part.tensor) for module in seen.trace.modules for part in module.parameters) == 203530
    )
    assert seen.tensor("net.hidden.weight").data is None
    assert seen.tensor("net.hidden.weight").summary is not None


def test_097_a_layer_without_parameters() -> None:
    seen = Seen(
        "class Centred(nn.Module):\n    def forward(self, x):\n        return x - x.mean()\n\n"
        "layer = Centred()\ny = layer(torch.arange(5.0))\n",
        imports=NN,
    )
    assert same(seen.value("y"), [-2, -1, 0, 1, 2])
    (module,) = seen.trace.modules
    assert module.parameters == ()


LAYERS = """
class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.params = nn.ParameterList([nn.Parameter(torch.ones(4, 4)) for _ in range(3)])
        self.params.append(nn.Parameter(torch.ones(4, 1)))
        self.plain = torch.ones(4, 1, requires_grad=True)

    def forward(self, x):
        for weight in self.params:
            x = torch.mm(x, weight)
        return x

net = Chain()
y = net(torch.ones(1, 4)).sum()
y.backward()
"""


def test_098_100_parameters_register_themselves_and_mm_is_for_matrices() -> None:
    seen = Seen(LAYERS, imports=NN)
    named = [part.name for module in seen.trace.modules for part in module.parameters]
    assert named == ["0", "1", "2", "3"]
    assert seen.types().count("MmBackward0") == 4
    assert "product_axes" in Seen("torch.mm(torch.ones(2, 3, 4), torch.ones(4, 2))\n").told
    words("product.needs")


def test_099_a_choice_leaves_parameters_out() -> None:
    seen = Seen(
        "params = nn.ParameterDict({'one': nn.Parameter(torch.ones(4, 4)), 'two': nn.Parameter(torch.ones(4, 1))})\n"
        "params.update({'three': nn.Parameter(torch.ones(4, 2))})\n"
        "torch.mm(torch.ones(1, 4), params['three']).sum().backward()\n"
        "empty = [name for name, p in params.items() if p.grad is None]\n",
        imports=NN,
    )
    assert seen.variable("empty").text == "['one', 'two']"
    (added,) = seen.trace.passes[0].accumulations
    assert seen.index.tensors[added.tensor].shape == (4, 2)


def test_101_a_linear_model_by_hand() -> None:
    seen = Seen(
        "x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])\nw = torch.ones(2, 1, requires_grad=True)\n"
        "b = torch.zeros(1, requires_grad=True)\n(x.mm(w) + b).sum().backward()\n"
    )
    assert same(seen.grad("w"), [[9], [12]])
    assert same(seen.grad("b"), [3])


def test_102_the_fields_of_a_module() -> None:
    seen = Seen("layer = nn.BatchNorm1d(3)\nlayer(torch.randn(4, 3)).sum().backward()\nlayer.eval()\n", imports=NN)
    (module,) = seen.trace.modules
    assert [part.name for part in module.parameters] == ["weight", "bias"]
    assert [part.name for part in module.buffers] == ["running_mean", "running_var", "num_batches_tracked"]
    assert not module.training
    words("modules.fields", "modules.buffer")


HOOKED = """
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
net[0].register_forward_pre_hook(lambda module, given: print("before"))
net[0].register_forward_hook(lambda module, given, result: print("after"))
net[1].register_full_backward_hook(lambda module, into, out: print("back"))
net(torch.ones(1, 2)).sum().backward()
"""


def test_103_hooks_of_modules() -> None:
    seen = Seen(HOOKED, imports=NN)
    assert [hook.kind for hook in seen.trace.hooks] == ["forward_pre", "forward", "backward"]
    assert seen.printed == "before\nafter\nback\n"
    assert any("BackwardHook" in kind for kind in seen.types())
    words("say.backward_hook")


def test_104_nodes_know_their_module() -> None:
    seen = Seen(
        "net = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.Tanh()), nn.Linear(2, 1))\n"
        "net(torch.ones(1, 2)).sum().backward()\n",
        imports=NN,
    )
    paths = {module.id: module.path for module in seen.trace.modules}
    assert [paths[op.module] for op in seen.trace.ops if op.nodes and op.module] == ["net.0.0", "net.0.1", "net.1"]


def test_105_shared_and_frozen_parameters() -> None:
    seen = Seen(
        "a = nn.Linear(3, 3, bias=False)\nb = nn.Linear(3, 3, bias=False)\nb.weight = a.weight\n"
        "last = nn.Linear(3, 1)\nlast.weight.requires_grad_(False)\nmodel = nn.Sequential(a, b, last)\n"
        "model(torch.ones(1, 3)).sum().backward()\nfrozen = last.weight.grad is None\n",
        imports=NN,
    )
    weights = [part.tensor for module in seen.trace.modules for part in module.parameters if part.name == "weight"]
    assert len(set(weights)) < len(weights)
    assert sum(node.variable is not None for node in seen.trace.nodes) == 2
    assert seen.variable("frozen").text == "True"


CONV = """
def correlate(image, kernel):
    rows, columns = kernel.shape
    result = torch.zeros(image.shape[0] - rows + 1, image.shape[1] - columns + 1)
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            result[i, j] = (image[i:i + rows, j:j + columns] * kernel).sum()
    return result

image = torch.arange(12.0).view(3, 4)
weight = torch.ones(2, 2, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
result = correlate(image, weight) + bias
result.sum().backward()
"""


def test_106_107_108_convolution_as_a_loop() -> None:
    seen = Seen(CONV)
    assert [seen.types().count(kind) for kind in ("MulBackward0", "SumBackward0", "CopySlices")] == [6, 7, 6]
    assert any(group.repeat in (2, 3, 6) for group in seen.graph.groups)
    assert same(seen.grad("weight"), [[18, 24], [42, 48]])
    assert same(seen.grad("bias"), [6])


def test_109_the_built_in_convolution_is_one_node() -> None:
    seen = Seen(
        CONV + "built = nn.functional.conv2d(image[None, None], weight[None, None], bias)\n"
        "alike = torch.allclose(built[0, 0], result)\n",
        imports=NN,
    )
    assert seen.variable("alike").text == "True"
    assert seen.types().count("ConvolutionBackward0") == 1


def test_110_111_sizes_of_a_convolution_and_its_axes() -> None:
    seen = Seen(
        "def sized(layer, picture):\n    result = layer(picture.view((1, 1) + picture.shape))\n"
        "    return result.view(result.shape[2:])\n\n"
        "x = torch.rand(8, 8)\na = sized(nn.Conv2d(1, 1, 3, padding=1), x)\n"
        "b = sized(nn.Conv2d(1, 1, (5, 3), padding=(2, 1)), x)\n"
        "c = sized(nn.Conv2d(1, 1, (3, 5), padding=(0, 1), stride=(3, 4)), x)\n",
        imports=NN,
    )
    assert [seen.tensor(name).shape for name in "abc"] == [(8, 8), (8, 8), (2, 2)]
    window = seen.op("conv2d", 2).window
    assert window is not None
    assert [(axis.kernel, axis.stride, axis.padding, axis.out) for axis in window.axes] == [(3, 3, 0, 2), (5, 4, 1, 2)]
    words("window.title", "window.picture")


POOL = """
def pool(picture, mode):
    result = torch.zeros(2, 2)
    for i in range(2):
        for j in range(2):
            window = picture[i:i + 2, j:j + 2]
            result[i, j] = window.max() if mode == "max" else window.mean()
    return result

"""


def test_112_pooling_picks_or_spreads() -> None:
    picture = "x = torch.arange(9.0).view(3, 3).requires_grad_()\n"
    largest = Seen(POOL + picture + 'pool(x, "max").sum().backward()\n')
    assert same(largest.grad("x"), [[0, 0, 0], [0, 1, 1], [0, 1, 1]])
    mean = Seen(POOL + picture + 'pool(x, "mean").sum().backward()\n')
    assert same(mean.grad("x"), [[0.25, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 0.25]])


def test_113_units_that_begin_alike_stay_alike() -> None:
    seen = Seen(
        "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n"
        "for p in net.parameters():\n    nn.init.constant_(p, 0.5)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "x, y = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[1.0], [0.0]])\n"
        "for step in range(5):\n    optimizer.zero_grad()\n    ((net(x) - y) ** 2).mean().backward()\n    optimizer.step()\n",
        imports=NN,
    )
    assert seen.told["symmetric_units"]["units"] == "3"
    rows = seen.value("net.0.weight")
    assert same(rows[0], list(rows[1]))


def test_114_slopes_are_largest_at_zero() -> None:
    seen = Seen("x = torch.zeros(1, requires_grad=True)\n(x.sigmoid() + x.tanh()).backward()\n")
    arrived = [visit for visit in seen.trace.passes[0].visits if visit.left]
    slopes = {seen.index.nodes[visit.node].type: seen.index.tensors[visit.left[0] or ""].data for visit in arrived}
    assert slopes["SigmoidBackward0"] == (0.25,)
    assert slopes["TanhBackward0"] == (1.0,)
    words("curve.title", "curve.point")


DATA = """
class Samples(Dataset):
    def __init__(self, transform=None, target_transform=None):
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return 5

    def __getitem__(self, index):
        picture, label = torch.tensor([float(index)]), index
        if self.transform:
            picture = self.transform(picture)
        if self.target_transform:
            label = self.target_transform(label)
        return picture, label

"""
LOADER = "import torch\nfrom torch.utils.data import DataLoader, Dataset\n"


def test_115_116_batches_are_stacked_from_samples() -> None:
    seen = Seen(
        DATA
        + "for pictures, labels in DataLoader(Samples(), batch_size=2, shuffle=True):\n    print(labels.tolist())\n",
        imports=LOADER,
        checks=("calls",),
    )
    shapes = [seen.index.tensors[op.outputs[0]].shape for op in seen.trace.ops if op.name == "stack"]
    assert shapes == [(2, 1), (2, 1), (1, 1)]
    drawn = [seen.index.tensors[box.tensor or ""] for box in seen.graph.boxes]
    assert all(float(number) < 5 for tensor in drawn for number in tensor.data or ()), (
        "the loader's seeds are not drawn"
    )
    stacked = [numbers(seen.index.tensors[op.outputs[0]]) for op in seen.trace.ops if op.name == "stack"]
    printed = [float(number) for number in re.findall(r"\d+", seen.printed)]
    assert [float(number) for batch in stacked for number in batch.ravel()] == printed
    assert _asked_for(seen) == printed, "the calls say which sample was taken when"
    assert [list(batch.indices) for batch in seen.trace.batches] == [batch.ravel().tolist() for batch in stacked[::1]]
    words("step.batch", "batch.say")


def test_117_drop_last_and_workers() -> None:
    seen = Seen(
        DATA + "sizes = [len(p) for p, _ in DataLoader(Samples(), batch_size=2, drop_last=True, num_workers=2)]\n",
        imports=LOADER,
        checks=("calls",),
    )
    assert seen.variable("sizes").text == "[2, 2]"
    assert _asked_for(seen) == [0, 1, 2, 3], "the last sample is dropped: nobody asks for it"
    assert "workers_replaced" in seen.told
    assert [(batch.number, batch.indices) for batch in seen.trace.batches] == [(1, (0, 1)), (2, (2, 3)), (0, (4,))]
    words("step.batch_dropped", "batch.dropped")


def _asked_for(seen: Seen) -> list[float]:
    """The indices that `__getitem__` was called with, in order."""
    calls = [call for call in seen.trace.python_calls if call.function.endswith("__getitem__")]
    return [
        float(argument.text or "nan") for call in calls for argument in call.arguments if argument.target == "index"
    ]


def test_118_transforms_of_a_sample() -> None:
    seen = Seen(
        DATA + "picture, label = Samples(lambda p: p / 10, lambda n: n + 100)[3]\n",
        imports=LOADER,
    )
    assert same(seen.value("picture"), [0.3])
    assert seen.variable("label").text == "103"


@pytest.mark.parametrize(
    "line",
    [
        'from torchvision import datasets, transforms\ntrain = datasets.ImageFolder("train", transform=transforms.ToTensor())',
        'import torchvision\ntrain = torchvision.datasets.MNIST(root="data", train=True, download=True)',
    ],
)
def test_119_pictures_from_files_become_pictures_made_here(line: str) -> None:
    seen = Seen(line + "\npicture, label = train[0]\n")
    (finding,) = [finding for finding in seen.trace.findings if finding.code == "sample_set_missing"]
    assert finding.fix
    mended = Seen(_fixed(seen), imports="")
    assert mended.trace.status == "ok"
    assert mended.tensor("picture").shape[0] in (1, 3)


def test_120_a_whole_workflow_in_one_lesson() -> None:
    seen = Seen((GALLERY / "mlp_training.py").read_text(encoding="utf-8"), imports="")
    assert [seen.variable(name).text for name in ("epochs", "batch_size", "rate")] == ["4", "10", "1.0"]
    assert seen.tensor("known").shape == (30,)
    assert seen.tensor("unseen").shape == (10,)
    assert len(seen.updates("step")) == 12
    assert "10 of 10 unseen points right" in seen.printed


@pytest.mark.parametrize("name", ["train_test_split", "test_train_split"])
def test_120_a_split_written_for_another_library_runs(name: str) -> None:
    seen = Seen(
        f"from sklearn.model_selection import {name}\nx = torch.arange(10.0)\n"
        f"known, unseen = {name}(x, test_size=0.2)\n"
    )
    assert "split_missing" in seen.told
    mended = Seen(_fixed(seen), imports="")
    assert sorted([*mended.value("known"), *mended.value("unseen")]) == list(range(10))
    assert mended.tensor("unseen").shape == (2,)


TRAIN = """
torch.manual_seed(0)
x = torch.linspace(-1, 1, 40)
y = 3 * x
def descend(size, epochs=10):
    w = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.05)
    for epoch in range(epochs):
        for rows in torch.randperm(40).split(size):
            optimizer.zero_grad()
            loss = ((w * x[rows] - y[rows]) ** 2).mean()
            loss.backward()
            optimizer.step()
    return w
"""


def test_121_the_phases_of_a_step() -> None:
    seen = Seen(TRAIN + "w = descend(40, epochs=1)\n")
    kinds = seen.kinds()
    assert kinds.index("op") < kinds.index("pass") < len(kinds) - 1 - kinds[::-1].index("update")
    assert [update.kind for update in seen.trace.updates] == ["zero_grad", "step"]
    words("phase.forward", "phase.backward", "phase.update")


def test_122_losses_are_nodes() -> None:
    seen = Seen(
        "p = torch.tensor([[2.0, 1.0, 0.0]], requires_grad=True)\nloss = nn.CrossEntropyLoss()(p, torch.tensor([0]))\n"
        "far = nn.L1Loss()(p, torch.zeros(1, 3))\n(loss + far).backward()\n",
        imports=NN,
    )
    assert {"LogSoftmaxBackward0", "NllLossBackward0", "AbsBackward0", "MeanBackward0"} <= set(seen.types())
    assert same(seen.value("loss"), 0.407606)


@pytest.mark.parametrize(("size", "updates"), [(40, 10), (8, 50), (1, 400)])
def test_123_124_125_how_many_samples_a_step_takes(size: int, updates: int) -> None:
    seen = Seen(TRAIN + f"w = descend({size})\n")
    steps = [point for point in seen.trace.curve if point.loss is not None]
    assert len(steps) == updates


SKETCH = """
for i in range(nb_epochs):
    np.random.shuffle(data)
    for {rows}:
        params_grad = evaluate_gradient(loss_function, {part}, params)
        params = params - learning_rate * params_grad
"""


@pytest.mark.parametrize(
    ("rows", "part", "passes"),
    [("example in data", "example", 400), ("batch in get_batches(data, batch_size=8)", "batch", 50)],
)
def test_123_124_125_a_sketch_of_them_runs_once_its_names_are_given(rows: str, part: str, passes: int) -> None:
    seen = Seen(SKETCH.format(rows=rows, part=part), imports="")
    assert "sketch" in seen.told
    mended = Seen(_fixed(seen), imports="")
    assert mended.trace.status == "ok"
    assert mended.trace.curve[-1].number == passes
    assert 2 < mended.value("params")[0] < 4


def test_124_125_runs_of_an_optimizer_are_told_apart() -> None:
    seen = Seen(TRAIN + "whole = descend(40, 2)\nfew = descend(8, 2)\none = descend(1, 2)\n")
    steps = Counter(seen.index.identity(update.changes[0].before or "") for update in seen.updates("step"))
    assert list(steps.values()) == [2, 10, 80]
    assert [point.number for point in seen.trace.curve][-1] == 2 + 10 + 80


def test_126_a_step_that_is_too_long() -> None:
    code = "p = torch.tensor([1.0, 1.0], requires_grad=True)\no = torch.optim.SGD([p], lr={lr})\n"
    code += "for i in range(20):\n    o.zero_grad()\n    (p[0] ** 2 + 10 * p[1] ** 2).backward()\n    o.step()\n"
    near, far = Seen(code.format(lr=0.09)), Seen(code.format(lr=0.95))
    assert abs(near.value("p")[1]) < 1 < abs(far.value("p")[1])
    norms = [float(point.gradient_norm or 0) for point in far.trace.curve]
    assert norms[-1] > norms[0]


def test_127_optimizers_keep_state() -> None:
    seen = Seen(
        "for kind, settings in [(torch.optim.SGD, dict(lr=0.1)), (torch.optim.SGD, dict(lr=0.1, momentum=0.9)),\n"
        "                       (torch.optim.Adagrad, {}), (torch.optim.Adadelta, {}), (torch.optim.RMSprop, {}),\n"
        "                       (torch.optim.Adam, {})]:\n"
        "    p = torch.tensor([1.0, 1.0], requires_grad=True)\n    o = kind([p], **settings)\n"
        "    (p ** 2).sum().backward()\n    o.step()\n"
    )
    kept = [" ".join(change.name for change in update.state) for update in seen.updates("step")]
    assert kept[0] == ""
    found = zip(("momentum_buffer", "sum", "acc_delta", "square_avg", "exp_avg_sq"), kept[1:], strict=True)
    assert all(name in names for name, names in found)


def test_128_149_a_step_is_a_new_leaf_with_less_of_its_gradient() -> None:
    seen = Seen(
        "w = torch.tensor([0.64, -1.28], requires_grad=True)\no = torch.optim.SGD([w], lr=0.1)\n(w ** 2).sum().backward()\n"
        "new = torch.autograd.Variable(w - 0.1 * w.grad.data, requires_grad=True)\no.step()\n"
    )
    assert same(seen.value("w"), [0.512, -1.024])
    assert same(seen.value("new"), [0.512, -1.024])
    (change,) = seen.update("step").changes
    assert change.gradient is not None
    assert seen.kinds().index("accumulate") < seen.kinds().index("update")


BY_HAND = """
W = torch.randn(1, 1, requires_grad=True)
x, y = torch.randn(1, 10), torch.randn(1, 10)
for _ in range({passes}):
    loss = torch.sum(torch.abs(torch.mm(W, x) - y))
    loss.backward()
    W.data -= W.grad.data * 0.001
    W.grad.data.zero_()
"""


def test_129_an_update_outside_the_graph() -> None:
    seen = Seen(BY_HAND.format(passes=2))
    assert [update.kind for update in seen.trace.updates] == ["data", "grad_reset"] * 2
    assert len([box for box in seen.graph.boxes if box.kind == "op"]) == 4


def test_130_141_thousands_of_passes_are_a_sample_and_a_curve() -> None:
    seen = Seen(BY_HAND.format(passes=2000), wall_s=60)
    assert seen.trace.status == "ok"
    assert seen.trace.curve[-1].number == 2000
    assert len(seen.trace.passes) < 2000
    assert seen.trace.gaps


def test_131_an_update_that_loses_the_leaf() -> None:
    seen = Seen(
        "w = torch.tensor(1.0, requires_grad=True)\nfor step in range(2):\n    loss = (w * 2) ** 2\n    loss.backward()\n"
        "    w = w - 0.1 * w.grad\n"
    )
    assert seen.trace.status == "failed" or seen.told
    assert "leaf_rebound" in seen.told or "grad_none_non_leaf" in seen.told


def test_132_133_134_the_four_costs_of_memory() -> None:
    seen = Seen(
        "net = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 1))\no = torch.optim.Adam(net.parameters())\n"
        "for turn in range(2):\n    o.zero_grad()\n    net(torch.ones(4, 10)).sum().backward()\n    o.step()\n",
        imports=NN,
    )
    memory = seen.trace.memory
    assert max(point.parameters for point in memory) == 4 * 121
    assert memory[-1].gradients == 4 * 121
    assert sorted({point.optimizer for point in memory}) == [0, *sorted({p.optimizer for p in memory if p.optimizer})]
    assert memory[-1].optimizer >= 2 * 4 * 121
    activations = np.array([point.activations for point in memory])
    assert activations.max() > 0
    assert activations[-1] == 0


def _fixed(seen: Seen) -> str:
    """The program with the fix of its first diagnosis."""
    return applied(seen.trace.program.code, list(seen.trace.findings[0].fix))
