"""Global names of the program, as the trace has them."""

from collections.abc import Iterator, Sequence

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.bounds import MOST_VARIABLES
from engine.trace import Variable


def variables(recorded: Recorded, ids: Ids) -> Iterator[Variable]:
    """Those that are told, in the order of definition."""
    storages = {array.name: array.storages for array in recorded.arrays}
    for event in _told(recorded.variables):
        lies_in = storages.get(event.name) if event.kind == "array" else None
        yield Variable(
            name=event.name,
            kind=event.kind,
            type=event.type,
            storage=ids.storage[lies_in[0]] if lies_in else None,
            tensor=ids.tensor.optional(event.tensor),
            module=ids.module.among(event.module, recorded.modules),
            text=event.text,
            tensors=tuple(ids.tensor[number] for number in event.tensors),
        )


def _told(seen: Sequence[ev.VariableSeen]) -> Sequence[ev.VariableSeen]:
    """All, or as many as a trace holds: plain values stand back behind tensors, modules and functions."""
    if len(seen) <= MOST_VARIABLES:
        return seen
    places = sorted(range(len(seen)), key=lambda place: seen[place].kind == "value")[:MOST_VARIABLES]
    return [seen[place] for place in sorted(places)]
