"""The syntax tree of a program that already ran: parsed once, within bounds, never compiled or evaluated here."""

import ast
import threading
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple, TypeGuard, TypeVar

from engine.program.names import called, dotted
from engine.program.reach import Reach, in_order
from engine.program.spans import Lines
from engine.trace import Span

MOST_CHARACTERS = 100_000
"""Longer programs get no names from their code; the server refuses them anyway."""

Placed = ast.expr | ast.stmt | ast.keyword | ast.arg
Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.While | ast.AsyncFor
Scope = Function | ast.Lambda
Turning = Loop | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Lambda)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BLOCKS = ("body", "orelse", "finalbody")
_Node = TypeVar("_Node", bound=ast.AST)

_filters = threading.Lock()
"""`catch_warnings` puts back what it found: two threads in it at once would leave the whole process without
warnings."""


def parse(code: str) -> ast.Module | None:
    """The tree; None for what Python cannot parse.

    Asked for only after the same parser has taken the same text inside the sandbox, so a text that would bring the
    parser down ends there.
    """
    if len(code) > MOST_CHARACTERS:
        return None
    try:
        with _filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the program's own SyntaxWarnings were shown when it ran
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _runs(node: ast.AST) -> TypeGuard[ast.stmt]:
    """Whether it is a statement; a definition is over long before what is written in it runs."""
    return isinstance(node, ast.stmt) and not isinstance(node, _FUNCTIONS)


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements right below a node, each of which runs one after the other."""
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block


def assigned(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """What an assignment to one target binds, each with its value where that is written: `a, b = 1, 2` binds two."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if not any(
            isinstance(each, ast.Starred) for each in (*names, *values)
        ):
            return list(zip(names, values, strict=False))
    return [(node.targets[0], node.value)]


def given_by(call: ast.Call, taker: Function, name: str) -> ast.expr | None:
    """What a call gives a function for an argument, or else the function takes."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    taken = [each.arg for each in (*taker.args.posonlyargs, *taker.args.args)]
    defaults = taker.args.defaults
    values: dict[str | None, ast.expr] = dict(zip(taken[len(taken) - len(defaults) :], defaults, strict=True))
    values |= zip(taken[taken[:1] == ["self"] :], call.args, strict=False)
    values |= {word.arg: word.value for word in call.keywords}
    return values.get(name)


def defined_in(scope: ast.ClassDef | Function, name: str) -> ast.FunctionDef | None:
    """The method of a class, or the function right inside another, of that name."""
    return next((node for node in scope.body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def covers(node: Placed, line: int, end_line: int | None = None) -> bool:
    """Whether a node's lines hold a line, or all lines from one to another."""
    return node.lineno <= line and (end_line or line) <= (node.end_lineno or node.lineno)


class Standing(NamedTuple):
    """How a place of the program is run."""

    node: ast.expr | ast.stmt | None
    """What is written at exactly that place."""
    scope: Scope | None
    """The function or lambda whose call runs it."""
    loops: list[Turning]
    """What runs it again and again within that call, innermost first."""


class Tree(Lines):
    """Look-ups in one program. Callers never change the nodes: a tree is shared by all who ask about the same text."""

    def __init__(self, code: str, *, parsed_in_sandbox: bool = True) -> None:
        super().__init__(code)
        self._parsed = code if parsed_in_sandbox else None
        self._standing: dict[Span, Standing] = {}
        self._in_order: dict[ast.AST, list[ast.AST]] = {}
        self._places_in: dict[ast.AST, dict[ast.AST, int]] = {}

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; an empty one for what cannot be parsed here."""
        tree = parse(self._parsed) if self._parsed is not None else None
        return tree or ast.Module(body=[], type_ignores=[])

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The whole tree, outer nodes first."""
        return list(ast.walk(self.tree))

    def _nodes_of(self, kind: type[_Node]) -> list[_Node]:
        return [node for node in self.nodes if isinstance(node, kind)]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Each node's parent."""
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def reach(self) -> Reach:
        """Which functions its parts may call."""
        return Reach(self.nodes)

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Every call."""
        return self._nodes_of(ast.Call)

    @cached_property
    def attributes(self) -> list[ast.Attribute]:
        """Every `a.b`."""
        return self._nodes_of(ast.Attribute)

    @cached_property
    def bindings(self) -> list[ast.Assign]:
        """Every assignment to one target, in the order of the text."""
        found = [node for node in self._nodes_of(ast.Assign) if len(node.targets) == 1]
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    @cached_property
    def functions(self) -> list[Function]:
        """Every definition of a function."""
        return [node for node in self.nodes if isinstance(node, _FUNCTIONS)]

    @cached_property
    def scopes(self) -> list[Scope]:
        """Every definition of a function, and every lambda."""
        return [node for node in self.nodes if isinstance(node, _SCOPES)]

    @cached_property
    def recursive(self) -> frozenset[Scope]:
        """The functions and methods that call themselves, straight or through others of the program."""
        calls: dict[Scope, set[Scope]] = {}
        for call in self.calls:
            caller = self.function(call)
            if caller is not None:
                calls.setdefault(caller, set()).update(self._called_by_name(call, caller))

        def reached(function: Scope) -> set[Scope]:
            found: set[Scope] = set()
            pending = {function}
            while pending:
                pending = set().union(*(calls.get(each, ()) for each in pending)) - found
                found |= pending
            return found

        return frozenset(function for function in calls if function in reached(function))

    def _called_by_name(self, call: ast.Call, caller: Function) -> Iterator[Function]:
        """The functions that a call in one of them names, or the methods of the same class that it leads to."""
        owner = self.parents.get(caller)
        taken = [each.arg for each in (*caller.args.posonlyargs, *caller.args.args)]
        own = taken[0] if taken and isinstance(owner, ast.ClassDef) else None
        match call.func:
            case ast.Name(id=name) if name == own:
                yield from (method for method in self._named("forward", "__call__") if self.parents[method] is owner)
            case ast.Name(id=name):
                yield from (each for each in self._named(name) if not isinstance(self.parents[each], ast.ClassDef))
            case ast.Attribute(value=ast.Name(id=name), attr=method_name) if name == own:
                yield from (method for method in self._named(method_name) if self.parents[method] is owner)

    def _named(self, *names: str) -> Iterator[Function]:
        return (function for name in names for function in self._functions_by_name.get(name, ()))

    @cached_property
    def _functions_by_name(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for function in self.functions:
            found.setdefault(function.name, []).append(function)
        return found

    @cached_property
    def blocks(self) -> list[list[ast.stmt]]:
        """Every list of statements that run one after the other."""
        return [block for node in self.nodes for block in blocks_of(node)]

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that import statements bind."""
        return frozenset((name.asname or name.name).partition(".")[0] for name in self._nodes_of(ast.alias))

    @cached_property
    def origins(self) -> dict[str, str]:
        """The modules that `from … import` takes names from."""
        taken = [(each.module or "", alias) for each in self._nodes_of(ast.ImportFrom) for alias in each.names]
        return {alias.asname or alias.name: module for module, alias in taken}

    def under_nn(self, name: str) -> str:
        """How the program writes a name of `torch.nn`; empty where it has no name for that module."""
        return f"nn.{name}" if self.is_bound("nn") else f"torch.nn.{name}" if self.is_bound("torch") else ""

    def receiver(self, call: ast.Call) -> ast.expr | None:
        """What a method is called on; None for a function, be it one of an imported module or class."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        return None if dotted(owner).partition(".")[0] in self.imported else owner

    # By place

    @cached_property
    def _by_span(self) -> dict[Span, ast.expr | ast.stmt]:
        found: dict[Span, ast.expr | ast.stmt] = {}
        for node in self.nodes:  # outer nodes first; an inner one wins, but parts of an f-string claim its place
            if not isinstance(node, ast.expr | ast.stmt):
                continue
            above = found.get(self.span(node))
            if above is None or (isinstance(node, ast.expr) and not isinstance(above, ast.JoinedStr)):
                found[self.span(node)] = node
        for node in [*found.values()]:
            if isinstance(node, ast.expr) and (span := self.span_from_name(node)) is not None:
                found.setdefault(span, node)
        return found

    def at(self, span: Span | None) -> ast.expr | ast.stmt | None:
        """What is written at exactly that place."""
        return self._by_span.get(span) if span is not None else None

    def call_at(self, span: Span | None) -> ast.Call | None:
        """The call that fills a place."""
        node = self.at(span)
        if isinstance(node, ast.Expr):
            node = node.value
        return node if isinstance(node, ast.Call) else None

    def statement_at(self, span: Span | None) -> ast.stmt | None:
        """The statement that the expression of a place is part of."""
        node = self.at(span)
        return None if node is None else self.statement(node)

    def statement_on(self, line: int, end_line: int | None = None) -> ast.stmt | None:
        """The innermost statement that covers a line, or all lines to another."""
        return next((node for node in reversed(self._nodes_of(ast.stmt)) if covers(node, line, end_line)), None)

    def without_body(self, span: Span | None) -> Span | None:
        """A place; of a whole `for`, where a loader works, what stands before the body."""
        loop = self.at(span)
        return self.span_between(loop, loop.iter) if isinstance(loop, ast.For | ast.AsyncFor) else span

    def span(self, node: Placed) -> Span:
        """Where a node is written."""
        return self.span_between(node, node)

    def span_between(self, first: Placed, last: Placed) -> Span:
        """From the beginning of one node to the end of another."""
        end_line = last.end_lineno or last.lineno
        return Span(
            line=first.lineno,
            end_line=end_line,
            column=self.column(first.lineno, first.col_offset),
            end_column=self.column(end_line, last.end_col_offset or 0),
        )

    def span_from_name(self, node: ast.expr) -> Span | None:
        """Where Python says that an attribute or method call is whose receiver ends on a line before: it begins at the
        name (`update_start_location_to_match_attr` in CPython's compiler)."""
        name = node.func if isinstance(node, ast.Call) else node
        if not isinstance(name, ast.Attribute) or name.end_lineno in (None, node.lineno):
            return None
        whole, name_span = self.span(node), self.span(name)
        return Span(
            line=name_span.end_line,
            column=name_span.end_column - len(name.attr),
            end_line=whole.end_line,
            end_column=whole.end_column,
        )

    def head(self, definition: ast.ClassDef | Function) -> Span:
        """The first line of a definition."""
        span = self.span(definition)
        return Span(line=span.line, end_line=span.line, column=span.column, end_column=len(self.lines[span.line - 1]))

    def text(self, node: Placed) -> str:
        """The code of a node as it is written."""
        return self.written(self.span(node))

    def short(self, node: Placed) -> str:
        """The same on one line, shortened for a sentence."""
        return self.excerpt(self.span(node))

    # Around a node

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """A node's parents, innermost first."""
        above = self.parents.get(node)
        while above is not None:
            yield above
            above = self.parents.get(above)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement an expression is part of."""
        return next((above for above in (node, *self.around(node)) if isinstance(above, ast.stmt)), None)

    def enclosing(self, node: ast.AST | None, kind: type[_Node]) -> _Node | None:
        """The innermost node of a kind around another."""
        around = self.around(node) if node is not None else ()
        return next((above for above in around if isinstance(above, kind)), None)

    def function(self, node: ast.AST) -> Function | None:
        """The function whose body a node is in."""
        return next((above for above in self.around(node) if isinstance(above, _FUNCTIONS)), None)

    def runs_in(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node runs inside, innermost first: what is around it in its function, then what is around the one
        call of that."""
        met: set[ast.AST] = set()
        above = self.parents.get(node)
        while above is not None and above not in met:
            met.add(above)
            yield above
            call = self.only_call(above) if isinstance(above, _FUNCTIONS) else None
            above = call or self.parents.get(above)

    def loops(self, node: ast.AST) -> list[Loop]:
        """The loops that a node runs in, innermost first."""
        return [above for above in self.runs_in(node) if isinstance(above, _LOOPS)]

    def only_call(self, function: Function) -> ast.Call | None:
        """The one call of a function or method, or of the class that it initialises."""
        calls = self.calls_to(function)
        return calls[0] if len(calls) == 1 else None

    def calls_to(self, function: Function) -> list[ast.Call]:
        """The calls of a function or method, or of the class that it initialises, by its name; a function of the
        program's own is no method of anything, as `model.train()` is beside a `train()`."""
        owner = self.parents.get(function)
        if isinstance(owner, ast.ClassDef):
            return self._calls_by_name.get(owner.name if function.name == "__init__" else function.name, [])
        return [call for call in self._calls_by_name.get(function.name, []) if isinstance(call.func, ast.Name)]

    @cached_property
    def _calls_by_name(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            found.setdefault(called(call), []).append(call)
        return found

    def given(self, name: str) -> ast.expr | None:
        """What the one function that takes an argument of that name is given for it by its only call, or else takes."""
        takers = [each for each in self.functions if name in {taken.arg for taken in each.args.args}]
        call = self.only_call(takers[0]) if len(takers) == 1 else None
        return given_by(call, takers[0], name) if call is not None else None

    def stands_for(self, name: str, place: ast.AST | None = None) -> str:
        """The name that something was bound to before one assignment alone, or an only call, gave it this one; empty
        where the function that a place is in takes the name, and is not told by its calls what it stands for."""
        taker = self.function(place) if place is not None else None
        if taker is not None and name in {taken.arg for taken in taker.args.args}:
            names = {dotted(given_by(call, taker, name)) for call in self.calls_to(taker)}
            name = name if name in names else names.pop() if len(names) == 1 else ""
        met = {""}
        further = name
        while further not in met:
            name = further
            met.add(name)
            made = self.values(name) if self.stores[name] else [self.given(name)]
            further = dotted(made[0]) if len(made) == 1 and self.stores[name] < 2 else ""
        return name

    @cached_property
    def stores(self) -> Counter[str]:
        """How often each name or attribute is written to."""
        named = (node for node in self.nodes if isinstance(node, ast.Name | ast.Attribute))
        return Counter(dotted(node) for node in named if isinstance(node.ctx, ast.Store))

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that run one after the other with this one."""
        above = self.parents.get(statement)
        blocks = blocks_of(above) if above is not None else ()
        return next((block for block in blocks if statement in block), [statement])

    def in_loop(self, node: ast.AST) -> bool:
        """Whether it may run more than once where it is written; a lambda runs where it is called."""
        around = (above for above in self.runs_in(node) if isinstance(above, (*_LOOPS, ast.Lambda)))
        return isinstance(next(around, None), _LOOPS)

    def loops_back(self, before: Span, again: Span) -> bool:
        """Whether one call may come from a place to another that it has been to: around a loop or comprehension, or out
        to what the first is a part of; true also for places that are not known."""
        first, second = self.at(before), self.at(again)
        if first is None or second is None:
            return True
        around = {*self.around(first)}
        if second in around:
            return True
        for above in self.around(second):
            if isinstance(above, _SCOPES):
                return False
            if isinstance(above, (*_LOOPS, *_COMPREHENSIONS)) and (above in around or self.parents[above] is first):
                return True
        return False

    def is_in_function(self, node: ast.AST) -> bool:
        """Whether it waits for a call."""
        return any(isinstance(above, _SCOPES) for above in self.around(node))

    def runs_once(self, node: ast.AST) -> bool:
        """Whether it is at the level of the program: in no loop, function or condition."""
        return isinstance(self.parents.get(self.statement(node) or node), ast.Module)

    def follows(self, first: ast.stmt | None, second: ast.stmt | None) -> bool:
        """Whether the second is a later statement of the first one's block."""
        if first is None or second is None:
            return False
        block = self.block(first)
        return second in block and block.index(first) < block.index(second)

    def runs_before(self, first: ast.stmt, second: ast.stmt) -> bool:
        """Whether one is done when another begins, be each in a function that is called once."""
        ends, begins = ([each for each in (one, *self.runs_in(one)) if _runs(each)] for one in (first, second))
        return any(self.follows(end, begin) for end in ends for begin in begins)

    def scope(self, node: ast.AST) -> Scope | None:
        """The function or lambda whose call a node runs in."""
        return next((above for above in self.around(node) if isinstance(above, _SCOPES)), None)

    def scope_at(self, span: Span | None) -> Scope | None:
        """The same of what is written at exactly that place."""
        node = self.at(span)
        return self.scope(node) if node is not None else None

    def standing(self, span: Span) -> Standing:
        """How a place is run; a generator takes turns with the call that it is given to. What makes a function in each
        of its turns does not run it."""
        if span not in self._standing:
            self._standing[span] = self._standing_of(span)
        return self._standing[span]

    def in_order(self, node: ast.AST) -> list[ast.AST]:
        """What a node runs, in the order in which Python works it out once."""
        if node not in self._in_order:
            self._in_order[node] = in_order(node)
        return self._in_order[node]

    def places_in(self, node: ast.AST) -> dict[ast.AST, int]:
        """The same as the place of each in that order."""
        if node not in self._places_in:
            self._places_in[node] = {each: at for at, each in enumerate(self.in_order(node))}
        return self._places_in[node]

    def _standing_of(self, span: Span) -> Standing:
        node = self.at(span)
        below: ast.AST | None = node or self.statement_on(span.line, span.end_line)
        found: list[Turning] = []
        if isinstance(below, ast.Call):
            found += (each for each in below.args if isinstance(each, ast.GeneratorExp))
        for above in self.around(below) if below is not None else ():
            if isinstance(above, _SCOPES):
                return Standing(node, above, found)
            is_head = isinstance(above, ast.For | ast.AsyncFor) and below not in above.body
            if isinstance(above, (*_LOOPS, *_COMPREHENSIONS)) and not is_head:
                found.append(above)
            below = above
        return Standing(node, None, found)

    def head_of(self, turning: Turning) -> str:
        """The `for` or `while` of a loop or comprehension."""
        if isinstance(turning, _LOOPS):
            return self.line(turning.lineno).removesuffix(":")
        return "".join(ast.unparse(each) for each in turning.generators).strip()

    # By name

    def classes(self, name: str) -> list[ast.ClassDef]:
        """Class definitions of that name."""
        return [node for node in self._nodes_of(ast.ClassDef) if node.name == name]

    def assignments(self, target: str) -> list[ast.Assign]:
        """Assignments to that one name or attribute, in the order of the text."""
        return [node for node in self.bindings if ast.unparse(node.targets[0]) == target]

    def values(self, target: str) -> list[ast.expr]:
        """What that one name or attribute is assigned, also beside others: `a, b = 1, 2`."""
        return self._values.get(target, [])

    @cached_property
    def _values(self) -> dict[str, list[ast.expr]]:
        found: dict[str, list[ast.expr]] = {}
        for node in self.bindings:
            for name, value in assigned(node):
                found.setdefault(ast.unparse(name), []).append(value)
        return found

    def is_bound(self, name: str) -> bool:
        """Whether the program gives that name a meaning anywhere."""
        return name in self._bound

    @cached_property
    def _bound(self) -> frozenset[str]:
        found = set(self.imported)
        for node in self.nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
        return frozenset(found)

    def is_in_function_forward(self, line: int) -> bool:
        """Whether a line is in the `forward` of a custom `autograd.Function`, which PyTorch runs without recording."""
        return any(covers(forward, line) for forward in self._forwards)

    @cached_property
    def _forwards(self) -> list[ast.FunctionDef]:
        return [
            method
            for node in self._nodes_of(ast.ClassDef)
            if any(dotted(base).rpartition(".")[2] == "Function" for base in node.bases)
            for method in node.body
            if isinstance(method, ast.FunctionDef) and method.name == "forward"
        ]
