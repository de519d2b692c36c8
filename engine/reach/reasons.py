"""Why autograd did not record an op, as a word of the graph."""

from engine.ops import COPIES, DETACHES, READS
from engine.trace import Op
from engine.trace_index import TraceIndex

NOT_DIFFERENTIABLE = ("int", "uint", "bool")
"""How the dtypes begin that have no gradients."""

CUTS = frozenset(("detach", "item", "no_grad", "tensor"))
"""Reasons for which a gradient stops that could have flowed."""


def reason_of(index: TraceIndex, op: Op) -> str:
    """Why an op has no node."""
    if op.name in READS:
        return "item"
    if op.name in COPIES and op.inputs:
        return "tensor"
    if op.grad_mode != "grad":
        inside = op.span is not None and index.source.is_in_function_forward(op.span.line)
        return "function" if inside else "no_grad"
    if op.name in DETACHES:
        return "detach"
    tracked = any(map(index.is_tracked, op.inputs))
    made = [index.tensors[tensor] for tensor in op.outputs if tensor in index.tensors]
    return "integer" if tracked and all(tensor.dtype.startswith(NOT_DIFFERENTIABLE) for tensor in made) else "untracked"
