"""Learning rates: of 0, and schedules in the wrong order or at the wrong pace."""

import ast
import re
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, grouped, line
from engine.findings.optimizers import bound_once, made_by, receiver
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword
from engine.program.tree import Loop
from engine.trace import Finding, Span, Update

TOO_EARLY = "before `optimizer.step()`"


def steps_of_zero(diagnosis: Diagnosis) -> Iterator[Finding]:
    """An optimizer whose learning rate is 0 in all steps, or in all from some step on."""
    whole = (step for step in diagnosis.steps if step.changes and not step.raised)
    for steps in grouped(whole, lambda step: (receiver(diagnosis, step), step.span)).values():
        still = [_rate(step) == 0 for step in steps]
        at = still.index(True) if True in still else len(steps)
        if not all(still[at:]) or 2 * at > len(steps) or at == len(steps):
            continue
        first = steps[at]
        span, fix = _zero_from(diagnosis, first, was_zero=at == 0)
        yield diagnosis.finding(
            "learning_rate_zero",
            "error" if at == 0 else "warning",
            span,
            fix=fix,
            optimizer=receiver(diagnosis, first) or first.optimizer or "",
            step_line=line(first.span),
            count=str(len(steps) - at),
            of=str(len(steps)),
        )


def _rate(step: Update) -> float | None:
    """The largest learning rate of the groups that it changed something of."""
    texts = [
        step.settings[group].get("lr", "")
        for group in {change.group for change in step.changes}
        if group < len(step.settings)
    ]
    found = [re.search(r"-?\d+(\.\d*)?(e[-+]?\d+)?|-?\.\d+", text) for text in texts]
    rates = [abs(float(number.group())) for number in found if number is not None]
    return max(rates) if len(rates) == len(texts) and rates else None


def _zero_from(diagnosis: Diagnosis, step: Update, *, was_zero: bool) -> tuple[Span | None, Edits]:
    """Where the 0 comes from: the optimizer's own line, the schedule's, or a line that sets it."""
    code = diagnosis.code
    made = made_by(diagnosis, step)
    call = made.value if made is not None else None
    is_scheduled = any(setting.get("initial_lr", "0") not in ("0", "0.0") for setting in step.settings)
    if was_zero and not is_scheduled and isinstance(call, ast.Call):
        return code.span(call), _rate_given(diagnosis, call)
    name = dotted(made.targets[0]) if made is not None else ""
    bound = [binding.value for binding in code.bindings if isinstance(binding.value, ast.Call) and binding.value.args]
    schedules = [call for call in bound if isinstance(call, ast.Call) and name and dotted(call.args[0]) == name]
    by_hand = [node for node in code.nodes if isinstance(node, ast.Assign | ast.AugAssign) and _sets_rate(node)]
    if schedules and (is_scheduled or not by_hand):
        return code.span(schedules[-1]), ()
    if by_hand:
        return code.span(by_hand[-1]), ()
    return (code.span(call), ()) if isinstance(call, ast.Call) else (step.span, ())


def _sets_rate(statement: ast.Assign | ast.AugAssign) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(
        isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == "lr"
        for target in targets
    )


def _rate_given(diagnosis: Diagnosis, call: ast.Call) -> Edits:
    word = keyword(call, "lr")
    value = word.value if word is not None else call.args[1] if len(call.args) > 1 else None
    return (diagnosis.code.replace(value, "0.01"),) if isinstance(value, ast.Constant) else ()


def scheduler_before_step(diagnosis: Diagnosis) -> Iterator[Finding]:
    """PyTorch warns of it: the first value of the schedule is skipped."""
    code = diagnosis.code
    for warning in diagnosis.trace.warnings:
        if "lr_scheduler.step()" not in warning.message or TOO_EARLY not in warning.message:
            continue
        statement = code.statement_at(warning.span)
        step = next((update for update in diagnosis.trace.updates if update.kind == "step"), None)
        other = code.statement_at(step.span) if step is not None else None
        is_after = other is not None and statement is not None and other.lineno < statement.lineno
        strange = _of_another_optimizer(diagnosis, statement) if is_after else None
        if strange is not None:
            yield strange
            return
        yield diagnosis.warning(
            "scheduler_before_step",
            warning.span,
            fix=code.moved(statement, after=other) if code.follows(statement, other) else (),
            step_line=line(step.span if step is not None else None),
        )
        return


def _of_another_optimizer(diagnosis: Diagnosis, stepped: ast.stmt | None) -> Finding | None:
    """A scheduler made for an optimizer that never steps: another one has its name since, or does its work."""
    code = diagnosis.code
    call = stepped.value if isinstance(stepped, ast.Expr) else None
    name = dotted(call.func.value) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
    made = bound_once(diagnosis, name)
    given = (
        dotted(made.value.args[0]) if made is not None and isinstance(made.value, ast.Call) and made.value.args else ""
    )
    if made is None or not given:
        return None
    again = [each for each in code.bindings if dotted(each.targets[0]) == given and code.follows(made, each)]
    step = diagnosis.steps[0]
    return diagnosis.warning(
        "scheduler_of_another_optimizer",
        again[0] if again else made,
        fix=code.moved(made, after=again[-1]) if again else (),
        name=name,
        optimizer=given,
        made_line=str(made.lineno),
        step_line=line(step.span),
        stepped=receiver(diagnosis, step),
        lr=_rates(step),
    )


def _rates(step: Update) -> str:
    rate = _rate(step)
    return f"{rate:.4g}" if rate is not None else "?"


EPOCHS = {"StepLR": "step_size", "CosineAnnealingLR": "T_max", "MultiStepLR": "milestones"}
"""Schedulers that count in epochs in most programs, and the option that says how many."""


def scheduled_per_batch(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A scheduler told a number of epochs and stepped in each batch."""
    code = diagnosis.code
    for made in code.bindings if len(diagnosis.steps) > 2 else ():
        call = made.value
        option = EPOCHS.get(called(call)) if isinstance(call, ast.Call) else None
        if option is None or not isinstance(call, ast.Call):
            continue
        name = dotted(made.targets[0])
        steps = [each for each in code.calls if dotted(each.func) == f"{name}.step"]
        loops = code.loops(steps[0]) if len(steps) == 1 else []
        if len(loops) < 2 or not diagnosis.has_run(steps[0]) or code.enclosing(steps[0], ast.If):
            continue
        word = keyword(call, option)
        written = word.value if word is not None else call.args[1] if len(call.args) > 1 else None
        epochs = _turns(diagnosis, loops[1])
        count = _number(diagnosis, written)
        stepped = len(diagnosis.steps)
        if epochs is None or count is None or count > epochs or stepped < 2 * epochs:
            continue
        yield diagnosis.warning(
            "scheduled_per_batch",
            steps[0],
            name=name,
            type=called(call),
            option=option,
            count=str(count),
            epochs=str(epochs),
            times=str(stepped),
            batch_line=str(loops[0].lineno),
            epoch_line=str(loops[1].lineno),
            first=_rate_said(diagnosis.steps[0]),
            last=_rate_said(diagnosis.steps[-1]),
        )


def _turns(diagnosis: Diagnosis, loop: Loop) -> int | None:
    """How often `for epoch in range(n)` turns."""
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name("range"), args=[*first, last])) if len(first) < 2:
            begin, end = _number(diagnosis, first[0]) if first else 0, _number(diagnosis, last)
            return end - begin if begin is not None and end is not None else None
    return None


def _number(diagnosis: Diagnosis, node: ast.expr | None) -> int | None:
    """A whole number as written, or of a name that is bound to it once; of a list its largest."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.List(elts=items) if items:
            known = [each for item in items if (each := _number(diagnosis, item)) is not None]
            return max(known, default=None)
        case ast.Name(id=name):
            return _number(diagnosis, diagnosis.value_of(name))
    return None


def _rate_said(step: Update) -> str:
    """The learning rate of a step, for a sentence."""
    rate = _rate(step)
    return f"{rate:.3g}" if rate is not None else "?"
