"""Optimizer steps, against copies that plain PyTorch's own step hooks take before and after each one."""

import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from engine import laws
from engine.trace import Change, Trace, Update
from tests.engine.worker.forked import record

Numbers = tuple[Any, ...]

HEAD = """
import torch
torch.manual_seed(3)
w = torch.randn(3, 4, requires_grad=True)
b = torch.randn(4, requires_grad=True)
idle = torch.randn(2, requires_grad=True)
x = torch.randn(5, 3)
def loss():
    return ((x @ w + b) ** 2).mean() + w.abs().sum()
"""
TURNS = """
for turn in range(3):
    opt.zero_grad()
    loss().backward()
    opt.step()
"""
MAKERS = [
    "SGD([w, b, idle], lr=0.1)",
    "SGD([w, b], lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1)",
    "SGD([w, b], lr=0.1, momentum=0.9, dampening=0.5, maximize=True, foreach=True)",
    "SGD([w, b], lr=0.1, momentum=0.9, fused=True)",
    "SGD([w, b], lr=torch.tensor(0.1), foreach=False)",
    "SGD([{'params': [w], 'lr': 0.5}, {'params': [b, idle], 'momentum': 0.9}], lr=0.1)",
    "SGD([('first', w), ('second', b)], lr=0.1)",
    "Adam([w, b, idle])",
    "Adam([w, b], lr=0.1, amsgrad=True, foreach=True)",
    "Adam([w, b], lr=0.1, fused=True)",
    "Adam([{'params': [w], 'betas': (0.5, 0.6)}, {'params': [b], 'lr': 0.5}], lr=0.1)",
    "AdamW([w, b], lr=0.1)",
    "AdamW([w, b], lr=0.1, fused=True, amsgrad=True)",
    "NAdam([w, b], lr=0.1)",
    "NAdam([w, b], lr=0.1, foreach=True, decoupled_weight_decay=True, weight_decay=0.1)",
    "RAdam([w, b], lr=0.1)",
    "Adamax([w, b], lr=0.1, foreach=True)",
    "Adamax([w, b], lr=0.1)",
    "Adagrad([w, b], lr=0.1, lr_decay=0.1)",
    "Adagrad([w, b], lr=0.1, fused=True)",
    "Adadelta([w, b], foreach=True)",
    "Adadelta([w, b])",
    "RMSprop([w, b], lr=0.1, momentum=0.5, centered=True)",
    "RMSprop([w, b], lr=0.1, foreach=True)",
    "Rprop([w, b], lr=0.1)",
    "Rprop([w, b], lr=0.1, foreach=True)",
    "ASGD([w, b], lr=0.1, t0=1)",
    "ASGD([w, b], lr=0.1, foreach=True)",
    "Adafactor([w, b], lr=0.1)",
    "Muon([w], lr=0.1)",
]
SCHEDULED = """
opt = torch.optim.SGD([w, b], lr=1.0, momentum=0.9)
schedules = [torch.optim.lr_scheduler.StepLR(opt, 1, 0.5), torch.optim.lr_scheduler.CosineAnnealingLR(opt, 4)]
for turn in range(3):
    opt.zero_grad()
    loss().backward()
    opt.step()
    for schedule in schedules: schedule.step()
one_cycle = torch.optim.Adam([w, b], lr=0.1)
schedule = torch.optim.lr_scheduler.OneCycleLR(one_cycle, 0.1, total_steps=4)
for turn in range(3):
    one_cycle.zero_grad(set_to_none=False)
    loss().backward()
    one_cycle.step()
    schedule.step()
"""
SPARSE = """
table = torch.nn.Embedding(6, 3, sparse=True)
opt = torch.optim.SparseAdam(table.parameters(), lr=0.1)
plain = torch.optim.Adagrad(table.parameters(), lr=0.1)
for turn in range(2):
    opt.zero_grad()
    table(torch.tensor([1, 3, 1])).sum().backward()
    opt.step()
    plain.step()
"""
CLOSURES = """
opt = torch.optim.LBFGS([w, b], lr=0.5, max_iter=4, history_size=3)
sgd = torch.optim.SGD([w], lr=0.01, momentum=0.5)
def closure():
    opt.zero_grad()
    value = loss()
    value.backward()
    return value
for turn in range(3):
    opt.step(closure)
    sgd.step(closure=closure)
search = torch.optim.LBFGS([w, b], max_iter=3, line_search_fn="strong_wolfe")
search.step(closure)
"""
SEVERAL = """
one, two = torch.optim.SGD([w], lr=0.1, momentum=0.9), torch.optim.Adam([b], lr=0.1)
for turn in range(2):
    one.zero_grad(); two.zero_grad()
    loss().backward()
    two.step()
    one.step()
both = torch.optim.SGD([w, b], lr=0.1)
both.step()
"""
SCALER = """
opt = torch.optim.SGD([w, b], lr=0.1, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
for turn in range(3):
    opt.zero_grad()
    scaler.scale(loss() * (float("inf") if turn == 1 else 1.0)).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_([w, b], 1.0)
    scaler.step(opt)
    scaler.update()
"""
CUSTOM = """
class Mine(torch.optim.Optimizer):
    def __init__(self, parameters, lr=0.1):
        super().__init__(parameters, {"lr": lr, "note": "plain"})
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None: continue
                state = self.state[p]
                if not state:
                    state["count"] = 0
                    state["memory"] = torch.zeros_like(p)
                    state["nested"] = [torch.zeros(1), torch.ones(2)]
                    state["words"] = {"a": 1}
                state["count"] += 1
                state["memory"].data.mul_(0.5).add_(p.grad)
                state["nested"][1].data += 1
                p.data -= group["lr"] * state["memory"].data
        self.state["calls"] = self.state.get("calls", 0) + 1 if not isinstance(self.state.get("calls"), dict) else 1
class Momentum(torch.optim.SGD):
    def step(self, closure=None):
        for group in self.param_groups: group["lr"] *= 0.5
        return super().step(closure)
opt = Mine([w, b, idle])
for turn in range(2):
    opt.zero_grad()
    loss().backward()
    opt.step()
sub = Momentum([w, b], lr=0.1, momentum=0.9)
sub.step()
"""
HOOKED = """
opt = torch.optim.SGD([w, b], lr=0.1)
opt.register_step_pre_hook(lambda o, args, kwargs: [p.grad.mul_(2) for g in o.param_groups for p in g["params"]] and None)
opt.register_step_post_hook(lambda o, args, kwargs: None)
loss().backward()
opt.step()
"""
PROGRAMS = {
    **{f"{number} {maker}": f"opt = torch.optim.{maker}{TURNS}" for number, maker in enumerate(MAKERS)},
    "scheduled": SCHEDULED, "sparse": SPARSE, "closures": CLOSURES, "several": SEVERAL, "hooked": HOOKED, "scaler": SCALER, "custom": CUSTOM,
    "loaded": f"opt = torch.optim.Adam([w, b]){TURNS}state = opt.state_dict()\nopt = torch.optim.Adam([w, b])\n"
    f"opt.load_state_dict(state){TURNS}",
}  # fmt: skip


@dataclass
class Taken:
    """An optimizer as it is at one moment."""

    parameters: list[Numbers]
    gradients: list[Numbers | None]
    groups: list[int]
    state: dict[tuple[int, str], Any]
    settings: list[dict[str, str]]


@dataclass
class Stepped:
    """One step."""

    optimizer: Any
    before: Taken
    after: Taken | None = None


@dataclass
class Watch:
    """All steps of a run of plain PyTorch."""

    steps: list[Stepped] = field(default_factory=list)
    open: list[Stepped] = field(default_factory=list)

    def before(self, optimizer: Any, *_: Any) -> None:
        """PyTorch's pre-hook."""
        self.open.append(Stepped(optimizer, _take(optimizer)))

    def after(self, optimizer: Any, *_: Any) -> None:
        """PyTorch's post-hook."""
        made = self.open.pop()
        made.after = _take(optimizer)
        if not any(outer.optimizer is optimizer for outer in self.open):  # `super().step()` is part of a step
            self.steps.append(made)


def _numbers(tensor: torch.Tensor) -> Numbers:
    return tuple(copy.deepcopy(tensor.detach()).to_dense().flatten().tolist())


def _take(optimizer: Any) -> Taken:
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    return Taken(
        parameters=[_numbers(p) for p in parameters],
        gradients=[None if p.grad is None else _numbers(p.grad) for p in parameters],
        groups=[number for number, group in enumerate(optimizer.param_groups) for _ in group["params"]],
        state=dict(_state(optimizer, parameters)),
        settings=[
            {k: _word(v) for k, v in group.items() if k not in ("params", "param_names")} for group in optimizer.param_groups
        ],
    )  # fmt: skip


def _state(optimizer: Any, parameters: list[Any]) -> Iterator[tuple[tuple[int, str], Any]]:
    for key, entries in optimizer.state.items():
        owner = next((i for i, p in enumerate(parameters) if p is key), -1)
        if not isinstance(entries, dict):
            yield (owner, repr(key)), _word(entries)
            continue
        for name, value in entries.items():
            if isinstance(value, torch.Tensor):
                yield (owner, name), _numbers(value)
            elif isinstance(value, list) and any(isinstance(item, torch.Tensor) for item in value):
                yield (owner, name), f"[tensor × {len(value)}]"
                for index, item in enumerate(value[:8]):
                    if item is not None:
                        yield (owner, f"{name}[{index}]"), _numbers(item)
            elif value is not None:
                yield (owner, name), _word(value)


def _word(value: Any) -> str:
    return f"<{type(value).__name__}>" if isinstance(value, dict) else repr(value)


def _plain(code: str) -> list[Stepped]:
    watch = Watch()
    handles = [register_optimizer_step_pre_hook(watch.before), register_optimizer_step_post_hook(watch.after)]
    try:
        with warnings.catch_warnings(action="ignore"):
            exec(code, {"__name__": "__main__"})
    finally:
        for handle in handles:
            handle.remove()
    return watch.steps


class Said:
    """Looks up what a trace says."""

    def __init__(self, trace: Trace) -> None:
        self.tensors = {tensor.id: tensor for tensor in trace.tensors}
        self.steps = [update for update in trace.updates if update.kind == "step"]

    def numbers(self, tensor: str | None) -> Numbers | None:
        return None if tensor is None else tuple(self.tensors[tensor].data or ())

    def value(self, tensor: str | None, text: str | None) -> Any:
        if text is not None:
            return text.replace("tensor(", "tensor(")
        return self.numbers(tensor)

    def identity(self, tensor: str | None) -> str:
        return "" if tensor is None else self.tensors[tensor].identity or tensor


def _compare(said: Said, update: Update, expected: Stepped) -> None:
    before, after = expected.before, expected.after
    assert after is not None
    assert update.optimizer == type(expected.optimizer).__name__
    taking_part = [
        index for index, gradient in enumerate(after.gradients)
        if gradient is not None or before.parameters[index] != after.parameters[index]
    ]  # fmt: skip
    assert len(update.changes) == len(taking_part)
    owners: dict[str, int] = {}
    for index, change in zip(taking_part, update.changes, strict=True):
        owners[said.identity(change.before)] = index
        assert said.numbers(change.before) == before.parameters[index]
        assert said.numbers(change.after) == after.parameters[index]
        assert said.numbers(change.gradient) == after.gradients[index]
        assert change.group == before.groups[index]
    for now, moment in ((False, before), (True, after)):
        told = {_place(change, owners): _told(said, change, now) for change in update.state}
        assert {place: value for place, value in told.items() if value is not None} == moment.state
    assert [_without_tensors(setting) for setting in update.settings] == [
        _without_tensors(setting) for setting in before.settings
    ]


def _place(change: Change, owners: dict[str, int]) -> tuple[int, str]:
    owner = -1 if change.parameter is None else owners[change.parameter]
    return (owner, change.name) if owner >= 0 else (-1, change.name)


def _told(said: Said, change: Change, after: bool) -> Any:
    text = change.after_text if after else change.before_text
    return text if text is not None else said.numbers(change.after if after else change.before)


def _without_tensors(settings: dict[str, str]) -> dict[str, str]:
    """PyTorch prints a number in a tensor with four digits."""
    return {name: "a tensor" if text.startswith("tensor(") else text for name, text in settings.items()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_are_told_to_the_bit(name: str) -> None:
    code = HEAD + PROGRAMS[name]
    trace = record(code)
    assert trace.failure is None, trace.failure.traceback
    assert [finding for finding in trace.findings if finding.code == "not_recorded"] == []
    said, expected = Said(trace), _plain(code)
    assert len(said.steps) == len(expected) > 0
    for update, step in zip(said.steps, expected, strict=True):
        _compare(said, update, step)
    assert laws.broken(trace) == []
