"""Optimizer steps and `zero_grad`: what each found and what it left, told as updates.

`step` is wrapped where PyTorch itself wraps it for its own step hooks, so that a step that raises is told too, and what
the user's step hooks do is recorded as the user's own. Like `ops`, this module stands between the user's code and
PyTorch, so warnings must not stick to its frames.
"""

from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

import torch

from engine.events import ChangeWord, Updated
from engine.worker.capture.ops import Recording
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import plain_text
from engine.worker.capture.tensor_facts import look, version_of
from engine.worker.capture.tensor_state import State

_MOST_ITEMS = 8
"""Of a list in an optimizer's state that are told one by one."""
_LONGEST = 200
_NO_OPTIONS = frozenset(("params", "param_names"))

Place = tuple[int, str]
"""First record of the parameter, 0 for state of none, and the name of the state."""


class _Step:
    """A step that runs."""

    __slots__ = ("fetched", "optimizer", "parameters", "settings", "site", "state")

    def __init__(self, optimizer: Any, site: int) -> None:
        self.optimizer = optimizer
        self.site = site
        self.settings: tuple[dict[str, str], ...] = ()
        self.parameters: list[tuple[torch.Tensor, State, int, int]] = []
        """Parameter, its state, its record before, its group."""
        self.fetched: dict[int, int] = {}
        """By parameter's first record: the gradient it had when the step began, or when its closure last returned."""
        self.state: dict[Place, tuple[int, str]] = {}
        """Record or text of each piece of state before."""


class Optimizers:
    """Tells of steps and zero_grads."""

    def __init__(self, recorder: Recorder, mode: Recording, names: Mapping[str, Any]) -> None:
        self.recorder = recorder
        self.mode = mode
        self.names = names
        """The program's globals."""

    # Steps

    def step(
        self, run: Callable[..., Any], optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> Any:
        """Runs a step as it was called, unrecorded but for its closure, and tells what it changed."""
        thread, sampler = self.recorder.thread, self.recorder.sampler
        sampler.turn(frame)
        if any(outer is not None and outer.optimizer is optimizer for outer in thread.steps):
            return run(optimizer, *args, **kwargs)  # `super().step()` is part of the step
        begun = None if sampler.skips_update() else self._begin(optimizer, frame)
        args, kwargs = self._open(begun, args, kwargs)
        steps = thread.steps
        steps.append(begun)
        thread.mute()
        sampler.begin_step()
        raised = True
        try:
            result = run(optimizer, *args, **kwargs)
            raised = False
            return result
        finally:
            sampler.end_step()
            thread.unmute()
            steps.pop()
            if begun is not None:
                self._end(begun, raised)

    def _begin(self, optimizer: Any, frame: FrameType) -> _Step | None:
        with self.recorder.telling("step"):
            begun = _Step(optimizer, self.recorder.sites.of(frame))
            begun.settings = tuple(
                {str(name): _text(value) for name, value in group.items() if name not in _NO_OPTIONS}
                for group in optimizer.param_groups
            )
            self._look(begun)
            return begun
        return None

    def _look(self, step: _Step) -> None:
        """Notes parameters, gradients and state as they are."""
        meet = self.recorder.tensors.meet
        step.parameters = [
            (parameter, state := meet(parameter, "parameter"), state.id, number)
            for number, group in enumerate(step.optimizer.param_groups)
            for parameter in group["params"]
        ]
        self._fetch(step)
        step.state = {
            place: (meet(value, "state").id, "") if isinstance(value, torch.Tensor) else (0, _text(value))
            for place, value in self._state(step.optimizer)
        }

    def _fetch(self, step: _Step) -> None:
        """Notes the gradients as they are."""
        for parameter, state, _, _ in step.parameters:
            grad = parameter.grad
            if grad is None:
                step.fetched.pop(state.first, None)
                state.grad = None
                continue
            known = self.recorder.tensors.meet(grad, "gradient")
            self.recorder.tensors.keep_grad(known, state)
            step.fetched[state.first] = known.id

    def _state(self, optimizer: Any) -> Iterator[tuple[Place, Any]]:
        """Every piece of state that is not None: tensors, lists in one word with their first tensors, anything else."""
        for key, entries in list(optimizer.state.items()):
            tensor = isinstance(key, torch.Tensor)
            owner = self.recorder.tensors.meet(key, "parameter").first if tensor else 0
            if isinstance(entries, dict):
                prefix = "" if tensor else f"{plain_text(key)}."
                for name, value in list(entries.items()):
                    yield from _pieces(owner, f"{prefix}{name}", value)
            else:
                yield from _pieces(owner, "" if tensor else plain_text(key), entries)

    def _open(
        self, begun: _Step | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with the closure, which is the user's own code, made to be recorded though the step is not."""
        at = next((i for i, arg in enumerate(args) if callable(arg)), None)
        closure = kwargs.get("closure") if at is None else args[at]
        if closure is None:
            return args, kwargs
        opened = self._opened(begun, closure)
        if at is None:
            return args, {**kwargs, "closure": opened}
        return (*args[:at], opened, *args[at + 1 :]), kwargs

    def _opened(self, step: _Step | None, closure: Callable[[], Any]) -> Callable[[], Any]:
        thread = self.recorder.thread

        def run() -> Any:
            muted = thread.set_muted(int(self.recorder.sampler.muted))
            try:
                return closure()
            finally:
                thread.set_muted(muted)
                if step is not None:
                    self._fetched(step)

        return run

    def _fetched(self, step: _Step) -> None:
        with self.recorder.telling("closure"):
            self._fetch(step)

    def _end(self, step: _Step, raised: bool) -> None:
        with self.recorder.telling("step"):
            self._tell(step, raised)
            for outer in self.recorder.thread.steps:
                if outer is not None:
                    self._look(outer)  # what this step did is not the outer one's doing

    def _tell(self, step: _Step, raised: bool) -> None:
        silent = _writes_past_versions(step.optimizer)
        changes, groups, passed_over = [], [], []
        for parameter, state, before, group in step.parameters:
            self._renewed(parameter, state, silent)
            gradient = step.fetched.get(state.first, 0)
            if gradient or state.id != before:
                changes.append(ChangeWord(before, state.id, gradient=gradient))
                groups.append(group)
                self._spread(state)
            else:
                passed_over.append(state.first)
        states = tuple(self._state_changes(step, silent))
        self.recorder.updates.add(Updated(
            0, "step", tuple(changes), states, step.site, 0, type(step.optimizer).__name__, self._name(step.optimizer),
            groups=tuple(groups), settings=step.settings, raised=raised, without_gradient=tuple(passed_over),
        ))  # fmt: skip

    def _renewed(self, tensor: torch.Tensor, state: State, silent: bool) -> State:
        """The state as it is now; contents are compared only where a write may not raise the version."""
        if version_of(tensor) != state.version or (silent and not look(tensor).tells_the_same(state.look)):
            return self.recorder.tensors.renew(tensor, state)
        return state

    def _spread(self, state: State) -> None:
        """Other tensors in the parameter's memory are looked at again when next met."""
        for tensor, other in self.recorder.storages.others(state):
            if other.version != version_of(tensor) or other.look.data != state.look.data:
                other.version = -1

    def _state_changes(self, step: _Step, silent: bool) -> Iterator[tuple[int, int, str, int, str, str]]:
        before = dict(step.state)
        for place, value in self._state(step.optimizer):
            record, text = before.pop(place, (0, ""))
            if isinstance(value, torch.Tensor):
                known = self.recorder.tensors.meet(value, "state")
                yield record, self._renewed(value, known, silent).id, place[1], place[0], text, ""
            else:
                yield record, 0, place[1], place[0], text, _text(value)
        for place, (record, text) in before.items():
            yield record, 0, place[1], place[0], text, ""

    def _name(self, owner: Any) -> str:
        return next((name for name, value in list(self.names.items()) if value is owner), "")

    # zero_grad

    def grads(self, parameters: Any) -> list[tuple[torch.Tensor, State, int]]:
        """The `.grad` records before a `zero_grad`."""
        rows = []
        for parameter in parameters:
            state = self.recorder.tensors.meet(parameter, "parameter")
            grad = parameter.grad
            rows.append((parameter, state, 0 if grad is None else self.recorder.tensors.meet(grad, "gradient").id))
        return rows

    def zeroed(
        self, owner: Any, kind: str, before: list[tuple[torch.Tensor, State, int]], site: int, set_to_none: bool
    ) -> None:
        """Records a `zero_grad` that has happened."""
        recorder = self.recorder
        changes = []
        for parameter, state, record in before:
            grad = parameter.grad
            if grad is None:
                state.grad = None
                after = 0
            else:
                kept = recorder.tensors.meet(grad, "gradient")
                recorder.tensors.keep_grad(kept, state)
                after = kept.id
            if record or after:
                changes.append(ChangeWord(record, after, leaf=state.first))
        name = type(owner).__name__ if kind == "optimizer" else ""
        recorder.updates.add(Updated(
            0, "zero_grad", tuple(changes), site=site, optimizer=name, variable=self._name(owner), owner=kind,
            set_to_none=set_to_none,
        ))  # fmt: skip


def _pieces(owner: int, name: str, value: Any) -> Iterator[tuple[Place, Any]]:
    if value is None:
        return
    if isinstance(value, list | tuple) and any(isinstance(item, torch.Tensor) for item in value):
        yield (owner, name), _Many(len(value))
        for index, item in enumerate(value[:_MOST_ITEMS]):
            if isinstance(item, torch.Tensor):
                yield (owner, f"{name}[{index}]"), item
    else:
        yield (owner, name), value


class _Many(int):
    """The length of a list of tensors."""


def _text(value: Any) -> str:
    """Short text without running code of the user's; a number in a tensor is told as Python prints it."""
    if isinstance(value, _Many):
        return f"[tensor × {int(value)}]"
    if isinstance(value, torch.Tensor) and value.numel() == 1 and value.is_cpu:
        return f"tensor({value.item()!r})"
    return plain_text(value, _LONGEST)


def _writes_past_versions(optimizer: Any) -> bool:
    """Fused kernels raise no version (pytorch 2.13), and a user's own optimizer may write through `.data`."""
    own = not type(optimizer).__module__.startswith("torch.optim.")
    return own or any(group.get("fused") for group in optimizer.param_groups)


__name__ = "__main__"
__warningregistry__ = None
