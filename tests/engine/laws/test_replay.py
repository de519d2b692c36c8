"""Each law can fail: a right trace, broken in one place, is found out."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from engine import laws
from engine.local import run
from engine.trace import CheckedElement, Edge, Trace
from tests.engine.worker.forked import record

CODE = """import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x + x
y.sum().backward()
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    return record(CODE)


def _other_data(trace: Trace) -> Trace:
    """The gradient of x ends as something else."""
    x = next(tensor for tensor in trace.tensors if "x" in tensor.names)
    return replace(trace, tensors=tuple(
        replace(tensor, data=(7.0, 7.0)) if tensor.id == x.grad else tensor for tensor in trace.tensors
    ))  # fmt: skip


def _without_a_term(trace: Trace) -> Trace:
    (one,) = trace.passes
    visits = tuple(
        replace(visit, sums=tuple(replace(met, terms=met.terms[1:]) for met in visit.sums)) for visit in one.visits
    )
    return replace(trace, passes=(replace(one, visits=visits),))


def _without_a_visit(trace: Trace) -> Trace:
    (one,) = trace.passes
    return replace(trace, passes=(replace(one, visits=one.visits[1:]),))


def _with_a_cycle(trace: Trace) -> Trace:
    top = trace.passes[0].roots[0].node
    return replace(trace, nodes=tuple(
        replace(node, edges=(Edge(to=top, input_nr=0),)) if node.type == "AccumulateGrad" else node for node in trace.nodes
    ))  # fmt: skip


def _with_a_lost_end(trace: Trace) -> Trace:
    return replace(trace, nodes=trace.nodes[1:])


def _with_a_step_too_far(trace: Trace) -> Trace:
    return replace(trace, timeline=(*trace.timeline, replace(trace.timeline[0], op="o999")))


def _with_an_id_twice(trace: Trace) -> Trace:
    return replace(trace, ops=(*trace.ops, trace.ops[0]))


def test_a_recorded_trace_breaks_no_law(trace: Trace) -> None:
    assert laws.broken(trace) == []


def test_a_leaf_that_a_pass_within_a_pass_adds_to_first() -> None:
    trace = run(
        "import torch\nfrom torch.utils.checkpoint import checkpoint\nw = torch.randn(3, requires_grad=True)\n"
        "def block(h): return torch.tanh(h * w)\n"
        "checkpoint(block, block(torch.ones(3)), use_reentrant=True).sum().backward()\n"
    )
    assert trace.passes[1].parent == trace.passes[0].id
    assert trace.passes[0].accumulations[0].before == trace.passes[1].accumulations[-1].after
    assert laws.broken(trace) == []


@pytest.mark.parametrize("change", [
    _other_data, _without_a_term, _without_a_visit, _with_a_cycle, _with_a_lost_end, _with_a_step_too_far, _with_an_id_twice,
])  # fmt: skip
def test_a_broken_trace_is_found_out(trace: Trace, change: Callable[[Trace], Trace]) -> None:
    assert laws.broken(change(trace)) != []


@pytest.fixture(scope="module")
def checked() -> Trace:
    return run(CODE, checks=("finite-difference", "jacobian"))


def test_a_checked_trace_breaks_no_law(checked: Trace) -> None:
    assert checked.checks
    assert checked.jacobians
    assert laws.broken(checked) == []


@pytest.mark.parametrize(
    "change",
    [
        {"tensor": "t999"},
        {"pass_id": "p999"},
        {"nodes": ("n999",)},
        {"elements": (CheckedElement(index=(2,), autograd=1.0, difference=1.0),)},
        {"elements": ()},
        {"reason": "kink"},
        {"verdict": "differs"},
    ],
    ids=str,
)
def test_a_broken_check_is_found_out(checked: Trace, change: dict[str, Any]) -> None:
    assert len(laws.broken(replace(checked, checks=(replace(checked.checks[0], **change),)))) == 1


@pytest.mark.parametrize(
    "change",
    [{"pass_id": "p999"}, {"rows": 3}, {"rows_checked": 9}, {"output": None}, {"input": "t999"}, {"node": "n999"}],
    ids=str,
)
def test_a_broken_jacobian_is_found_out(checked: Trace, change: dict[str, Any]) -> None:
    assert laws.broken(replace(checked, jacobians=(replace(checked.jacobians[0], **change),)))
