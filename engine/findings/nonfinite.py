"""The first NaN or Inf, and where it came from."""

from collections.abc import Iterable, Iterator
from typing import Literal

from engine.findings.story import Story, line
from engine.trace import Finding, Tensor

Trouble = Literal["nan", "inf"]

_MEANT = (
    "masked_fill masked_fill_ full full_like new_full fill_ where triu tril tensor as_tensor empty empty_like"
    " new_empty scatter scatter_ index_fill __setitem__ setitem"
)
MEANT = frozenset(_MEANT.split())
"""Ops that put an infinity into a tensor on purpose."""


def trouble(tensor: Tensor | None) -> Trouble | None:
    """NaN before Inf; None when all elements are finite or unknown."""
    if tensor is None or tensor.contents != "known":
        return None
    if tensor.summary is not None:
        return "nan" if tensor.summary.nan else "inf" if tensor.summary.inf else None
    texts = {one for one in tensor.data or () if isinstance(one, str)}
    return "nan" if "nan" in texts else "inf" if texts & {"inf", "-inf"} else None


def first_nonfinite(story: Story) -> Iterator[Finding]:
    """The first op, or else the first visit of a pass, that made a non-finite number out of finite ones."""
    yield from _forward(story)
    yield from _backward(story)


def _forward(story: Story) -> Iterator[Finding]:
    for op in story.trace.ops:
        if op.pass_id is not None or op.name in MEANT or not op.inputs:
            continue
        made = _worst(story, op.outputs)
        if made is not None and _worst(story, op.inputs) is None:
            yield Finding(
                code=f"first_{made}_forward",
                severity="warning",
                span=op.span,
                tensors=op.outputs,
                nodes=op.nodes,
                parameters={"op": op.name, "line": line(op.span), "name": story.say(op.outputs[0])},
            )
            return


def _backward(story: Story) -> Iterator[Finding]:
    for one in story.trace.passes:
        for visit in one.visits:
            made = _worst(story, visit.left)
            node = story.nodes.get(visit.node)
            if made is None or node is None or _worst(story, visit.entered) is not None:
                continue
            op = story.op_of_node(visit.node)
            yield Finding(
                code=f"first_{made}_backward",
                severity="warning",
                span=op.span if op is not None else one.span,
                tensors=tuple(tensor for tensor in visit.left if tensor is not None),
                nodes=(visit.node,),
                parameters={
                    "node": node.type,
                    "op": op.name if op is not None else "",
                    "line": line(op.span if op is not None else None),
                    "pass_line": line(one.span),
                },
            )
            return


def _worst(story: Story, tensors: Iterable[str | None]) -> Trouble | None:
    found = {trouble(story.tensors.get(tensor)) for tensor in tensors if tensor is not None}
    return "nan" if "nan" in found else "inf" if "inf" in found else None
