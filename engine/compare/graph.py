"""The depth of a graph, and the passes of a run with their losses."""

from collections import Counter
from collections.abc import Mapping, Sequence

from engine.trace import Node, Pass, Tensor


def depth(nodes: Sequence[Node]) -> int:
    """Nodes on the longest way along the edges. Nodes on a circle, which only a forged trace has, are not counted."""
    known = {node.id: node for node in nodes}
    open_edges: Counter[str] = Counter()
    for node in nodes:
        open_edges.update(edge.to for edge in node.edges if edge.to in known)
    ready = [node.id for node in nodes if not open_edges[node.id]]
    level = dict.fromkeys(ready, 1)
    while ready:
        at = ready.pop()
        for edge in known[at].edges:
            if edge.to in known:
                level[edge.to] = max(level.get(edge.to, 0), level[at] + 1)
                open_edges[edge.to] -= 1
                if not open_edges[edge.to]:
                    ready.append(edge.to)
    return max(level.values(), default=0)


def loss_of(pass_: Pass, tensors: Mapping[str, Tensor]) -> float | str | None:
    """Value of a pass's first root, when that is one real number."""
    tensor = tensors.get(pass_.roots[0].tensor or "") if pass_.roots else None
    data = tensor.data if tensor is not None else None
    return data[0] if data is not None and len(data) == 1 else None


def main_passes(passes: Sequence[Pass]) -> list[Pass]:
    """Calls of the engine that the program made itself, not those during another one."""
    return [pass_ for pass_ in passes if pass_.parent is None]
