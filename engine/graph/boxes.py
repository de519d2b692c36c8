"""Boxes and links of a view: what both ways of drawing share, and the ghosts around them."""

import ast
from collections.abc import Iterable, Sequence

from engine.graph.draft import Draft, ForwardOrder
from engine.graph.operands import label, numbers
from engine.graph.types import BoxParameter, Link
from engine.graph.visible import Visible
from engine.program.names import called, taker_of
from engine.trace import Broadcast, Op, Span, Tensor
from engine.trace_index import TraceIndex
from engine.unfollowed import CUTS

LARGE = 256  # elements; a leaf whose values the trace holds in full is small enough for a box of its own
PARALLEL = "torch.nn.parallel.DistributedDataParallel"
WEIGHT_SLOTS = frozenset({"weight", "bias"})


class Drawing:
    """Drafts and links in the making."""

    def __init__(self, index: TraceIndex, visible: Visible, roots: Iterable[str]) -> None:
        self.index = index
        self.visible = visible
        self.roots = frozenset(roots)
        self.drafts: dict[str, Draft] = {}
        self.links: list[Link] = []
        self.box_of_node: dict[str, str] = {}
        self.box_of_op: dict[str, str] = {}
        self.box_of_leaf: dict[str, str] = {}

    def add_leaf(self, identity: str, node: str | None, tensor: str, place: ForwardOrder) -> str:
        """The box of a tensor where gradients stop."""
        box = self.box_of_leaf.get(identity)
        if box is not None:
            return box
        index = self.index
        maker = index.maker.get(identity)
        parameter = index.is_parameter(identity)
        unreached = node is None or node not in self.visible.reached
        box = self.box_of_leaf[identity] = node or identity
        self.drafts[box] = Draft(
            id=box,
            kind="leaf",
            title="parameter" if parameter else "leaf",
            family="param" if parameter else "leaf",
            place=(index.op_at[maker.id], 0) if maker is not None else place,
            name=index.name(tensor) or (index.text_of(maker) if maker is not None else ""),
            node=node,
            tensor=tensor,
            reason="unreached" if unreached else "",
            span=maker.span if maker is not None else self._span_of_parameter(tensor) if parameter else None,
        )
        return box

    def _span_of_parameter(self, tensor: str) -> Span | None:
        """Where a parameter was made of another tensor, which no op does: what its name is bound to once."""
        values = self.index.code.values(self.index.name(tensor))
        match values:
            case [ast.Call() as call] if called(call) == "Parameter":
                return self.index.code.span(call)
        return None

    def add_ghosts(self) -> None:
        """Boxes for ops that autograd did not record, and for leaves that only they use."""
        for identity in self.visible.leaves:
            self.add_leaf(identity, None, identity, (-1, 0))
        for op in self.visible.ghosts:
            if op.collective in self.index.met:
                self.add_collective(self.index.met[op.collective])
            else:
                self._add_ghost(op)

    def add_collective(self, met: Sequence[Op]) -> str:
        """The one box of the calls of all ranks that met."""
        first = met[0]
        if first.id not in self.drafts:
            self.box_of_op.update((op.id, first.id) for op in met)
            self.drafts[first.id] = Draft(
                id=first.id,
                kind="collective",
                title=" → ".join(dict.fromkeys(op.name for op in sorted(met, key=lambda op: bool(op.outputs)))),
                family="collective",
                place=(self.index.op_at[first.id], 0),
                name=_made_of(met),
                op=first,
                span=first.span,
                ops=tuple(op.id for op in met),
            )
        return first.id

    def _add_ghost(self, op: Op) -> None:
        reason = self._reason(op)
        is_read = reason == "item" and len(op.inputs) == 1  # the number that it gives is the one that it is given
        tensor = op.outputs[0] if op.outputs else op.inputs[0] if is_read else None
        text = "" if reason in ("detach", "item", "tensor") else self.index.text_of(op)
        named = "" if reason == "function" else self.index.name_of_all(op.outputs)  # the Function's result has it
        self.box_of_op[op.id] = op.id
        self.drafts[op.id] = Draft(
            id=op.id,
            kind="ghost",
            title=taker_of(self.index.code.call_at(op.span), op.name) if reason == "item" else op.name,
            family="ghost",
            place=(self.index.op_at[op.id], 0),
            name=named or text,
            op=op,
            tensor=tensor,
            reason=reason,
            span=self.index.code.without_body(op.span),
            module=op.module,
        )

    def _reason(self, op: Op) -> str:
        reason = self.index.why_unfollowed(op)
        return self.index.switched_off_by(op) if reason == "no_grad" else reason

    def which_output(self, source: str, tensor: str | None) -> str:
        """Which of several results that a box gives a tensor is, by its name."""
        box, name = self.drafts.get(source), self.index.name(tensor)
        made = self.index.maker.get(tensor) if tensor is not None else None
        several = box is not None and box.name != name and made is not None and len(made.outputs) > 1
        return name if several else ""

    def source_of(self, tensor: Tensor) -> str | None:
        """The box a tensor comes from."""
        if tensor.grad_fn is not None and tensor.grad_fn.node in self.box_of_node:
            return self.box_of_node[tensor.grad_fn.node]
        if tensor.requires_grad and tensor.grad_fn is None:
            return self.box_of_leaf.get(tensor.identity or tensor.id)
        maker = self.index.maker.get(tensor.id)
        return self.box_of_op.get(maker.id) if maker is not None else None

    def join_ghosts(self) -> None:
        """Links into ghosts, cut where gradient could have flowed, and from ghosts into recorded ops."""
        for op in self.visible.ghosts:
            self._join_ghost(op)
        for draft in list(self.drafts.values()):
            made_by = draft.op
            if draft.kind == "op" and made_by is not None and self.box_of_op.get(made_by.id) == draft.id:
                self._join_untracked(made_by, draft)

    def _join_ghost(self, op: Op) -> None:
        draft = self.drafts[self.box_of_op[op.id]]
        is_met = draft.kind == "collective"
        for number in () if is_met else numbers(op):
            draft.give(number)
        self._join_reads(op, draft)
        for tensor in dict.fromkeys(op.gave if is_met else op.inputs):
            record = self.index.tensors.get(tensor)
            source = self.source_of(record) if record is not None else None
            if record is None or source == draft.id:
                continue
            if source is None:
                if not is_met:
                    draft.give(label(self.index, record), tensor)
                continue
            reason = self._reason(op) if is_met else draft.reason
            cut = record.requires_grad and reason in CUTS
            spelled = "data" if op.name == "data" else draft.title if reason == "item" else reason
            self.links.append(
                Link(
                    source=source,
                    target=draft.id,
                    kind="cut" if cut else "ghost",
                    tensor=tensor,
                    reason=spelled if cut else "",
                    span=op.span if cut else None,
                )
            )

    def _join_reads(self, op: Op, draft: Draft) -> None:
        for read in self.index.escapes.get(op.id, ()):
            if read in self.drafts:
                self.links.append(Link(source=read, target=draft.id, kind="ghost"))

    def _join_untracked(self, op: Op, draft: Draft) -> None:
        if self.index.escapes:
            self._join_reads(op, draft)
        for number in numbers(op):
            draft.give(number)
        tensors = self.index.tensors
        for tensor in op.inputs if len(op.inputs) < 2 else dict.fromkeys(op.inputs):
            record = tensors.get(tensor)
            if record is None or record.requires_grad or record.role == "buffer":
                continue
            source, taker = self.source_of(record), self._taker(op, record, draft)
            if source is None or source == taker.id:
                taker.give(label(self.index, record), tensor)
            else:
                self.links.append(Link(source=source, target=taker.id, kind="ghost", tensor=tensor))

    def _taker(self, op: Op, given: Tensor, last: Draft) -> Draft:
        """Of the boxes of an op the one that an untracked tensor goes into: that of the first node that keeps its
        memory, else of the only one with a missing edge, else the last."""
        nodes = [self.index.nodes[node] for node in op.nodes if node in self.index.nodes] if len(op.nodes) > 1 else []
        keeps = [node for node in nodes if any(self._is_of(given, saved.tensor) for saved in node.saved)]
        open_ = [node for node in nodes if any(edge.to is None for edge in node.edges)]
        found = keeps[0] if keeps else open_[0] if len(open_) == 1 else None
        return self.drafts.get(self.box_of_node.get(found.id, ""), last) if found is not None else last

    def _is_of(self, given: Tensor, kept: str | None) -> bool:
        record = self.index.tensors.get(kept or "")
        return record is not None and (record.id == given.id or given.storage == record.storage is not None)


def add_loose_leaves(drawing: Drawing) -> None:
    """Boxes for leaves that are roots themselves, or that only ghosts use."""
    index, visible = drawing.index, drawing.visible
    for node in index.leaf_nodes.values():
        leaf = index.nodes[node].variable
        if leaf is None or node in drawing.box_of_node or not (node in visible.reached or node in visible.unreached):
            continue
        if node in drawing.roots or leaf not in index.members:
            drawing.box_of_node[node] = drawing.add_leaf(leaf, node, leaf, (-1, 0))


def _made_of(met: Sequence[Op]) -> str:
    op = met[0]
    if op.bucket:
        return "mean"
    if op.function == PARALLEL:
        return "start"
    said = next((argument.text for argument in op.arguments if argument.name == "op" and argument.text), "copy")
    return said.removeprefix("ReduceOp.").lower()


class Inputs:
    """The inputs of an op, so that a link knows the state of its leaf and its broadcast axes."""

    __slots__ = ("_free", "_states")

    def __init__(self, index: TraceIndex, op: Op | None) -> None:
        inputs = op.inputs if op is not None else ()
        self._states: dict[str, str] = {}
        """The input that each leaf is, by its identity: of several states the first."""
        for tensor in inputs:
            self._states.setdefault(index.identity(tensor), tensor)
        self._free: dict[str, list[Broadcast]] = {}
        for stretched in op.broadcast if op is not None else ():
            self._free.setdefault(inputs[stretched.input], []).append(stretched)

    def axes(self, tensor: str | None) -> tuple[int, ...]:
        """Axes over which an input was stretched; each stretched input is given once."""
        stretched = self._free.get(tensor or "")
        return stretched.pop(0).axes if stretched else ()

    def leaf(self, leaf: str) -> str:
        """The state of a leaf that the op used."""
        return self._states.get(leaf, leaf)


def is_foldable(index: TraceIndex, leaf: str, slot_name: str, consumer: Op | None) -> bool:
    """Whether a leaf goes into the header of the box that uses it."""
    if leaf in index.members:
        return True
    record = index.tensors.get(leaf)
    if record is None or consumer is None or consumer.module is None or slot_name not in WEIGHT_SLOTS:
        return False
    return index.elements(leaf) > LARGE


def folded_leaf(index: TraceIndex, tensor: str, node: str | None, slot: int | None) -> BoxParameter:
    """A leaf as part of a box."""
    record = index.tensors.get(tensor)
    name = label(index, record) if record is not None else tensor
    return BoxParameter(name=name, tensor=tensor, node=node, slot=slot)
