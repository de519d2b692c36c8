"""Names of parameters held against words that are only parts of them."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, listed
from engine.program.names import called, dotted, names_read
from engine.trace import Finding, Module

MOST_BACK = 4


def parts_taken_for_names(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`name in ["bias", "norm"]` of the names of `named_parameters()`, which are whole paths: a part of one is never
    equal to it."""
    code = diagnosis.code
    compared = (node for node in code.nodes if isinstance(node, ast.Compare)) if diagnosis.steps else ()
    for node in compared:
        model = _model_of(diagnosis, node) if isinstance(node.ops[0], ast.In | ast.NotIn) else None
        words = _words(diagnosis, node.comparators[0]) if model is not None else []
        names = _names(diagnosis, model) if model is not None and words else []
        parts = [word for word in words if word not in names and any(f".{word}." in f".{name}." for name in names)]
        missed = [name for name in names if any(f".{part}." in f".{name}." for part in parts) and name not in words]
        if missed and diagnosis.has_run(node):
            yield diagnosis.warning(
                "part_taken_for_name",
                node,
                words=listed([repr(part) for part in parts]),
                first=repr(parts[0]),
                names=listed(missed),
                name=code.short(node.left),
                count=str(len(missed)),
            )
            return


def _model_of(diagnosis: Diagnosis, compared: ast.Compare) -> Module | None:
    """The one whose `named_parameters()` give the name that is looked for."""
    name = compared.left.id if isinstance(compared.left, ast.Name) else ""
    beside = diagnosis.code.parents[compared]
    if isinstance(beside, ast.BoolOp) and any(
        name in names_read(each) for each in beside.values if each is not compared
    ):
        return None  # which looks for parts of the name, too
    for above in diagnosis.code.around(compared) if name else ():
        loops = [above] if isinstance(above, ast.For) else getattr(above, "generators", [])
        for loop in loops:
            match loop.target, loop.iter:
                case ast.Tuple(elts=[ast.Name(id=bound), _]), ast.Call(
                    func=ast.Attribute(value=model), args=[]
                ) as call:
                    if bound == name:
                        return _module(diagnosis, model) if called(call) == "named_parameters" else None
    return None


def _module(diagnosis: Diagnosis, node: ast.expr) -> Module | None:
    """The module that an expression names: by its path, or as the one object of the class that made it."""
    code, name = diagnosis.code, diagnosis.code.stands_for(dotted(node), node)
    made = diagnosis.value_of(name) if name else None
    kind = called(made) if isinstance(made, ast.Call) else ""
    named = [module for module in diagnosis.trace.modules if module.path == name]
    known = named or [module for module in diagnosis.trace.modules if module.type == kind and code.classes(kind)]
    return known[0] if len(known) == 1 else None


def _words(diagnosis: Diagnosis, node: ast.expr | None) -> list[str]:
    """The strings of a list that is written out, here or where its name is bound."""
    for _ in range(MOST_BACK):
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
            case ast.Name() | ast.Attribute():
                node = diagnosis.value_of(dotted(node))
    return []


def _names(diagnosis: Diagnosis, model: Module) -> list[str]:
    """What `named_parameters()` calls the parameters of a model."""
    inside = [each for each in diagnosis.trace.modules if f"{each.path}.".startswith(f"{model.path}.")]
    return [f"{each.path}.{member.name}"[len(model.path) + 1 :] for each in inside for member in each.parameters]
