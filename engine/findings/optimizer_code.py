"""Where the program's text makes its optimizers, what it gives them, and which one a step is of."""

import ast
from collections.abc import Iterable

from engine.findings.diagnosis import Diagnosis
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.trace import Span, Update

PARAMETERS = ("parameters", "named_parameters")


def receiver(diagnosis: Diagnosis, step: Update) -> str:
    """The name that `opt.step()` was called on, or `scaler.step(opt)` with; also where that is a name of a function's
    own."""
    call = diagnosis.code.call_at(step.span)
    written = dotted(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else ""
    made = diagnosis.value_of(written)
    if call is not None and isinstance(made, ast.Call) and called(made) == "GradScaler" and call.args:
        written = dotted(call.args[0])
    return step.variable or written


def bound_once(diagnosis: Diagnosis, name: str | None) -> ast.Assign | None:
    """The one statement that binds an optimizer's name to what a call gives."""
    bound = diagnosis.code.stands_for(name or "")
    made = [binding for binding in diagnosis.code.bindings if bound and dotted(binding.targets[0]) == bound]
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
