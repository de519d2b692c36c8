"""The order of a training loop: what was zeroed, stepped or left out when it should not have been."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.findings.diagnosis import RESETS, Diagnosis, fed_by, line
from engine.findings.optimizers import bound_once, made_later, span_of
from engine.trace import Finding, Pass, Update

METHODS = frozenset("step zero_grad backward eval train requires_grad_ retain_grad detach_ zero_".split())
"""Methods that are called for what they do, not for what they give."""


class _Wasted(NamedTuple):
    """A gradient that was zeroed before any step used it."""

    by: Update
    of: Pass


class _Idle(NamedTuple):
    """A step that moved nothing, and why: its gradients were zeroed, others have some, or there are none."""

    step: Update
    zeroed: _Wasted | None = None
    waiting: tuple[str, ...] = ()
    """Parameters that have gradients which no step used."""


def idle_steps(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Steps that moved nothing: before a backward, after a `zero_grad`, or of an optimizer that holds other tensors."""
    is_whole = not any(omitted.what in ("passes", "updates") for omitted in diagnosis.trace.truncated)
    for idle, always in _Loop(diagnosis).first_idle():
        if not always and (idle.waiting or not is_whole):
            continue
        if idle.zeroed is not None:
            yield _zeroed_too_early(diagnosis, idle.step, idle.zeroed)
        elif idle.waiting:
            yield _holds_others(diagnosis, idle.step, idle.waiting)
        elif not _ended_at_its_root(diagnosis, idle.step):
            yield _no_backward(diagnosis, idle.step, always=always)


def _ended_at_its_root(diagnosis: Diagnosis, step: Update) -> bool:
    """Whether a pass did run before the step, from a leaf that nothing led on from."""
    now = diagnosis.update_step.get(step.id, 0)
    before = [pass_ for pass_ in diagnosis.trace.passes if diagnosis.pass_step.get(pass_.id, now) < now]
    return bool(before) and any(diagnosis.is_tracked_leaf(root.tensor or "") for root in before[-1].roots)


class _Loop:
    """Passes, steps and resets in the order they came, and what each left for the next."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        self.diagnosis = diagnosis
        self.waiting: dict[str, Pass] = {}
        """Leaves whose gradient no step has used yet."""
        self.cleared: set[str] = set()
        self.wasted: dict[str, _Wasted] = {}

    def first_idle(self) -> list[tuple[_Idle, bool]]:
        """Of each optimizer the first step that moved nothing, and whether none moved anything."""
        steps: dict[str, list[_Idle | None]] = {}
        for moment in self._moments():
            if isinstance(moment, Pass):
                self._feed(moment)
            elif moment.kind == "step":
                steps.setdefault(moment.variable or moment.optimizer or "", []).append(self._step(moment))
            elif moment.kind != "grad_set":
                self._reset(moment)
        idle = {name: [step for step in all_ if step is not None] for name, all_ in steps.items()}
        return [(found[0], len(found) == len(steps[name])) for name, found in idle.items() if found]

    def _moments(self) -> list[Pass | Update]:
        trace, pass_step, update_step = self.diagnosis.trace, self.diagnosis.pass_step, self.diagnosis.update_step
        moments: list[tuple[int, Pass | Update]] = [
            *((pass_step.get(pass_.id, 0), pass_) for pass_ in trace.passes if not pass_.failed),
            *(
                (update_step[update.id], update)
                for update in trace.updates
                if update.kind in ("step", *RESETS) and update.id in update_step
            ),
        ]
        return [moment for _, moment in sorted(moments, key=lambda dated: dated[0])]

    def _feed(self, pass_: Pass) -> None:
        for leaf in fed_by(pass_):
            self.waiting[leaf] = pass_
            self.cleared.discard(leaf)
            self.wasted.pop(leaf, None)

    def _step(self, step: Update) -> _Idle | None:
        moved = self.diagnosis.changed_by(step)
        if self.cleared.issuperset(moved):
            return self._idle(step)
        for leaf in moved:
            self.waiting.pop(leaf, None)
            self.wasted.pop(leaf, None)
        return None

    def _idle(self, step: Update) -> _Idle:
        for wasted in self.wasted.values():
            by = wasted.by
            if by.kind == "zero_grad" and (by.owner == "module" or by.variable == step.variable):
                return _Idle(step, zeroed=wasted)
        return _Idle(step, waiting=tuple(leaf for leaf in self.waiting if self.diagnosis.is_parameter(leaf)))

    def _reset(self, update: Update) -> None:
        owners = self.diagnosis.gradient_owner
        for leaf in (owners.get(gradient) for gradient in self.diagnosis.changed_by(update)):
            if leaf is not None:
                self.cleared.add(leaf)
                if leaf in self.waiting:
                    self.wasted[leaf] = _Wasted(update, self.waiting.pop(leaf))


def _zeroed_too_early(diagnosis: Diagnosis, step: Update, wasted: _Wasted) -> Finding:
    code = diagnosis.code
    zero, backward = code.statement_at(wasted.by.span), code.statement_at(wasted.of.span)
    is_between = code.follows(backward, zero)
    return diagnosis.finding(
        "zero_grad_before_step",
        "error",
        wasted.by.span,
        fix=code.moved(zero, before=backward) if is_between else (),
        pass_line=line(wasted.of.span),
        step_line=line(step.span),
        code=code.excerpt(wasted.by.span),
    )


def _no_backward(diagnosis: Diagnosis, step: Update, *, always: bool) -> Finding:
    code = diagnosis.code
    statement = code.statement_at(step.span)
    later = next(
        (pass_.span for pass_ in diagnosis.trace.passes if code.follows(statement, code.statement_at(pass_.span))), None
    )
    return diagnosis.finding(
        "step_without_backward",
        "error" if always else "warning",
        step.span,
        fix=code.moved(statement, after=code.statement_at(later)) if later is not None else (),
        optimizer=step.variable or step.optimizer or "",
        pass_line=line(later),
    )


def _holds_others(diagnosis: Diagnosis, step: Update, leaves: Sequence[str]) -> Finding:
    made = bound_once(diagnosis, step.variable)
    return diagnosis.finding(
        "optimizer_holds_others",
        "error",
        step.span,
        tensors=leaves[:8],
        fix=made_later(diagnosis, made),
        optimizer=step.variable or step.optimizer or "",
        names=diagnosis.say_all(leaves),
        made_line=line(span_of(diagnosis, made)),
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
            yield diagnosis.finding(
                "backward_without_step",
                "warning",
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
        if attribute.lineno not in diagnosis.trace.lines_not_run:
            yield diagnosis.finding(
                "method_not_called",
                "error",
                code.span(attribute),
                fix=(code.after(attribute, "()"),),
                code=code.short(attribute),
                method=attribute.attr,
            )
