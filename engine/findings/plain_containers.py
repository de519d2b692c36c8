"""Layers and parameters kept in a plain list or dict, which hides them from `parameters()`."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, Place, by_number, listed
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.program.source import Source
from engine.trace import Finding, Module, Op

CONTAINERS = {
    **dict.fromkeys((ast.List, ast.ListComp), "nn.ModuleList"),
    **dict.fromkeys((ast.Dict, ast.DictComp), "nn.ModuleDict"),
}
PARAMETER_CONTAINERS = {kind: better.replace("Module", "Parameter") for kind, better in CONTAINERS.items()}
RETURN_SELF = frozenset("to cuda cpu float double half bfloat16 train eval apply requires_grad_".split())
"""Methods of a module that give it back."""
REGISTERS = frozenset("ModuleList ModuleDict ParameterList ParameterDict Sequential".split())


def modules_in_plain_containers(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`self.layers = [nn.Linear(...)]`: a plain list hides its layers from `parameters()`."""
    types = {module.type for module in diagnosis.trace.modules}
    hidden = _hidden(diagnosis)
    for container in plain_containers(diagnosis) if hidden else ():
        if container.model in types:
            yield diagnosis.warning(
                "modules_in_plain_list",
                container.value,
                tensors=hidden,
                fix=wrapped(diagnosis, container),
                **said_of(container),
            )
            return
    apart = _apart(diagnosis, hidden[0]) if hidden else None
    owner = diagnosis.modules.get(apart.parent or "") if apart is not None else None
    filled = (op for op in diagnosis.trace.ops if op.in_place and op.inputs)
    birth = next((op for op in filled if diagnosis.identity(op.inputs[0]) == hidden[0]), None) if owner else None
    made = _made(diagnosis, apart, birth) if apart is not None and birth is not None else None
    if apart is None or owner is None or birth is None or made is None or _is_inside(diagnosis, birth, owner):
        return
    if diagnosis.leaves_of.get(diagnosis.outermost(owner).id, set()).isdisjoint(diagnosis.stepped):
        return
    like = (one for one in diagnosis.trace.modules if one.path.startswith(apart.path))
    names = (f"{one.path}.{own.name}".removeprefix(f"{apart.path}.") for one in like for own in one.parameters)
    yield diagnosis.warning(
        "layers_out_of_sight",
        made,
        tensors=hidden[:8],
        layer=apart.type,
        model=owner.type,
        names=listed([*dict.fromkeys(names)]),
    )


def _apart(diagnosis: Diagnosis, leaf: str) -> Module | None:
    """The module with a parameter, or around one with it, that runs in the forward of another and is no part of it."""
    has = (
        each for each in diagnosis.trace.modules if leaf in {diagnosis.identity(own.tensor) for own in each.parameters}
    )
    module = next(has, None)
    while module is not None and not module.path.endswith(")"):
        module = diagnosis.modules.get(module.parent or "")
    return module


def _is_inside(diagnosis: Diagnosis, birth: Op, owner: Module) -> bool:
    """Whether a layer was made in a forward, anew each time: `layer_made_in_forward` tells that."""
    first = next((call.first_op for call in diagnosis.trace.calls if call.module == owner.id), None)
    return first is not None and diagnosis.op_at[birth.id] >= diagnosis.op_at.get(first, 0)


def _made(diagnosis: Diagnosis, module: Module, birth: Op) -> Place:
    """Where the program makes a module: the one call of its class, or the line that filled a parameter of a library's
    layer."""
    if diagnosis.code.classes(module.type):
        calls = [call for call in diagnosis.code.calls if called(call) == module.type]
        return calls[0] if len(calls) == 1 else None
    return birth.span


class Container(NamedTuple):
    """A list or dict of layers that is an attribute of a module."""

    target: str
    value: ast.expr
    model: str
    better: str
    """The container of PyTorch's that registers what is in it."""


def said_of(container: Container) -> dict[str, str]:
    """What its sentences ask for."""
    kind = "dict" if container.better.endswith("Dict") else "list"
    return {
        "name": container.target,
        "line": str(container.value.lineno),
        "type": kind,
        "is_dict": str(int(kind == "dict")),
        "better": container.better,
        "model": container.model,
    }


def wrapped(diagnosis: Diagnosis, container: Container) -> Edits:
    """The container that registers, around it; one by names where its keys are known to be text."""
    code, value = diagnosis.code, container.value
    keys = value.keys if isinstance(value, ast.Dict) else [value.key] if isinstance(value, ast.DictComp) else []
    if not all(map(_is_text, keys)):
        return ()
    name = code.under_nn(container.better.removeprefix("nn."))
    return (code.before(container.value, f"{name}("), code.after(container.value, ")")) if name else ()


def _is_text(key: ast.expr | None) -> bool:
    is_text = isinstance(key, ast.Constant) and isinstance(key.value, str)
    return is_text or isinstance(key, ast.JoinedStr) or (isinstance(key, ast.Call) and called(key) == "str")


def plain_containers(diagnosis: Diagnosis) -> Iterator[Container]:
    """Lists and dicts of layers that the program's classes keep as they are."""
    code = diagnosis.code
    registered = {
        (code.enclosing(call, ast.ClassDef), dotted(arg.value if isinstance(arg, ast.Starred) else arg))
        for call in code.calls
        if called(call) in REGISTERS
        for arg in call.args
    }
    for statement in code.bindings:
        target = dotted(statement.targets[0])
        owner = code.enclosing(statement, ast.ClassDef)
        if owner is None or not target.startswith("self.") or (owner, target) in registered:
            continue
        held = _held(code, owner, statement.value) or _put_in_later(code, owner, target, statement.value)
        is_parameter = bool(held) and called(held[0]) == "Parameter"
        better = (PARAMETER_CONTAINERS if is_parameter else CONTAINERS).get(_kind(statement.value))
        if held and better is not None:
            yield Container(target, statement.value, owner.name, better)


def _kind(value: ast.expr) -> type[ast.expr]:
    """What kind of container an expression makes."""
    return (
        {"list": ast.List, "dict": ast.Dict}.get(called(value), ast.Call)
        if isinstance(value, ast.Call)
        else type(value)
    )


def _held(code: Source, owner: ast.ClassDef, node: ast.expr) -> list[ast.Call]:
    """The layers or parameters that a list, comprehension or dict is made of."""
    items: list[ast.expr | None] = []
    if isinstance(node, ast.List):
        items = [*node.elts]
    elif isinstance(node, ast.ListComp):
        items = [node.elt]
    elif isinstance(node, ast.Dict):
        items = [*node.values]
    elif isinstance(node, ast.DictComp):
        items = [node.value]
    made = [call for item in items if (call := _layer(code, owner, item)) is not None]
    return made if len(made) == len(items) else []


def _put_in_later(code: Source, owner: ast.ClassDef, target: str, value: ast.expr) -> list[ast.Call]:
    """What is appended to an empty list, or stored in an empty dict, elsewhere in the class."""
    if ast.unparse(value) not in ("[]", "{}", "list()", "dict()"):
        return []
    found: list[ast.Call] = []
    for node in ast.walk(owner):
        match node:
            case ast.Call(func=ast.Attribute(value=kept, attr="append"), args=[made]):
                pass
            case ast.Assign(targets=[ast.Subscript(value=kept)], value=made):
                pass
            case _:
                continue
        layer = _layer(code, owner, made) if dotted(kept) == target else None
        found += [layer] if layer is not None else []
    return found


def _layer(code: Source, owner: ast.ClassDef, node: ast.expr | None) -> ast.Call | None:
    """The call that makes a layer or a parameter, be it given a name first."""
    if isinstance(node, ast.Name):
        inside = (part for part in ast.walk(owner) if isinstance(part, ast.Assign))
        node = next((part.value for part in inside if dotted(part.targets[0]) == node.id), None)
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RETURN_SELF:
        node = node.func.value
    if not isinstance(node, ast.Call):
        return None
    is_own = any(base.endswith("Module") for own in code.classes(called(node)) for base in map(dotted, own.bases))
    is_layer = code.origins.get(called(node)) == "torch.nn" or dotted(node.func).startswith(("nn.", "torch.nn."))
    return node if is_own or is_layer else None


def _hidden(diagnosis: Diagnosis) -> list[str]:
    """Parameters in no module's tree and no optimizer that got gradient, or, in a program without a pass, were computed
    with."""
    trees = (module for module in diagnosis.trace.modules if "(" not in module.path)
    members = {diagnosis.identity(parameter.tensor) for module in trees for parameter in module.parameters}
    fed = diagnosis.fed
    if not diagnosis.trace.passes:
        fed = frozenset(diagnosis.identity(tensor) for op in diagnosis.trace.ops if op.nodes for tensor in op.inputs)
    return sorted(filter(diagnosis.is_parameter, fed - members - diagnosis.held - diagnosis.stepped), key=by_number)
