"""Which part of a trace is drawn: roots, and the choice among them."""

from collections.abc import Iterable
from typing import NamedTuple, get_args

from engine.graph.index import GraphIndex
from engine.graph.layers import joined, results
from engine.graph.types import Level, RootChoice
from engine.trace import Pass, Trace

LEVELS: tuple[Level, ...] = get_args(Level)
NAMED_IN_A_MESSAGE = 5


class NoSuchChoice(ValueError):
    """A root, pass or level that the trace does not have; the text says which there are."""


class Chosen(NamedTuple):
    """What to draw."""

    roots: tuple[str, ...]
    """Nodes to start from; empty when there is no backward graph."""
    root: str | None
    """The one root, when there is one."""
    passes: tuple[Pass, ...]
    """The passes whose gradients are shown, in the order they ran."""
    tensors: tuple[str, ...] = ()
    """Tensors without a node that the pass was to start from; it failed because of them."""

    @property
    def of(self) -> Pass | None:
        """The last of the passes."""
        return self.passes[-1] if self.passes else None


def root_choices(index: GraphIndex) -> tuple[RootChoice, ...]:
    """Every root: results nobody consumed in the order they were made, then roots of passes, the latest last."""
    passes: dict[str, list[str]] = {}
    named: dict[str, str] = {}
    for one in index.trace.passes:
        for root in one.roots:
            if root.node is not None:
                started = passes.pop(root.node, [])
                passes[root.node] = [*started, one.id] if one.id not in started else started
                named.setdefault(root.node, _root_name(index, root.tensor, root.node))
    loose = {node: tensor for node, tensor in _loose_ends(index).items() if node not in passes}
    return (
        *(RootChoice(id=node, name=_root_name(index, tensor, node)) for node, tensor in loose.items()),
        *(RootChoice(id=node, name=named[node], passes=tuple(ids)) for node, ids in passes.items()),
    )


def choose(
    index: GraphIndex, roots: tuple[RootChoice, ...], root: str | None, pass_id: str | None, *, layers: bool = True
) -> Chosen:
    """The roots and the passes that a request means; one root is drawn alone."""
    passes = {one.id: one for one in index.trace.passes}
    if pass_id is not None and pass_id not in passes:
        raise NoSuchChoice(f"pass {pass_id!r} is not in this trace; {_known('passes', tuple(passes))}")
    if root is not None and all(choice.id != root for choice in roots):
        raise NoSuchChoice(f"root {root!r} is not a root of this trace; {_known('roots', [r.id for r in roots])}")
    if root is not None:
        return _from_root(roots, passes, root, pass_id)
    if pass_id is not None:
        return _from_pass(index, passes[pass_id], layers=layers)
    started = [one for one in index.trace.passes if one.roots]
    if started:
        latest = next((one for one in reversed(started) if one.parent is None), started[-1])
        return _from_pass(index, latest, layers=layers)
    return Chosen((roots[-1].id,), roots[-1].id, ()) if roots else Chosen((), None, ())


def check_level(level: str) -> None:
    """Refuse an unknown level."""
    if level not in LEVELS:
        raise NoSuchChoice(f"level {level!r} is unknown; choose one of {', '.join(LEVELS)}")


def _from_root(roots: tuple[RootChoice, ...], passes: dict[str, Pass], root: str, pass_id: str | None) -> Chosen:
    of_root = next(choice for choice in roots if choice.id == root).passes
    if pass_id is not None and pass_id not in of_root:
        raise NoSuchChoice(f"pass {pass_id!r} does not start at root {root!r}; {_known('passes from there', of_root)}")
    shown = pass_id or (of_root[-1] if of_root else None)
    return Chosen((root,), root, (passes[shown],) if shown is not None else ())


def _from_pass(index: GraphIndex, one: Pass, *, layers: bool) -> Chosen:
    passes = joined(index, one) if layers else (one,)
    roots = [root for one in passes for root in one.roots]
    made = results(index, passes) if layers else ()
    nodes = tuple(dict.fromkeys([*(root.node for root in roots if root.node is not None), *made]))
    lost = tuple(root.tensor for root in roots if root.node is None and root.tensor is not None)
    return Chosen(nodes, nodes[0] if len(nodes) == 1 else None, passes, lost)


def _loose_ends(index: GraphIndex) -> dict[str, str]:
    """Named tensors whose node no other node leads to, by node, in the order they were made."""
    ends: list[tuple[int, str, str]] = []
    for tensor in _last_tensors(index.trace):
        record = index.tensors.get(tensor)
        made = record.grad_fn if record is not None else None
        if record is None or made is None or made.node in index.led_to or made.node not in index.nodes:
            continue
        op = index.nodes[made.node].op
        ends.append((index.op_at.get(op, -1) if op is not None else -1, made.node, record.id))
    return {node: tensor for _, node, tensor in sorted(ends)}


def _last_tensors(trace: Trace) -> Iterable[str]:
    """What the global names hold at the end; of a run that was stopped before it could say, the last tensor of each name."""
    if trace.variables:
        return [tensor for one in trace.variables for tensor in (one.tensor, *one.tensors) if tensor is not None]
    return {name: tensor.id for tensor in trace.tensors for name in tensor.names}.values()


def _root_name(index: GraphIndex, tensor: str | None, node: str) -> str:
    name = index.name(tensor)
    record = index.nodes.get(node)
    op = index.ops.get(record.op) if record is not None and record.op is not None else None
    return name or (index.code.excerpt(op.span) if op is not None else "") or (record.type if record else node)


def _known(what: str, ids: tuple[str, ...] | list[str]) -> str:
    if not ids:
        return f"it has no {what}"
    shown = ", ".join(ids[-NAMED_IN_A_MESSAGE:])
    return f"its {what} are {shown}" if len(ids) <= NAMED_IN_A_MESSAGE else f"its last {what} are {shown}"
