"""The user's names for tensors, read from the program's own code: assignments, arguments, targets of loops. Pure."""

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from engine.program.tree import parse
from engine.trace import Argument, Op, Span

_LONGEST = 40

Place = tuple[int, int, int, int]

_Names = tuple[str, tuple[str, ...]]
"""What an expression is called, and each item of a list or tuple; empty for what has no name."""


class _Plan(NamedTuple):
    """Names at one place of the code, the same each time it runs."""

    outputs: tuple[tuple[int, str], ...]
    is_call: bool
    """What is written there is a call, perhaps of something around the op such as a module: the last op of it gives what is assigned."""
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
        self._made: list[tuple[str, str, Place]] = []
        """What a name was assigned from: the name, the last word of what was called, and the place of that statement's value."""
        self._calls: Counter[str] = Counter()
        self._classes: set[str] = set()
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
        if isinstance(node, ast.ClassDef):
            self._classes.add(node.name)
        if isinstance(node, ast.Call):
            self._calls[_last_word(node)] += 1
            if (place := self._from_its_name(node)) is not None:
                self._expressions.setdefault(place, node)

    def _aim(self, value: ast.expr, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for inner, part in zip(target.elts, value.elts, strict=True):
                self._aim(part, inner)
        elif (name := self._text(target)) and (called := _called(value)):
            self._made.append((name, called, self._place(value)))
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

    def names(self, ops: Iterable[Op]) -> Iterator[tuple[str, str]]:
        """Tensor id and name, op after op: first of what came out, then of what went in."""
        waiting: tuple[Op, _Plan] | None = None
        began: tuple[str, str | None] | None = None
        for op in ops:
            span = op.span
            if waiting is not None and (waiting[0].span != span or (op.name, op.module) == began):
                yield from _results(*waiting)
                waiting = None
            if span is None:
                continue
            key = (span, op.name, len(op.outputs))
            plan = self._plans.get(key)
            if plan is None:
                plan = self._plans[key] = self._plan(op, span)
            if plan.outputs and plan.is_call:
                began = (op.name, op.module) if waiting is None else began
                waiting = op, plan
            elif plan.outputs:
                yield from _results(op, plan)
            if plan.written:
                yield from _by_position(plan, op)
            if plan.keywords:
                yield from _by_keyword(plan, op)
        if waiting is not None:
            yield from _results(*waiting)

    def local_name(self, kind: str, spans: Collection[Span], *, has_parameters: bool) -> str:
        """The name that a function of the program gives a module of a class; `spans` are places where its parameters were filled.

        Empty where that is not certain: without such places it may be a copy of another one."""
        alike = {name for name, called, _ in self._made if called == kind}
        if spans:
            places = [place for _, called, place in self._made if called == kind]
            inside = {
                name
                for name, called, place in self._made
                if called == kind and any(_holds(place, _key(span)) for span in spans)
            }
            found = inside or (alike if kind in self._classes and self._calls[kind] == len(places) else set())
        elif has_parameters and "deepcopy" in self._calls:
            found = {name for name, called, _ in self._made if called == "deepcopy"}
        else:
            found = alike if self._calls[kind] == 1 else set()
        return found.pop() if len(found) == 1 else ""

    def local_receiver(self, span: Span | None, kind: str) -> str:
        """What a method was called on there, such as `opt` of `opt.step()`, when that is what an object of that class was named."""
        expression = self._expressions.get(_key(span)) if span is not None else None
        match expression:
            case ast.Call(func=ast.Attribute(value=value)) if name := self._text(value):
                return name if (name, kind) in ((one, called) for one, called, _ in self._made) else ""
        return ""

    def _plan(self, op: Op, span: Span) -> "_Plan":
        place = _key(span)
        target = self._targets.get(place)
        expression = self._expressions.get(place)
        outputs = range(len(op.outputs))
        is_call = isinstance(expression, ast.Call)
        is_around = isinstance(expression, ast.Call) and _last_word(expression) not in (op.name, f"{op.name}_")
        if is_around and (op.in_place or op.name == "empty"):
            target = None  # something that is made of parts, such as a layer
        if target is not None and op.name == "lstm":
            target = _as_returned(target)
        if is_call and isinstance(target, ast.Tuple) and len(target.elts) > len(op.outputs):
            target = None
        assigned = list(self._assigned(target, outputs)) if target is not None else []
        if isinstance(expression, ast.AugAssign):
            assigned += self._assigned(expression.target, outputs)
        written = [] if expression is None else _written(expression, op.name)
        keywords = expression.keywords if isinstance(expression, ast.Call) else []
        names = [self._names_in(node) for node in written]
        return _Plan(
            tuple(assigned),
            is_call,
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


def _results(op: Op, plan: _Plan) -> Iterator[tuple[str, str]]:
    for at, name in plan.outputs:
        yield op.outputs[at], name


def _by_position(plan: _Plan, op: Op) -> Iterator[tuple[str, str]]:
    """Positional arguments come before those by keyword."""
    arguments = op.arguments
    if plan.positions <= len(arguments) and not arguments[plan.positions - 1].name:
        for at, names in plan.written:
            argument = arguments[at]
            if argument.tensor is None:
                yield from _of_argument(names, argument)
            elif names[0]:
                yield argument.tensor, names[0]


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


def _called(node: ast.expr) -> str:
    """The last word of what is called, seen through methods that give the object itself."""
    while isinstance(node, ast.Call) and _last_word(node) in _GIVE_ITSELF and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return _last_word(node) if isinstance(node, ast.Call) else ""


def _last_word(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _as_returned(target: ast.expr) -> ast.expr:
    """`out, (h, c)` as the three tensors that the op gives."""
    match target:
        case ast.Tuple(elts=[out, ast.Tuple(elts=[hidden, cell])]):
            return ast.Tuple(elts=[out, hidden, cell])
        case ast.Tuple(elts=[out, ast.Name() | ast.Attribute() as pair]):
            parts = [ast.Subscript(value=pair, slice=ast.Constant(value=at)) for at in (0, 1)]
            return ast.Tuple(elts=[out, *parts])
    return target


def _holds(outer: Place, inner: Place) -> bool:
    return (outer[0], outer[2]) <= (inner[0], inner[2]) and (inner[1], inner[3]) <= (outer[1], outer[3])


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
_GIVE_ITSELF = frozenset("to cuda cpu float double half bfloat16 train eval requires_grad_ share_memory apply".split())
"""Methods of modules that return the module."""
