"""Two answers of a model that are one, whatever it was asked."""

from collections.abc import Iterator
from itertools import combinations, islice

from engine.findings.diagnosis import LEAST_TURNS, Diagnosis, is_alike, line, near, size_of
from engine.findings.losses import LOSS_FUNCTIONS, PASSING
from engine.trace import Finding, Op, Tensor

MOST_LOSSES = 200


def answers_that_are_one(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Two answers of one call of a model that are held against different targets, and that the same layers computed
    from the same."""
    losses: dict[str, list[Op]] = {}
    for op in islice(sorted(diagnosis.ops_named(LOSS_FUNCTIONS), key=lambda op: diagnosis.op_at[op.id]), MOST_LOSSES):
        answer = _answer(diagnosis, op) if diagnosis.reaches_a_pass(op) else None
        call = diagnosis.call_around(answer) if answer is not None else None
        if call is not None:
            losses.setdefault(call.id, []).append(op)
    turns = list(losses.values())
    pairs = combinations(range(len(turns[0]) if len(turns) >= LEAST_TURNS else 0), 2)
    for one, other in pairs:
        if all(len(turn) > other and _are_one(diagnosis, turn[one], turn[other]) for turn in turns):
            ops = [turns[0][at] for at in (one, other)]
            first, second = (answer for op in ops if (answer := _answer(diagnosis, op)) is not None)
            yield diagnosis.warning(
                "answers_are_one",
                second,
                tensors=(first.outputs[0], second.outputs[0]),
                name=diagnosis.say(ops[0].inputs[0]),
                other=diagnosis.say(ops[1].inputs[0]),
                count=diagnosis.counted(turns),
                loss_line=line(ops[0].span),
                last_line=line(ops[1].span),
                is_one_line=str(int(ops[0].span == ops[1].span)),
            )
            return


def _answer(diagnosis: Diagnosis, loss: Op) -> Op | None:
    """The op of a model that made what a loss is given first."""
    maker = diagnosis.origin(loss.inputs[0], PASSING) if loss.inputs else None
    return maker if maker is not None and maker.module is not None and diagnosis.is_followed(loss.inputs[0]) else None


def _are_one(diagnosis: Diagnosis, one: Op, other: Op) -> bool:
    """Whether two losses are given the same numbers, none of which was computed from the other, and other targets."""
    answers, targets = ([diagnosis.input_of(op, at) for op in (one, other)] for at in (0, 1))
    if one.name != other.name or None in targets or is_alike(*targets) or one.inputs[0] == other.inputs[0]:
        return False
    makers = [answer.outputs[0] for op in (one, other) if (answer := _answer(diagnosis, op)) is not None]
    is_apart = len({*makers}) == 2 and not any(a in near([b], diagnosis.made_from) for a, b in (makers, makers[::-1]))
    return is_apart and _are_equal(diagnosis, *answers)


def _are_equal(diagnosis: Diagnosis, one: Tensor | None, other: Tensor | None) -> bool:
    """Whether two of several numbers each are the same, and computed from the same parameters."""
    if one is None or other is None:
        return False
    is_alone = diagnosis.elements(one.id) < 2 or diagnosis.elements(other.id) < 2
    if is_alone or not size_of(one) or one.shape != other.shape or not is_alike(one, other):
        return False
    return diagnosis.leaves_behind([one.id]) == diagnosis.leaves_behind([other.id])
