"""Which names of a program stand for NumPy arrays that share memory with tensors, and what writes into them."""

import ast
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from engine.program.names import called, keyword, plain_names
from engine.program.source import Source
from engine.trace import Span

_SHARES = frozenset(("from_numpy", "as_tensor", "asarray", "frombuffer"))
_LENDS = frozenset(("numpy", "asarray"))
_SEES = frozenset(("reshape", "view", "ravel", "transpose", "squeeze"))
"""Methods of arrays that give another view of the same memory."""
_WRITES = frozenset(("fill", "sort", "put", "itemset", "partition", "byteswap", "setfield"))
_INTO_FIRST = frozenset(("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"))


class Stretch(NamedTuple):
    """Statements of one block that write, from the first to the last of them."""

    block: int
    last: int
    """Place of the last one in the block."""
    span: Span


class _Block(NamedTuple):
    statements: Sequence[ast.stmt]
    writes: Sequence[int]
    """Places of those that write."""
    doubtful: Sequence[int]
    """Places of those in which others write, perhaps or often: loops, conditions."""


class ArrayWrites:
    """The statements of a program that write into such arrays, found by the lines before and after them."""

    def __init__(self, source: Source, lines_not_run: Collection[int] = ()) -> None:
        self._source = source
        self._shared = _shared(source)
        writing = {
            statement
            for block in source.blocks
            for statement in block
            if statement.lineno not in lines_not_run and self._writes(statement)
        }
        around = {node for statement in writing for node in source.around(statement)}
        self._blocks = [_Block(block, _places(block, writing), _places(block, around)) for block in source.blocks]
        self._standing: dict[int, dict[int, int]] = defaultdict(dict)
        """By line and block, the place of the statement that the line belongs to."""
        for number, block in enumerate(source.blocks):
            for place, statement in enumerate(block):
                for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
                    self._standing[line].setdefault(number, place)

    def place(self, line: int, block: int) -> int | None:
        """Which statement of a block a line belongs to."""
        return self._standing.get(line, {}).get(block)

    def between(self, since: int, until: int | None) -> Stretch | None:
        """The writes after one line and before another of the same block, when nothing else there may have written."""
        for number, first in self._standing.get(since, {}).items():
            statements, writes, doubtful = self._blocks[number]
            end = len(statements) if until is None else self.place(until, number)
            if end is None:
                continue
            begin = first if _calls_numpy(statements[first]) else first + 1
            places = writes[bisect_left(writes, begin) : bisect_left(writes, end)]
            if places and bisect_right(doubtful, first) == bisect_left(doubtful, end):
                span = self._source.span_between(statements[places[0]], statements[places[-1]])
                return Stretch(number, places[-1], span)
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
        if not isinstance(node, ast.Name):
            return False
        known = self._shared.get(node.id, ())
        at = bisect_right(known, (node.lineno, True))
        return at > 0 and known[at - 1][1]


def _places(block: Sequence[ast.stmt], wanted: Collection[ast.AST]) -> list[int]:
    return [place for place, statement in enumerate(block) if statement in wanted]


def _calls_numpy(statement: ast.stmt) -> bool:
    """Whether it lends memory itself, before it may write into it."""
    return any(isinstance(node, ast.Call) and called(node) == "numpy" for node in ast.walk(statement))


def _shared(source: Source) -> Mapping[str, Sequence[tuple[int, bool]]]:
    """For each name the lines from which on its memory is shared with a tensor, or is no longer."""
    lines: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    known: set[str] = set()
    in_order = (node for node in source.nodes if isinstance(node, ast.Call | ast.Assign))
    for node in sorted(in_order, key=lambda node: (node.lineno, isinstance(node, ast.Assign))):
        if isinstance(node, ast.Call):
            given = plain_names(node.args)[:1]
            if called(node) in _SHARES:
                known.update(given)
                for name in given:
                    lines[name].append((node.lineno, True))
            continue
        lends = _lends(node.value, known)
        for name in plain_names(node.targets):
            (known.add if lends else known.discard)(name)
            lines[name].append((node.lineno, lends))
    return {name: sorted(each) for name, each in lines.items()}


def _lends(value: ast.expr, known: set[str]) -> bool:
    """Whether what is assigned lies in memory that a tensor lies in."""
    match value:
        case ast.Call() if called(value) in _LENDS:
            return True
        case ast.Name(id=name):
            return name in known
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice() | ast.Tuple()):
            return name in known
        case ast.Attribute(value=ast.Name(id=name), attr="T"):
            return name in known
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _SEES:
            return name in known
    return False


def lent(source: Source) -> Iterator[tuple[str, ast.Call, ast.stmt]]:
    """Names of arrays, the call of PyTorch's that made them share memory with a tensor, and the statement it is in."""
    for statement in source.nodes:
        if isinstance(statement, ast.Assign):
            for call in ast.walk(statement.value):
                if isinstance(call, ast.Call) and called(call) in _SHARES:
                    yield from ((name, call, statement) for name in plain_names(call.args[:1]))
            if isinstance(statement.value, ast.Call) and called(statement.value) == "numpy":
                yield from ((name, statement.value, statement) for name in plain_names(statement.targets))
