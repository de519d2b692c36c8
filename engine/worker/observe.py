"""Watches what happens outside the graph: optimizers, `zero_grad`, `.grad` and `.data` set by hand, writes into memory."""

import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import is_lazy

from engine.worker.record import Ledger, State
from engine.worker.tensors import is_tracked_leaf, look, version_of

if TYPE_CHECKING:
    from engine.worker.calls import Recording
    from engine.worker.names import Called

Taken = list[tuple[torch.Tensor, State, int, int]]
_disabled = torch._C.DisableTorchFunction


class Observer:
    """Turns writes into updates."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    # Calls that are no ops

    def before_call(self, called: "Called", args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Any:
        """What `after_call` must know of the time before."""
        try:
            if called.special == "set_grad":
                return self._grad_record(args[0])
            if called.special == "set_data" and not is_lazy(args[0]):
                return self.ledger.meet(args[0]).id
        except Exception as error:
            self.ledger.trouble(called.name, error)
        return None

    def call_raised(self, called: "Called", before: Any, error: BaseException) -> None:
        """Nothing changed; the passes tell of a backward that raised."""

    def after_call(
        self,
        called: "Called",
        before: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        frame: FrameType,
    ) -> Any:
        """Records what the call changed and hands its result on."""
        try:
            if called.special == "set_grad":
                self._grad_set(args, before, frame)
            elif called.special == "set_data" and not is_lazy(args[0]):  # a lazy parameter has nothing yet
                self._data_set(args[0], before, frame)
            elif called.special == "set_requires_grad":
                state = self.ledger.meet(args[0])
                self.ledger.reconsider(args[0], state)
            self.ledger.publish()
        except Exception as error:
            self.ledger.trouble(called.name, error)
        return result

    def _grad_record(self, leaf: torch.Tensor) -> int:
        grad = leaf.grad if leaf.is_leaf else None
        return 0 if grad is None else self.ledger.meet(grad, "gradient").id

    def _grad_set(self, args: tuple[Any, ...], before: int, frame: FrameType) -> None:
        leaf = args[0]
        state = self.ledger.meet(leaf)
        grad = leaf.grad if leaf.is_leaf else None
        kept = None if grad is None else self.ledger.meet(grad, "gradient")
        if kept is not None:
            kept.grad_of = state
        state.grad = kept
        kind = "grad_reset" if kept is None else "grad_set"
        after = 0 if kept is None else kept.id
        self.ledger.update(kind, [(before, after, "", 0)], self.ledger.site(frame), set_to_none=kept is None)

    def _data_set(self, tensor: torch.Tensor, before: int, frame: FrameType) -> None:
        state = self.ledger.meet(tensor)
        if state.id == before:
            seen = look(tensor)
            if (seen.address, seen.data, seen.rest) == (state.look.address, state.look.data, state.look.rest):
                return  # `x.data *= 2` ends by setting what is there already
            self.ledger.renew(tensor, state, fresh=True)
        self.ledger.update("data", [(before, state.id, "", 0)], self.ledger.site(frame))

    # Writes

    def written(
        self, called: "Called", op: int, changed: list[tuple[torch.Tensor, State, int]], taken: Taken, site: int
    ) -> None:
        """An op wrote into tensors: says what kind of change it was and which other tensors it reached."""
        kind = "in_place"
        changes: list[tuple[int, int, str, int]] = []
        for tensor, state, before in changed:
            changes.append((before, state.id, "", 0))
            kind = self._kind(called, state, tensor, kind)
            for other, alias in self.ledger.others(state):
                shown = self._reach(other, alias)
                if shown:
                    changes.append(shown)
                    kind = self._kind(called, alias, other, "data")
        self.ledger.update(kind, changes, site, op)

    @staticmethod
    def _kind(called: "Called", state: State, tensor: torch.Tensor, otherwise: str) -> str:
        if state.grad_of is not None:
            return "grad_reset" if called.name in ("zero_", "zero") else "grad_set"
        if not torch.is_grad_enabled() and is_tracked_leaf(tensor):
            return "data"
        return otherwise

    def _reach(self, tensor: torch.Tensor, state: State) -> tuple[int, int, str, int] | None:
        """Renews a leaf or a kept gradient at once; anything else when it is next used."""
        if not (state.grad_of is not None or state.role in ("leaf", "parameter", "buffer")):
            state.version = -1
            return None
        seen = look(tensor)
        if seen.data == state.look.data and seen.rest == state.look.rest:
            state.version = version_of(tensor)
            return None
        before = state.id
        self.ledger.renew(tensor, state)
        return before, state.id, "", 0


class Optimizers:
    """Steps and zero_grads, by the official global hooks and one wrapped method each."""

    def __init__(self, ledger: Ledger, mode: "Recording", names: Mapping[str, Any]) -> None:
        self.ledger = ledger
        self.mode = mode
        self.names = names
        """The program's globals."""
        self.before: list[tuple[Any, ...]] = []

    def install(self) -> None:
        """Hooks every optimizer made from now on."""
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        register_optimizer_step_pre_hook(self._before_step)
        register_optimizer_step_post_hook(self._after_step)

    def _before_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        thin = self.ledger.thin
        thin.turn(sys._getframe(1))
        thin.steps += 1
        self.mode.here.muted += 1
        if thin.muted:
            self.before.append(())
            return None
        with _disabled():
            try:
                self.before.append(self._state_of(optimizer))
            except Exception as error:
                self.before.append(([], []))
                self.ledger.trouble("step", error)
        return self._open(args, kwargs)

    def _open(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The closure of a step is the user's own code: it is recorded though the step is not."""
        at = next((i for i, arg in enumerate(args) if i > 0 and callable(arg)), None)
        closure = kwargs.get("closure") if at is None else args[at]
        if closure is None:
            return None
        opened = self._opened(closure)
        if at is None:
            return args, {**kwargs, "closure": opened}
        return (*args[:at], opened, *args[at + 1 :]), kwargs

    def _opened(self, closure: Callable[[], Any]) -> Callable[[], Any]:
        mode = self.mode

        def run() -> Any:
            here = mode.here
            muted, here.muted = here.muted, 0
            try:
                return closure()
            finally:
                here.muted = muted

        return run

    def _state_of(self, optimizer: Any) -> tuple[list[Any], list[Any]]:
        """Parameters with their gradients, and the optimizer's tensors, as records."""
        meet = self.ledger.meet
        parameters, kept = [], []
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                state = meet(parameter, "parameter")
                grad = parameter.grad
                gradient = 0
                if grad is not None:
                    known = meet(grad, "gradient")
                    known.grad_of, state.grad = state, known
                    gradient = known.id
                parameters.append((parameter, state, state.id, gradient))
                for name, value in optimizer.state.get(parameter, {}).items():
                    if isinstance(value, torch.Tensor):
                        kept.append((parameter, name, meet(value, "state").id))
        return parameters, kept

    def _after_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.mode.here.muted -= 1
        self.ledger.thin.steps -= 1
        before = self.before.pop()
        if not before:
            self.ledger.thin.gap.updates += 1
            return
        with _disabled():
            try:
                self._stepped(optimizer, *before)
            except Exception as error:
                self.ledger.trouble("step", error)

    def _stepped(self, optimizer: Any, parameters: list[Any], kept: list[Any]) -> None:
        ledger = self.ledger
        changes = []
        for parameter, state, before, gradient in parameters:
            if version_of(parameter) != state.version:
                ledger.renew(parameter, state)
            if gradient or state.id != before:
                changes.append((before, state.id, "", gradient))
        old = {(id(parameter), name): number for parameter, name, number in kept}
        states = []
        for parameter, _, _, _ in parameters:
            for name, value in optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor):
                    after = ledger.meet(value, "state").id
                    states.append((old.get((id(parameter), name), 0), after, name, 0))
        site = ledger.site(sys._getframe(1))
        ledger.update("step", changes, site, 0, tuple(states), type(optimizer).__name__, self._name(optimizer))
        ledger.publish()

    def _name(self, owner: Any) -> str:
        return next((name for name, value in list(self.names.items()) if value is owner), "")

    def zeroed(self, owner: Any, kind: str, before: list[Any], site: int, set_to_none: bool) -> None:
        """Records a `zero_grad` that has happened."""
        ledger = self.ledger
        changes = []
        for parameter, state, record in before:
            grad = parameter.grad
            kept = None if grad is None else ledger.meet(grad, "gradient")
            if kept is not None:
                kept.grad_of = state
            state.grad = kept
            if record or kept is not None:
                changes.append((record, 0 if kept is None else kept.id, "", 0))
        name = type(owner).__name__ if kind == "optimizer" else ""
        ledger.update(
            "zero_grad", changes, site, optimizer=name, variable=self._name(owner), owner=kind, set_to_none=set_to_none
        )
        ledger.publish()

    def grads(self, parameters: Any) -> list[Any]:
        """The `.grad` records before a `zero_grad`."""
        rows = []
        for parameter in parameters:
            state = self.ledger.meet(parameter, "parameter")
            grad = parameter.grad
            rows.append((parameter, state, 0 if grad is None else self.ledger.meet(grad, "gradient").id))
        return rows
