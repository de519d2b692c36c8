"""Memory while backward runs, beside the storages that really live then, at every node: with checkpoints, pack hooks
and without."""

import msgspec
import pytest

from engine.limits import DEFAULT_LIMITS
from engine.trace import Trace
from tests.engine.derive.alive import alive_in_pytorch
from tests.engine.worker.forked import record

pytestmark = pytest.mark.slow

HEAD = """
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential, set_checkpoint_early_stop
from torch.autograd.graph import saved_tensors_hooks, save_on_cpu
"""
BLOCKS = """
def block():
    return nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 8), nn.Sigmoid())
blocks = nn.ModuleList(block() for _ in range(4))
x = torch.randn(16, 8, requires_grad=True)
"""
PROGRAMS = {
    "plain": BLOCKS
    + """
def run():
    h = x
    for b in blocks:
        h = b(h)
    return h.pow(2).mean()
run().backward()
""",
    "checkpoint": BLOCKS
    + """
def run():
    h = x
    for b in blocks:
        h = checkpoint(b, h, use_reentrant=False)
    return h.pow(2).mean()
run().backward()
""",
    "reentrant": BLOCKS
    + """
def run():
    h = x
    for b in blocks:
        h = checkpoint(b, h, use_reentrant=True)
    return h.pow(2).mean()
run().backward()
""",
    "sequential": """
net = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(16)])
x = torch.randn(16, 8, requires_grad=True)
checkpoint_sequential(net, 4, x, use_reentrant=False).sum().backward()
checkpoint_sequential(net, 4, x, use_reentrant=True).sum().backward()
net(x).sum().backward()
""",
    "nested": BLOCKS
    + """
def inner(h):
    return checkpoint(blocks[1], blocks[0](h), use_reentrant=False).exp()
def outer(h):
    return checkpoint(inner, h.sin(), use_reentrant=False).cos()
checkpoint(outer, x * 1.5, use_reentrant=False).sum().backward()
""",
    "no early stop": BLOCKS
    + """
with set_checkpoint_early_stop(False):
    y = None
    def run():
        return checkpoint(blocks[1], checkpoint(blocks[0], x, use_reentrant=False), use_reentrant=False).exp().sum()
    run().backward()
""",
    "reentrant in nonreentrant": BLOCKS
    + """
def inner(h):
    return checkpoint(blocks[1], blocks[0](h), use_reentrant=True).exp()
checkpoint(inner, x * 2, use_reentrant=False).sum().backward()
""",
    "nonreentrant in reentrant": BLOCKS
    + """
def inner(h):
    return checkpoint(blocks[1], blocks[0](h), use_reentrant=False).exp()
checkpoint(inner, x * 2, use_reentrant=True).sum().backward()
""",
    "keyword and two inputs": """
a = torch.randn(5, 5, requires_grad=True)
b = torch.randn(5, 5, requires_grad=True)
def f(p, q, scale=None):
    return (p * q).exp() * scale
checkpoint(f, a * 2, b * 3, use_reentrant=False, scale=(a * b)).sum().backward()
""",
    "retain": BLOCKS
    + """
def run():
    loss = checkpoint(blocks[1], checkpoint(blocks[0], x, use_reentrant=False), use_reentrant=False).exp().sum()
    loss.backward(retain_graph=True)
    loss.backward(retain_graph=True)
    loss.backward()
run()
""",
    "asked for some": BLOCKS
    + """
def run():
    h = checkpoint(blocks[0], x * 1, use_reentrant=False)
    out = checkpoint(blocks[1], h, use_reentrant=False).exp().sum()
    torch.autograd.grad(out, blocks[1][2].weight)
run()
""",
    "dies unused": BLOCKS
    + """
def run():
    checkpoint(blocks[1], checkpoint(blocks[0], x * 2, use_reentrant=False), use_reentrant=False).exp().sum()
run()
(x * 2).sin().sum().backward()
""",
    "identity hooks": BLOCKS
    + """
def run():
    with saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        return blocks[0](x).exp().sum()
run().backward()
""",
    "half hooks": BLOCKS
    + """
def run():
    with saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
        return blocks[0](x).exp().sum()
run().backward()
""",
    "tuple hooks": BLOCKS
    + """
def run():
    with saved_tensors_hooks(lambda t: (t.shape, [t.detach().clone()]), lambda t: t[1][0]):
        return (blocks[0](x).exp() * x).sum()
run().backward()
""",
    "object hooks": BLOCKS
    + """
class Packed:
    def __init__(self, t):
        self.t = t.detach() * 2
def run():
    with saved_tensors_hooks(Packed, lambda p: p.t / 2):
        return (blocks[0](x).exp() * x).sum()
run().backward()
""",
    "numpy hooks": BLOCKS
    + """
def run():
    with saved_tensors_hooks(lambda t: t.detach().numpy(), lambda p: torch.from_numpy(p)):
        return (blocks[0](x).exp() * x).sum()
run().backward()
""",
    "file hooks": BLOCKS
    + """
store = {}
def pack(t):
    store[len(store)] = t.detach().tolist()
    return len(store) - 1
def run():
    with saved_tensors_hooks(pack, lambda p: torch.tensor(store[p])):
        return (blocks[0](x).exp() * x).sum()
run().backward()
""",
    "cpu": BLOCKS
    + """
def run():
    with save_on_cpu():
        return (blocks[0](x).exp() * x).sum()
run().backward()
""",
    "in place and views": """
x = torch.randn(6, 8, requires_grad=True)
lin = nn.Linear(8, 8)
def run():
    h = F.relu(lin(x), inplace=True)
    v = h.view(48)[::2]
    return (v * v).exp_().sum() + h[0].sin().sum()
run().backward()
checkpoint(run, use_reentrant=False).backward()
""",
    "dropout and batch norm": """
net = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4, track_running_stats=False), nn.ReLU(inplace=True),
    nn.MaxPool2d(2), nn.Dropout(0.5), nn.Flatten(), nn.Linear(64, 10),
)
x = torch.randn(3, 1, 8, 8, requires_grad=True)
net(x).log_softmax(1)[:, 0].sum().backward()
checkpoint(net, x, use_reentrant=False).log_softmax(1)[:, 0].sum().backward()
""",
    "frozen": BLOCKS
    + """
blocks[0].requires_grad_(False)
def run():
    return checkpoint(blocks[1], checkpoint(blocks[0], x, use_reentrant=False), use_reentrant=False).exp().sum()
run().backward()
""",
    "transformer": """
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
x = torch.randn(2, 5, 8, requires_grad=True)
checkpoint(layer, x, use_reentrant=False).pow(2).sum().backward()
layer(x).pow(2).sum().backward()
""",
    "lstm": """
net = nn.LSTM(3, 5, batch_first=True)
x = torch.randn(2, 4, 3, requires_grad=True)
def run(x):
    return net(x)[0].sum()
run(x).backward()
checkpoint(run, x, use_reentrant=False).backward()
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
def run(x):
    return (Cube.apply(x * 2) * Cube.apply(x.exp())).sum()
run(x).backward()
checkpoint(run, x, use_reentrant=False).backward()
""",
    "three steps of Adam": BLOCKS
    + """
opt = torch.optim.Adam(blocks.parameters())
def run():
    h = x
    for b in blocks:
        h = checkpoint(b, h, use_reentrant=False)
    return h.pow(2).mean()
for i in range(3):
    opt.zero_grad(set_to_none=i % 2 == 0)
    run().backward()
    opt.step()
""",
}


LIMITS = msgspec.structs.replace(DEFAULT_LIMITS, wall_s=120.0, cpu_s=120.0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_activations_are_what_lives(name: str) -> None:
    """Before each node of each pass, at the height of each pass, and at the end."""
    source = HEAD + PROGRAMS[name]
    alive = alive_in_pytorch(source)
    trace = record(source, LIMITS)
    assert trace.status == "ok"
    assert all(finding.code != "not_recorded" for finding in trace.findings)
    assert [_before_each_node(trace, pass_.id) for pass_ in trace.passes] == [living.before for living in alive.passes]
    assert [_most(trace, pass_.id) for pass_ in trace.passes] == [living.most for living in alive.passes]
    assert _after(trace, len(trace.timeline) - 1) == alive.end


def _after(trace: Trace, step: int) -> int:
    return next((point.activations for point in reversed(trace.memory) if point.step <= step), 0)


def _before_each_node(trace: Trace, pass_id: str) -> list[int]:
    """What is held when the pass begins and after each visit but the last."""
    steps = [n for n, step in enumerate(trace.timeline) if step.pass_id == pass_id and step.kind in ("pass", "visit")]
    return [_after(trace, step) for step in steps[:-1]]


def _most(trace: Trace, pass_id: str) -> int:
    steps = [
        n for n, step in enumerate(trace.timeline) if step.pass_id == pass_id and step.kind in ("pass", "pass_end")
    ]
    inside = [point.activations for point in trace.memory if steps[0] <= point.step <= steps[1]]
    return max([_after(trace, steps[0]), *inside])


@pytest.mark.parametrize(("layers", "segments"), [(16, 4), (36, 6), (16, 2), (16, 8)])
def test_segments_cost_what_theory_says(layers: int, segments: int) -> None:
    """One activation of each of n layers; with k segments their inputs, and n/k computed again: least for k = √n.

    The last segment is no checkpoint. The input of the first is a leaf."""
    width = 4 * 16 * 8
    head = HEAD + (
        f"net = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range({layers})])\n"
        "x = torch.randn(16, 8, requires_grad=True)\n"
    )
    plain = record(head + "net(x).sum().backward()\n", LIMITS)
    less = record(head + f"checkpoint_sequential(net, {segments}, x, use_reentrant=False).sum().backward()\n", LIMITS)
    assert max(point.activations for point in plain.memory) == layers * width
    long = layers // segments
    before = (segments - 1 + long) * width
    assert _after(less, next(n for n, step in enumerate(less.timeline) if step.kind == "pass")) == before
    again = [op for op in less.ops if op.rerun_of is not None]
    assert len(again) == 2 * long * (segments - 1)
    # when segment s is computed again, the inputs of the s before it and its own output's place are held
    heights = [(segment + long) * width for segment in range(segments - 1)]
    assert max(point.activations for point in less.memory) == max(before, *heights)
