"""Memory over time, beside PyTorch's own count of what it keeps."""

import pytest

from engine.derive.memory import MOST_POINTS, memory
from engine.derive.side_facts import SideFacts
from engine.derive.storage_sizes import StorageSizes
from engine.trace import MemoryPoint, Trace
from engine.trace_index import TraceIndex
from tests.engine.derive.kept import kept_by_pytorch
from tests.engine.worker.forked import record

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
PROGRAMS = {
    "adam": """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters())
x = torch.randn(5, 4)
for _ in range(3):
    opt.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    opt.step()
""",
    "convolution": """
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.5),
                    nn.Flatten(), nn.Linear(64, 10))
x, y = torch.randn(3, 1, 8, 8), torch.tensor([1, 2, 3])
for _ in range(2):
    F.cross_entropy(net(x), y).backward()
""",
    "recurrent": """
net = nn.LSTM(3, 5, batch_first=True)
out, (h, c) = net(torch.randn(2, 4, 3))
out.sum().backward()
gru = nn.GRU(3, 5)
out, h = gru(torch.randn(4, 2, 3))
h.sum().backward()
""",
    "attention": """
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
embed = nn.Embedding(20, 8)
layer(embed(torch.tensor([[1, 2, 3], [4, 5, 6]]))).pow(2).sum().backward()
""",
    "graphs that die unused": """
net = nn.Sequential(nn.Linear(4, 8), nn.Sigmoid(), nn.Linear(8, 8), nn.GELU())
x = torch.randn(5, 4)
for _ in range(3):
    y = net(x).exp()
del y
with torch.no_grad():
    net(x).exp()
z = net(x).exp()
z.sum().backward()
""",
    "layers that keep their own results": """
lstm, gru = nn.LSTM(3, 5), nn.GRU(3, 5, num_layers=2, bidirectional=True)
for _ in range(3):
    y, _ = lstm(torch.randn(4, 1, 3))
    test = gru(torch.randn(4, 1, 3))[0].pow(2).mean().item()
del y, _
w = torch.ones(3, requires_grad=True)
(w**2).sum().backward()
""",
    "retain": """
x = torch.randn(5, 4, requires_grad=True)
y = (x.sin() * x.exp()).sum()
y.backward(retain_graph=True)
torch.autograd.grad(y, x)
z = x.exp().sin()
""",
    "double backward": """
x = torch.randn(7, requires_grad=True)
y = (x ** 3).sum()
(g,) = torch.autograd.grad(y, x, create_graph=True)
(g ** 2).sum().backward()
""",
    "custom function": """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * g
x = torch.randn(6, requires_grad=True)
y = Cube.apply(x * 2)
y.sum().backward()
z = Cube.apply(x * 2)
""",
    "in place and views": """
x = torch.randn(3, 4, requires_grad=True)
y = x * 2
y[0].mul_(3)
y[:, 1] = 5.0
v = y.view(12)[:6]
w = (v * v).exp_()
w.relu().sum().backward()
""",
    "by hand": """
w = torch.randn(4, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
X, Y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(3):
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad.zero_()
    b.grad = None
""",
    "a loop of scalars": """
x = torch.tensor(1.5, requires_grad=True)
s = x
for i in range(50):
    s = s * x + i
s.backward()
""",
    "saved results behind a graph of gradients": """
x = torch.randn(7, requires_grad=True)
y = x.exp()
s = y.sigmoid().sum()
del y
(g,) = torch.autograd.grad(s, x, create_graph=True)
(gg,) = torch.autograd.grad(g.sum(), x, create_graph=True)
gg.sum().backward()
""",
    "two graphs of gradients": """
x = torch.randn(7, requires_grad=True)
def grad_of():
    y = (x.exp() * x.tanh()).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    return g
h = grad_of()
(h * h).sum().backward()
""",
    "gradient penalty": """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(5, 4, requires_grad=True)
out = net(x).sum()
(g,) = torch.autograd.grad(out, x, create_graph=True)
loss = ((g.norm(dim=1) - 1) ** 2).mean()
loss.backward()
""",
    "batch norm twice": """
bn = nn.BatchNorm1d(3)
x = torch.randn(6, 3, requires_grad=True)
(g,) = torch.autograd.grad(bn(x).pow(3).sum(), x, create_graph=True)
g.pow(2).sum().backward()
""",
    "frozen and in place": """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 3))
net[0].requires_grad_(False)
x = torch.randn(5, 4)
net(x).pow(2).sum().backward()
""",
    "losses kept in a list": """
x = torch.randn(5, requires_grad=True)
losses = []
for i in range(4):
    losses.append((x * i).exp().sum())
losses.pop()
del losses[0]
torch.stack(losses).sum().backward()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_activations_are_what_pytorch_keeps(name: str) -> None:
    source = HEAD + PROGRAMS[name]
    expected = kept_by_pytorch(source)
    trace = record(source)
    assert trace.status == "ok"
    points = trace.memory
    begins = [number for number, step in enumerate(trace.timeline) if step.kind == "pass"]
    assert [_at(points, step - 1).activations for step in begins] == expected.at_backward
    assert max(point.activations for point in points) == expected.most
    assert points[-1].activations == expected.end


def _at(points: tuple[MemoryPoint, ...], step: int) -> MemoryPoint:
    nothing = MemoryPoint(step=0, parameters=0, gradients=0, optimizer=0, activations=0)
    return next((point for point in reversed(points) if point.step <= step), nothing)


NET = "net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 5))\nx = torch.randn(4, 6)\n"


def _parts(trace: Trace) -> list[tuple[int, int, int, int]]:
    return [(point.parameters, point.gradients, point.optimizer, point.activations) for point in trace.memory]


def test_the_four_parts_of_a_training_step() -> None:
    """Parameters and gradients alike; Adam keeps two moments of each and a count for each of the four tensors."""
    trace = record(
        HEAD + NET + "opt = torch.optim.Adam(net.parameters())\nfor _ in range(2):\n    opt.zero_grad()\n"
        "    net(x).pow(2).mean().backward()\n    opt.step()\n"
    )
    size = 4 * (6 * 8 + 8 + 8 * 5 + 5)
    parts = _parts(trace)
    assert parts[-1] == (size, size, 2 * size + 4 * 4, 0)
    first_step = next(i for i, update in enumerate(trace.timeline) if update.kind == "update")
    assert all(point.optimizer == (2 * size + 16 if point.step >= first_step else 0) for point in trace.memory)
    assert max(point.activations for point in trace.memory) == 4 * (4 * 6 + 4 * 8 + 4 * 5)


def test_nothing_is_kept_without_gradients() -> None:
    trace = record(
        HEAD + NET + "with torch.no_grad():\n    net(x).exp()\nwith torch.inference_mode():\n    net(x).exp()\n"
    )
    assert {point.activations for point in trace.memory} == {0}


BLOCK = """
block = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh())
x = torch.randn(16, 8, requires_grad=True)
"""


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_keeps_less_until_backward(reentrant: bool) -> None:
    plain = record(HEAD + BLOCK + "block(x).exp().sum().backward()\n")
    less = record(
        HEAD + BLOCK + "from torch.utils.checkpoint import checkpoint\n"
        f"checkpoint(block, x, use_reentrant={reentrant}).exp().sum().backward()\n"
    )
    assert _before_backward(plain) == 4 * 16 * 8 * 3
    assert _before_backward(less) == 4 * 16 * 8
    assert less.memory[-1].activations == 0
    if reentrant:  # the recomputed graph is as large as the plain point, less the exp that has been visited
        assert max(point.activations for point in less.memory) == 4 * 16 * 8 * 2


def _before_backward(trace: Trace) -> int:
    step = next(number for number, step in enumerate(trace.timeline) if step.kind == "pass")
    return _at(trace.memory, step).activations


def test_gradients_go_with_their_leaf_and_when_set_to_none() -> None:
    trace = record(
        "import torch\nx = torch.ones(8, requires_grad=True)\n(x * x).sum().backward()\nx.grad = None\n"
        "y = torch.ones(4, requires_grad=True)\n(y * y).sum().backward()\ndel y\nz = torch.zeros(1)\n"
        "x.grad = torch.ones(8)\nx.grad.zero_()\n"
    )
    gradients = [point.gradients for point in trace.memory]
    assert _changes(gradients) == [0, 32, 0, 16, 0, 32]
    assert trace.memory[-1].parameters == 32


def _changes(values: list[int]) -> list[int]:
    return [value for value, before in zip(values, [None, *values], strict=False) if value != before]


def test_a_gradient_that_the_program_holds_is_held() -> None:
    trace = record(
        "import torch\nx = torch.ones(8, requires_grad=True)\n(x * x).sum().backward()\nkept = x.grad\nx.grad = None\n"
        "(x * 2).sum().backward()\nx.grad = None\ndel kept\nz = torch.zeros(1)\n"
    )
    assert _changes([point.gradients for point in trace.memory]) == [0, 32, 64, 32, 0]


@pytest.mark.parametrize("to_none", [True, False])
def test_zero_grad_frees_gradients_or_not(to_none: bool) -> None:
    trace = record(
        HEAD + NET + "opt = torch.optim.SGD(net.parameters())\nfor _ in range(2):\n"
        f"    opt.zero_grad(set_to_none={to_none})\n    net(x).sum().backward()\n    opt.step()\n"
    )
    size = 4 * (6 * 8 + 8 + 8 * 5 + 5)
    resets = [number for number, step in enumerate(trace.timeline) if step.kind == "reset"]
    assert _at(trace.memory, resets[-1]).gradients == (0 if to_none else size)
    assert max(point.gradients for point in trace.memory) == size


def test_a_leaf_of_a_reentrant_checkpoint_is_no_parameter() -> None:
    trace = record(
        HEAD + "from torch.utils.checkpoint import checkpoint\nx = torch.ones(8, requires_grad=True)\n"
        "checkpoint(torch.sin, x * 2, use_reentrant=True).sum().backward()\n"
    )
    assert {point.parameters for point in trace.memory} == {32}


def test_a_leaf_that_moves_while_a_pass_runs_stays_a_parameter() -> None:
    trace = record(
        "import torch\nx = torch.ones(8, requires_grad=True)\ny = x * 2\n"
        "y.register_hook(lambda g: g + 0 * x.to('cpu').detach())\ny.sum().backward()\n"
    )
    assert trace.memory[-1].parameters == 32


def test_a_frozen_or_shared_parameter_counts_once() -> None:
    trace = record(
        HEAD + "a = nn.Linear(4, 4, bias=False)\nb = nn.Linear(4, 4, bias=False)\nb.weight = a.weight\n"
        "a.weight.requires_grad_(False)\nb(a(torch.ones(1, 4)))\n"
    )
    assert trace.memory[-1].parameters == 64


def test_what_a_backward_hook_looks_through_is_no_parameter() -> None:
    trace = record(
        HEAD + "m = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n"
        "m[2].register_full_backward_hook(lambda module, left, entered: None)\nm(torch.ones(2, 2)).sum().backward()\n"
    )
    assert max(point.parameters for point in trace.memory) == 4 * sum((6, 3, 3, 1))


@pytest.mark.slow
def test_many_points_are_thinned_and_keep_the_peak() -> None:
    trace = record(
        "import torch\nx = torch.ones(3, requires_grad=True)\nfor i in range(1500):\n    y = x.exp()\n"
        "    y.sum().backward()\n"
        "    if i == 700:\n        z = torch.ones(999, requires_grad=True).exp()\n        del z\n"
    )
    assert len(trace.memory) <= MOST_POINTS
    assert max(point.activations for point in trace.memory) == 999 * 4
    steps = [point.step for point in trace.memory]
    assert steps == sorted(set(steps))
    assert trace.memory[-1].activations == 0


def test_a_trace_cut_anywhere_still_has_a_memory() -> None:
    trace = record(HEAD + PROGRAMS["adam"])
    for count in range(0, len(trace.timeline), 7):
        cut = type(trace)(
            **{**{f: getattr(trace, f) for f in trace.__struct_fields__}, "timeline": trace.timeline[:count]}
        )
        assert len(memory(TraceIndex(cut), SideFacts(), StorageSizes(cut, {}))) <= count
