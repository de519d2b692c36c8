"""The curve of a run: each call of the engine in a few numbers, kept or not."""

import math
from collections.abc import Iterable, Mapping

from engine.trace import CurvePoint, Pass, Tensor, spoken
from engine.trace_index import TraceIndex

MOST_POINTS = 2_000


def curve(index: TraceIndex, left_out: Iterable[CurvePoint]) -> tuple[CurvePoint, ...]:
    """Points of the passes kept and left out, in order; of more than 2,000 the first, the last and every k-th."""
    points = {point.number: point for point in left_out}
    for pass_ in index.trace.passes:
        point = _point(pass_, index.tensors)
        points[point.number] = point
    in_order = [points[number] for number in sorted(points)]
    apart = -(-len(in_order) // (MOST_POINTS - 1))
    if len(in_order) <= MOST_POINTS:
        return tuple(in_order)
    return (*in_order[:-1:apart], in_order[-1])


def _point(pass_: Pass, tensors: Mapping[str, Tensor]) -> CurvePoint:
    return CurvePoint(
        number=int(pass_.id[1:]),
        pass_id=pass_.id,
        loss=_value(tensors.get(pass_.roots[0].tensor or "")) if pass_.roots else None,
        gradient_norm=_norm([tensors.get(added.delta or "") for added in pass_.accumulations])
        if pass_.kind == "backward" and not pass_.failed
        else None,
        span=pass_.span,
    )


def _value(tensor: Tensor | None) -> float | str | None:
    if tensor is None or tensor.data is None or len(tensor.data) != 1:
        return None
    value = tensor.data[0]
    return value if isinstance(value, str) else float(value)


def _norm(deltas: Iterable[Tensor | None]) -> float | str | None:
    """The norm of all of them together; None when one has no readable contents."""
    square = 0.0
    for delta in deltas:
        if delta is None:
            continue
        norm = norm_of(delta)
        if norm is None:
            return None
        square += norm * norm
    return spoken(math.sqrt(square))


def norm_of(tensor: Tensor) -> float | None:
    """Euclidean norm over all elements, non-finite ones included; None for unreadable contents."""
    if tensor.data is not None:
        return math.sqrt(sum(float(value) ** 2 for value in tensor.data))
    if tensor.summary is None:
        return None
    if tensor.summary.nan:
        return math.nan
    return math.inf if tensor.summary.inf else float(tensor.summary.norm)
