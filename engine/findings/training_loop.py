"""The order of a training loop: what was zeroed, stepped or left out when it should not have been."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from engine.findings.diagnosis import RESETS, Diagnosis, by_number, fed_by, is_zero, line
from engine.findings.optimizers import bound_once, changed_after, made_later, span_of
from engine.program.edits import Edits
from engine.trace import Finding, Pass, Update

METHODS = frozenset("step zero_grad backward eval train requires_grad_ retain_grad detach_ zero_".split())
"""Methods that are called for what they do, not for what they give."""


class _Wasted(NamedTuple):
    """A gradient that was zeroed before any step used it."""

    by: Update
    of: Pass


class _Turn(NamedTuple):
    """A step, what ran since the step of the same optimizer before it, and what it came too late for."""

    step: Update
    begin: int
    """Place in the timeline of the step before it, or of the program's start."""
    is_idle: bool
    """It moved nothing: its parameters had no gradients, or zeroed ones."""
    wasted: _Wasted | None = None


def idle_steps(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Steps that moved nothing: before a backward, after a `zero_grad`, or where no gradient came to what they hold."""
    is_whole = not any(omitted.what in ("passes", "updates") for omitted in diagnosis.trace.truncated)
    for turns in _turns(diagnosis):
        idle = [turn for turn in turns if turn.is_idle]
        always = len(idle) == len(turns)
        if not idle or not (always or is_whole):
            continue
        since = _passes_since(diagnosis, idle[0])
        if idle[0].wasted is not None:
            yield _zeroed_too_early(diagnosis, idle[0].step, idle[0].wasted)
        elif not since and not any(_passes_since(diagnosis, turn) for turn in idle if turn.wasted is None):
            yield _no_backward(diagnosis, idle[0].step, always=always)
        elif always:
            yield _moves_nothing(diagnosis, idle[-1], _passes_since(diagnosis, idle[-1]) or since)


def _turns(diagnosis: Diagnosis) -> list[list[_Turn]]:
    """The steps of each optimizer: of what holds the same parameters."""
    turns: dict[frozenset[str], list[_Turn]] = {}
    waiting: dict[str, Pass] = {}
    cleared: set[str] = set()
    wasted: dict[str, _Wasted] = {}
    for moment in _moments(diagnosis):
        if isinstance(moment, Pass):
            fed = fed_by(moment)
            waiting.update((leaf, moment) for leaf in fed)
            cleared.difference_update(fed)
            for leaf in fed:
                wasted.pop(leaf, None)
        elif moment.kind == "step":
            held, moved = frozenset(diagnosis.held_by(moment)), diagnosis.changed_by(moment)
            own = turns.setdefault(held, [])
            begin = diagnosis.update_step[own[-1].step.id] if own else -1
            is_idle = cleared.issuperset(moved)
            lost = next((wasted[leaf] for leaf in wasted if leaf in held), None) if is_idle else None
            own.append(_Turn(moment, begin, is_idle, lost))
            for leaf in () if is_idle else moved:
                waiting.pop(leaf, None)
                wasted.pop(leaf, None)
        elif moment.kind != "grad_set":
            owners = (diagnosis.gradient_owner.get(gradient) for gradient in diagnosis.changed_by(moment))
            for owner in (owner for owner in owners if owner is not None):
                cleared.add(owner)
                if owner in waiting:
                    wasted[owner] = _Wasted(moment, waiting.pop(owner))
    return list(turns.values())


def _moments(diagnosis: Diagnosis) -> list[Pass | Update]:
    """Passes, steps and resets in the order they came."""
    trace, pass_step, update_step = diagnosis.trace, diagnosis.pass_step, diagnosis.update_step
    moments: list[tuple[int, Pass | Update]] = [
        *((pass_step.get(pass_.id, 0), pass_) for pass_ in trace.passes if not pass_.failed),
        *(
            (update_step[update.id], update)
            for update in trace.updates
            if update.kind in ("step", *RESETS) and update.id in update_step
        ),
    ]
    return [moment for _, moment in sorted(moments, key=lambda dated: dated[0])]


def _passes_since(diagnosis: Diagnosis, turn: _Turn) -> list[Pass]:
    """The passes between a step and the one before it."""
    end = diagnosis.update_step[turn.step.id]
    return [pass_ for pass_ in diagnosis.trace.passes if turn.begin < diagnosis.pass_step.get(pass_.id, -1) < end]


def _zeroed_too_early(diagnosis: Diagnosis, step: Update, wasted: _Wasted) -> Finding:
    code = diagnosis.code
    zero, backward = code.statement_at(wasted.by.span), code.statement_at(wasted.of.span)
    is_between = code.follows(backward, zero)
    return diagnosis.finding(
        "zero_grad_before_step",
        "error",
        wasted.by.span,
        tensors=diagnosis.held_by(step)[:8],
        fix=code.moved(zero, before=backward) if is_between else (),
        pass_line=line(wasted.of.span),
        step_line=line(step.span),
    )


def _no_backward(diagnosis: Diagnosis, step: Update, *, always: bool) -> Finding:
    code = diagnosis.code
    statement = code.statement_at(step.span)
    written = (code.statement_at(pass_.span) for pass_ in diagnosis.trace.passes)
    later = next((other for other in written if code.follows(statement, other)), None)
    return diagnosis.finding(
        "step_without_backward",
        "error" if always else "warning",
        step.span,
        tensors=diagnosis.held_by(step)[:8],
        fix=code.moved(statement, after=later) if later is not None else (),
        optimizer=step.variable or step.optimizer or "",
    )


def _moves_nothing(diagnosis: Diagnosis, turn: _Turn, since: Sequence[Pass]) -> Finding:
    """The passes before it fed other tensors; where these are all that was used, the optimizer was given others."""
    step, held = turn.step, diagnosis.held_by(turn.step)
    used = (op for leaf in held for op in diagnosis.uses.get(leaf, ()) if not op.in_place)  # initialisers only write
    is_used = any(diagnosis.op_step.get(op.id, -1) > turn.begin for op in used)
    fed = sorted({leaf for pass_ in since for leaf in fed_by(pass_)}, key=by_number)
    others = [leaf for leaf in fed if diagnosis.is_parameter(leaf)]
    made = bound_once(diagnosis, step.variable)
    is_other = bool(others) and not is_used
    replaced = changed_after(diagnosis, made) if is_other else []
    return diagnosis.finding(
        "optimizer_holds_others" if is_other else "step_moves_nothing",
        "error",
        diagnosis.code.span(replaced[-1]) if replaced else step.span,
        tensors=others if is_other else held,
        fix=made_later(diagnosis, made) if is_other else (),
        optimizer=step.variable or step.optimizer or "",
        names=diagnosis.say_all(others),
        pass_line=line(since[-1].span if since else None),
        made_line=line(span_of(diagnosis, made) or step.span),
    )


def never_stepped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Passes and `zero_grad` in a loop, and no step."""
    code, trace = diagnosis.code, diagnosis.trace
    is_written = any(attribute.attr == "step" for attribute in code.attributes)
    if diagnosis.steps or is_written or trace.status != "ok":
        return
    zeroed = Counter(
        update.variable
        for update in trace.updates
        if update.kind == "zero_grad" and update.owner == "optimizer" and update.variable
    )
    fed = [pass_ for pass_ in trace.passes if fed_by(pass_)]
    for variable, count in zeroed.items():
        if count >= 2 and len(fed) >= 2:
            yield diagnosis.warning(
                "backward_without_step",
                fed[-1].span,
                fix=code.line_after(code.statement_at(fed[-1].span), f"{variable}.step()"),
                optimizer=variable,
                count=str(len(fed)),
            )


def methods_not_called(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`opt.step` as a statement: the method without its brackets does nothing."""
    code = diagnosis.code
    for node in code.nodes:
        attribute = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(attribute, ast.Attribute) or attribute.attr not in METHODS:
            continue
        if diagnosis.has_run(attribute):
            yield diagnosis.finding(
                "method_not_called",
                "error",
                attribute,
                fix=(code.after(attribute, "()"),),
                method=attribute.attr,
            )


def gradients_added_up(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The first pass that added to gradients left over: after a step it is a mistake, otherwise worth knowing."""
    latest: dict[str, Pass] = {}
    owners = diagnosis.gradient_owner
    stepped = _times(diagnosis, ("step", "data", "in_place"), diagnosis.leaf_of)
    reset = _times(diagnosis, RESETS, lambda id_: owners.get(diagnosis.identity(id_)))
    for pass_ in diagnosis.trace.passes:
        added = [
            added.tensor
            for added in pass_.accumulations
            if added.delta is not None
            and added.tensor in latest
            and added.before is not None
            and not is_zero(diagnosis.tensors.get(added.before))
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


def _times(diagnosis: Diagnosis, kinds: tuple[str, ...], leaf_of: Callable[[str], str | None]) -> dict[str, list[int]]:
    """When updates of these kinds wrote to each leaf, or to its gradient."""
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
