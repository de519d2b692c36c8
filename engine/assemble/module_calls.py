"""Module calls while a trace is put together: who called whom, and which ops ran in each."""

from collections.abc import Container
from dataclasses import dataclass

from engine import events as ev
from engine.trace import ModuleCall, Span


@dataclass(slots=True)
class _Call:
    event: ev.ModuleCalled
    span: Span | None
    first_op: int = 0
    last_op: int = 0
    raised: bool = False


class Calls:
    """All module calls of a run; those of each thread nest."""

    def __init__(self) -> None:
        self.all: dict[int, _Call] = {}
        self.running: dict[int, list[_Call]] = {}
        """Unfinished calls of each thread, innermost last."""
        self.last_op: dict[int, int] = {}

    def begin(self, event: ev.ModuleCalled, span: Span | None) -> None:
        """A forward begins."""
        call = self.all[event.id] = _Call(event, span)
        self.running.setdefault(event.thread, []).append(call)

    def ran(self, op: int, thread: int) -> None:
        """An op ran: the first one of all calls around it that had none."""
        self.last_op[thread] = op
        for call in reversed(self.running.get(thread, ())):
            if call.first_op:
                return
            call.first_op = op

    def end(self, event: ev.ModuleLeft) -> bool:
        """A forward ended; whether its beginning is known."""
        call = self.all.get(event.id)
        if call is None:
            return False
        call.raised = event.raised
        running = self.running[call.event.thread]
        while running:
            inner = running.pop()
            self._close(inner)
            if inner is call:
                return True
        return False

    def _close(self, call: _Call) -> None:
        if call.first_op:
            call.last_op = self.last_op[call.event.thread]

    def finish(self, modules: Container[int]) -> tuple[ModuleCall, ...]:
        """The calls of modules that are known."""
        for running in self.running.values():
            for call in running:
                self._close(call)
        return tuple(self._made(call, modules) for call in self.all.values() if call.event.module in modules)

    def _made(self, call: _Call, modules: Container[int]) -> ModuleCall:
        event = call.event
        above = self.all.get(event.parent)
        mode = "inference" if event.flags & ev.INFERENCE else "no_grad" if event.flags & ev.NO_GRAD else "grad"
        return ModuleCall(
            id=f"c{event.id}",
            module=f"m{event.module}",
            parent=f"c{event.parent}" if above is not None and above.event.module in modules else None,
            training=bool(event.flags & ev.TRAINING),
            grad_mode=mode,  # type: ignore[arg-type]
            first_op=f"o{call.first_op}" if call.first_op else None,
            last_op=f"o{call.last_op}" if call.last_op else None,
            span=call.span,
            pass_id=f"p{event.pass_id}" if event.pass_id else None,
            raised=call.raised,
        )
