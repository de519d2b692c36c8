"""What recurrent layers return, taken for something else."""

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from engine.findings.diagnosis import Diagnosis, is_zero, line, times
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


def states_lost(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A cell that at every step before a pass gets its own last state cut off, or zeros in its place."""
    moments = sorted(
        (diagnosis.pass_step[pass_.id], pass_) for pass_ in diagnosis.ended if pass_.id in diagnosis.pass_step
    )
    runs: dict[tuple[int, str | None], list[Op]] = {}
    for op in diagnosis.ops_named(CELLS):
        at = bisect_left(moments, diagnosis.op_step.get(op.id, -1), key=lambda moment: moment[0])
        if op.nodes and at < len(moments):
            runs.setdefault((at, op.module), []).append(op)
    for (at, _), cells in runs.items():
        if len(cells) <= FEW_STEPS or not any(map(diagnosis.reaches_a_pass, cells)):
            continue
        for code, lost in (("state_detached_each_step", _cut_state), ("state_made_anew", _new_state)):
            makers = [maker for cell in cells[1:] if (maker := lost(diagnosis, cell)) is not None]
            if len(makers) == len(cells) - 1 and (code == "state_detached_each_step" or _unused(diagnosis, cells[:-1])):
                yield diagnosis.warning(
                    code,
                    makers[0].span,
                    tensors=(*makers[0].inputs[:1], *makers[0].outputs[:1])[:1],
                    count=str(len(cells)),
                    cell_line=line(cells[0].span),
                    pass_line=line(moments[at][1].span),
                )
                return


def _new_state(diagnosis: Diagnosis, op: Op) -> Op | None:
    """What made the zeros that a cell gets for its state, for this one step alone."""
    state = diagnosis.input_of(op, 1)
    maker = diagnosis.maker.get(state.id) if state is not None else None
    is_new = maker is not None and is_zero(state) and len(diagnosis.takers.get(maker.outputs[0], ())) == 1
    return maker if is_new else None


def _unused(diagnosis: Diagnosis, cells: Sequence[Op]) -> bool:
    """Whether nothing was computed from what cells gave."""
    return not any(diagnosis.takers.get(output) for cell in cells for output in cell.outputs)


def _cut_state(diagnosis: Diagnosis, op: Op) -> Op | None:
    """The `detach` between the last run of a cell and this one."""
    maker = diagnosis.maker.get(op.inputs[1]) if len(op.inputs) > 1 else None
    before = diagnosis.maker.get(maker.inputs[0]) if maker is not None and maker.inputs else None
    is_own = before is not None and (before.name, before.module) == (op.name, op.module)
    return maker if maker is not None and maker.name in DETACHES and is_own else None
