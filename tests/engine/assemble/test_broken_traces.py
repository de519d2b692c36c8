"""What is computed from a trace holds for any trace, also for one whose worker left things out."""

import random
from typing import TypeVar

import pytest
from msgspec.structs import replace

from engine.export.dot import dot
from engine.export.mermaid import mermaid
from engine.findings import find
from engine.graph import Level, view
from engine.local import run
from engine.trace import Trace

T = TypeVar("T")

PROGRAM = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.norm = nn.BatchNorm1d(3)
    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.norm(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
w = torch.ones(3, requires_grad=True)
for i in range(2):
    y = net(torch.ones(4, 3) * w)
    with torch.no_grad():
        shown = y * 2
    loss = (y - y.detach().mean() + shown.sum().item()).pow(2).sum()
    loss.backward(create_graph=i == 1)
    opt.step()
a = w.exp()
x = a * a
a[0] = float("nan")
w.data.mul_(2)
x.sum().backward()
"""

LEVELS: tuple[Level, ...] = ("autograd", "forward", "both")


@pytest.fixture(scope="module")
def trace() -> Trace:
    whole = run(PROGRAM)
    assert whole.status == "failed"
    return whole


def damaged(trace: Trace, seed: int) -> Trace:
    """The trace with a part of everything gone."""
    chance = random.Random(seed)
    share = chance.choice([0.05, 0.3, 0.8])

    def some(items: tuple[T, ...]) -> tuple[T, ...]:
        return tuple(item for item in items if chance.random() > share)

    kept = replace(trace, tensors=some(trace.tensors), modules=some(trace.modules), ops=some(trace.ops))
    kept = replace(kept, nodes=some(trace.nodes), updates=some(trace.updates), variables=some(trace.variables))
    return replace(kept, timeline=some(trace.timeline))


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_trace_is_still_drawn_and_diagnosed(trace: Trace, seed: int) -> None:
    broken = damaged(trace, seed)
    find(broken)
    for level in LEVELS:
        graph = view(broken, level=level)
        boxes = {box.id for box in graph.boxes}
        assert len(boxes) == len(graph.boxes)
        assert all(link.source in boxes and link.target in boxes for link in graph.links)
        assert {box.group for box in graph.boxes} - {None} <= {group.id for group in graph.groups}
        dot(graph, broken)
        mermaid(graph, broken)


@pytest.mark.parametrize("level", LEVELS)
def test_the_whole_trace_is_drawn_without_doubles(trace: Trace, level: Level) -> None:
    graph = view(trace, level=level)
    order = {box.id: box.order for box in graph.boxes}
    assert len(order) == len(graph.boxes)
    assert all(order[link.source] < order[link.target] for link in graph.links if link.kind == "data")


def test_cyclic_modules_and_empty_spans_do_no_harm(trace: Trace) -> None:
    modules = tuple(replace(module, parent=module.id) for module in trace.modules)
    ops = tuple(replace(op, span=None) for op in trace.ops)
    nodes = tuple(replace(node, sequence_nr="x") for node in trace.nodes)
    broken = replace(trace, modules=modules, ops=ops, nodes=nodes)
    find(broken)
    assert view(broken).boxes
