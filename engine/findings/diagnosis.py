"""What all families of findings ask of a trace beyond its index: what gradients leaves got, what moved them, what
things are called."""

import ast
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence, Set, Sized
from functools import cached_property
from itertools import islice, takewhile
from typing import Literal, TypeAlias, TypeVar

from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword
from engine.program.tree import Function, Placed, covers
from engine.trace import Accumulation, Finding, Module, ModuleCall, Op, Pass, Span, Tensor, Trace, Update
from engine.trace_index import TraceIndex

Family: TypeAlias = "Callable[[Diagnosis], Iterable[Finding]]"
_Item = TypeVar("_Item")
_Key = TypeVar("_Key")
Place: TypeAlias = Op | Span | Placed | None
"""Where a finding is: an op, a node of the program's text, or a stretch of it."""
NAMED = 3  # names in one sentence
MOST_NEAR = 1_000
LEAST_TURNS = 3
"""Turns of a loop from which on what happens in each of them is no chance."""
UNKNOWN = "\0unknown"
"""Said of what the trace does not tell; a finding that would have to say it is not told. No program can write it."""
NO_GRADIENT = "does not require grad and does not have a grad_fn"
RESETS = ("zero_grad", "grad_reset", "grad_set")
"""Updates of a `.grad`, not of a tensor."""


class Diagnosis(TraceIndex):
    """An index that also knows what was learnt, and what to call things in a sentence."""

    def __init__(self, trace: Trace, known: TraceIndex | None = None) -> None:
        super().__init__(trace, known)
        self._met: dict[Function, set[str]] = {}

    @cached_property
    def _gaps(self) -> list[int]:
        """The places in the timeline at which turns of a loop are left out."""
        return [at for at, step in enumerate(self.trace.timeline) if step.kind == "gap"]

    def has_gap(self, begin: int, end: int) -> bool:
        """Whether something between two places of the timeline is not in the trace."""
        return bisect_right(self._gaps, begin) < bisect_left(self._gaps, end)

    @cached_property
    def accumulations(self) -> list[tuple[Pass, Accumulation]]:
        """The gradients that arrived at leaves, in order."""
        return [
            (pass_, added) for pass_ in self.trace.passes for added in pass_.accumulations if added.delta is not None
        ]

    @cached_property
    def frozen(self) -> frozenset[str]:
        """Parameters that require no gradient in the end."""
        last = {self.identity(one.id): one for one in self.trace.tensors if self.is_parameter(one.id)}
        return frozenset(leaf for leaf, one in last.items() if not one.requires_grad)

    @cached_property
    def fed(self) -> frozenset[str]:
        """The leaves at which gradients arrived."""
        return frozenset(added.tensor for _, added in self.accumulations)

    @cached_property
    def steps(self) -> list[Update]:
        """The steps of optimizers that came to their end: not one that its closure left with an exception."""
        return [update for update in self.trace.updates if update.kind == "step" and not update.raised]

    @cached_property
    def trained_until(self) -> int:
        """The place in the timeline of the last step."""
        return max((self.update_step.get(step.id, 0) for step in self.steps), default=-1)

    @cached_property
    def ended(self) -> list[Pass]:
        """The passes that the program itself asked for and that came to their end."""
        return [pass_ for pass_ in self.trace.passes if pass_.parent is None and not pass_.failed]

    @cached_property
    def passes_by_place(self) -> dict[Span | None, list[Pass]]:
        """Those of each line of the program: the turns of a loop."""
        return grouped(self.ended, lambda pass_: pass_.span)

    def begun_at(self, passes: Iterable[Pass]) -> list[float]:
        """The numbers that passes began at, pass by pass."""
        roots = (self.tensors.get(root.tensor or "") for pass_ in passes for root in pass_.roots)
        return [number for root in roots for number in numbers_of(root)]

    @cached_property
    def moves(self) -> list[Update]:
        """Steps and updates by hand since the first pass; what was written before it is initialisation."""
        first = min(self.pass_step.values(), default=0)
        moves = [update for update in self.trace.updates if update.kind in ("step", "data")]
        return [update for update in moves if self.update_step.get(update.id, -1) > first]

    @cached_property
    def stepped(self) -> frozenset[str]:
        """What these changed."""
        return frozenset(leaf for move in self.moves for leaf in self.changed_by(move))

    def held_by(self, step: Update) -> list[str]:
        """The parameters of the optimizer of a step."""
        return [*self.changed_by(step), *step.without_gradient]

    @cached_property
    def held(self) -> frozenset[str]:
        """What optimizers that step hold."""
        steps = (update for update in self.trace.updates if update.kind == "step")
        return frozenset(leaf for step in steps for leaf in self.held_by(step))

    def changed_by(self, update: Update) -> list[str]:
        """The tensors that an update changed."""
        return [self.identity(change.before) for change in update.changes if change.before is not None]

    @cached_property
    def gradient_owner(self) -> dict[str, str]:
        """The leaf that each `.grad` was kept in: a pass that a long loop left out is known by what became of it."""
        changes = (change for update in self.trace.updates for change in update.changes if change.leaf is not None)
        kept = (
            *((change.before, change.leaf) for change in changes),
            *((added.after, added.tensor) for pass_ in self.trace.passes for added in pass_.accumulations),
        )
        return {self.identity(gradient): leaf for gradient, leaf in kept if gradient is not None and leaf is not None}

    @cached_property
    def gradient_steps(self) -> dict[str, list[tuple[int, str]]]:
        """For each leaf what passes left in its `.grad` or returned for it, with the places in the timeline at which
        they began."""
        found: dict[str, list[tuple[int, str]]] = {}
        for pass_ in self.trace.passes:
            step = self.pass_step.get(pass_.id, 0)
            for added in pass_.accumulations:
                if added.after is not None and added.delta is not None:
                    found.setdefault(added.tensor, []).append((step, added.after))
            for asked, result in zip(pass_.inputs or (), pass_.results, strict=False):
                if asked is not None and result is not None and self.is_tracked_leaf(asked):
                    found.setdefault(self.identity(asked), []).append((step, result))
        return found

    @cached_property
    def _leaf_in(self) -> dict[str, str]:
        """The leaf with gradients that lies in a storage."""
        kept = ((self.tensors.get(leaf), leaf) for leaf in self.gradient_steps)
        return {record.storage: leaf for record, leaf in kept if record is not None and record.storage is not None}

    def leaf_of(self, tensor: str | None) -> str | None:
        """The leaf with gradients that a tensor is a state of, or that it is the memory of, as `w.data` is."""
        if tensor is None:
            return None
        identity = self.identity(tensor)
        if identity in self.gradient_steps:
            return identity
        record = self.tensors.get(tensor)
        leaf = self._leaf_in.get(record.storage or "") if record is not None else None
        return leaf if leaf is not None and record is not None and record.shape == self.tensors[leaf].shape else None

    @cached_property
    def moved(self) -> frozenset[str]:
        """The leaves with gradients that a step or an update by hand has changed since the first pass."""
        first = min(self.pass_step.values(), default=0)
        moves = (update for update in self.trace.updates if update.kind in ("step", "data", "in_place"))
        later = (update for update in moves if self.update_step.get(update.id, -1) > first)
        found = (self.leaf_of(change.before) for update in later for change in update.changes)
        return frozenset(leaf for leaf in found if leaf is not None)

    @cached_property
    def _members(self) -> dict[str, str]:
        """What the parameters of modules are called that no variable of the program leads to: `self.net.fc1.weight`
        where `self.net(...)` called this model and no other, else `(Net).fc1.weight`."""
        names: dict[str, str] = {}
        for module in self.trace.modules if any("(" in module.path for module in self.trace.modules) else ():
            path = self.module_name(module)
            names |= {self.identity(member.tensor): f"{path}.{member.name}" for member in module.parameters}
        return names

    @cached_property
    def _called_as(self) -> dict[str, str]:
        """What each module that no variable leads to was called by, where that is one name, and of no other module."""
        spans = {call.id: call.span for call in self.trace.calls}
        own = (call for call in self.trace.calls if call.parent is None or spans.get(call.parent) != call.span)
        calls = ((call.module, self.code.call_at(call.span)) for call in own)  # a Sequential's parts have its place
        named = {(module, dotted(call.func)) for module, call in calls if call is not None}
        modules, names = (Counter(pair[at] for pair in named) for at in (0, 1))
        return {
            module: name
            for module, name in named
            if name and modules[module] == names[name] == 1 and self.modules[module].path.startswith("(")
        }

    def module_name(self, module: Module) -> str:
        """What a sentence calls a module: its path, with what the outermost was called by where no variable leads to
        that."""
        root = self.outermost(module)
        return self._called_as.get(root.id, root.path) + module.path[len(root.path) :]

    @cached_property
    def root_of(self) -> dict[str, Module]:
        """For each parameter the outermost module that holds it."""
        found: dict[str, Module] = {}
        for module in self.trace.modules:
            root = self.outermost(module)
            for member in module.parameters:
                found.setdefault(self.identity(member.tensor), root)
        return found

    @cached_property
    def leaves_of(self) -> dict[str, set[str]]:
        """The parameters below each outermost module that holds some."""
        below = grouped(self.root_of.items(), lambda held: held[1].id)
        return {root: {leaf for leaf, _ in held} for root, held in below.items()}

    def ops_of(self, call: ModuleCall) -> Sequence[Op]:
        """What ran during a call of a module."""
        first, last = self.op_at.get(call.first_op or ""), self.op_at.get(call.last_op or "")
        return () if first is None or last is None else self.trace.ops[first : last + 1]

    def calls_around(self, op: Op) -> Iterator[ModuleCall]:
        """The calls of modules during which an op ran, the outermost first."""
        return self._around(op, self.trace.calls)

    def call_around(self, op: Op) -> ModuleCall | None:
        """The call of a model during which an op ran."""
        return next(self._around(op, (call for call in self.trace.calls if call.parent is None)), None)

    def _around(self, op: Op, calls: Iterable[ModuleCall]) -> Iterator[ModuleCall]:
        at, places = self.op_at[op.id], self.op_at
        for call in calls:
            if places.get(call.first_op or "", at + 1) <= at <= places.get(call.last_op or "", -1):
                yield call

    @cached_property
    def dtypes(self) -> frozenset[str]:
        """Every element type that occurs."""
        return frozenset([tensor.dtype for tensor in self.trace.tensors])

    def has_run(self, node: Placed) -> bool:
        """Whether the program came to the line of a node."""
        return node.lineno not in self.trace.lines_not_run

    def value_of(self, name: str) -> ast.expr | None:
        """What a name stands for, when one assignment alone binds it or one call alone gives it."""
        made = self.code.values(name) if (name := self.code.stands_for(name)) else []
        return made[0] if len(made) == 1 else self.code.given(name) if not made else None

    def bound_to(self, node: ast.expr) -> list[Tensor]:
        """The last states of the tensors that a name stands for where it is written: of the program at its end, in a
        function those of that name that its own lines took or made."""
        name, function = dotted(node), self.code.function(node)
        if function is None and "." not in name:
            held = (self.tensors.get(bound.tensor or "") for bound in self.trace.variables if bound.name == name)
            return [tensor for tensor in held if tensor is not None]
        found = self._named.get(name, {})
        here = self._met_in(function) if found and function is not None else found.keys()
        return [tensor for identity, tensor in found.items() if identity in here]

    @cached_property
    def _named(self) -> dict[str, dict[str, Tensor]]:
        """For each name the last states of the tensors that had it."""
        named: dict[str, dict[str, Tensor]] = {}
        for tensor in self.trace.tensors:
            for name in tensor.names if tensor.role != "saved" else ():
                named.setdefault(name, {})[self.identity(tensor.id)] = tensor
        return named

    def _met_in(self, function: Function) -> Set[str]:
        """The tensors that the lines of a function took or made."""
        if function not in self._met:
            inside = (op for op in self.trace.ops if op.span is not None and covers(function, op.span.line))
            self._met[function] = {self.identity(tensor) for op in inside for tensor in (*op.inputs, *op.outputs)}
        return self._met[function]

    @cached_property
    def given_by(self) -> dict[str, Pass]:
        """The `autograd.grad` that returned each gradient."""
        passes = [pass_ for pass_ in self.trace.passes if pass_.kind == "grad"]
        return {self.identity(result): pass_ for pass_ in passes for result in pass_.results if result is not None}

    def back(self, tensor: str | None, most: int) -> Iterator[Op]:
        """The op that made a value, then the one that made its first input, and so on."""
        maker = self.maker.get(tensor or "")
        while maker is not None and most:
            yield maker
            maker, most = self.maker.get(maker.inputs[0]) if maker.inputs else None, most - 1

    def origin(self, tensor: str | None, through: Container[str], most: int = 8) -> Op | None:
        """The op that a value comes from, seen through ops of some names back to their first inputs."""
        ways = enumerate(self.back(tensor, most + 1))
        return next((op for at, op in ways if op.name not in through or not op.inputs or at == most), None)

    def made_from(self, tensor: str) -> tuple[str, ...]:
        """What the op that made a tensor was given."""
        maker = self.maker.get(tensor)
        return maker.inputs if maker is not None else ()

    def made_outside(self, tensor: str) -> Iterator[str]:
        """What was computed from a tensor outside the graph."""
        return (made for taker in self.takers.get(tensor, ()) if not taker.nodes for made in taker.outputs)

    def makers_behind(self, tensors: Iterable[str]) -> Iterator[Op]:
        """The ops that led to some tensors, followed by autograd or not; of very many the nearest."""
        makers = (self.maker.get(tensor) for tensor in near(tensors, self.made_from))
        return (maker for maker in makers if maker is not None)

    def made_of(self, tensor: str) -> Iterator[str]:
        """What ops gave that took a tensor."""
        return (output for taker in self.takers.get(tensor, ()) for output in taker.outputs)

    def computed_from(self, tensors: Iterable[str]) -> Iterator[Op]:
        """The ops that some tensors led to; of very many the nearest."""
        makers = (self.maker.get(tensor) for tensor in near(tensors, self.made_of))
        return (maker for maker in makers if maker is not None)

    def next_nodes(self, node: str) -> list[str]:
        """Where gradient goes from a node."""
        record = self.nodes.get(node)
        return [edge.to for edge in record.edges if edge.to is not None] if record is not None else []

    def leaves_behind(self, tensors: Iterable[str]) -> list[str]:
        """The tracked leaves that tensors were computed from."""
        behind = walk(tensors, lambda tensor: () if self.is_tracked_leaf(tensor) else self.made_from(tensor))
        return sorted({self.identity(tensor) for tensor in behind if self.is_tracked_leaf(tensor)}, key=by_number)

    def module_path(self, op: Op) -> str:
        """Path of the module whose forward was running."""
        module = self.modules.get(op.module or "")
        return module.path if module is not None else ""

    def reaches_a_pass(self, op: Op) -> bool:
        """Whether gradient came back through it."""
        return any(node in self.visited for node in op.nodes)

    def finding(
        self,
        code: str,
        severity: Literal["error", "warning", "note"],
        place: Place,
        /,
        *,
        tensors: Iterable[str] = (),
        nodes: Iterable[str] | None = None,
        fix: Edits = (),
        **parameters: str,
    ) -> Finding:
        """What its sentences ask for comes by name, beside the line and the code of the place. An op stands for its
        last node too, unless others are given."""
        op = place if isinstance(place, Op) else None
        span = self.code.span(place) if isinstance(place, ast.AST) else place.span if isinstance(place, Op) else place
        if nodes is None:
            nodes = op.nodes[-1:] if op is not None else ()
        always = {"line": line(span), "code": self.code.excerpt(span)} | ({"op": op.name} if op is not None else {})
        return Finding(
            code=code,
            severity=severity,
            span=span,
            tensors=tuple(tensors),
            nodes=tuple(nodes),
            parameters=always | parameters,
            fix=fix,
        )

    def warning(
        self,
        code: str,
        place: Place,
        /,
        *,
        tensors: Iterable[str] = (),
        nodes: Iterable[str] | None = None,
        fix: Edits = (),
        **parameters: str,
    ) -> Finding:
        """A finding of a mistake that the program does not fail of."""
        return self.finding(code, "warning", place, tensors=tensors, nodes=nodes, fix=fix, **parameters)

    def say(self, tensor: str | None) -> str:
        """What to call a tensor in a sentence: its name, else the expression that made it."""
        if tensor is None:
            return UNKNOWN
        maker = self.maker.get(tensor)
        named = self.name(tensor) or self._members.get(self.identity(tensor), "")
        beside = self._name_beside(maker) or self.code.excerpt(maker.span) if maker is not None else ""
        return named or beside or UNKNOWN

    def _name_beside(self, op: Op) -> str:
        """What a loop that takes batches apart calls what an op gives, where what its like gave in other turns has
        kept such names."""
        loop = self.code.at(op.span)
        if not isinstance(loop, ast.For):
            return ""
        counted = isinstance(loop.iter, ast.Call) and called(loop.iter) == "enumerate"
        parts = [node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)][counted:]
        alike = [other for other in self.ops_at(op.span) if other.name == op.name and other.outputs]
        known = [(parts[other.iteration % len(parts)], self.name(other.outputs[0])) for other in alike if parts]
        is_so = any(name for _, name in known) and all(name in ("", part) for part, name in known)
        return parts[op.iteration % len(parts)] if is_so else ""

    def say_all(self, tensors: Sequence[str]) -> str:
        """Several tensors: the first names, then how many more; `model.encoder.*` where those are all of a module."""
        names = dict.fromkeys(self.say(tensor) for tensor in tensors)
        known = [name for name in names if name != UNKNOWN]
        return (len(known) > NAMED and self._module_of(known)) or listed(known) or UNKNOWN

    def _module_of(self, names: Sequence[str]) -> str:
        """The innermost module around these parameters, where it has no others."""
        shared = takewhile(lambda parts: len({*parts}) == 1, zip(*(name.split(".") for name in names), strict=False))
        path = ".".join(part for part, *_ in shared)
        own = {name for name in self._parameters if name.startswith(f"{path}.")}
        return f"{path}.*" if path and own == set(names) else ""

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(self.say(member.tensor) for module in self.trace.modules for member in module.parameters)

    def counted(self, recorded: Sized) -> str:
        """How many of these there were in a run; of one whose loops are a sample, how many at least."""
        return f"≥ {len(recorded)}" if self.trace.gaps else str(len(recorded))

    def failed_pass(self) -> Pass | None:
        """The pass that ended the program."""
        return next((pass_ for pass_ in reversed(self.trace.passes) if pass_.failed), None)

    @cached_property
    def lost_pass(self) -> Pass | None:
        """The same, where it found nothing that a gradient could flow to."""
        failure = self.trace.failure
        return self.failed_pass() if failure is not None and NO_GRADIENT in failure.message else None


def grouped(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """Items by what they have in common, in the order they came."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def fed_by(pass_: Pass) -> list[str]:
    """The leaves to which a pass brought a gradient."""
    return [added.tensor for added in pass_.accumulations if added.delta is not None]


def walk(start: Iterable[str], further: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """All that can be come to from some records, those included, each once."""
    pending = list(start)
    seen = set(pending)
    while pending:
        here = pending.pop()
        yield here
        for there in further(here):
            if there not in seen:
                seen.add(there)
                pending.append(there)


def near(start: Iterable[str], further: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """The same where the first of very many tell."""
    return islice(walk(start, further), MOST_NEAR)


def by_number(record: str) -> tuple[int, str]:
    """Sorts ids as they were given out: t9 before t10."""
    return (len(record), record)


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """The first names for a sentence, then how many more."""
    return ", ".join(names[:most]) + (f" (+{len(names) - most})" if len(names) > most else "")


def line(span: Span | None) -> str:
    """A line number for a sentence."""
    return str(span.line) if span is not None else UNKNOWN


def argument(op: Op, name: str, at: int | None = None) -> str:
    """An argument as it was written out: by keyword, else by position."""
    for written in op.arguments:
        if written.name == name:
            return written.text or ""
    if at is not None and at < len(op.arguments) and not op.arguments[at].name:
        return op.arguments[at].text or ""
    return ""


def says(call: ast.Call, word: str) -> str:
    """What a call is written with for one of its keywords."""
    given = keyword(call, word)
    return ast.unparse(given.value) if given is not None else ""


def number(text: str | None) -> float | None:
    """The number that a text is."""
    try:
        return float(text or "")
    except ValueError:
        return None


def times(tensor: Tensor) -> str:
    """A shape for a sentence."""
    return "×".join(map(str, tensor.shape)) if tensor.shape else "()"


def numbers_of(tensor: Tensor | None) -> Sequence[float]:
    """All elements when they are known and finite; empty otherwise."""
    data = tensor.data if tensor is not None and tensor.contents == "known" else None
    if not data or tensor is None or tensor.dtype.startswith("complex"):
        return ()
    numbers = [float(number) for number in data]
    return numbers if all(map(math.isfinite, numbers)) else ()


def extent(tensor: Tensor | None) -> tuple[float, float] | None:
    """Its smallest and largest element, when they are known and no NaN is among them."""
    numbers, summary = numbers_of(tensor), tensor.summary if tensor is not None else None
    if numbers:
        return min(numbers), max(numbers)
    return (float(summary.min), float(summary.max)) if summary is not None and not summary.nan else None


def share_outside(tensor: Tensor | None, low: float, high: float) -> float:
    """At least which share of its numbers lies outside a range: counted where all are known, else what their mean and
    spread alone prove."""
    numbers, summary = numbers_of(tensor), tensor.summary if tensor is not None else None
    if numbers:
        return sum(not low <= number <= high for number in numbers) / len(numbers)
    if summary is None or summary.nan or summary.inf:
        return 0.0
    least, most, mean = float(summary.min), float(summary.max), float(summary.mean)
    spread = float(summary.std) ** 2
    beyond = max(low - mean, mean - high, 0.0)
    by_mean = beyond**2 / (beyond**2 + spread) if beyond else 0.0  # Cantelli's inequality
    if math.isinf(low) or math.isinf(high):
        return by_mean
    middle, reach = (low + high) / 2, ((high - low) / 2) ** 2
    furthest, square = max(abs(least - middle), abs(most - middle)) ** 2, spread + (mean - middle) ** 2
    return max(by_mean, (square - reach) / (furthest - reach) if furthest > reach else 0.0)


def size_of(tensor: Tensor | None) -> float | None:
    """Root mean square of its elements; None when they are unknown or not finite."""
    if tensor is None or tensor.contents != "known" or 0 in tensor.shape:
        return None
    if tensor.summary is not None:
        if tensor.summary.nan or tensor.summary.inf:
            return None
        return float(tensor.summary.norm) / math.sqrt(math.prod(tensor.shape))
    numbers = numbers_of(tensor)
    return math.hypot(*numbers) / math.sqrt(len(numbers)) if numbers else None


def is_of_ones_and_zeros(tensor: Tensor | None) -> bool:
    """Whether it is known to hold 0 and 1, both, and nothing else."""
    summary = tensor.summary if tensor is not None else None
    if tensor is None or summary is None:
        return {*numbers_of(tensor)} == {0.0, 1.0}
    count = math.prod(tensor.shape)
    is_within = extent(tensor) == (0.0, 1.0) and 0 < summary.zeros < count
    return is_within and math.isclose(float(summary.norm) ** 2, count - summary.zeros, rel_tol=1e-5)


def is_zero(tensor: Tensor | None) -> bool:
    """Whether every element is known to be 0."""
    return size_of(tensor) == 0.0


def is_alike(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether two states hold the same numbers, as far as these are known."""
    return one is not None and other is not None and (one.data, one.summary) == (other.data, other.summary)
