"""Leaves that took part in a pass's values and got no gradient: where what they gave stopped being followed."""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, walk
from engine.findings.losses import LOSS_FUNCTIONS, PASSING
from engine.findings.optimizers import models_asked
from engine.ops import COPIES, DETACHES, READS
from engine.trace import Op, Tensor
from engine.unfollowed import user_of


def wanting_leaves(diagnosis: Diagnosis) -> set[str]:
    """Leaves with a name that want a gradient."""
    return {
        tensor.id
        for tensor in diagnosis.trace.tensors
        if tensor.identity is None
        and tensor.requires_grad
        and tensor.grad_fn is None
        and tensor.role in ("leaf", "parameter")
        and (diagnosis.has_names(tensor.id) or diagnosis.is_parameter(tensor.id))
        and not _is_view_of_tracked(diagnosis, tensor)
    }


def _is_view_of_tracked(diagnosis: Diagnosis, tensor: Tensor) -> bool:
    """A view taken under no_grad says that it requires a gradient and is a leaf, but stands for its base."""
    base = diagnosis.tensors.get(tensor.base or "")
    return base is not None and base.requires_grad


def starved_leaves(diagnosis: Diagnosis) -> set[str]:
    """Those of them that got none in any pass, nor handed out, unless an optimizer waits for it in `.grad`."""
    asked = {tensor for pass_ in diagnosis.trace.passes for tensor in pass_.inputs or () if tensor is not None}
    handed_out = {diagnosis.identity(tensor) for tensor in asked} - (diagnosis.held - diagnosis.moved)
    return wanting_leaves(diagnosis) - diagnosis.fed - handed_out


def unfed(diagnosis: Diagnosis) -> set[str]:
    """Those of them that were to have one. The others are to stay without: the program moves them itself, as it does a
    target network, or others are trained and no optimizer holds them; unless their `.grad` is read."""
    starved = starved_leaves(diagnosis)
    aside = starved & diagnosis.stepped
    if diagnosis.steps:
        aside |= starved - diagnosis.held
    else:
        roots, asked = diagnosis.leaves_of, set(models_asked(diagnosis.code.calls))
        idle = {root: leaves for root, leaves in roots.items() if leaves <= starved}
        for root, leaves in idle.items() if len(idle) < len(roots) else ():
            if not _is_among(diagnosis.modules[root].path, asked):
                aside |= leaves
    return starved - (aside - _read_grads(diagnosis))


def _read_grads(diagnosis: Diagnosis) -> set[str]:
    """Leaves whose `.grad` the program reads."""
    attributes = diagnosis.code.attributes
    read = [node.value for node in attributes if node.attr == "grad" and isinstance(node.ctx, ast.Load)]
    return {diagnosis.identity(tensor.id) for node in read for tensor in diagnosis.bound_to(node)}


def _is_among(model: str, asked: Iterable[str]) -> bool:
    """Whether one of these is the model, a part of it, or holds it."""
    return any(f"{name}.".startswith(f"{model}.") or f"{model}.".startswith(f"{name}.") for name in asked)


def is_target(diagnosis: Diagnosis, cut: Op) -> bool:
    """Whether what was taken out of the graph is only held against something that learns: then it was meant."""
    made = walk(cut.outputs, lambda at: (out for op in _shapers(diagnosis, at) for out in op.outputs))
    takers = [op for at in made for op in diagnosis.takers.get(at, ()) if op not in _shapers(diagnosis, at)]
    return bool(takers) and all(
        (op.name in ("sub", "rsub") or op.name in LOSS_FUNCTIONS) and any(map(diagnosis.is_followed, op.inputs))
        for op in takers
    )


def _shapers(diagnosis: Diagnosis, tensor: str) -> list[Op]:
    """The ops that hand a value on in another form."""
    return [op for op in diagnosis.takers.get(tensor, ()) if op.name in (*PASSING, *DETACHES) or op.view]


class Way(NamedTuple):
    """How a leaf's influence came to a tensor or an op."""

    leaf: str
    cut: Op | None
    """The first op that autograd did not follow."""
    array: bool = False
    """It went through a NumPy array."""
    into: Op | None = None
    """The op of a pass that it ends in."""


def arrivals(diagnosis: Diagnosis, starved: set[str]) -> Iterator[Way]:
    """The ways that end in an op a pass went through, or in a root that a pass could not start from."""
    failed = diagnosis.failed_pass()
    starts = {root.tensor: pass_ for pass_ in diagnosis.trace.passes for root in pass_.roots}
    roots = {root for root, pass_ in starts.items() if pass_ is failed or diagnosis.is_tracked_leaf(root or "")}
    to_tensor: dict[str, Way] = {}
    to_op: dict[str, Way] = {}
    for at, op in enumerate(diagnosis.trace.ops):
        way = to_op.get(op.id) or _way(diagnosis, op.inputs, to_tensor, starved)
        if way is None or op.raised or op.in_place:
            continue
        cut = way._replace(cut=op)
        is_copied = op.id in to_op and op.name in COPIES and not way.array
        if is_copied or (way.cut is None and not any(map(diagnosis.is_followed, op.outputs))):
            way = cut
        if op.name in READS:
            user = user_of(diagnosis.trace, at, op)
            if user is not None:
                to_op[user] = way._replace(array=way.array or op.name == "numpy")
        if way.cut is not None and (diagnosis.reaches_a_pass(op) or not roots.isdisjoint(op.outputs)):
            yield way._replace(into=op)
        for output in op.outputs:
            to_tensor.setdefault(output, way if way.cut is not None or diagnosis.is_followed(output) else cut)


def _way(diagnosis: Diagnosis, inputs: Iterable[str], to_tensor: dict[str, Way], starved: set[str]) -> Way | None:
    for input_ in inputs:
        if input_ in to_tensor:
            return to_tensor[input_]
        if diagnosis.identity(input_) in starved and diagnosis.is_tracked_leaf(input_):
            return Way(diagnosis.identity(input_), None)
    return None
