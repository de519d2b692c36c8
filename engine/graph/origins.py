"""Where tensors come from that autograd did not follow: the nodes, leaves and gradients behind them."""

from collections.abc import Container
from typing import NamedTuple

from engine.trace import Op
from engine.trace_index import TraceIndex

MOST_STEPS = 200


class Origins(NamedTuple):
    """What a tensor comes from."""

    nodes: dict[str, tuple[Op, ...]]
    """Nodes, each with the ops between that autograd did not follow."""
    states: tuple[str, ...]
    """Leaves and gradients, in the states that were asked for."""


def origins(index: TraceIndex, tensor: str, asked: Container[str]) -> Origins:
    """Walks back from a tensor to the first nodes, and to the first of the states of leaves and gradients asked for."""
    nodes: dict[str, tuple[Op, ...]] = {}
    found: list[str] = []
    pending: list[tuple[str, tuple[Op, ...]]] = [(tensor, ())]
    seen: set[str] = set()
    while pending and len(seen) < MOST_STEPS:
        at, way = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        record = index.tensors.get(at)
        maker = index.maker.get(at)
        if at in asked:
            found.append(at)
        elif record is not None and record.grad_fn is not None:
            nodes.setdefault(record.grad_fn.node, way)
        elif maker is not None and not maker.nodes and maker.collective is None:
            pending += [(given, (maker, *way)) for given in maker.inputs]
    return Origins(nodes, tuple(found))
