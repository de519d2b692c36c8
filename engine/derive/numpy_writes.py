"""The lines of writes into shared memory past PyTorch, such as through a NumPy array.

They are noticed only at the next op that uses the tensor, and read off the code: where the statements that ran since it
was last seen stand in one block, those that write into an array. What was written in a loop, a condition or a function
has no line."""

import ast
import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import msgspec

from engine.derive.arrays import lent
from engine.derive.side_facts import SideFacts
from engine.program.names import called, keyword
from engine.program.source import Source, source_of
from engine.trace import Span, Step, Trace

_WRITES = frozenset(("fill", "sort", "put", "itemset", "partition", "byteswap", "setfield"))
_INTO_FIRST = frozenset(("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"))


def with_lines_outside(trace: Trace, facts: SideFacts) -> Trace:
    """The trace, its writes past PyTorch with their lines."""
    if not any(update.kind == "outside" and update.span is None for update in trace.updates):
        return trace
    found = _found(trace, _ArrayWrites(source_of(trace.program.code), facts))
    if not found:
        return trace
    updates = tuple(
        msgspec.structs.replace(update, span=found[update.id]) if update.id in found else update
        for update in trace.updates
    )
    timeline = tuple(
        msgspec.structs.replace(step, span=found[step.update]) if step.update in found else step
        for step in trace.timeline
    )
    return msgspec.structs.replace(trace, updates=updates, timeline=timeline)


def _found(trace: Trace, writes: "_ArrayWrites") -> dict[str | None, Span]:
    """Where updates were made, by their ids."""
    updates = {update.id: update for update in trace.updates}
    ops = {op.id: op for op in trace.ops}
    lines_after = _lines_after(trace.timeline)
    found: dict[str | None, Span] = {}
    seen: dict[str, int] = {}
    """Line at which each state of a tensor was last seen as it was."""
    for number, step in enumerate(trace.timeline):
        op = ops.get(step.op or "") if step.kind == "op" else None
        if op is not None and op.span is not None:
            seen.update(dict.fromkeys((*op.inputs, *op.outputs), op.span.end_line))
        update = updates.get(step.update or "")
        if update is None or update.kind != "outside" or update.span is not None or not update.changes:
            continue
        change, until = update.changes[0], lines_after[number]
        since = seen.get(change.before or "")
        if since is not None and (span := writes.between(since, until)) is not None:
            found[update.id] = span
        line = until if until is not None else since
        if change.after is not None and line is not None:
            seen[change.after] = line
    return found


def _lines_after(timeline: Sequence[Step]) -> list[int | None]:
    """For each step the line of the next one that has any."""
    lines: list[int | None] = []
    line: int | None = None
    for step in reversed(timeline):
        lines.append(line)
        line = line if step.span is None else step.span.line
    return lines[::-1]


class _Block(NamedTuple):
    statements: Sequence[ast.stmt]
    writes: Sequence[int]
    """Places of those that write."""
    doubtful: Sequence[int]
    """Places of those in which others write, perhaps or often: loops, conditions."""


class _ArrayWrites:
    """The statements of a program that write into shared arrays, found by the lines before and after them."""

    def __init__(self, source: Source, facts: SideFacts) -> None:
        self._source = source
        self._shared = _shared(source, facts)
        writing = {
            statement
            for block in source.blocks
            for statement in block
            if statement.lineno not in facts.lines_not_run and self._writes(statement)
        }
        around = {node for statement in writing for node in source.around(statement)}
        self._blocks = [_Block(block, _places(block, writing), _places(block, around)) for block in source.blocks]
        self._standing: dict[int, dict[int, int]] = defaultdict(dict)
        """By line and block, the place of the statement that the line belongs to."""
        for number, block in enumerate(source.blocks):
            for place, statement in enumerate(block):
                for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
                    self._standing[line].setdefault(number, place)

    def between(self, since: int, until: int | None) -> Span | None:
        """The writes after one line and before another of the same block, when nothing else there may have written."""
        for number, first in self._standing.get(since, {}).items():
            statements, writes, doubtful = self._blocks[number]
            end = len(statements) if until is None else self._standing.get(until, {}).get(number)
            if end is None:
                continue
            begin = first if _calls_numpy(statements[first]) else first + 1
            places = writes[bisect_left(writes, begin) : bisect_left(writes, end)]
            if places and bisect_right(doubtful, first) == bisect_left(doubtful, end):
                return self._source.span_between(statements[places[0]], statements[places[-1]])
        return None

    def _writes(self, statement: ast.stmt) -> bool:
        """Whether it writes into an array that shares memory."""
        match statement:
            case ast.Assign(targets=targets):
                return any(isinstance(target, ast.Subscript) and self._is_shared(target.value) for target in targets)
            case ast.AugAssign(target=target):
                return self._is_shared(target.value if isinstance(target, ast.Subscript) else target)
            case ast.Expr(value=ast.Call() as call):
                return self._call_writes(call)
        return False

    def _call_writes(self, call: ast.Call) -> bool:
        if (out := keyword(call, "out")) is not None and self._is_shared(out.value):
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        into_first = call.func.attr in _INTO_FIRST and bool(call.args) and self._is_shared(call.args[0])
        return into_first or (call.func.attr in _WRITES and self._is_shared(call.func.value))

    def _is_shared(self, node: ast.expr) -> bool:
        """Whether it names, or lends, memory that a tensor lies in."""
        if isinstance(node, ast.Call):
            return called(node) == "numpy"
        return isinstance(node, ast.Name) and node.lineno < self._shared.get(node.id, 0)


def _shared(source: Source, facts: SideFacts) -> Mapping[str, float]:
    """For each name of an array the line up to which it shares memory: of those at the end the worker knows."""
    until: dict[str, float] = {}
    for lending in lent(source, facts.lines_not_run):
        ended = lending.ended.lineno if lending.ended is not None else math.inf
        until[lending.name] = max(until.get(lending.name, 0), ended)
    return until | dict.fromkeys((name for name, _ in facts.arrays), math.inf)


def _places(block: Sequence[ast.stmt], wanted: Collection[ast.AST]) -> list[int]:
    return [place for place, statement in enumerate(block) if statement in wanted]


def _calls_numpy(statement: ast.stmt) -> bool:
    """Whether it lends memory itself, before it may write into it."""
    return any(isinstance(node, ast.Call) and called(node) == "numpy" for node in ast.walk(statement))
