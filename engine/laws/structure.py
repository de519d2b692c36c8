"""Laws of a whole trace: ids are used once, ends exist, the graph has no cycle, leaves are sinks, a step points at
something."""

from collections.abc import Container, Iterator
from functools import cache
from typing import get_args

from engine.trace import Node, Record, Trace
from engine.trace_index import TraceIndex


def structure(index: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _unique(index)
    yield from _ends(index)
    yield from _graph(index)
    yield from _gaps(index)
    yield from _timeline(index)


_PARTS = ("tensors", "nodes", "ops", "passes", "updates", "modules", "calls", "hooks")
"""Parts of a trace whose records have ids; a `TraceIndex` has each under the same name."""
_NAMES = {
    "tensors": """
        base before after delta entered gradient grad identity inputs leaf left outputs parameter results seed tensor
        tensors total Jacobian.input Jacobian.output Node.variable
    """,
    "nodes": "node nodes failed_node made_by Edge.to",
    "ops": "op first_op last_op rerun_of",
    "passes": "pass_id Pass.parent",
    "updates": "update",
    "modules": "module Module.parent",
    "calls": "call ModuleCall.parent",
    "hooks": "hook",
}
"""Fields that hold ids of each part; with a class where a name means something else in others."""
_PART_OF = {field: part for part, fields in _NAMES.items() for field in fields.split()}


def _unique(index: TraceIndex) -> Iterator[str]:
    for part in _PARTS:
        told, known = len(getattr(index.trace, part)), len(getattr(index, part))
        if told != known:
            yield f"{told - known} ids of {part} are used twice"


def _ends(index: TraceIndex) -> Iterator[str]:
    """Every id that a record names exists."""
    known: dict[str, Container[str]] = {part: getattr(index, part) for part in _PARTS}
    for where, record in _records(index.trace):
        for field, part in _fields_of_ids(type(record)):
            value = getattr(record, field)
            for end in value if isinstance(value, tuple) else (value,):
                if isinstance(end, str) and end not in known[part]:
                    yield f"{field} of {type(record).__name__} in {where} is {end}, which does not exist"
    for state in index.trace.tensors:
        first = index.tensors.get(state.identity or state.id)
        if first is not None and first.identity is not None:
            yield f"tensor {state.id} has identity {first.id}, which is not a first record"


def _records(trace: Trace) -> Iterator[tuple[str, Record]]:
    """All records that may name others, each with the id of what it is in."""
    pending: list[tuple[str, object]] = [("the trace", trace)]
    while pending:
        where, value = pending.pop()
        if isinstance(value, tuple):
            pending += [(where, item) for item in value]
        elif isinstance(value, Record):
            where = getattr(value, "id", where)
            yield where, value
            pending += [(where, getattr(value, field)) for field in _fields_of_records(type(value))]


@cache
def _fields_of_ids(kind: type[Record]) -> tuple[tuple[str, str], ...]:
    parts = {field: _PART_OF.get(f"{kind.__name__}.{field}", _PART_OF.get(field)) for field in kind.__struct_fields__}
    return tuple((field, part) for field, part in parts.items() if part is not None)


@cache
def _fields_of_records(kind: type[Record]) -> tuple[str, ...]:
    return tuple(field for field, hint in kind.__annotations__.items() if _names_something(hint))


def _names_something(hint: object) -> bool:
    """Whether what is of this type may hold an id."""
    if isinstance(hint, type) and issubclass(hint, Record):
        return bool(_fields_of_ids(hint) or _fields_of_records(hint))
    return any(map(_names_something, get_args(hint)))


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
        if (pass_ := index.passes.get(step.pass_id or "")) is not None:
            counts = (
                (step.visit, len(pass_.visits)),
                (step.root, len(pass_.roots)),
                (step.accumulation, len(pass_.accumulations)),
            )
            for at, count in counts:
                if at is not None and at >= count:
                    yield f"{where} counts to {at}, of {count}"
        parts = {"output": trace.output, "gap": trace.gaps, "batch": trace.batches}
        printed = len(parts.get(step.kind, trace.warnings))
        if step.index is not None and step.index >= printed:
            yield f"{where} names part {step.index} of {printed}"
