"""The user's names for tensors, read from the program's own code: assignments, arguments, targets of loops. Pure."""

import ast
import builtins
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from engine.program.names import called, dotted, is_reference
from engine.program.source import Source
from engine.program.spans import holds
from engine.trace import Argument, Batch, ModuleCall, Op, Span

_MOST_CHARACTERS = 40
_MOST_LETTERS = 28
"""Of code that the page tells an op by."""
_HEADS = (9, 6, 3)
"""How many of them begin it, where its end is told too; fewer where the end must tell it from others."""
_TURNED = ("rsub", "rdiv", "rpow")
"""Ops that were given the right side first."""
_EITHER_WAY = ("mul", "add")
"""Ops that are the same whichever side a number stands on."""
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
"""Ops by which Python chooses and sorts."""

_Names = tuple[str, tuple[str, ...]]
"""What an expression is called, and each item of a list or tuple; empty for what has no name."""


class _Plan(NamedTuple):
    """Names at one place of the code, the same each time it runs."""

    outputs: tuple[tuple[int, str], ...]
    is_call: bool
    """What is written there is a call, perhaps of something around the op such as a module: the last op of it gives
    what is assigned."""
    gives_other: bool
    """It gives none of what its ops made: an object, such as a module, a distribution or what the name that it is
    assigned to has at the end, what a method of a module gives, what a function had before it wrote into what it was
    given, as its name ends in `_`, or what comparing and iterating led to, as in `max(scores)`."""
    positions: int
    """How many positional arguments are written."""
    written: tuple[tuple[int, _Names], ...]
    """Of those that have any, by position."""
    keywords: tuple[tuple[str, _Names], ...]
    read: frozenset[str]
    """What has a name within what is written there, and is not given it by that statement."""
    function: ast.AST | None
    """The function or lambda it stands in."""


class SourceNames:
    """What a program's code calls its tensors, modules and optimizers, looked up by the places that ops have."""

    def __init__(
        self,
        source: Source,
        module_types: Collection[str] = (),
        plain: Collection[str] = (),
        walked: Collection[Span | None] = (),
    ) -> None:
        self._source = source
        self._walked = walked
        """Where modules were moved or cast, as by `net.to("cpu")`."""
        self._module_types = frozenset(module_types)
        """What makes a module, and so gives no tensor."""
        self._plain = frozenset(name for name in plain if source.stores[name] == 1)
        """Global names that are bound once, to something that is no tensor and holds none."""
        self._targets: dict[Span, ast.expr] = {}
        self._texts: dict[ast.AST, str] = {}
        self._plans: dict[tuple[Span, str, int], _Plan] = {}
        self._made: list[tuple[str, str, Span]] = []
        """What a name was assigned from: the name, the last word of what was called, and the place of that statement's
        value."""
        self._calls = Counter(called(call) for call in source.calls)
        for node in source.nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._assign(node.value, node.targets[0])
            elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                self._assign(node.value, node.target)

    def _assign(self, value: ast.expr, target: ast.expr) -> None:
        span = self._source.span(value)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for inner, part in zip(target.elts, value.elts, strict=True):
                self._assign(part, inner)
        elif (name := self._text(target)) and (maker := _maker(value)):
            self._made.append((name, maker, span))
        self._targets[span] = target
        if isinstance(value, ast.Call) and (from_name := self._source.span_from_name(value)) is not None:
            self._targets[from_name] = target

    def names(
        self, ops: Sequence[Op], inside: Collection[str], returned: Mapping[str, Sequence[Span]]
    ) -> Iterator[tuple[str, str]]:
        """Tensor id and name, op after op: first of what came out, then of what went in. `inside` are ops that worked
        on the way inside a call, which gave something else; `returned` tells of others which calls their result was
        returned from, innermost first."""
        replaced = self._replaced(ops, returned)
        filled = {op.span for op in ops if op.name == "setitem"}
        others: dict[str, frozenset[str]] = {}
        """Names that mean something else where a tensor was made: they are read there."""
        for op in ops:
            if op.span is None:
                continue
            plan = self._plan_of(op, op.span)
            is_other = op.id in inside or op.id in replaced or self._is_copied(op.span, filled)
            results = list(_results(op, plan))
            for span, outer in self._calls_given(op, plan, returned.get(op.id, ())):
                results[:0] = [] if self._is_copied(span, filled) else _results(op, outer)
            if is_other:
                results = []
            yield from results
            taken = [*_by_position(plan, op), *_by_keyword(plan, op)]
            yield from ((tensor, name) for tensor, name in taken if name not in others.get(tensor, ()))
            if op.name == _TURNS and op.id in inside:
                for tensor in op.outputs:
                    others.pop(tensor, None)  # a new leaf, which a function that the call takes knows by its own name
                continue
            kept = {name for _, name in results}
            given = {name for tensor, name in taken if tensor in op.outputs}
            if read := plan.read - kept - given:
                others.update((tensor, read) for tensor in op.outputs)

    def of_turns(self, batches: Sequence[Batch], ops: Iterable[Op]) -> Iterator[tuple[str, str]]:
        """Tensor id and name of what loaders handed out to loops that call each part by a name, and of the rows of a
        tensor that a loop goes through."""
        loaders = {batch.span for batch in batches}
        for op in ops:
            row = self._bound_in_turns(op.span) if op.name == "unbind" and op.span not in loaders else None
            if isinstance(row, ast.Name):
                yield from ((tensor, row.id) for tensor in op.outputs)
        for batch in batches:
            target = self._bound_in_turns(batch.span)
            parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            is_apart = isinstance(target, ast.Name) and target.id in self._taken_apart
            for tensor, part in zip(batch.tensors, parts, strict=False) if len(batch.tensors) == len(parts) else ():
                if isinstance(part, ast.Name) and not is_apart:
                    yield tensor, part.id

    def _bound_in_turns(self, span: Span | None) -> ast.expr | None:
        """What a loop over what stands there binds in each turn."""
        node = self._source.at(span)
        above = self._source.parents.get(node) if node is not None else None
        while isinstance(above, ast.Call) and called(above) in _HAND_ON and above.args[:1] == [node]:
            node, above = above, self._source.parents.get(above)
        if not isinstance(above, ast.For) or above.iter is not node:
            return None
        around = {called(call) for call in ast.walk(node) if isinstance(call, ast.Call)}
        match above.target:
            case ast.Tuple(elts=[_, inner]) if "enumerate" in around:
                return inner
        return above.target if around.isdisjoint(("enumerate", "zip", "zip_longest", "map")) else None

    @cached_property
    def _taken_apart(self) -> frozenset[str]:
        """Names of what is no tensor, or may be none: parts of it are asked for."""
        asked = (node.value for node in self._source.nodes if isinstance(node, ast.Subscript | ast.Starred))
        unpacked = (one.value for one in self._source.bindings if isinstance(one.targets[0], ast.Tuple | ast.List))
        return frozenset(map(dotted, (*asked, *unpacked)))

    def _calls_given(self, op: Op, plan: "_Plan", calls: Iterable[Span]) -> Iterator[tuple[Span, "_Plan"]]:
        for span in calls:
            call = self._source.at(span)
            if not isinstance(call, ast.Call) or not self._is_call_of(call, plan.function):
                break
            plan = self._plan_of(op, span)
            yield span, plan

    def _is_call_of(self, call: ast.Call, function: ast.AST | None) -> bool:
        """Whether a function of the program is what is called there, and not given to what is, such as `map`."""
        if isinstance(function, ast.FunctionDef) and function.name in ("forward", "__call__"):
            name = dotted(call.func).partition(".")[0]
            return name not in self._source.imported and not hasattr(builtins, name)
        bound = self._source.parents.get(function) if isinstance(function, ast.Lambda) else function
        name = self._text(bound.targets[0]) if isinstance(bound, ast.Assign) else getattr(bound, "name", "")
        return bool(name) and name in (called(call), self._source.stands_for(dotted(call.func), call))

    def _is_copied(self, span: Span, filled: Collection[Span | None]) -> bool:
        """Whether what is made there is only copied into a part of a tensor: `y[1]` is that part, and not what was
        copied."""
        target = self._targets.get(span)
        return isinstance(target, ast.Subscript) and self._source.span(target) in filled

    def inside_calls(self, ops: Sequence[Op], calls: Sequence[ModuleCall]) -> frozenset[str]:
        """Ops that did not give what the call gave that is written where they stand: it went on after them, or it is of
        a function that ends by writing somewhere."""
        inside, ends = _of_modules(ops, calls)
        open_runs: dict[tuple[ast.AST | None, int | None], list[list[Op]]] = {}
        """By function of the program and rank: the ops of a call, and of those around that it is an argument of."""
        for op in ops:
            if op.span is None or op.id in inside or op.id in ends:
                continue
            plan = self._plan_of(op, op.span)
            runs = open_runs.setdefault((plan.function, op.rank), [])
            while runs and not ((place := runs[-1][0].span) and holds(place, op.span)):
                inside.update(self._on_the_way(runs.pop()))
            if plan.gives_other:
                inside.add(op.id)
            elif runs and runs[-1][0].span == op.span:
                runs[-1].append(op)
            elif plan.is_call:
                runs.append([op])
        for runs in open_runs.values():
            for run in runs:
                inside.update(self._on_the_way(run))
        return frozenset(inside)

    def _on_the_way(self, run: Sequence[Op]) -> Iterator[str]:
        """Of the ops of one place, run one after another, those that did not end a turn: a turn is the shortest row of
        ops that they repeat, else all of them. What raised ended none. What copies several tensors gives none of
        them."""
        kinds = [(op.name, op.module, len(op.inputs)) for op in run]
        ended = kinds if not run[-1].raised else kinds[:-1] if kinds[-1] == kinds[0] else []
        turn = _period(ended)
        call = self._source.at(run[0].span)
        if turn < len(ended) and isinstance(call, ast.Call) and called(call) == "deepcopy":
            turn = len(kinds) + 1
        yield from (op.id for at, op in enumerate(run, start=1) if at > len(ended) or at % turn)

    def goes_through(self, op: Op) -> bool:
        """Whether it is of what a loop goes through, such as a loader that takes its samples: the code there says what
        that is, and not what the op did."""
        node = self._source.at(op.span)
        above = self._source.parents.get(node) if node is not None else None
        if isinstance(node, ast.For | ast.AsyncFor):
            return True
        if not isinstance(above, ast.For | ast.AsyncFor | ast.comprehension) or node is not above.iter:
            return False
        if isinstance(node, ast.Call):
            return op.name in _OF_LOADERS and op.name != called(node)
        own = node.attr if isinstance(node, ast.Attribute) else "getitem" if isinstance(node, ast.Subscript) else ""
        return isinstance(node, ast.expr) and is_reference(node) and op.name != own

    def ends_apart(self, ops: Iterable[Op]) -> dict[Span, str]:
        """Of expressions too long to be told whole that begin as others do: their beginnings and ends."""
        texts = {op.span: " ".join(map(str.strip, self._source.written(op.span).splitlines())) for op in ops if op.span}
        long = {span: text for span, text in texts.items() if len(text) > _MOST_LETTERS}
        begin = Counter(text[: _MOST_LETTERS - 1] for text in set(long.values()))
        alike = {span: text for span, text in long.items() if begin[text[: _MOST_LETTERS - 1]] > 1}
        cut: dict[Span, str] = {}
        for head in _HEADS:
            cut = {span: f"{text[:head]}…{text[head + 1 - _MOST_LETTERS :]}" for span, text in alike.items()}
            if len({*cut.values()}) == len({*alike.values()}):
                break
        return cut

    def _replaced(self, ops: Iterable[Op], returned: Container[str]) -> set[str]:
        """Ops whose result a function of the program, such as a hook, made something else of before the call around
        was over."""
        replaced: set[str] = set()
        waiting: Op | None = None
        for op in ops:
            if waiting is not None and op.span != waiting.span:
                if _is_taken_inside(waiting, op):
                    replaced.add(waiting.id)
                waiting = None
            plan = self._plan_of(op, op.span) if op.span is not None else None
            if plan is not None and plan.is_call and (plan.outputs or op.id in returned):
                waiting = op
        return replaced

    def local_name(self, kind: str, spans: Collection[Span], *, has_parameters: bool) -> str:
        """The name that a function of the program gives a module of a class; `spans` are places where its parameters
        were filled.

        Empty where that is not certain: without such places it may be a copy of another one."""
        places = [place for _, maker, place in self._made if maker == kind]
        alike = self._named(kind)
        if spans:
            inside = {
                name for name, maker, place in self._made if maker == kind and any(holds(place, span) for span in spans)
            }
            is_whole = self._source.classes(kind) and self._calls[kind] == len(places)
            found = inside or (alike if is_whole else set())
        elif has_parameters and "deepcopy" in self._calls:
            found = self._named("deepcopy")
        else:
            found = alike if self._calls[kind] == 1 else set()
        return found.pop() if len(found) == 1 else ""

    def _named(self, maker: str) -> set[str]:
        return {name for name, by, _ in self._made if by == maker}

    def local_receiver(self, span: Span | None, kind: str) -> str:
        """What a method was called on there, such as `opt` of `opt.step()`, when that is what an object of that class
        was named."""
        match self._source.at(span):
            case ast.Call(func=ast.Attribute(value=value)) if (name := self._text(value)) in self._named(kind):
                return name
        return ""

    def _plan_of(self, op: Op, span: Span) -> "_Plan":
        key = (span, op.name, len(op.outputs))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._plan(op, span)
        return plan

    def _plan(self, op: Op, span: Span) -> "_Plan":
        target = self._targets.get(span)
        expression = self._source.at(span)
        outputs = range(len(op.outputs))
        call = expression if isinstance(expression, ast.Call) else None
        is_around = call is not None and called(call) not in (op.name, f"{op.name}_")
        is_plain = self._is_plain(target) and len(outputs) > 0
        if is_around and (op.in_place or op.name == _OF_LAYERS):
            target = None
        if call is not None and called(call) in self._module_types:
            target = None
        if isinstance(target, ast.Tuple):
            target = _unpacked(target, len(outputs))
            if call is not None and len(target.elts) > len(outputs):
                target = None
        assigned = list(self._assigned(target, outputs)) if target is not None else []
        if isinstance(expression, ast.AugAssign):
            assigned += self._assigned(expression.target, outputs)
        is_of_module = call is not None and (span in self._walked or self._is_of_module(call))
        names = [] if is_of_module else [self._names_in(node) for node in self._arguments(expression, op)]
        return _Plan(
            tuple(assigned),
            call is not None,
            is_plain or is_of_module or (call is not None and is_around and self._makes_other(call, op)),
            len(names),
            tuple((at, written) for at, written in enumerate(names) if written[0] or any(written[1])),
            tuple((word.arg, self._names_in(word.value)) for word in (call.keywords if call else ()) if word.arg),
            self._read(expression, span) if isinstance(expression, ast.expr) else frozenset(),
            next((above for above in self._source.around(expression) if isinstance(above, _FUNCTIONS)), None)
            if expression is not None
            else None,
        )

    def _is_plain(self, target: ast.expr | None) -> bool:
        return isinstance(target, ast.Name) and target.id in self._plain and self._source.runs_once(target)

    def _read(self, expression: ast.expr, span: Span) -> frozenset[str]:
        statement = self._source.statement_at(span)
        bound = set(map(self._text, _parts(statement, ast.Store))) if statement is not None else set()
        within = {self._text(part) for part in _parts(expression, ast.Load) if part is not expression}
        return frozenset(within - bound - {""})

    def _makes_other(self, call: ast.Call, op: Op) -> bool:
        """Whether what is called gives no tensor that its op made: a class, by its capital, what writes into what it is
        given, what registers a hook, or what compared or went through tensors."""
        name = called(call)
        is_class = name[:1].isupper() and not name.endswith(("Tensor", "Parameter", "Buffer", "Variable"))
        is_python = op.name in _COMPARISONS or (op.name == "unbind" and name not in ("list", "tuple"))
        return name.endswith("_") or name.startswith("register_") or name in self._module_types or is_class or is_python

    def _is_of_module(self, call: ast.Call) -> bool:
        """Whether it is a method that all modules have, such as `net.state_dict()` or `net.double()`, of one: these
        give no tensor."""
        receiver = self._source.receiver(call) if called(call) in (*_GIVE_ITSELF, *_GIVE_NO_TENSOR) else None
        return receiver is not None and self._text(receiver) in self._modules

    @cached_property
    def _modules(self) -> frozenset[str]:
        """The names that modules are given where they are made."""
        return frozenset(name for name, maker, _ in self._made if maker in self._module_types)

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

    def _arguments(self, expression: ast.AST | None, op: Op) -> list[ast.expr]:
        """The positional arguments of the op as the code writes them; none when the code calls something around the
        op."""
        match expression:
            case ast.BinOp():
                return self._sides(op, expression.left, expression.right, is_turned=op.name in _TURNED)
            case ast.AugAssign():
                return self._sides(op, expression.target, expression.value, is_turned=op.name in _TURNED)
            case ast.UnaryOp():
                return [expression.operand]
            case ast.Subscript():
                return [expression.value]
            case ast.Compare(ops=[ast.Lt() | ast.LtE()], comparators=[right]) if op.name in ("gt", "ge"):
                return [right, expression.left]
            case ast.Compare(ops=[ast.Gt() | ast.GtE()], comparators=[right]) if op.name in ("lt", "le"):
                return [right, expression.left]
            case ast.Compare(comparators=[right]):
                return [expression.left, right]
            case ast.Call() if called(expression) in (op.name, f"{op.name}_"):
                receiver = self._source.receiver(expression)
                is_layer = not op.function.startswith("torch.Tensor.")  # `self.embedding(x)` is no method of a tensor
                return [*expression.args] if receiver is None or is_layer else [receiver, *expression.args]
        return []

    def _sides(self, op: Op, left: ast.expr, right: ast.expr, *, is_turned: bool) -> list[ast.expr]:
        """Both sides in the order in which the op was given them. Of `gamma * q` Python gives `q` the number, as of
        `q * gamma`; which name is the number's, the code tells where it binds one. Otherwise neither is told."""
        is_by_number = op.name in _EITHER_WAY and len(op.arguments) > 1 and op.arguments[1].tensor is None
        if is_turned or (is_by_number and self._is_number(left)):
            return [right, left]
        return [left, right] if not is_by_number or self._is_number(right) else []

    def _is_number(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) or self._text(node) in self._numbers

    @cached_property
    def _numbers(self) -> frozenset[str]:
        """The names that only ever stand for a number that is written out: constants and defaults."""
        bound = {(self._text(node.targets[0]), _is_constant(node.value)) for node in self._source.bindings}
        for function in self._source.functions:
            arguments = function.args
            named = [*arguments.posonlyargs, *arguments.args][::-1]
            bound.update(
                (arg.arg, _is_constant(value)) for arg, value in zip(named, arguments.defaults[::-1], strict=False)
            )
        return frozenset(
            {name for name, is_number in bound if is_number} - {name for name, is_number in bound if not is_number}
        )

    def _names_in(self, node: ast.expr) -> "_Names":
        items = node.elts if isinstance(node, ast.List | ast.Tuple) else []
        return self._text(node), tuple(self._text(item) for item in items)

    def _text(self, node: ast.expr) -> str:
        """A name, an attribute or an item with a constant index, as it is written; empty for anything else."""
        known = self._texts.get(node)
        if known is None:
            known = ast.unparse(node) if is_reference(node) else ""
            known = self._texts[node] = known if len(known) <= _MOST_CHARACTERS else ""
        return known


def _parts(node: ast.AST, context: type[ast.expr_context]) -> Iterator[ast.expr]:
    """Names, attributes and items that are read, or bound, within what is written."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute | ast.Subscript) and isinstance(part.ctx, context):
            yield part


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _of_modules(ops: Sequence[Op], calls: Sequence[ModuleCall]) -> tuple[set[str], set[str]]:
    """Of the ops at places where modules are called: those on the way, and those that gave what a call gave."""
    at = {op.id: number for number, op in enumerate(ops)}
    places = {call.id: call.span for call in calls}
    inside: set[str] = set()
    ends: set[str] = set()
    for call in calls:
        if call.first_op is None or call.last_op is None or places.get(call.parent or "") == call.span:
            continue
        for op in ops[at[call.first_op] : at[call.last_op] + 1]:
            if op.span == call.span:
                (ends if op.id == call.last_op and not call.raised else inside).add(op.id)
    return inside, ends - inside


def _period(row: Sequence[object]) -> int:
    """The length of what a row repeats as a whole, once at least."""
    borders = [0]
    """Of each beginning of the row: how much of its beginning is its end too."""
    for item in row[1:]:
        length = borders[-1]
        while length and row[length] != item:
            length = borders[length - 1]
        borders.append(length + (row[length] == item))
    period = len(row) - borders[-1] if row else 1
    return period if row and len(row) % period == 0 else max(len(row), 1)


def _is_taken_inside(last: Op, op: Op) -> bool:
    """Whether a function of the program, such as a hook, takes what an op gave before the module's call is over: what
    the call gives may be what it makes of that."""
    return op.module == last.module is not None and op.span != last.span and not set(last.outputs).isdisjoint(op.inputs)


def _results(op: Op, plan: _Plan) -> Iterator[tuple[str, str]]:
    for at, name in plan.outputs:
        yield op.outputs[at], name


def _by_position(plan: _Plan, op: Op) -> Iterator[tuple[str, str]]:
    """Positional arguments come before those by keyword."""
    arguments = op.arguments
    if plan.written and plan.positions <= len(arguments) and not arguments[plan.positions - 1].name:
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


def _maker(node: ast.expr) -> str:
    """The last word of what is called, seen through methods that give the object itself."""
    while isinstance(node, ast.Call) and called(node) in _GIVE_ITSELF and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return called(node) if isinstance(node, ast.Call) else ""


def _unpacked(target: ast.Tuple, outputs: int) -> ast.Tuple:
    """The targets of the tensors one by one: an op gives all of `out, (h, c)` at once, and all of `out, hidden` too."""
    match target:
        case ast.Tuple(elts=[*first, ast.Tuple(elts=rest)]) if len(first) + len(rest) == outputs:
            return ast.Tuple(elts=[*first, *rest])
        case ast.Tuple(elts=[*first, ast.Name() | ast.Attribute() as pair]) if len(first) + 1 < outputs:
            numbers = range(outputs - len(first))
            return ast.Tuple(
                elts=[*first, *(ast.Subscript(value=pair, slice=ast.Constant(value=at)) for at in numbers)]
            )
    return target


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TURNS = "requires_grad_"
"""The op that `torch.func` and `torch.autograd.functional` make leaves with."""
_OF_LAYERS = "empty"
"""The op that layers make their parameters with: a call around it gives something made of parts, not this tensor."""
_HAND_ON = ("enumerate", "tqdm")
"""What goes through a loader for a loop."""
_OF_LOADERS = ("getitem", "stack", "unbind", "tensor", "as_tensor")
"""Ops by which loaders and iterators take samples and put them together."""

_GIVE_ITSELF = frozenset("to cuda cpu float double half bfloat16 train eval requires_grad_ share_memory apply".split())
"""Methods of modules that return the module."""
_GIVE_NO_TENSOR = ("state_dict", "load_state_dict", "zero_grad")
"""Others of their methods, of those that make ops."""
