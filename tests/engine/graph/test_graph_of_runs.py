"""Graphs of programs that really ran: what stands in which group, what a cut is called."""

from pathlib import Path

import msgspec
import pytest

import engine
from engine.graph import Graph, Level, view

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

STEPS = """
import torch
from torch import nn
cell, rnn = nn.LSTMCell(2, 3), nn.RNN(3, 3)
x, h, c = torch.ones(1, 2), torch.zeros(1, 3), torch.zeros(1, 3)
out, _ = cell(x, (h, c))
_, last = rnn(torch.stack([out, out]))
last.sum().backward()
"""

PIECES = """
import torch
x = torch.ones(4, requires_grad=True)
left, right = x.chunk(2)
rows = torch.ones(5, 2, requires_grad=True).unbind(0)
loss = (left * 2 + right ** 2 + left * right + sum(rows)).sum()
loss.backward()
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
    assert [box.name for box in graph.boxes if box.reason == "function"] == ["x ** 3"], "y is what the Function gave"
    assert [link.reason for link in graph.links if link.kind == "cut"] == ["no_grad"]


REPLACED = """
import torch
from torch import nn
layer = nn.Linear(2, 2)
layer.weight = nn.Parameter(torch.ones(2, 2))
layer(torch.ones(1, 2)).sum().backward()
"""


def test_a_parameter_of_no_module_stands_where_it_was_made() -> None:
    graph = graph_of("import torch\np = torch.nn.Parameter(torch.tensor([1.0, 2.0]))\n(p * p).sum().backward()\n")
    (leaf,) = (box for box in graph.boxes if box.kind == "leaf")
    assert leaf.span is not None
    assert (leaf.span.line, leaf.span.column) == (2, 4)


@pytest.mark.parametrize("level", ["both", "forward"])
def test_results_of_one_call_have_their_own_names(level: Level) -> None:
    graph = view(engine.run(PIECES), level=level)
    names = {box.id: box.name for box in graph.boxes}
    assert {"left, right", "rows[0] … rows[4]"} <= set(names.values())
    labels = [(link.label, names[link.target]) for link in graph.links if names[link.source] == "left, right"]
    assert labels == [
        ("left", "left * 2"),
        ("right", "right ** 2"),
        ("left", "left * right"),
        ("right", "left * right"),
    ]


def test_a_constant_goes_into_the_node_that_takes_it() -> None:
    graph = view(engine.run(STEPS))
    assert {box.constants: box.title for box in graph.boxes if box.constant_tensors} == {
        ("h",): "AddmmBackward0",
        ("x",): "AddmmBackward0",
        ("c",): "MulBackward0",
        ("1×1×3",): "AddmmBackward0",
    }
    first = next(box for box in graph.boxes if box.constants == ("1×1×3",))
    products = [box.order for box in graph.boxes if box.op == first.op and box.title == first.title]
    assert products.index(first.order) == 1, "after the product of all inputs come those of the steps"


def test_a_weight_that_was_replaced_before_use_is_no_ghost() -> None:
    graph = view(engine.run(REPLACED))
    assert [box.title for box in graph.boxes if box.kind == "ghost"] == []


def test_a_layer_that_nothing_used_is_a_ghost() -> None:
    graph = view(engine.run(REPLACED.replace("layer = ", "spare = nn.Linear(3, 3)\nlayer = ")))
    (ghost,) = [box for box in graph.boxes if box.kind == "ghost"]
    assert (ghost.reason, [parameter.name for parameter in ghost.parameters]) == (
        "unused",
        ["spare.weight", "spare.bias"],
    )


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


@pytest.mark.slow
def test_a_run_stopped_in_an_endless_loop_is_drawn_from_its_last_result() -> None:
    code = "import torch\nx = torch.ones(1, requires_grad=True)\nwhile True:\n    x = x * 1.01\n"
    trace = engine.run(code, msgspec.structs.replace(engine.DEFAULT_LIMITS, wall_s=1.0, ops=50))
    assert trace.status == "limited"
    graph = view(trace)
    assert [root.id for root in graph.roots] == [trace.nodes[-1].id]
    assert [(group.title, group.repeat) for group in graph.groups if group.parent is None] == [("while True", 49)]
    assert {box.kind for box in graph.boxes} == {"op", "leaf"}


CUBE = """
import torch
x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
g, = torch.autograd.grad(y, x, create_graph=True)
h, = torch.autograd.grad(g, x, create_graph=True)
i, = torch.autograd.grad(h, x)
print(y.item(), g.item(), h.item(), i.item())
"""

TANH = """
import torch
x = torch.tensor([0.5, -1.0], requires_grad=True)
y = torch.tanh(x).sum()
g, = torch.autograd.grad(y, x, create_graph=True)
penalty = (g ** 2).sum()
penalty.backward()
"""


def layers_of(graph: Graph) -> dict[str | None, list[str]]:
    """Node types of each layer, by the pass that made it; None for the rest."""
    layers = {group.id: group.pass_id for group in graph.groups if group.kind == "layer"}
    found: dict[str | None, list[str]] = {}
    for box in graph.boxes:
        found.setdefault(layers.get(box.group or ""), []).append(box.title)
    return found


def test_each_derivative_is_a_layer_beside_the_one_it_is_of() -> None:
    graph = graph_of(CUBE)
    assert graph.passes == ("p1", "p2", "p3")
    assert layers_of(graph) == {
        None: ["leaf", "PowBackward0"],
        "p1": ["PowBackward0", "MulBackward1", "MulBackward0"],
        "p2": ["PowBackward0", "MulBackward1", "MulBackward0"],
    }
    leaf = graph.boxes[0].id
    assert len([link for link in graph.links if link.source == leaf]) == 3  # all three reach x


def test_layers_hold_the_derivatives_that_pytorch_gives() -> None:
    trace = engine.run(engine.Program(code=CUBE))
    graph = view(trace)
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    values = {box.name: tensors[box.tensor].data for box in graph.boxes if box.tensor is not None}
    assert [values[name] for name in "ygh"] == [(8.0,), (12.0,), (12.0,)]
    assert trace.output[0].text == "8.0 12.0 12.0 6.0\n"


def test_nodes_of_derivatives_are_named_after_what_they_are_derivatives_of() -> None:
    graph = graph_of(CUBE)
    assert [box.name for box in graph.boxes] == ["x", "y", "∂ y", "∂ y", "g", "∂² y", "∂² y", "h"]


def test_edges_cross_from_one_layer_to_what_the_other_saved() -> None:
    graph = graph_of(TANH)
    titles = {box.id: box.title for box in graph.boxes}
    assert layers_of(graph)["p1"] == ["TanhBackwardBackward0"]
    assert ("TanhBackward0", "TanhBackwardBackward0") in {
        (titles[link.source], titles[link.target]) for link in graph.links
    }
    assert {"SumBackward0", "PowBackward0"} <= set(layers_of(graph)[None])  # also what the first pass started from


def test_every_pass_of_a_family_draws_the_same_picture() -> None:
    trace = engine.run(engine.Program(code=CUBE))
    first, *others = (view(trace, pass_id=pass_.id) for pass_ in trace.passes)
    assert all(other == first for other in others)


def test_one_pass_or_one_root_is_drawn_alone_on_request() -> None:
    trace = engine.run(engine.Program(code=CUBE))
    alone = view(trace, pass_id="p2", layers=False)
    assert alone.passes == ("p2",)
    assert layers_of(alone) == {None: ["leaf"], "p1": ["PowBackward0", "MulBackward1", "MulBackward0"]}
    root = next(one for one in alone.roots if one.name == "y")
    assert layers_of(view(trace, root=root.id)) == {None: ["leaf", "PowBackward0"]}


def test_a_derivative_that_nothing_used_yet_is_a_layer_too() -> None:
    held = "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\n"
    returned = graph_of(held + "g, = torch.autograd.grad(y, x, create_graph=True)\n")
    kept = graph_of(held + "y.backward(create_graph=True)\n")
    assert layers_of(returned)["p1"] == ["PowBackward0", "MulBackward1", "MulBackward0"]
    assert layers_of(kept)["p1"] == [*layers_of(returned)["p1"], "CopyBackwards"]  # AccumulateGrad clones what it keeps


def test_passes_over_one_graph_are_no_layers() -> None:
    code = "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\ny.backward(retain_graph=True)\ny.backward()\n"
    graph = graph_of(code)
    assert graph.passes == ("p2",)
    assert not graph.groups


def test_the_layer_of_a_model_is_grouped_by_its_modules() -> None:
    graph = graph_of(
        "import torch\nfrom torch import nn\n"
        "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))\n"
        "x = torch.ones(4, 2, requires_grad=True)\n"
        "g, = torch.autograd.grad(net(x).sum(), x, create_graph=True)\n"
        "g.norm().backward()\n"
    )
    layer = next(group for group in graph.groups if group.kind == "layer")
    inside = {group.id: group for group in graph.groups if group.parent == layer.id}
    assert [group.type for group in inside.values()] == ["Sequential"]
    assert layer.size == sum(1 for box in graph.boxes if belongs(graph, box.group, layer.id))


def test_a_group_counts_nodes_and_not_what_made_none() -> None:
    graph = graph_of(
        "import torch\nfrom torch import nn\n"
        "net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(2, 1))\nnet(torch.ones(1, 4))\n"
    )
    (whole,) = (group for group in graph.groups if group.parent is None)
    drawn = [box.kind for box in graph.boxes if belongs(graph, box.group, whole.id)]
    assert "ghost" in drawn
    assert whole.size == sum(kind != "ghost" for kind in drawn)


def belongs(graph: Graph, group: str | None, to: str) -> bool:
    parents = {one.id: one.parent for one in graph.groups}
    while group is not None and group != to:
        group = parents[group]
    return group == to


def test_many_inner_steps_stay_bounded() -> None:
    graph = graph_of(
        "import torch\nw = torch.ones(3, requires_grad=True)\nfast = w\n"
        "for _ in range(60):\n"
        "    g, = torch.autograd.grad((fast ** 2).sum(), fast, create_graph=True)\n"
        "    fast = fast - 0.1 * g\n"
        "fast.sum().backward()\n"
    )
    assert len(graph.passes) == 61
    assert {group.kind for group in graph.groups} >= {"layer"}
    assert len({box.id for box in graph.boxes}) == len(graph.boxes)
    parents = {group.parent for group in graph.groups if group.kind == "layer"}
    assert None not in parents and len(parents) == 60  # each in its own turn of the loop


def test_a_model_called_on_different_lines_is_no_loop() -> None:
    graph = graph_of(
        "import torch\nfrom torch import nn\ncritic = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n"
        "a = critic(torch.ones(1, 2)).sum()\nb = critic(torch.ones(2, 2)).sum()\nc = critic(torch.ones(3, 2)).sum()\n"
        "(a + b + c).backward()\n"
    )
    assert not [group for group in graph.groups if group.kind == "loop"]


def test_a_leaf_that_nothing_recorded_used_is_still_a_leaf() -> None:
    graph = graph_of("import torch\nx = torch.ones(2, requires_grad=True)\nx.add_(1)\n")
    assert [(box.name, box.reason) for box in graph.boxes] == [("x", "unreached"), ("x.add_(1)", "raised")]
    plain = graph_of("import torch\nx = torch.ones(2)\ny = x + torch.ones(2, requires_grad=True).detach()\n")
    assert [box.kind for box in plain.boxes if box.title != "detach"] == ["ghost", "leaf", "ghost"]


PROGRAMS = Path(__file__).parents[2] / "programs"


@pytest.mark.parametrize(
    "name", ["hessian", "model_meta_learning", "model_physics_informed", "model_wgan_penalty", "nested_grad_in_forward"]
)
def test_a_layer_holds_the_nodes_that_its_pass_made_and_no_others(name: str) -> None:
    trace = engine.run(engine.Program(code=(PROGRAMS / f"{name}.py").read_text()))
    made_in = {node.id: node.pass_id for node in trace.nodes if node.variable is None}
    recorded = {pass_.id for pass_ in trace.passes if pass_.create_graph}
    for pass_ in trace.passes:
        graph = view(trace, pass_id=pass_.id)
        assert pass_.id in graph.passes
        order = {box.id: box.order for box in graph.boxes}
        assert all(order[link.source] < order[link.target] for link in graph.links)
        groups = {group.id: group for group in graph.groups}
        for box in graph.boxes:
            around = []
            group = groups.get(box.group or "")
            while group is not None:
                around += [group.pass_id] if group.kind == "layer" else []
                group = groups.get(group.parent or "")
            maker = made_in.get(box.node or "") if box.kind == "op" else None
            assert around == ([maker] if maker in recorded else [])


SEQUENTIAL = "import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(9, 2))\n"


def test_a_model_that_fails_inside_is_drawn_up_to_there_in_forward_order() -> None:
    graph = graph_of(SEQUENTIAL + "out = net(torch.ones(3, 4))\n")
    linear, relu = (
        next(box for box in graph.boxes if box.title == title) for title in ("AddmmBackward0", "ReluBackward0")
    )
    failed = next(box for box in graph.boxes if box.title == "linear")
    assert linear.order < relu.order < failed.order
    assert len(graph.boxes) == 3
    assert [(link.source, link.target, link.kind) for link in graph.links] == [
        (linear.id, relu.id, "data"),
        (relu.id, failed.id, "ghost"),
    ]


def test_initialisation_is_drawn_only_where_there_is_nothing_else() -> None:
    def titles(code: str) -> set[str]:
        return {box.title for box in graph_of(code).boxes}

    assert titles(SEQUENTIAL + "with torch.no_grad():\n    y = net[:2](torch.ones(3, 4))\n") == {
        "ones",
        "Linear",
        "linear",
        "relu",
    }
    assert titles(SEQUENTIAL) == {"Linear"}
    assert titles("import torch\nw = torch.nn.Parameter(torch.empty(3))\ntorch.nn.init.ones_(w)\n") == {
        "parameter", "empty", "fill_",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("switch", "reason"),
    [
        ("with torch.no_grad():\n    z = x * 3", "no_grad"),
        ("with torch.inference_mode():\n    z = x * 3", "inference_mode"),
        ("with torch.set_grad_enabled(False):\n    z = x * 3", "set_grad_enabled"),
        ("torch.set_grad_enabled(False)\nz = x * 3\ntorch.set_grad_enabled(True)", "set_grad_enabled"),
        ("with torch.no_grad():\n    pass\nwith torch.set_grad_enabled(False):\n    z = x * 3", "set_grad_enabled"),
        ("torch.set_grad_enabled(True)\nwith torch.no_grad():\n    z = x * 3", "no_grad"),
    ],
)
def test_what_was_not_recorded_says_what_kept_it_from_that(switch: str, reason: str) -> None:
    graph = graph_of(
        f"import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * 2).sum()\n{switch}\ny.backward()\n"
    )
    assert [box.reason for box in graph.boxes if box.name == "z"] == [reason]
    assert [link.reason for link in graph.links if link.kind == "cut"] == [reason]


INSIDE = """
import torch
from torch import nn
query, key = nn.Linear(4, 4), nn.Linear(4, 4, bias=False)
x = torch.ones(2, 3, 4, requires_grad=True)
q, k = query(x), key(x * 2)
scores = q @ k.transpose(1, 2)
loss = nn.functional.cross_entropy(scores.flatten(1), torch.tensor([0, 1]))
loss.backward()
"""


def test_nodes_inside_a_call_are_named_after_what_they_turn_their_module_or_the_call() -> None:
    named = [(box.title.removesuffix("Backward0"), box.name) for box in graph_of(INSIDE).boxes if box.kind == "op"]
    assert [pair for pair in named if pair[1] not in ("q", "k", "x * 2", "k.transpose(1, 2)", "scores", "loss")] == [
        ("View", "x.view"),
        ("Addmm", "query"),
        ("View", "(x * 2).view"),
        ("Mm", "key"),
        ("Expand", "q.expand"),
        ("View", "q.view"),
        ("Expand", "k.transpose(1, 2).expand"),
        ("ReshapeAlias", "k.transpose(1, 2).reshape"),
        ("Bmm", "q @ k.transpose(1, 2)"),
        ("View", "scores.flatten(1)"),
        ("LogSoftmax", "nn.functional.cross_entropy(...)"),
    ]


def test_what_torch_func_turns_is_named_whole() -> None:
    code = """
import torch
x, k = torch.ones(2), torch.ones(2, requires_grad=True)
value, push = torch.func.jvp(lambda q: (k * torch.cos(q)).sum(), (x,), (x,))
(value + push).backward()
"""
    assert {box.name for box in graph_of(code).boxes if box.title == "AliasBackward0"} == {"k.alias", "value"}


def test_a_box_of_several_results_shows_one_that_something_is_made_of() -> None:
    code = "import torch\nA = torch.eye(2, requires_grad=True)\ntorch.logdet(A).backward()\n"
    (box,) = (box for box in graph_of(code).boxes if box.title == "LinalgSlogdetBackward0")
    assert (box.output_nr, box.tensor) == (1, None)


def test_a_leaf_alone_is_drawn_once() -> None:
    graph = view(engine.run("import torch\nx = torch.tensor(1.0, requires_grad=True)\nprint(x)\n"))
    assert [(one.kind, one.name) for one in graph.boxes] == [("leaf", "x")]


@pytest.mark.parametrize("call", ["layer(x)", "x @ x"])
def test_the_first_op_that_fails_is_seen_with_what_it_was_given(call: str) -> None:
    graph = graph_of(f"import torch\nlayer = torch.nn.Linear(2, 3)\nx = torch.ones(4, 3)\ny = {call}\n")
    boxes = {box.reason: box for box in graph.boxes}
    assert boxes["raised"].name == call
    assert {(link.source, link.target) for link in graph.links} == {(boxes["untracked"].id, boxes["raised"].id)}


def test_an_op_that_raised_gave_nothing_to_follow() -> None:
    code = "import torch\nw = torch.ones(2, 3, requires_grad=True)\ny = torch.relu(w) @ torch.ones(2)\n"
    assert [one.reason for one in view(engine.run(code)).boxes if one.kind == "ghost"] == ["raised"]


def test_what_a_loader_makes_stands_at_the_head_of_its_loop() -> None:
    code = (
        "import torch\nfrom torch.utils.data import DataLoader\nw = torch.ones(1, requires_grad=True)\n"
        "for x in DataLoader(torch.ones(2, 1)):\n    loss = (w * x).sum()\n    loss.backward()\n"
    )
    spans = [one.span for one in view(engine.run(code)).boxes if one.title == "stack" and one.span is not None]
    assert [(span.line, span.end_line) for span in spans] == [(4, 4)]
