"""Watches what happens outside the graph: `.grad` and `.data` set by hand, writes into memory."""

from types import FrameType
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from engine.events import ChangeWord, Updated, UpdateKind
from engine.worker.capture.op_names import Called
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.tensor_facts import TensorFacts, extent, is_tracked_leaf, look, version_of
from engine.worker.capture.tensor_state import State

SKIPPED = object()

Changed = list[tuple[torch.Tensor, State, int, TensorFacts]]
"""What an op wrote into: the tensor, its state, its record and its contents before."""


class Observer:
    """Turns writes into updates."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    # Calls that are no ops

    def before_call(self, called: Called, args: tuple[Any, ...]) -> Any:
        """What `after_call` must know of the time before; `SKIPPED` when it is to say nothing."""
        if called.special in ("set_grad", "set_data") and self.recorder.sampler.skips_update():
            return SKIPPED
        try:
            if called.special == "set_grad":
                return self._grad_record(args[0])
            if called.special == "set_data" and not is_lazy(args[0]):
                return self.recorder.tensors.meet(args[0]).id
        except Exception as error:
            self.recorder.trouble(called.name, error)
        return None

    def after_call(self, called: Called, before: Any, args: tuple[Any, ...], frame: FrameType) -> None:
        """Records what the call changed."""
        if before is SKIPPED:
            return
        try:
            if called.special == "set_grad":
                self._grad_set(args, before, frame)
            elif called.special == "set_data" and not is_lazy(args[0]):  # a lazy parameter has nothing yet
                self._data_set(args[0], before, frame)
            elif called.special == "set_requires_grad":
                state = self.recorder.tensors.meet(args[0])
                self.recorder.tensors.reconsider(args[0], state)
            self.recorder.outbox.publish()
        except Exception as error:
            self.recorder.trouble(called.name, error)

    def _grad_record(self, leaf: torch.Tensor) -> int:
        grad = leaf.grad if leaf.is_leaf else None
        return 0 if grad is None else self.recorder.tensors.meet(grad, "gradient").id

    def _grad_set(self, args: tuple[Any, ...], before: int, frame: FrameType) -> None:
        leaf = args[0]
        state = self.recorder.tensors.meet(leaf)
        grad = leaf.grad if leaf.is_leaf else None
        kept = None if grad is None else self.recorder.tensors.meet(grad, "gradient")
        if kept is not None:
            kept.grad_of = state
        state.grad = kept
        after = 0 if kept is None else kept.id
        if after == before:
            return  # `x.grad *= 2` ends by setting what is there already
        kind: UpdateKind = "grad_reset" if kept is None or _is_zero(kept.look) else "grad_set"
        site = self.recorder.sites.of(frame)
        self.recorder.updates.add(
            Updated(0, kind, (ChangeWord(before, after, leaf=state.first),), site=site, set_to_none=kept is None)
        )

    def _data_set(self, tensor: torch.Tensor, before: int, frame: FrameType) -> None:
        state = self.recorder.tensors.meet(tensor)
        if state.id == before:
            seen = look(tensor)
            if seen.address == state.look.address and seen.tells_the_same(state.look):
                return  # `x.data *= 2` ends by setting what is there already
            self.recorder.tensors.renew(tensor, state, fresh=True)
        kind: UpdateKind = "data" if state.grad_of is None else "grad_reset" if _is_zero(state.look) else "grad_set"
        site = self.recorder.sites.of(frame)
        self.recorder.updates.add(Updated(0, kind, (ChangeWord(before, state.id, leaf=state.leaf),), site=site))

    def swapped(self, first: torch.Tensor, second: torch.Tensor, frame: FrameType) -> None:
        """Two tensor objects exchanged all they hold, their gradients too."""
        recorder = self.recorder
        changes = []
        for tensor in (first, second):
            state = recorder.tensors.state(tensor)
            if state is not None:
                before = state.id
                recorder.tensors.renew(tensor, state, fresh=True)
                state.grad = (
                    None
                    if not tensor.is_leaf or tensor.grad is None
                    else recorder.tensors.meet(tensor.grad, "gradient")
                )
                changes.append(ChangeWord(before, state.id))
        if changes:
            recorder.updates.add(Updated(0, "data", tuple(changes), site=recorder.sites.of(frame)))

    # Writes

    def written(self, op: int, changed: Changed, site: int, overwrites: bool) -> None:
        """An op wrote into tensors: says what kind of change it was and which other tensors it reached. `overwrites`:
        it read nothing of what it wrote over."""
        kind: UpdateKind = "in_place"
        some_are_set = False
        changes: list[ChangeWord] = []
        for tensor, state, before, was in changed:
            changes.append(ChangeWord(before, state.id, leaf=state.leaf))
            kind = self._kind(state, tensor, kind, was, overwrites)
            some_are_set = some_are_set or kind == "grad_set"
            if state.look.address != was.address:
                continue  # it was given other memory, such as by `set_`
            for other, alias in self.recorder.storages.others(state):
                before_it = alias.look
                shown = self._reach(other, alias, tensor)
                if shown:
                    changes.append(shown)
                    kind = self._kind(alias, other, "data", before_it, overwrites)
        if kind == "grad_reset" and some_are_set:
            kind = "grad_set"  # of a list of gradients some were scaled, and one of them happens to be zero now
        self.recorder.updates.add(Updated(0, kind, tuple(changes), site=site, op=op))

    @staticmethod
    def _kind(
        state: State, tensor: torch.Tensor, otherwise: UpdateKind, was: TensorFacts, overwrites: bool
    ) -> UpdateKind:
        if state.grad_of is not None:
            reset = _is_zero(state.look) and (overwrites or not _is_zero(was))
            return "grad_reset" if reset else "grad_set"
        if not torch.is_grad_enabled() and is_tracked_leaf(tensor):
            return "data"
        return otherwise

    def _reach(self, tensor: torch.Tensor, state: State, written: torch.Tensor) -> ChangeWord | None:
        """Renews a leaf or a kept gradient at once; anything else when it is next used."""
        if not (state.grad_of is not None or state.role in ("leaf", "parameter", "buffer")):
            state.version = -1
            return None
        if version_of(tensor) == state.version and not _overlap(tensor, written):
            return None
        before = state.id
        self.recorder.tensors.renew(tensor, state)
        return ChangeWord(before, state.id, leaf=state.leaf)


def _overlap(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two tensors of one storage reach over the same part of it."""
    (low, high), (start, end) = _reach_of(first), _reach_of(second)
    return low < end and start < high


def _reach_of(tensor: torch.Tensor) -> tuple[int, int]:
    start = tensor.data_ptr()
    return start, start + extent(tensor) * tensor.element_size()


def _is_zero(seen: TensorFacts) -> bool:
    """Whether all elements are zero; a gradient is reset however that was done."""
    if seen.data is not None:
        return not any(seen.data)
    summary = seen.summary
    return summary is not None and summary[0] == summary[1] == summary[6] == summary[7] == 0
