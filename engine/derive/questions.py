"""Answers to the questions of a program's comments: never written down, always read off the trace."""

import ast
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec.structs import replace

from engine.program.questions import Asked, questions_in
from engine.trace import Mistake, Number, Question, Span, Tensor
from engine.trace_index import TraceIndex

MOST_NUMBERS = 16
_DTYPES = ("float32", "float64", "int64", "bool")
_YES_NO = ("True", "False")
_MEANS = frozenset(("mean", "mse_loss", "l1_loss"))
Problem = Literal["form", "place", "repeated", "unknown", "before", "large", "choices"]


class _Unanswerable(Exception):
    """The trace does not answer a question; says why."""

    def __init__(self, why: Problem) -> None:
        super().__init__(why)
        self.why: Problem = why


class _Stretch(NamedTuple):
    """The steps of one statement: how many have happened before and after it."""

    step: int
    until: int


def questions(index: TraceIndex) -> tuple[Question, ...]:
    """All questions of the program that ran; those it did not get to are places without a step."""
    asked = questions_in(index.trace.program.code)
    if not asked:
        return ()
    moments = _Moments(index)
    return tuple(_question(moments, one) for one in asked)


def _question(moments: "_Moments", asked: Asked) -> Question:
    where = moments.stretch(asked.statement)
    place = where or _Stretch(0, 0)
    line = asked.statement.lineno if asked.statement is not None else asked.span.line
    bare = Question(
        span=asked.span, text=asked.text, line=line, step=place.step, until=place.until, kind="number", why=asked.why
    )
    try:
        return _answered(moments, asked, _checked(asked, where), bare)
    except _Unanswerable as refused:
        return replace(bare, problem=refused.why)


def _checked(asked: Asked, where: _Stretch | None) -> _Stretch:
    if not asked.name:
        raise _Unanswerable("form")
    if asked.may_repeat:
        raise _Unanswerable("repeated")
    if where is None:
        raise _Unanswerable("place")
    return where


def _answered(moments: "_Moments", asked: Asked, where: _Stretch, bare: Question) -> Question:
    identity = moments.bound(asked, where.until)
    state = moments.state(identity, where.until)
    wants_grad = asked.attribute.startswith("grad")
    target = moments.grad(state, where.until) if wants_grad else state
    if target is not None and moments.births.get(target.id, 0) <= where.step:
        raise _Unanswerable("before")
    if asked.is_none:
        return _choice(bare, str(target is None), _YES_NO, asked.choices)
    if target is None:
        return _none(bare, asked)
    if asked.attribute in ("shape", "grad.shape"):
        return replace(bare, kind="shape", data=target.shape)
    if asked.attribute == "dtype":
        return _choice(bare, target.dtype, tuple(dict.fromkeys((*_DTYPES, target.dtype))), asked.choices)
    if asked.attribute in ("requires_grad", "is_leaf"):
        return _choice(bare, str(getattr(target, asked.attribute)), _YES_NO, asked.choices)
    if asked.attribute == "_version":
        return replace(bare, data=(target.version,))
    shown = replace(bare, shape=target.shape, data=_numbers(target), may_be_none=wants_grad)
    if asked.choices:
        return _choice(bare, _written(shown.data), (), asked.choices)
    mistakes = _mistakes(moments, state, target, where.until) if wants_grad else _of_any(target)
    return replace(shown, mistakes=tuple(_told_apart(mistakes, shown.data)))


def _none(bare: Question, asked: Asked) -> Question:
    if asked.attribute != "grad":
        raise _Unanswerable("unknown")
    if asked.choices:
        return _choice(bare, "None", (), asked.choices)
    return replace(bare, may_be_none=True, is_none=True)


def _choice(bare: Question, answer: str, usual: tuple[str, ...], given: tuple[str, ...]) -> Question:
    choices = given or usual
    if answer not in choices:
        raise _Unanswerable("choices")
    return replace(bare, kind="choice", answer=answer, choices=choices)


def _numbers(tensor: Tensor) -> tuple[Number, ...]:
    if math.prod(tensor.shape) > MOST_NUMBERS:
        raise _Unanswerable("large")
    if not tensor.data or tensor.contents != "known" or not all(_is_number(value) for value in tensor.data):
        raise _Unanswerable("unknown")
    return tensor.data


def _is_number(value: Number) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(data: Sequence[Number]) -> str:
    """One number as a choice has it: `4` for 4.0."""
    return f"{data[0]:g}" if len(data) == 1 else "[" + ", ".join(f"{value:g}" for value in data) + "]"


def _mistakes(moments: "_Moments", state: Tensor, grad: Tensor, until: int) -> Iterator[Mistake]:
    delta = moments.last_delta(state, until)
    if delta is not None and delta.data and delta.shape == grad.shape:
        yield Mistake(code="last_alone", data=delta.data)
    if state.data and state.shape == grad.shape:
        yield Mistake(code="value", data=state.data)
    for count in moments.averaged(until):
        yield Mistake(code="mean_factor", data=tuple(_times(value, count) for value in grad.data or ()))
    yield from _of_any(grad)


def _of_any(tensor: Tensor) -> Iterator[Mistake]:
    data = tensor.data or ()
    yield Mistake(code="sign", data=tuple(_times(value, -1) for value in data))
    if len(tensor.shape) == 2:
        rows, columns = tensor.shape
        if rows == columns:
            turned = tuple(data[row * columns + column] for column in range(columns) for row in range(rows))
            yield Mistake(code="transposed", data=turned)


def _times(value: Number, by: int) -> Number:
    return value * by if isinstance(value, int | float) else value


def _told_apart(mistakes: Iterator[Mistake], answer: tuple[Number, ...]) -> Iterator[Mistake]:
    """Those that give other numbers than the answer, and than each other."""
    known = {answer}
    for mistake in mistakes:
        if mistake.data not in known:
            known.add(mistake.data)
            yield mistake


class _Moments:
    """When what existed: states by their birth, `.grad`s by the step that changed them, statements by their steps."""

    def __init__(self, index: TraceIndex) -> None:
        self.index = index
        self.births: dict[str, int] = {}
        self.grads: dict[str, list[tuple[int, str | None, str | None]]] = defaultdict(list)
        """By leaf: after which step its `.grad` was what, and what had arrived."""
        for at, step in enumerate(index.trace.timeline, 1):
            self._read(at, step.op, step.update, step.hook)
            pass_ = index.passes.get(step.pass_id or "")
            if pass_ is not None and step.kind == "pass_end":
                self._bear(at, *pass_.results)
            if pass_ is not None and step.accumulation is not None:
                added = pass_.accumulations[step.accumulation]
                self._bear(at, added.after)
                self.grads[index.identity(added.tensor)].append((at, added.after, added.delta))

    def _read(self, at: int, op: str | None, update: str | None, hook: str | None) -> None:
        index = self.index
        if op in index.ops:
            self._bear(at, *index.ops[op].outputs)
        if hook in index.hooks:
            self._bear(at, index.hooks[hook].after)
        for change in index.updates[update].changes if update in index.updates else ():
            self._bear(at, change.after)
            if change.leaf is not None:
                self.grads[index.identity(change.leaf)].append((at, change.after, None))

    def _bear(self, at: int, *tensors: str | None) -> None:
        for tensor in tensors:
            if tensor is not None:
                self.births.setdefault(tensor, at)

    def stretch(self, statement: ast.stmt | None) -> _Stretch | None:
        """The steps of a statement. What its calls of functions do belongs to it; where such steps may be of the
        statement before as well, they count to both, so that nothing is shown too early."""
        if statement is None:
            return None
        inside = [self._is_in(statement, span) for span in self._spans]
        if True not in inside:
            return None
        first = inside.index(True)
        until = next((at for at in range(first, len(inside)) if inside[at] is False), len(inside))
        while first > 0 and inside[first - 1] is None:
            first -= 1
        return _Stretch(first, until)

    def _is_in(self, statement: ast.stmt, span: Span | None) -> bool | None:
        """Whether a place lies in a statement; None where it does not tell, as in a function or within a pass."""
        if span is None:
            return None
        if statement.lineno <= span.line <= (statement.end_lineno or statement.lineno):
            return True
        at = bisect_right(self._defined_from, span.line) - 1
        return None if at >= 0 and span.line <= self._defined_to[at] else False

    @cached_property
    def _definitions(self) -> list[ast.stmt]:
        return [node for node in self.index.code.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]

    @cached_property
    def _defined_from(self) -> list[int]:
        return [node.lineno for node in self._definitions]

    @cached_property
    def _defined_to(self) -> list[int]:
        return [node.end_lineno or node.lineno for node in self._definitions]

    @cached_property
    def _spans(self) -> list[Span | None]:
        index = self.index
        found: list[Span | None] = []
        for step in index.trace.timeline:
            owner = (
                index.passes.get(step.pass_id or "")
                or index.ops.get(step.op or "")
                or index.updates.get(step.update or "")
            )
            found.append(step.span or (owner.span if owner is not None else None))
        return found

    def bound(self, asked: Asked, until: int) -> str:
        """The identity of what a name of the module stands for, by the last statement that bound it."""
        index = self.index
        found = [
            index.identity(tensor.id)
            for tensor in index.trace.tensors
            if asked.name in tensor.names and self.births.get(tensor.id, 0) <= until
        ]
        statement = self._binding(asked)
        made = [tensor for tensor in found if self._is_made_by(statement, tensor)]
        if made:
            return made[-1]
        if len(set(found)) != 1:
            raise _Unanswerable("unknown")
        return found[0]

    def _binding(self, asked: Asked) -> ast.stmt | None:
        source = self.index.code
        last = asked.span.line
        stored = [
            node
            for node in source.nodes
            if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id == asked.name
            and node.lineno <= last
            and not source.is_in_function(node)
        ]
        return source.statement(max(stored, key=lambda node: node.lineno)) if stored else None

    def _is_made_by(self, statement: ast.stmt | None, tensor: str) -> bool:
        op = self.index.maker.get(tensor)
        return statement is not None and op is not None and self._is_in(statement, op.span) is True

    def state(self, identity: str, until: int) -> Tensor:
        """What a tensor object was after so many steps; refused where a state has no date."""
        found: Tensor | None = None
        for tensor in self.index.trace.tensors:
            if (tensor.identity or tensor.id) != identity:
                continue
            if tensor.id not in self.births and found is not None:
                raise _Unanswerable("unknown")
            if self.births.get(tensor.id, 0) <= until:
                found = tensor
        if found is None:
            raise _Unanswerable("unknown")
        return found

    def grad(self, state: Tensor, until: int) -> Tensor | None:
        """Its `.grad` then. What `retain_grad` kept is told at the end alone."""
        last = self.index.last_states[self.index.identity(state.id)]
        if not state.is_leaf and last.grad is not None:
            raise _Unanswerable("unknown")
        then = [after for at, after, _ in self.grads[self.index.identity(state.id)] if at <= until]
        return self.index.tensors[then[-1]] if then and then[-1] is not None else None

    def last_delta(self, state: Tensor, until: int) -> Tensor | None:
        """What arrived last at a leaf."""
        then = [delta for at, _, delta in self.grads[self.index.identity(state.id)] if at <= until]
        return self.index.tensors.get(then[-1] or "") if then else None

    def averaged(self, until: int) -> Iterator[int]:
        """Of how many elements means were taken."""
        for op in self.index.trace.ops:
            count = self.index.elements(op.inputs[0]) if op.name in _MEANS and op.inputs else 0
            if count > 1 and self.index.op_step.get(op.id, until) < until:
                yield count
