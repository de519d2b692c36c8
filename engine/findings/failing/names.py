"""Names that do not exist: misspelt, not imported, looked for in the wrong place, or not defined yet."""

import ast
import re
from typing import TypeGuard

from engine.findings.failing.calls import PROPERTIES, init_misspelt
from engine.findings.failing.case import Case
from engine.program import paste
from engine.program.edits import Edits
from engine.program.tree import defined_in
from engine.trace import Edit, Finding

IMPORTS = {
    "torch": "import torch",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "optim": "from torch import optim",
    "autograd": "from torch import autograd",
    **{name: f"import {name}" for name in
       ("math", "random", "os", "sys", "time", "copy", "re", "json", "itertools", "functools", "collections")},
}  # fmt: skip
"""What programs call things, and the line that makes the name mean that."""

METHODS = frozenset("unsqueeze squeeze view reshape transpose permute flatten detach clone expand".split())
"""Names that people know as methods of a tensor rather than as functions to import."""
PRINTED = frozenset({"tensor", "array", "Parameter"})
"""What a printed value begins with."""
REMOVED = {"is_mlc", "names", "is_volatile", "volatile", "creator"}
"""Attributes of tensors that older versions had."""


def undefined(case: Case) -> Finding | None:
    """A name that nothing was bound to."""
    name, place = case.groups["name"], case.facts.get("place", "")
    suggestion = case.facts.get("suggestion", "")
    pasted = _pasted(case, name)
    if pasted is not None:
        return pasted
    if name in IMPORTS and not case.code.is_bound(name):
        return _import_missing(case, IMPORTS[name])
    later = _defined_later(case, name)
    if later is not None:
        itself = case.failure.span is not None and later == case.failure.span.line
        return case.finding("used_to_make_itself" if itself else "defined_later", defined_line=str(later))
    if place == "torch.Tensor" or (name in METHODS and place == f"torch.{name}"):
        return case.finding("method_without_tensor")
    if suggestion and not place:
        certain = case.facts.get("only") == "yes" and isinstance(case.node, ast.Name)
        fix = (case.code.replace(case.node, suggestion),) if certain and isinstance(case.node, ast.Name) else ()
        return case.finding("name_misspelt", suggestion=suggestion, fix=fix)
    if place:
        module, _, last = place.rpartition(".")
        return _import_missing(case, f"from {module} import {last}")
    if name == "self":
        return case.finding("self_undefined")
    if _is_attribute_of_self(case, name) and isinstance(case.node, ast.Name):
        return case.finding("self_left_out", fix=(case.code.before(case.node, "self."),))
    return case.finding("name_not_defined")


def _import_missing(case: Case, statement: str) -> Finding:
    """A name that an import gives; `from __future__` must stay first."""
    first = case.code.tree.body[0]
    can_lead = not (isinstance(first, ast.ImportFrom) and first.module == "__future__")
    fix = (case.code.line_above(first, statement),) if can_lead else ()
    return case.finding("import_missing", statement=statement, fix=fix)


def _pasted(case: Case, name: str) -> Finding | None:
    """What was copied along from a notebook and is valid Python all the same: `In [3]: x = 1`, a printed tensor, a
    sentence."""
    span, statement = case.failure.span, case.statement
    if span is None or statement is None:
        return None
    code, text = case.diagnosis.trace.program.code, case.code.lines[span.line - 1]
    where = case.code.span(statement)
    if name in ("In", "Out") and paste.has_prompts(text):
        changes = paste.prompts(code)
        return case.finding("notebook_prompt", span=where, count=str(len(changes)), fix=changes)
    if not isinstance(statement, ast.Expr):
        return None
    if name in PRINTED and not case.code.is_bound(name) and text.lstrip().startswith(name):
        changes = paste.printed(code, span.line)
        return case.finding("pasted_output", span=where, fix=changes) if changes else None
    if paste.is_prose(text) and where.line == where.end_line:
        return case.finding("prose_line", text=text.strip()[:24], fix=paste.prose(code, span.line))
    return None


def _defined_later(case: Case, name: str) -> int | None:
    """The line below that gives the name its meaning; nothing for one inside another function."""
    span = case.failure.span
    found = (node for node in case.code.nodes if _binds(node, name) and case.code.function(node) is None)
    return next((node.lineno for node in found if span is not None and node.lineno >= span.line), None)


def _binds(node: ast.AST, name: str) -> TypeGuard[ast.Name | ast.FunctionDef | ast.ClassDef]:
    """Whether a node gives the name a meaning."""
    match node:
        case ast.Name(id=found, ctx=ast.Store()) | ast.FunctionDef(name=found) | ast.ClassDef(name=found):
            return found == name
    return False


def unbound_local(case: Case) -> Finding | None:
    """A name that the function assigns below, and so is its own everywhere in it."""
    function = case.code.function(case.node) if case.node is not None else None
    inside = ast.walk(function) if isinstance(function, ast.FunctionDef) else ()
    for node in inside:
        if node is not function and _binds(node, case.groups["name"]) and isinstance(function, ast.FunctionDef):
            return case.finding(function=function.name, assigned_line=str(node.lineno))
    return None


def attribute(case: Case) -> Finding | None:
    """An attribute that a module, a tensor or the user's own object does not have."""
    name, owner = case.facts.get("name", ""), case.facts.get("owner", "")
    suggestion, place = case.facts.get("suggestion", ""), case.facts.get("place", "")
    node = case.node
    if isinstance(node, ast.Subscript) and owner == "ParameterDict":
        return case.finding("key_missing", key=repr(name), receiver=case.code.short(node.value))
    if owner == "None" or not name or name.startswith("_") or not isinstance(node, ast.Attribute) or node.attr != name:
        return None
    common = {"name": name, "owner": owner, "receiver": case.code.short(node.value)}
    classes = case.code.classes(owner)
    if len(classes) == 1 and defined_in(classes[0], "__init__") is None:
        unmade = init_misspelt(case, classes[0])
        if unmade is not None:
            return unmade
    if place == "torch.Tensor":
        return _method_on_module(case, node, common)
    if owner == "Tensor" and name in REMOVED:
        return case.finding("attribute_removed", common)
    if place and not _is_only_case(name, suggestion):
        return _elsewhere(case, node, place, common)
    if suggestion:
        fix = (_end_of(case, node, suggestion),) if case.facts.get("only") == "yes" or owner == "torch" else ()
        return case.finding("attribute_misspelt", common, suggestion=suggestion, fix=fix)
    parts = _parts(case, owner)
    if parts:
        return case.finding("layer_missing", common, parts=parts)
    return case.finding("attribute_missing", common)


def _parts(case: Case, owner: str) -> str:
    """The layers and parameters that the program's module of that class has, for a sentence."""
    modules = [module for module in case.diagnosis.trace.modules if module.type == owner]
    if not modules or not case.code.classes(owner):
        return ""
    inner = [
        module.path.rpartition(".")[2] for module in case.diagnosis.trace.modules if module.parent == modules[0].id
    ]
    return ", ".join([*inner, *(parameter.name for parameter in modules[0].parameters)][:8])


def _is_only_case(name: str, suggestion: str) -> bool:
    """`nn.linear`: the class in the same place is meant rather than the function elsewhere."""
    return bool(suggestion) and name.lower() == suggestion.lower()


def _end_of(case: Case, node: ast.Attribute, name: str) -> Edit:
    """Writes another attribute behind the same receiver."""
    return case.code.replace(node, f"{case.code.text(node.value)}.{name}")


def _method_on_module(case: Case, node: ast.Attribute, common: dict[str, str]) -> Finding:
    """`torch.view(x, 6)` can only mean `x.view(6)`; `torch.new_ones(5)` does not say which tensor."""
    call = case.code.parents.get(node)
    fix: tuple[Edit, ...] = ()
    if isinstance(call, ast.Call) and call.func is node and call.args:
        first, *rest = call.args
        if isinstance(first, ast.Name) and case.diagnosis.bound_to(first):
            words = [*map(case.code.text, rest), *map(case.code.text, call.keywords)]
            arguments = "" if node.attr in PROPERTIES else f"({', '.join(words)})"
            fix = (case.code.replace(call, f"{case.code.text(first)}.{node.attr}{arguments}"),)
    return case.finding("tensor_method", common, fix=fix)


_OF_SEVERAL = frozenset(
    "stack cat concat concatenate hstack vstack dstack column_stack row_stack meshgrid block_diag einsum".split()
)
"""Functions of a list of tensors, or of something else first."""


def _elsewhere(case: Case, node: ast.Attribute, place: str, common: dict[str, str]) -> Finding:
    """The name exists, in another module of PyTorch."""
    if common["owner"] == "Tensor":
        call = case.code.parents.get(node)
        fix: tuple[Edit, ...] = ()
        takes_one = node.attr not in _OF_SEVERAL
        if isinstance(call, ast.Call) and call.func is node and takes_one and case.code.is_bound("torch"):
            words = [case.code.text(node.value), *map(case.code.text, call.args), *map(case.code.text, call.keywords)]
            fix = (case.code.replace(call, f"{place}({', '.join(words)})"),)
        return case.finding("function_not_method", common, place=place, fix=fix)
    fix = (case.code.replace(node, place),) if case.code.is_bound("torch") else ()
    return case.finding("name_elsewhere", common, place=place, fix=fix)


def mangled(case: Case) -> Finding | None:
    """`super().__init()`: two underscores in front and none behind make a private name of the class."""
    node, name = case.node, "__" + case.groups["short"]
    node = node.func if isinstance(node, ast.Call) else node
    if not isinstance(node, ast.Attribute) or node.attr != name:
        return None
    return case.finding(short=name, right=f"{name}__", fix=(_end_of(case, node, f"{name}__"),))


def _is_attribute_of_self(case: Case, name: str) -> bool:
    """Whether the class around the failing line assigns `self.name`, in a method that has `self` too."""
    function = case.code.function(case.node) if case.node is not None else None
    if function is None or not function.args.args or function.args.args[0].arg != "self":
        return False
    cls = case.code.enclosing(function, ast.ClassDef)
    return cls is not None and any(
        cls in case.code.around(assignment) for assignment in case.code.assignments(f"self.{name}")
    )


ABSENT = frozenset({"torchvision", "pandas", "matplotlib", "sklearn", "scipy", "tqdm"})
CALLED_OTHERWISE = dict.fromkeys(("pytorch", "Pytorch", "PyTorch", "Torch"), "torch")
CALLED_OTHERWISE |= dict.fromkeys(("Numpy", "NumPy"), "numpy")
"""What people call a library, and the name it is imported by."""


def no_module(case: Case) -> Finding | None:
    """A library that is not here, or one that is, misspelt or called by another name than it is imported by."""
    name, suggestion = case.groups["name"], case.facts.get("suggestion", "")
    package = name.partition(".")[0]
    if package in CALLED_OTHERWISE:
        right = CALLED_OTHERWISE[package]
        return case.finding("module_misspelt", name=package, suggestion=right, fix=_imported_as(case, package, right))
    is_near = suggestion and "." not in suggestion and case.facts.get("only") == "yes" and suggestion not in ABSENT
    fix = _imported_as(case, name, suggestion) if is_near and isinstance(case.node, ast.Import) else ()
    return case.finding("module_misspelt", suggestion=suggestion, fix=fix) if fix else case.finding(name=package)


def _imported_as(case: Case, name: str, right: str) -> Edits:
    """The import of the right module, under the name that the program uses."""
    statement = case.node
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return ()
    text = re.sub(rf"\b{re.escape(name)}\b", right, case.code.text(statement), count=1)
    if isinstance(statement, ast.Import):
        alias = statement.names[0]
        if len(statement.names) > 1 or ("." in alias.name and alias.asname is None):
            return ()
        text += f" as {name}" if alias.asname is None and _uses(case, name) else ""
    return (case.code.replace(statement, text),)


def no_such_import(case: Case) -> Finding | None:
    """A module that has no such name."""
    name, module, statement = case.groups["name"], case.groups["module"], case.node
    suggestion, place = case.facts.get("suggestion", ""), case.facts.get("place", "")
    if not isinstance(statement, ast.ImportFrom):
        return None
    alias = statement.names[0]
    only = len(statement.names) == 1 and alias.name == name
    if suggestion and (not place or _is_only_case(name, suggestion)):
        bound = alias.asname or name
        text = f"from {module} import {suggestion}" + (f" as {bound}" if _uses(case, bound) else "")
        fix = (case.code.replace(statement, text),) if only and case.facts.get("only") == "yes" else ()
        return case.finding("import_misspelt", suggestion=suggestion, fix=fix)
    if place:
        suffix = f" as {alias.asname}" if alias.asname else ""
        text = f"from {place.rpartition('.')[0]} import {name}{suffix}"
        fix = (case.code.replace(statement, text),) if only else ()
        return case.finding("import_elsewhere", place=place, fix=fix)
    return case.finding()


def _uses(case: Case, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in case.code.nodes)


def key(case: Case) -> Finding | None:
    """A key that a dictionary does not have."""
    node, suggestion = case.node, case.facts.get("suggestion", "")
    if not isinstance(node, ast.Subscript):
        return None
    receiver = case.code.short(node.value)
    if not suggestion:
        return case.finding(receiver=receiver)
    certain = case.facts.get("only") == "yes" and isinstance(node.slice, ast.Constant)
    fix = (case.code.replace(node.slice, repr(suggestion)),) if certain else ()
    return case.finding("key_misspelt", receiver=receiver, suggestion=suggestion, fix=fix)
