"""The function of two numbers, as the trace has it."""

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.trace import Surface, SurfaceAxis


def surface(recorded: Recorded, ids: Ids) -> Surface | None:
    """The surface; none when it was not asked for, or names leaves that nobody met."""
    event = recorded.surface
    if event is None:
        return None
    across, up = _axis(event.across, recorded, ids), _axis(event.up, recorded, ids)
    if event.across is not None and (across is None or up is None):
        return None
    return Surface(
        pass_id=ids.pass_.optional(event.pass_id),
        across=across,
        up=up,
        values=event.values,
        numbers=event.numbers,
        compared=event.compared,
        fitting=event.fitting,
        reason=event.reason,
        parameters=event.parameters,
    )


def _axis(word: ev.AxisWord | None, recorded: Recorded, ids: Ids) -> SurfaceAxis | None:
    if word is None or word[0] not in recorded.tensors:
        return None
    tensor, place, values = word
    return SurfaceAxis(tensor=ids.tensor[tensor], place=place, values=values)
