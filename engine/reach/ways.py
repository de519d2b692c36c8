"""The ways that values took to what a pass reaches, and where a gradient could not come back along them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from engine.reach.reasons import CUTS, reason_of
from engine.reach.start import start_of
from engine.reach.visible import see
from engine.trace import Op, Pass, Tensor
from engine.trace_index import TraceIndex

Place = str
"""Id of a node, of an op without a node, or of a leaf that has no AccumulateGrad."""


class Cut(NamedTuple):
    """A tracked tensor that went into an op which autograd did not record."""

    op: Op
    tensor: str
    source: Place
    reason: str


class Ways:
    """What leads to what, in the part of a run that one pass reaches."""

    def __init__(self, index: TraceIndex, pass_: Pass) -> None:
        self._index = index
        start = start_of(index, pass_)
        self._visible = see(index, start)
        self._nodes = self._visible.reached | self._visible.unreached
        self._roots = frozenset(start.roots)
        self._of_op: dict[str, Place] = {op.id: op.id for op in self._visible.ghosts}
        """Where the result of an op is: its last node, or itself."""
        self._recorded: list[Op] = []
        for op in index.trace.ops:
            nodes = [node for node in op.nodes if node in self._nodes]
            if nodes:
                self._of_op[op.id] = nodes[-1]
                self._recorded.append(op)

    def cuts(self) -> list[Cut]:
        """Where gradients could have flowed, in the order of the ops."""
        reasons = [(op, reason_of(self._index, op)) for op in self._visible.ghosts]
        return [
            Cut(op, tensor, source, "detach" if op.name == "data" else reason)
            for op, reason in reasons
            if reason in CUTS
            for tensor in dict.fromkeys(op.inputs)
            if self._index.is_tracked(tensor) and (source := self._source(self._index.tensors[tensor])) is not None
        ]

    def links(self) -> tuple[Mapping[Place, list[Place]], Mapping[Place, list[Place]]]:
        """What each place was computed from, and what was computed from it."""
        above: dict[Place, list[Place]] = defaultdict(list)
        below: dict[Place, list[Place]] = defaultdict(list)
        for source, target in self._pairs():
            above[target].append(source)
            below[source].append(target)
        return above, below

    def _pairs(self) -> Iterator[tuple[Place, Place]]:
        for node in self._nodes:
            for edge in self._index.nodes[node].edges:
                if edge.to in self._nodes and edge.to is not None:
                    yield edge.to, node
        for op in self._visible.ghosts:
            yield from self._into(op, op.inputs)
        for op in self._recorded:
            yield from self._into(op, [tensor for tensor in op.inputs if not self._index.is_tracked(tensor)])

    def _into(self, op: Op, tensors: Iterable[str]) -> Iterator[tuple[Place, Place]]:
        target = self._of_op[op.id]
        states = (self._index.tensors[tensor] for tensor in tensors if tensor in self._index.tensors)
        sources = [self._source(state) for state in states]
        sources += [self._of_op.get(read) for read in self._visible.escapes.get(op.id, ())]
        yield from ((source, target) for source in sources if source is not None and source != target)

    def _source(self, tensor: Tensor) -> Place | None:
        """Where a tensor comes from. A parameter belongs to the op that uses it and is no place of its own."""
        if tensor.grad_fn is not None:
            return tensor.grad_fn.node if tensor.grad_fn.node in self._nodes else None
        if tensor.requires_grad:
            return self._leaf(tensor.identity or tensor.id)
        maker = self._index.maker.get(tensor.id)
        return self._of_op.get(maker.id) if maker is not None else None

    def _leaf(self, identity: str) -> Place | None:
        node = self._index.leaf_nodes.get(identity)
        if node is None:
            return identity if identity in self._visible.leaves else None
        is_place = node in self._nodes and (node in self._roots or not self._index.is_parameter(identity))
        return node if is_place else None


def ends(index: TraceIndex, pass_: Pass) -> set[Place]:
    """Where a pass started, or was to start."""
    found = {root.node for root in pass_.roots if root.node is not None}
    for root in pass_.roots:
        maker = index.maker.get(root.tensor or "")
        if maker is not None:
            found.update([maker.id, *maker.nodes])
    return found


def walk(starts: Iterable[Place], links: Mapping[Place, list[Place]]) -> set[Place]:
    """All that links lead to, the starts included."""
    seen = set(starts)
    pending = list(seen)
    while pending:
        for place in links.get(pending.pop(), ()):
            if place not in seen:
                seen.add(place)
                pending.append(place)
    return seen
