"""One failure and all that is known of it: what the rules for errors look at."""

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TypeAlias, TypeVar

from msgspec.structs import replace

from engine.findings.diagnosis import UNKNOWN, Diagnosis, line
from engine.findings.failing.origins import layer_call, made_alike, made_inside, shape_origin, sizes
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.program.rewriting import Written, written
from engine.program.source import source_of
from engine.trace import Edit, Failure, Finding, Module, Op, Operand, Span, Tensor

RAISED = frozenset({"exception", "memory", "forbidden"})
"""Kinds of failures that are exceptions of the program."""
_TO_REAL = (".float()", ".double()", ".long()", ".bool()")
_FAR = 200
"""Ops that are looked back over."""
_Some = TypeVar("_Some")
_Statement = TypeVar("_Statement", bound=ast.stmt)
Origin: TypeAlias = Callable[[Diagnosis, Tensor, Span | None], dict[str, str]]


class Unsure(Exception):
    """A rule lacks what it would have to know: it says nothing, and the next one is asked."""


def known(value: _Some | None) -> _Some:
    """What a rule cannot do without."""
    if value is None:
        raise Unsure
    return value


def a(kind: type[_Some], value: object) -> _Some:
    """The same, when it must be of a class."""
    if not isinstance(value, kind):
        raise Unsure
    return value


def only_if(condition: object) -> None:
    """What must hold for a rule to say anything."""
    if not condition:
        raise Unsure


def is_complex(tensor: Tensor | None) -> bool:
    """Whether numbers have an imaginary part, which a conversion to real ones drops."""
    return tensor is not None and tensor.dtype.startswith("complex")


class Case:
    """A failure, its diagnosis, and the parts of its message that a rule's pattern named."""

    def __init__(self, diagnosis: Diagnosis, failure: Failure) -> None:
        self.diagnosis = diagnosis
        self.failure = failure
        self.code = source_of(diagnosis.trace.program.code)
        self.groups: dict[str, str] = {}
        self.rule = ""
        """Code of the rule that is looking."""

    @property
    def facts(self) -> dict[str, str]:
        """What the running program told."""
        return self.failure.facts

    @property
    def suggestion(self) -> str:
        """The real name nearest to the one that does not exist."""
        return self.facts.get("suggestion", "")

    @property
    def is_only(self) -> bool:
        """Whether no other is as near."""
        return self.facts.get("only") == "yes"

    @property
    def is_other_case(self) -> bool:
        """`nn.linear`: whether capitals are all that tells the two apart."""
        return bool(self.suggestion) and self.facts.get("name", "").lower() == self.suggestion.lower()

    @property
    def place(self) -> str:
        """Where else in PyTorch that very name does exist."""
        return self.facts.get("place", "")

    @cached_property
    def has_torch(self) -> bool:
        """Whether the program calls the library `torch`."""
        return self.code.is_bound("torch")

    @property
    def is_in_loader(self) -> bool:
        """Whether a DataLoader was fetching a batch."""
        return any("data/_utils" in frame.file for frame in self.failure.frames)

    @cached_property
    def node(self) -> ast.expr | ast.stmt | None:
        """The failing expression."""
        return self.code.at(self.failure.span)

    def written_as(self, *shapes: str) -> Written | None:
        """The parts of the failing expression that has one of some shapes; or of a call of it, its statement or what
        that assigns to."""
        targets = self.statement.targets if isinstance(self.statement, ast.Assign) else []
        above = self.code.parents.get(self.node) if self.node is not None else None
        call = above if isinstance(above, ast.Call) and above.func is self.node else None
        places = ((node, shape) for node in (self.node, call, self.statement, *targets) for shape in shapes)
        return next((found for node, shape in places if (found := written(self.code, node, shape))), None)

    @cached_property
    def call(self) -> ast.Call | None:
        """The failing expression when it is a call."""
        return self.node if isinstance(self.node, ast.Call) else None

    @cached_property
    def statement(self) -> ast.stmt | None:
        """The failing statement."""
        return self.code.statement_at(self.failure.span)

    @cached_property
    def op(self) -> Op | None:
        """The op that raised."""
        return self.diagnosis.ops.get(self.failure.op or "")

    @cached_property
    def layer(self) -> Module | None:
        """The library's layer in which the op raised."""
        module = self.diagnosis.modules.get(self.op.module or "") if self.op is not None else None
        return module if module is not None and not self.code.classes(module.type) else None

    @cached_property
    def layer_made(self) -> ast.Call | None:
        """Where the program made that layer."""
        return layer_call(self.diagnosis, self.layer.id) if self.layer is not None else None

    def inputs(self) -> list[Tensor]:
        """The tensors given to the op that raised; of what a layer had padded for it, what the layer was given."""
        given = map(self._unpadded, self.op.inputs) if self.op is not None else ()
        return [self.diagnosis.tensors[input_] for input_ in given if input_ in self.diagnosis.tensors]

    def _unpadded(self, tensor: str) -> str:
        maker = self.diagnosis.maker.get(tensor)
        is_own = maker is not None and self.layer is not None and maker.module == self.layer.id
        return maker.inputs[0] if maker is not None and is_own and maker.name == "pad" else tensor

    @property
    def first(self) -> Tensor:
        """The first of them."""
        return known(next(iter(self.inputs()), None))

    @property
    def pair(self) -> tuple[Tensor, Tensor]:
        """The first two."""
        return self.first, known(next(iter(self.inputs()[1:]), None))

    def argument(self, position: int, name: str = "") -> Tensor:
        """One argument of the op that raised, which must be a tensor."""
        given = self.op.arguments if self.op is not None else ()
        positional = [argument for argument in given if not argument.name]
        named = [argument for argument in given if name and argument.name == name]
        found = next(iter([*named, *positional[position : position + 1]]), None)
        return known(self.diagnosis.tensors.get(known(found).tensor or ""))

    def operand(self, node: ast.AST | None) -> Operand | None:
        """What a name in the failing expression stood for."""
        text = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
        return next((operand for operand in self.failure.operands if operand.text == text), None)

    def tensor_of(self, node: ast.AST | None) -> Tensor | None:
        """The tensor that a part of the failing expression gave."""
        if not isinstance(node, ast.expr):
            return None
        operand = self.operand(node)
        if operand is not None:
            return self.diagnosis.tensors.get(operand.tensor or "")
        made = [op for op in self._ops_of(node) if not op.raised]
        return self.diagnosis.tensors.get(made[-1].outputs[0]) if made and len(made[-1].outputs) == 1 else None

    def _ops_of(self, node: ast.expr) -> Sequence[Op]:
        """What ran at an expression; for the call of a module of the program, in its forward."""
        span = self.code.span(node)
        ran = [call for call in self.diagnosis.trace.calls if call.span == span and not call.raised]
        last = self.diagnosis.ops.get(ran[-1].last_op or "") if ran else None
        return self.diagnosis.ops_at(span) or ((last,) if last is not None else ())

    def written(self, tensor: Tensor | None) -> ast.expr | None:
        """The part of the failing expression that gave a tensor; None when there is none or more than one."""
        parts: list[ast.expr] = []
        match self.node:
            case ast.Call(func=function, args=args, keywords=words):
                receiver = [function.value] if isinstance(function, ast.Attribute) else []
                parts = [*receiver, *args, *(word.value for word in words)]
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.Compare(left=left, comparators=others):
                parts = [left, *others]
            case ast.AugAssign(value=value):
                parts = [value]
        found = [part for part in parts if tensor is not None and self._is(part, tensor)]
        if not found and isinstance(self.node, ast.BinOp):  # a call without an op of its own hands its argument on
            found = [part for part in parts if self.tensor_of(part) is None]
        if not found and tensor is not None and not tensor.names and tensor.id not in self.diagnosis.maker:
            found = [part for part in parts if isinstance(part, ast.Call) and self.tensor_of(part) is None]
        return found[0] if len(found) == 1 else None

    def _is(self, part: ast.expr, tensor: Tensor) -> bool:
        given = self.tensor_of(part)
        return given is not None and (given.identity or given.id) == (tensor.identity or tensor.id)

    def say(self, tensor: Tensor | None) -> str:
        """What to call a tensor: as it is written here, else its name."""
        node = self.written(tensor)
        if node is not None:
            return self.code.short(node)
        maker = self.diagnosis.maker.get(tensor.id) if tensor is not None else None
        module = self.diagnosis.modules.get(maker.module or "") if maker is not None else None
        if maker is not None and maker.span == self.failure.span and module is not None:
            is_open = any(call.raised and call.module == module.id for call in self.diagnosis.trace.calls)
            return UNKNOWN if is_open else f"{module.path}(…)"  # of the failing call's own parts, by no name of its own
        return self.diagnosis.say(tensor.id if tensor is not None else None)

    def appended(self, node: ast.expr) -> Written | None:
        """The call that put things into a list, when one line does that."""
        name = dotted(node).rpartition(".")[2]
        calls = [put for one in self.code.calls if (put := written(self.code, one, "LIST.append(VALUE)"))]
        here = [put for put in calls if name and dotted(put.part("LIST")).rpartition(".")[2] == name]
        return here[0] if len(here) == 1 else None

    def cast(self, tensor: Tensor | None, call: str) -> Edits:
        """A conversion of what gave a tensor here; of a complex one none that would drop its imaginary part."""
        node, is_lossy = self.written(tensor), is_complex(tensor) and call in _TO_REAL
        return self.code.method(node, call) if node is not None and not is_lossy else ()

    def made_last(self, node: ast.AST | None) -> ast.Assign | None:
        """The last assignment above the failing line to the name written there."""
        name = node.id if isinstance(node, ast.Name) else ""
        return self._last_above(node, (one for one in self.code.assignments(name) if one is not self.statement))

    def added_last(self, node: ast.AST | None) -> ast.AugAssign | None:
        """The last `name += …` above the failing line, below what else is assigned to the name written there."""
        name, made = node.id if isinstance(node, ast.Name) else "", self.made_last(node)
        adding = (one for one in self.code.nodes if isinstance(one, ast.AugAssign) and dotted(one.target) == name)
        found = self._last_above(node, adding)
        return found if found is not None and (made is None or made.lineno < found.lineno) else None

    def unpacked_last(self, node: ast.AST | None) -> tuple[ast.Assign | None, int, int]:
        """The last assignment of several results above the failing line that gave one to the name written there, and
        which of how many that was."""
        name = node.id if isinstance(node, ast.Name) else ""
        named = {
            one: [dotted(part) for part in one.targets[0].elts]
            for one in self.code.nodes
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Tuple)
        }
        found = self._last_above(node, (one for one, names in named.items() if name in names))
        names = named[found] if found is not None else [name]
        return found, names.index(name) + 1, len(names)

    def _last_above(self, node: ast.AST | None, statements: Iterable[_Statement]) -> _Statement | None:
        """The last of some statements that stands above the failing line, in the same function as a name there."""
        span = self.failure.span
        if not isinstance(node, ast.Name) or span is None:
            return None
        scope = self.code.function(node)
        made = [one for one in statements if one.lineno <= span.line and self.code.function(one) is scope]
        return made[-1] if made else None

    def value_of(self, node: ast.expr) -> ast.expr:
        """The expression that a name got its value from; the expression itself when it is no such name."""
        statement = self.made_last(node)
        return statement.value if statement is not None else node

    def about(self, tensor: Tensor | None, other: Tensor | None = None) -> dict[str, str]:
        """What a sentence may say of a tensor, and of another beside it."""
        found: dict[str, str] = {}
        for prefix, name, one in (("", "name", tensor), ("other_", "other", other)):
            if one is not None:
                found |= {
                    name: self.say(one),
                    f"{prefix}shape": sizes(one.shape),
                    f"{prefix}axes": str(len(one.shape)),
                    f"{prefix}count": str(math.prod(one.shape)),
                    f"{prefix}dtype": one.dtype,
                    f"{prefix}device": one.device,
                }
        return found

    def take_layer(self, function: ast.expr) -> ast.Call | None:
        """The layer that is called, where it failed before any op ran in it: where it was made."""
        name = ast.unparse(function).removeprefix("self.")
        raised = {call.module for call in self.diagnosis.trace.calls if call.raised}
        named = [one for one in self.diagnosis.trace.modules if f".{one.path}".endswith(f".{name}")]
        found = [one for one in named if one.id in raised] or named
        self.layer_made = layer_call(self.diagnosis, found[0].id) if len(found) == 1 else None
        return self.layer_made

    def makers(self, tensor: Tensor) -> Iterator[Op]:
        """The ops that a tensor comes from, each by the first input of the one before."""
        return self.diagnosis.back(tensor.id, _FAR)

    @property
    def made_at(self) -> dict[str, str]:
        """Line where the program made the layer, or else the part of the model that it is in."""
        made = self.layer_made
        if made is None and self.layer is not None:
            made = made_alike(self.diagnosis, self.layer.id) or made_inside(self.diagnosis, self.layer.id)
            made = made or self._only_maker(self.layer.type)
        return {"made_line": str(made.lineno) if made is not None else line(self.failure.span)}

    def _only_maker(self, type_: str) -> ast.Call | None:
        """The only call in the program that makes a layer of a class."""
        found = [call for call in self.code.calls if called(call) == type_]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _about_op(self) -> dict[str, str]:
        if self.op is None:
            return {}
        layer = self.layer
        return {
            "op": self.op.name,
            "layer": layer.path if layer is not None else self.op.name,
            **self.made_at,
            **self.about(*self.inputs()[:2] or (None,)),
        }

    def origin(self, tensor: Tensor, of: Origin = shape_origin) -> dict[str, str]:
        """The line that gave a tensor its shape or its type, for the sentence about it."""
        found = of(self.diagnosis, tensor, self.failure.span)
        return {**found, "origin_name": self.say(tensor)} if found else {}

    def finding(
        self,
        code: str = "",
        given: Mapping[str, str] = {},
        /,
        *,
        span: Span | None = None,
        fix: Iterable[Edit] = (),
        tensors: Iterable[Tensor | None] | None = None,
        **parameters: str,
    ) -> Finding:
        """The diagnosis, at the failing place unless another is given. What is known of the op that raised can be said
        in any; more comes as a mapping, by name, or both."""
        where = span or self.failure.span
        about = self._about_op
        if tensors is not None and len(tensors := tuple(tensors)) == 1:  # nothing is said of a second one
            about = _of_one(about)
        common = {"line": line(where), "used_line": line(self.failure.span), "code": self.code_excerpt(where)}
        return Finding(
            code=code or self.rule,
            severity="error",
            span=where,
            tensors=tuple(one.id for one in (self.inputs()[:2] if tensors is None else tensors) if one is not None),
            parameters={**common, **about, **self.groups, **given, **parameters},
            fix=tuple(fix),
        )

    def code_excerpt(self, span: Span | None) -> str:
        """What is written at a place."""
        return self.code.excerpt(span)


Rule: TypeAlias = "Callable[[Case], Finding | None]"
"""Says what is known of a case; nothing, or `Unsure`, when that is not enough."""


def first_told(rules: Iterable[Rule], case: Case) -> Finding | None:
    """What the first of some rules says that is sure."""
    for rule in rules:
        with suppress(Unsure):
            if (told := rule(case)) is not None:
                return told
    return None


def plain(case: Case) -> Finding:
    """The message says it all."""
    return of_first(case.finding())


def of_call(case: Case) -> Finding:
    """The message and the call say it all."""
    known(case.call)
    return of_first(case.finding())


def of_first(told: Finding) -> Finding:
    """Without what is unknown of the second tensor, of which nothing is said."""
    return replace(told, parameters=_of_one(told.parameters))


def _of_one(said: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in said.items() if (name[:5], text) != ("other", UNKNOWN)}


def of_one(case: Case) -> Finding:
    """All that is to be said is the shape of the first tensor, and where it came from."""
    return of_first(case.finding("", case.origin(case.first) if case.first.shape else {}))


def of_two(case: Case) -> Finding:
    """All that is to be said is the shapes of the first two tensors."""
    return case.finding(tensors=case.pair)


def instead(before: str, after: str = "", code: str = "", **said: str) -> Rule:
    """Says the parts of an expression of a shape, and writes them in another."""

    def rule(case: Case) -> Finding:
        found = known(case.written_as(before))
        right = {name: found.as_(shape) for name, shape in said.items()}
        tensors = case.inputs()[:2] or map(case.tensor_of, found.expressions)
        fix = found.instead(after) if after else ()
        return case.finding(code, {**found.said, **right}, tensors=tensors, fix=fix)

    return rule
