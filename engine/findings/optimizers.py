"""Where the program makes its optimizers and what it gives them: parameters left out, whole models forgotten, frozen
ones among them."""

import ast
from collections.abc import Iterable, Iterator

from engine.findings.diagnosis import Diagnosis, by_number, fed_by, is_alike, line
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.trace import Finding, Pass, Span, Update

PARAMETERS = ("parameters", "named_parameters")


def receiver(diagnosis: Diagnosis, step: Update) -> str:
    """The name that `opt.step()` was called on; also where that is a name of a function's own."""
    call = diagnosis.code.call_at(step.span)
    written = dotted(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else ""
    return step.variable or written


def bound_once(diagnosis: Diagnosis, name: str | None) -> ast.Assign | None:
    """The one statement that binds an optimizer's name to what a call gives."""
    made = [binding for binding in diagnosis.code.bindings if name and dotted(binding.targets[0]) == name]
    return made[0] if len(made) == 1 and isinstance(made[0].value, ast.Call) else None


def made_by(diagnosis: Diagnosis, step: Update) -> ast.Assign | None:
    """The one statement that makes the optimizer of a step: bound to its name, else the only one of its class."""
    named = bound_once(diagnosis, receiver(diagnosis, step))
    if named is not None:
        return named
    alike = calls_bound(diagnosis, step.optimizer)
    return alike[0] if len(alike) == 1 else None


def calls_bound(diagnosis: Diagnosis, function: str | None) -> list[ast.Assign]:
    """The statements that bind a name to what a function or class of that name gives."""
    bindings = diagnosis.code.bindings
    return [
        binding for binding in bindings if isinstance(binding.value, ast.Call) and called(binding.value) == function
    ]


def span_of(diagnosis: Diagnosis, made: ast.Assign | None) -> Span | None:
    """Where it is made."""
    return diagnosis.code.span(made) if made is not None else None


def models_given(node: ast.AST | None) -> list[str]:
    """The models whose `parameters()` stand in a node as a whole, as they are written."""
    calls = (call for call in ast.walk(node) if isinstance(call, ast.Call)) if node is not None else ()
    return models_asked(call for call in calls if called(call) == "parameters")


def models_asked(calls: Iterable[ast.Call]) -> list[str]:
    """What is asked for its parameters, as it is written."""
    functions = (call.func for call in calls if called(call) in PARAMETERS)
    return [
        model for function in functions if isinstance(function, ast.Attribute) and (model := dotted(function.value))
    ]


def made_later(diagnosis: Diagnosis, made: ast.Assign | None) -> Edits:
    """The optimizer made after the last change of the model it is made of."""
    changed = changed_after(diagnosis, made)
    return diagnosis.code.moved(made, after=changed[-1]) if made is not None and changed else ()


def changed_after(diagnosis: Diagnosis, made: ast.Assign | None) -> list[ast.Assign]:
    """The statements that bind the one model of an optimizer, or a part of it, anew after the optimizer was made."""
    models, code = models_given(made), diagnosis.code
    if made is None or len(models) != 1:
        return []
    later = (binding for binding in code.bindings if code.follows(made, binding))
    return [binding for binding in later if is_part_of(binding.targets[0], models[0])]


def is_part_of(node: ast.expr, model: str) -> bool:
    """Whether it is the model, or `model.head` or `model[2]` of it."""
    while dotted(node) != model and isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return dotted(node) == model


def left_out_of_optimizers(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Parameters of a model that got gradients and never moved, though an optimizer trains the rest of it: it holds
    what they have replaced, or was given all that the model had when it was made."""
    fed = {leaf for pass_ in _passes_before_the_last_step(diagnosis) for leaf in fed_by(pass_)}
    registered = {
        diagnosis.identity(member.tensor)
        for module in diagnosis.trace.modules
        if "(" not in module.path
        for member in module.parameters
    }
    still = (fed & registered) - diagnosis.held - diagnosis.stepped
    for held, step in _optimizers(diagnosis).items():
        replaced = [leaf for leaf in held if leaf not in diagnosis.root_of and leaf not in diagnosis.fed]
        made = bound_once(diagnosis, receiver(diagnosis, step))
        for root in {root.id: root for leaf in held if (root := diagnosis.root_of.get(leaf)) is not None}.values():
            left = sorted((leaf for leaf in still if diagnosis.root_of.get(leaf) is root), key=by_number)
            if not left or not (replaced or root.path in models_given(made)):
                continue
            yield diagnosis.warning(
                "not_in_optimizer",
                span_of(diagnosis, made) or step.span,
                tensors=left,
                fix=made_later(diagnosis, made),
                optimizer=step.variable or step.optimizer or "",
                model=root.path,
                names=diagnosis.say_all(left),
                count=str(len(left)),
            )


def models_without_optimizer(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Models in training mode that got gradients in pass after pass, while an optimizer moved another model, and
    never moved."""
    steps = diagnosis.steps
    if len(steps) < 2:
        return
    models = _models(diagnosis)
    trained = [model for model, leaves in models.items() if leaves & diagnosis.stepped]
    handed_out = [call.func for call in diagnosis.code.calls if called(call) in (*PARAMETERS, "state_dict")]
    passes = _passes_before_the_last_step(diagnosis)
    optimizers = {step.variable: step for step in steps}
    for model, leaves in models.items():
        fed = [pass_ for pass_ in passes if not leaves.isdisjoint(fed_by(pass_))]
        if not trained or len(fed) < 2 or leaves & (diagnosis.stepped | diagnosis.held):
            continue
        if _was_evaluated(diagnosis, model) or any(is_part_of(function, model) for function in handed_out):
            continue
        step = next(step for step in steps if diagnosis.update_step[step.id] > diagnosis.pass_step[fed[0].id])
        held = set(diagnosis.held_by(step))
        made = bound_once(diagnosis, step.variable)
        twin = next((name for name, other in optimizers.items() if set(diagnosis.held_by(other)) == held), None)
        is_twin = twin not in (None, step.variable)
        yield diagnosis.warning(
            "optimizer_of_another_model" if is_twin else "model_without_optimizer",
            span_of(diagnosis, made) or step.span,
            tensors=tuple(sorted(leaves, key=by_number)),
            fix=_other_model_given(diagnosis, made, model)
            if is_twin
            else _model_given(diagnosis, made, model)
            if len(optimizers) == 1
            else (),
            model=model,
            count=str(len(leaves)),
            passes=str(len(fed)),
            optimizer=step.variable or step.optimizer or "",
            other=twin or "",
            trained=next((name for name in trained if models[name] & held), trained[0]),
            line=line(fed[0].span),
        )


def _optimizers(diagnosis: Diagnosis) -> dict[frozenset[str], Update]:
    """A step of each optimizer, by what it holds."""
    return {frozenset(diagnosis.held_by(step)): step for step in reversed(diagnosis.steps)}


def _models(diagnosis: Diagnosis) -> dict[str, set[str]]:
    """The parameters of each model that the program has a name for."""
    models: dict[str, set[str]] = {}
    for leaf, root in diagnosis.root_of.items():
        if "(" not in root.path:
            models.setdefault(root.path, set()).add(leaf)
    return models


def _passes_before_the_last_step(diagnosis: Diagnosis) -> list[Pass]:
    last = max(diagnosis.trained_until, 0)
    return [pass_ for pass_ in diagnosis.trace.passes if diagnosis.pass_step.get(pass_.id, last) < last]


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


def _other_model_given(diagnosis: Diagnosis, made: ast.Assign | None, name: str) -> Edits:
    """The optimizer made of this model's parameters in place of another's."""
    functions = (call.func for call in ast.walk(made) if isinstance(call, ast.Call)) if made is not None else ()
    given = [function.value for function in functions if isinstance(function, ast.Attribute) and dotted(function.value)]
    asked = [model for model in given if dotted(model) in models_given(made)]
    return (diagnosis.code.replace(asked[0], name),) if len(asked) == 1 else ()


def frozen_but_moved(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A frozen parameter that a step moved all the same."""
    for update, change in ((step, change) for step in diagnosis.steps for change in step.changes):
        before, after = diagnosis.tensors.get(change.before or ""), diagnosis.tensors.get(change.after or "")
        if before is None or after is None or before.requires_grad:
            continue
        if not is_alike(before, after):
            yield diagnosis.warning(
                "frozen_but_moved",
                update.span,
                tensors=(before.id, after.id),
                name=diagnosis.say(before.id),
                optimizer=update.variable or update.optimizer or "",
            )
            return
