"""Tensors that could have received a gradient but took part in nothing: ghosts of leaves."""

from collections.abc import Iterable

from engine.graph.boxes import Drawing
from engine.graph.draft import Draft
from engine.graph.types import BoxParameter
from engine.trace import Tensor
from engine.trace_index import TraceIndex

MOST_BOXES = 6


def add_unused(drawing: Drawing) -> None:
    """A ghost for each module whose parameters nothing used, and for each unused leaf; beyond a few one for all the
    rest."""
    ahead = _ahead_of_failures(drawing.index)
    drawn = ahead.union(drawing.box_of_leaf)
    idle = [leaf for leaf in unused_leaves(drawing.index) if leaf.id not in drawn]
    names = _names(drawing.index, idle)
    groups = _by_module(drawing.index, idle)
    shown = groups if len(groups) <= MOST_BOXES else groups[: MOST_BOXES - 1]
    for title, leaves in shown:
        _add(drawing, title, _common_name([names[leaf.id] for leaf in leaves]), leaves, names)
    rest = [leaf for _, leaves in groups[len(shown) :] for leaf in leaves]
    if rest:
        _add(drawing, "parameters", "", rest, names)


def _ahead_of_failures(index: TraceIndex) -> set[str]:
    """Parameters inside modules whose call failed: it may just not have come to them."""
    paths = {module.id: module.path for module in index.trace.modules}
    failed = tuple(f"{paths[call.module]}." for call in index.trace.calls if call.raised)
    inside = (module for module in index.trace.modules if failed and module.path.startswith(failed))
    return {index.identity(member.tensor) for module in inside for member in module.parameters}


def unused_leaves(index: TraceIndex) -> list[Tensor]:
    """Leaves with `requires_grad` that no op took in and no edge leads to, in the order of meeting.

    Only those with a name or in a module: others are made and dropped inside libraries."""
    trace = index.trace
    leaves = [
        tensor
        for tensor in trace.tensors
        if tensor.role in ("leaf", "parameter") and tensor.requires_grad and tensor.is_leaf and tensor.identity is None
    ]
    if not leaves:
        return []
    ends = {tensor for op in trace.ops if not op.in_place for tensor in op.inputs}
    started = {root.node for pass_ in trace.passes for root in pass_.roots}
    ends.update(leaf for leaf, node in index.leaf_nodes.items() if node in index.led_to or node in started)
    later = (tensor for tensor in trace.tensors if tensor.identity is not None and tensor.id in ends)
    taken = ends.union(tensor.identity for tensor in later)
    # what a layer was made with and has no more bears the name of the layer
    layers = {variable.name for variable in trace.variables if variable.module is not None}
    return [
        leaf
        for leaf in leaves
        if leaf.id not in taken and (leaf.id in index.members or index.name(leaf.id) not in {"", *layers})
    ]


def _by_module(index: TraceIndex, leaves: Iterable[Tensor]) -> list[tuple[str, list[Tensor]]]:
    """Leaves of one module together, under its class; each other leaf alone."""
    owners = {
        index.identity(member.tensor): (module.id, module.type)
        for module in reversed(index.trace.modules)
        for member in module.parameters
    }
    groups: dict[str, tuple[str, list[Tensor]]] = {}
    for leaf in leaves:
        owner, title = owners.get(leaf.id, (leaf.id, "leaf"))
        groups.setdefault(owner, (title, []))[1].append(leaf)
    return list(groups.values())


def _names(index: TraceIndex, leaves: Iterable[Tensor]) -> dict[str, str]:
    """The program's names, else the paths in modules."""
    paths = {
        index.identity(member.tensor): f"{module.path}.{member.name}"
        for module in reversed(index.trace.modules)
        for member in module.parameters
    }
    return {leaf.id: index.name(leaf.id) or paths.get(leaf.id, "") for leaf in leaves}


def _common_name(names: list[str]) -> str:
    """`model.spare` for `model.spare.weight` and `model.spare.bias`."""
    if len(names) == 1:
        return names[0]
    parts = [name.split(".")[:-1] for name in names]
    return ".".join(parts[0]) if all(path == parts[0] for path in parts) else ""


def _add(drawing: Drawing, title: str, name: str, leaves: list[Tensor], names: dict[str, str]) -> None:
    alone = leaves[0] if len(leaves) == 1 else None
    box = f"unused {leaves[0].id}"
    maker = drawing.index.maker.get(alone.id) if alone is not None else None
    drawing.drafts[box] = Draft(
        id=box,
        kind="ghost",
        title="parameter" if alone is not None and alone.role == "parameter" else title,
        family="param" if leaves[0].role == "parameter" else "leaf",
        place=(-1, -1),
        span=maker.span if maker is not None else None,
        name=name,
        tensor=alone.id if alone is not None else None,
        reason="unused",
        parameters=[] if alone is not None else [BoxParameter(name=names[leaf.id], tensor=leaf.id) for leaf in leaves],
    )
