"""Each law of walks, surfaces and calls can fail: a right trace, broken in one place, is found out."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine import DEFAULT_LIMITS, laws, run
from engine.trace import PythonCall, Surface, SurfaceAxis, Trace, WalkVisit

CODE = """import torch
model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU())
def loss(x):
    y = model(x)
    return (y * y).sum()
def step():
    value = loss(torch.ones(2, 1))
    value.backward()
    return value
step()
model.double()
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    # a surface is drawn in a share of the time that is left: on a busy machine ten seconds are too few
    return run(CODE, replace(DEFAULT_LIMITS, wall_s=60, cpu_s=60), checks=("calls", "surface"))


def _visits(trace: Trace, change: Callable[[WalkVisit], WalkVisit]) -> Trace:
    (walk,) = trace.walks
    return replace(trace, walks=(replace(walk, visits=tuple(map(change, walk.visits))),))


def _surface(trace: Trace, change: Callable[[Surface], Surface]) -> Trace:
    assert trace.surface is not None
    return replace(trace, surface=change(trace.surface))


def _axis(trace: Trace, change: Callable[[SurfaceAxis], SurfaceAxis]) -> Trace:
    assert trace.surface is not None
    assert trace.surface.up is not None
    return _surface(trace, lambda one: replace(one, up=change(one.up)) if one.up is not None else one)


def _calls(trace: Trace, change: Callable[[PythonCall], PythonCall]) -> Trace:
    return replace(trace, python_calls=tuple(map(change, trace.python_calls)))


BROKEN: dict[str, tuple[Callable[[Trace], Trace], str]] = {
    "left before": (lambda t: _visits(t, lambda v: replace(v, left=0)), "ended as the same"),
    "parent first": (lambda t: _visits(t, lambda v: replace(v, left=3 - v.left)), "within its parent"),
    "no parent": (lambda t: _visits(t, lambda v: replace(v, parent=None)), "has the parent None"),
    "no module": (lambda t: _visits(t, lambda v: replace(v, module="m99")), "m99, which does not exist"),
    "no tensor": (lambda t: _visits(t, lambda v: replace(v, moved=tuple(replace(m, tensor="t999") for m in v.moved))), "t999"),
    "same memory": (lambda t: _visits(t, lambda v: replace(v, moved=tuple(replace(m, same_memory=True) for m in v.moved))), "in the same memory"),
    "a value less": (lambda t: _surface(t, lambda s: replace(s, values=s.values[1:])), "1680 values"),
    "no axes": (lambda t: _surface(t, lambda s: replace(s, across=None)), "neither axes nor a reason"),
    "one axis": (lambda t: _surface(t, lambda s: replace(s, across=s.up)), "same number on both"),
    "no pass": (lambda t: _surface(t, lambda s: replace(s, pass_id="p9")), "p9, which does not exist"),
    "fits too many": (lambda t: _surface(t, lambda s: replace(s, fitting=5)), "fits 5 of"),
    "no leaf": (lambda t: _axis(t, lambda a: replace(a, tensor="t999")), "t999, which does not exist"),
    "no such place": (lambda t: _axis(t, lambda a: replace(a, place=(7,))), "has an axis at (7,)"),
    "backwards": (lambda t: _axis(t, lambda a: replace(a, values=a.values[::-1])), "does not ascend"),
    "outside": (lambda t: _calls(t, lambda c: replace(c, left=c.at + 1)), "does not lie within"),
    "unknown parent": (lambda t: _calls(t, lambda c: replace(c, parent="f77")), "does not lie within f77"),
    "returned and raised": (lambda t: _calls(t, lambda c: replace(c, raised="ValueError")), "and raised ValueError"),
    "same id": (lambda t: _calls(t, lambda c: replace(c, id="f1", parent=None)), "the same id"),
    "same moment": (
        lambda t: _calls(t, lambda c: replace(c, statements=tuple(replace(s, at=c.at + 1) for s in c.statements))),
        "at the same moment",
    ),
}  # fmt: skip


def test_the_trace_is_right(trace: Trace) -> None:
    assert laws.broken(trace) == []
    assert len(trace.walks) == 1
    assert len(trace.python_calls) == 2
    assert trace.surface is not None
    assert len(trace.surface.values) == 41 * 41


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_one_is_found_out(name: str, trace: Trace) -> None:
    change, said = BROKEN[name]
    assert any(said in what for what in laws.broken(change(trace)))
