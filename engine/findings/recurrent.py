"""What recurrent layers return, taken for something else."""

import ast
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, line, times
from engine.ops import DETACHES
from engine.program.names import dotted
from engine.trace import Finding, Op


def last_of_the_pair(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`out, h = lstm(x)` and then `h[-1]`: the last of the pair (h, c) is c, the cell state of all layers."""
    code = diagnosis.code
    shapes = {
        op.span: diagnosis.tensors.get(op.outputs[2]) for op in diagnosis.ops_named(("lstm",)) if len(op.outputs) == 3
    }
    for node in code.nodes if shapes else ():
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or ast.unparse(node.slice) != "-1":
            continue
        call = _pair(diagnosis, node.value) if diagnosis.has_run(node) else None
        cell = shapes.get(code.span(call)) if call is not None else None
        if call is None or cell is None:
            continue
        yield diagnosis.warning(
            "last_of_the_pair",
            node,
            tensors=(cell.id,),
            fix=(code.after(node.value, "[0]"),),
            name=code.short(node.value),
            pair_line=str(call.lineno),
            shape=times(cell),
            layer=code.short(call.func),
        )


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


CELLS = ("gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell")
FEW_STEPS = 3


def state_detached_each_step(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A cell that gets its own last state cut off, at every step that one pass goes back through."""
    steps: dict[tuple[int, str | None], list[Op | None]] = {}
    for op in diagnosis.ops_named(CELLS):
        passes = {diagnosis.visited[node] for node in op.nodes if node in diagnosis.visited}
        for pass_ in passes:
            steps.setdefault((pass_, op.module), []).append(_cut_state(diagnosis, op))
    for (pass_, _), cuts in steps.items():
        later = [cut for cut in cuts[1:] if cut is not None]
        if len(cuts) <= FEW_STEPS or len(later) < len(cuts) - 1:
            continue
        yield diagnosis.warning(
            "state_detached_each_step",
            later[0].span,
            tensors=later[0].inputs[:1],
            count=str(len(cuts)),
            pass_line=line(diagnosis.trace.passes[pass_].span),
        )
        return


def _cut_state(diagnosis: Diagnosis, op: Op) -> Op | None:
    """The `detach` between the last run of a cell and this one."""
    maker = diagnosis.maker.get(op.inputs[1]) if len(op.inputs) > 1 else None
    before = diagnosis.maker.get(maker.inputs[0]) if maker is not None and maker.inputs else None
    is_own = before is not None and (before.name, before.module) == (op.name, op.module)
    return maker if maker is not None and maker.name in DETACHES and is_own else None
