"""Walks of `Module._apply`: which module was entered when, and what became of its parameters, gradients and buffers.

`model.to()`, `.half()`, `.double()`, `.cuda()` all are this one method: a module calls it on each child, then takes its
own tensors. Nothing is kept alive, and what is said is said at the end of the run, when the modules have numbers and
names.
"""

import functools
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import torch

from engine.events import Omitted, Walked
from engine.worker.capture.modules import Modules
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import class_name
from engine.worker.capture.tensor_facts import start_of
from engine.worker.devices.labels import device_of
from engine.worker.pytorch.internals import MODULE_APPLY, get_frame
from engine.worker.pytorch.modes import unseen
from engine.worker.pytorch.patching import Patches

MOST_WALKS = 32
MOST_VISITS = 500
_LONGEST_PATH = 1000

Kept = tuple[str, str, torch.Tensor, str, str, int]
"""kind, name, the tensor, its dtype, device and memory before."""
Moved = tuple[str, str, tuple[int, ...], str, str, str, str, bool, bool, int]
"""The last is which object it is now; no reference, not even a weak one: with those PyTorch does not swap
parameters."""


class _Visit:
    """A module on a walk."""

    __slots__ = ("kept", "left", "module", "moved", "parent", "path", "type")

    def __init__(self, module: torch.nn.Module, path: str, parent: int) -> None:
        self.module = weakref.ref(module)
        self.type = class_name(module)
        self.path = path
        self.parent = parent
        self.left = 0
        self.kept = list(_own(module))
        self.moved: list[Moved] = []

    def end(self, module: torch.nn.Module, raised: bool) -> None:
        """Compares what the module holds with what it held; of a walk that raised here only what had been taken."""
        for kind, name, before, dtype, device, address in self.kept:
            after = _held(module, kind, name)
            if after is None:
                continue
            same = after is before and start_of(after) == address
            if not (raised and same):
                self.moved.append((
                    kind, name, tuple(after.shape), dtype, device, _dtype(after), str(device_of(after)),
                    after is before, start_of(after) == address, id(after),
                ))  # fmt: skip
        self.kept.clear()


class _Walk:
    """One walk over a tree."""

    def __init__(self, site: int) -> None:
        self.site = site
        self.visits: list[_Visit] = []
        self.stack: list[int] = []
        """Indexes of the visits under way; -1 for one that is left out."""
        self.left = self.omitted = 0
        self.raised = False

    def enter(self, module: torch.nn.Module) -> None:
        parent = self.stack[-1] if self.stack else -1
        path = self._path(module, parent)
        if len(self.visits) >= MOST_VISITS or (self.stack and parent < 0) or len(path) > _LONGEST_PATH:
            self.omitted += 1
            self.stack.append(-1)
            return
        visit = _Visit(module, path, parent)
        self.stack.append(len(self.visits))
        self.visits.append(visit)

    def _path(self, module: torch.nn.Module, parent: int) -> str:
        above = self.visits[parent] if parent >= 0 else None
        holder = None if above is None else above.module()
        if above is None or holder is None:
            return ""
        name = next((name for name, child in holder._modules.items() if child is module), f"({class_name(module)})")
        return f"{above.path}.{name}" if above.path else name

    def leave(self, module: torch.nn.Module, raised: bool) -> None:
        at = self.stack.pop()
        self.raised = self.raised or raised
        if at >= 0:
            visit = self.visits[at]
            visit.left = self.left
            visit.end(module, raised)
        self.left += at >= 0


class Walks:
    """The walks of one run."""

    def __init__(self, recorder: Recorder, modules: Modules) -> None:
        self.recorder = recorder
        self.modules = modules
        self._all: list[_Walk] = []
        self._omitted = 0
        self._here = threading.local()

    def install(self, patches: Patches) -> None:
        """Stands around `Module._apply`."""
        original = MODULE_APPLY.get()
        walks = self

        @functools.wraps(original)
        def _apply(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            walk = walks._enter(self, get_frame(1))
            if walk is None:
                return original(self, *args, **kwargs)
            raised = True
            try:
                result = original(self, *args, **kwargs)
                raised = False
                return result
            finally:
                walks._leave(walk, self, raised)

        patches.replace(MODULE_APPLY, _apply)

    def _enter(self, module: torch.nn.Module, frame: Any) -> _Walk | None:
        recorder, here = self.recorder, self._here
        walk: _Walk | None = getattr(here, "walk", None)
        if recorder.closed or recorder.thread.muted:
            return None
        if walk is None:
            if len(self._all) >= MOST_WALKS:
                self._omitted += 1
                return None
            walk = here.walk = _Walk(recorder.sites.of(frame))
            self._all.append(walk)
        try:
            with unseen():
                walk.enter(module)
        except Exception as error:
            recorder.trouble("walk", error)
            walk.stack.append(-1)
        return walk

    def _leave(self, walk: _Walk, module: torch.nn.Module, raised: bool) -> None:
        try:
            with unseen():
                walk.leave(module, raised)
        except Exception as error:
            self.recorder.trouble("walk", error)
        if not walk.stack:
            self._here.walk = None

    def tell(self) -> None:
        """Says what there was; once."""
        walks, self._all = self._all, []
        for walk in walks:
            visits = tuple([self._said(visit) for visit in walk.visits])
            self.recorder.outbox.add(Walked(walk.site, visits, walk.omitted, walk.raised))
        if self._omitted:
            self.recorder.outbox.add(Omitted("walks", "walks", len(walks), self._omitted))
        self.recorder.outbox.publish()

    def _said(self, visit: _Visit) -> tuple[Any, ...]:
        module = visit.module()
        number = (self.modules.number_of(module) or 0) if module is not None else 0
        moved = []
        for *facts, was in visit.moved:
            tensor = None if module is None else _held(module, str(facts[0]), str(facts[1]))
            state = None if tensor is None or id(tensor) != was else self.recorder.tensors.state(tensor)
            moved.append((*facts, state.first if state is not None else 0))
        return (visit.path, visit.type, number, visit.parent, visit.left, tuple(moved))


def _own(module: torch.nn.Module) -> Iterator[Kept]:
    """A module's own tensors in the order PyTorch takes them."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield _kept("parameter", name, parameter)
            if parameter.is_leaf and parameter.grad is not None:
                yield _kept("gradient", name, parameter.grad)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            yield _kept("buffer", name, buffer)


def _kept(kind: str, name: str, tensor: torch.Tensor) -> Kept:
    return kind, name, tensor, _dtype(tensor), str(device_of(tensor)), start_of(tensor)


def _held(module: torch.nn.Module, kind: str, name: str) -> torch.Tensor | None:
    held = (module._buffers if kind == "buffer" else module._parameters).get(name)
    return held.grad if kind == "gradient" and held is not None and held.is_leaf else held


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


__name__ = "__main__"
__warningregistry__ = None
