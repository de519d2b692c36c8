"""Where passes start. What a pass with `create_graph=True` computed is a graph itself, a layer, which later passes
differentiate: such passes start together, as those do whose ranks exchanged gradients or handed one on."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.trace import Pass
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
    """A pass and those of other ranks whose gradients were exchanged with its own, or that it got its first gradient
    from, and so on."""
    if chosen.rank is None:
        return (chosen,)
    collectives = {op.collective for op in index.trace.ops if op.pass_id == chosen.id} - {None}
    met = {op.pass_id for op in index.trace.ops if op.collective in collectives} | {chosen.id}
    pairs = [{giver, taker} for giver, taker in _handed_on(index)]
    while more := {pass_ for pair in pairs if pair & met for pass_ in pair} - met:
        met |= more
    return tuple(pass_ for pass_ in index.trace.passes if pass_.id in met)


def _handed_on(index: TraceIndex) -> Iterator[tuple[str, str]]:
    """Passes of two ranks of which the second begins with a gradient that the first had left and its rank sent, as
    where a model is cut."""
    left = {added.after: pass_.id for pass_ in index.trace.passes for added in pass_.accumulations}
    givers: dict[str, str] = {}
    arrived: dict[str, str] = {}
    for step in index.trace.timeline:
        op = index.ops.get(step.op or "")
        if op is not None and op.collective is not None:
            for tensor in op.inputs:
                if op.name.endswith("send") and tensor in left:
                    givers[op.collective] = left[tensor]
                elif op.name.endswith("recv"):
                    arrived[index.identity(tensor)] = op.collective
        elif step.kind == "pass" and step.pass_id is not None:
            for root in index.passes[step.pass_id].roots:
                met = arrived.get(index.identity(root.seed)) if root.seed is not None else None
                if met in givers:
                    yield givers[met], step.pass_id


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
