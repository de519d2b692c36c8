"""Walks of `Module._apply` over module trees, as the trace has them."""

from collections.abc import Iterator

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.trace import Moved, Walk, WalkVisit


def module_walks(recorded: Recorded, ids: Ids) -> Iterator[Walk]:
    """All of them, in order."""
    for event in recorded.walked:
        yield Walk(
            visits=tuple(_visit(word, recorded, ids) for word in event.visits),
            span=recorded.spans.get(event.site),
            omitted=event.omitted,
            raised=event.raised,
        )


def _visit(word: ev.VisitWord, recorded: Recorded, ids: Ids) -> WalkVisit:
    path, kind, module, parent, left, moved = word
    return WalkVisit(
        path=path,
        type=kind,
        module=ids.module.among(module, recorded.modules),
        parent=None if parent < 0 else parent,
        left=left,
        moved=tuple(_moved(tensor, recorded, ids) for tensor in moved),
    )


def _moved(word: ev.MovedWord, recorded: Recorded, ids: Ids) -> Moved:
    kind, name, shape, dtype, device, dtype_after, device_after, same_object, same_memory, tensor = word
    return Moved(
        kind=kind,
        name=name,
        shape=shape,
        dtype=dtype,
        device=device,
        dtype_after=dtype_after,
        device_after=device_after,
        same_object=same_object,
        same_memory=same_memory,
        tensor=ids.tensor.among(tensor, recorded.tensors),
    )
