"""Models and optimizers made again for every step: what they learned or remember is gone each time."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, line
from engine.findings.optimizers import receiver
from engine.program.names import called, dotted, names_read
from engine.trace import Finding, Module, Pass, Span, Update

LOOPS = (ast.For, ast.While, ast.AsyncFor)
KEEPERS = frozenset("append add extend insert update put save state_dict deepcopy".split())
"""Calls that keep a model for later: then each one is meant."""


def models_made_anew(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A model made in the turn that trains it: each one takes a single step, from the start again."""
    for passes in _passes_by_place(diagnosis).values():
        roots = [_models(diagnosis, pass_) for pass_ in passes]
        if len(passes) < 2 or any(len(root) != 1 for root in roots):
            continue
        models = [root[0] for root in roots]
        if len({model.id for model in models}) < len(models) or len({(model.path, model.type) for model in models}) > 1:
            continue
        if not all(_was_moved(diagnosis, pass_) for pass_ in passes):
            continue
        statement = _maker(diagnosis, models[0], passes[0].span)
        if statement is None or _is_meant(diagnosis, statement, dotted(statement.targets[0])):
            continue
        span = diagnosis.code.span(statement)
        yield Finding(
            code="model_made_anew",
            severity="error",
            span=span,
            parameters={
                "line": line(span),
                "name": dotted(statement.targets[0]),
                "type": models[0].type,
                "count": str(len(models)),
                "pass_line": line(passes[0].span),
            },
        )


def _passes_by_place(diagnosis: Diagnosis) -> dict[Span | None, list[Pass]]:
    found: dict[Span | None, list[Pass]] = {}
    for pass_ in diagnosis.trace.passes:
        if not pass_.failed and pass_.kind == "backward" and pass_.accumulations and pass_.parent is None:
            found.setdefault(pass_.span, []).append(pass_)
    return found


def _models(diagnosis: Diagnosis, pass_: Pass) -> list[Module]:
    """The outermost modules whose parameters got gradients."""
    roots = {diagnosis.root_of[accumulation.tensor].id: diagnosis.root_of[accumulation.tensor] for accumulation in pass_.accumulations
             if accumulation.delta is not None and accumulation.tensor in diagnosis.root_of}  # fmt: skip
    return list(roots.values())


def _was_moved(diagnosis: Diagnosis, pass_: Pass) -> bool:
    fed = {accumulation.tensor for accumulation in pass_.accumulations if accumulation.delta is not None}
    return bool(fed & diagnosis.moved)


def _maker(diagnosis: Diagnosis, model: Module, span: Span | None) -> ast.Assign | None:
    """The one statement that makes such a model, in the loop or function that is run anew each time."""
    code = diagnosis.code
    alike = []
    for binding in code.bindings:
        named = model.path in (dotted(binding.targets[0]), f"({model.type})")
        value = binding.value
        while (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and called(value) in ("to", "cuda", "double", "float", "train")
        ):
            value = value.func.value
        if not named or not isinstance(value, ast.Call):
            continue
        if called(value) == model.type or (model.path == dotted(binding.targets[0]) and called(value) != "load"):
            alike.append(binding)
    if len(alike) != 1:
        return None
    statement = alike[0]
    return statement if code.in_loop(statement) or code.is_in_function(statement) else None


def _is_meant(diagnosis: Diagnosis, statement: ast.Assign, name: str) -> bool:
    """Whether the turns are runs to compare: one setting, one seed or one kept model each."""
    code = diagnosis.code
    around = [one for one in code.around(statement) if isinstance(one, (*LOOPS, ast.FunctionDef))]
    if not around or not name:
        return True
    inner = around[0]
    for one in around[:2]:
        varied = _varied(one)
        makers = [
            statement.value,
            *(call for call in ast.walk(one) if isinstance(call, ast.Call) and called(call)[:1].isupper()),
        ]
        if any(varied & names_read(maker) for maker in makers):
            return True
    for node in ast.walk(inner):
        if isinstance(node, ast.Call) and called(node) == "manual_seed":
            return True
        if isinstance(node, ast.Call) and called(node) in KEEPERS and name in names_read(node):
            return True
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None and _gives(node.value, name):
            return True
        if isinstance(node, ast.Assign) and dotted(node.value) == name:
            return True
    return False


def _gives(value: ast.expr, name: str) -> bool:
    """Whether the model itself is among what is returned."""
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    return any(dotted(part) == name for part in parts)


def _varied(around: ast.AST) -> frozenset[str]:
    """The names that are different in each turn of a loop or each call of a function."""
    match around:
        case ast.For(target=target) | ast.AsyncFor(target=target):
            return frozenset(node.id for node in ast.walk(target) if isinstance(node, ast.Name))
        case ast.FunctionDef(args=args):
            return frozenset(parameter.arg for parameter in (*args.posonlyargs, *args.args, *args.kwonlyargs))
    return frozenset()


def optimizers_made_anew(diagnosis: Diagnosis) -> Iterator[Finding]:
    """An optimizer with a memory that is made again while the same parameters are trained: its memory is gone each time."""
    code = diagnosis.code
    steps: dict[tuple[str, str | None], list[Update]] = {}
    for update in diagnosis.trace.updates:
        if update.kind == "step" and not update.raised:
            steps.setdefault((receiver(diagnosis, update), update.optimizer), []).append(update)
    for (name, kind), own in steps.items():
        fresh = [
            one
            for one in own
            if one.state and all(change.before is None and change.before_text is None for change in one.state)
        ]
        if len(fresh) < 2 or not kind:
            continue
        alike = [
            binding
            for binding in code.bindings
            if isinstance(binding.value, ast.Call) and called(binding.value) == kind
        ]
        made = [assignment for assignment in alike if dotted(assignment.targets[0]) == name] or alike
        if len(made) != 1 or not (code.in_loop(made[0]) or code.is_in_function(made[0])):
            continue
        moved = [
            {diagnosis.identity(change.before) for change in one.changes if change.before is not None} for one in fresh
        ]
        if any(one != moved[0] for one in moved) or any(one.settings != fresh[0].settings for one in fresh):
            continue  # other parameters or another learning rate: a new beginning that is meant
        yield Finding(
            code="optimizer_made_anew",
            severity="warning",
            span=code.span(made[0]),
            parameters={
                "line": str(made[0].lineno),
                "name": dotted(made[0].targets[0]),
                "type": kind,
                "count": str(len(own)),
                "times": str(len(fresh)),
            },
        )
