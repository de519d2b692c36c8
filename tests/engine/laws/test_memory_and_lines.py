"""Each law of the derived parts can fail: a right trace, broken in one place, is found out."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine import laws
from engine.trace import MemoryPoint, Span, Trace
from tests.engine.worker.forked import record

CODE = """import torch
from torch.utils.checkpoint import checkpoint
w = torch.ones(2, requires_grad=True)
def seg(x):
    return (x * w).sin()
y = checkpoint(seg, torch.ones(2), use_reentrant=False)
v = y.view(2)
v.mul_(3)
v.sum().backward()
if w is None:
    w = 1
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    made = record(CODE)
    assert laws.broken(made) == []
    return made


def _shared(trace: Trace) -> int:
    return next(index for index, storage in enumerate(trace.storages) if storage.writes)


def _without_a_member(trace: Trace) -> Trace:
    index = _shared(trace)
    storage = trace.storages[index]
    changed = replace(storage, tensors=storage.tensors[1:])
    return replace(trace, storages=(*trace.storages[:index], changed, *trace.storages[index + 1 :]))


def _without_a_storage(trace: Trace) -> Trace:
    return replace(trace, storages=tuple(storage for storage in trace.storages if not storage.writes))


def _older_version(trace: Trace) -> Trace:
    index = _shared(trace)
    storage = trace.storages[index]
    writes = (*storage.writes, storage.writes[0])
    changed = replace(storage, writes=writes)
    return replace(trace, storages=(*trace.storages[:index], changed, *trace.storages[index + 1 :]))


def _more_gradients(trace: Trace) -> Trace:
    last = trace.memory[-1]
    return replace(trace, memory=(*trace.memory[:-1], replace(last, gradients=last.gradients + 4)))


def _a_step_that_is_not_there(trace: Trace) -> Trace:
    point = MemoryPoint(step=len(trace.timeline), parameters=0, gradients=8, optimizer=0, activations=0)
    return replace(trace, memory=(*trace.memory, point))


def _a_line_that_ran(trace: Trace) -> Trace:
    return replace(trace, lines_not_run=(5, 11))


def _a_rerun_of_another(trace: Trace) -> Trace:
    return replace(trace, ops=tuple(replace(op, rerun_of=trace.ops[0].id) if op.rerun_of else op for op in trace.ops))


def _a_backward_of_a_plain_node(trace: Trace) -> Trace:
    span = Span(line=1, end_line=1, column=0, end_column=1)
    return replace(trace, nodes=(replace(trace.nodes[0], code=span), *trace.nodes[1:]))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_without_a_member, "names other tensors"),
        (_without_a_storage, "is shared by 2 tensors and not told of"),
        (_older_version, "has version 1 after version 1"),
        (_more_gradients, "bytes of gradients at the end"),
        (_a_step_that_is_not_there, "memory tells of step"),
        (_a_line_that_ran, "line 5 did not run, but an op of it did"),
        (_a_rerun_of_another, "is not the same call before its pass"),
        (_a_backward_of_a_plain_node, "has lines of a backward that is not there"),
    ],
)
def test_a_broken_part_is_found_out(damage: Callable[[Trace], Trace], said: str, trace: Trace) -> None:
    assert any(said in breach for breach in laws.broken(damage(trace)))
