"""Where a wrong shape came from: the op that gave an axis its size, and the call that made a layer."""

import ast
from collections.abc import Callable, Iterable

from engine.findings.diagnosis import Diagnosis
from engine.program.names import called
from engine.program.source import source_of
from engine.trace import Op, Span, Tensor


def shape_origin(diagnosis: Diagnosis, tensor: Tensor, failing: Span | None) -> dict[str, str]:
    """What a sentence says of the op that gave a tensor its shape; nothing when that is the failing line's own
    doing."""
    op = _made_so(diagnosis, tensor, lambda given: given.shape == tensor.shape)
    if op is None or op.span is None:
        return {}
    module = diagnosis.modules.get(op.module or "")
    code = diagnosis.code.excerpt(op.span)
    if op.span == failing:
        if module is None:
            return {}
        code = module.path
    said = {"origin_line": str(op.span.line), "origin_code": code, "origin_shape": sizes(tensor.shape)}
    given = next((one for one in _given(diagnosis, op)), None)
    return {**said, "origin_given": sizes(given.shape)} if given is not None else said


def dtype_origin(diagnosis: Diagnosis, tensor: Tensor, failing: Span | None) -> dict[str, str]:
    """The line that gave a tensor its type, when that is another than the failing one."""
    op = typed_by(diagnosis, tensor)
    if op is None or op.span is None or (failing is not None and op.span.line == failing.line):
        return {}
    return {
        "origin_line": str(op.span.line),
        "origin_code": diagnosis.code.excerpt(op.span),
        "origin_dtype": tensor.dtype,
    }


def typed_by(diagnosis: Diagnosis, tensor: Tensor) -> Op | None:
    """The op that gave a tensor its type."""
    return _made_so(diagnosis, tensor, lambda given: given.dtype == tensor.dtype)


def _made_so(diagnosis: Diagnosis, tensor: Tensor, is_so: Callable[[Tensor], bool]) -> Op | None:
    """Back through the ops that were given something that is so already, to the one that made it: of a shape a size of
    one axis may be older, but what was done to the others since is more often what went wrong."""
    op = diagnosis.maker.get(tensor.id)
    while op is not None:
        kept = next(filter(is_so, _given(diagnosis, op)), None)
        if kept is None:
            return op
        maker = diagnosis.maker.get(kept.id)
        op = maker if maker is not op else None
    return None


def _given(diagnosis: Diagnosis, op: Op) -> list[Tensor]:
    """The tensors an op computed with, its weights left out."""
    given = (diagnosis.tensors.get(input_) for input_ in op.inputs)
    return [tensor for tensor in given if tensor is not None and tensor.role != "parameter"]


def sizes(shape: Iterable[int]) -> str:
    """A shape for a sentence."""
    return f"[{', '.join(map(str, shape))}]"


def layer_call(diagnosis: Diagnosis, module: str) -> ast.Call | None:
    """The call in the program that made a module, when there is exactly one."""
    record = diagnosis.modules.get(module)
    if record is None:
        return None
    code, name = source_of(diagnosis.trace.program.code), record.path.rpartition(".")[2]
    parent = diagnosis.modules.get(record.parent or "")
    if parent is None:
        return _only_call([one.value for one in code.assignments(record.path)])
    if parent.type == "Sequential" and name.isdigit():
        around = layer_call(diagnosis, parent.id)
        if around is None or called(around) != "Sequential" or any(isinstance(arg, ast.Starred) for arg in around.args):
            return None
        return _only_call(around.args[int(name) : int(name) + 1])
    classes = code.classes(parent.type)
    made = [one.value for one in code.assignments(f"self.{name}") if classes and classes[0] in code.around(one)]
    return _only_call(made) if len(classes) == 1 else None


def made_alike(diagnosis: Diagnosis, module: str) -> ast.Call | None:
    """The call that makes a layer of a Sequential which a function builds: in the only one written out of the same
    layers in that order."""
    record = diagnosis.modules.get(module)
    parent = diagnosis.modules.get(record.parent or "") if record is not None else None
    if record is None or parent is None or parent.type != "Sequential":
        return None
    types = [one.type for one in diagnosis.trace.modules if one.parent == parent.id]
    calls = [one for one in source_of(diagnosis.trace.program.code).calls if called(one) == "Sequential"]
    alike = [one for one in calls if [called(arg) for arg in one.args if isinstance(arg, ast.Call)] == types]
    name = record.path.rpartition(".")[2]
    is_whole = len(alike) == 1 and len(alike[0].args) == len(types) and name.isdigit() and int(name) < len(types)
    return _only_call([alike[0].args[int(name)]]) if is_whole else None


def made_inside(diagnosis: Diagnosis, module: str) -> ast.Call | None:
    """The call that made a module, or else the nearest part of the model around it, as a function that builds layers
    does."""
    record = diagnosis.modules.get(module)
    while record is not None:
        made = layer_call(diagnosis, record.id)
        if made is not None:
            return made
        record = diagnosis.modules.get(record.parent or "")
    return None


def _only_call(nodes: list[ast.expr]) -> ast.Call | None:
    return nodes[0] if len(nodes) == 1 and isinstance(nodes[0], ast.Call) else None
