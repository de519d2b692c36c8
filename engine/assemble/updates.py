"""Changes outside the graph, as the trace has them."""

from collections.abc import Iterator, Mapping

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.names import SourceNames
from engine.assemble.recorded import Recorded
from engine.trace import Change, Update


def updates(
    recorded: Recorded, ids: Ids, source: SourceNames, names: Mapping[str, tuple[str, ...]]
) -> Iterator[Update]:
    """All of them; `names` are those of tensors by the first record of each object."""
    for event in recorded.updates:
        span = recorded.spans.get(event.site)
        is_called = event.kind in ("step", "zero_grad") and not event.variable
        receiver = source.local_receiver(span, event.optimizer) if is_called else ""
        yield Update(
            id=ids.update[event.id],
            kind=event.kind,
            changes=tuple(
                _change(word, event.groups[index] if index < len(event.groups) else 0, recorded, ids, names)
                for index, word in enumerate(event.changes)
            ),
            state=tuple(_state_change(word, ids) for word in event.state),
            optimizer=event.optimizer or None,
            variable=event.variable or receiver or None,
            owner=event.owner or None,
            op=ids.op.optional(event.op),
            span=span,
            set_to_none=event.set_to_none,
            without_gradient=tuple(ids.tensor[first] for first in event.without_gradient if first in recorded.tensors),
            settings=event.settings,
            raised=event.raised,
            pass_id=ids.pass_.optional(event.pass_id),
            hook=ids.hook.optional(event.hook),
            rank=recorded.ranks.get(event.thread),
        )


def _change(
    word: ev.ChangeWord, group: int, recorded: Recorded, ids: Ids, names: Mapping[str, tuple[str, ...]]
) -> Change:
    name = word.name
    if not name and (seen := recorded.tensors.get(word.after or word.before)) is not None:
        name = next(iter(names.get(ids.tensor[seen.identity or seen.id], ())), "")
    return Change(
        before=ids.tensor.optional(word.before),
        after=ids.tensor.optional(word.after),
        name=name,
        gradient=ids.tensor.optional(word.gradient),
        leaf=ids.tensor.among(word.leaf, recorded.tensors),
        group=group,
    )


def _state_change(word: ev.StateWord, ids: Ids) -> Change:
    before, after, name, parameter, text_before, text_after = word
    return Change(
        before=ids.tensor.optional(before),
        after=ids.tensor.optional(after),
        name=name,
        parameter=ids.tensor.optional(parameter),
        before_text=text_before or None,
        after_text=text_after or None,
    )
