"""The lines that wrote into shared memory past PyTorch: through NumPy, they are noticed only at the next op, and read off the code.

Statements that follow each other in one block are told together. In loops, conditions and functions those count that were run and may
have come between; when one is left it is the line, when a few are left they are told as possible ones."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from engine.derive.arrays import Arrays, cell, standing_at
from engine.derive.side_facts import SideFacts
from engine.program.source import source_of
from engine.trace import Change, Span, Step, Tensor, Trace, Update

MOST_PLACES = 4


class _Found(NamedTuple):
    """Where a write was made, or may have been made."""

    spans: tuple[Span, ...]
    step: int | None = None
    """The step before which it came, when it was noticed later than that."""


def with_lines_outside(trace: Trace, told: SideFacts) -> tuple[Trace, SideFacts]:
    """The trace, its writes past PyTorch with their lines, and where those are known before the steps that came after them."""
    if not any(one.kind == "outside" and one.span is None for one in trace.updates):
        return trace, told
    found = dict(_Search(trace, Arrays(source_of(trace.program.code), told.lines_not_run)).found())
    if not found:
        return trace, told
    timeline = [_placed_step(step, found) for step in trace.timeline]
    for update, one in found.items():
        if one.step is not None:
            now = next(at for at, step in enumerate(timeline) if step.kind == "update" and step.update == update)
            timeline.insert(one.step, timeline.pop(now))
            told = _later(told, one.step, now)
    updates = tuple(_placed(one, found) for one in trace.updates)
    return msgspec.structs.replace(trace, updates=updates, timeline=tuple(timeline)), told


def _later(told: SideFacts, since: int, until: int) -> SideFacts:
    """What was told with the number of steps by then, after a step was moved forward."""

    def moved(steps: int) -> int:
        return steps + 1 if since < steps <= until else steps

    return replace(
        told,
        gone=[(moved(steps), gone) for steps, gone in told.gone],
        held=[(moved(steps), holder, held) for steps, holder, held in told.held],
    )


def _placed(update: Update, found: dict[str, _Found]) -> Update:
    one = found.get(update.id)
    if one is None:
        return update
    if len(one.spans) == 1:
        return msgspec.structs.replace(update, span=one.spans[0])
    return msgspec.structs.replace(update, perhaps=one.spans)


def _placed_step(step: Step, found: dict[str, _Found]) -> Step:
    one = found.get(step.update or "") if step.kind == "update" else None
    return step if one is None or len(one.spans) > 1 else msgspec.structs.replace(step, span=one.spans[0])


@dataclass
class _Seen:
    """When a state of a tensor was last seen as it was."""

    line: int
    step: int


class _Search:
    def __init__(self, trace: Trace, code: Arrays) -> None:
        self.trace = trace
        self.code = code
        self.tensors = {one.id: one for one in trace.tensors}

    def found(self) -> Iterator[tuple[str, _Found]]:
        updates = {one.id: one for one in self.trace.updates}
        ops = {op.id: op for op in self.trace.ops}
        following = _following(self.trace.timeline)
        seen: dict[str, _Seen] = {}
        for number, step in enumerate(self.trace.timeline):
            op = ops.get(step.op) if step.kind == "op" and step.op is not None else None
            if op is not None and op.span is not None:
                seen.update(dict.fromkeys((*op.inputs, *op.outputs), _Seen(op.span.end_line, number)))
            update = updates.get(step.update) if step.update is not None else None
            if update is None or update.kind != "outside" or update.span is not None or not update.changes:
                continue
            change = update.changes[0]
            since, after = seen.get(change.before or ""), following[number]
            if since is not None:
                one = self._found(change, since, number, after)
                if one is not None:
                    yield update.id, one
            if change.after is not None and (after is not None or since is not None):
                seen[change.after] = _Seen(after if after is not None else since.line if since else 0, number)

    def _found(self, change: Change, since: _Seen, now: int, after: int | None) -> _Found | None:
        possible = self._explaining(change, self.code.possible(since.line, after))
        straight = self.code.straight(since.line, after)
        if straight is not None:
            first = [one for one in possible if straight.line <= one.lineno <= straight.end_line]
            return _Found((straight,), self._step_of(first[-1], since, now) if first else None)
        if not possible or len(possible) > MOST_PLACES:
            return None
        spans = tuple(self.code.source.span(one) for one in sorted(possible, key=lambda one: one.lineno))
        return _Found(spans, self._step_of(possible[0], since, now) if len(possible) == 1 else None)

    def _explaining(self, change: Change, possible: list[ast.stmt]) -> list[ast.stmt]:
        """Without those that write only a cell that has not changed; all when that leaves none."""
        before, after = self.tensors.get(change.before or ""), self.tensors.get(change.after or "")
        changed = _changed(before, after)
        if changed is None or after is None:
            return possible
        size = after.shape[0]
        cells = [(one, cell(one)) for one in possible]
        return [one for one, at in cells if at is None or at % size in changed] or possible

    def _step_of(self, write: ast.stmt, since: _Seen, now: int) -> int | None:
        """The first step that ran after a statement had, before its effect was noticed; none when a loop may have run it several times."""
        block = self.code.source.block(write)
        place = standing_at(block, write.lineno) or 0
        before = standing_at(block, since.line)
        waits = before is not None and before >= place  # for the next turn
        found, last = None, before if before is not None else -1
        for number in range(since.step + 1, now):
            span = self.trace.timeline[number].span
            at = standing_at(block, span.line) if span is not None else None
            if at is None:
                continue
            if at < last:
                if not waits:
                    return None
                waits = False
            if found is None and not waits and at > place:
                found = number
            last = at
        return found


def _changed(before: Tensor | None, after: Tensor | None) -> set[int] | None:
    """The cells of a row of numbers that hold another one; None when they are not known."""
    if before is None or after is None or before.data is None or after.data is None or len(after.shape) != 1:
        return None
    return {at for at, (one, other) in enumerate(zip(before.data, after.data, strict=False)) if one != other}


def _following(timeline: Sequence[Step]) -> list[int | None]:
    """For each step the line of the next one that has any."""
    lines: list[int | None] = []
    line: int | None = None
    for step in reversed(timeline):
        lines.append(line)
        line = line if step.span is None else step.span.line
    return lines[::-1]
