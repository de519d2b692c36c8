"""Ops that autograd does not follow, and numbers that left PyTorch through one and came back into another. Pure."""

import ast
import re
from functools import lru_cache

from engine.ops import DETACHES, PASSES, READS
from engine.program.names import plain_names
from engine.program.source import Source, source_of
from engine.program.spans import holds
from engine.program.tree import Loop, covers
from engine.trace import Op, Span, Trace

NOT_DIFFERENTIABLE = ("int", "uint", "bool")
CUTS = frozenset({"detach", "item", "no_grad", "inference_mode", "set_grad_enabled", "tensor"})
"""Reasons for which gradient that could have flowed does not; see `why_unfollowed` and `switched_off_by`."""

LOOK_AHEAD = 200  # ops; a number used later than that is another story

ENOUGH = 3  # reads at one place that nobody used; the others of a long loop are like them


def escapes(trace: Trace) -> dict[str, tuple[str, ...]]:
    """Op to the reads whose number it was given: written inside its call, or through a variable."""
    tracked = {tensor.id for tensor in trace.tensors if tensor.requires_grad}
    for op in trace.ops:
        if op.name in DETACHES and not tracked.isdisjoint(op.inputs):
            tracked.update(op.outputs)
    reads = [(at, op) for at, op in enumerate(trace.ops) if op.name in READS and tracked.intersection(op.inputs)]
    found: dict[str, tuple[str, ...]] = {}
    unused: dict[Span | None, int] = {}
    for at, read in reads:
        if unused.get(read.span, 0) >= ENOUGH:
            continue
        user = user_of(trace, at, read)
        if user is None:
            unused[read.span] = unused.get(read.span, 0) + 1
        else:
            found[user] = (*found.get(user, ()), read.id)
    return found


def user_of(trace: Trace, at: int, read: Op) -> str | None:
    """The op that the number or array of a read was given to."""
    source = source_of(trace.program.code)
    if read.span is None or any(holds(choice, read.span) for choice in _choices(source)):
        return None
    names = _bound_names(source, read.span.line)
    mention = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b") if names else None
    for op in trace.ops[at + 1 : at + 1 + LOOK_AHEAD]:
        if op.span is None or op.name in READS or op.span in _loops(source):
            continue
        if op.span != read.span and holds(op.span, read.span):
            return op.id
        if mention is not None and op.outputs and mention.search(source.written(op.span)):
            return op.id
    return None


def is_source(op: Op) -> bool:
    """Whether its results come from nowhere: `torch.ones`, or gradients from a pass."""
    return not op.inputs or op.name in PASSES


@lru_cache(maxsize=16)
def _choices(source: Source) -> tuple[Span, ...]:
    """Expressions whose numbers choose something and go no further: comparisons, tests, what `max(…, key=…)` orders
    by."""
    found: list[ast.expr] = []
    for node in source.nodes:
        match node:
            case ast.Compare():
                found.append(node)
            case ast.IfExp(test=test):
                found.append(test)
            case ast.comprehension(ifs=ifs):
                found += ifs
            case ast.keyword(arg="key", value=value):
                found.append(value)
    return tuple(map(source.span, found))


@lru_cache(maxsize=16)
def _loops(source: Source) -> frozenset[Span]:
    """Loops: what runs at the head of one is given nothing that its body computes."""
    return frozenset(source.span(node) for node in source.nodes if isinstance(node, Loop))


@lru_cache(maxsize=256)
def _bound_names(source: Source, line: int) -> tuple[str, ...]:
    """Variables that the outermost assignment on a line assigns."""
    for node in source.nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and covers(node, line):
            return plain_names(node.targets if isinstance(node, ast.Assign) else [node.target])
    return ()
