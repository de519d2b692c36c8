"""Hook calls, as the trace has them."""

from collections.abc import Container, Iterator

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.trace import HookCall

BEFORE = frozenset(("tensor", "node_pre"))
"""Hooks that run before their node."""
AFTER = frozenset(("accumulate", "node", "backward_pre", "backward"))
"""Hooks that run after it; those of a module's backward are called by a node that PyTorch puts at its end or
beginning."""


def hook_calls(recorded: Recorded, ids: Ids, passes: Container[int]) -> Iterator[HookCall]:
    """All of them, with the ends that are known."""
    for event in recorded.hooks.values():
        done = recorded.hooks_done.get(event.id, ev.HookDone(event.id, (), False))
        first = done.changes[0] if done.changes else None
        yield HookCall(
            id=ids.hook[event.id],
            kind=event.kind,
            function=event.function,
            span=recorded.spans.get(event.span),
            registered=recorded.spans.get(event.registered),
            tensor=ids.tensor.optional(event.tensor),
            node=ids.node.among(event.node, recorded.nodes),
            module=ids.module.among(event.module, recorded.modules),
            pass_id=ids.pass_.among(event.pass_id, passes),
            before=ids.tensor[first[1]] if first else None,
            after=ids.tensor[first[2]] if first else None,
            raised=done.raised,
        )
