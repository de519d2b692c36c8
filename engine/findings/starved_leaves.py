"""Leaves that took part in a pass's values and got no gradient: where what they gave stopped being followed."""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, once_a_line
from engine.findings.optimizers import models_asked
from engine.ops import COPIES, DETACHES, READS
from engine.program.edits import Edits
from engine.program.names import called
from engine.trace import Finding, Op, Tensor
from engine.unfollowed import NOT_DIFFERENTIABLE, user_of

NO_EDITS: Edits = ()


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


class Way(NamedTuple):
    """How a leaf's influence came to a tensor or an op."""

    leaf: str
    cut: Op | None
    """The first op that autograd did not follow."""
    array: bool = False
    """It went through a NumPy array."""


@once_a_line
def lost_influence(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Whole numbers, NumPy arrays and leaves made anew between a leaf without gradient and a pass."""
    starved = unfed(diagnosis) if diagnosis.visited or diagnosis.failed_pass() is not None else set()
    lost: dict[str, set[str]] = {}
    ways: dict[str, Way] = {}
    for way in arrivals(diagnosis, starved) if starved else ():
        if way.cut is not None:
            lost.setdefault(way.cut.id, set()).add(way.leaf)
            ways[way.cut.id] = way
    for cut, leaves in lost.items():
        yield from _lost(diagnosis, diagnosis.ops[cut], ways[cut], sorted(leaves))


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
            yield way
        for output in op.outputs:
            to_tensor.setdefault(output, way if way.cut is not None or diagnosis.is_followed(output) else cut)


def _way(diagnosis: Diagnosis, inputs: Iterable[str], to_tensor: dict[str, Way], starved: set[str]) -> Way | None:
    for input_ in inputs:
        if input_ in to_tensor:
            return to_tensor[input_]
        if diagnosis.identity(input_) in starved and diagnosis.is_tracked_leaf(input_):
            return Way(diagnosis.identity(input_), None)
    return None


def _lost(diagnosis: Diagnosis, cut: Op, way: Way, leaves: list[str]) -> Iterator[Finding]:
    result, is_failed = diagnosis.output_of(cut), diagnosis.failed_pass() is not None
    made = [diagnosis.tensors[output].dtype for output in cut.outputs if output in diagnosis.tensors]
    whole = [dtype for dtype in made if dtype.startswith(NOT_DIFFERENTIABLE)]
    call = diagnosis.code.call_at(cut.span)
    is_written = call is not None and called(call) == cut.name and cut.name in DETACHES | COPIES | READS
    is_plain = cut.grad_mode == "grad" and not diagnosis.is_inside_library(cut)
    code, fix, named = "", NO_EDITS, {}
    if way.array:
        code = "cut_by_numpy"
    elif result is not None and diagnosis.is_tracked_leaf(result.id) and is_written:
        code, fix, named = "leaf_recreated", _kept(diagnosis, cut), {"name": diagnosis.say(result.id)}
    elif whole and is_plain and not is_failed:
        code = "cut_by_integer"
    if code:
        yield diagnosis.finding(
            code,
            "error" if is_failed else "warning",
            cut,
            tensors=(*leaves[:8], *cut.outputs[:1]),
            nodes=(),
            fix=fix,
            leaf=diagnosis.say_all(leaves),
            value=diagnosis.say(cut.inputs[0] if cut.inputs else None),
            dtype=(whole if code == "cut_by_integer" else [*made, "?"])[0],
            **named,
        )


def _kept(diagnosis: Diagnosis, cut: Op) -> Edits:
    """The tensor itself in place of `t.detach().requires_grad_()`."""
    code = diagnosis.code
    call = code.call_at(cut.span)
    method = code.parents.get(call) if call is not None else None
    match call, method, code.parents.get(method) if method is not None else None:
        case (
            ast.Call(func=ast.Attribute(attr="detach", value=inner)),
            ast.Attribute(attr="requires_grad_"),
            ast.Call() as whole,
        ):
            return (code.replace(whole, code.text(inner)),)
    return ()
