"""Two names for one thing where a copy was meant: targets and averages that are the model itself."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, line
from engine.program.names import dotted
from engine.trace import Finding, Op


def copied_onto_itself(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A tensor written from itself under another name, as a target network is that was never copied."""
    code = diagnosis.code
    for op in diagnosis.ops_named(("copy_", "add_", "lerp_")) if diagnosis.steps else ():
        target, source = diagnosis.input_of(op), diagnosis.input_of(op, 1)
        if target is None or source is None or (target.storage, target.shape) != (source.storage, source.shape):
            continue
        first, second = _names(diagnosis, op)
        if not first or not second or first == second or target.storage is None:
            continue
        bound = ((binding, dotted(binding.targets[0]), dotted(binding.value)) for binding in code.bindings)
        alias = next((binding for binding, *names in bound if sorted(names) == sorted((first, second))), None)
        yield diagnosis.warning(
            "copied_onto_itself",
            code.span(alias) if alias is not None else op.span,
            tensors=(diagnosis.identity(target.id),),
            first=first,
            second=second,
            copy_line=line(op.span),
            code=code.excerpt(op.span),
        )
        return


def _names(diagnosis: Diagnosis, op: Op) -> tuple[str, str]:
    """What a line writes, and what from: two models, or two tensors."""
    match diagnosis.code.call_at(op.span):
        case ast.Call(
            func=ast.Attribute(attr="load_state_dict", value=target),
            args=[ast.Call(func=ast.Attribute(attr="state_dict", value=source))],
        ):
            return dotted(target), dotted(source)
        case ast.Call(func=ast.Attribute(attr=name, value=target), args=[source, *_]) if name == op.name:
            return _tensor(target), _tensor(source)
    return "", ""


def _tensor(node: ast.expr) -> str:
    """The name of the tensor that methods are called on in turn."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return dotted(node).removesuffix(".data")
