"""Models and optimizers made again for every step: what they learned or remember is gone each time."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, line
from engine.findings.training import receiver
from engine.program.names import called, dotted, names_read
from engine.trace import Finding, Module, Pass, Span, Update

LOOPS = (ast.For, ast.While, ast.AsyncFor)
KEEPERS = frozenset("append add extend insert update put save state_dict deepcopy".split())
"""Calls that keep a model for later: then each one is meant."""


def models_made_anew(story: Diagnosis) -> Iterator[Finding]:
    """A model made in the turn that trains it: each one takes a single step, from the start again."""
    for passes in _passes_by_place(story).values():
        roots = [_models(story, one) for one in passes]
        if len(passes) < 2 or any(len(one) != 1 for one in roots):
            continue
        models = [one[0] for one in roots]
        if len({one.id for one in models}) < len(models) or len({(one.path, one.type) for one in models}) > 1:
            continue
        if not all(_was_moved(story, one) for one in passes):
            continue
        statement = _maker(story, models[0], passes[0].span)
        if statement is None or _is_meant(story, statement, dotted(statement.targets[0])):
            continue
        span = story.code.span(statement)
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


def _passes_by_place(story: Diagnosis) -> dict[Span | None, list[Pass]]:
    found: dict[Span | None, list[Pass]] = {}
    for one in story.trace.passes:
        if not one.failed and one.kind == "backward" and one.accumulations and one.parent is None:
            found.setdefault(one.span, []).append(one)
    return found


def _models(story: Diagnosis, one: Pass) -> list[Module]:
    """The outermost modules whose parameters got gradients."""
    roots = {story.root_of[each.tensor].id: story.root_of[each.tensor] for each in one.accumulations
             if each.delta is not None and each.tensor in story.root_of}  # fmt: skip
    return list(roots.values())


def _was_moved(story: Diagnosis, one: Pass) -> bool:
    fed = {each.tensor for each in one.accumulations if each.delta is not None}
    return bool(fed & story.moved)


def _maker(story: Diagnosis, model: Module, span: Span | None) -> ast.Assign | None:
    """The one statement that makes such a model, in the loop or function that is run anew each time."""
    code = story.code
    alike = []
    for one in code.bindings:
        named = model.path in (dotted(one.targets[0]), f"({model.type})")
        value = one.value
        while (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and called(value) in ("to", "cuda", "double", "float", "train")
        ):
            value = value.func.value
        if not named or not isinstance(value, ast.Call):
            continue
        if called(value) == model.type or (model.path == dotted(one.targets[0]) and called(value) != "load"):
            alike.append(one)
    if len(alike) != 1:
        return None
    statement = alike[0]
    return statement if code.in_loop(statement) or code.is_in_function(statement) else None


def _is_meant(story: Diagnosis, statement: ast.Assign, name: str) -> bool:
    """Whether the turns are runs to compare: one setting, one seed or one kept model each."""
    code = story.code
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
            return frozenset(one.id for one in ast.walk(target) if isinstance(one, ast.Name))
        case ast.FunctionDef(args=args):
            return frozenset(one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs))
    return frozenset()


def optimizers_made_anew(story: Diagnosis) -> Iterator[Finding]:
    """An optimizer with a memory that is made again while the same parameters are trained: its memory is gone each time."""
    code = story.code
    steps: dict[tuple[str, str | None], list[Update]] = {}
    for update in story.trace.updates:
        if update.kind == "step" and not update.raised:
            steps.setdefault((receiver(story, update), update.optimizer), []).append(update)
    for (name, kind), own in steps.items():
        fresh = [
            one
            for one in own
            if one.state and all(each.before is None and each.before_text is None for each in one.state)
        ]
        if len(fresh) < 2 or not kind:
            continue
        alike = [one for one in code.bindings if isinstance(one.value, ast.Call) and called(one.value) == kind]
        made = [one for one in alike if dotted(one.targets[0]) == name] or alike
        if len(made) != 1 or not (code.in_loop(made[0]) or code.is_in_function(made[0])):
            continue
        moved = [{story.identity(each.before) for each in one.changes if each.before is not None} for one in fresh]
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
