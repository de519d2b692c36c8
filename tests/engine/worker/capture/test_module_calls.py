"""Every run of a module's forward is told: who called it, in which mode, which ops ran in it."""

import pytest
from msgspec.structs import replace

from engine import laws
from engine.limits import DEFAULT_LIMITS
from engine.trace import ModuleCall, Trace
from tests.engine.worker.forked import record

NET = """
import torch, threading
from torch.utils.checkpoint import checkpoint
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    def forward(self, x):
        if x.shape[0] > 4:
            raise ValueError("too many rows")
        return self.body(x)
net = Net()
x = torch.ones(1, 2)
"""


def _calls(trace: Trace) -> dict[str, list[ModuleCall]]:
    paths = {module.id: module.path for module in trace.modules}
    calls: dict[str, list[ModuleCall]] = {}
    for call in trace.calls:
        calls.setdefault(paths[call.module], []).append(call)
    return calls


def _line(call: ModuleCall) -> int:
    return call.span.line if call.span else 0


def test_calls_nest_as_the_modules_did() -> None:
    trace = record(NET + "net(x)\n")
    (outer,), (body,), (linear,), (relu,) = _calls(trace).values()
    assert (outer.parent, body.parent, linear.parent, relu.parent) == (None, outer.id, body.id, body.id)
    ops = {op.id: op.name for op in trace.ops}
    assert (ops[outer.first_op or ""], ops[outer.last_op or ""]) == ("linear", "relu")
    assert linear.first_op == linear.last_op == outer.first_op
    assert (_line(outer), _line(body), _line(linear)) == (14, 11, 11)
    steps = [(step.kind, step.call) for step in trace.timeline if step.kind in ("call", "call_end")]
    ids = [outer.id, body.id, linear.id, relu.id]
    assert steps == [
        ("call", ids[0]), ("call", ids[1]), ("call", ids[2]), ("call_end", ids[2]), ("call", ids[3]), ("call_end", ids[3]),
        ("call_end", ids[1]), ("call_end", ids[0]),
    ]  # fmt: skip


def test_calls_know_their_modes() -> None:
    code = "net(x)\nnet.eval()\nwith torch.no_grad(): net(x)\nwith torch.inference_mode(): net(x)\n"
    outer = _calls(record(NET + code))["net"]
    assert [(call.training, call.grad_mode) for call in outer] == [
        (True, "grad"), (False, "no_grad"), (False, "inference"),
    ]  # fmt: skip


def test_a_call_that_raises_says_so_and_the_next_is_not_inside_it() -> None:
    code = "try:\n    net(torch.ones(9, 2))\nexcept ValueError:\n    pass\nnet(x)\n"
    first, second = _calls(record(NET + code))["net"]
    assert (first.raised, first.first_op, second.raised, second.parent) == (True, None, False, None)


def test_a_module_that_calls_itself_has_one_call_inside_the_other() -> None:
    code = """
class Twice(torch.nn.Module):
    def forward(self, x, deep=True):
        return self(x, False) * 2 if deep else x + 1
twice = Twice()
twice(x)
"""
    outer, inner = _calls(record(NET + code))["twice"]
    assert inner.parent == outer.id
    assert inner.last_op != outer.last_op


@pytest.mark.parametrize("reentrant", [True, False])
def test_recomputation_is_a_call_of_its_pass(reentrant: bool) -> None:
    code = f"y = checkpoint(net, x.requires_grad_(), use_reentrant={reentrant}).sum()\ny.backward()\n"
    trace = record(NET + code)
    first, again = _calls(trace)["net"]
    assert (first.pass_id, again.pass_id) == (None, trace.passes[0].id)


def test_threads_have_a_stack_of_calls_each() -> None:
    code = """
one, two, in_one, out_two = Net(), Net(), threading.Event(), threading.Event()
class Slow(torch.nn.Module):
    def forward(self, x):
        in_one.set()
        out_two.wait(5)
        return one(x)
slow = Slow()
def other():
    in_one.wait(5)
    two(x)
    out_two.set()
threads = [threading.Thread(target=slow, args=(x,)), threading.Thread(target=other)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    trace = record(NET + code)
    calls = _calls(trace)
    (slow,), (one,), (two,) = calls["slow"], calls["one"], calls["two"]
    assert (one.parent, two.parent) == (slow.id, None)
    assert slow.first_op == one.first_op
    paths = {module.id: module.path for module in trace.modules}
    assert [paths[op.module or ""] for op in trace.ops if op.name == "linear"] == ["two.body.0", "one.body.0"]


def test_calls_are_bounded_like_ops() -> None:
    trace = record(NET + "for _ in range(20): net(x)\n", replace(DEFAULT_LIMITS, ops=30))
    (cut,) = [cut for cut in trace.truncated if cut.what == "calls"]
    assert (len(trace.calls), cut.kept, cut.omitted, cut.limit) == (30, 30, 50, "ops")
    assert laws.broken(trace) == []
