"""Gradients of several passes that ended up in one sum."""

from collections.abc import Callable, Iterator

from engine.findings.diagnosis import RESETS, Diagnosis, by_number, fed_by, is_zero, line
from engine.program.edits import Edits
from engine.trace import Finding, Pass


def gradients_added_up(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The first pass that added to gradients left over: after a step it is a mistake, otherwise worth knowing."""
    latest: dict[str, Pass] = {}
    stepped, reset = _steps_by_leaf(diagnosis), _resets_by_leaf(diagnosis)
    for pass_ in diagnosis.trace.passes:
        added = [
            added.tensor
            for added in pass_.accumulations
            if added.delta is not None and added.tensor in latest and _holds_something(diagnosis, added.before)
        ]
        now = diagnosis.pass_step.get(pass_.id, 0)
        mistaken = [
            leaf
            for leaf in added
            if any(diagnosis.pass_step.get(latest[leaf].id, 0) < step < now for step in stepped.get(leaf, ()))
            and _is_used(now, stepped.get(leaf, []), reset.get(leaf, []))
        ]
        leaves = sorted(mistaken or (added if pass_.parent is None else []), key=by_number)
        if leaves:
            yield _added(diagnosis, pass_, latest[leaves[0]], leaves, is_mistake=bool(mistaken))
            return
        latest.update((leaf, pass_) for leaf in fed_by(pass_))


def _holds_something(diagnosis: Diagnosis, gradient: str | None) -> bool:
    """Whether a `.grad` was there and not zeroed."""
    return gradient is not None and not is_zero(diagnosis.tensors.get(gradient))


def _steps_by_leaf(diagnosis: Diagnosis) -> dict[str, list[int]]:
    """When an optimizer, or the program itself, moved each leaf."""
    return _times(diagnosis, ("step", "data", "in_place"), diagnosis.leaf_of)


def _resets_by_leaf(diagnosis: Diagnosis) -> dict[str, list[int]]:
    """When the gradient of each leaf was zeroed, dropped or replaced."""
    owners = diagnosis.gradient_owner
    return _times(diagnosis, RESETS, lambda id_: owners.get(diagnosis.identity(id_)))


def _times(diagnosis: Diagnosis, kinds: tuple[str, ...], leaf_of: Callable[[str], str | None]) -> dict[str, list[int]]:
    times: dict[str, list[int]] = {}
    for update in diagnosis.trace.updates:
        at = diagnosis.update_step.get(update.id) if update.kind in kinds else None
        found = (leaf_of(change.before) for change in update.changes if at is not None and change.before is not None)
        for leaf in found:
            if leaf is not None and at is not None:
                times.setdefault(leaf, []).append(at)
    return times


def _is_used(now: int, steps: list[int], resets: list[int]) -> bool:
    """Whether a step took the sum before anything zeroed it; a GAN adds to gradients that nobody reads."""
    next_step = next((step for step in steps if step > now), None)
    next_reset = next((step for step in resets if step > now), None)
    return next_step is not None and (next_reset is None or next_step < next_reset)


def _added(diagnosis: Diagnosis, now: Pass, before: Pass, leaves: list[str], *, is_mistake: bool) -> Finding:
    is_closure = any(move.optimizer == "LBFGS" and leaves[0] in diagnosis.changed_by(move) for move in diagnosis.steps)
    return diagnosis.finding(
        "closure_adds_up" if is_closure else "step_without_zero_grad" if is_mistake else "gradient_added_up",
        "warning" if is_mistake or is_closure else "note",
        now.span,
        tensors=tuple(leaves),
        fix=_zeroed(diagnosis, now, leaves) if is_mistake or is_closure else (),
        names=diagnosis.say_all(leaves),
        first_line=line(before.span),
        count=str(len({pass_.id for pass_, added in diagnosis.accumulations if added.tensor == leaves[0]})),
    )


def _zeroed(diagnosis: Diagnosis, now: Pass, leaves: list[str]) -> Edits:
    """The gradients dropped before the pass: by the one optimizer that moves them, or by hand."""
    movers = {move.variable for move in diagnosis.moves if not set(leaves).isdisjoint(diagnosis.changed_by(move))}
    names = [diagnosis.name(leaf) for leaf in leaves]
    text = ""
    if len(movers) == 1 and (variable := next(iter(movers))):
        text = f"{variable}.zero_grad()"
    elif movers == {None} and all(name.isidentifier() for name in names):
        text = " = ".join([*(f"{name}.grad" for name in names), "None"])
    return diagnosis.code.line_before(diagnosis.code.statement_at(now.span), text) if text else ()
