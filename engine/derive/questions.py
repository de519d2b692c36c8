"""Answers to the questions of a program's comments: never written down, always read off the trace."""

import ast
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise
from typing import Literal, NamedTuple

from msgspec.structs import replace

from engine.program.questions import Asked, questions_in
from engine.trace import Mistake, Number, Op, Pass, Question, Span, Tensor
from engine.trace_index import TraceIndex

MOST_NUMBERS = 16
_DTYPES = ("float32", "float64", "int64", "bool")
_YES_NO = ("True", "False")
_REPEATING = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
_MEANS = frozenset(("mean", "mse_loss", "l1_loss"))
_SQUARES = frozenset(("mse_loss", "square"))
_MOST_POWERS = 4
"""Of one pass that are looked at: for each the graph is walked."""
_MOST_PARTS = 4
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?:/(\d+))?", re.IGNORECASE)
_AS_GOOD = 0.005
"""How far off a number may be, in proportion, and be right; the page judges typed ones alike."""
Problem = Literal["form", "place", "visit", "unknown", "before", "large", "choices", "none"]


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
    line = asked.statement.lineno if asked.statement is not None else asked.span.line
    bare = Question(
        span=asked.span, text=asked.text, line=line, step=0, until=0, kind="number", why=asked.why,
        visit=asked.visit if asked.may_repeat else 0,
    )  # fmt: skip
    try:
        where = _place(moments, asked)
        return _answered(moments, asked, where, replace(bare, step=where.step, until=where.until))
    except _Unanswerable as refused:
        return replace(bare, problem=refused.why)


def _place(moments: "_Moments", asked: Asked) -> _Stretch:
    if not asked.name and not asked.attribute:
        raise _Unanswerable("form")
    if asked.attribute == "line":
        return _rest(moments, asked)
    if asked.visit > 1 and not asked.may_repeat:
        raise _Unanswerable("visit")
    visits = moments.visits(asked.statement, asked.visit)
    if not visits:
        raise _Unanswerable("place")
    if asked.statement in moments.unclear:
        raise _Unanswerable("unknown")
    if len(visits) < asked.visit:
        raise _Unanswerable("visit")
    return visits[asked.visit - 1]


def _rest(moments: "_Moments", asked: Asked) -> _Stretch:
    """All from the statement a comment stands beside; from the next one where it has a line of its own."""
    if asked.may_repeat:
        raise _Unanswerable("place")
    first = asked.statement.lineno if asked.is_beside and asked.statement is not None else asked.span.line
    step, until = moments.from_line(first), len(moments.index.trace.timeline)
    failure = moments.index.trace.failure
    spans = [frame.span for frame in failure.frames if frame.span is not None] if failure is not None else []
    if spans and spans[0].line < first:
        raise _Unanswerable("before")
    if step == until:
        raise _Unanswerable("place")
    return _Stretch(step, until)


def _answered(moments: "_Moments", asked: Asked, where: _Stretch, bare: Question) -> Question:
    if asked.attribute == "line":
        return _failing_line(moments.index, where, bare)
    if asked.attribute == "flow":
        return _flow(moments, where, bare)
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
    if asked.attribute in ("dtype", "grad.dtype"):
        return _choice(bare, target.dtype, tuple(dict.fromkeys((*_DTYPES, target.dtype))), asked.choices)
    if asked.attribute in ("requires_grad", "is_leaf"):
        return _choice(bare, str(getattr(target, asked.attribute)), _YES_NO, asked.choices)
    if asked.attribute == "_version":
        return replace(bare, data=(target.version,))
    shown = replace(bare, shape=target.shape, data=_numbers(target), may_be_none=wants_grad)
    if asked.choices:
        return _choice(bare, _right_numbers(shown.data, asked.choices), (), asked.choices)
    mistakes = _mistakes(moments, state, target, where.until) if wants_grad else _of_any(target)
    return replace(shown, mistakes=tuple(_told_apart(mistakes, shown.data)))


def _failing_line(index: TraceIndex, where: _Stretch, bare: Question) -> Question:
    shown = replace(bare, kind="line", may_be_none=True)
    failure = index.trace.failure
    if failure is None:
        return replace(shown, is_none=True)
    if failure.span is None or index.trace.timeline[-1].kind != "failure":
        raise _Unanswerable("unknown")
    statement = index.code.statement_at(failure.span)
    is_whole = statement is not None and not hasattr(statement, "body")
    first = statement.lineno if is_whole and statement is not None else failure.span.line
    last = statement.end_lineno or first if is_whole and statement is not None else failure.span.end_line
    callers = tuple(frame.span.line for frame in failure.frames if frame.span and not first <= frame.span.line <= last)
    mistakes = (Mistake(code="caller", data=callers),) if callers else ()
    return replace(shown, data=(first, last), mistakes=mistakes)


def _flow(moments: "_Moments", where: _Stretch, bare: Question) -> Question:
    """The ops and leaves on the picture before the passes of a statement, and those that their gradient comes to."""
    index = moments.index
    between = index.trace.timeline[where.step : where.until]
    passes = [index.passes[step.pass_id] for step in between if step.kind == "pass" and step.pass_id in index.passes]
    if not passes:
        raise _Unanswerable("place")
    reached = {visit.node for each in passes for visit in each.visits}
    leaves = [node.variable for node in index.trace.nodes if node.id in reached and node.variable is not None]
    reached |= {index.identity(leaf) for leaf in leaves}
    reached |= {index.identity(tensor) for each in passes for tensor in each.inputs or () if tensor is not None}
    parts = list(moments.parts(where.step))
    if not 2 <= len(parts) <= MOST_NUMBERS:
        raise _Unanswerable("large")
    labels = _labels(index, parts)
    right = [label for label, part in zip(labels, parts, strict=True) if reached & _known_as(index, part)]
    return replace(bare, kind="flow", choices=tuple(labels), parts=tuple(parts), answer=", ".join(right))


def _known_as(index: TraceIndex, part: str) -> set[str]:
    """An op by its nodes, a leaf by its object."""
    return set(index.ops[part].nodes) if part in index.ops else {index.identity(part)}


def _labels(index: TraceIndex, parts: Sequence[str]) -> list[str]:
    """What each is called: its variable, else the op and its line; none twice."""
    found: list[str] = []
    for part in parts:
        op = index.ops.get(part)
        tensor = index.tensors[op.outputs[0] if op is not None else part]
        name = tensor.names[-1] if tensor.names else op.name if op is not None else part
        place = f"{name} ({op.span.line})" if op is not None and op.span is not None else name
        choices = chain(
            (name,) if tensor.names else (), (place,), (f"{place} {again}" for again in range(2, len(parts) + 2))
        )
        found.append(next(label for label in choices if label not in found))
    return found


def _none(bare: Question, asked: Asked) -> Question:
    if asked.attribute != "grad":
        raise _Unanswerable("none")
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


def _as_path(name: str) -> str:
    """`net.0.weight` of `net[0].weight`."""
    return re.sub(r"""\[['"]?(\w+)['"]?\]""", r".\1", name)


def _is_number(value: Number) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _right_numbers(data: Sequence[Number], choices: Sequence[str]) -> str:
    """The one choice that says these numbers. Raises _Unanswerable where none or several do."""
    right = [choice for choice in choices if _says(choice, data)]
    if len(right) != 1:
        raise _Unanswerable("choices")
    return right[0]


def _says(choice: str, data: Sequence[Number]) -> bool:
    said = [float(above) / float(below or 1) for above, below in _NUMBER.findall(choice) if float(below or 1)]
    known = [float(value) for value in data if isinstance(value, int | float)]
    pairs = zip(said, known, strict=False)
    return len(said) == len(data) and all(math.isclose(a, b, rel_tol=_AS_GOOD, abs_tol=1e-9) for a, b in pairs)


def _mistakes(moments: "_Moments", state: Tensor, grad: Tensor, until: int) -> Iterator[Mistake]:
    pass_, delta = moments.last_added(state, until)
    if delta is not None and delta.data and delta.shape == grad.shape:
        yield Mistake(code="last_alone", data=delta.data)
    if state.data and state.shape == grad.shape:
        yield Mistake(code="value", data=state.data)
    came = moments.came_to_its_op(pass_, delta)
    if came is not None and came.data and came.shape == grad.shape:
        yield Mistake(code="local_factor", data=came.data)
    for count in moments.averaged(until):
        yield Mistake(code="mean_factor", data=tuple(_times(value, count) for value in grad.data or ()))
    if pass_ is not None and delta is not None and delta.data == grad.data:
        for part in moments.came_together(pass_, state):
            if part.data and part.shape == grad.shape:
                yield Mistake(code="one_path", data=part.data)
        for exponent in moments.powers(pass_, state):
            yield Mistake(code="exponent", data=tuple(_times(value, 1 / exponent) for value in grad.data or ()))
    yield from _of_any(grad)


def _of_any(tensor: Tensor) -> Iterator[Mistake]:
    data = tensor.data or ()
    if not all(isinstance(value, int) and value >= 0 for value in data):  # a count has no sign to be wrong
        yield Mistake(code="sign", data=tuple(_times(value, -1) for value in data))
    if len(tensor.shape) == 2:
        rows, columns = tensor.shape
        if rows == columns:
            turned = tuple(data[row * columns + column] for column in range(columns) for row in range(rows))
            yield Mistake(code="transposed", data=turned)


def _exponent(op: Op) -> int:
    """Of a power with one that stands in the program; 0 for any other op."""
    if op.name in _SQUARES:
        return 2
    written = (op.arguments[1].text or "") if op.name == "pow" and len(op.arguments) > 1 else ""
    return int(written) if written.isdecimal() and len(written) < 9 else 0


def _times(value: Number, by: float) -> Number:
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
        self.unclear: set[ast.stmt] = set()
        """Statements of which nothing tells one run from the next."""
        self._known: dict[int, frozenset[ast.AST]] = {}
        self.grads: dict[str, list[tuple[int, str | None, str | None]]] = defaultdict(list)
        """By leaf: after which step its `.grad` was what, and what had arrived."""
        self.visited: dict[str, list[int]] = defaultdict(list)
        """By node: the steps after which it had run."""
        for at, step in enumerate(index.trace.timeline, 1):
            self._read(at, step.op, step.update, step.hook)
            pass_ = index.passes.get(step.pass_id or "")
            if pass_ is not None and step.kind == "visit" and step.visit is not None:
                self.visited[pass_.visits[step.visit].node].append(at)
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

    def visits(self, statement: ast.stmt | None, most: int) -> list[_Stretch]:
        """The steps of a statement, each time it ran, in order; what its calls of functions do belongs to it. Where
        such steps may be of the statement before as well, they count to both, so that nothing is shown too early. At
        most so many, and none after turns of a loop that were not kept."""
        if statement is None:
            return []
        inside = [self._is_in(statement, span) for span in self._spans]
        starts = self._starts(statement, inside)
        if not starts:
            return self._in_functions(statement)
        gap = next((at for at, step in enumerate(self.index.trace.timeline) if step.kind == "gap"), len(inside))
        found: list[_Stretch] = []
        for first, following in pairwise([*starts, len(inside)]):
            if len(found) == most or first > gap:
                break
            until = next((at for at in range(first, following) if inside[at] is False), following)
            found.append(_Stretch(next((at for at in range(first, 0, -1) if inside[at - 1] is not None), 0), until))
        return found

    def _in_functions(self, statement: ast.stmt) -> list[_Stretch]:
        """The steps of a statement of the module whose calls of functions do all it does: those between what certainly
        comes before and after it."""
        lines = [self._line(at) for at in range(len(self._spans))]
        certain = [at for at, line in enumerate(lines) if line and not self._around(line)]
        before = max((at for at in certain if lines[at] < statement.lineno), default=-1)
        after = min((at for at in certain if lines[at] > (statement.end_lineno or 0)), default=len(lines))
        code = self.index.code
        if self._around(statement.lineno) or code.in_loop(statement) or before + 1 >= after:
            return []
        return [_Stretch(before + 1, after)]

    def _starts(self, statement: ast.stmt, inside: list[bool | None]) -> list[int]:
        """Where a statement begins to run: after others, or at its first op once more."""
        code = self.index.code
        is_compound = hasattr(statement, "body") or any(isinstance(node, _REPEATING) for node in ast.walk(statement))
        may_repeat = not is_compound and (code.in_loop(statement) or code.is_in_function(statement))
        found: list[int] = []
        runs = hidden = False
        for at, here in enumerate(inside):
            again = here is True and runs and may_repeat and self._what(at) == self._what(found[-1])
            if again and not self._is_called_within(found[-1], at):
                if self._tells_runs_apart(at):
                    found.append(at)
                else:
                    hidden = True
            elif here is True and not runs:
                found.append(at)
            runs = here is True or (runs and here is None)
        if hidden and len(found) == 1 and code.in_loop(statement):
            self.unclear.add(statement)
        return found

    def _is_called_within(self, first: int, at: int) -> bool:
        """Whether a step belongs to the call of a module that an earlier one began."""
        return self._depths[at] > self._depths[first]

    @cached_property
    def _depths(self) -> list[int]:
        """How many calls of modules have begun and not ended before each step."""
        steps = self.index.trace.timeline
        return list(accumulate(((step.kind == "call") - (step.kind == "call_end") for step in steps), initial=0))

    def _tells_runs_apart(self, at: int) -> bool:
        """Whether a step comes once in each run of its expression; the ops of another call, as `sum(tensors)`, may come
        several times."""
        op = self.index.ops.get(self.index.trace.timeline[at].op or "")
        call = self.index.code.call_at(op.span) if op is not None else None
        return op is None or call is None or ast.unparse(call.func).split(".")[-1] == op.name

    def _what(self, at: int) -> tuple[str, str, Span | None]:
        """What a step does and where."""
        step = self.index.trace.timeline[at]
        op = self.index.ops.get(step.op or "")
        return step.kind, op.name if op is not None else "", self._spans[at]

    def from_line(self, line: int) -> int:
        """How many steps there were before any of a line of the module or a later one."""
        later = [span is not None and span.line >= line and not self._around(span.line) for span in self._spans]
        failed = [step.kind == "failure" for step in self.index.trace.timeline]
        first = next((at for at in range(len(later)) if later[at] or failed[at]), len(later))
        while first > 0 and (self._spans[first - 1] is None or self._around(self._line(first - 1))):
            first -= 1
        return first

    def _line(self, at: int) -> int:
        span = self._spans[at]
        return span.line if span is not None else 0

    def parts(self, step: int) -> Iterator[str]:
        """The leaves that were used until then, and the ops that used something, in order."""
        index = self.index
        used: set[str] = set()
        for each in index.trace.timeline[:step]:
            op = index.ops.get(each.op or "")
            if op is None or each.kind != "op" or op.raised or op.in_place or not op.inputs or not op.outputs:
                continue
            for tensor in op.inputs:
                maker = index.maker.get(tensor)
                identity = index.identity(tensor)
                is_leaf = maker is None or not maker.inputs or maker.in_place
                if identity not in used and is_leaf and index.tensors[tensor].names and index.tensors[tensor].is_leaf:
                    used.add(identity)
                    yield tensor
            yield op.id

    def _is_in(self, statement: ast.stmt, span: Span | None) -> bool | None:
        """Whether a place lies in a statement; None where it does not tell, as in another function or within a pass."""
        if span is None:
            return None
        if statement.lineno <= span.line <= (statement.end_lineno or statement.lineno):
            return True
        return None if self._around(span.line) - self._around(statement.lineno) else False

    def _around(self, line: int) -> frozenset[ast.AST]:
        """The functions and classes that a line stands in."""
        found = self._known.get(line)
        if found is None:
            found = frozenset(
                each for each in self._definitions if each.lineno <= line <= (each.end_lineno or each.lineno)
            )
            self._known[line] = found
        return found

    @cached_property
    def _definitions(self) -> list[ast.FunctionDef | ast.ClassDef | ast.Lambda]:
        return [node for node in self.index.code.nodes if isinstance(node, _DEFINITIONS)]

    @cached_property
    def _spans(self) -> list[Span | None]:
        """Where each step comes from: all of a pass, hooks and ops of its rank in it too, from the call of it."""
        index = self.index
        found: list[Span | None] = []
        passes: dict[str, tuple[int | None, Span | None]] = {}
        for step in index.trace.timeline:
            if step.kind == "pass" and step.pass_id is not None:
                pass_ = index.passes.get(step.pass_id)
                passes[step.pass_id] = (pass_.rank, pass_.span) if pass_ is not None else (None, step.span)
            owner = index.ops.get(step.op or "") or index.updates.get(step.update or "")
            own = step.span or (owner.span if owner is not None else None)
            rank = owner.rank if owner is not None else passes.get(step.pass_id or "", (None,))[0]
            found.append(next((span for its, span in passes.values() if its == rank), own))
            if step.kind == "pass_end":
                passes.pop(step.pass_id or "", None)
        return found

    def bound(self, asked: Asked, until: int) -> str:
        """The identity of what a name stands for, by the last statement that bound it."""
        index = self.index
        found = [
            (self.births.get(tensor.id, 0), index.identity(tensor.id))
            for tensor in index.trace.tensors
            if asked.name in map(_as_path, tensor.names) and self.births.get(tensor.id, 0) <= until
        ]
        bound = [visit for visit in self.visits(self._binding(asked), until) if visit.until <= until]
        made = [each for each in found if bound and bound[-1].step < each[0] <= bound[-1].until]
        if made:
            return max(made, key=lambda each: each[0])[1]
        if len({identity for _, identity in found}) != 1:
            raise _Unanswerable("unknown" if found or asked.attribute or "." not in asked.name else "form")
        return found[0][1]

    def _binding(self, asked: Asked) -> ast.stmt | None:
        source = self.index.code
        last = asked.span.line
        stored = [
            node
            for node in source.nodes
            if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id == asked.name.partition(".")[0]
            and node.lineno <= last
            and (asked.may_repeat or not source.is_in_function(node))
        ]
        return source.statement(max(stored, key=lambda node: node.lineno)) if stored else None

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
        """Its `.grad` then."""
        if not state.is_leaf:
            return self._retained(state, until)
        then = [after for at, after, _ in self.grads[self.index.identity(state.id)] if at <= until]
        return self.index.tensors[then[-1]] if then and then[-1] is not None else None

    def _retained(self, state: Tensor, until: int) -> Tensor | None:
        """What `retain_grad` kept: told at the end alone, it is that of the last pass through its node."""
        identity = self.index.identity(state.id)
        last = self.index.last_states[identity]
        if last.grad is None:
            if "retain_grad" in self.index.trace.program.code and identity not in self._held:
                raise _Unanswerable("unknown")
            return None
        maker = self.index.maker.get(state.id)
        passed = [at for node in (maker.nodes if maker is not None else ()) for at in self.visited[node]]
        if not passed or min(passed) <= until < max(passed):
            raise _Unanswerable("unknown")
        self._bear(max(passed), last.grad)
        return self.index.tensors[last.grad] if until >= max(passed) else None

    @cached_property
    def _held(self) -> set[str]:
        """Tensors that variables held at the end."""
        return {
            self.index.identity(tensor)
            for variable in self.index.trace.variables
            for tensor in (variable.tensor, *variable.tensors)
            if tensor is not None
        }

    def last_added(self, state: Tensor, until: int) -> tuple[Pass | None, Tensor | None]:
        """What arrived last at a leaf, and by which pass."""
        index = self.index
        then = [(at, delta) for at, _, delta in self.grads[index.identity(state.id)] if at <= until]
        at, delta = then[-1] if then else (0, None)
        pass_ = index.passes.get(index.trace.timeline[at - 1].pass_id or "") if at else None
        return pass_, index.tensors.get(delta or "")

    def came_together(self, pass_: Pass, state: Tensor) -> Iterator[Tensor]:
        """What came together at a leaf, a few of it."""
        leaf = self.index.leaf_nodes.get(self.index.identity(state.id))
        visits = (visit for visit in pass_.visits if visit.node == leaf)
        terms = (term.tensor for visit in visits for sum_ in visit.sums for term in sum_.terms)
        for tensor in islice(terms, _MOST_PARTS):
            if tensor in self.index.tensors:
                yield self.index.tensors[tensor]

    def powers(self, pass_: Pass, state: Tensor) -> Iterator[int]:
        """Exponents of powers that all of a leaf's gradient came through: each is a factor of it."""
        index = self.index
        leaf = index.leaf_nodes.get(index.identity(state.id))
        roots = [root.node for root in pass_.roots if root.node is not None]
        passed = {visit.node for visit in pass_.visits}
        powers = [(op.nodes[0], _exponent(op)) for op in index.trace.ops if passed.intersection(op.nodes)]
        for node, exponent in [each for each in powers if each[1] > 1][:_MOST_POWERS]:
            if leaf not in index.reached_from(roots, without=node):
                yield exponent

    def came_to_its_op(self, pass_: Pass | None, delta: Tensor | None) -> Tensor | None:
        """What came to the one op, of one result, whose gradient arrived at a leaf as it left."""
        passed = pass_.visits if pass_ is not None and delta is not None else ()
        visit = next((visit for visit in passed if delta is not None and delta.id in visit.left), None)
        came = visit.entered[0] if visit is not None and len(visit.entered) == 1 else None
        return self.index.tensors.get(came or "")

    def averaged(self, until: int) -> Iterator[int]:
        """Of how many elements means were taken."""
        for op in self.index.trace.ops:
            count = self.index.elements(op.inputs[0]) if op.name in _MEANS and op.inputs else 0
            if count > 1 and self.index.op_step.get(op.id, until) < until:
                yield count
