"""What optimizers were given: parameters left out, whole models forgotten, frozen ones among them."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, fed_by, line
from engine.findings.optimizers import PARAMETERS, bound_once, is_part_of, made_later, models_given, span_of
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.trace import Finding, Pass


def left_out_of_optimizers(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Parameters of a model that got gradients and never moved, though an optimizer was given all of the model's."""
    fed = list(dict.fromkeys(leaf for pass_ in _passes_before_the_last_step(diagnosis) for leaf in fed_by(pass_)))
    for variable, made in _made(diagnosis).items():
        for module in models_given(made):
            mine = _leaves_under(diagnosis, module)
            still = [leaf for leaf in fed if leaf in mine and leaf not in diagnosis.stepped]
            if not still or not mine & diagnosis.stepped:
                continue
            yield diagnosis.finding(
                "not_in_optimizer",
                "warning",
                span_of(diagnosis, made),
                tensors=still[:8],
                fix=made_later(diagnosis, made),
                optimizer=variable,
                model=module,
                names=diagnosis.say_all(still),
                count=str(len(still)),
                line=str(made.lineno),
            )


def models_without_optimizer(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Models in training mode that got gradients in pass after pass, while an optimizer moved another model, and
    never moved."""
    steps = diagnosis.steps
    if len(steps) < 2:
        return
    modules = [module for module in diagnosis.trace.modules if module.parent is None and "(" not in module.path]
    models = {module.path: leaves for module in modules if (leaves := _leaves_under(diagnosis, module.path))}
    trained = [name for name, leaves in models.items() if leaves & diagnosis.stepped]
    handed_out = [call.func for call in diagnosis.code.calls if called(call) in (*PARAMETERS, "state_dict")]
    passes = _passes_before_the_last_step(diagnosis)
    for name, leaves in models.items():
        if not trained or leaves & diagnosis.stepped or _was_evaluated(diagnosis, name):
            continue
        if any(is_part_of(function, name) for function in handed_out):
            continue
        fed = [pass_ for pass_ in passes if not leaves.isdisjoint(fed_by(pass_))]
        if len(fed) < 2:
            continue
        made = bound_once(diagnosis, steps[0].variable)
        yield diagnosis.finding(
            "model_without_optimizer",
            "warning",
            span_of(diagnosis, made) or steps[0].span,
            tensors=tuple(sorted(leaves))[:8],
            fix=_model_given(diagnosis, made, name) if len({step.variable for step in steps}) == 1 else (),
            model=name,
            count=str(len(leaves)),
            passes=str(len(fed)),
            optimizer=steps[0].variable or steps[0].optimizer or "",
            trained=trained[0],
            line=line(fed[0].span),
        )


def _passes_before_the_last_step(diagnosis: Diagnosis) -> list[Pass]:
    last = max((diagnosis.update_step.get(step.id, 0) for step in diagnosis.steps), default=0)
    return [pass_ for pass_ in diagnosis.trace.passes if diagnosis.pass_step.get(pass_.id, last) < last]


def _made(diagnosis: Diagnosis) -> dict[str, ast.Assign]:
    """Where each optimizer that steps is made."""
    names = dict.fromkeys(step.variable for step in diagnosis.steps)
    return {name: made for name in names if name and (made := bound_once(diagnosis, name)) is not None}


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
    if not exists or first is None or len(models_given(first)) != 1 or not code.text(first).endswith(".parameters()"):
        return ()
    return (code.replace(first, f"[*{code.text(first)}, *{name}.parameters()]"),)


def _leaves_under(diagnosis: Diagnosis, name: str) -> set[str]:
    """The parameters in a variable's module tree at the end."""
    return {
        diagnosis.identity(parameter.tensor)
        for module in diagnosis.trace.modules
        if "(" not in module.path and (module.path == name or module.path.startswith(f"{name}."))
        for parameter in module.parameters
    }


def frozen_and_stepped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Frozen parameters: moved by a step all the same, or only handed to an optimizer that skips them."""
    moved = next(_frozen_but_moved(diagnosis), None)
    if moved is not None:
        yield moved
    else:
        yield from _frozen_in_optimizer(diagnosis)


def _frozen_but_moved(diagnosis: Diagnosis) -> Iterator[Finding]:
    for update, change in ((step, change) for step in diagnosis.steps for change in step.changes):
        before, after = diagnosis.tensors.get(change.before or ""), diagnosis.tensors.get(change.after or "")
        if before is None or after is None or before.requires_grad:
            continue
        if (before.data, before.summary) != (after.data, after.summary):
            yield diagnosis.finding(
                "frozen_but_moved",
                "warning",
                update.span,
                tensors=(before.id, after.id),
                name=diagnosis.say(before.id),
                optimizer=update.variable or update.optimizer or "",
            )


def _frozen_in_optimizer(diagnosis: Diagnosis) -> Iterator[Finding]:
    code = diagnosis.code
    for variable, made in _made(diagnosis).items():
        for call in (node for node in ast.walk(made.value) if isinstance(node, ast.Call)):
            around = code.parents[call]
            if called(call) != "parameters" or not isinstance(around, ast.Call) or called(around) == "filter":
                continue
            leaves = {leaf for model in models_given(call)[:1] for leaf in _leaves_under(diagnosis, model)}
            frozen = sorted(leaf for leaf in leaves if not _requires_grad(diagnosis, leaf))
            if not frozen or len(frozen) == len(leaves):
                continue
            yield diagnosis.finding(
                "frozen_in_optimizer",
                "note",
                code.span(call),
                tensors=frozen[:8],
                fix=(code.before(call, "filter(lambda p: p.requires_grad, "), code.after(call, ")")),
                optimizer=variable,
                names=diagnosis.say_all(frozen),
                count=str(len(frozen)),
            )


def _requires_grad(diagnosis: Diagnosis, leaf: str) -> bool:
    record = diagnosis.last_states.get(leaf)
    return record is not None and record.requires_grad
