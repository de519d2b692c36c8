"""A trace plus a choice of root, pass and level becomes the graph to draw."""

import heapq
from collections.abc import Iterable
from operator import attrgetter

import msgspec

from engine.gc_pause import uncollected
from engine.graph.boxes import Drawing
from engine.graph.by_node import draw_nodes
from engine.graph.by_op import draw_ops
from engine.graph.choice import check_level, choose, root_choices
from engine.graph.collectives import exchange
from engine.graph.draft import Draft, freeze
from engine.graph.groups import bundle, number_groups
from engine.graph.types import Graph, Level, Link
from engine.graph.unused import add_unused
from engine.graph.visible import recorded, see
from engine.trace import Trace
from engine.trace_index import TraceIndex

MAX_BOXES = 20_000


def view(
    trace: Trace,
    *,
    root: str | None = None,
    pass_id: str | None = None,
    level: Level = "both",
    layers: bool = True,
    max_boxes: int = MAX_BOXES,
) -> Graph:
    """The graph of one root or pass; without a choice, of the last pass, else of the last root.

    With `layers`, passes that differentiate what another one made with `create_graph=True` are drawn together with it.

    Raises `NoSuchChoice` when the trace has no such root or pass. Beyond `max_boxes` those nearest to the inputs are
    left out.
    """
    check_level(level)
    with uncollected():
        return _graph(trace, root, pass_id, level, layers=layers, max_boxes=max_boxes)


def _graph(trace: Trace, root: str | None, pass_id: str | None, level: Level, *, layers: bool, max_boxes: int) -> Graph:
    index = TraceIndex(trace)
    roots = root_choices(index)
    chosen = choose(index, roots, root, pass_id, layers=layers)
    visible = recorded(index, chosen) if level == "autograd" else see(index, chosen)
    drawing = Drawing(index, visible, chosen.roots)
    if level == "forward":
        draw_ops(drawing)
    else:
        draw_nodes(drawing, fold_weights=level == "both")
    drawing.add_ghosts()
    drawing.join_ghosts()
    if level != "autograd":
        exchange(drawing, chosen)
    if level == "both":
        add_unused(drawing)
    _mark_shared(drawing.drafts.values())
    drafts = _in_forward_order(drawing)
    omitted = max(0, len(drafts) - max_boxes)
    drafts = drafts[omitted:]
    whole = bundle(index, drafts, drawing.links, folds_ops=level != "autograd")
    groups, group_of = number_groups(index, whole)
    order = {draft.id: at for at, draft in enumerate(drafts)}
    return Graph(
        format="gradgraph.graph/1",
        run=trace.id,
        level=level,
        root=chosen.root,
        pass_id=chosen.of.id if chosen.of is not None else None,
        roots=roots,
        boxes=tuple(freeze(draft, group_of.get(draft.id), at) for at, draft in enumerate(drafts)),
        links=_in_order(drawing.links, order, all_kept=not omitted),
        groups=groups,
        omitted=omitted,
        passes=tuple(pass_.id for pass_ in chosen.passes),
    )


def _in_forward_order(drawing: Drawing) -> list[Draft]:
    """Boxes as they were made; where numbers of several threads disagree with the edges, the edges win."""
    drafts = sorted(drawing.drafts.values(), key=attrgetter("place"))
    order = {draft.id: at for at, draft in enumerate(drafts)}
    if all(order[link.source] < order[link.target] for link in drawing.links):
        return drafts
    waits = dict.fromkeys(order, 0)
    users: dict[str, list[str]] = {}
    for link in drawing.links:
        waits[link.target] += 1
        users.setdefault(link.source, []).append(link.target)
    ready = [at for at, draft in enumerate(drafts) if waits[draft.id] == 0]
    sorted_drafts: list[Draft] = []
    while ready:
        draft = drafts[heapq.heappop(ready)]
        sorted_drafts.append(draft)
        for user in users.get(draft.id, ()):
            waits[user] -= 1
            if waits[user] == 0:
                heapq.heappush(ready, order[user])
    return sorted_drafts if len(sorted_drafts) == len(drafts) else drafts


def _in_order(links: Iterable[Link], order: dict[str, int], *, all_kept: bool) -> tuple[Link, ...]:
    kept = links if all_kept else [link for link in links if link.source in order and link.target in order]
    return tuple(sorted(kept, key=lambda link: order[link.target]))


def _mark_shared(drafts: Iterable[Draft]) -> None:
    """Write at each folded leaf how many boxes use it."""
    with_parameters = [draft for draft in drafts if draft.parameters]
    counts: dict[str, int] = {}
    for draft in with_parameters:
        for leaf in {parameter.node or parameter.tensor for parameter in draft.parameters}:
            counts[leaf] = counts.get(leaf, 0) + 1
    for draft in with_parameters:
        shared = [counts[parameter.node or parameter.tensor] for parameter in draft.parameters]
        if max(shared) > 1:
            draft.parameters = [
                msgspec.structs.replace(parameter, shared=count)
                for parameter, count in zip(draft.parameters, shared, strict=True)
            ]
