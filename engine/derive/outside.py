"""The lines that wrote into shared memory past PyTorch: through NumPy, they are noticed only at the next op, and read off the code.

A write is found where the code between runs straight on: statements of one block, after the last that PyTorch saw the memory
unchanged at, and before the one it was noticed at."""

import ast
from collections.abc import Iterator, Sequence

import msgspec

from engine.trace import Span, Step, Trace, Update

_SHARES = frozenset(("from_numpy", "as_tensor", "asarray", "frombuffer"))
_LENDS = frozenset(("numpy", "asarray"))
_WRITES = frozenset(("fill", "sort", "put", "itemset", "partition", "byteswap", "setfield"))
_INTO_FIRST = frozenset(("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"))


def with_lines_outside(trace: Trace) -> Trace:
    """The trace, its writes past PyTorch with their lines where the code says which they were."""
    if not any(one.kind == "outside" and one.span is None for one in trace.updates):
        return trace
    try:
        tree = ast.parse(trace.program.code)
    except (SyntaxError, ValueError, RecursionError):
        return trace
    found = dict(_lines(trace, _Code(tree, trace.program.code)))
    if not found:
        return trace
    return msgspec.structs.replace(
        trace,
        updates=tuple(_placed(one, found) for one in trace.updates),
        timeline=tuple(_placed_step(step, found) for step in trace.timeline),
    )


def _placed(update: Update, found: dict[str, Span]) -> Update:
    return msgspec.structs.replace(update, span=found[update.id]) if update.id in found else update


def _placed_step(step: Step, found: dict[str, Span]) -> Step:
    if step.kind == "update" and step.update is not None and step.update in found:
        return msgspec.structs.replace(step, span=found[step.update])
    return step


def _lines(trace: Trace, code: "_Code") -> Iterator[tuple[str, Span]]:
    updates = {one.id: one for one in trace.updates}
    seen: dict[str, int] = {}
    ops = {op.id: op for op in trace.ops}
    following = _following(trace.timeline)
    for number, step in enumerate(trace.timeline):
        op = ops.get(step.op) if step.kind == "op" and step.op is not None else None
        if op is not None and op.span is not None:
            seen.update(dict.fromkeys((*op.inputs, *op.outputs), op.span.end_line))
        update = updates.get(step.update) if step.update is not None else None
        if update is None or update.kind != "outside" or update.span is not None or not update.changes:
            continue
        before = update.changes[0].before
        since = seen.get(before) if before is not None else None
        after = following[number]
        span = code.written(since, after) if since is not None else None
        if span is not None:
            yield update.id, span
        if update.changes[0].after is not None and after is not None:
            seen[update.changes[0].after] = after


def _following(timeline: Sequence[Step]) -> list[int | None]:
    """For each step the line of the next one that has any."""
    lines: list[int | None] = []
    line: int | None = None
    for step in reversed(timeline):
        lines.append(line)
        line = line if step.span is None else step.span.line
    return lines[::-1]


class _Code:
    """The statements of a program, by the block they stand in."""

    def __init__(self, tree: ast.Module, code: str) -> None:
        self.lines = code.splitlines()
        self.shared = sorted(_shared(tree))
        """Line, name, and whether the name's memory is shared from there on."""
        self.blocks = [block for node in ast.walk(tree) for block in _blocks(node)]

    def written(self, since: int, until: int | None) -> Span | None:
        """Where a statement between two lines writes into an array that shares memory, from the first to the last of them."""
        for block in self.blocks:
            first = _standing_at(block, since)
            last = len(block) if until is None else _standing_at(block, until)
            if first is None or last is None or first >= last:
                continue
            writes = [one for one in block[first + 1 : last] if self._writes(one)]
            if writes and not any(self._may_write(one) for one in block[first + 1 : last]):
                return self._span(writes[0], writes[-1])
        return None

    def _span(self, first: ast.stmt, last: ast.stmt) -> Span:
        end_line = last.end_lineno or last.lineno
        return Span(
            line=first.lineno, end_line=end_line, column=self._points(first.lineno, first.col_offset),
            end_column=self._points(end_line, last.end_col_offset or 0),
        )  # fmt: skip

    def _points(self, line: int, offset: int) -> int:
        """Code points before a byte of a line."""
        return len(self.lines[line - 1].encode()[:offset].decode(errors="ignore"))

    def _may_write(self, statement: ast.stmt) -> bool:
        """Whether a compound statement writes, perhaps, or often."""
        return any(_blocks(statement)) and any(
            self._writes(one) for one in ast.walk(statement) if isinstance(one, ast.stmt) and one is not statement
        )

    def _writes(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign(targets=targets):
                return any(isinstance(one, ast.Subscript) and self._is_array(one.value) for one in targets)
            case ast.AugAssign(target=target):
                return self._is_array(target.value if isinstance(target, ast.Subscript) else target)
            case ast.Expr(value=ast.Call() as call):
                return self._call_writes(call)
        return False

    def _call_writes(self, call: ast.Call) -> bool:
        if any(one.arg == "out" and self._is_array(one.value) for one in call.keywords):
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        into_first = call.func.attr in _INTO_FIRST and bool(call.args) and self._is_array(call.args[0])
        return into_first or (call.func.attr in _WRITES and self._is_array(call.func.value))

    def _is_array(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name):
            return False
        return next(
            (shares for line, name, shares in reversed(self.shared) if name == node.id and line <= node.lineno), False
        )


def _blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block


def _standing_at(block: Sequence[ast.stmt], line: int) -> int | None:
    return next(
        (place for place, one in enumerate(block) if one.lineno <= line <= (one.end_lineno or one.lineno)), None
    )


def _shared(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """Where names come to stand for memory that tensors share, and where they cease to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in _SHARES:
            yield from ((node.lineno, one.id, True) for one in node.args[:1] if isinstance(one, ast.Name))
        elif isinstance(node, ast.Assign):
            lends = isinstance(node.value, ast.Call) and _called(node.value) in _LENDS
            yield from ((node.lineno, one.id, lends) for one in node.targets if isinstance(one, ast.Name))


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""
