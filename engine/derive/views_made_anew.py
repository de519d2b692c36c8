"""Nodes that an in-place write made late.

A view whose base was written in place makes its grad_fn anew, an `AsStridedBackward0` that leads to what the base was
written by, when somebody next asks for it: most often an op that uses the view and has nothing to do with it.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from engine.trace import Node, Op, OutputOf, Tensor, Trace

_TYPE = "AsStridedBackward0"
_Record = TypeVar("_Record", Node, Op, Tensor)


def with_regrown_linked(trace: Trace) -> Trace:
    """The trace with such nodes at the op that wrote, not at the one that asked, and each view linked to its node."""
    regrown = [node for node in trace.nodes if node.type == _TYPE and _target(node) and node.pass_id is None]
    if not regrown:
        return trace
    moved = _Moved(trace)
    users = _users(trace.nodes, {node.id for node in regrown})
    for node in regrown:
        moved.link(node, users.get(node.id))
    return moved.trace()


def _target(node: Node) -> str | None:
    return node.edges[0].to if node.edges else None


def _users(nodes: Sequence[Node], wanted: set[str]) -> dict[str, str | None]:
    """For each node the op of the first node that leads to it."""
    users: dict[str, str | None] = {}
    for node in nodes:
        for edge in node.edges:
            if edge.to in wanted:
                users.setdefault(edge.to, node.op)
    return users


class _Moved:
    """A trace, and what of it changes."""

    def __init__(self, trace: Trace) -> None:
        self.before = trace
        self.nodes = {node.id: node for node in trace.nodes}
        self.ops = {op.id: op for op in trace.ops}
        self.tensors = {tensor.id: tensor for tensor in trace.tensors}

    def link(self, node: Node, user: str | None) -> None:
        """Moves a node to the op that wrote what its view lies in; `user` is the op that leads to the node."""
        written = self.nodes.get(_target(node) or "")
        writer = self.ops.get(written.op or "") if written is not None else None
        if writer is None or not writer.in_place:
            return
        asked = self.ops.get(node.op or "")
        if asked is not None and ("as_strided" in asked.name or not self._views(node, asked)):
            return
        self.nodes[node.id] = msgspec.structs.replace(node, op=writer.id)
        if asked is not None:
            left = tuple(other for other in asked.nodes if other != node.id)
            self.ops[asked.id] = msgspec.structs.replace(asked, nodes=left)
        writer = self.ops[writer.id]
        in_order = sorted((*writer.nodes, node.id), key=lambda other: int(self.nodes[other].sequence_nr or 0))
        self.ops[writer.id] = msgspec.structs.replace(writer, nodes=tuple(in_order))
        self._link_view(node, self.ops.get(user or ""))

    def _link_view(self, node: Node, user: Op | None) -> None:
        views = [] if user is None else self._views(node, user)
        if len(views) == 1 and views[0].grad_fn is None:
            grad_fn = OutputOf(node=node.id, output_nr=0)
            self.tensors[views[0].id] = msgspec.structs.replace(views[0], grad_fn=grad_fn, is_leaf=False)

    def _views(self, node: Node, op: Op) -> list[Tensor]:
        """The views that an op took and that the node may be of."""
        shape = node.outputs[0].shape if node.outputs else None
        taken = (self.tensors.get(tensor) for tensor in dict.fromkeys(op.inputs))
        return [tensor for tensor in taken if tensor is not None and tensor.base is not None and tensor.shape == shape]

    def trace(self) -> Trace:
        """The trace with the changes."""
        return msgspec.structs.replace(
            self.before,
            nodes=_replaced(self.before.nodes, self.nodes),
            ops=_replaced(self.before.ops, self.ops),
            tensors=_replaced(self.before.tensors, self.tensors),
        )


def _replaced(records: Sequence[_Record], by_id: Mapping[str, _Record]) -> tuple[_Record, ...]:
    return tuple([by_id[record.id] for record in records])
