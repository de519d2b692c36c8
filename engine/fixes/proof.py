"""What an edited program's run says otherwise: the evidence that a fix mends."""

import math
from collections.abc import Iterator

from engine.compare import Comparison, Named
from engine.fixes.types import Shift
from engine.trace import Finding, Trace
from engine.trace_index import TraceIndex

MOST = 4
_CHANGED = ("differs", "shape", "dtype")
_LESS = 0.9
"""A share of the memory that is worth telling of."""


def proof_of(before: Trace, finding: Finding, after: Trace, told: Comparison) -> tuple[Shift, ...]:
    """What reads differently, the most telling first: of the finding's own tensors, of gradients, of the rest."""
    here, there = TraceIndex(before), TraceIndex(after)
    concerned = {here.identity(tensor) for tensor in finding.tensors}
    rows = sorted(told.tensors, key=lambda row: here.identity(row.here or "") not in concerned)
    own = [row for row in rows if here.identity(row.here or "") in concerned]
    found = [
        *_gradients(rows, here, there),
        *_losses(told),
        *_values(own, here, there),
        *_printed(told),
    ]
    found = found or [
        *_plain(told),
        *_values(rows, here, there),
        *_first_value(told, here, there),
        *_memory(before, after),
    ]
    return tuple({(shift.what, shift.name): shift for shift in reversed(found)}.values())[::-1][:MOST]


def _gradients(rows: list[Named], here: TraceIndex, there: TraceIndex) -> Iterator[Shift]:
    for row in rows:
        appeared = row.here is not None and row.gradient_here is None and row.gradient_there is not None
        if appeared or (row.gradient is not None and row.gradient.verdict in _CHANGED):
            before, after = here.tensors.get(row.gradient_here or ""), there.tensors.get(row.gradient_there or "")
            yield Shift(what="gradient", name=row.name, before=before, after=after)


def _values(rows: list[Named], here: TraceIndex, there: TraceIndex) -> Iterator[Shift]:
    for row in rows:
        is_other = row.value is not None and row.value.verdict in _CHANGED
        if is_other and not _is_drawn_again(row.here, row.there, here, there):
            before, after = here.tensors.get(row.here or ""), there.tensors.get(row.there or "")
            yield Shift(what="value", name=row.name, before=before, after=after)


def _plain(told: Comparison) -> Iterator[Shift]:
    for row in told.plain:
        if row.here is not None and row.there is not None:
            yield Shift(what="value", name=row.name, before=row.here, after=row.there)


def _first_value(told: Comparison, here: TraceIndex, there: TraceIndex) -> Iterator[Shift]:
    """The first result that differs, where it has a name: what else a function's own tensors are shown by."""
    split = told.value
    if split is None or _is_drawn_again(split.tensor_here, split.tensor_there, here, there):
        return
    if split.tensor_here is not None and (name := here.name(split.tensor_here)):
        before, after = here.tensors[split.tensor_here], there.tensors.get(split.tensor_there or "")
        yield Shift(what="value", name=name, before=before, after=after)


def _is_drawn_again(a: str | None, b: str | None, here: TraceIndex, there: TraceIndex) -> bool:
    """Whether the same call made both out of nothing: it drew other numbers, as others were drawn before it."""
    one, other = here.maker.get(a or ""), there.maker.get(b or "")
    if one is None or other is None or one.inputs or other.inputs:
        return False
    return (one.name, one.arguments) == (other.name, other.arguments)


def _losses(told: Comparison) -> Iterator[Shift]:
    before, after = told.here.loss, told.there.loss
    if before is None or after is None:
        return
    if float(after) < float(before) or (math.isnan(float(before)) and not math.isnan(float(after))):
        root = told.here.root or ""
        yield Shift(what="loss", name=root if root.isidentifier() else "", before=before, after=after)


def _memory(before: Trace, after: Trace) -> Iterator[Shift]:
    most = [max((point.activations for point in trace.memory), default=0) for trace in (before, after)]
    if most[1] < _LESS * most[0]:
        yield Shift(what="memory", before=float(most[0]), after=float(most[1]))


def _printed(told: Comparison) -> Iterator[Shift]:
    if told.printed is not None:
        yield Shift(what="printed", name=str(told.printed.line), before=told.printed.here, after=told.printed.there)
