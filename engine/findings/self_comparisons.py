"""Differences, ratios and distances of a thing and itself, which cannot change."""

from collections.abc import Iterator

from engine.findings.diagnosis import LEAST_TURNS, Diagnosis, grouped, is_alike, size_of
from engine.findings.losses import ELEMENTWISE_LOSSES
from engine.trace import Finding, Op

COMPARING = ("sub", "div", *sorted(ELEMENTWISE_LOSSES))


def compared_with_themselves(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A difference, a ratio or a distance of two things that were computed alike from the same parameters."""
    turns = grouped(diagnosis.ops_named(COMPARING) if diagnosis.steps else (), lambda op: op.span)
    for span, ops in turns.items():
        if span is None or len(ops) < LEAST_TURNS or not all(_is_of_equals(diagnosis, op) for op in ops):
            continue
        if not any(map(diagnosis.reaches_a_pass, ops)):
            continue
        op, other = ops[0], diagnosis.tensors[ops[0].inputs[1]]
        yield diagnosis.warning(
            "compared_with_itself",
            op,
            tensors=tuple(dict.fromkeys(op.inputs[:2])),
            name=diagnosis.say(op.inputs[0]),
            other=diagnosis.say(other.id),
            value="1" if op.name == "div" else "0",
            count=diagnosis.counted(ops),
        )


def _is_of_equals(diagnosis: Diagnosis, op: Op) -> bool:
    one, other = diagnosis.input_of(op), diagnosis.input_of(op, 1)
    if one is None or other is None or not (diagnosis.is_followed(one.id) and diagnosis.is_followed(other.id)):
        return False
    if one.id == other.id:
        return True
    is_alone = diagnosis.elements(one.id) < 2 or diagnosis.elements(other.id) < 2
    if is_alone or not size_of(one) or one.shape != other.shape or not is_alike(one, other):
        return False
    return diagnosis.leaves_behind([one.id]) == diagnosis.leaves_behind([other.id])
