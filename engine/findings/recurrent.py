"""What recurrent layers return, taken for something else."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, times
from engine.program.names import dotted
from engine.trace import Finding


def last_of_the_pair(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`out, h = lstm(x)` and then `h[-1]`: the last of the pair (h, c) is c, the cell state of all layers."""
    code = diagnosis.code
    shapes = {
        op.span: diagnosis.tensors.get(op.outputs[2]) for op in diagnosis.ops_named(("lstm",)) if len(op.outputs) == 3
    }
    for node in code.nodes if shapes else ():
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or not _is_last(node.slice):
            continue
        if node.lineno in diagnosis.trace.lines_not_run:
            continue
        call = _pair(diagnosis, node.value)
        cell = shapes.get(code.span(call)) if call is not None else None
        if call is None or cell is None:
            continue
        yield diagnosis.finding(
            "last_of_the_pair",
            "warning",
            code.span(node),
            tensors=(cell.id,),
            fix=(code.after(node.value, "[0]"),),
            code=code.short(node),
            name=code.short(node.value),
            pair_line=str(call.lineno),
            shape=times(cell),
            layer=code.short(call.func),
        )


def _is_last(index: ast.expr) -> bool:
    return ast.unparse(index) == "-1"


def _pair(diagnosis: Diagnosis, node: ast.expr) -> ast.Call | None:
    """The call whose second result this is: `lstm(x)[1]`, or a name bound to it last."""
    match node:
        case ast.Subscript(value=ast.Call() as call, slice=index) if ast.unparse(index) in ("1", "-1"):
            return call
    name, code = dotted(node), diagnosis.code
    bound = (
        [statement for statement in code.nodes if isinstance(statement, ast.Assign) and _binds(statement, name)]
        if name
        else []
    )
    same = [assignment for assignment in bound if code.function(assignment) is code.function(node)]
    before = [assignment for assignment in same if assignment.lineno < node.lineno]
    last = max(before or same, key=lambda assignment: assignment.lineno, default=None)
    match last:
        case ast.Assign(targets=[ast.Tuple(elts=[_, second])], value=ast.Call() as call) if dotted(second) == name:
            return call
        case ast.Assign(targets=[target], value=ast.Subscript() as value) if dotted(target) == name:
            return _pair(diagnosis, value)
    return None


def _binds(statement: ast.Assign, name: str) -> bool:
    stored = (node for target in statement.targets for node in ast.walk(target))
    return any(isinstance(node, ast.Name | ast.Attribute) and dotted(node) == name for node in stored)
