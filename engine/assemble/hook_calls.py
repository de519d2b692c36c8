"""Hook calls while a trace is put together."""

from collections.abc import Container, Iterator
from dataclasses import dataclass

from engine import events as ev
from engine.trace import HookCall, Span

BEFORE = frozenset(("tensor", "node_pre"))
"""Hooks that run before their node."""
AFTER = frozenset(("accumulate", "node", "backward_pre", "backward"))
"""Hooks that run after it; a module's backward hooks are called by a node that PyTorch puts at the module's end or beginning."""


@dataclass(slots=True)
class _Call:
    event: ev.HookFired
    span: Span | None
    registered: Span | None
    changes: tuple[tuple[int, int, int], ...] = ()
    raised: bool = False


class HookCalls:
    """All firings of hooks of a run."""

    def __init__(self) -> None:
        self.all: dict[int, _Call] = {}

    def fired(self, event: ev.HookFired, span: Span | None, registered: Span | None) -> None:
        """A hook is about to run."""
        self.all[event.id] = _Call(event, span, registered)

    def done(self, event: ev.HookDone) -> ev.HookFired | None:
        """A hook changed something or raised; the event of its beginning."""
        call = self.all.get(event.id)
        if call is None:
            return None
        call.changes, call.raised = event.changes, event.raised
        return call.event

    def finish(self, nodes: Container[int], modules: Container[int], passes: Container[int]) -> Iterator[HookCall]:
        """The calls, with the ends that are known."""
        for call in self.all.values():
            event = call.event
            first = call.changes[0] if call.changes else None
            yield HookCall(
                id=f"h{event.id}",
                kind=event.kind,
                function=event.function,
                span=call.span,
                registered=call.registered,
                tensor=f"t{event.tensor}" if event.tensor else None,
                node=f"n{event.node}" if event.node in nodes else None,
                module=f"m{event.module}" if event.module in modules else None,
                pass_id=f"p{event.pass_id}" if event.pass_id in passes else None,
                before=f"t{first[1]}" if first else None,
                after=f"t{first[2]}" if first else None,
                raised=call.raised,
            )
