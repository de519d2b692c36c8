"""Layers: what a pass with `create_graph=True` computed is a graph itself, which later passes differentiate."""

from collections.abc import Sequence

from engine.graph.index import GraphIndex
from engine.trace import Pass


def joined(index: GraphIndex, chosen: Pass) -> tuple[Pass, ...]:
    """The passes that hang together with one through layers, in the order they ran: it, those that made nodes it ran
    over, those that ran over nodes it made, and so on. One that has nothing to do with layers stays alone."""
    if not index.layered:
        return (chosen,)
    above: dict[str, str] = {}

    def first(one: str) -> str:
        while above.get(one, one) != one:
            above[one] = one = above.get(above[one], above[one])
        return one

    for one in index.trace.passes:
        for made_in in {index.layer_of(node) for visit in one.visits if (node := visit.node)}:
            if made_in is not None:
                above[first(one.id)] = first(made_in)
    family = first(chosen.id)
    return tuple(one for one in index.trace.passes if first(one.id) == family)


def results(index: GraphIndex, passes: Sequence[Pass]) -> tuple[str, ...]:
    """The nodes of gradients that these passes made and that can be differentiated: those a name holds, and `.grad` of leaves."""
    layers = {one.id for one in passes if one.create_graph}
    if not layers:
        return ()
    held = [one.tensor for one in index.trace.variables]
    held += [tensor for one in index.trace.variables for tensor in one.tensors]
    held += [kept.after for one in passes if one.create_graph for kept in one.accumulations]
    records = (index.tensors.get(tensor) for tensor in held if tensor is not None)
    nodes = dict.fromkeys(one.grad_fn.node for one in records if one is not None and one.grad_fn is not None)
    return tuple(node for node in nodes if index.layer_of(node) in layers)
