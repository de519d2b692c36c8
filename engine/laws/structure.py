"""Laws of a whole trace: ids are used once, ends exist, the graph has no cycle, leaves are sinks, a step points at
something."""

from collections.abc import Container, Iterator

from engine.trace import Node, Pass, Trace
from engine.trace_index import TraceIndex


def structure(index: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _unique(index)
    yield from _ends(index)
    yield from _graph(index)
    yield from _gaps(index)
    yield from _timeline(index)
    yield from _ends_around(index)


def _unique(index: TraceIndex) -> Iterator[str]:
    trace = index.trace
    for what, parts, by_id in (
        ("tensor", trace.tensors, index.tensors),
        ("node", trace.nodes, index.nodes),
        ("op", trace.ops, index.ops),
        ("pass", trace.passes, index.passes),
        ("update", trace.updates, index.updates),
        ("module", trace.modules, index.modules),
    ):
        if len(parts) != len(by_id):
            yield f"{len(parts) - len(by_id)} {what} ids are used twice"


def _ends(index: TraceIndex) -> Iterator[str]:
    """Every id that a part names exists."""
    for where, tensor in _named_tensors(index.trace):
        if tensor is not None and tensor not in index.tensors:
            yield f"{where} names tensor {tensor}, which does not exist"
    for where, node in _named_nodes(index.trace):
        if node is not None and node not in index.nodes:
            yield f"{where} names node {node}, which does not exist"
    for op in index.trace.ops:
        if op.module is not None and op.module not in index.modules:
            yield f"op {op.id} names module {op.module}, which does not exist"
    for state in index.trace.tensors:
        first = index.tensors.get(state.identity or state.id)
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
    for pass_ in trace.passes:
        yield from ((f"pass {pass_.id}", tensor) for tensor in _pass_tensors(pass_))
    for update in trace.updates:
        for change in (*update.changes, *update.state):
            named = (change.before, change.after, change.gradient, change.leaf)
            yield from ((f"update {update.id}", tensor) for tensor in named)
    for variable in trace.variables:
        yield from ((f"variable {variable.name}", tensor) for tensor in (variable.tensor, *variable.tensors))


def _pass_tensors(pass_: Pass) -> Iterator[str | None]:
    yield from (pass_.inputs or ())
    yield from pass_.results
    for root in pass_.roots:
        yield from (root.tensor, root.seed)
    for visit in pass_.visits:
        yield from (*visit.entered, *visit.left)
        for met in visit.sums:
            yield from (met.total, met.entered, *(term.tensor for term in met.terms))
    for added in pass_.accumulations:
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
    for pass_ in trace.passes:
        yield from ((f"pass {pass_.id}", root.node) for root in pass_.roots)
        yield from ((f"pass {pass_.id}", visit.node) for visit in pass_.visits)
        yield from ((f"pass {pass_.id}", added.node) for added in pass_.accumulations)


def _graph(index: TraceIndex) -> Iterator[str]:
    yield from _acyclic(index)
    for node in index.trace.nodes:
        if node.type == "AccumulateGrad" and (node.edges or node.variable is None):
            yield f"node {node.id} is an AccumulateGrad with edges or without its leaf"
        for slot, edge in enumerate(node.edges):
            target = index.nodes.get(edge.to or "")
            if target is not None and target.outputs and edge.input_nr >= len(target.outputs):
                yield f"slot {slot} of node {node.id} enters input {edge.input_nr} of {target.id}, which has fewer"
    for op in index.trace.ops:
        for number in op.nodes:
            if (made := index.nodes.get(number)) is not None and made.op != op.id:
                yield f"op {op.id} made node {number}, which says it was made by {made.op}"


def _acyclic(index: TraceIndex) -> Iterator[str]:
    """Kahn's way: taking away nodes that nothing leads to takes away all."""
    arriving = dict.fromkeys(index.nodes, 0)
    for node in index.trace.nodes:
        for target in _targets(node):
            if target in arriving:
                arriving[target] += 1
    free = [node for node, count in arriving.items() if count == 0]
    taken = 0
    while free:
        taken += 1
        for target in _targets(index.nodes[free.pop()]):
            if target in arriving:
                arriving[target] -= 1
                if arriving[target] == 0:
                    free.append(target)
    if taken != len(arriving):
        yield f"{len(arriving) - taken} nodes lie on a cycle or behind one"


def _targets(node: Node) -> list[str]:
    return [edge.to for edge in node.edges if edge.to is not None]


def _gaps(index: TraceIndex) -> Iterator[str]:
    """What a gap says was left out is not there."""
    kept = {int(pass_.id[1:]) for pass_ in index.trace.passes}
    for number, gap in enumerate(index.trace.gaps):
        if gap.first is not None and gap.last is not None and any(gap.first <= call <= gap.last for call in kept):
            yield f"gap {number} says that calls {gap.first} to {gap.last} were left out, but one of them is there"
    for where, edge in ((node.id, edge) for node in index.trace.nodes for edge in node.edges):
        if edge.omitted and edge.to is not None:
            yield f"node {where} has an edge to {edge.to} that says it was left out"
    if not index.trace.truncated and [point.number for point in index.trace.curve] != sorted(kept):
        yield "the curve does not tell each call of the engine once, in order"


def _timeline(index: TraceIndex) -> Iterator[str]:
    trace = index.trace
    for number, step in enumerate(trace.timeline):
        where = f"step {number} ({step.kind})"
        if step.op is not None and step.op not in index.ops:
            yield f"{where} names op {step.op}, which does not exist"
        if step.update is not None and step.update not in index.updates:
            yield f"{where} names update {step.update}, which does not exist"
        pass_ = index.passes.get(step.pass_id or "")
        if step.pass_id is not None and pass_ is None:
            yield f"{where} names pass {step.pass_id}, which does not exist"
        elif pass_ is not None:
            counts = (
                (step.visit, len(pass_.visits)),
                (step.root, len(pass_.roots)),
                (step.accumulation, len(pass_.accumulations)),
            )
            for at, count in counts:
                if at is not None and at >= count:
                    yield f"{where} counts to {at}, of {count}"
        printed = len({"output": trace.output, "gap": trace.gaps}.get(step.kind, trace.warnings))
        if step.index is not None and step.index >= printed:
            yield f"{where} names part {step.index} of {printed}"


def _ends_around(index: TraceIndex) -> Iterator[str]:
    """Every id that a hook call, a module call or a step names exists."""
    trace, tensors, modules, passes, calls, hooks = (
        index.trace, index.tensors, index.modules, index.passes, index.calls, index.hooks,
    )  # fmt: skip
    for name, ids, count in (("call", calls, len(trace.calls)), ("hook", hooks, len(trace.hooks))):
        if len(ids) != count:
            yield f"{count - len(ids)} {name} ids are used twice"
    named: list[tuple[str, str | None, Container[str]]] = []
    for hook in trace.hooks:
        named += [(hook.id, end, tensors) for end in (hook.tensor, hook.before, hook.after)]
        named += [(hook.id, hook.node, index.nodes), (hook.id, hook.module, modules), (hook.id, hook.pass_id, passes)]
    for call in trace.calls:
        named += [(call.id, call.module, modules), (call.id, call.parent, calls), (call.id, call.pass_id, passes)]
        named += [(call.id, call.first_op, index.ops), (call.id, call.last_op, index.ops)]
    for update in trace.updates:
        named += [(update.id, update.pass_id, passes), (update.id, update.hook, hooks)]
        named += [(update.id, change.parameter, tensors) for change in update.state]
    for number, step in enumerate(trace.timeline):
        named += [(f"step {number}", step.hook, hooks), (f"step {number}", step.call, calls)]
    for where, end, known in named:
        if end is not None and end not in known:
            yield f"{where} names {end}, which does not exist"
