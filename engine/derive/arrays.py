"""Which names of a program stand for NumPy arrays that share memory with tensors, and which statements write into them."""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from engine.program.names import called, keyword, plain_names
from engine.program.source import Source
from engine.program.tree import Function, blocks_of, covers
from engine.trace import Span

_SHARES = frozenset(("from_numpy", "as_tensor", "asarray", "frombuffer"))
_LENDS = frozenset(("numpy", "asarray"))
_SEES = frozenset(("reshape", "view", "ravel", "transpose", "squeeze"))
"""Methods of arrays that give another view of the same memory."""
_WRITES = frozenset(("fill", "sort", "put", "itemset", "partition", "byteswap", "setfield"))
_INTO_FIRST = frozenset(("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"))


class Arrays:
    """The statements of a program that write into such arrays."""

    def __init__(self, source: Source, lines_not_run: Collection[int] = ()) -> None:
        self.source = source
        self.not_run = frozenset(lines_not_run)
        self.functions = {function.name: function for function in source.functions}
        self.shared = sorted(_shared(source, self.functions))
        """Line, name, and whether the name's memory is shared from there on."""
        self.statements = [each for block in source.blocks for each in block if each.lineno not in self.not_run]

    def straight(self, since: int, until: int | None) -> Span | None:
        """Where statements of one block between two lines write, from the first to the last of them."""
        for block in self.source.blocks:
            first = standing_at(block, since)
            last = len(block) if until is None else standing_at(block, until)
            if first is None or last is None or first >= last:
                continue
            between = block[first + 1 : last]
            writes = [statement for statement in between if self.writes(statement)]
            if writes and not any(map(self._may_write, between)):
                return self.source.span_between(writes[0], writes[-1])
        return None

    def possible(self, since: int, until: int | None) -> list[ast.stmt]:
        """The statements that may have written after one line had run and before another did, loops and calls included."""
        found: list[ast.stmt] = []
        for statement in self.statements:
            if not self._may_run_between(statement, since, until):
                continue
            if self.writes(statement):
                found.append(statement)
            elif (function := self._functioncalled(statement)) is not None:
                inner = (each for each in ast.walk(function) if isinstance(each, ast.stmt) and self.writes(each))
                found += [each for each in inner if each.lineno not in self.not_run and each not in found]
        return found

    def _may_run_between(self, statement: ast.stmt, since: int, until: int | None) -> bool:
        function = self.source.function(statement)
        if function is not None and not covers(function, since) and (until is None or not covers(function, until)):
            return False
        if function is None and any(covers(each, since) for each in self.functions.values()):
            return until is None or statement.lineno < until
        lends = any(isinstance(each, ast.Call) and called(each) == "numpy" for each in ast.walk(statement))
        starts = statement.lineno + (lends and covers(statement, since))
        if since < starts and (until is None or statement.lineno < until):
            return True
        for loop in self.source.loops(statement):
            if covers(loop, since) and (until is None or not covers(loop, until)):
                return True
            if covers(loop, since) and until is not None and since >= until:
                return statement.lineno > since or statement.lineno < until
        return False

    def _functioncalled(self, statement: ast.stmt) -> Function | None:
        """The function of the program that a statement gives a shared array to."""
        for node in ast.walk(statement) if not any(blocks_of(statement)) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.functions:
                given = (*node.args, *(word.value for word in node.keywords))
                if any(map(self.is_array, given)):
                    return self.functions[node.func.id]
        return None

    def _may_write(self, statement: ast.stmt) -> bool:
        """Whether a compound statement writes, perhaps, or often."""
        return any(blocks_of(statement)) and any(
            self.writes(inner)
            for inner in ast.walk(statement)
            if isinstance(inner, ast.stmt) and inner is not statement
        )

    def writes(self, statement: ast.stmt) -> bool:
        """Whether a statement writes into an array that shares memory."""
        match statement:
            case ast.Assign(targets=targets):
                return any(isinstance(each, ast.Subscript) and self.is_array(each.value) for each in targets)
            case ast.AugAssign(target=target):
                return self.is_array(target.value if isinstance(target, ast.Subscript) else target)
            case ast.Expr(value=ast.Call() as call):
                return self._call_writes(call)
        return False

    def _call_writes(self, call: ast.Call) -> bool:
        if (out := keyword(call, "out")) is not None and self.is_array(out.value):
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        into_first = call.func.attr in _INTO_FIRST and bool(call.args) and self.is_array(call.args[0])
        return into_first or (call.func.attr in _WRITES and self.is_array(call.func.value))

    def is_array(self, node: ast.expr) -> bool:
        """Whether it names, or lends, memory that a tensor lies in."""
        if isinstance(node, ast.Call):
            return called(node) == "numpy"
        if not isinstance(node, ast.Name):
            return False
        return next(
            (shares for line, name, shares in reversed(self.shared) if name == node.id and line <= node.lineno), False
        )


def cell(statement: ast.stmt) -> int | None:
    """The only cell that a statement writes: 2 of `a[2] = 5`."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    match targets:
        case [ast.Subscript(slice=ast.Constant(value=int() as at))]:
            return at
        case [ast.Subscript(slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as at)))]:
            return -at
    return None


def standing_at(block: Sequence[ast.stmt], line: int) -> int | None:
    """Which statement of a block a line belongs to."""
    return next((place for place, statement in enumerate(block) if covers(statement, line)), None)


def _shared(source: Source, functions: Mapping[str, Function]) -> Iterator[tuple[int, str, bool]]:
    """Where names come to stand for memory that tensors share, and where they cease to."""
    known: set[str] = set()
    in_order = (node for node in source.nodes if isinstance(node, ast.Call | ast.Assign))
    for node in sorted(in_order, key=lambda node: (node.lineno, isinstance(node, ast.Assign))):
        if isinstance(node, ast.Call):
            given = plain_names(node.args)[:1]
            if called(node) in _SHARES:
                known.update(given)
                yield from ((node.lineno, name, True) for name in given)
            elif isinstance(node.func, ast.Name) and node.func.id in functions:
                yield from _received(node, functions[node.func.id], known)
            continue
        lends = _lends(node.value, known)
        for name in plain_names(node.targets):
            (known.add if lends else known.discard)(name)
            yield node.lineno, name, lends


def _received(call: ast.Call, function: Function, known: set[str]) -> Iterator[tuple[int, str, bool]]:
    """The parameters under which a function gets a shared array."""
    for given, parameter in zip(call.args, function.args.args, strict=False):
        if isinstance(given, ast.Name) and given.id in known:
            yield function.lineno, parameter.arg, True


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
