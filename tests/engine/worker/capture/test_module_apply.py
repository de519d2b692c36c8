"""Walks of `Module._apply`: the order of modules, what became of each tensor, and what stayed the same object."""

from typing import Any

import pytest
import torch
from torch import nn

from engine import run
from engine.laws import broken
from engine.trace import Moved, Trace, Walk
from engine.worker.capture.module_apply import MOST_VISITS, MOST_WALKS

CLASSES = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 2)
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("count", torch.tensor(7))
        self.register_buffer("scale", torch.ones(2))
        self.own = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return self.norm(self.lin(x)) * self.scale + self.own
"""
MODEL = CLASSES + "model = nn.Sequential(Block(), nn.ReLU(), nn.Sequential(nn.Linear(2, 1)))\n"
ENTERED = ["", "0", "0.lin", "0.norm", "1", "2", "2.0"]
LEFT = ["0.lin", "0.norm", "0", "1", "2.0", "2", ""]


def _traced(code: str) -> Trace:
    trace = run(code)
    assert broken(trace) == []
    return trace


def _walk(code: str) -> Walk:
    (walk,) = _traced(code).walks
    return walk


def _left(walk: Walk) -> list[str]:
    return [visit.path for visit in sorted(walk.visits, key=lambda visit: visit.left)]


def _all(walk: Walk) -> dict[str, Moved]:
    return {f"{visit.path}.{moved.name}:{moved.kind}": moved for visit in walk.visits for moved in visit.moved}


def _pytorch(model: nn.Module) -> tuple[list[str], list[str]]:
    """The order in which PyTorch itself enters modules and converts tensors."""
    entered: list[str] = []
    names = {id(module): name for name, module in model.named_modules()}
    converted: list[str] = []
    tensors = {id(tensor): name for name, tensor in [*model.named_parameters(), *model.named_buffers()]}
    original: Any = nn.Module._apply

    def _apply(self: nn.Module, fn: object, recurse: bool = True) -> nn.Module:
        entered.append(names[id(self)])
        converting: nn.Module = original(self, fn, recurse)
        return converting

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) in tensors:
            converted.append(tensors[id(tensor)])
        return tensor.double() if tensor.is_floating_point() else tensor

    nn.Module._apply = _apply  # type: ignore[method-assign]
    try:
        _apply(model, convert)
    finally:
        nn.Module._apply = original  # type: ignore[method-assign]
    return entered, converted


def test_modules_and_tensors_come_in_pytorchs_own_order() -> None:
    names: dict[str, object] = {}
    exec(MODEL, names)
    model = names["model"]
    assert isinstance(model, nn.Module)
    entered, converted = _pytorch(model)
    walk = _walk(MODEL + "model.double()\n")
    assert [visit.path for visit in walk.visits] == entered == ENTERED
    by_end = sorted(walk.visits, key=lambda visit: visit.left)
    told = [f"{visit.path}.{moved.name}" for visit in by_end for moved in visit.moved]
    assert told == converted
    assert _left(walk) == LEFT


@pytest.mark.parametrize("call", ["double()", "half()", "bfloat16()", "to(torch.float64)", "type(torch.float64)"])
def test_dtypes_identity_and_integer_buffers(call: str) -> None:
    trace = _traced(
        MODEL
        + "w, scale = model[0].lin.weight, model[0].scale\n"
        + f"model.{call}\n"
        + "print(model[0].lin.weight is w, model[0].scale is scale, model[0].lin.weight.dtype, model[0].count.dtype)\n"
    )
    (walk,) = trace.walks
    moved = _all(walk)
    weight, scale, count = moved["0.lin.weight:parameter"], moved["0.scale:buffer"], moved["0.count:buffer"]
    said = trace.output[0].text.split()
    integer = "torch.float64" if call.startswith("type") else "torch.int64"
    assert said == [str(weight.same_object), str(scale.same_object), f"torch.{weight.dtype_after}", integer]
    assert (weight.same_object, weight.same_memory, weight.dtype) == (True, False, "float32")
    assert (scale.same_object, scale.same_memory) == (False, False)
    assert f"torch.{count.dtype_after}" == integer
    assert (count.same_object, count.same_memory) == ((True, True) if integer == "torch.int64" else (False, False))


def test_gradients_go_with_their_parameters() -> None:
    walk = _walk(MODEL + "model(torch.ones(4, 3)).sum().backward()\nmodel.double()\n")
    (last,) = [visit for visit in walk.visits if visit.path == "2.0"]
    assert [(one.kind, one.name, one.dtype_after) for one in last.moved] == [
        ("parameter", "weight", "float64"), ("gradient", "weight", "float64"),
        ("parameter", "bias", "float64"), ("gradient", "bias", "float64"),
    ]  # fmt: skip
    assert all(one.tensor is not None for one in last.moved)


def test_a_walk_that_changes_nothing_says_so() -> None:
    walk = _walk(MODEL + "model.to('cpu')\nprint(model)\n")
    assert all(one.same_object and one.same_memory for one in _all(walk).values())
    assert walk.span is not None
    assert walk.span.line == MODEL.count("\n") + 1


def test_a_shared_parameter_is_converted_once() -> None:
    walk = _walk(
        CLASSES + "a, b = nn.Linear(2, 2), nn.Linear(2, 2)\nb.weight = a.weight\nnn.Sequential(a, b).double()\n"
    )
    moved = _all(walk)
    assert (moved["0.weight:parameter"].dtype, moved["0.weight:parameter"].dtype_after) == ("float32", "float64")
    assert (moved["1.weight:parameter"].dtype, moved["1.weight:parameter"].same_memory) == ("float64", True)


def test_a_module_used_twice_is_walked_twice() -> None:
    walk = _walk("from torch import nn\na = nn.Linear(1, 1)\nmodel = nn.ModuleList([a, a])\nmodel.double()\n")
    assert [visit.path for visit in walk.visits] == ["", "0"]  # `children` gives each module once


def test_recurrent_layers_walk_as_others() -> None:
    walk = _walk("from torch import nn\nmodel = nn.LSTM(2, 3)\nmodel.double()\n")
    assert [len(visit.moved) for visit in walk.visits] == [4]


def test_a_walk_that_raises_tells_what_had_begun() -> None:
    trace = _traced(
        MODEL + "def no(tensor):\n    if tensor.dim() == 0: raise ValueError('no')\n    return tensor\n"
        "try:\n    model._apply(no)\nexcept ValueError: pass\nmodel.half()\n"
    )
    first, second = trace.walks
    assert (first.raised, [visit.path for visit in first.visits]) == (True, ["", "0", "0.lin", "0.norm"])
    assert (second.raised, len(second.visits)) == (False, len(ENTERED))


def test_a_device_that_is_not_there_leaves_all_as_it_was() -> None:
    trace = _traced(
        MODEL + "try:\n    model._apply(lambda t: t.to('cuda'))\nexcept (AssertionError, RuntimeError): pass\n"
    )
    (walk,) = trace.walks
    assert walk.raised
    assert [(visit.path, visit.moved) for visit in walk.visits] == [("", ()), ("0", ()), ("0.lin", ())]


def test_a_module_without_its_own_init_does_not_stop_it() -> None:
    trace = run(
        "from torch import nn\nclass Bad(nn.Module):\n    def __init__(self): pass\ntry:\n    Bad().double()\nexcept AttributeError as e: print(type(e).__name__)\nnn.Linear(1, 1).double()\n"
    )
    assert [piece.text for piece in trace.output] == ["AttributeError\n"]
    assert [len(walk.visits) for walk in trace.walks if not walk.raised] == [1]


def test_many_walks_and_large_trees_are_cut() -> None:
    trace = _traced(f"from torch import nn\nmodel = nn.Linear(1, 1)\nfor _ in range({MOST_WALKS + 5}): model.float()\n")
    assert len(trace.walks) == MOST_WALKS
    assert [(cut.what, cut.kept, cut.omitted) for cut in trace.truncated] == [("walks", MOST_WALKS, 5)]
    large = _walk(
        f"from torch import nn\nmodel = nn.Sequential(*[nn.ReLU() for _ in range({MOST_VISITS + 20})])\nmodel.double()\n"
    )
    assert (len(large.visits), large.omitted) == (MOST_VISITS, 21)


def test_programs_without_a_walk_have_none() -> None:
    assert _traced("import torch\nx = torch.ones(2).double()\n").walks == ()
