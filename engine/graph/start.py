"""Where passes start. What a pass with `create_graph=True` computed is a graph itself, a layer, which later passes
differentiate: such passes start together, as those do whose ranks exchanged values or gradients."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.graph.origins import origins
from engine.trace import Op, Pass
from engine.trace_index import TraceIndex


class Start(NamedTuple):
    """The nodes that one pass, or several that hang together, started from."""

    roots: tuple[str, ...]
    """Nodes to start from; empty when there is no backward graph."""
    root: str | None
    """The one root, when there is one."""
    passes: tuple[Pass, ...]
    """The passes, in the order they ran."""
    tensors: tuple[str, ...] = ()
    """Tensors without a node that the pass was to start from; it failed because of them."""

    @property
    def of(self) -> Pass | None:
        """The last of the passes."""
        return self.passes[-1] if self.passes else None


def start_of(index: TraceIndex, pass_: Pass, *, layers: bool = True) -> Start:
    """Where a pass started; with `layers` together with those that it hangs together with."""
    passes = _joined(index, pass_) if layers else (pass_,)
    roots = [root for joined in passes for root in joined.roots]
    made = _results(index, passes) if layers else ()
    nodes = tuple(dict.fromkeys([*(root.node for root in roots if root.node is not None), *made]))
    lost = tuple(root.tensor for root in roots if root.node is None and root.tensor is not None)
    return Start(nodes, nodes[0] if len(nodes) == 1 else None, passes, lost)


def _joined(index: TraceIndex, chosen: Pass) -> tuple[Pass, ...]:
    """The passes that hang together with one through layers, in the order they ran: it, those that made nodes it ran
    over, those that ran over nodes it made, and so on. One that has nothing to do with layers stays alone, or with
    those of other ranks that it met in a collective."""
    if not index.layered:
        return _met(index, chosen)
    above: dict[str, str] = {}

    def first(pass_: str) -> str:
        while above.get(pass_, pass_) != pass_:
            above[pass_] = pass_ = above.get(above[pass_], above[pass_])
        return pass_

    for pass_ in index.trace.passes:
        for made_in in {index.layer_of(node) for visit in pass_.visits if (node := visit.node)}:
            if made_in is not None:
                above[first(pass_.id)] = first(made_in)
    family = first(chosen.id)
    return tuple(pass_ for pass_ in index.trace.passes if first(pass_.id) == family)


def _met(index: TraceIndex, chosen: Pass) -> tuple[Pass, ...]:
    """A pass and those of other ranks whose values or gradients were exchanged with its own, and so on."""
    if chosen.rank is None:
        return (chosen,)
    meeting = _Meeting(index)
    ties = [meeting.passes(ops) for ops in index.met.values()]
    met = {chosen.id}
    while more := {pass_ for tie in ties if tie & met for pass_ in tie} - met:
        met |= more
    return tuple(pass_ for pass_ in index.trace.passes if pass_.id in met)


class _Meeting:
    """Which passes a collective joins: those whose graphs or gradients it was given something of, and those that go on
    with what their ranks only got."""

    def __init__(self, index: TraceIndex) -> None:
        self._index = index
        self._left = {
            kept.after: at
            for at, pass_ in enumerate(index.trace.passes)
            for kept in pass_.accumulations
            if kept.after is not None
        }
        """The state of a `.grad` to the number of the pass that left it."""
        self._seeded = {
            index.identity(root.seed): pass_.id
            for pass_ in index.trace.passes
            for root in pass_.roots
            if root.seed is not None
        }

    def passes(self, ops: Sequence[Op]) -> set[str]:
        """Those that what was given comes from, and those that go on with what ranks only got; empty where what was
        given is of no pass."""
        givers = {pass_ for op in ops if (pass_ := op.pass_id or self._given_by(op)) is not None}
        takers = {pass_ for op in ops if givers and not op.gave for pass_ in self._taken_by(op)}
        return givers | takers

    def _given_by(self, op: Op) -> str | None:
        """The latest pass that made some of what an op was given."""
        numbers = [-1]
        for tensor in op.gave:
            found = origins(self._index, tensor, self._left)
            numbers += [self._index.visited[node] for node in found.nodes if node in self._index.visited]
            numbers += [self._left[state] for state in found.states]
        return self._index.trace.passes[max(numbers)].id if max(numbers) >= 0 else None

    def _taken_by(self, op: Op) -> Iterator[str]:
        """The passes that began with what an op gave, or went through what was computed from it."""
        for tensor in op.outputs:
            seeded = self._seeded.get(self._index.identity(tensor))
            if seeded is not None:
                yield seeded
            for taker in self._index.takers.get(tensor, ()):
                for node in taker.nodes:
                    if node in self._index.visited:
                        yield self._index.trace.passes[self._index.visited[node]].id


def _results(index: TraceIndex, passes: Sequence[Pass]) -> tuple[str, ...]:
    """The nodes of gradients that these passes made and that can be differentiated: those a name holds, and `.grad` of
    leaves."""
    layers = {pass_.id for pass_ in passes if pass_.create_graph}
    if not layers:
        return ()
    held = [variable.tensor for variable in index.trace.variables]
    held += [tensor for variable in index.trace.variables for tensor in variable.tensors]
    held += [kept.after for pass_ in passes if pass_.create_graph for kept in pass_.accumulations]
    tensors = (index.tensors.get(tensor) for tensor in held if tensor is not None)
    made = dict.fromkeys(tensor.grad_fn.node for tensor in tensors if tensor is not None and tensor.grad_fn is not None)
    return tuple(node for node in made if index.layer_of(node) in layers)
