"""Models and optimizers made again for every step: what they learned or remember is gone each time."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, fed_by, grouped, line
from engine.findings.optimizers import calls_bound, receiver
from engine.program.names import called, dotted, names_read
from engine.program.tree import Loop
from engine.trace import Finding, Module, Pass, Update

KEEPERS = frozenset("append add extend insert update put save state_dict deepcopy".split())
"""Calls that keep a model for later: then each one is meant."""
COPIERS = frozenset("load deepcopy copy clone".split())
"""Calls that give a model which has learned already."""
GIVE_THE_MODULE = frozenset("to cuda cpu double float half bfloat16 train eval requires_grad_".split())
"""Methods of `nn.Module` that return the module itself."""


def models_made_anew(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A model made in the turn that trains it: each one takes a single step, from the start again."""
    for turns in diagnosis.passes_by_place.values():
        passes = [pass_ for pass_ in turns if pass_.kind == "backward" and pass_.accumulations]
        roots = [_models(diagnosis, pass_) for pass_ in passes]
        if len(passes) < 2 or any(len(root) != 1 for root in roots):
            continue
        models = [root[0] for root in roots]
        if len({model.id for model in models}) < len(models) or len({(model.path, model.type) for model in models}) > 1:
            continue
        statement = _maker(diagnosis, models[0])
        if statement is None or any(diagnosis.moved.isdisjoint(fed_by(pass_)) for pass_ in passes):
            continue
        if _is_meant(diagnosis, statement, dotted(statement.targets[0])):
            continue
        span = diagnosis.code.span(statement)
        yield diagnosis.finding(
            "model_made_anew",
            "error",
            span,
            name=dotted(statement.targets[0]),
            type=models[0].type,
            count=diagnosis.counted(models),
            pass_line=line(passes[0].span),
        )


def _models(diagnosis: Diagnosis, pass_: Pass) -> list[Module]:
    """The outermost modules whose parameters got gradients."""
    roots = (diagnosis.root_of[leaf] for leaf in fed_by(pass_) if leaf in diagnosis.root_of)
    return list({root.id: root for root in roots}.values())


def _maker(diagnosis: Diagnosis, model: Module) -> ast.Assign | None:
    """The one statement that makes such a model, in the loop or function that is run anew each time."""
    code = diagnosis.code
    alike = [binding for binding in code.bindings if _makes(binding, model)]
    if len(alike) != 1 or not (code.in_loop(alike[0]) or code.is_in_function(alike[0])):
        return None
    return alike[0]


def _makes(binding: ast.Assign, model: Module) -> bool:
    """Whether a statement calls the model's class, or binds the name that leads to the model."""
    name, value = dotted(binding.targets[0]), binding.value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and called(value) in GIVE_THE_MODULE:
        value = value.func.value
    if not isinstance(value, ast.Call):
        return False
    if model.path == name:
        return called(value) not in COPIERS
    return model.path == f"({model.type})" and called(value) == model.type


def _is_meant(diagnosis: Diagnosis, statement: ast.Assign, name: str) -> bool:
    """Whether the turns are runs to compare: one setting, one seed or one kept model each."""
    around = [above for above in diagnosis.code.around(statement) if isinstance(above, Loop | ast.FunctionDef)]
    if not around or not name or any(_tries_settings(diagnosis, above, statement) for above in around[:2]):
        return True
    return any(_keeps(node, name) for node in ast.walk(around[0]))


def _tries_settings(diagnosis: Diagnosis, around: Loop | ast.FunctionDef, statement: ast.Assign) -> bool:
    """Whether a model or an optimizer is made of what is different in each turn."""
    types = {module.type for module in diagnosis.trace.modules} | {step.optimizer for step in diagnosis.steps}
    calls = [node for node in ast.walk(around) if isinstance(node, ast.Call)]
    makers = [statement.value, *(call for call in calls if called(call) in types)]
    varied = _varied(around)
    return any(not varied.isdisjoint(names_read(maker)) for maker in makers)


def _keeps(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call():
            return called(node) == "manual_seed" or (called(node) in KEEPERS and name in names_read(node))
        case ast.Return(value=value) | ast.Yield(value=value) if value is not None:
            return _gives(value, name)
        case ast.Assign(value=value):
            return dotted(value) == name
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
    """An optimizer with a memory that is made again while the same parameters are trained: its memory is gone each
    time."""
    whole = (step for step in diagnosis.steps if step.optimizer and not step.raised)
    for (name, kind), own in grouped(whole, lambda step: (receiver(diagnosis, step), step.optimizer)).items():
        fresh = [step for step in own if _starts_without_memory(step)]
        made = _optimizer_maker(diagnosis, name, kind)
        if len(fresh) < 2 or made is None or not _is_same_beginning(diagnosis, fresh):
            continue
        yield diagnosis.warning(
            "optimizer_made_anew",
            made,
            name=dotted(made.targets[0]),
            type=kind or "",
            count=diagnosis.counted(own),
            times=diagnosis.counted(fresh),
        )


def _starts_without_memory(step: Update) -> bool:
    return bool(step.state) and all(change.before is None and change.before_text is None for change in step.state)


def _optimizer_maker(diagnosis: Diagnosis, name: str, kind: str | None) -> ast.Assign | None:
    """The one statement that makes it, when that runs anew each time."""
    code = diagnosis.code
    alike = calls_bound(diagnosis, kind)
    made = [binding for binding in alike if dotted(binding.targets[0]) == name] or alike
    return made[0] if len(made) == 1 and (code.in_loop(made[0]) or code.is_in_function(made[0])) else None


def _is_same_beginning(diagnosis: Diagnosis, fresh: list[Update]) -> bool:
    """Whether all begin with the same parameters and options; a new beginning with others is meant."""
    first = fresh[0]
    moved = set(diagnosis.changed_by(first))
    return all(step.settings == first.settings and set(diagnosis.changed_by(step)) == moved for step in fresh)
