"""Laws of a whole trace: ids are used once, ends exist, the graph has no cycle, leaves are sinks, a step points at something."""

from collections.abc import Iterator

from engine.trace import Node, Pass, Trace
from engine.trace_index import TraceIndex


def structure(looked: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _unique(looked)
    yield from _ends(looked)
    yield from _graph(looked)
    yield from _gaps(looked)
    yield from _timeline(looked)
    yield from _ends_around(looked.trace)


def _unique(looked: TraceIndex) -> Iterator[str]:
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


def _ends(looked: TraceIndex) -> Iterator[str]:
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
            named = (change.before, change.after, change.gradient, change.leaf)
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


def _graph(looked: TraceIndex) -> Iterator[str]:
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


def _acyclic(looked: TraceIndex) -> Iterator[str]:
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


def _targets(node: Node) -> list[str]:
    return [edge.to for edge in node.edges if edge.to is not None]


def _gaps(looked: TraceIndex) -> Iterator[str]:
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


def _timeline(looked: TraceIndex) -> Iterator[str]:
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


def _ends_around(trace: Trace) -> Iterator[str]:
    """Every id that a hook call, a module call or a step names exists."""
    tensors = {tensor.id for tensor in trace.tensors}
    nodes = {node.id for node in trace.nodes}
    modules = {module.id for module in trace.modules}
    passes = {one.id for one in trace.passes}
    ops = {op.id for op in trace.ops}
    calls = {call.id for call in trace.calls}
    hooks = {hook.id for hook in trace.hooks}
    for name, ids, count in (("call", calls, len(trace.calls)), ("hook", hooks, len(trace.hooks))):
        if len(ids) != count:
            yield f"{count - len(ids)} {name} ids are used twice"
    named: list[tuple[str, str | None, set[str]]] = []
    for hook in trace.hooks:
        named += [(hook.id, end, tensors) for end in (hook.tensor, hook.before, hook.after)]
        named += [(hook.id, hook.node, nodes), (hook.id, hook.module, modules), (hook.id, hook.pass_id, passes)]
    for call in trace.calls:
        named += [(call.id, call.module, modules), (call.id, call.parent, calls), (call.id, call.pass_id, passes)]
        named += [(call.id, call.first_op, ops), (call.id, call.last_op, ops)]
    for update in trace.updates:
        named += [(update.id, update.pass_id, passes), (update.id, update.hook, hooks)]
        named += [(update.id, change.parameter, tensors) for change in update.state]
    for number, step in enumerate(trace.timeline):
        named += [(f"step {number}", step.hook, hooks), (f"step {number}", step.call, calls)]
    for where, end, known in named:
        if end is not None and end not in known:
            yield f"{where} names {end}, which does not exist"
