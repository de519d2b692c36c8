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
    tensors: dict[int, ev.Seen],
) -> None:
    """Links such nodes to the op that wrote, in place of the one that asked, and the view to its node."""
    regrown = [node for node in nodes.values() if node.type == _TYPE and node.edges[:1] > (0,) and not node.pass_id]
    users = _users(nodes, {node.id for node in regrown})
    for node in regrown:
        written = nodes.get(node.edges[0])
        writer = None if written is None else ops.get(written.op)
        if writer is None or not writer.flags & ev.IN_PLACE:
            continue
        asked = ops.get(node.op)
        views = () if asked is None else _views(node, asked, tensors)
        if asked is None or (views and not _makes_one(asked, functions)):
            nodes[node.id] = msgspec.structs.replace(node, op=writer.id)
            user = ops.get(users.get(node.id, 0))
            used = () if user is None else _views(node, user, tensors)
            if len(used) == 1 and not used[0].node:
                tensors[used[0].id] = msgspec.structs.replace(used[0], node=node.id)


def _users(nodes: Mapping[int, ev.NodeSeen], wanted: set[int]) -> dict[int, int]:
    """For each node the op of the first node that leads to it."""
    found: dict[int, int] = {}
    for node in nodes.values() if wanted else ():
        for target in node.edges[::2]:
            if target in wanted:
                found.setdefault(target, node.op)
    return found


def _makes_one(op: ev.OpRan, functions: Mapping[int, ev.Called]) -> bool:
    called = functions.get(op.function)
    return called is not None and "as_strided" in called.name


def _views(node: ev.NodeSeen, op: ev.OpRan, tensors: Mapping[int, ev.Seen]) -> tuple[ev.TensorSeen, ...]:
    """The views that an op took and that the node may be of."""
    shape = node.outputs[0][0] if node.outputs else None
    words = (*op.arguments, *(op.keywords or {}).values())
    given = {
        number for word in words if not isinstance(word, str) for number in ((word,) if isinstance(word, int) else word)
    }
    seen = (tensors[number] for number in sorted(given) if number in tensors)
    return tuple(one for one in seen if isinstance(one, ev.TensorSeen) and one.base and one.shape == shape)
