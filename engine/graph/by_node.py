"""Levels `autograd` and `both`: one box for each autograd node."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter

from engine.graph.boxes import Drawing, Inputs, add_loose_leaves, folded_leaf, is_foldable
from engine.graph.draft import Draft, ForwardOrder
from engine.graph.loops import FEW
from engine.graph.types import BoxParameter, Link
from engine.ops import family_of
from engine.trace import Edge, Node, Op
from engine.trace_index import TraceIndex


def draw_nodes(drawing: Drawing, *, fold_weights: bool) -> None:
    """Boxes and links of the visible nodes; `fold_weights` hides what stands between a parameter and its op."""
    index = drawing.index
    nodes = _in_order(index, drawing.visible.reached | drawing.visible.unreached)
    fold_weights = fold_weights and any(leaf in index.members for leaf in index.leaf_nodes)
    hidden = _Hidden(index, drawing.roots, [node for _, node in nodes]) if fold_weights else None
    given, given_to = Inputs(index, None), None
    for place, node in nodes:
        if hidden is not None and node.id in hidden.parameters:
            continue
        draft = _draft(drawing, node, place)
        if draft.op is not given_to:  # the nodes of one op share its inputs and stand next to each other
            given, given_to = Inputs(index, draft.op), draft.op
        drawing.drafts[node.id] = draft
        drawing.box_of_node[node.id] = node.id
        if node.op is not None:
            drawing.box_of_op[node.op] = node.id
        _follow_edges(drawing, draft, node, given, hidden)
        if not draft.name and draft.op is not None:
            draft.name = _name_on_the_way(index, draft, draft.op, node)
    add_loose_leaves(drawing)


def _draft(drawing: Drawing, node: Node, place: ForwardOrder) -> Draft:
    index = drawing.index
    op = index.ops.get(node.op) if node.op is not None else None
    number, tensor = _value(index, node)
    if tensor is None and op is not None and op.nodes == (node.id,) and op.outputs:
        tensor = op.outputs[0]
    outputs = [index.values.get((node.id, number)) for number in range(len(node.outputs))]
    name = index.name_of_all(outputs) or index.name_of_made(tensor)
    if not name and op is None and node.made_by is not None:
        name = _name_of_derivative(index, node.made_by)
    return Draft(
        id=node.id,
        kind="op",
        title=node.type,
        family=family_of(node.type),
        place=place,
        name=name,
        op=op,
        node=node.id,
        tensor=tensor,
        output_nr=number,
        reason="unreached" if node.id in drawing.visible.unreached else "",
        span=index.code.without_body(op.span) if op is not None else None,
        module=op.module if op is not None else _module_of_maker(index, node) or _module_around(index, node, place),
    )


def _name_on_the_way(index: TraceIndex, draft: Draft, op: Op, node: Node) -> str:
    """Of a node inside a call, whose result another node makes: what it turns, `q.expand`; else the module whose
    parameters it takes, else the call."""
    if name := _name_of_turned(index, node):
        return f"{name}.{_TURN.sub('', node.type).lower() if node.type != 'TBackward0' else 'T'}"
    if draft.parameters and op.module is not None:
        path = index.modules[op.module].path.split(".")
        return ".".join(path[-2:] if path[-1].isdecimal() else path[-1:])
    return index.code_of(op) if len(op.nodes) <= FEW else ""


_TURN = re.compile(r"^Unsafe|(?<=.)Alias|Backward\d*$")


def _name_of_turned(index: TraceIndex, node: Node) -> str:
    """What comes into a view, or into the views before it, in the program's words; nothing for other nodes."""
    while family_of(node.type) == "view":
        edges = [edge for edge in node.edges if edge.to is not None]
        if len(edges) != 1 or (source := index.nodes.get(edges[0].to or "")) is None:
            return ""
        if name := index.name_of_made(source.variable or index.values.get((source.id, edges[0].input_nr))):
            return name if _takes_attribute(name) else f"({name})"
        node = source
    return ""


def _takes_attribute(name: str) -> bool:
    """Whether an attribute can be written behind it: a path such as `layers.0.weight`, a call, an element."""
    flat = name
    while (outer := _BRACKETS.sub("", flat)) != flat:
        flat = outer
    return _PATH.fullmatch(flat) is not None


_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_PATH = re.compile(r"[\w.]*")


def _module_of_maker(index: TraceIndex, node: Node) -> str | None:
    """A node of a derivative belongs to the module that is differentiated."""
    maker = index.nodes.get(node.made_by) if node.made_by is not None else None
    op = index.ops.get(maker.op) if maker is not None and maker.op is not None else None
    return op.module if op is not None else None


def _module_around(index: TraceIndex, node: Node, place: ForwardOrder) -> str | None:
    """Where a node without an op was made: what calls a module's backward hooks stands between the ops of modules."""
    at = place[0]
    ops = index.trace.ops
    if node.made_by is not None or not 0 <= at < len(ops) - 1:
        return None
    before = index.module_chain(ops[at].module)
    after = index.module_chain(ops[at + 1].module)
    shared = [module for module, other in zip(before, after, strict=False) if module == other]
    return shared[-1] if shared else None


_ORDERS = ("", "", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹")


def _name_of_derivative(index: TraceIndex, made_by: str) -> str:
    """A node of a second derivative is named after the value whose backward made it, one of a third after that
    one's."""
    maker = index.nodes.get(made_by)
    for order in _ORDERS[1:]:
        if maker is None:
            break
        if name := index.name_of_made(index.values.get((maker.id, 0))):
            return f"∂{order} {name}"
        maker = index.nodes.get(maker.made_by) if maker.made_by is not None else None
    return ""


def _value(index: TraceIndex, node: Node) -> tuple[int, str | None]:
    """Which result a box shows, and its value where it is known: of several the first that something is made of."""
    numbers = range(max(1, len(node.outputs)))
    led_to = [number for number in numbers if (node.id, number) in index.led_to_outputs] or numbers
    known = next((number for number in led_to if (node.id, number) in index.values), led_to[0])
    return known, index.values.get((node.id, known))


def _follow_edges(drawing: Drawing, draft: Draft, node: Node, given: Inputs, hidden: "_Hidden | None") -> None:
    index = drawing.index
    nodes = index.nodes
    led_to = [edge.to for edge in node.edges]
    times = Counter(led_to)
    for slot, to in enumerate(led_to):
        if to is None or to not in nodes:
            continue
        edge = node.edges[slot]
        if hidden is not None and to in hidden.parameters:
            hidden.fold(draft, to, slot)
            continue
        leaf = nodes[to].variable
        if leaf is None:
            tensor = index.values.get((to, edge.input_nr))
            source = to
        else:
            tensor = given.leaf(leaf)
            if to not in drawing.roots and is_foldable(index, leaf, edge.name, draft.op):
                draft.fold(folded_leaf(index, tensor, to, slot))
                drawing.box_of_node.setdefault(to, draft.id)
                continue
            source = drawing.add_leaf(leaf, to, tensor, (draft.place[0], -1))
            drawing.box_of_node[to] = source
        drawing.links.append(
            Link(
                source=source,
                target=node.id,
                kind="data",
                tensor=tensor,
                node=node.id,
                slot=slot,
                label=drawing.which_output(source, tensor) or ((edge.name or str(slot)) if times[to] > 1 else ""),
                broadcast=given.axes(tensor),
            )
        )


class _Hidden:
    """Nodes between a parameter and the only node that uses it, inside one op: the transpose in `F.linear`."""

    def __init__(self, index: TraceIndex, roots: frozenset[str], nodes: Sequence[Node]) -> None:
        self.parameters: dict[str, tuple[BoxParameter, ...]] = {}
        """Hidden node to the leaf behind it."""
        self.chains: dict[str, tuple[str, ...]] = {}
        """Hidden node to itself and the hidden nodes behind it."""
        users = _single_users(nodes)
        for node in nodes:
            user = users.get(node.id)
            if node.op is None or node.id in roots or user is None or user.op != node.op:
                continue
            used = [(slot, edge) for slot, edge in enumerate(node.edges) if edge.to is not None]
            if len(used) == 1:
                self._hide(index, roots, node, *used[0])

    def fold(self, draft: Draft, hidden: str, slot: int) -> None:
        """Puts a hidden node and the leaf behind it into the box that uses them."""
        for leaf in self.parameters[hidden]:
            draft.fold(BoxParameter(name=leaf.name, tensor=leaf.tensor, node=leaf.node, slot=slot))
        draft.folded.extend(self.chains[hidden])

    def _hide(self, index: TraceIndex, roots: frozenset[str], node: Node, slot: int, edge: Edge) -> None:
        to = edge.to
        leaf = index.nodes[to].variable if to in index.nodes and to is not None else None
        if to in self.parameters and to is not None:
            self.parameters[node.id] = self.parameters[to]
            self.chains[node.id] = (*self.chains[to], node.id)
        elif leaf is not None and to not in roots and leaf in index.members:
            tensor = Inputs(index, index.ops.get(node.op or "")).leaf(leaf)
            self.parameters[node.id] = (folded_leaf(index, tensor, to, slot),)
            self.chains[node.id] = (node.id,)


def _single_users(nodes: Iterable[Node]) -> dict[str, Node | None]:
    users: dict[str, Node | None] = {}
    for node in nodes:
        for edge in node.edges:
            if edge.to is not None:
                users[edge.to] = None if edge.to in users else node
    return users


def _in_order(index: TraceIndex, visible: frozenset[str]) -> list[tuple[ForwardOrder, Node]]:
    """Nodes except leaves in the order they were made; one without an op stands after the last op made before it."""
    placed: list[tuple[ForwardOrder, Node]] = []
    homeless: list[tuple[int, Node]] = []
    for node in index.trace.nodes:
        if node.id not in visible or node.variable is not None:
            continue
        number = _number(node)
        at = index.op_at.get(node.op) if node.op is not None else None
        if at is None:
            homeless.append((number, node))
        else:
            placed.append(((at, number), node))
    if homeless:
        _settle(index, placed, homeless)
    placed.sort(key=itemgetter(0))
    return placed


def _settle(index: TraceIndex, placed: list[tuple[ForwardOrder, Node]], homeless: list[tuple[int, Node]]) -> None:
    op_at = index.op_at
    anchors = sorted((_number(node), op_at[node.op]) for node in index.trace.nodes if node.op and node.op in op_at)
    homeless.sort(key=lambda pair: pair[0])
    at, latest = 0, -1
    for number, node in homeless:
        while at < len(anchors) and anchors[at][0] < number:
            latest = max(latest, anchors[at][1])
            at += 1
        placed.append(((latest, number), node))


def _number(node: Node) -> int:
    return int(node.sequence_nr) if node.sequence_nr is not None and node.sequence_nr.isdecimal() else -1
