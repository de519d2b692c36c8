"""The order of a training loop: what was zeroed, stepped or left out when it should not have been."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, line
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.trace import Finding, Pass, Span, Update

METHODS = frozenset("step zero_grad backward eval train requires_grad_ retain_grad detach_ zero_".split())
"""Methods that are called for what they do, not for what they give."""
TOO_EARLY = "before `optimizer.step()`"


class _Wasted(NamedTuple):
    """A gradient that was zeroed before any step used it."""

    by: Update
    of: Pass


class _Steps:
    """One optimizer's steps."""

    def __init__(self) -> None:
        self.all = 0
        self.idle: list[tuple[Update, str, _Wasted | None, list[str]]] = []


def idle_steps(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Steps that moved nothing: before a backward, after a `zero_grad`, or of an optimizer that holds other tensors."""
    is_whole = not any(one.what in ("passes", "updates") for one in diagnosis.trace.truncated)
    for steps in _steps(diagnosis).values():
        if not steps.idle:
            continue
        update, reason, wasted, leaves = steps.idle[0]
        always = len(steps.idle) == steps.all
        if not always and (reason == "holds_others" or not is_whole):
            continue
        if reason == "zeroed" and wasted is not None:
            yield _zeroed_too_early(diagnosis, update, wasted)
        elif reason == "holds_others":
            yield _holds_others(diagnosis, update, leaves)
        elif not _ended_at_its_root(diagnosis, update):
            yield _no_backward(diagnosis, update, always=always)


def _ended_at_its_root(diagnosis: Diagnosis, step: Update) -> bool:
    """Whether a pass did run before the step, from a leaf that nothing led on from."""
    now = diagnosis.update_step.get(step.id, 0)
    before = [pass_ for pass_ in diagnosis.trace.passes if diagnosis.pass_step.get(pass_.id, now) < now]
    return bool(before) and any(diagnosis.is_tracked_leaf(root.tensor or "") for root in before[-1].roots)


def _steps(diagnosis: Diagnosis) -> dict[str, _Steps]:
    owners = {diagnosis.identity(accumulation.after): accumulation.tensor for pass_ in diagnosis.trace.passes for accumulation in pass_.accumulations
              if accumulation.after is not None}  # fmt: skip
    moments: list[tuple[int, Pass | Update]] = [
        *((diagnosis.pass_step.get(pass_.id, 0), pass_) for pass_ in diagnosis.trace.passes if not pass_.failed),
        *(
            (diagnosis.update_step[update.id], update)
            for update in diagnosis.trace.updates
            if update.kind in ("step", "zero_grad", "grad_reset", "grad_set") and update.id in diagnosis.update_step
        ),
    ]
    moments.sort(key=lambda one: one[0])
    waiting: dict[str, Pass] = {}
    cleared: set[str] = set()
    wasted: dict[str, _Wasted] = {}
    found: dict[str, _Steps] = {}
    for _, one in moments:
        if isinstance(one, Pass):
            fed = [accumulation.tensor for accumulation in one.accumulations if accumulation.delta is not None]
            waiting.update(dict.fromkeys(fed, one))
            cleared.difference_update(fed)
            for leaf in fed:
                wasted.pop(leaf, None)
        elif one.kind == "step":
            steps = found.setdefault(one.variable or one.optimizer or "", _Steps())
            steps.all += 1
            moved = [diagnosis.identity(each.before) for each in one.changes if each.before is not None]
            if any(leaf not in cleared for leaf in moved):
                for leaf in moved:
                    waiting.pop(leaf, None)
                    wasted.pop(leaf, None)
            else:
                steps.idle.append(_idle(diagnosis, one, waiting, wasted))
        else:
            for change in one.changes:
                owner = owners.get(diagnosis.identity(change.before)) if change.before is not None else None
                if owner is None or one.kind == "grad_set":
                    continue
                cleared.add(owner)
                if owner in waiting:
                    wasted[owner] = _Wasted(one, waiting.pop(owner))
    return found


def _idle(
    diagnosis: Diagnosis, step: Update, waiting: dict[str, Pass], wasted: dict[str, _Wasted]
) -> tuple[Update, str, _Wasted | None, list[str]]:
    own = [
        one
        for one in wasted.values()
        if one.by.kind == "zero_grad" and (one.by.owner == "module" or one.by.variable == step.variable)
    ]
    if own:
        return step, "zeroed", own[0], []
    parameters = [leaf for leaf in waiting if diagnosis.is_parameter(leaf)]
    if parameters:
        return step, "holds_others", None, parameters
    return step, "no_backward", None, []


def _zeroed_too_early(diagnosis: Diagnosis, step: Update, wasted: _Wasted) -> Finding:
    code = diagnosis.code
    zero, backward = code.statement_at(wasted.by.span), code.statement_at(wasted.of.span)
    is_between = code.follows(backward, zero)
    return Finding(
        code="zero_grad_before_step",
        severity="error",
        span=wasted.by.span,
        parameters={
            "line": line(wasted.by.span),
            "pass_line": line(wasted.of.span),
            "step_line": line(step.span),
            "code": diagnosis.code.excerpt(wasted.by.span),
        },
        fix=code.moved(zero, before=backward) if is_between else (),
    )


def _no_backward(diagnosis: Diagnosis, step: Update, *, always: bool) -> Finding:
    code = diagnosis.code
    statement = code.statement_at(step.span)
    later = next(
        (pass_.span for pass_ in diagnosis.trace.passes if code.follows(statement, code.statement_at(pass_.span))), None
    )
    return Finding(
        code="step_without_backward",
        severity="error" if always else "warning",
        span=step.span,
        parameters={
            "line": line(step.span),
            "optimizer": step.variable or step.optimizer or "",
            "pass_line": line(later),
        },
        fix=code.moved(statement, after=code.statement_at(later)) if later is not None else (),
    )


def _holds_others(diagnosis: Diagnosis, step: Update, leaves: list[str]) -> Finding:
    return Finding(
        code="optimizer_holds_others",
        severity="error",
        span=step.span,
        tensors=tuple(leaves[:8]),
        parameters={
            "line": line(step.span),
            "optimizer": step.variable or step.optimizer or "",
            "names": diagnosis.say_all(leaves),
            "made_line": line(_made_at(diagnosis, step.variable)),
        },
        fix=_made_later(diagnosis, step.variable),
    )


def _made(diagnosis: Diagnosis, variable: str | None) -> ast.Assign | None:
    """The one statement that makes an optimizer."""
    made = [binding for binding in diagnosis.code.bindings if variable and dotted(binding.targets[0]) == variable]
    return made[0] if len(made) == 1 and isinstance(made[0].value, ast.Call) else None


def receiver(diagnosis: Diagnosis, step: Update) -> str:
    """The name that `opt.step()` was called on; also where that is a name of a function's own."""
    call = diagnosis.code.call_at(step.span)
    written = dotted(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else ""
    return step.variable or written


def made_by(diagnosis: Diagnosis, step: Update) -> ast.Assign | None:
    """The one statement that makes the optimizer of a step: bound to its name, else the only one of its class."""
    named = _made(diagnosis, receiver(diagnosis, step))
    if named is not None:
        return named
    alike = [
        binding
        for binding in diagnosis.code.bindings
        if isinstance(binding.value, ast.Call) and called(binding.value) == step.optimizer
    ]
    return alike[0] if len(alike) == 1 else None


def _made_at(diagnosis: Diagnosis, variable: str | None) -> Span | None:
    statement = _made(diagnosis, variable)
    return diagnosis.code.span(statement) if statement is not None else None


def _made_later(diagnosis: Diagnosis, variable: str | None) -> Edits:
    """The optimizer made after the last change of the model it is made of."""
    statement = _made(diagnosis, variable)
    models = _whole_models(statement.value) if statement is not None else []
    if statement is None or len(models) != 1:
        return ()
    code = diagnosis.code
    changed = [
        binding
        for binding in code.bindings
        if code.follows(statement, binding) and _is_part_of(binding.targets[0], models[0])
    ]
    return code.moved(statement, after=changed[-1]) if changed else ()


def _is_part_of(node: ast.expr, model: str) -> bool:
    """Whether it is the model, or `model.head` or `model[2]` of it."""
    while dotted(node) != model and isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return dotted(node) == model


def _whole_models(node: ast.AST) -> list[str]:
    """Names whose `parameters()` are given as a whole."""
    return [
        dotted(call.func.value)
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "parameters"
        and dotted(call.func.value)
    ]


def left_out_of_optimizers(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Parameters of a model that got gradients and never moved, though an optimizer was given all of the model's."""
    steps = [update for update in diagnosis.trace.updates if update.kind == "step"]
    if not steps:
        return
    moved = {
        diagnosis.identity(change.before)
        for move in diagnosis.moves
        for change in move.changes
        if change.before is not None
    }
    last = max(diagnosis.update_step.get(step.id, 0) for step in steps)
    fed = {
        accumulation.tensor: pass_
        for pass_ in diagnosis.trace.passes
        for accumulation in pass_.accumulations
        if accumulation.delta is not None and diagnosis.pass_step.get(pass_.id, last) < last
    }
    whole = {step.variable: models for step in steps if (models := _models_of(diagnosis, step.variable))}
    for variable, models in whole.items():
        for module in models:
            mine = _leaves_under(diagnosis, module)
            still = [leaf for leaf in fed if leaf in mine and leaf not in moved]
            if not still or not mine & moved:
                continue
            made = _made(diagnosis, variable)
            yield Finding(
                code="not_in_optimizer",
                severity="warning",
                span=_made_at(diagnosis, variable),
                tensors=tuple(still[:8]),
                parameters={
                    "optimizer": variable or "",
                    "model": module,
                    "names": diagnosis.say_all(still),
                    "count": str(len(still)),
                    "line": str(made.lineno) if made is not None else "?",
                },
                fix=_made_later(diagnosis, variable),
            )


def models_without_optimizer(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Models in training mode that got gradients in pass after pass, while an optimizer moved another model, and never moved."""
    steps = [update for update in diagnosis.trace.updates if update.kind == "step"]
    if len(steps) < 2:
        return
    moved = {
        diagnosis.identity(change.before)
        for move in diagnosis.moves
        for change in move.changes
        if change.before is not None
    }
    names = dict.fromkeys(
        module.path for module in diagnosis.trace.modules if module.parent is None and "(" not in module.path
    )
    models = {name: leaves for name in names if (leaves := _leaves_under(diagnosis, name))}
    trained = [name for name, leaves in models.items() if leaves & moved]
    given = [
        call.func for call in diagnosis.code.calls if called(call) in ("parameters", "named_parameters", "state_dict")
    ]
    last = max(diagnosis.update_step.get(step.id, 0) for step in steps)
    for name, leaves in models.items():
        if (
            not trained
            or leaves & moved
            or _was_evaluated(diagnosis, name)
            or any(_is_part_of(one, name) for one in given)
        ):
            continue
        fed = [
            pass_
            for pass_ in diagnosis.trace.passes
            if diagnosis.pass_step.get(pass_.id, last) < last and _fed(pass_) & leaves
        ]
        if len(fed) < 2:
            continue
        made = _made(diagnosis, steps[0].variable)
        yield Finding(
            code="model_without_optimizer",
            severity="warning",
            span=diagnosis.code.span(made) if made is not None else steps[0].span,
            tensors=tuple(sorted(leaves))[:8],
            parameters={
                "model": name,
                "count": str(len(leaves)),
                "passes": str(len(fed)),
                "optimizer": steps[0].variable or steps[0].optimizer or "",
                "trained": trained[0],
                "line": line(fed[0].span),
            },
            fix=_model_given(diagnosis, made, name) if len({step.variable for step in steps}) == 1 else (),
        )


def _fed(pass_: Pass) -> set[str]:
    return {accumulation.tensor for accumulation in pass_.accumulations if accumulation.delta is not None}


def _was_evaluated(diagnosis: Diagnosis, name: str) -> bool:
    """Whether it ever computed in eval mode, as what is only looked through does."""
    paths = {module.id: diagnosis.outermost(module).path for module in diagnosis.trace.modules}
    return any(not call.training for call in diagnosis.trace.calls if paths.get(call.module) == name)


def _model_given(diagnosis: Diagnosis, made: ast.Assign | None, name: str) -> Edits:
    """The optimizer made of both models' parameters, where the other one exists by then."""
    code = diagnosis.code
    call = made.value if made is not None else None
    first = call.args[0] if isinstance(call, ast.Call) and call.args else None
    bound = [binding for binding in code.bindings if dotted(binding.targets[0]) == name]
    exists = made is not None and len(bound) == 1 and code.follows(bound[0], made)
    if not exists or first is None or len(_whole_models(first)) != 1 or not code.text(first).endswith(".parameters()"):
        return ()
    return (code.replace(first, f"[*{code.text(first)}, *{name}.parameters()]"),)


def _models_of(diagnosis: Diagnosis, variable: str | None) -> list[str]:
    statement = _made(diagnosis, variable)
    return _whole_models(statement.value) if statement is not None else []


def _leaves_under(diagnosis: Diagnosis, name: str) -> set[str]:
    """The parameters in a variable's module tree at the end."""
    return {
        diagnosis.identity(parameter.tensor)
        for module in diagnosis.trace.modules
        if "(" not in module.path and (module.path == name or module.path.startswith(f"{name}."))
        for parameter in module.parameters
    }


def never_stepped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Passes and `zero_grad` in a loop, and no step."""
    zeroed: dict[str, int] = {}
    for update in diagnosis.trace.updates:
        if update.kind == "step":
            return
        if update.kind == "zero_grad" and update.owner == "optimizer" and update.variable:
            zeroed[update.variable] = zeroed.get(update.variable, 0) + 1
    code = diagnosis.code
    for variable, count in zeroed.items():
        fed = [
            pass_
            for pass_ in diagnosis.trace.passes
            if any(accumulation.delta is not None for accumulation in pass_.accumulations)
        ]
        stepped = any(attribute.attr == "step" for attribute in code.attributes)
        if count < 2 or len(fed) < 2 or stepped or diagnosis.trace.status != "ok":
            continue
        yield Finding(
            code="backward_without_step",
            severity="warning",
            span=fed[-1].span,
            parameters={"optimizer": variable, "line": line(fed[-1].span), "count": str(len(fed))},
            fix=_step_added(diagnosis, fed[-1], variable),
        )


def _step_added(diagnosis: Diagnosis, pass_: Pass, variable: str) -> Edits:
    code = diagnosis.code
    statement = code.statement_at(pass_.span)
    return code.line_after(statement, f"{variable}.step()")


def methods_not_called(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`opt.step` as a statement: the method without its brackets does nothing."""
    code = diagnosis.code
    for node in code.nodes:
        if (
            not isinstance(node, ast.Expr)
            or not isinstance(node.value, ast.Attribute)
            or node.value.attr not in METHODS
        ):
            continue
        if node.lineno in diagnosis.trace.lines_not_run:
            continue
        yield Finding(
            code="method_not_called",
            severity="error",
            span=code.span(node),
            parameters={"code": code.short(node), "line": str(node.lineno), "method": node.value.attr},
            fix=(code.after(node, "()"),),
        )


def scheduler_before_step(diagnosis: Diagnosis) -> Iterator[Finding]:
    """PyTorch warns of it: the first value of the schedule is skipped."""
    code = diagnosis.code
    for warning in diagnosis.trace.warnings:
        if "lr_scheduler.step()" not in warning.message or TOO_EARLY not in warning.message:
            continue
        statement = code.statement_at(warning.span)
        step = next((update for update in diagnosis.trace.updates if update.kind == "step"), None)
        other = code.statement_at(step.span) if step is not None else None
        yield Finding(
            code="scheduler_before_step",
            severity="warning",
            span=warning.span,
            parameters={
                "line": line(warning.span),
                "step_line": line(step.span if step is not None else None),
                "code": diagnosis.code.excerpt(warning.span),
            },
            fix=code.moved(statement, after=other) if code.follows(statement, other) else (),
        )
        return


def frozen_and_stepped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Frozen parameters: moved by a step all the same, or only handed to an optimizer that skips them."""
    moved = False
    for update in diagnosis.trace.updates:
        if update.kind != "step":
            continue
        for change in update.changes:
            before, after = diagnosis.tensors.get(change.before or ""), diagnosis.tensors.get(change.after or "")
            if before is None or after is None or before.requires_grad or moved:
                continue
            if (before.data, before.summary) != (after.data, after.summary):
                moved = True
                yield Finding(
                    code="frozen_but_moved",
                    severity="warning",
                    span=update.span,
                    tensors=(before.id, after.id),
                    parameters={
                        "name": diagnosis.say(before.id),
                        "line": line(update.span),
                        "optimizer": update.variable or update.optimizer or "",
                    },
                )
    if not moved:
        yield from _frozen_in_optimizer(diagnosis)


def _frozen_in_optimizer(diagnosis: Diagnosis) -> Iterator[Finding]:
    code = diagnosis.code
    for variable in {update.variable: None for update in diagnosis.trace.updates if update.kind == "step"}:
        statement = _made(diagnosis, variable)
        for call in ast.walk(statement.value) if statement is not None else ():
            if (
                not isinstance(call, ast.Call)
                or called(call) != "parameters"
                or not isinstance(call.func, ast.Attribute)
            ):
                continue
            module = call.func.value
            leaves = _leaves_under(diagnosis, name) if (name := dotted(module)) else set()
            frozen = sorted(leaf for leaf in leaves if not _is_trained(diagnosis, leaf))
            if not frozen or len(frozen) == len(leaves) or not isinstance(code.parents.get(call), ast.Call):
                continue
            if called_in(code.parents[call]) == "filter":
                continue
            yield Finding(
                code="frozen_in_optimizer",
                severity="note",
                span=code.span(call),
                tensors=tuple(frozen[:8]),
                parameters={
                    "optimizer": variable or "",
                    "names": diagnosis.say_all(frozen),
                    "count": str(len(frozen)),
                    "line": str(call.lineno),
                },
                fix=(code.before(call, "filter(lambda p: p.requires_grad, "), code.after(call, ")")),
            )


def called_in(node: ast.AST) -> str:
    """The last name of what is called, when it is a call."""
    return called(node) if isinstance(node, ast.Call) else ""


def _is_trained(diagnosis: Diagnosis, leaf: str) -> bool:
    record = diagnosis.last_states.get(leaf)
    return record is not None and record.requires_grad
