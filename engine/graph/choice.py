"""Which part of a trace is drawn: roots, and the choice among them."""

from collections.abc import Iterable, Sequence
from typing import get_args

from engine.graph.start import Start, start_of
from engine.graph.types import Level, RootChoice
from engine.trace import Pass, Trace
from engine.trace_index import TraceIndex

LEVELS: tuple[Level, ...] = get_args(Level)
NAMED_IN_A_MESSAGE = 5


class NoSuchChoice(ValueError):
    """A root, pass or level that the trace does not have; the text says which there are."""


def root_choices(index: TraceIndex) -> tuple[RootChoice, ...]:
    """Every root: results nobody consumed in the order they were made, then roots of passes, the latest last. Where
    there are neither, results that were recorded and that nobody kept."""
    passes: dict[str, list[str]] = {}
    named: dict[str, str] = {}
    for pass_ in index.trace.passes:
        for root in pass_.roots:
            if root.node is not None:
                started = passes.pop(root.node, [])
                passes[root.node] = [*started, pass_.id] if pass_.id not in started else started
                named.setdefault(root.node, _root_name(index, root.tensor, root.node))
    loose = {node: tensor for node, tensor in _loose_ends(index).items() if node not in passes}
    if not loose and not passes:
        loose = _dropped(index)
    return (
        *(RootChoice(id=node, name=_root_name(index, tensor, node)) for node, tensor in loose.items()),
        *(RootChoice(id=node, name=named[node], passes=tuple(ids)) for node, ids in passes.items()),
    )


def choose(
    index: TraceIndex, roots: tuple[RootChoice, ...], root: str | None, pass_id: str | None, *, layers: bool = True
) -> Start:
    """The roots and the passes that a request means; one root is drawn alone."""
    passes = index.passes
    if pass_id is not None and pass_id not in passes:
        raise NoSuchChoice(f"pass {pass_id!r} is not in this trace; {_known('passes', tuple(passes))}")
    if root is not None and all(choice.id != root for choice in roots):
        raise NoSuchChoice(f"root {root!r} is not a root of this trace; {_known('roots', [r.id for r in roots])}")
    if root is not None:
        return _from_root(roots, passes, root, pass_id)
    if pass_id is not None:
        return start_of(index, passes[pass_id], layers=layers)
    started = [pass_ for pass_ in index.trace.passes if pass_.roots]
    if started:
        outer = [pass_ for pass_ in started if pass_.parent is None] or started
        latest = next((pass_ for pass_ in reversed(outer) if not _is_of_gradcheck(index, pass_)), outer[0])
        return start_of(index, latest, layers=layers)
    return Start((roots[-1].id,), roots[-1].id, ()) if roots else Start((), None, ())


def pass_at(trace: Trace, step: int) -> str | None:
    """The pass that a step belongs to, where there are several: the one it is in, or the next one once its forward has
    begun, with an op that a coming pass leads back to or the module's call around it. What lies between, as
    `opt.step()` and `print(loss * 2)`, belongs to the one before, what lies after the last to the last that is no part
    of `gradcheck`. As `passOfStep` of the page."""
    left = {
        each.id: each
        for each in trace.passes
        if each.parent is None and any(root.node is not None for root in each.roots)
    }
    if len(left) < 2:
        return None
    index = TraceIndex(trace)
    wanted = _wanted_by(index, tuple(left.values()))
    last: str | None = None
    own: str | None = None
    first: str | None = None
    begins = depth = call = 0
    for at, each in enumerate(trace.timeline, 1):
        if each.kind == "call":
            call, depth = call if depth else at, depth + 1
        elif each.kind == "call_end":
            depth = max(0, depth - 1)
        op = index.ops.get(each.op or "")
        is_coming = op is not None and any(wanted.get(node) in left for node in op.nodes)
        if not begins and (is_coming or each.pass_id not in (None, last)):
            begins = call if is_coming and depth else at
        if each.kind == "pass_end" and each.pass_id in left:
            if at >= step:
                return each.pass_id if step >= begins or last is None else last
            del left[each.pass_id]
            last, begins, depth = each.pass_id, 0, 0
            first = first or last
            own = own if _is_of_gradcheck(index, index.passes[last]) else last
    return own or first


def _is_of_gradcheck(index: TraceIndex, pass_: Pass) -> bool:
    """Whether it tests the program: its gradients, at the end undefined ones, say nothing of the program's own."""
    return pass_.span is not None and "gradcheck" in index.code.lines[pass_.span.line - 1]


def _wanted_by(index: TraceIndex, passes: Sequence[Pass]) -> dict[str, str]:
    """Node to the last pass that leads to it."""
    wanted: dict[str, str] = {}
    for pass_ in reversed(passes):
        ahead = [root.node for root in pass_.roots]
        while ahead:
            node = ahead.pop()
            if node in index.nodes and node not in wanted and node is not None:
                wanted[node] = pass_.id
                ahead += [edge.to for edge in index.nodes[node].edges]
    return wanted


def check_level(level: str) -> None:
    """Refuse an unknown level."""
    if level not in LEVELS:
        raise NoSuchChoice(f"level {level!r} is unknown; choose one of {', '.join(LEVELS)}")


def _from_root(roots: tuple[RootChoice, ...], passes: dict[str, Pass], root: str, pass_id: str | None) -> Start:
    of_root = next(choice for choice in roots if choice.id == root).passes
    if pass_id is not None and pass_id not in of_root:
        raise NoSuchChoice(f"pass {pass_id!r} does not start at root {root!r}; {_known('passes from there', of_root)}")
    shown = pass_id or (of_root[-1] if of_root else None)
    return Start((root,), root, (passes[shown],) if shown is not None else ())


def _loose_ends(index: TraceIndex) -> dict[str, str]:
    """Tensors at the end whose node no other node leads to, by node, in the order they were made."""
    ends: list[tuple[int, str, str]] = []
    for tensor in (*_last_tensors(index.trace), *_given_to_the_failed(index)):
        record = index.tensors.get(tensor)
        made = record.grad_fn if record is not None else None
        if record is None or made is None or made.node in index.led_to or made.node not in index.nodes:
            continue
        op = index.nodes[made.node].op
        ends.append((index.op_at.get(op, -1) if op is not None else -1, made.node, record.id))
    return {node: tensor for _, node, tensor in sorted(ends)}


def _dropped(index: TraceIndex) -> dict[str, str]:
    """Results of recorded ops that no node leads to, by node: `net(x)` as the last line of a cell."""
    ends = [node for node in index.trace.nodes if node.variable is None and node.id not in index.led_to]
    kept = {node.id: index.values.get((node.id, 0)) for node in ends}
    return {node: tensor for node, tensor in kept.items() if tensor is not None}


def _last_tensors(trace: Trace) -> Iterable[str]:
    """What the global names hold at the end; of a run that was stopped before it could say, the last tensor of each
    name."""
    if trace.variables:
        return [tensor for held in trace.variables for tensor in (held.tensor, *held.tensors) if tensor is not None]
    return {name: tensor.id for tensor in trace.tensors for name in tensor.names}.values()


def _given_to_the_failed(index: TraceIndex) -> tuple[str, ...]:
    """What the call that failed was given: inside a model no name holds it."""
    failure = index.trace.failure
    op = index.ops.get(failure.op) if failure is not None and failure.op is not None else None
    return op.inputs if op is not None else ()


def _root_name(index: TraceIndex, tensor: str | None, node: str) -> str:
    name = index.name(tensor)
    record = index.nodes.get(node)
    op = index.ops.get(record.op) if record is not None and record.op is not None else None
    return name or (index.code_of(op) if op is not None else "") or (record.type if record else node)


def _known(what: str, ids: tuple[str, ...] | list[str]) -> str:
    if not ids:
        return f"it has no {what}"
    shown = ", ".join(ids[-NAMED_IN_A_MESSAGE:])
    return f"its {what} are {shown}" if len(ids) <= NAMED_IN_A_MESSAGE else f"its last {what} are {shown}"
