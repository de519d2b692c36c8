"""States of recurrent cells that are lost on their way from step to step."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from engine.findings.diagnosis import Diagnosis, is_zero, line
from engine.ops import DETACHES
from engine.trace import Finding, Op

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
