"""Nodes that an in-place write made late.

A view whose base was written in place makes its grad_fn anew, an `AsStridedBackward0` that leads to what the base was
written by, when somebody next asks for it: most often an op that uses the view and has nothing to do with it.
"""

from collections.abc import Mapping

import msgspec

from engine import events as ev

_TYPE = "AsStridedBackward0"


def link_regrown(
    nodes: dict[int, ev.NodeSeen],
    ops: Mapping[int, ev.OpRan],
    functions: Mapping[int, ev.Called],
    tensors: Mapping[int, ev.TensorSeen],
) -> None:
    """Links such nodes to the op that wrote, in place of the one that asked."""
    for node in [node for node in nodes.values() if node.type == _TYPE and node.edges[:1] > (0,) and not node.pass_id]:
        written = nodes.get(node.edges[0])
        writer = None if written is None else ops.get(written.op)
        if writer is not None and writer.flags & ev.IN_PLACE and _asked_only(node, ops, functions, tensors):
            nodes[node.id] = msgspec.structs.replace(node, op=writer.id)


def _asked_only(
    node: ev.NodeSeen,
    ops: Mapping[int, ev.OpRan],
    functions: Mapping[int, ev.Called],
    tensors: Mapping[int, ev.TensorSeen],
) -> bool:
    """Whether the op it was found in took the view, instead of making one."""
    op = ops.get(node.op)
    if op is None:
        return True
    called = functions.get(op.function)
    if called is not None and "as_strided" in called.name:
        return False
    shape = node.outputs[0][0] if node.outputs else None
    words = (*op.arguments, *(op.keywords or {}).values())
    given = (
        number for word in words for number in ((word,) if isinstance(word, int) else word) if isinstance(number, int)
    )
    return any((seen := tensors.get(number)) is not None and seen.base and seen.shape == shape for number in given)
