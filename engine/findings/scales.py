"""Predictions of another size than their targets, which training hardly brings nearer. The recorded values tell,
however they were scaled."""

from collections.abc import Iterator, Sequence
from statistics import median

from engine.findings.diagnosis import Diagnosis, extent, grouped, is_zero, numbers_of, share_outside, size_of
from engine.findings.gradient_flow import stuck
from engine.findings.losses import ELEMENTWISE_LOSSES, last_maker, said_at
from engine.trace import Finding, Op, Pass, Tensor

LARGE = 5.0
"""Targets below it, as noise of deviation 1 is, are of the size that layers give by themselves."""
APART = 20
"""How many times larger or smaller numbers are of other units, and not only of other samples."""
SOME_WAY = 0.01
"""Which part of the way to its targets a model that is only trained for too short has gone."""
RARE = 0.05
"""The share of a batch that outliers stay below."""


def _end(tensor: Tensor | None, at: int) -> str:
    """Its smallest number, or its largest, for a sentence."""
    ends = extent(tensor)
    return f"{ends[at]:.3g}" if ends is not None else ""


def targets_too_far(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Distances between predictions and targets far larger than what a model has come to give in a training that hardly
    got nearer."""
    behind = {
        root.tensor
        for passes in stuck(diagnosis)
        if _has_slope(diagnosis, passes[-1]) and all(move.kind == "step" for move in diagnosis.moves)
        for pass_ in passes
        for root in pass_.roots
    }
    ops = sorted(diagnosis.ops_named(ELEMENTWISE_LOSSES), key=lambda op: diagnosis.op_at[op.id]) if behind else []
    far_off = {span for span, turns in grouped(ops, lambda op: op.span).items() if _stay_beyond(diagnosis, turns)}
    for op in ops if diagnosis.steps else ():
        predicted, target, _ = _compared(diagnosis, op)
        near = size_of(predicted)
        if predicted is None or target is None or not near or op.span not in far_off:
            continue
        if _is_beyond(target, near) and behind.intersection(op.outputs):
            yield diagnosis.warning(
                "targets_too_far",
                op,
                tensors=(predicted.id, target.id),
                name=said_at(diagnosis, op, target),
                predicted=diagnosis.say(predicted.id),
                low=_end(target, 0),
                high=_end(target, 1),
                given_low=_end(predicted, 0),
                given_high=_end(predicted, 1),
            )


def _has_slope(diagnosis: Diagnosis, pass_: Pass) -> bool:
    """Whether every weight got more than zeros: else it is not the distance that keeps the model where it is."""
    deltas = (diagnosis.tensors.get(added.delta or "") for added in pass_.accumulations)
    return not any(is_zero(delta) for delta in deltas)


def _stay_beyond(diagnosis: Diagnosis, turns: Sequence[Op]) -> bool:
    """Whether most targets of a loss are far from the predictions, and not those of a few turns, as at the end of a
    game; and these have gone so little of the way that it is not only a short training."""
    pairs = [_compared(diagnosis, op)[:2] for op in turns]
    sizes = [(size_of(predicted) or 0.0, target) for predicted, target in pairs if target is not None]
    gone = sizes[-1][0] - sizes[0][0] if sizes else 0.0
    is_slow = bool(sizes) and gone <= SOME_WAY * (size_of(sizes[-1][1]) or 0.0)
    return is_slow and 2 * sum(_is_beyond(target, near) for near, target in sizes if near) > len(sizes)


def _is_beyond(tensor: Tensor, near: float) -> bool:
    """Whether its numbers are far larger than others of a size, and not a few outliers among them alone."""
    least = max(APART * near, LARGE)
    numbers = numbers_of(tensor)
    if numbers:
        return median(map(abs, numbers)) >= least
    return (size_of(tensor) or 0.0) >= least and share_outside(tensor, -least, least) >= RARE


def _compared(diagnosis: Diagnosis, op: Op) -> tuple[Tensor | None, Tensor | None, str]:
    """What a model gave, what it is held against, and the model."""
    for at in (0, 1):
        predicted, target = diagnosis.input_of(op, at), diagnosis.input_of(op, 1 - at)
        maker = last_maker(diagnosis, predicted)
        call = diagnosis.call_around(maker) if maker is not None and maker.module is not None else None
        if call is not None and target is not None and not target.requires_grad:
            return predicted, target, call.module
    return None, None, ""
