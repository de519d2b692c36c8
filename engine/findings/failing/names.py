"""Names that do not exist: misspelt, not imported, looked for in the wrong place, or not defined yet."""

import ast
import builtins
import re
from typing import TypeAlias, TypeGuard

from engine.findings.diagnosis import listed, walk
from engine.findings.failing.calls import PROPERTIES, init_misspelt
from engine.findings.failing.case import Case, a, known, only_if
from engine.findings.failing.stand_ins import sample_sets, sketch, split
from engine.findings.failing.values import is_tensor
from engine.program import paste
from engine.program.edits import Edits
from engine.program.names import ALIASES, called, dotted
from engine.program.tree import defined_in
from engine.trace import Finding

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

TENSOR_METHODS = frozenset("unsqueeze squeeze view reshape transpose permute flatten detach clone expand".split())
"""Names that people know as methods of a tensor rather than as functions to import."""
_BINDINGS = (ast.Name, ast.FunctionDef, ast.ClassDef)
_Binding: TypeAlias = ast.Name | ast.FunctionDef | ast.ClassDef
PRINTED = frozenset({"tensor", "array", "Parameter"})
"""What a printed value begins with."""


def pasted(case: Case) -> Finding:
    """What was copied along from a notebook and is valid Python all the same: `In [3]: x = 1`, a printed tensor, a
    sentence."""
    name, statement, where = case.groups["name"], known(case.statement), case.code.span(known(case.statement))
    code, text = case.diagnosis.trace.program.code, case.code.lines[where.line - 1]
    if name in ("In", "Out") and paste.has_prompts(text):
        changes = paste.prompts(code)
        return case.finding("notebook_prompt", span=where, count=str(len(changes)), fix=changes)
    only_if(isinstance(statement, ast.Expr))
    if name in PRINTED and not case.code.is_bound(name) and text.lstrip().startswith(name):
        changes = paste.printed(code, where.line)
        only_if(changes)
        return case.finding("pasted_output", span=where, fix=changes)
    only_if(paste.is_prose(text) and where.line == where.end_line)
    return case.finding("prose_line", text=text.strip()[:24], fix=paste.prose(code, where.line))


def undefined(case: Case) -> Finding:
    """A name that nothing was bound to."""
    name, node = case.groups["name"], case.node
    if stand_ins := sketch(case, name):
        return case.finding("sketch", fix=stand_ins)
    above = case.code.parents.get(node) if node is not None else None
    if name in IMPORTS and not case.code.is_bound(name) and isinstance(above, ast.Attribute):
        return _import_missing(case, IMPORTS[name])
    is_called = isinstance(above, ast.Call) and above.func is node
    if isinstance(above, ast.Call) and called(above) == "super" and not is_called:
        owner = known(case.code.enclosing(above, ast.ClassDef))
        return case.finding("super_of_another", cls=owner.name, fix=(case.code.replace(above, "super()"),))
    if isinstance(node, ast.Name) and _is_attribute_of_self(case, node):
        return case.finding("self_left_out", fix=(case.code.before(node, "self."),))
    at, bound = known(case.failure.span).line, [one for one in _bound(case, name) if case.code.function(one) is None]
    if later := next((one for one in bound if one.lineno >= at), None):
        is_turn = node is not None and not {*case.code.loops(later)}.isdisjoint(case.code.loops(node))
        said = {"defined_line": str(later.lineno), "is_turn": str(int(is_turn))}
        return case.finding("used_to_make_itself" if later.lineno == at else "defined_later", said)
    is_method = case.place != f"torch.{name}" if case.place == "torch.Tensor" else name in TENSOR_METHODS
    if is_called and is_method and name not in PROPERTIES:
        return case.finding("method_without_tensor")
    if case.suggestion and not case.place:
        fix = (case.code.replace(node, case.suggestion),) if case.is_only and isinstance(node, ast.Name) else ()
        return case.finding("name_misspelt", suggestion=case.suggestion, fix=fix)
    module, _, last = case.place.rpartition(".")
    if last == name and not case.code.is_bound(name) and (is_called or _MEANT_AS_IS.match(name)):
        return _import_missing(case, f"from {module} import {last}")
    if name == "self":
        return case.finding("self_undefined")
    skipped = next((str(one.lineno) for one in bound if not case.diagnosis.has_run(one)), "")
    said = {"set_line": skipped, "is_set": str(int(bool(skipped)))}
    return _of_other_function(case, name) or case.finding("name_not_defined", said)


_MEANT_AS_IS = re.compile(r"[A-Z]|b?float\d+$|u?int\d+$|complex\d+$")
"""What is imported by its name without being called: a class, a type of numbers."""


def _bound(case: Case, name: str) -> list[_Binding]:
    """What gives a name its meaning in a function or in the whole program: no class, and no comprehension, which keep
    their names to themselves."""
    code, found = case.code, [node for node in case.code.nodes if _binds(node, name)]
    return [
        node
        for node in found
        if code.enclosing(node, ast.comprehension) is None
        and not isinstance(code.parents.get(code.statement(node) or node), ast.ClassDef)
        and not isinstance(code.parents.get(node), ast.ClassDef)
    ]


def _of_other_function(case: Case, name: str) -> Finding | None:
    """A name that another function assigns, or another method takes, and so has to itself."""
    code, here = case.code, case.code.function(known(case.node))
    taken = [node for node in code.nodes if isinstance(node, ast.arg) and node.arg == name]
    for node in (*_bound(case, name), *taken):
        function = code.function(node)
        cls = code.parents.get(function) if function is not None else None
        is_same = isinstance(cls, ast.ClassDef) and here is not None and code.parents.get(here) is cls
        if isinstance(function, ast.FunctionDef) and function is not here and (is_same or isinstance(node, _BINDINGS)):
            first = [each.args.args[0].arg for each in (function, here) if is_same and each and each.args.args]
            is_kept = len(first) == 2 and first[0] == first[1] and first[0] in ("self", "ctx", "cls")
            said = {"function": function.name, "bound_line": str(node.lineno), "is_method": str(int(is_kept))}
            said["holder"] = first[0] if is_kept else ""
            return case.finding("name_of_other_function", said)
    return None


def _import_missing(case: Case, statement: str) -> Finding:
    """A name that an import gives; `from __future__` must stay first."""
    first = case.code.tree.body[0]
    can_lead = not (isinstance(first, ast.ImportFrom) and first.module == "__future__")
    fix = (case.code.line_above(first, statement),) if can_lead else ()
    return case.finding("import_missing", statement=statement, fix=fix)


def _binds(node: ast.AST, name: str) -> TypeGuard[_Binding]:
    """Whether a node gives the name a meaning."""
    match node:
        case ast.Name(id=found, ctx=ast.Store()) | ast.FunctionDef(name=found) | ast.ClassDef(name=found):
            return found == name
    return False


def _is_attribute_of_self(case: Case, node: ast.Name) -> bool:
    """Whether the class around the failing line has it, in a method that has `self` too."""
    function = case.code.function(node)
    if function is None or not function.args.args or function.args.args[0].arg != "self":
        return False
    cls = case.code.enclosing(function, ast.ClassDef)
    of_class = (one for part in cls.body for one in _targets(part)) if cls is not None else ()
    return cls is not None and (node.id in of_class or node.id in _own(case, cls.name))


def _targets(part: ast.stmt) -> list[str]:
    """What a line of a class gives a meaning to."""
    match part:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [*map(dotted, targets)]
        case ast.AnnAssign(target=target, value=ast.expr()):
            return [dotted(target)]
    return []


def unbound_local(case: Case) -> Finding:
    """A name that the function assigns below, and so is its own everywhere in it."""
    function = a(ast.FunctionDef, case.code.function(known(case.node)))
    inside = (node for node in ast.walk(function) if node is not function)
    name, code = case.groups["name"], case.code
    lines = (node.lineno for node in inside if _binds(node, name))
    around = {code.function(node) for node in _bound(case, name)} - {function}
    is_inner = not around.isdisjoint(code.around(function))
    is_outside = is_inner or None in around or hasattr(builtins, name) or name in code.imported
    said = {"scope": "nonlocal" if is_inner else "global", "is_outside": str(int(is_outside))}
    return case.finding("", said, function=function.name, assigned_line=str(known(next(lines, None))))


def attribute(case: Case) -> Finding:
    """An attribute that a module, a tensor or the user's own object does not have."""
    name, owner = case.facts.get("name", ""), case.facts.get("owner", "")
    if isinstance(case.node, ast.Subscript) and owner == "ParameterDict":
        receiver = case.code.short(case.node.value)
        return case.finding("key_missing", key=repr(name), receiver=receiver, keys="", is_known="0")
    node = a(ast.Attribute, case.node)
    only_if(owner != "None" and name and not name.startswith("_") and node.attr == name)
    common = {"name": name, "owner": owner, "receiver": case.code.short(node.value)}
    if (other := _of_other_module(case, node, common)) is not None:
        return other
    if holder := case.facts.get("inside", ""):
        return _of_what_is_inside(case, node, common, holder)
    if case.place == "torch.Tensor":
        return _method_on_module(case, node, common)
    above = case.code.parents.get(node)
    is_of_tensor = (
        isinstance(above, ast.Call) and above.func is node and any(is_tensor(case, one) for one in above.args)
    )
    if case.place and (not case.is_other_case or is_of_tensor):
        return _elsewhere(case, node, common)
    if (kept := _not_kept(case, owner, name)) is not None:
        return kept
    own = _own(case, owner)
    meant = case.suggestion or next(iter(_within(name, own)), "")
    if meant:
        is_sure = case.is_only or owner == "torch" or (not case.suggestion and len(_within(name, own)) == 1)
        fix = _end_of(case, node, meant) if is_sure else ()
        return case.finding("attribute_misspelt", common, suggestion=meant, fix=fix)
    if name in own:
        return _set_later(case, owner, common)
    if own:
        return case.finding("layer_missing", common, parts=listed(own, most=8))
    return case.finding("attribute_missing", common, is_own=str(int(len(case.code.classes(owner)) == 1)))


def _of_what_is_inside(case: Case, node: ast.Attribute, common: dict[str, str], holder: str) -> Finding:
    """What the object has around which another was made: the model in a DataParallel, the dataset of a Subset."""
    code, receiver, each = case.code, case.code.text(node.value), case.facts.get("each", "")
    inner = f"{receiver}.{holder}"
    right = f"{inner}.{node.attr}"
    if each:
        part = f"{receiver}.indices"
        right = f"{right}[{part}]" if each == "tensor" else f"[{right}[i] for i in {part}]"
    alike = [one for one in code.attributes if ast.dump(one) == ast.dump(node) and isinstance(one.ctx, ast.Load)]
    fix = tuple(code.replace(one, right) for one in alike)
    said = {"inner": inner, "right": right, "is_each": str(int(bool(each)))}
    return case.finding("attribute_inside", common | said, fix=fix)


def _not_kept(case: Case, owner: str, name: str) -> Finding | None:
    """An argument of the constructor that was to be kept under its own name, and never is."""
    classes = case.code.classes(owner)
    made = defined_in(classes[0], "__init__") if len(classes) == 1 else None
    given = [*made.args.args[1:], *made.args.kwonlyargs] if made is not None else []
    if made is None or name in _own(case, owner):
        return None
    local = [one for one in case.code.assignments(name) if case.code.function(one) is made]
    read = [one for one in ast.walk(made) if isinstance(one, ast.Name) and one.id == name]
    if len(local) == len(read) == 1 and isinstance(local[0].value, ast.Call):
        right = f"{made.args.args[0].arg}.{name}"
        renamed = (case.code.replace(local[0].targets[0], right),)
        said = {"name": name, "owner": owner, "right": right}
        return case.finding("layer_not_kept", said, span=case.code.span(local[0]), fix=renamed)
    if not any(each.arg == name for each in given):
        return None
    if any(made in case.code.around(one) and dotted(one.value) == name for one in case.code.bindings):
        return None  # kept, under another name
    right, start = f"{made.args.args[0].arg}.{name} = {name}", made.body[0]
    begun = next((one for one in made.body if isinstance(one, ast.Expr) and "__init__(" in case.code.text(one)), None)
    fix = case.code.line_after(begun, right) if begun is not None else case.code.line_before(start, right)
    said = {"name": name, "owner": owner, "right": right, "init_line": str(made.lineno)}
    return case.finding("argument_not_kept", said, fix=fix)


def _of_other_module(case: Case, node: ast.Attribute, common: dict[str, str]) -> Finding | None:
    """`import torch.nn as F`: an import that gives one module the name that by custom is another's, which has what was
    asked for."""
    alias, code = common["receiver"], case.code
    usual = ALIASES.get(alias, "")
    if not usual or usual == common["owner"] or case.place != f"{usual}.{node.attr}":
        return None
    imports = [each for each in code.nodes if isinstance(each, ast.Import | ast.ImportFrom)]
    given = [each for each in imports if _gives(each, alias, common["owner"])]
    asked = [one.attr for one in code.attributes if dotted(one.value) == alias]
    if len(given) != 1 or len({name[:1].isupper() for name in asked}) != 1:  # else some are of the module that it is
        return None
    said = common | {"usual": usual, "right": IMPORTS[alias]}
    fix = (code.replace(given[0], IMPORTS[alias]),) if len(given[0].names) == 1 else ()
    return case.finding("import_of_other", said, span=code.span(given[0]), fix=fix)


def _gives(statement: ast.Import | ast.ImportFrom, alias: str, module: str) -> bool:
    """Whether an import gives a module a name."""
    inside = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
    return any((f"{inside}{one.name}", one.asname or one.name) == (module, alias) for one in statement.names)


def unmade(case: Case) -> Finding:
    """An attribute that a misspelt constructor would have set."""
    only_if(not case.facts.get("name", "_").startswith("_"))
    classes = case.code.classes(case.facts.get("owner", ""))
    only_if(len(classes) == 1 and defined_in(classes[0], "__init__") is None)
    return init_misspelt(case, classes[0])


def compared_not_set(case: Case) -> Finding:
    """`self.layer == nn.Linear(2, 1)` as a statement of its own, where `=` was meant."""
    code, owner = case.code, case.facts.get("owner", "")
    cls, own = known(code.enclosing(case.node, ast.ClassDef)), _own(case, owner)
    meant: list[ast.Compare] = []
    for node in ast.walk(cls):
        match node:
            case ast.Expr(
                value=ast.Compare(left=ast.Attribute(value=ast.Name(id="self")) as left, ops=[ast.Eq()]) as value
            ):
                meant += [value] if left.attr not in own else []
    here = known(next((each for each in meant if case.node in (each, each.left)), None))
    fix = [code.replace(each, f"{code.text(each.left)} = {code.text(each.comparators[0])}") for each in meant]
    said = {"owner": owner, "name": dotted(here.left), "count": str(len(meant)), "is_several": str(int(len(meant) > 1))}
    return case.finding("compared_not_set", said, fix=fix)


def _set_later(case: Case, owner: str, common: dict[str, str]) -> Finding:
    """An attribute that the class does set, on a line that had not run."""
    sets = (node for node in case.code.attributes if isinstance(node.ctx, ast.Store) and node.attr == common["name"])
    found = known(next((node for node in sets if dotted(node.value) == "self"), None))
    function, here = case.code.function(found), case.code.function(known(case.node))
    only_if(isinstance(function, ast.FunctionDef))
    is_below = function is here and found.lineno > known(case.failure.span).line
    said = {"set_line": str(found.lineno), "function": getattr(function, "name", ""), "is_below": str(int(is_below))}
    return case.finding("attribute_set_later", common | said)


def _own(case: Case, owner: str) -> list[str]:
    """What the program's class of that name sets on its objects, in itself and in those of its own that it is built on,
    and the layers and parameters of its module."""
    module = next((module for module in case.diagnosis.trace.modules if module.type == owner), None)
    classes = [one for base in walk([owner], lambda name: _bases(case, name)) for one in case.code.classes(base)]
    if not classes:
        return []
    parts = (node for one in classes for node in ast.walk(one) if isinstance(node, ast.Attribute))
    own = [node.attr for node in parts if isinstance(node.ctx, ast.Store) and dotted(node.value) == "self"]
    inner = [one.path.rpartition(".")[2] for one in case.diagnosis.trace.modules if module and one.parent == module.id]
    inner = [one for one in inner if one.isidentifier()]  # what no attribute holds has no name
    return [*dict.fromkeys([*own, *inner, *(one.name for one in (module.parameters if module else ()))])]


def _bases(case: Case, name: str) -> list[str]:
    return [dotted(base) for one in case.code.classes(name) for base in one.bases]


def _within(name: str, own: list[str]) -> list[str]:
    """Those that are a name with more words before it, or with fewer: `n_hidden` for `hidden`; `weight_decay` is no
    `weight`."""
    return [one for one in own if one != name and (one.endswith(f"_{name}") or name.endswith(f"_{one}"))]


def _end_of(case: Case, node: ast.Attribute, name: str) -> Edits:
    """Writes another attribute behind the same receiver."""
    return (case.code.replace(node, f"{case.code.text(node.value)}.{name}"),)


def _method_on_module(case: Case, node: ast.Attribute, common: dict[str, str]) -> Finding:
    """`torch.view(x, 6)` can only mean `x.view(6)`; `torch.new_ones(5)` does not say which tensor."""
    found = case.written_as("MODULE.METHOD(FIRST, ...)")
    first = found.part("FIRST") if found is not None else None
    fix: Edits = ()
    if found is not None and isinstance(first, ast.Name) and case.diagnosis.bound_to(first):
        fix = found.instead("FIRST.METHOD" if node.attr in PROPERTIES else "FIRST.METHOD(...)")
    call = node.attr if node.attr in PROPERTIES else f"{node.attr}(...)"
    return case.finding("tensor_method", common, call=call, fix=fix)


_OF_SEVERAL = frozenset(
    "stack cat concat concatenate hstack vstack dstack column_stack row_stack meshgrid block_diag einsum".split()
)
"""Functions of a list of tensors, or of something else first."""


def _elsewhere(case: Case, node: ast.Attribute, common: dict[str, str]) -> Finding:
    """The name exists, in another module of PyTorch."""
    if common["owner"] != "Tensor":
        there = (case.code.replace(node, case.place),) if case.has_torch else ()
        return case.finding("name_elsewhere", common, place=case.place, fix=there)
    found = case.written_as("RECEIVER.METHOD(...)") if node.attr not in _OF_SEVERAL else None
    fix = found.instead(f"{case.place}(RECEIVER, ...)") if found is not None else ()
    return case.finding("function_not_method", common, place=case.place, fix=fix)


def mangled(case: Case) -> Finding:
    """`super().__init()`: two underscores in front and none behind make a private name of the class."""
    node, name = case.node, "__" + case.groups["short"]
    node = a(ast.Attribute, node.func if isinstance(node, ast.Call) else node)
    only_if(node.attr == name)
    return case.finding(short=name, right=f"{name}__", fix=_end_of(case, node, f"{name}__"))


ABSENT = frozenset({"torchvision", "pandas", "matplotlib", "sklearn", "scipy", "tqdm"})
CALLED_OTHERWISE = dict.fromkeys(("pytorch", "Pytorch", "PyTorch", "Torch"), "torch")
CALLED_OTHERWISE |= dict.fromkeys(("Numpy", "NumPy"), "numpy")
"""What people call a library, and the name it is imported by."""


def no_module(case: Case) -> Finding:
    """A library that is not here, or one that is, misspelt or called by another name than it is imported by."""
    name, suggestion = case.groups["name"], case.suggestion
    package = name.partition(".")[0]
    if package in CALLED_OTHERWISE:
        right = CALLED_OTHERWISE[package]
        return case.finding("module_misspelt", name=package, suggestion=right, fix=_imported_as(case, package, right))
    is_near = suggestion and "." not in suggestion and case.is_only and suggestion not in ABSENT
    fix = _imported_as(case, name, suggestion) if is_near and isinstance(case.node, ast.Import) else ()
    if fix:
        return case.finding("module_misspelt", suggestion=suggestion, fix=fix)
    if sets := sample_sets(case) if package == "torchvision" else ():
        return case.finding("sample_set_missing", name=package, fix=sets)
    if written := split(case):
        return case.finding("split_missing", name=package, fix=written)
    return case.finding(name=package)


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
        text += _as(case, name) if alias.asname is None else ""
    return (case.code.replace(statement, text),)


def _as(case: Case, name: str) -> str:
    """The end of an import of something else, for a program that goes on calling it so."""
    is_used = any(isinstance(node, ast.Name) and node.id == name for node in case.code.nodes)
    return f" as {name}" if is_used else ""


def _makes_layers(case: Case, name: str) -> bool:
    """Whether a program calls something as a class of layers is called, with sizes or in a constructor, and not as a
    function that is given tensors."""
    calls = [call for call in case.code.calls if dotted(call.func) == name]
    owners = (case.code.function(call) for call in calls)
    is_constructor = any(owner is not None and owner.name == "__init__" for owner in owners)
    return is_constructor or all(not call.args or isinstance(call.args[0], ast.Constant) for call in calls)


def no_such_import(case: Case) -> Finding:
    """A module that has no such name."""
    name, module, statement = case.groups["name"], case.groups["module"], a(ast.ImportFrom, case.node)
    alias = statement.names[0]
    is_alone = len(statement.names) == 1 and alias.name == name
    if case.suggestion and (not case.place or (case.is_other_case and _makes_layers(case, alias.asname or name))):
        text = f"from {module} import {case.suggestion}{_as(case, alias.asname or name)}"
        fix = (case.code.replace(statement, text),) if is_alone and case.is_only else ()
        return case.finding("import_misspelt", suggestion=case.suggestion, fix=fix)
    if case.place:
        text = f"from {case.place.rpartition('.')[0]} import {name}" + (f" as {alias.asname}" if alias.asname else "")
        fix = (case.code.replace(statement, text),) if is_alone else ()
        return case.finding("import_elsewhere", place=case.place, fix=fix)
    return case.finding()


def key(case: Case) -> Finding:
    """A key that a dictionary does not have."""
    node = a(ast.Subscript, case.node)
    receiver = case.code.short(node.value)
    if not case.suggestion or not isinstance(node.slice, ast.Constant):
        keys = case.facts.get("known", "")
        return case.finding(receiver=receiver, keys=keys, is_known=str(int(bool(keys))))
    fix = (case.code.replace(node.slice, repr(case.suggestion)),) if case.is_only else ()
    return case.finding("key_misspelt", receiver=receiver, suggestion=case.suggestion, fix=fix)
