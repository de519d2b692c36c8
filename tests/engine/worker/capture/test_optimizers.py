"""Odd optimizers: ones that raise, hold others, run in threads, or are asked again after all that."""

from engine import laws
from engine.trace import Trace, Update
from tests.engine.worker.forked import record

HEAD = """
import torch, threading
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0], requires_grad=True)
def loss(): return (w * w).sum() + b.sum()
"""


def _steps(trace: Trace) -> list[Update]:
    assert [finding for finding in trace.findings if finding.code == "not_recorded"] == []
    assert laws.broken(trace) == []
    return [update for update in trace.updates if update.kind == "step"]


def _data(trace: Trace, tensor: str | None) -> tuple[object, ...] | None:
    return next((one.data for one in trace.tensors if one.id == tensor), None)


def test_a_step_that_raises_tells_what_it_had_done_and_recording_goes_on() -> None:
    trace = record(HEAD + """
class Half(torch.optim.Optimizer):
    def __init__(self, parameters): super().__init__(parameters, {})
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p is b: raise ValueError("not b")
                with torch.no_grad(): p -= p.grad
loss().backward()
try:
    Half([w, b]).step()
except ValueError:
    pass
y = w * 2
try:
    torch.optim.LBFGS([w]).step()
except TypeError:
    pass
z = w * 3
""")  # fmt: skip
    half, lbfgs = _steps(trace)
    assert (half.raised, lbfgs.raised) == (True, True)
    assert [(_data(trace, change.before), _data(trace, change.after)) for change in half.changes] == [
        ((1.0, 2.0), (-1.0, -2.0)), ((3.0,), (3.0,)),
    ]  # fmt: skip
    assert [op.name for op in trace.ops if op.name == "mul"] == ["mul"] * 3


def test_a_learning_rate_that_numpy_computed_is_told_as_a_number() -> None:
    trace = record(HEAD + """
import numpy as np
class Rate(float):
    def __repr__(self): raise ValueError("asked")
for rate in (np.cos(0.5), Rate(0.5)):
    loss().backward()
    torch.optim.SGD([w], lr=rate).step()
z = w * np.float64(0.25)
""")  # fmt: skip
    assert [step.settings[0]["lr"] for step in _steps(trace)] == ["0.8775825618903728", "0.5"]
    assert [op.arguments[-1].text for op in trace.ops if op.name == "mul"][-1] == "0.25"


def test_a_step_hook_that_raises_leaves_recording_on() -> None:
    trace = record(HEAD + """
opt = torch.optim.SGD([w], lr=0.1)
def refuse(*_): raise RuntimeError("no")
handle = opt.register_step_pre_hook(refuse)
try:
    opt.step()
except RuntimeError:
    handle.remove()
loss().backward()
opt.step()
""")  # fmt: skip
    (step,) = _steps(trace)
    assert not step.raised
    assert len(trace.passes) == 1


def test_what_a_users_step_hook_does_is_the_users() -> None:
    trace = record(HEAD + """
opt = torch.optim.SGD([w], lr=0.1)
opt.register_step_post_hook(lambda *_: w.data.clamp_(max=1.0))
loss().backward()
opt.step()
""")  # fmt: skip
    (step,) = _steps(trace)
    (clamped,) = [update for update in trace.updates if update.kind == "data"]
    assert step.changes[0].after in [change.before for change in clamped.changes]


def test_an_optimizer_inside_another_is_told_first_and_the_outer_adds_its_own() -> None:
    trace = record(HEAD + """
class Lookahead(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
        super().__init__([p for g in inner.param_groups for p in g["params"]], {})
    def step(self, closure=None):
        self.inner.step()
        for group in self.param_groups:
            for p in group["params"]: p.data.mul_(0.5)
loss().backward()
Lookahead(torch.optim.SGD([w], lr=0.5)).step()
""")  # fmt: skip
    inner, outer = _steps(trace)
    assert (inner.optimizer, outer.optimizer) == ("SGD", "Lookahead")
    assert inner.changes[0].after == outer.changes[0].before
    assert [_data(trace, one) for one in (inner.changes[0].after, outer.changes[0].after)] == [(0.0, 0.0), (0.0, 0.0)]


def test_steps_in_threads_do_not_silence_each_other() -> None:
    trace = record(HEAD + """
begun, done = threading.Event(), threading.Event()
class Slow(torch.optim.Optimizer):
    def __init__(self, parameters): super().__init__(parameters, {})
    def step(self, closure=None):
        begun.set()
        done.wait(5)
def other():
    begun.wait(5)
    global y
    y = w * 2
    torch.optim.SGD([b], lr=0.1).step()
    done.set()
threads = [threading.Thread(target=Slow([w]).step), threading.Thread(target=other)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")  # fmt: skip
    assert [step.optimizer for step in _steps(trace)] == ["SGD", "Slow"]
    assert [op.name for op in trace.ops if op.name == "mul"] == ["mul"]


def test_a_closure_is_the_users_and_its_last_gradient_the_one_used() -> None:
    trace = record(HEAD + """
opt = torch.optim.LBFGS([w], max_iter=3)
def closure():
    opt.zero_grad()
    value = ((w - 5) ** 2).sum()
    value.backward()
    return value
opt.step(closure)
""")  # fmt: skip
    (step,) = _steps(trace)
    used = step.changes[0].gradient
    assert used == trace.passes[-1].accumulations[0].after
    assert len(trace.passes) == sum(update.kind == "zero_grad" for update in trace.updates) > 1
    evaluations = next(one for one in step.state if one.name == "func_evals")
    assert (evaluations.before_text, evaluations.after_text) == (None, str(len(trace.passes)))


def test_names_of_groups_and_their_options_as_in_effect() -> None:
    trace = record(HEAD + """
opt = torch.optim.SGD([{"params": [w]}, {"params": [b], "lr": 2.0}], lr=1.0)
for lr in (0.5, 0.25):
    loss().backward()
    opt.step()
    opt.param_groups[0]["lr"] = lr
""")  # fmt: skip
    steps = _steps(trace)
    assert [[group["lr"] for group in step.settings] for step in steps] == [["1.0", "2.0"], ["0.5", "2.0"]]
    assert [[(change.name, change.group) for change in step.changes] for step in steps] == [[("w", 0), ("b", 1)]] * 2
    assert "params" not in steps[0].settings[0]


def test_a_long_list_of_state_is_summarised() -> None:
    trace = record(HEAD + """
class Keeper(torch.optim.Optimizer):
    def __init__(self, parameters): super().__init__(parameters, {})
    def step(self, closure=None):
        self.state[w].setdefault("past", []).extend(torch.zeros(1) for _ in range(50))
keeper = Keeper([w])
keeper.step(); keeper.step()
""")  # fmt: skip
    second = _steps(trace)[1]
    whole = next(one for one in second.state if one.name == "past")
    assert (whole.before_text, whole.after_text) == ("[tensor × 50]", "[tensor × 100]")
    assert [one.name for one in second.state if one.name != "past"] == [f"past[{index}]" for index in range(8)]
