"""The lines of writes into shared memory past PyTorch, such as through a NumPy array.

They are noticed only at the next op that uses the tensor, and read off the code: where the statements that ran since it
was last seen stand in one block, those that write into the array. What was written in a loop, a condition or a function
has no line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import msgspec

from engine.derive.arrays import ArrayWrites, Stretch
from engine.derive.side_facts import SideFacts
from engine.program.source import source_of
from engine.trace import Span, Step, Trace


class _Found(NamedTuple):
    """Where an update was made."""

    span: Span
    noticed: int
    """Its step."""
    step: int
    """The step it comes before: when it was noticed later than made, the first one after its line."""


class _Seen(NamedTuple):
    """When a state of a tensor was last seen as it was."""

    line: int
    step: int


def with_lines_outside(trace: Trace, facts: SideFacts) -> tuple[Trace, SideFacts]:
    """The trace, its writes past PyTorch with their lines and before the steps that came after them."""
    if not any(update.kind == "outside" and update.span is None for update in trace.updates):
        return trace, facts
    found = _found(trace, ArrayWrites(source_of(trace.program.code), frozenset(facts.lines_not_run)))
    if not found:
        return trace, facts
    updates = tuple(
        msgspec.structs.replace(update, span=found[update.id].span) if update.id in found else update
        for update in trace.updates
    )
    timeline = tuple(_reordered(trace.timeline, found))
    return msgspec.structs.replace(trace, updates=updates, timeline=timeline), _counted_anew(facts, trace, found)


def _found(trace: Trace, writes: ArrayWrites) -> dict[str, _Found]:
    """By update."""
    updates = {update.id: update for update in trace.updates}
    ops = {op.id: op for op in trace.ops}
    lines_after = _lines_after(trace.timeline)
    found: dict[str, _Found] = {}
    seen: dict[str, _Seen] = {}
    for number, step in enumerate(trace.timeline):
        op = ops.get(step.op or "") if step.kind == "op" else None
        if op is not None and op.span is not None:
            seen.update(dict.fromkeys((*op.inputs, *op.outputs), _Seen(op.span.end_line, number)))
        update = updates.get(step.update or "")
        if update is None or update.kind != "outside" or update.span is not None or not update.changes:
            continue
        change, until = update.changes[0], lines_after[number]
        since = seen.get(change.before or "")
        if since is not None and (stretch := writes.between(since.line, until)) is not None:
            step_after = _step_after(trace.timeline, since.step, number, stretch, writes)
            found[update.id] = _Found(stretch.span, number, step_after)
        line = until if until is not None else since.line if since is not None else None
        if change.after is not None and line is not None:
            seen[change.after] = _Seen(line, number)
    return found


def _lines_after(timeline: Sequence[Step]) -> list[int | None]:
    """For each step the line of the next one that has any."""
    lines: list[int | None] = []
    line: int | None = None
    for step in reversed(timeline):
        lines.append(line)
        line = line if step.span is None else step.span.line
    return lines[::-1]


def _step_after(timeline: Sequence[Step], since: int, now: int, stretch: Stretch, writes: ArrayWrites) -> int:
    """The first step after a stretch of writes; that at which they were noticed when a loop may have repeated them."""
    last = -1
    for number in range(since + 1, now):
        span = timeline[number].span
        place = writes.place(span.line, stretch.block) if span is not None else None
        if place is None:
            continue
        if place > stretch.last:
            return number
        if place < last:
            return now
        last = place
    return now


def _reordered(timeline: Sequence[Step], found: Mapping[str, _Found]) -> list[Step]:
    """The steps, each write with its line before the first that ran after it."""
    earlier: dict[int, list[Step]] = {}
    for place in found.values():
        step = msgspec.structs.replace(timeline[place.noticed], span=place.span)
        earlier.setdefault(place.step, []).append(step)
    moved = {place.noticed for place in found.values()}
    steps: list[Step] = []
    for number, step in enumerate(timeline):
        steps += earlier.get(number, ())
        if number not in moved:
            steps.append(step)
    return steps


def _counted_anew(facts: SideFacts, trace: Trace, found: Mapping[str, _Found]) -> SideFacts:
    """What was told with the number of steps by then, after steps were moved forward."""
    changes = [0] * (len(trace.timeline) + 2)
    for place in found.values():
        changes[place.step + 1] += 1
        changes[place.noticed + 1] -= 1
    more = list(accumulate(changes))
    return replace(
        facts,
        gone=[(steps + more[steps], gone) for steps, gone in facts.gone],
        held=[(steps + more[steps], holder, held) for steps, holder, held in facts.held],
    )
