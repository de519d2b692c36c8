"""Gradients of several passes that ended up in one sum."""

from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, line
from engine.findings.gradient_flow import is_zero
from engine.program.edits import Edits
from engine.trace import Finding, Pass


def gradients_added_up(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The first pass that added to gradients left over: after a step it is a mistake, otherwise worth knowing."""
    latest: dict[str, Pass] = {}
    stepped, reset = _steps_by_leaf(diagnosis), _resets_by_leaf(diagnosis)
    for pass_ in diagnosis.trace.passes:
        added = [
            accumulation
            for accumulation in pass_.accumulations
            if accumulation.delta is not None and _holds_something(diagnosis, accumulation.before)
        ]
        mistaken = [
            accumulation.tensor
            for accumulation in added
            if _stepped_between(diagnosis, stepped, accumulation.tensor, latest, pass_)
            and _is_used(
                diagnosis.pass_step.get(pass_.id, 0),
                stepped.get(accumulation.tensor, []),
                reset.get(accumulation.tensor, []),
            )
        ]
        if mistaken or (added and pass_.parent is None):
            leaves = sorted(
                mistaken or [accumulation.tensor for accumulation in added if accumulation.tensor in latest],
                key=_by_number,
            )
            if leaves:
                yield _added(diagnosis, pass_, latest[leaves[0]], leaves, is_mistake=bool(mistaken))
                return
        latest.update(
            (accumulation.tensor, pass_) for accumulation in pass_.accumulations if accumulation.delta is not None
        )


def _holds_something(diagnosis: Diagnosis, gradient: str | None) -> bool:
    """Whether a `.grad` was there and not zeroed."""
    return gradient is not None and not is_zero(diagnosis.tensors.get(gradient))


def _steps_by_leaf(diagnosis: Diagnosis) -> dict[str, list[int]]:
    """When an optimizer, or the program itself, moved each leaf."""
    steps: dict[str, list[int]] = {}
    for update in diagnosis.trace.updates:
        if update.kind in ("step", "data", "in_place") and update.id in diagnosis.update_step:
            for leaf in {diagnosis.leaf_of(change.before) for change in update.changes}:
                if leaf is not None:
                    steps.setdefault(leaf, []).append(diagnosis.update_step[update.id])
    return steps


def _resets_by_leaf(diagnosis: Diagnosis) -> dict[str, list[int]]:
    """When the gradient of each leaf was zeroed, dropped or replaced."""
    owner = {diagnosis.identity(accumulation.after): accumulation.tensor for pass_ in diagnosis.trace.passes for accumulation in pass_.accumulations
             if accumulation.after is not None}  # fmt: skip
    resets: dict[str, list[int]] = {}
    for update in diagnosis.trace.updates:
        if update.kind in ("zero_grad", "grad_reset", "grad_set") and update.id in diagnosis.update_step:
            for change in update.changes:
                leaf = owner.get(diagnosis.identity(change.before)) if change.before is not None else None
                if leaf is not None:
                    resets.setdefault(leaf, []).append(diagnosis.update_step[update.id])
    return resets


def _is_used(now: int, steps: list[int], resets: list[int]) -> bool:
    """Whether a step took the sum before anything zeroed it; a GAN adds to gradients that nobody reads."""
    next_step = next((step for step in steps if step > now), None)
    next_reset = next((step for step in resets if step > now), None)
    return next_step is not None and (next_reset is None or next_step < next_reset)


def _stepped_between(
    diagnosis: Diagnosis, stepped: dict[str, list[int]], leaf: str, latest: dict[str, Pass], now: Pass
) -> bool:
    if leaf not in latest:
        return False
    start, end = diagnosis.pass_step.get(latest[leaf].id, 0), diagnosis.pass_step.get(now.id, 0)
    return any(start < step < end for step in stepped.get(leaf, ()))


def _added(diagnosis: Diagnosis, now: Pass, before: Pass, leaves: list[str], *, is_mistake: bool) -> Finding:
    return Finding(
        code="step_without_zero_grad" if is_mistake else "gradient_added_up",
        severity="warning" if is_mistake else "note",
        span=now.span,
        tensors=tuple(leaves),
        parameters={
            "names": diagnosis.say_all(leaves),
            "line": line(now.span),
            "first_line": line(before.span),
            "count": str(
                sum(1 for pass_ in diagnosis.trace.passes if any(a.tensor == leaves[0] for a in pass_.accumulations))
            ),
        },
        fix=_zeroed(diagnosis, now, leaves) if is_mistake else (),
    )


def _zeroed(diagnosis: Diagnosis, now: Pass, leaves: list[str]) -> Edits:
    """The gradients dropped before the pass: by the one optimizer that moves them, or by hand."""
    movers = {
        update.variable
        for update in diagnosis.moves
        for change in update.changes
        if change.before is not None and diagnosis.identity(change.before) in leaves
    }
    names = [diagnosis.name(leaf) for leaf in leaves]
    text = ""
    if len(movers) == 1 and (variable := next(iter(movers))):
        text = f"{variable}.zero_grad()"
    elif movers == {None} and all(name.isidentifier() for name in names):
        text = " = ".join([*(f"{name}.grad" for name in names), "None"])
    return diagnosis.code.line_before(diagnosis.code.statement_at(now.span), text) if text else ()


def _by_number(tensor: str) -> tuple[int, str]:
    return (len(tensor), tensor)
