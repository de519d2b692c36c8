"""Graphs of programs that really ran: what stands in which group, what a cut is called."""

import msgspec

import engine
from engine.graph import Graph, view

HOOKS = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
model[1].register_full_backward_hook(lambda module, into, out: None)
model(torch.ones(4, 2)).sum().backward()
"""

SUMS = """
import torch
x = torch.ones(3, requires_grad=True)
loss = x.sum() + (x * 2).sum() + (x * 3).sum() + x.max()
loss.backward()
"""

CALLS = """
import torch
x = torch.ones(3, requires_grad=True)
y = x * 2
for _ in range(4):
    y = y * 2 + 1
y.sum().backward()
"""

CUTS = """
import torch
x = torch.ones(3, requires_grad=True)
a = x.data * 2
b = x.detach() * 2
with torch.no_grad():
    c = x * 2
x.sum().backward()
"""

OWN = """
import torch
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x ** 2
x = torch.ones(3, requires_grad=True)
with torch.no_grad():
    outside = x ** 3
y = Cube.apply(x)
y.sum().backward()
"""


def graph_of(code: str) -> Graph:
    return view(engine.run(code))


def test_hook_nodes_stand_with_the_modules_around_them() -> None:
    graph = graph_of(HOOKS)
    model = next(group.id for group in graph.groups if group.title == "model")
    hooks = [box for box in graph.boxes if box.title == "BackwardHookFunctionBackward"]
    parents = {group.id: group.parent for group in graph.groups}
    assert len(hooks) == 2
    assert all(box.group is not None and model in (box.group, parents[box.group]) for box in hooks)


def test_sums_of_one_line_are_no_loop() -> None:
    assert graph_of(SUMS).groups == ()


def test_turns_of_a_real_loop_still_are() -> None:
    assert [(group.title, group.repeat) for group in graph_of(CALLS).groups if group.parent is None] == [
        ("for _ in range(4)", 4)
    ]


def test_a_cut_is_called_by_its_cause() -> None:
    assert sorted(link.reason for link in graph_of(CUTS).links if link.kind == "cut") == ["data", "detach", "no_grad"]


def test_the_inside_of_a_custom_function_is_no_cut() -> None:
    graph = graph_of(OWN)
    assert sorted(box.reason for box in graph.boxes if box.title == "pow") == ["function", "no_grad"]
    assert [link.reason for link in graph.links if link.kind == "cut"] == ["no_grad"]


REPLACED = """
import torch
from torch import nn
layer = nn.Linear(2, 2)
layer.weight = nn.Parameter(torch.ones(2, 2))
layer(torch.ones(1, 2)).sum().backward()
"""


def test_a_weight_that_was_replaced_before_use_is_no_ghost() -> None:
    graph = view(engine.run(REPLACED))
    assert [box.title for box in graph.boxes if box.kind == "ghost"] == []


def test_a_layer_that_nothing_used_is_a_ghost() -> None:
    graph = view(engine.run(REPLACED.replace("layer = ", "spare = nn.Linear(3, 3)\nlayer = ")))
    (ghost,) = [box for box in graph.boxes if box.kind == "ghost"]
    assert (ghost.reason, [one.name for one in ghost.parameters]) == ("unused", ["spare.weight", "spare.bias"])


DOUBLED = """
import torch
x = torch.ones(3, requires_grad=True)
y = x * 2
while y.data.norm() < {norm}:
    y = y * 2
y.sum().backward()
"""


def test_the_test_that_ends_a_while_is_no_turn_of_it() -> None:
    groups = graph_of(DOUBLED.format(norm=100)).groups
    assert [(group.title, group.repeat) for group in groups if group.parent is None] == [
        ("while y.data.norm() < 100", 5)
    ]
    assert graph_of(DOUBLED.format(norm=10)).groups == ()


def test_a_run_stopped_in_an_endless_loop_is_drawn_from_its_last_result() -> None:
    code = "import torch\nx = torch.ones(1, requires_grad=True)\nwhile True:\n    x = x * 1.01\n"
    trace = engine.run(code, msgspec.structs.replace(engine.DEFAULT_LIMITS, wall_s=1.0, ops=50))
    assert trace.status == "limited"
    graph = view(trace)
    assert [root.id for root in graph.roots] == [trace.nodes[-1].id]
    assert [(group.title, group.repeat) for group in graph.groups if group.parent is None] == [("while True", 49)]
    assert {box.kind for box in graph.boxes} == {"op", "leaf"}
