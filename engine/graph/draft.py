"""A box while it is being made: links, folded leaves and its group are added until it is frozen."""

from typing import Literal

import msgspec

from engine.graph.types import Box, BoxParameter
from engine.trace import Op, Span

ForwardOrder = tuple[int, int]
"""Where a box stands in forward order: index of its op, then sequence number."""


class Draft(msgspec.Struct, eq=False, gc=False):
    """One box to be; it refers to no other draft, so it needs no garbage collector."""

    id: str
    kind: Literal["op", "leaf", "ghost", "collective"]
    title: str
    family: str
    place: ForwardOrder
    name: str = ""
    op: Op | None = None
    node: str | None = None
    tensor: str | None = None
    output_nr: int = 0
    reason: str = ""
    span: Span | None = None
    module: str | None = None
    parameters: list[BoxParameter] = []
    constants: list[str] = []
    constant_tensors: list[str | None] = []
    folded: list[str] = []
    ops: tuple[str, ...] = ()

    def fold(self, leaf: BoxParameter) -> None:
        """Adds a leaf, once for all slots that lead to it."""
        if all(leaf.tensor != folded.tensor for folded in self.parameters):
            self.parameters.append(leaf)

    def give(self, constant: str, tensor: str | None = None) -> None:
        """Adds a stub: a plain number, or an untracked tensor."""
        self.constants.append(constant)
        self.constant_tensors.append(tensor)


def freeze(draft: Draft, group: str | None, order: int) -> Box:
    """The finished box."""
    box = Box(
        id=draft.id,
        kind=draft.kind,
        title=draft.title,
        name=draft.name,
        family=draft.family,
        op=draft.op.id if draft.op is not None else None,
        node=draft.node,
        tensor=draft.tensor,
        group=group,
        constants=tuple(draft.constants),
        span=draft.span,
        order=order,
    )
    of_tensors = any(draft.constant_tensors)
    if not (draft.output_nr or draft.parameters or draft.folded or draft.reason or of_tensors or draft.ops):
        return box
    return msgspec.structs.replace(
        box,
        output_nr=draft.output_nr,
        parameters=tuple(draft.parameters),
        constant_tensors=tuple(draft.constant_tensors) if of_tensors else (),
        folded=tuple(draft.folded),
        reason=draft.reason,
        ops=draft.ops,
    )
