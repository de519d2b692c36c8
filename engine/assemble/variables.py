"""Global names of the program, as the trace has them."""

from collections.abc import Iterator

from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.trace import Variable


def variables(recorded: Recorded, ids: Ids) -> Iterator[Variable]:
    """All of them, in the order of definition."""
    storages = {array.name: array.storages for array in recorded.arrays}
    for event in recorded.variables:
        lies_in = storages.get(event.name) if event.kind == "array" else None
        yield Variable(
            name=event.name,
            kind=event.kind,
            type=event.type,
            storage=ids.storage[lies_in[0]] if lies_in else None,
            tensor=ids.tensor.optional(event.tensor),
            module=ids.module.optional(event.module),
            text=event.text,
            tensors=tuple(ids.tensor[number] for number in event.tensors),
        )
