"""Which names of a program stand for NumPy arrays that share memory with tensors, and which statements write into them."""

import ast
from collections.abc import Collection, Iterator, Sequence

from engine.trace import Span

_SHARES = frozenset(("from_numpy", "as_tensor", "asarray", "frombuffer"))
_LENDS = frozenset(("numpy", "asarray"))
_SEES = frozenset(("reshape", "view", "ravel", "transpose", "squeeze"))
"""Methods of arrays that give another view of the same memory."""
_WRITES = frozenset(("fill", "sort", "put", "itemset", "partition", "byteswap", "setfield"))
_INTO_FIRST = frozenset(("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"))
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Arrays:
    """The statements of a program, by the block they stand in."""

    def __init__(self, tree: ast.Module, code: str, lines_not_run: Collection[int] = ()) -> None:
        self.lines = code.splitlines()
        self.not_run = frozenset(lines_not_run)
        self.above = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)}
        self.shared = sorted(_shared(tree, self.functions))
        """Line, name, and whether the name's memory is shared from there on."""
        self.blocks = [block for node in ast.walk(tree) for block in _blocks(node)]
        self.statements = [one for block in self.blocks for one in block if one.lineno not in self.not_run]

    def straight(self, since: int, until: int | None) -> Span | None:
        """Where statements of one block between two lines write, from the first to the last of them."""
        for block in self.blocks:
            first = standing_at(block, since)
            last = len(block) if until is None else standing_at(block, until)
            if first is None or last is None or first >= last:
                continue
            writes = [one for one in block[first + 1 : last] if self.writes(one)]
            if writes and not any(self._may_write(one) for one in block[first + 1 : last]):
                return self.span(writes[0], writes[-1])
        return None

    def possible(self, since: int, until: int | None) -> list[ast.stmt]:
        """The statements that may have written after one line had run and before another did, loops and calls included."""
        found: list[ast.stmt] = []
        for one in self.statements:
            if not self._may_run_between(one, since, until):
                continue
            if self.writes(one):
                found.append(one)
            elif (called := self._function_called(one)) is not None:
                inner = (each for each in ast.walk(called) if isinstance(each, ast.stmt) and self.writes(each))
                found += [each for each in inner if each.lineno not in self.not_run and each not in found]
        return found

    def _may_run_between(self, one: ast.stmt, since: int, until: int | None) -> bool:
        here = self._function_of(one)
        if here is not None and not _holds(here, since) and (until is None or not _holds(here, until)):
            return False
        if here is None and any(_holds(each, since) for each in self.functions.values()):
            return until is None or one.lineno < until
        lends = any(isinstance(each, ast.Call) and _called(each) == "numpy" for each in ast.walk(one))
        if since < one.lineno + (lends and _holds(one, since)) and (until is None or one.lineno < until):
            return True
        for loop in self._loops(one):
            if _holds(loop, since) and (until is None or not _holds(loop, until)):
                return True
            if _holds(loop, since) and until is not None and since >= until:
                return one.lineno > since or one.lineno < until
        return False

    def _function_called(self, statement: ast.stmt) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function of the program that a statement gives a shared array to."""
        for node in ast.walk(statement) if not any(_blocks(statement)) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.functions:
                given = (*node.args, *(word.value for word in node.keywords))
                if any(self.is_array(one) for one in given):
                    return self.functions[node.func.id]
        return None

    def _function_of(self, node: ast.AST) -> ast.AST | None:
        return next((one for one in self._around(node) if isinstance(one, _FUNCTIONS)), None)

    def _loops(self, node: ast.AST) -> list[ast.stmt]:
        return [one for one in self._around(node) if isinstance(one, _LOOPS)]

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.above:
            node = self.above[node]
            yield node

    def block_of(self, statement: ast.stmt) -> Sequence[ast.stmt]:
        """The statements that run one after the other with this one."""
        return next(block for block in self.blocks if statement in block)

    def span(self, first: ast.stmt, last: ast.stmt) -> Span:
        """From one statement to another."""
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
            self.writes(one) for one in ast.walk(statement) if isinstance(one, ast.stmt) and one is not statement
        )

    def writes(self, statement: ast.stmt) -> bool:
        """Whether a statement writes into an array that shares memory."""
        match statement:
            case ast.Assign(targets=targets):
                return any(isinstance(one, ast.Subscript) and self.is_array(one.value) for one in targets)
            case ast.AugAssign(target=target):
                return self.is_array(target.value if isinstance(target, ast.Subscript) else target)
            case ast.Expr(value=ast.Call() as call):
                return self._call_writes(call)
        return False

    def _call_writes(self, call: ast.Call) -> bool:
        if any(one.arg == "out" and self.is_array(one.value) for one in call.keywords):
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        into_first = call.func.attr in _INTO_FIRST and bool(call.args) and self.is_array(call.args[0])
        return into_first or (call.func.attr in _WRITES and self.is_array(call.func.value))

    def is_array(self, node: ast.expr) -> bool:
        """Whether it names, or lends, memory that a tensor lies in."""
        if isinstance(node, ast.Call):
            return _called(node) == "numpy"
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
    return next((place for place, one in enumerate(block) if _holds(one, line)), None)


def _holds(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return first <= line <= last


def _blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block


_Functions = dict[str, ast.FunctionDef] | dict[str, ast.FunctionDef | ast.AsyncFunctionDef]


def _shared(tree: ast.Module, functions: _Functions) -> Iterator[tuple[int, str, bool]]:
    """Where names come to stand for memory that tensors share, and where they cease to."""
    known: set[str] = set()
    in_order = (node for node in ast.walk(tree) if isinstance(node, ast.Call | ast.Assign))
    for node in sorted(in_order, key=lambda node: (node.lineno, isinstance(node, ast.Assign))):
        if isinstance(node, ast.Call):
            given = [one.id for one in node.args if isinstance(one, ast.Name)]
            if _called(node) in _SHARES:
                known.update(given[:1])
                yield from ((node.lineno, name, True) for name in given[:1])
            elif isinstance(node.func, ast.Name) and node.func.id in functions:
                yield from _received(node, functions[node.func.id], known)
            continue
        lends = _lends(node.value, known)
        for one in node.targets:
            if isinstance(one, ast.Name):
                (known.add if lends else known.discard)(one.id)
                yield node.lineno, one.id, lends


def _received(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, known: set[str]
) -> Iterator[tuple[int, str, bool]]:
    """The parameters under which a function gets a shared array."""
    for given, parameter in zip(call.args, function.args.args, strict=False):
        if isinstance(given, ast.Name) and given.id in known:
            yield function.lineno, parameter.arg, True


def _lends(value: ast.expr, known: set[str]) -> bool:
    """Whether what is assigned lies in memory that a tensor lies in."""
    match value:
        case ast.Call() if _called(value) in _LENDS:
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


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def lent(tree: ast.Module) -> Iterator[tuple[str, ast.Call, ast.stmt]]:
    """Names of arrays, the call of PyTorch's that made them share memory with a tensor, and the statement it is in."""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Assign):
            for call in ast.walk(statement.value):
                if isinstance(call, ast.Call) and _called(call) in _SHARES:
                    yield from ((one.id, call, statement) for one in call.args[:1] if isinstance(one, ast.Name))
            if isinstance(statement.value, ast.Call) and _called(statement.value) == "numpy":
                targets = (one.id for one in statement.targets if isinstance(one, ast.Name))
                yield from ((name, statement.value, statement) for name in targets)
