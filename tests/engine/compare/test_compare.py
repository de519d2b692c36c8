"""Two runs beside each other: sizes, names, and where they part, against plain PyTorch and by hand."""

import itertools
from pathlib import Path

import msgspec
import pytest
import torch

from engine.compare import Comparison, Split, compare
from engine.trace import Trace
from tests.golden import programs
from tests.once import run

LESSONS = programs()

BASE = """import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.ones(2, requires_grad=True)
a = x * w
y = a.detach() * w
loss = y.sum()
loss.backward()
print(x.grad)
"""


def _both(here: str, there: str) -> tuple[Trace, Trace, Comparison]:
    traces = run(here), run(there)
    return *traces, compare(*traces)


def _values(trace: Trace, id: str | None) -> tuple[object, ...] | None:
    return next(tensor.data for tensor in trace.tensors if tensor.id == id)


def test_detach_or_not() -> None:
    here, there, told = _both(BASE, BASE.replace("a.detach()", "a"))
    assert told.differs
    assert told.value is None, "the forward computes the same"
    assert told.graph is not None
    assert (told.graph.line, told.graph.line_there) == (5, 5)
    assert (told.here.depth, told.there.depth) == (3, 4)
    rows = {row.name: row for row in told.tensors}
    assert (rows["x"].gradient_here, rows["x"].gradient) == (None, None)
    assert _values(there, rows["x"].gradient_there) == (1.0, 1.0)
    assert rows["w"].gradient is not None
    assert (rows["w"].gradient.verdict, rows["w"].gradient.largest) == ("differs", 2.0)
    assert rows["y"].value is not None
    assert rows["y"].value.verdict == "same"
    assert [here.findings[at].code for at in told.findings_here] == ["cut_by_detach"]
    assert told.findings_there == ()
    assert [op.name for op in here.ops if op.id in told.only_here] == ["detach"]
    assert told.only_there == ()
    assert told.printed is not None
    assert (told.printed.here, told.printed.there) == ("None", "tensor([1., 1.])")


def test_other_data_other_graph() -> None:
    """The same loop on three inputs: 11, 6 and 1 turns, as PyTorch itself counts them."""
    code = "import torch\nx = torch.tensor({}, requires_grad=True)\ny = x * 2\nwhile y.norm() < 1000:\n    y = y * 2\ny.sum().backward()\n"
    data = ([0.5, -0.5, 0.1], [20.0, 10.0, 1.0], [900.0, 1.0, 0.0])
    runs = [run(code.format(list(one))) for one in data]
    turns = []
    for one in data:
        y, count = torch.tensor(one) * 2, 1
        while y.norm() < 1000:
            y, count = y * 2, count + 1
        turns.append(count)
    for a, b in itertools.permutations(range(3), 2):
        told = compare(runs[a], runs[b])
        # sum, the multiplications, AccumulateGrad
        assert (told.here.depth, told.there.depth) == (turns[a] + 2, turns[b] + 2)
        assert told.value is not None
        assert told.value.line == 2
        assert len(told.only_here) == max(0, turns[a] - turns[b]) * 3  # norm, comparison, product


def test_another_number_late_in_the_program_names_the_first_result_that_differs() -> None:
    code = "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x * 3\nz = y + 1\nz.backward()\n"
    here, there, told = _both(code, code.replace("y + 1", "y + 2"))
    assert told.value is not None
    assert (told.value.line, told.value.given) == (4, False)
    assert _values(here, told.value.tensor_here) == (7.0,)
    assert _values(there, told.value.tensor_there) == (8.0,)
    assert told.graph is None
    assert told.gradient is None


def test_another_learning_rate_is_told_at_the_parameter_it_changed() -> None:
    code = Path("gallery/mlp_training.py").read_text("utf-8")
    _, _, told = _both(code, code.replace("lr=", "lr=2 * "))
    assert told.value is not None
    assert told.value.given
    assert [
        row.name for row in told.tensors if row.here == told.value.tensor_here
    ] == []  # it was a state since written
    assert (told.here.root, told.there.root) == ("loss", "loss")
    assert told.here.loss != told.there.loss


def test_another_seed_differs_where_it_is_drawn_first() -> None:
    code = "import torch\ntorch.manual_seed({})\nx = torch.ones(2)\nw = torch.randn(2, requires_grad=True)\n(x * w).sum().backward()\n"
    _, _, told = _both(code.format(1), code.format(2))
    assert told.value is not None
    assert told.value.line == 4
    assert _verdicts(told) == {"x": ("same", None), "w": ("differs", "same")}


def _verdicts(told: Comparison) -> dict[str, tuple[str | None, str | None]]:
    return {
        row.name: (row.value.verdict if row.value else None, row.gradient.verdict if row.gradient else None)
        for row in told.tensors
    }


def test_a_gradient_that_parts_on_its_way_back() -> None:
    code = "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x * 3\n{}z = y * y\nz.backward()\n"
    _, there, told = _both(code.format(""), code.format("y.register_hook(lambda g: g * 10)\n"))
    assert told.gradient is not None
    assert told.gradient.line == 3
    assert _values(there, told.gradient.tensor_there) == (120.0,)
    assert told.value is None
    assert told.graph is None


def test_student_and_teacher_are_matched_by_the_names_of_their_members() -> None:
    code = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n{0} = nn.Linear(2, 1)\nloss = {0}(torch.ones(1, 2)).sum()\nloss.backward()\n"
    _, _, told = _both(code.format("student"), code.format("teacher"))
    assert {row.name: row.name_there for row in told.tensors if row.role == "parameter"} == {
        "student.weight": "teacher.weight",
        "student.bias": "teacher.bias",
    }
    assert not told.differs


def test_the_built_in_convolution_and_one_by_hand() -> None:
    by_hand = """import torch
torch.manual_seed(0)
x = torch.randn(1, 1, 5, 5)
w = torch.randn(2, 1, 3, 3, requires_grad=True)
patches = x.unfold(2, 3, 1).unfold(3, 3, 1).reshape(9, 9)
out = (patches @ w.reshape(2, 9).T).T.reshape(1, 2, 3, 3)
out.pow(2).sum().backward()
"""
    built_in = by_hand.replace("(patches @ w.reshape(2, 9).T).T.reshape(1, 2, 3, 3)", "torch.conv2d(x, w)")
    here, there, told = _both(by_hand, built_in)
    (out,) = [row for row in told.tensors if row.name == "out"]
    ours, theirs = (torch.tensor(_values(*one)) for one in ((here, out.here), (there, out.there)))
    assert torch.allclose(ours, theirs)
    assert out.value is not None
    assert out.value.verdict in ("same", "rounding")
    assert (out.value.largest or 0) == pytest.approx(float((ours - theirs).abs().max()), rel=1e-6)
    assert _verdicts(told)["w"][1] in ("same", "rounding")
    assert told.value is None
    assert told.graph is not None
    assert told.graph.line == 7


def test_a_name_bound_anew_is_the_tensor_it_stands_for_at_the_end() -> None:
    code = "import torch\nw = torch.tensor(1.0, requires_grad=True)\nfor _ in range(2):\n    w = (w - {}).detach().requires_grad_()\n"
    here, _, told = _both(code.format(0.5), code.format(0.25))
    (row,) = [row for row in told.tensors if row.name == "w"]
    assert _values(here, row.here) == (0.0,)
    assert row.value is not None
    assert row.value.largest == 0.5


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_run_does_not_differ_from_itself(path: Path) -> None:
    trace = run(path.read_text("utf-8"))
    told = compare(trace, trace)
    assert not told.differs
    assert (told.value, told.graph, told.gradient, told.printed) == (None, None, None, None)
    assert (told.differing, told.only_here, told.only_there) == ((), (), ())
    assert (told.findings_here, told.findings_there, told.plain) == ((), (), ())
    assert told.matched == len(trace.ops)
    assert told.here == told.there
    assert all(not stretch.changed and stretch.here == stretch.there for stretch in told.lines)


@pytest.mark.parametrize(("a", "b"), list(itertools.pairwise(LESSONS)), ids=lambda path: path.stem)
def test_what_is_told_of_one_side_is_told_of_the_other(a: Path, b: Path) -> None:
    here, there = run(a.read_text("utf-8")), run(b.read_text("utf-8"))
    told, back = compare(here, there), compare(there, here)
    assert (told.here, told.there) == (back.there, back.here)
    assert told.differs
    assert back.differs
    assert told.matched == back.matched
    assert set(told.only_here) == set(back.only_there)
    assert set(told.findings_here) == set(back.findings_there)
    known = {tensor.id for tensor in here.tensors}, {tensor.id for tensor in there.tensors}
    for row in told.tensors:
        assert row.here is None or row.here in known[0]
        assert row.there is None or row.there in known[1]
        assert (row.value is None) == (row.here is None or row.there is None)
    for split in (told.value, told.graph, told.gradient):
        _is_known(split, here, there)


def _is_known(split: Split | None, here: Trace, there: Trace) -> None:
    if split is None:
        return
    for id, trace in ((split.here, here), (split.there, there)):
        assert id in {op.id for op in trace.ops} | {node.id for node in trace.nodes}
    for id, trace in ((split.tensor_here, here), (split.tensor_there, there)):
        assert id is None or id in {tensor.id for tensor in trace.tensors}


@pytest.mark.parametrize(
    "odd", ["", "x = 1 / 0", "def f(:", "import torch\ntorch.ones(2) @ torch.ones(3)\n", "print('\\u597d')"]
)
def test_odd_runs_can_be_compared(odd: str) -> None:
    trace, other = run(odd), run(BASE)
    told = compare(trace, other)
    assert told.differs
    assert told.here.status == trace.status
    assert (told.here.failure is None) == (trace.failure is None)
    assert not compare(trace, trace).differs
    assert msgspec.json.decode(msgspec.json.encode(told), type=Comparison) == told


def test_an_op_that_raises_in_one_run_only_is_where_they_part() -> None:
    code = "import torch\na = torch.ones(2)\nb = torch.ones({})\nc = a + b\n"
    _, _, told = _both(code.format(2), code.format(3))
    assert told.value is not None
    assert told.value.line == 3
    assert (told.there.failure, told.there.failure_line) == ("RuntimeError", 4)


LAYERS = """import torch
from torch import nn
torch.manual_seed({seed})
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear({size}, 2))
x = torch.ones(5, 4)
net(x).sum().backward()
"""


def test_memory_that_was_never_written_is_not_where_values_part() -> None:
    here, _, told = _both(LAYERS.format(seed=0, size=8), LAYERS.format(seed=0, size=6))
    assert told.value is not None
    tensor = next(tensor for tensor in here.tensors if tensor.id == told.value.tensor_here)
    assert (tensor.contents, tensor.names[0], tensor.shape) == ("known", "net.2.weight", (2, 8))


def test_what_layers_drew_for_themselves_is_told_where_it_is_used() -> None:
    here, _, told = _both(LAYERS.format(seed=0, size=8), LAYERS.format(seed=1, size=8))
    assert told.value is not None
    assert (told.value.line, told.value.given) == (6, True)
    tensor = next(tensor for tensor in here.tensors if tensor.id == told.value.tensor_here)
    assert tensor.names[0] == "net.0.weight"


def test_a_circle_of_a_forged_trace_is_no_endless_way() -> None:
    trace = run(BASE)
    sink = next(node for node in trace.nodes if node.type == "AccumulateGrad")
    root = trace.passes[0].roots[0].node
    edge = msgspec.structs.replace(trace.nodes[0].edges[0], to=root)
    forged = tuple(msgspec.structs.replace(node, edges=(edge,)) if node.id == sink.id else node for node in trace.nodes)
    told = compare(msgspec.structs.replace(trace, nodes=forged), trace)
    assert told.here.depth <= len(trace.nodes)
