"""Level `forward`: one box for each operation, recorded or not."""

from collections import defaultdict

from engine.graph.boxes import Drawing, Inputs, add_loose_leaves, folded_leaf, is_foldable
from engine.graph.draft import Draft
from engine.graph.types import Link
from engine.ops import family_of
from engine.trace import Op
from engine.trace_index import TraceIndex

Way = tuple[str, int]
"""A node and one slot of its edges."""


def draw_ops(drawing: Drawing) -> None:
    """Boxes and links of the ops whose nodes are visible."""
    index, visible = drawing.index, drawing.visible
    wanted = {index.nodes[node].op for node in visible.reached | visible.unreached}
    ops = [op for op in index.trace.ops if op.id in wanted]
    for op in ops:
        drawing.drafts[op.id] = _draft(drawing, op)
        drawing.box_of_op[op.id] = op.id
        for node in op.nodes:
            drawing.box_of_node[node] = op.id
    for op in ops:
        _follow_inputs(drawing, drawing.drafts[op.id], op)
    add_loose_leaves(drawing)


def _draft(drawing: Drawing, op: Op) -> Draft:
    index = drawing.index
    tensor = op.outputs[0] if op.outputs else None
    made = index.tensors[tensor].grad_fn if tensor in index.tensors and tensor is not None else None
    return Draft(
        id=op.id,
        kind="op",
        title=op.name,
        family=family_of(op.name),
        place=(index.op_at[op.id], 0),
        name=index.name_of_all(op.outputs) or index.text_of(op),
        op=op,
        node=op.nodes[-1],
        tensor=tensor,
        output_nr=made.output_nr if made is not None else 0,
        reason="" if any(node in drawing.visible.reached for node in op.nodes) else "unreached",
        span=index.code.without_body(op.span),
        module=op.module,
        folded=list(op.nodes[:-1]),
    )


def _follow_inputs(drawing: Drawing, draft: Draft, op: Op) -> None:
    index = drawing.index
    ways = _ways(index, op)
    given = Inputs(index, op)
    uses: dict[str, int] = defaultdict(int)
    links: list[tuple[str, str, Way | None, str]] = []
    for number, tensor in enumerate(op.inputs):
        record = index.tensors.get(tensor)
        if record is None or not record.requires_grad:
            continue
        if record.grad_fn is not None:
            way = _pop(ways, (record.grad_fn.node, record.grad_fn.output_nr))
            source = drawing.box_of_node.get(record.grad_fn.node)
        else:
            leaf = record.identity or record.id
            node = index.leaf_nodes.get(leaf)
            way = _pop(ways, (node or "", 0))
            name = _slot_name(index, way)
            if node not in drawing.roots and is_foldable(index, leaf, name, op):
                draft.fold(folded_leaf(index, tensor, node, _slot_of(draft, way)))
                continue
            source = drawing.add_leaf(leaf, node, tensor, (draft.place[0], -1))
            if node is not None:
                drawing.box_of_node[node] = source
        if source is not None and source != draft.id:
            uses[source] += 1
            links.append((source, tensor, way, _slot_name(index, way) or str(number)))
    for source, tensor, found, name in links:
        drawing.links.append(
            Link(
                source=source,
                target=draft.id,
                kind="data",
                tensor=tensor,
                node=found[0] if found is not None else None,
                slot=found[1] if found is not None else None,
                label=drawing.which_output(source, tensor) or (name if uses[source] > 1 else ""),
                broadcast=given.axes(tensor),
            )
        )


def _ways(index: TraceIndex, op: Op) -> dict[tuple[str, int], list[Way]]:
    """Edges that leave an op's nodes for other ops, by where they lead."""
    own = set(op.nodes)
    ways: dict[tuple[str, int], list[Way]] = defaultdict(list)
    for id_ in op.nodes:
        node = index.nodes.get(id_)
        for slot, edge in enumerate(node.edges if node is not None else ()):
            if edge.to is not None and edge.to not in own:
                ways[(edge.to, edge.input_nr)].append((id_, slot))
    return ways


def _pop(ways: dict[tuple[str, int], list[Way]], to: tuple[str, int]) -> Way | None:
    found = ways.get(to)
    return found.pop(0) if found else None


def _slot_name(index: TraceIndex, way: Way | None) -> str:
    return index.nodes[way[0]].edges[way[1]].name if way is not None else ""


def _slot_of(draft: Draft, way: Way | None) -> int | None:
    return way[1] if way is not None and way[0] == draft.node else None
