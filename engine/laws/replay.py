"""The law that a trace is right: the gradients put in, pushed along the recorded edges by the recorded visits, give
what PyTorch left in each `.grad`."""

import math
from collections.abc import Iterator, Sequence

from engine.trace import Node, Number, Pass, Sum, Tensor, Term, Visit
from engine.trace_index import TraceIndex

_RELATIVE = {
    "float64": 1e-12,
    "complex128": 1e-12,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 4e-3,
    "bfloat16": 3e-2,
}
"""Rounding of a sum taken in another order."""


def replay(index: TraceIndex) -> Iterator[str]:
    if any(cut.what == "steps" for cut in index.trace.truncated):
        return  # what was said last is missing, wherever that is
    for pass_ in index.trace.passes:
        if not pass_.omitted:
            yield from _pass(index, pass_)
    yield from _grads(index)


def _pass(index: TraceIndex, pass_: Pass) -> Iterator[str]:
    """Each visit is given the sum of what the visits before it sent along their edges."""
    arrived: dict[tuple[str, int], list[Term]] = {}
    for root in pass_.roots:
        if root.node is not None and root.seed is not None:
            arrived.setdefault((root.node, root.input_nr), []).append(Term(tensor=root.seed))
    for number, visit in enumerate(pass_.visits):
        where = f"pass {pass_.id}, visit {number} ({visit.node})"
        node = index.nodes.get(visit.node)
        if node is None:
            continue
        met = {sum_.input_nr: sum_ for sum_ in visit.sums}
        for input_nr, entered in enumerate(visit.entered):
            terms = arrived.pop((visit.node, input_nr), [])
            for breach in _entering(index, terms, entered, met.get(input_nr)):
                yield f"{where}, input {input_nr}: {breach}"
        if len(visit.left) > len(node.edges):
            yield f"{where}: {len(visit.left)} gradients left by {len(node.edges)} edges"
        for key, term in _sent(node, visit):
            arrived.setdefault(key, []).append(term)


def _sent(node: Node, visit: Visit) -> Iterator[tuple[tuple[str, int], Term]]:
    for slot, (edge, gradient) in enumerate(zip(node.edges, visit.left, strict=False)):
        if edge.to is not None and gradient is not None:
            yield (edge.to, edge.input_nr), Term(tensor=gradient, node=node.id, slot=slot)


def _entering(index: TraceIndex, terms: Sequence[Term], entered: str | None, met: Sum | None) -> Iterator[str]:
    if met is not None:
        if tuple(met.terms) != tuple(terms):
            yield f"the sum has the terms {_ids(met.terms)}, but {_ids(terms)} arrived"
        if not met.hooked and met.total != met.entered:
            yield "what entered is not the total, though no hook changed it"
        if met.total is not None and not _adds_up(index, [term.tensor for term in terms], met.total):
            yield f"{_ids(terms)} do not add up to {met.total}"
    elif not terms and entered is not None:
        yield f"{entered} entered, but nothing arrived"
    elif terms and (len(terms) > 1 or terms[0].tensor != entered):
        yield f"{_ids(terms)} arrived, but {entered} entered, and no sum says why"


def _ids(terms: Sequence[Term]) -> str:
    return " + ".join(term.tensor for term in terms)


def _grads(index: TraceIndex) -> Iterator[str]:
    """Before and delta give after, and the last after is what the leaf has at the end, unless an update changed it."""
    for pass_ in index.trace.passes:
        for added in pass_.accumulations:
            where = f"pass {pass_.id}, accumulation into {added.tensor}"
            visit = pass_.visits[added.visit] if added.visit < len(pass_.visits) else None
            if visit is None or visit.node != added.node or visit.entered[:1] != (added.delta,):
                yield f"{where}: the visit did not receive {added.delta}"
            parts = [part for part in (added.before, added.delta) if part is not None]
            if added.after is not None and added.delta is not None and not _adds_up(index, parts, added.after):
                yield f"{where}: {' + '.join(parts)} is not {added.after}"
    if not any(cut.what == "ops" for cut in index.trace.truncated):  # else a change by hand may have been left out
        yield from _grads_at_the_end(index)


def _grads_at_the_end(index: TraceIndex) -> Iterator[str]:
    last: dict[str, str | None] = {}
    by: dict[str, str] = {}
    for step in index.trace.timeline:  # a pass within another ends before it
        if step.kind == "accumulate" and step.pass_id in index.passes and step.accumulation is not None:
            added = index.passes[step.pass_id].accumulations[step.accumulation]
            last[added.tensor], by[added.tensor] = added.after, step.pass_id
    touched = _touched(index)
    unseen = _before_a_gap(index)
    for tensor in index.trace.tensors:
        leaf = tensor.identity or tensor.id
        after = last.get(leaf)
        if tensor.grad is None or after is None or index.identity(after) in touched or by[leaf] in unseen:
            continue
        if not _adds_up(index, [after], tensor.grad):
            yield f"the .grad of {leaf} ends as {tensor.grad}, but the last accumulation left {after}"


def _before_a_gap(index: TraceIndex) -> set[str]:
    """Passes after which turns of a loop were left out, so that nobody saw all that changed a gradient since."""
    before: set[str] = set()
    met: set[str] = set()
    for step in index.trace.timeline:
        if step.pass_id is not None:
            met.add(step.pass_id)
        elif step.kind == "gap":
            before |= met
            met = set()
    return before


def _touched(index: TraceIndex) -> set[str]:
    """Tensors that some update changed."""
    changes = [change for update in index.trace.updates for change in update.changes]
    ends = (end for change in changes for end in (change.before, change.after))
    return {index.identity(end) for end in ends if end is not None}


def _adds_up(index: TraceIndex, parts: Sequence[str], total: str) -> bool:
    """Whether gradients sum to another: element by element when small, by their means when large."""
    tensors = [index.tensors[part] for part in parts if part in index.tensors]
    whole = index.tensors.get(total)
    if whole is None or len(tensors) != len(parts) or any(tensor.contents != "known" for tensor in (*tensors, whole)):
        return True
    if any(tensor.shape != whole.shape for tensor in tensors):
        return False
    relative = max(_RELATIVE.get(tensor.dtype, 1e-5) for tensor in (*tensors, whole))
    if whole.data is not None:
        rows = [tensor.data for tensor in tensors]
        if any(row is None for row in rows):
            return True
        columns = zip(*(row for row in rows if row is not None), strict=True)
        return all(_near(column, value, relative) for column, value in zip(columns, whole.data, strict=True))
    return _means_add_up(tensors, whole, relative)


def _near(parts: Sequence[Number], total: Number, relative: float) -> bool:
    if isinstance(total, str) or any(isinstance(part, str) for part in parts):
        return True  # NaN and infinity: any order of summation may give either
    numbers = [float(part) for part in parts]
    scale = max((abs(number) for number in numbers), default=0.0)
    return math.isclose(sum(numbers), float(total), rel_tol=relative, abs_tol=relative * scale)


def _means_add_up(tensors: Sequence[Tensor], whole: Tensor, relative: float) -> bool:
    summaries = [tensor.summary for tensor in (*tensors, whole)]
    if any(summary is None or summary.nan or summary.inf for summary in summaries):
        return True
    *parts, total = [(float(summary.mean), float(summary.norm)) for summary in summaries if summary is not None]
    scale = max([norm for _, norm in parts], default=0.0)
    tolerance = max(relative, 1e-5) * (scale + 1e-30)
    return math.isclose(sum(mean for mean, _ in parts), total[0], rel_tol=1e-3, abs_tol=tolerance)
