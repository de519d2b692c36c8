"""The user's names for tensors, read from the program's own code: assignments, arguments, targets of loops. Pure."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from engine.syntax import parse
from engine.trace import Argument, Op, Span

_LONGEST = 40

Place = tuple[int, int, int, int]

_Names = tuple[str, tuple[str, ...]]
"""What an expression is called, and each item of a list or tuple; empty for what has no name."""


class _Plan(NamedTuple):
    """Names at one place of the code, the same each time it runs."""

    outputs: tuple[tuple[int, str], ...]
    positions: int
    """How many positional arguments are written."""
    written: tuple[tuple[int, _Names], ...]
    """Of those that have any, by position."""
    keywords: tuple[tuple[str, _Names], ...]


class Source:
    """A program's syntax tree, looked up by the places that ops have."""

    def __init__(self, code: str) -> None:
        self._lines = code.splitlines()
        self._expressions: dict[Place, ast.AST] = {}
        self._targets: dict[Place, ast.expr] = {}
        self._texts: dict[ast.AST, str] = {}
        self._plans: dict[tuple[Span, str, int], _Plan] = {}
        self._counted: dict[int, list[int]] = {}
        tree = parse(code)
        for node in ast.walk(tree) if tree else ():
            self._file(node)

    def _file(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._aim(node.value, node.targets[0])
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._aim(node.value, node.target)
        elif isinstance(node, ast.AugAssign):
            self._expressions[self._place(node)] = node
        if isinstance(node, ast.expr):
            self._expressions.setdefault(self._place(node), node)
        if isinstance(node, ast.Call) and (place := self._from_its_name(node)) is not None:
            self._expressions.setdefault(place, node)

    def _aim(self, value: ast.expr, target: ast.expr) -> None:
        self._targets[self._place(value)] = target
        if isinstance(value, ast.Call) and (place := self._from_its_name(value)) is not None:
            self._targets[place] = target

    def _from_its_name(self, call: ast.Call) -> Place | None:
        """Where Python says that a method call is whose receiver ends on a line before: it begins at the method's name
        (`update_start_location_to_match_attr` in CPython's compiler)."""
        name = call.func
        if not isinstance(name, ast.Attribute) or name.end_lineno in (None, call.lineno):
            return None
        _, line, _, column = self._place(name)
        _, end_line, _, end = self._place(call)
        return line, end_line, column - len(name.attr), end

    def _place(self, node: ast.expr | ast.AugAssign) -> Place:
        end_line = node.end_lineno or node.lineno
        end = node.end_col_offset or 0
        return node.lineno, end_line, self._points(node.lineno, node.col_offset), self._points(end_line, end)

    def _points(self, line: int, offset: int) -> int:
        """Bytes of UTF-8 to code points."""
        points = self._points_of(line)
        return points[min(offset, len(points) - 1)] if points else offset

    def _points_of(self, line: int) -> list[int]:
        """Code points before each byte of a line, counted once; empty for a line in ASCII."""
        if line not in self._counted:
            text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
            starts = [byte & 0xC0 != 0x80 for byte in text.encode()]
            self._counted[line] = [] if text.isascii() else [0, *accumulate(starts)]
        return self._counted[line]

    def names(self, op: Op) -> Iterable[tuple[str, str]]:
        """Tensor id and name: first of what came out, then of what went in."""
        if op.span is None:
            return ()
        key = (op.span, op.name, len(op.outputs))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._plan(op, op.span)
        found = [(op.outputs[at], name) for at, name in plan.outputs]
        if plan.written:
            _add_positional(found, plan, op)
        if plan.keywords:
            found.extend(_by_keyword(plan, op))
        return found

    def _plan(self, op: Op, span: Span) -> "_Plan":
        place = _key(span)
        target = self._targets.get(place)
        expression = self._expressions.get(place)
        outputs = range(len(op.outputs))
        assigned = list(self._assigned(target, outputs)) if target is not None else []
        if isinstance(expression, ast.AugAssign):
            assigned += self._assigned(expression.target, outputs)
        written = [] if expression is None else _written(expression, op.name)
        keywords = expression.keywords if isinstance(expression, ast.Call) else []
        names = [self._names_in(node) for node in written]
        return _Plan(
            tuple(assigned),
            len(names),
            tuple((at, one) for at, one in enumerate(names) if one[0] or any(one[1])),
            tuple((word.arg, self._names_in(word.value)) for word in keywords if word.arg),
        )

    def _assigned(self, target: ast.expr, outputs: Sequence[int]) -> Iterator[tuple[int, str]]:
        if isinstance(target, ast.Tuple | ast.List):
            if not any(isinstance(item, ast.Starred) for item in target.elts):
                for item, tensor in zip(target.elts, outputs, strict=False):
                    yield from self._assigned(item, [tensor])
        elif text := self._text(target):
            if len(outputs) == 1:
                yield outputs[0], text
            else:
                yield from ((tensor, f"{text}[{number}]") for number, tensor in enumerate(outputs))

    def _names_in(self, node: ast.expr) -> "_Names":
        items = node.elts if isinstance(node, ast.List | ast.Tuple) else []
        return self._text(node), tuple(self._text(item) for item in items)

    def _text(self, node: ast.expr) -> str:
        """A name, an attribute or an item with a constant index, as it is written; empty for anything else."""
        known = self._texts.get(node)
        if known is None:
            known = ast.unparse(node) if _is_name(node) else ""
            known = self._texts[node] = known if len(known) <= _LONGEST else ""
        return known


def _add_positional(found: list[tuple[str, str]], plan: _Plan, op: Op) -> None:
    """Positional arguments come before those by keyword."""
    arguments = op.arguments
    if plan.positions <= len(arguments) and not arguments[plan.positions - 1].name:
        for at, names in plan.written:
            argument = arguments[at]
            if argument.tensor is None:
                found += _of_argument(names, argument)
            elif names[0]:
                found.append((argument.tensor, names[0]))


def _by_keyword(plan: _Plan, op: Op) -> Iterator[tuple[str, str]]:
    by_name = {argument.name: argument for argument in op.arguments if argument.name}
    for keyword, names in plan.keywords:
        if keyword in by_name:
            yield from _of_argument(names, by_name[keyword])


def _of_argument(names: _Names, argument: Argument) -> Iterable[tuple[str, str]]:
    name, items = names
    if argument.tensor is not None:
        return ((argument.tensor, name),) if name else ()
    pairs = zip(argument.tensors or (), items, strict=False)
    return [(tensor, item) for tensor, item in pairs if tensor is not None and item]


def _key(span: Span) -> Place:
    return span.line, span.end_line, span.column, span.end_column


def _is_name(node: ast.expr) -> bool:
    for _ in range(_LONGEST):  # a longer chain would be no name for a header
        match node:
            case ast.Name():
                return True
            case ast.Attribute(value=inner) | ast.Subscript(value=inner, slice=ast.Constant()):
                node = inner
            case _:
                return False
    return False


def _written(expression: ast.AST, op: str) -> list[ast.expr]:
    """The positional arguments of the op as the code writes them; none when the code calls something around the op."""
    match expression:
        case ast.BinOp():
            sides = [expression.left, expression.right]
            return sides[::-1] if op in ("rsub", "rdiv", "rpow") else sides
        case ast.AugAssign():
            return [expression.target, expression.value]
        case ast.UnaryOp():
            return [expression.operand]
        case ast.Subscript():
            return [expression.value]
        case ast.Compare() if len(expression.comparators) == 1:
            return [expression.left, expression.comparators[0]]
        case ast.Call(func=ast.Attribute(attr=name) as func) if name in (op, f"{op}_"):
            is_function = _is_name(func.value) and ast.unparse(func.value) in _MODULES
            return [*expression.args] if is_function else [func.value, *expression.args]
        case ast.Call(func=ast.Name(id=name)) if name == op:
            return [*expression.args]
    return []


_MODULES = frozenset(
    ("torch", "F", "nn.functional", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft")
)
