"""Names that do not exist: misspelt, not imported, looked for in the wrong place, or not defined yet."""

import ast
import re

from engine.findings.failing.calls import PROPERTIES, init_misspelt
from engine.findings.failing.case import Case
from engine.program import paste
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

REMOVED = {"is_mlc", "names", "is_volatile", "volatile", "creator"}
"""Attributes of tensors that older versions had."""


def undefined(case: Case) -> Finding | None:
    """A name that nothing was bound to."""
    name = case.groups["name"]
    facts = case.facts
    pasted = _pasted(case, name)
    if pasted is not None:
        return pasted
    imported = _missing_import(case, name)
    if imported:
        fix = (case.code.line_above(case.code.tree.body[0], imported),) if _can_lead(case) else ()
        return case.finding("import_missing", statement=imported, fix=fix)
    later = _defined_later(case, name)
    if later is not None and case.failure.span is not None and later == case.failure.span.line:
        return case.finding("used_to_make_itself")
    if later is not None:
        return case.finding("defined_later", defined_line=str(later))
    place = facts.get("place", "")
    if place.startswith("torch.Tensor") or (place and _is_method(name) and place == f"torch.{name}"):
        return case.finding("method_without_tensor")
    suggestion = facts.get("suggestion", "")
    if suggestion and not place:
        return _misspelt(case, suggestion)
    if place:
        module, _, last = place.rpartition(".")
        statement = f"from {module} import {last}"
        fix = (case.code.line_above(case.code.tree.body[0], statement),) if _can_lead(case) else ()
        return case.finding("import_missing", statement=statement, fix=fix)
    if name == "self":
        return case.finding("self_undefined")
    if _is_attribute_of_self(case, name) and isinstance(case.node, ast.Name):
        return case.finding("self_left_out", fix=(case.code.before(case.node, "self."),))
    return case.finding("name_not_defined")


def _pasted(case: Case, name: str) -> Finding | None:
    """What was copied along from a notebook and is valid Python all the same: `In [3]: x = 1`, a printed tensor, a
    sentence."""
    span = case.failure.span
    statement = case.statement
    if span is None or statement is None:
        return None
    code = case.diagnosis.trace.program.code
    text = case.code.lines[span.line - 1]
    if name in ("In", "Out") and paste.has_prompts(text):
        changes = paste.prompts(code)
        return case.finding("notebook_prompt", span=case.code.span(statement), count=str(len(changes)), fix=changes)
    alone = isinstance(statement, ast.Expr)
    if (
        alone
        and name in ("tensor", "array", "Parameter")
        and not case.code.is_bound(name)
        and text.lstrip().startswith(name)
    ):
        changes = paste.printed(code, span.line)
        return case.finding("pasted_output", span=case.code.span(statement), fix=changes) if changes else None
    if alone and paste.is_prose(text) and statement.lineno == statement.end_lineno:
        fix = paste.prose(code, span.line)
        return case.finding("prose_line", text=text.strip()[:24], fix=fix)
    return None


def _is_method(name: str) -> bool:
    """Names that people know as methods of a tensor rather than as functions to import."""
    return name in {
        "unsqueeze",
        "squeeze",
        "view",
        "reshape",
        "transpose",
        "permute",
        "flatten",
        "detach",
        "clone",
        "expand",
    }


def _missing_import(case: Case, name: str) -> str:
    return IMPORTS.get(name, "") if not case.code.is_bound(name) else ""


def _can_lead(case: Case) -> bool:
    """Whether a line may stand above the first statement: `from __future__` must stay first."""
    first = case.code.tree.body[0] if case.code.tree.body else None
    return first is not None and not (isinstance(first, ast.ImportFrom) and first.module == "__future__")


def _defined_later(case: Case, name: str) -> int | None:
    """The line below that gives the name its meaning; nothing for one inside another function."""
    span = case.failure.span
    if span is None:
        return None
    for node in case.code.nodes:
        match node:
            case ast.Name(id=found, ctx=ast.Store()) | ast.FunctionDef(name=found) | ast.ClassDef(name=found):
                if found == name and case.code.function(node) is None and node.lineno >= span.line:
                    return node.lineno
    return None


def _misspelt(case: Case, suggestion: str) -> Finding:
    certain = case.facts.get("only") == "yes" and isinstance(case.node, ast.Name)
    fix = (case.code.replace(case.node, suggestion),) if certain and isinstance(case.node, ast.Name) else ()
    return case.finding("name_misspelt", suggestion=suggestion, fix=fix)


def unbound_local(case: Case) -> Finding | None:
    """A name that the function assigns below, and so is its own everywhere in it."""
    name = case.groups["name"]
    function = case.code.function(case.node) if case.node is not None else None
    for node in ast.walk(function) if function is not None else ():
        match node:
            case ast.Name(id=found, ctx=ast.Store()) | ast.FunctionDef(name=found) | ast.ClassDef(name=found):
                if found == name and node is not function and function is not None:
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
    unmade = _never_initialised(case, owner)
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


def _never_initialised(case: Case, owner: str) -> Finding | None:
    """A module of the program whose constructor has another name, so that nothing of what it makes is there."""
    classes = case.code.classes(owner)
    if len(classes) != 1 or defined_in(classes[0], "__init__") is not None:
        return None
    return init_misspelt(case, classes[0])


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
        if _is_tensor_name(case, first):
            words = [case.code.text(argument) for argument in rest] + [
                case.code.text(keyword) for keyword in call.keywords
            ]
            arguments = "" if node.attr in PROPERTIES else f"({', '.join(words)})"
            fix = (case.code.replace(call, f"{case.code.text(first)}.{node.attr}{arguments}"),)
    return case.finding("tensor_method", common, fix=fix)


def _is_tensor_name(case: Case, node: ast.expr) -> bool:
    text = ast.unparse(node)
    return isinstance(node, ast.Name) and any(
        variable.name == text and variable.kind == "tensor" for variable in case.diagnosis.trace.variables
    )


_OF_SEVERAL = frozenset(
    """
    stack cat concat concatenate hstack vstack dstack column_stack row_stack meshgrid block_diag
    broadcast_tensors cartesian_prod einsum
""".split()
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
    node = case.node
    name = "__" + case.groups["short"]
    if isinstance(node, ast.Call):
        node = node.func
    if not isinstance(node, ast.Attribute) or node.attr != name:
        return None
    return case.finding(short=name, right=f"{name}__", mangled=_mangled(case), fix=(_end_of(case, node, f"{name}__"),))


def _is_attribute_of_self(case: Case, name: str) -> bool:
    """Whether the class around the failing line assigns `self.name`, in a method that has `self` too."""
    function = case.code.function(case.node) if case.node is not None else None
    if function is None or not function.args.args or function.args.args[0].arg != "self":
        return False
    cls = case.code.enclosing(function, ast.ClassDef)
    return cls is not None and any(
        cls in case.code.around(assignment) for assignment in case.code.assignments(f"self.{name}")
    )


CALLED_OTHERWISE = {
    "pytorch": "torch",
    "Pytorch": "torch",
    "PyTorch": "torch",
    "Torch": "torch",
    "Numpy": "numpy",
    "NumPy": "numpy",
}
"""What people call a library, and the name it is imported by."""


def _mangled(case: Case) -> str:
    """The name Python looked for, as its message has it."""
    found = re.search(r"no attribute '(\w+)'", case.failure.message)
    return found[1] if found else ""


def no_module(case: Case) -> Finding | None:
    """A library that is not here, or a misspelt one that is."""
    name = case.groups["name"]
    if name.partition(".")[0] in CALLED_OTHERWISE:
        return _called_otherwise(case, name.partition(".")[0])
    suggestion = case.facts.get("suggestion", "")
    statement = case.node
    is_near = suggestion and "." not in suggestion and case.facts.get("only") == "yes"
    if is_near and isinstance(statement, ast.Import) and len(statement.names) == 1 and suggestion not in ABSENT:
        alias = statement.names[0]
        as_name = alias.asname or alias.name
        if alias.name == name:
            fix = (case.code.replace(statement, f"import {suggestion} as {as_name}"),)
            return case.finding("module_misspelt", suggestion=suggestion, fix=fix)
    return case.finding(name=name.partition(".")[0])


def _called_otherwise(case: Case, name: str) -> Finding:
    right, statement = CALLED_OTHERWISE[name], case.node
    fix: tuple[Edit, ...] = ()
    if isinstance(statement, ast.Import) and len(statement.names) == 1:
        alias = statement.names[0]
        bound = alias.asname or (name if _uses(case, name) else "")
        text = f"import {right}{alias.name.removeprefix(name)}"
        if "." not in alias.name or alias.asname:
            fix = (case.code.replace(statement, f"{text} as {bound}" if bound and bound != right else text),)
    elif isinstance(statement, ast.ImportFrom) and statement.module is not None:
        text = case.code.text(statement)
        fix = (case.code.replace(statement, text.replace(f"from {name}", f"from {right}", 1)),)
    return case.finding("module_misspelt", name=name, suggestion=right, fix=fix)


ABSENT = frozenset({"torchvision", "pandas", "matplotlib", "sklearn", "scipy", "tqdm"})


def no_such_import(case: Case) -> Finding | None:
    """A module that has no such name."""
    name, module = case.groups["name"], case.groups["module"]
    suggestion, place = case.facts.get("suggestion", ""), case.facts.get("place", "")
    statement = case.node
    if not isinstance(statement, ast.ImportFrom):
        return None
    alias = next((imported for imported in statement.names if imported.name == name), None)
    only = alias is not None and len(statement.names) == 1
    bound = (alias.asname or alias.name) if alias is not None else name
    if suggestion and (not place or _is_only_case(name, suggestion)):
        text = (
            f"from {module} import {suggestion} as {bound}"
            if _uses(case, bound)
            else f"from {module} import {suggestion}"
        )
        fix = (case.code.replace(statement, text),) if only and case.facts.get("only") == "yes" else ()
        return case.finding("import_misspelt", suggestion=suggestion, fix=fix)
    if place:
        home = place.rpartition(".")[0]
        suffix = f" as {alias.asname}" if alias is not None and alias.asname else ""
        fix = (case.code.replace(statement, f"from {home} import {name}{suffix}"),) if only else ()
        return case.finding("import_elsewhere", place=place, fix=fix)
    return case.finding()


def _uses(case: Case, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in case.code.nodes)


def key(case: Case) -> Finding | None:
    """A key that a dictionary does not have."""
    node = case.node
    suggestion = case.facts.get("suggestion", "")
    if not isinstance(node, ast.Subscript):
        return None
    fix: tuple[Edit, ...] = ()
    if suggestion and case.facts.get("only") == "yes" and isinstance(node.slice, ast.Constant):
        fix = (case.code.replace(node.slice, repr(suggestion)),)
    receiver = case.code.short(node.value)
    if suggestion:
        return case.finding("key_misspelt", receiver=receiver, suggestion=suggestion, fix=fix)
    return case.finding(receiver=receiver)
