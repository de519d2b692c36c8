"""Laws of walks over modules, of surfaces, and of calls of the program's own functions."""

from collections.abc import Iterator
from itertools import pairwise

from engine.trace import PythonCall, SurfaceAxis, Trace, Walk, WalkVisit
from engine.trace_index import TraceIndex


def on_request(index: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    for number, walk in enumerate(index.trace.walks):
        yield from (f"walk {number}: {what}" for what in _walk(walk))
    yield from (f"the surface {what}" for what in _surface(index))
    yield from _calls(index.trace)


def _walk(walk: Walk) -> Iterator[str]:
    """Children are entered after their parent and left before it."""
    if len({visit.left for visit in walk.visits}) != len(walk.visits) and not walk.omitted:
        yield "two visits ended as the same"
    for at, visit in enumerate(walk.visits):
        parent = None if visit.parent is None else walk.visits[visit.parent] if visit.parent < at else None
        if (visit.parent is None) != (at == 0) or (at > 0 and parent is None):
            yield f"visit {at} has the parent {visit.parent}"
        elif parent is not None and not walk.raised and not _is_inside(visit, parent):
            yield f"visit {at} ({visit.path}) does not lie within its parent"
        for moved in visit.moved:
            if moved.same_memory and (moved.dtype, moved.device) != (moved.dtype_after, moved.device_after):
                yield f"visit {at}: {moved.name} is another type or elsewhere, in the same memory"


def _is_inside(visit: WalkVisit, parent: WalkVisit) -> bool:
    return visit.path.startswith(parent.path) and visit.left < parent.left


def _surface(index: TraceIndex) -> Iterator[str]:
    """A value for each point of a grid over two different numbers; none with a reason."""
    surface = index.trace.surface
    if surface is None:
        return
    across, up = surface.across, surface.up
    if across is None or up is None:
        if surface.values or not surface.reason:
            yield "has neither axes nor a reason"
        return
    if surface.reason or len(surface.values) != len(across.values) * len(up.values):
        yield f"has {len(surface.values)} values over {len(across.values)} by {len(up.values)} points"
    if (across.tensor, across.place) == (up.tensor, up.place):
        yield "has the same number on both axes"
    if not 0 <= surface.fitting <= surface.compared:
        yield f"fits {surface.fitting} of {surface.compared} passes"
    yield from (what for axis in (across, up) for what in _axis(axis, index))


def _axis(axis: SurfaceAxis, index: TraceIndex) -> Iterator[str]:
    if axis.tensor not in index.tensors:
        return  # another law says so
    shape = index.tensors[axis.tensor].shape
    if len(axis.place) != len(shape) or any(not 0 <= at < size for at, size in zip(axis.place, shape, strict=False)):
        yield f"has an axis at {axis.place} of {shape}"
    if any(a >= b for a, b in pairwise(axis.values)):
        yield "has an axis that does not ascend"


def _calls(trace: Trace) -> Iterator[str]:
    """Each call lies within its parent, each statement within its call; no moment is used twice."""
    by_id: dict[str, PythonCall] = {}
    moments: list[int] = []
    for call in trace.python_calls:
        parent = None if call.parent is None else by_id.get(call.parent)
        if call.parent is not None and (parent is None or not _within(call.at, call.left, parent.at, parent.left)):
            yield f"{call.id} does not lie within {call.parent}"
        if call.left and (call.returned is None) != bool(call.raised):
            yield f"{call.id} returned {call.returned} and raised {call.raised or 'nothing'}"
        moments += [call.at, *([call.left] if call.left else [])]
        for statement in call.statements:
            moments += [statement.at, *([statement.done] if statement.done else [])]
            if not _within(statement.at, statement.done, call.at, call.left):
                yield f"line {statement.line} at {statement.at} does not lie within {call.id}"
        by_id[call.id] = call
    if len(by_id) != len(trace.python_calls):
        yield "two calls have the same id"
    if len(set(moments)) != len(moments):
        yield "two things happened in calls at the same moment"


def _within(at: int, done: int, begin: int, end: int) -> bool:
    """Whether one stretch lies in another; the end 0 is not known."""
    return begin < at and (not done or at < done) and (not end or (at < end and done < end))
