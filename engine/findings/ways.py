"""The ways from leaves to passes: which leaves were to get a gradient and got none, and every op on their ways that
autograd did not follow. All that says why a leaf got none reads them here."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, takewhile
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, by_number, grouped, walk
from engine.findings.losses import LOSS_FUNCTIONS, PASSING
from engine.findings.optimizer_code import models_asked
from engine.ops import COPIES, DETACHES, READS
from engine.program.names import called, dotted
from engine.program.source import Source
from engine.program.tree import Function, assigned
from engine.trace import Op, Pass, Span, Tensor
from engine.unfollowed import is_source, user_of

PYTHON_NUMBERS = ("float", "int", "bool", "round", "len")
PASSES_LOOKED_AT = 3  # of a training loop, the last ones say what the others say


def wanting_leaves(diagnosis: Diagnosis) -> set[str]:
    """Leaves with a name that want a gradient."""
    return {
        tensor.id
        for tensor in diagnosis.trace.tensors
        if tensor.identity is None
        and tensor.requires_grad
        and tensor.grad_fn is None
        and tensor.role in ("leaf", "parameter")
        and (diagnosis.has_names(tensor.id) or diagnosis.is_parameter(tensor.id))
        and not _is_view_of_tracked(diagnosis, tensor)
    }


def _is_view_of_tracked(diagnosis: Diagnosis, tensor: Tensor) -> bool:
    """A view taken under no_grad says that it requires a gradient and is a leaf, but stands for its base."""
    base = diagnosis.tensors.get(tensor.base or "")
    return base is not None and base.requires_grad


def starved_leaves(diagnosis: Diagnosis) -> set[str]:
    """Those of them that got none in any pass, nor handed out, unless an optimizer waits for it in `.grad`."""
    asked = {tensor for pass_ in diagnosis.trace.passes for tensor in pass_.inputs or () if tensor is not None}
    handed_out = {diagnosis.identity(tensor) for tensor in asked} - (diagnosis.held - diagnosis.moved)
    return wanting_leaves(diagnosis) - diagnosis.fed - handed_out


def unfed(diagnosis: Diagnosis) -> set[str]:
    """Those of them that were to have one. The others are to stay without: the program moves them itself, as it does a
    target network, or others are trained and no optimizer holds them; unless their `.grad` is read."""
    starved = starved_leaves(diagnosis)
    aside = starved & diagnosis.stepped
    if diagnosis.steps:
        aside |= starved - diagnosis.held
    else:
        roots, asked = diagnosis.leaves_of, set(models_asked(diagnosis.code.calls))
        idle = {root: leaves for root, leaves in roots.items() if leaves <= starved}
        for root, leaves in idle.items() if len(idle) < len(roots) else ():
            if not _is_among(diagnosis.modules[root].path, asked):
                aside |= leaves
    return starved - (aside - _read_grads(diagnosis))


def _trained(diagnosis: Diagnosis) -> set[str]:
    """Leaves that want a gradient: where some models are asked for their parameters, not those of the others, as a
    target network's."""
    wanting, asked = wanting_leaves(diagnosis), models_asked(diagnosis.code.calls)
    aside = {root: not _is_among(diagnosis.modules[root].path, asked) for root in diagnosis.leaves_of}
    idle = {leaf for root, leaves in diagnosis.leaves_of.items() if aside[root] for leaf in leaves}
    return (wanting - idle if not all(aside.values()) else wanting) or wanting


def _read_grads(diagnosis: Diagnosis) -> set[str]:
    """Leaves whose `.grad` the program reads."""
    attributes = diagnosis.code.attributes
    read = [node.value for node in attributes if node.attr == "grad" and isinstance(node.ctx, ast.Load)]
    return {diagnosis.identity(tensor.id) for node in read for tensor in diagnosis.bound_to(node)}


def _is_among(model: str, asked: Iterable[str]) -> bool:
    """Whether one of these is the model, a part of it, or holds it."""
    return any(f"{name}.".startswith(f"{model}.") or f"{model}.".startswith(f"{name}.") for name in asked)


def is_target(diagnosis: Diagnosis, cut: Op) -> bool:
    """Whether what was taken out of the graph is only held against something that learns: then it was meant."""
    made = walk(cut.outputs, lambda at: (out for op in _shapers(diagnosis, at) for out in op.outputs))
    takers = [op for at in made for op in diagnosis.takers.get(at, ()) if op not in _shapers(diagnosis, at)]
    return bool(takers) and all(
        (op.name in ("sub", "rsub") or op.name in LOSS_FUNCTIONS) and any(map(diagnosis.is_followed, op.inputs))
        for op in takers
    )


def _shapers(diagnosis: Diagnosis, tensor: str) -> list[Op]:
    """The ops that hand a value on in another form, or add to or scale it as a target where nothing learns."""
    takers = diagnosis.takers.get(tensor, ())
    return [op for op in takers if op.name in (*PASSING, *DETACHES) or op.view or _is_shift(diagnosis, op)]


def _is_shift(diagnosis: Diagnosis, op: Op) -> bool:
    return op.name in ("add", "mul") and not any(map(diagnosis.is_followed, op.outputs))


class Cut(NamedTuple):
    """An op that autograd did not follow, on the way from leaves to the root of a pass."""

    op: Op
    given: Tensor
    """The first tracked tensor it took, or what it took was read from."""
    leaves: tuple[str, ...]
    """Those behind it that were to have a gradient."""
    passes: list[Pass]
    is_array: bool
    """Its value goes on as a NumPy array."""
    is_open: bool
    """No earlier pass brought a gradient to what it was given, and that is no parameter."""
    is_direct: bool
    """No leaf made anew lies between it and the root."""
    root: str | None
    """The leaf made anew that the pass starts from, where it lies behind one."""
    name: str
    """What the tensor is called that it was read for, inside a call that is no op."""


def cuts(diagnosis: Diagnosis) -> list[Cut]:
    """Those on the ways to the last passes, in the order their ops ran."""
    lost, starved = diagnosis.lost_pass, unfed(diagnosis)
    if not (starved or lost is not None) or not any(_may_cut(diagnosis, op) for op in diagnosis.trace.ops):
        return []
    found: dict[tuple[str, Span | None], Cut] = {}
    inside, reads = _reads_inside(diagnosis), defaultdict[str, list[Op]](list)
    for user, read in (*_untracked_reads(diagnosis), *collected_reads(diagnosis)):
        reads[user].append(read)
    ended = [pass_ for pass_ in diagnosis.trace.passes if pass_.parent is None and (pass_ is lost or not pass_.failed)]
    is_sampled = diagnosis.has_gap(0, len(diagnosis.trace.timeline))  # the last turns may be without their ops
    for pass_ in (*ended[-PASSES_LOOKED_AT:], *(ended[:1] if is_sampled else ())):
        behind = _Behind(diagnosis, pass_, reads, inside)
        for cut in behind.cuts(_trained(diagnosis) if lost is not None else starved):
            found.setdefault((cut.op.name, cut.op.span), cut).passes.append(pass_)
    return sorted(found.values(), key=lambda cut: diagnosis.op_at[cut.op.id])


def _untracked_reads(diagnosis: Diagnosis) -> Iterator[tuple[str, Op]]:
    """What was read of values that had just been cut off, with the ops that it was given to."""
    for at, op in enumerate(diagnosis.trace.ops):
        maker = diagnosis.maker.get(op.inputs[0]) if op.name in READS and op.inputs else None
        user = user_of(diagnosis.trace, at, op) if maker is not None and _may_cut(diagnosis, maker) else None
        if user is not None:
            yield user, op


def collected_reads(diagnosis: Diagnosis) -> Iterator[tuple[str, Op]]:
    """What was read of tracked tensors into a list or a number, with the ops that later made a tensor of that."""
    made = (op for op in diagnosis.ops_named(COPIES) if not op.inputs)
    for span, ops in grouped(made, lambda op: op.span).items():
        call = diagnosis.code.call_at(span)
        reads = list(_read_into(diagnosis, call.args[0])) if call is not None and call.args else []
        yield from ((op.id, read) for op in ops for read in reads)


def _read_into(diagnosis: Diagnosis, collected: ast.expr) -> Iterator[Op]:
    """The ops that read a tracked tensor on its way into a list or number, in the function that it is used in or in one
    that returns it to there."""
    code, places = diagnosis.code, set(_collected_in(diagnosis.code, collected))
    for node in code.nodes if places else ():
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[value]):
                pass
            case ast.AugAssign(target=owner, value=value) | ast.Assign(targets=[owner], value=value):
                pass
            case _:
                continue
        is_it = (dotted(owner), code.function(node)) in places
        if is_it and (op := _tracked_reading(diagnosis, value)) is not None:
            yield op


def _collected_in(code: Source, collected: ast.expr) -> Iterator[tuple[str, Function | None]]:
    """What it is called, with the function that calls it so."""
    name, here = dotted(collected), code.function(collected)
    if name:
        yield name, here
    for binding in code.bindings if name else ():
        call, target = binding.value, binding.targets[0]
        if not isinstance(call, ast.Call) or code.function(binding) is not here:
            continue
        makers = [each for each in code.functions if each.name == called(call)]
        for node in code.nodes if len(makers) == 1 else ():
            if isinstance(node, ast.Return) and node.value is not None and code.function(node) is makers[0]:
                given = assigned(ast.Assign(targets=[target], value=node.value))
                yield from ((dotted(value), makers[0]) for at, value in given if dotted(at) == name and dotted(value))


def _tracked_reading(diagnosis: Diagnosis, node: ast.AST) -> Op | None:
    """The op in an expression that took the value of a tracked tensor out of the graph."""
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Call | ast.Attribute))
    ops = (op for part in parts for op in diagnosis.ops_at(diagnosis.code.span(part)))
    out = (op for op in ops if op.name in READS | DETACHES)
    return next((op for op in out if any(map(diagnosis.is_tracked, op.inputs))), None)


def _reads_inside(diagnosis: Diagnosis) -> dict[str, list[Op]]:
    """What calls read of tracked tensors that make a tensor and are no ops, such as `torch.FloatTensor(losses)`, by the
    names that they are bound to."""
    found: dict[str, list[Op]] = defaultdict(list)
    for op in diagnosis.ops_named(READS):
        call, statement = diagnosis.code.call_at(op.span), diagnosis.code.statement_at(op.span)
        is_told = call is None or called(call) in (op.name, *PYTHON_NUMBERS)
        if not is_told and isinstance(statement, ast.Assign) and statement.value is call and _may_cut(diagnosis, op):
            found[dotted(statement.targets[0])].append(op)
    return found


def _may_cut(diagnosis: Diagnosis, op: Op) -> bool:
    is_followed = bool(op.outputs) and all(map(diagnosis.is_followed, op.outputs))
    return not is_followed and not op.in_place and any(map(diagnosis.is_tracked, op.inputs))


class _Behind:
    """What the values of a pass were computed from, followed by autograd or not."""

    def __init__(
        self, diagnosis: Diagnosis, pass_: Pass, reads: Mapping[str, list[Op]], inside: Mapping[str, list[Op]]
    ) -> None:
        self.diagnosis = diagnosis
        self.reads = reads
        self.begin = diagnosis.pass_step.get(pass_.id, 0)
        reached = diagnosis.reached_from(root.node for root in pass_.roots if root.node is not None)
        earlier = takewhile(lambda other: other.id != pass_.id, diagnosis.trace.passes)
        self.spent = {visit.node for before in earlier for visit in before.visits} - reached
        """Nodes that earlier passes ran: what lies behind them has got its gradient."""
        self.led_to = {diagnosis.nodes[node].variable for node in reached}
        """Leaves that the graph leads to: no cut is why they got nothing."""
        self.roots = [root.tensor for root in pass_.roots if root.tensor is not None]
        self._known: dict[str, list[Op]] = {}
        self.inside = inside

    def cuts(self, starved: set[str]) -> Iterator[Cut]:
        """The ops with tracked inputs that autograd did not follow, and starved leaves behind those."""
        diagnosis, starved = self.diagnosis, starved - self.led_to
        roots = {op: root for root in self.roots if diagnosis.is_tracked_leaf(root) for op in self._before(root)}
        direct = {op for root in self.roots for op in self._before(root)}
        met = list(walk(self.roots, self._further))
        ops = {op.id: op for tensor in met for op in self._unfollowed(tensor)}
        arrays = [given for tensor in met for op in self._remakers(tensor) if op.name == "numpy" for given in op.inputs]
        arrayed = {tensor for tensor in walk(arrays, self._given) if not diagnosis.is_tracked(tensor)}
        for op in ops.values():
            reads = self._reads_for(op) if any(map(diagnosis.is_tracked_leaf, op.outputs)) else ()
            taken = dict.fromkeys(tensor for each in (op, *reads) for tensor in each.inputs)
            tracked = [diagnosis.tensors[tensor] for tensor in taken if diagnosis.is_tracked(tensor)]
            ways = {tensor.id: self.leaves(tensor.id) & starved for tensor in tracked}
            fed = [tensor for tensor in tracked if ways[tensor.id]]
            if fed:
                open_ = [tensor for tensor in fed if op.name in READS or self._is_open(tensor)]
                is_array = op.name == "numpy" or not arrayed.isdisjoint(op.outputs)
                leaves = tuple(sorted(set().union(*ways.values()), key=by_number))
                given, is_direct = (open_ or fed)[0], op.id in direct
                name = next((name for name, reads in self.inside.items() if op in reads), "")
                yield Cut(op, given, leaves, [], is_array, bool(open_), is_direct, roots.get(op.id), name)

    def _before(self, root: str) -> Iterator[str]:
        return (op.id for tensor in walk([root], self._given) for op in self._makers(tensor))

    def _unfollowed(self, tensor: str) -> Iterator[Op]:
        """Of the ops that made it, or read the numbers it was made of, those that autograd did not follow."""
        ops = self._makers(tensor) or self._remakers(tensor)
        for op in ops:
            is_followed = tensor in op.outputs and self.diagnosis.is_followed(tensor)
            is_said = op is not ops[0] and op.name in READS and self.diagnosis.is_tracked_leaf(tensor)
            if not is_followed and not is_said and not op.in_place and not op.raised:
                yield op

    def leaves(self, tensor: str) -> set[str]:
        """The leaves that led to a tensor."""
        behind = walk([tensor], self._given)
        return {self.diagnosis.identity(before) for before in behind if self.diagnosis.is_tracked_leaf(before)}

    def _is_open(self, tensor: Tensor) -> bool:
        if tensor.grad_fn is None:
            return not self.diagnosis.is_parameter(tensor.id)
        return tensor.grad_fn.node not in self.spent

    def _makers(self, tensor: str) -> list[Op]:
        """The op that made it, and those that read the numbers which that op was given."""
        if tensor not in self._known:
            ends = self.diagnosis.is_tracked_leaf(tensor) and tensor not in self.roots
            self._known[tensor] = [] if ends else self._remakers(tensor)
        return self._known[tensor]

    def _remakers(self, tensor: str) -> list[Op]:
        """The same, also of a leaf that stands for what it was made of."""
        maker = self.diagnosis.maker.get(tensor)
        if maker is None or maker.inputs == (tensor,):
            if inside := self.inside.get(next(iter(self.diagnosis.tensors[tensor].names), "")):
                return inside
            is_anew = tensor in self.roots and self.diagnosis.is_tracked_leaf(tensor)
            return self._read_last() if is_anew else []
        return [] if self._ends_at(maker) else [maker, *self._reads_for(maker)]

    def _reads_for(self, op: Op) -> list[Op]:
        """What was read for an op; for one that made a root of numbers alone what was read last."""
        known = [*(self.diagnosis.ops[read] for read in self.diagnosis.escapes.get(op.id, ())), *self.reads[op.id]]
        is_root = not op.inputs and op.name in COPIES and not set(self.roots).isdisjoint(op.outputs)
        return known or (self._read_last() if is_root else [])

    def _read_last(self) -> list[Op]:
        """The last value that was taken out of a graph before the pass."""
        begin, index = self.begin, self.diagnosis
        earlier = (op for op in reversed(index.trace.ops) if index.op_step.get(op.id, 0) < begin)
        read = (op for op in earlier if op.name in READS | DETACHES and _may_cut(index, op))
        return list(islice(read, 1))

    def _given(self, tensor: str) -> Iterator[str]:
        yield from self._inputs(self._makers(tensor))

    def _further(self, tensor: str) -> Iterator[str]:
        yield from self._inputs(self._makers(tensor) or self._remakers(tensor))

    def _inputs(self, ops: Iterable[Op]) -> Iterator[str]:
        records = self.diagnosis.tensors
        given = (tensor for op in ops for tensor in op.inputs)
        return (tensor for tensor in given if tensor in records and _carries(records[tensor]))

    def _ends_at(self, op: Op) -> bool:
        """Whether an op that was not recorded made plain data, or updated weights by hand."""
        diagnosis = self.diagnosis
        if op.nodes or self._reads_for(op):
            return False
        is_plain = op.in_place and not any(map(diagnosis.is_tracked, op.inputs))
        return is_source(op) or is_plain or diagnosis.writes_a_leaf(op)


def _carries(record: Tensor) -> bool:
    """Whether gradient may be wanted behind it; running statistics lead nowhere."""
    return record.requires_grad or record.role != "buffer"
