"""Each law of what happens around the graph can fail: a right trace, broken in one place, is found out."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine import laws
from engine.trace import Pass, Trace, Visit
from tests.engine.worker.forked import record

CODE = """import torch
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
x = torch.tensor([1.0, 2.0], requires_grad=True)
s = torch.tensor(3.0, requires_grad=True)
x.register_hook(lambda grad: grad * 2)
x.register_hook(lambda grad: grad + 1)
for turn in range(2):
    (net(x) * s).sum().backward()
    x.grad.zero_()
    (x * 3).sum().backward()
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    return record(CODE)


def _visits(trace: Trace, change: Callable[[Visit], Visit]) -> Trace:
    def changed(pass_: Pass) -> Pass:
        return replace(pass_, visits=tuple(map(change, pass_.visits)))

    return replace(trace, passes=tuple(map(changed, trace.passes)))


def _other_axes(trace: Trace) -> Trace:
    return _visits(trace, lambda visit: replace(visit, reduced=tuple(replace(one, axes=(1,)) for one in visit.reduced)))


def _no_reductions(trace: Trace) -> Trace:
    return _visits(trace, lambda visit: replace(visit, reduced=()))


def _a_hook_less(trace: Trace) -> Trace:
    return replace(trace, hooks=trace.hooks[1:])


def _a_hook_step_twice(trace: Trace) -> Trace:
    (step, *_) = [step for step in trace.timeline if step.hook is not None]
    return replace(trace, timeline=(*trace.timeline, step))


def _another_chain(trace: Trace) -> Trace:
    (second, first) = [update for update in trace.updates if update.kind == "hook"][:2]
    swapped = {first.id: replace(first, changes=second.changes), second.id: replace(second, changes=first.changes)}
    return replace(trace, updates=tuple(swapped.get(update.id, update) for update in trace.updates))


def _a_reset_less(trace: Trace) -> Trace:
    kept = [update for update in trace.updates if update.kind != "grad_reset"]
    steps = [step for step in trace.timeline if step.update is None or step.update in {update.id for update in kept}]
    return replace(trace, updates=tuple(kept), timeline=tuple(replace(step, op=None) for step in steps))


def _a_call_less(trace: Trace) -> Trace:
    return replace(trace, calls=trace.calls[1:])


def _ends_first(trace: Trace) -> Trace:
    (end, *_) = [step for step in trace.timeline if step.kind == "call_end"]
    return replace(trace, timeline=(end, *trace.timeline))


def _child_before_parent(trace: Trace) -> Trace:
    first, second = [index for index, step in enumerate(trace.timeline) if step.kind == "call"][:2]
    steps = list(trace.timeline)
    steps[first], steps[second] = steps[second], steps[first]
    return replace(trace, timeline=tuple(steps))


def _half_a_call(trace: Trace) -> Trace:
    return replace(trace, calls=(replace(trace.calls[0], last_op=None), *trace.calls[1:]))


def _half_a_hook(trace: Trace) -> Trace:
    return replace(trace, hooks=(replace(trace.hooks[0], after=None), *trace.hooks[1:]))


def test_a_recorded_trace_breaks_no_law(trace: Trace) -> None:
    assert laws.broken(trace) == []


@pytest.mark.parametrize("change", [
    _other_axes, _no_reductions, _a_hook_less, _a_hook_step_twice, _another_chain, _a_reset_less, _a_call_less, _ends_first,
    _child_before_parent, _half_a_call, _half_a_hook,
])  # fmt: skip
def test_a_broken_trace_is_found_out(trace: Trace, change: Callable[[Trace], Trace]) -> None:
    assert laws.broken(change(trace)) != []
