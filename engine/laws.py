"""What holds of every trace. Each law yields one sentence for each place where the trace breaks it.

The structural laws say that a trace is one whole: ends exist, the graph has no cycle, leaves are sinks, a step points at
something. The replay law says that it is right: the gradients put in, pushed along the recorded edges by the recorded visits,
give what PyTorch left in each `.grad`.
"""

import math
from collections.abc import Iterator, Sequence

from engine.derive.laws import broken_parts
from engine.laws_asked import asked
from engine.laws_observed import observed
from engine.trace import Node, Number, Pass, Sum, Tensor, Term, Trace, Visit

_RELATIVE = {
    "float64": 1e-12,
    "complex128": 1e-12,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 4e-3,
    "bfloat16": 3e-2,
}
"""Rounding of a sum taken in another order."""


def broken(trace: Trace) -> list[str]:
    """Every breach of every law; empty for a right trace."""
    looked = _Looked(trace)
    structure = [
        *_unique(looked),
        *_ends(looked),
        *_graph(looked),
        *_gaps(looked),
        *_checks(looked),
        *_timeline(looked),
    ]
    return [*structure, *_replay(looked), *broken_parts(trace), *observed(trace), *asked(trace)]


class _Looked:
    """A trace with its parts by id."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.tensors = {tensor.id: tensor for tensor in trace.tensors}
        self.nodes = {node.id: node for node in trace.nodes}
        self.ops = {op.id: op for op in trace.ops}
        self.passes = {one.id: one for one in trace.passes}
        self.updates = {update.id: update for update in trace.updates}
        self.modules = {module.id: module for module in trace.modules}


# Structure


def _unique(looked: _Looked) -> Iterator[str]:
    trace = looked.trace
    for what, parts, by_id in (
        ("tensor", trace.tensors, looked.tensors),
        ("node", trace.nodes, looked.nodes),
        ("op", trace.ops, looked.ops),
        ("pass", trace.passes, looked.passes),
        ("update", trace.updates, looked.updates),
        ("module", trace.modules, looked.modules),
    ):
        if len(parts) != len(by_id):
            yield f"{len(parts) - len(by_id)} {what} ids are used twice"


def _ends(looked: _Looked) -> Iterator[str]:
    """Every id that a part names exists."""
    for where, tensor in _named_tensors(looked.trace):
        if tensor is not None and tensor not in looked.tensors:
            yield f"{where} names tensor {tensor}, which does not exist"
    for where, node in _named_nodes(looked.trace):
        if node is not None and node not in looked.nodes:
            yield f"{where} names node {node}, which does not exist"
    for op in looked.trace.ops:
        if op.module is not None and op.module not in looked.modules:
            yield f"op {op.id} names module {op.module}, which does not exist"
    for state in looked.trace.tensors:
        first = looked.tensors.get(state.identity or state.id)
        if first is not None and first.identity is not None:
            yield f"tensor {state.id} has identity {first.id}, which is not a first record"


def _named_tensors(trace: Trace) -> Iterator[tuple[str, str | None]]:
    for tensor in trace.tensors:
        yield from ((f"tensor {tensor.id}", other) for other in (tensor.identity, tensor.base, tensor.grad))
    for op in trace.ops:
        yield from ((f"op {op.id}", tensor) for tensor in (*op.inputs, *op.outputs))
    for node in trace.nodes:
        yield from ((f"node {node.id}", saved.tensor) for saved in node.saved)
        yield f"node {node.id}", node.variable
    for one in trace.passes:
        yield from ((f"pass {one.id}", tensor) for tensor in _pass_tensors(one))
    for update in trace.updates:
        for change in (*update.changes, *update.state):
            named = (change.before, change.after, change.gradient)
            yield from ((f"update {update.id}", tensor) for tensor in named)
    for variable in trace.variables:
        yield from ((f"variable {variable.name}", tensor) for tensor in (variable.tensor, *variable.tensors))


def _pass_tensors(one: Pass) -> Iterator[str | None]:
    yield from (one.inputs or ())
    yield from one.results
    for root in one.roots:
        yield from (root.tensor, root.seed)
    for visit in one.visits:
        yield from (*visit.entered, *visit.left)
        for met in visit.sums:
            yield from (met.total, met.entered, *(term.tensor for term in met.terms))
    for added in one.accumulations:
        yield from (added.tensor, added.before, added.delta, added.after)


def _named_nodes(trace: Trace) -> Iterator[tuple[str, str | None]]:
    for node in trace.nodes:
        yield from ((f"node {node.id}", edge.to) for edge in node.edges)
        yield f"node {node.id}", node.made_by
    for tensor in trace.tensors:
        if tensor.grad_fn is not None:
            yield f"tensor {tensor.id}", tensor.grad_fn.node
    for op in trace.ops:
        yield from ((f"op {op.id}", node) for node in op.nodes)
    for one in trace.passes:
        yield from ((f"pass {one.id}", root.node) for root in one.roots)
        yield from ((f"pass {one.id}", visit.node) for visit in one.visits)
        yield from ((f"pass {one.id}", added.node) for added in one.accumulations)


def _graph(looked: _Looked) -> Iterator[str]:
    yield from _acyclic(looked)
    for node in looked.trace.nodes:
        if node.type == "AccumulateGrad" and (node.edges or node.variable is None):
            yield f"node {node.id} is an AccumulateGrad with edges or without its leaf"
        for slot, edge in enumerate(node.edges):
            target = looked.nodes.get(edge.to or "")
            if target is not None and target.outputs and edge.input_nr >= len(target.outputs):
                yield f"slot {slot} of node {node.id} enters input {edge.input_nr} of {target.id}, which has fewer"
    for op in looked.trace.ops:
        for number in op.nodes:
            if (made := looked.nodes.get(number)) is not None and made.op != op.id:
                yield f"op {op.id} made node {number}, which says it was made by {made.op}"


def _acyclic(looked: _Looked) -> Iterator[str]:
    """Kahn's way: taking away nodes that nothing leads to takes away all."""
    arriving = dict.fromkeys(looked.nodes, 0)
    for node in looked.trace.nodes:
        for target in _targets(node):
            if target in arriving:
                arriving[target] += 1
    free = [node for node, count in arriving.items() if count == 0]
    taken = 0
    while free:
        taken += 1
        for target in _targets(looked.nodes[free.pop()]):
            if target in arriving:
                arriving[target] -= 1
                if arriving[target] == 0:
                    free.append(target)
    if taken != len(arriving):
        yield f"{len(arriving) - taken} nodes lie on a cycle or behind one"


def _gaps(looked: _Looked) -> Iterator[str]:
    """What a gap says was left out is not there."""
    kept = {int(one.id[1:]) for one in looked.trace.passes}
    for number, gap in enumerate(looked.trace.gaps):
        if gap.first is not None and gap.last is not None and any(gap.first <= one <= gap.last for one in kept):
            yield f"gap {number} says that calls {gap.first} to {gap.last} were left out, but one of them is there"
    for where, edge in ((node.id, edge) for node in looked.trace.nodes for edge in node.edges):
        if edge.omitted and edge.to is not None:
            yield f"node {where} has an edge to {edge.to} that says it was left out"
    if not looked.trace.truncated and [point.number for point in looked.trace.curve] != sorted(kept):
        yield "the curve does not tell each call of the engine once, in order"


def _targets(node: Node) -> list[str]:
    return [edge.to for edge in node.edges if edge.to is not None]


def _timeline(looked: _Looked) -> Iterator[str]:
    trace = looked.trace
    for number, step in enumerate(trace.timeline):
        where = f"step {number} ({step.kind})"
        if step.op is not None and step.op not in looked.ops:
            yield f"{where} names op {step.op}, which does not exist"
        if step.update is not None and step.update not in looked.updates:
            yield f"{where} names update {step.update}, which does not exist"
        one = looked.passes.get(step.pass_id or "")
        if step.pass_id is not None and one is None:
            yield f"{where} names pass {step.pass_id}, which does not exist"
        elif one is not None:
            counts = (
                (step.visit, len(one.visits)),
                (step.root, len(one.roots)),
                (step.accumulation, len(one.accumulations)),
            )
            for index, count in counts:
                if index is not None and index >= count:
                    yield f"{where} counts to {index}, of {count}"
        printed = len({"output": trace.output, "gap": trace.gaps}.get(step.kind, trace.warnings))
        if step.index is not None and step.index >= printed:
            yield f"{where} names part {step.index} of {printed}"


def _checks(looked: _Looked) -> Iterator[str]:
    """A check points into a leaf that its pass reached; a Jacobian has as many values as rows and columns say."""
    for check in looked.trace.checks:
        where = f"the check of {check.tensor} in pass {check.pass_id}"
        leaf = looked.tensors.get(check.tensor)
        if leaf is None or check.pass_id not in looked.passes:
            yield f"{where} names a tensor or pass that does not exist"
            continue
        if any(node not in looked.nodes for node in check.nodes):
            yield f"{where} names a node that does not exist"
        shape = (*leaf.shape, 2) if leaf.dtype.startswith("complex") else leaf.shape
        for element in check.elements:
            if len(element.index) != len(shape) or any(
                at >= size for at, size in zip(element.index, shape, strict=False)
            ):
                yield f"{where} has the place {element.index} in a leaf of shape {shape}"
        if (check.verdict == "not_checked") != (not check.elements) and check.verdict != "random":
            yield f"{where} is {check.verdict} with {len(check.elements)} elements"
        if (check.verdict == "agrees") == bool(check.reason):
            yield f"{where} is {check.verdict} for the reason {check.reason!r}"
    for one in looked.trace.jacobians:
        where = f"the Jacobian of {one.output or one.node} in pass {one.pass_id}"
        if one.pass_id not in looked.passes or (one.node is None) == (one.output is None or one.input is None):
            yield f"{where} belongs to no pass, or to neither a root and a leaf nor a node"
        if any(end is not None and end not in looked.tensors for end in (one.output, one.input)):
            yield f"{where} names a tensor that does not exist"
        if len(one.values) != one.rows * one.columns or one.rows_checked > one.rows:
            yield f"{where} has {len(one.values)} values for {one.rows} rows of {one.columns}"
        node = looked.nodes.get(one.node or "")
        if one.node is not None and (node is None or one.slot >= len(node.edges)):
            yield f"{where} names slot {one.slot} of a node that has none"


# Replay


def _replay(looked: _Looked) -> Iterator[str]:
    if any(cut.what == "steps" for cut in looked.trace.truncated):
        return  # what was said last is missing, wherever that is
    for one in looked.trace.passes:
        if not one.omitted:
            yield from _pass(looked, one)
    yield from _grads(looked)


def _pass(looked: _Looked, one: Pass) -> Iterator[str]:
    """Each visit is given the sum of what the visits before it sent along their edges."""
    arrived: dict[tuple[str, int], list[Term]] = {}
    for root in one.roots:
        if root.node is not None and root.seed is not None:
            arrived.setdefault((root.node, root.input_nr), []).append(Term(tensor=root.seed))
    for number, visit in enumerate(one.visits):
        where = f"pass {one.id}, visit {number} ({visit.node})"
        node = looked.nodes.get(visit.node)
        if node is None:
            continue
        met = {sum_.input_nr: sum_ for sum_ in visit.sums}
        for input_nr, entered in enumerate(visit.entered):
            terms = arrived.pop((visit.node, input_nr), [])
            for breach in _entering(looked, terms, entered, met.get(input_nr)):
                yield f"{where}, input {input_nr}: {breach}"
        if len(visit.left) > len(node.edges):
            yield f"{where}: {len(visit.left)} gradients left by {len(node.edges)} edges"
        for key, term in _sent(node, visit):
            arrived.setdefault(key, []).append(term)


def _sent(node: Node, visit: Visit) -> Iterator[tuple[tuple[str, int], Term]]:
    for slot, (edge, gradient) in enumerate(zip(node.edges, visit.left, strict=False)):
        if edge.to is not None and gradient is not None:
            yield (edge.to, edge.input_nr), Term(tensor=gradient, node=node.id, slot=slot)


def _entering(looked: _Looked, terms: Sequence[Term], entered: str | None, met: Sum | None) -> Iterator[str]:
    if met is not None:
        if tuple(met.terms) != tuple(terms):
            yield f"the sum has the terms {_ids(met.terms)}, but {_ids(terms)} arrived"
        if not met.hooked and met.total != met.entered:
            yield "what entered is not the total, though no hook changed it"
        if met.total is not None and not _adds_up(looked, [term.tensor for term in terms], met.total):
            yield f"{_ids(terms)} do not add up to {met.total}"
    elif not terms and entered is not None:
        yield f"{entered} entered, but nothing arrived"
    elif terms and (len(terms) > 1 or terms[0].tensor != entered):
        yield f"{_ids(terms)} arrived, but {entered} entered, and no sum says why"


def _ids(terms: Sequence[Term]) -> str:
    return " + ".join(term.tensor for term in terms)


def _grads(looked: _Looked) -> Iterator[str]:
    """Before and delta give after, and the last after is what the leaf has at the end, unless an update changed it."""
    last: dict[str, str | None] = {}
    by: dict[str, str] = {}
    for one in looked.trace.passes:
        for added in one.accumulations:
            where = f"pass {one.id}, accumulation into {added.tensor}"
            visit = one.visits[added.visit] if added.visit < len(one.visits) else None
            if visit is None or visit.node != added.node or visit.entered[:1] != (added.delta,):
                yield f"{where}: the visit did not receive {added.delta}"
            parts = [part for part in (added.before, added.delta) if part is not None]
            if added.after is not None and added.delta is not None and not _adds_up(looked, parts, added.after):
                yield f"{where}: {' + '.join(parts)} is not {added.after}"
            last[added.tensor] = added.after
            by[added.tensor] = one.id
    touched = _touched(looked)
    unseen = _before_a_gap(looked)
    for tensor in looked.trace.tensors:
        leaf = tensor.identity or tensor.id
        after = last.get(leaf)
        if tensor.grad is None or after is None or _identity(looked, after) in touched or by[leaf] in unseen:
            continue
        if not _adds_up(looked, [after], tensor.grad):
            yield f"the .grad of {leaf} ends as {tensor.grad}, but the last accumulation left {after}"


def _before_a_gap(looked: _Looked) -> set[str]:
    """Passes after which turns of a loop were left out, so that nobody saw all that changed a gradient since."""
    before: set[str] = set()
    met: set[str] = set()
    for step in looked.trace.timeline:
        if step.pass_id is not None:
            met.add(step.pass_id)
        elif step.kind == "gap":
            before |= met
            met = set()
    return before


def _identity(looked: _Looked, tensor: str) -> str:
    return looked.tensors[tensor].identity or tensor if tensor in looked.tensors else tensor


def _touched(looked: _Looked) -> set[str]:
    """Tensors that some update changed."""
    changes = [change for update in looked.trace.updates for change in update.changes]
    ends = (end for change in changes for end in (change.before, change.after))
    return {_identity(looked, end) for end in ends if end is not None}


def _adds_up(looked: _Looked, parts: Sequence[str], total: str) -> bool:
    """Whether gradients sum to another: element by element when small, by their means when large."""
    tensors = [looked.tensors[part] for part in parts if part in looked.tensors]
    whole = looked.tensors.get(total)
    if whole is None or len(tensors) != len(parts) or any(one.contents != "known" for one in (*tensors, whole)):
        return True
    if any(tensor.shape != whole.shape for tensor in tensors):
        return False
    relative = max(_RELATIVE.get(one.dtype, 1e-5) for one in (*tensors, whole))
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
    if any(one is None or one.nan or one.inf for one in summaries):
        return True
    *parts, total = [(float(one.mean), float(one.norm)) for one in summaries if one is not None]
    scale = max([norm for _, norm in parts], default=0.0)
    tolerance = max(relative, 1e-5) * (scale + 1e-30)
    return math.isclose(sum(mean for mean, _ in parts), total[0], rel_tol=1e-3, abs_tol=tolerance)
