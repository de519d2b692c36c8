"""What all families of findings ask of a trace: names, lines, and what came before what."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from engine.graph.index import GraphIndex
from engine.trace import Module, Op, Pass, Span, Tensor, Update

NAMED = 3  # names in one sentence


class Diagnosis(GraphIndex):
    """An index that also knows the order of things."""

    @cached_property
    def op_step(self) -> dict[str, int]:
        """Place in the timeline at which each op ran."""
        return {
            step.op: number
            for number, step in enumerate(self.trace.timeline)
            if step.op is not None and step.kind == "op"
        }

    @cached_property
    def pass_step(self) -> dict[str, int]:
        """Place in the timeline at which each pass began."""
        return {
            step.pass_id: number
            for number, step in enumerate(self.trace.timeline)
            if step.pass_id is not None and step.kind == "pass"
        }

    @cached_property
    def update_step(self) -> dict[str, int]:
        """Place in the timeline of the first word of each update."""
        found: dict[str, int] = {}
        for number, step in enumerate(self.trace.timeline) if self.trace.updates else ():
            if step.update is not None:
                found.setdefault(step.update, number)
        return found

    @cached_property
    def _named(self) -> dict[str, list[Op]]:
        named: dict[str, list[Op]] = {}
        for op in self.trace.ops:
            named.setdefault(op.name, []).append(op)
        return named

    def ops_named(self, names: Iterable[str]) -> Iterator[Op]:
        """The ops with one of these names that did not raise, name by name."""
        for name in names:
            for op in self._named.get(name, ()):
                if not op.raised:
                    yield op

    @cached_property
    def _at(self) -> dict[Span | None, list[Op]]:
        at: dict[Span | None, list[Op]] = {}
        for op in self.trace.ops:
            at.setdefault(op.span, []).append(op)
        return at

    def ops_at(self, span: Span | None) -> Sequence[Op]:
        """The ops of one place, in the order they ran."""
        return self._at.get(span, ()) if span is not None else ()

    @cached_property
    def last(self) -> dict[str, Tensor]:
        """The last state of each tensor object, by its identity."""
        return {tensor.identity or tensor.id: tensor for tensor in self.trace.tensors}

    @cached_property
    def moves(self) -> list[Update]:
        """Steps and updates by hand since the first pass; what was written before it is initialisation."""
        first = min(self.pass_step.values(), default=0)
        moves = [one for one in self.trace.updates if one.kind in ("step", "data")]
        return [one for one in moves if self.update_step.get(one.id, -1) > first]

    @cached_property
    def gradient_steps(self) -> dict[str, list[tuple[int, str]]]:
        """For each leaf what passes left in its `.grad` or returned for it, with the places in the timeline at which they began."""
        found: dict[str, list[tuple[int, str]]] = {}
        for one in self.trace.passes:
            for each in one.accumulations:
                if each.after is not None and each.delta is not None:
                    found.setdefault(each.tensor, []).append((self.pass_step.get(one.id, 0), each.after))
            for asked, result in zip(one.inputs or (), one.results, strict=False):
                if asked is not None and result is not None and self.is_tracked_leaf(asked):
                    found.setdefault(self.identity(asked), []).append((self.pass_step.get(one.id, 0), result))
        return found

    @cached_property
    def _leaf_in(self) -> dict[str, str]:
        """The leaf with gradients that lies in a storage."""
        kept = ((self.tensors.get(leaf), leaf) for leaf in self.gradient_steps)
        return {one.storage: leaf for one, leaf in kept if one is not None and one.storage is not None}

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
        moves = (one for one in self.trace.updates if one.kind in ("step", "data", "in_place"))
        later = (one for one in moves if self.update_step.get(one.id, -1) > first)
        found = (self.leaf_of(change.before) for one in later for change in one.changes)
        return frozenset(leaf for leaf in found if leaf is not None)

    @cached_property
    def _members(self) -> dict[str, str]:
        """What the parameters of modules are called that nothing in the program leads to: `(Net).fc1.weight`."""
        return {
            self.identity(member.tensor): f"{module.path}.{member.name}"
            for module in self.trace.modules
            if "(" in module.path
            for member in module.parameters
        }

    @cached_property
    def root_of(self) -> dict[str, Module]:
        """For each parameter the outermost module that holds it."""
        found: dict[str, Module] = {}
        for module in self.trace.modules:
            root = self.outermost(module)
            for member in module.parameters:
                found.setdefault(self.identity(member.tensor), root)
        return found

    def outermost(self, module: Module) -> Module:
        """The module that holds it, and is held by none: what the program has a name for."""
        passed = {module.id}
        while module.parent is not None and module.parent in self.modules and module.parent not in passed:
            module = self.modules[module.parent]
            passed.add(module.id)
        return module

    @cached_property
    def dtypes(self) -> frozenset[str]:
        """Every element type that occurs."""
        return frozenset([tensor.dtype for tensor in self.trace.tensors])

    @cached_property
    def uses(self) -> dict[str, list[Op]]:
        """The ops that were given each leaf, in any of its states."""
        uses: dict[str, list[Op]] = {}
        for op in self.trace.ops:
            for one in op.inputs:
                record = self.tensors.get(one)
                if record is not None and record.grad_fn is None and record.requires_grad:
                    uses.setdefault(record.identity or one, []).append(op)
        return uses

    @cached_property
    def takers(self) -> dict[str, list[Op]]:
        """The ops that were given each tensor in just that state."""
        takers: dict[str, list[Op]] = {}
        for op in self.trace.ops:
            for one in op.inputs:
                takers.setdefault(one, []).append(op)
        return takers

    @cached_property
    def visited(self) -> dict[str, int]:
        """Node to the number of the last pass that ran it."""
        return {visit.node: number for number, one in enumerate(self.trace.passes) for visit in one.visits}

    def bound_to(self, name: str, *, in_function: bool) -> list[Tensor]:
        """The last states of the tensors that a name stands for: of the program at its end, or of a function whenever it ran."""
        if not in_function:
            tensors = (self.tensors.get(one.tensor or "") for one in self.trace.variables if one.name == name)
            return [one for one in tensors if one is not None]
        found = {one.identity or one.id: one for one in self.trace.tensors if name and name in one.names}
        return [one for one in found.values() if one.role != "saved"]

    def is_followed(self, tensor: str) -> bool:
        """Whether autograd knows what it was computed from."""
        record = self.tensors.get(tensor)
        return record is not None and record.grad_fn is not None

    def reaches_a_pass(self, op: Op) -> bool:
        """Whether gradient came back through it."""
        return any(node in self.visited for node in op.nodes)

    def input_of(self, op: Op, at: int = 0) -> Tensor | None:
        """One of its input tensors as it was."""
        return self.tensors.get(op.inputs[at]) if at < len(op.inputs) else None

    def output_of(self, op: Op) -> Tensor | None:
        """Its first output."""
        return self.tensors.get(op.outputs[0]) if op.outputs else None

    def say(self, tensor: str | None) -> str:
        """What to call a tensor in a sentence: its name, else the expression that made it."""
        if tensor is None:
            return "?"
        maker = self.maker.get(tensor)
        named = self.name(tensor) or self._members.get(self.identity(tensor), "")
        return named or (self.code.excerpt(maker.span) if maker is not None else "") or tensor

    def say_all(self, tensors: list[str]) -> str:
        """Several tensors: the first names, then how many more."""
        names = list(dict.fromkeys(self.say(tensor) for tensor in tensors))
        return ", ".join(names[:NAMED]) + (f" (+{len(names) - NAMED})" if len(names) > NAMED else "")

    def failed_pass(self) -> Pass | None:
        """The pass that ended the program."""
        return next((one for one in reversed(self.trace.passes) if one.failed), None)

    def op_of_node(self, node: str | None) -> Op | None:
        """The op that made a node."""
        record = self.nodes.get(node) if node is not None else None
        return self.ops.get(record.op) if record is not None and record.op is not None else None


def line(span: Span | None) -> str:
    """A line number for a sentence."""
    return str(span.line) if span is not None else "?"


def argument(op: Op, name: str, at: int | None = None) -> str:
    """An argument as it was written out: by keyword, else by position."""
    for one in op.arguments:
        if one.name == name:
            return one.text or ""
    if at is not None and at < len(op.arguments) and not op.arguments[at].name:
        return op.arguments[at].text or ""
    return ""


def times(tensor: Tensor) -> str:
    """A shape for a sentence."""
    return "×".join(map(str, tensor.shape)) if tensor.shape else "()"


def numbers_of(tensor: Tensor | None) -> Sequence[float]:
    """All elements when they are known and finite; empty otherwise."""
    data = tensor.data if tensor is not None and tensor.contents == "known" else None
    if not data or tensor is None or tensor.dtype.startswith("complex"):
        return ()
    numbers = [float(one) for one in data]
    return numbers if all(map(math.isfinite, numbers)) else ()
