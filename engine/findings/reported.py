"""What the numbers that a program prints are, worked out from the values it read: whatever it is written like."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, argument, grouped, line, numbers_of
from engine.findings.losses import LOSS_FUNCTIONS
from engine.trace import Finding, Op

NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[-+]\d+)?(?![\w.])")
DIGITS = 3
"""Fewer that are not 0 may agree by chance."""
ROUNDING = 1e-4


class _Average(NamedTuple):
    """A printed number that was divided by another count than its parts ask for."""

    place: int
    """Which of the numbers printed."""
    said: str
    right: float
    divided_by: int
    parts: int
    is_mean: bool
    """The parts are means over batches, and not counts of samples."""


def averages_of_the_wrong_count(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The means of batches divided by the count of samples, or counts of samples by that of batches, in what is printed
    after each epoch."""
    trace = diagnosis.trace
    moments = [(at, step) for at, step in enumerate(trace.timeline) if step.kind in ("op", "output")]
    told = ((at, trace.output[step.index]) for at, step in moments if step.kind == "output" and step.index is not None)
    read = ((at, op) for at, step in moments if (op := diagnosis.ops.get(step.op or "")) and op.name == "item")
    reads = grouped(read, lambda each: each[1].span)
    for span, pieces in grouped(told, lambda each: each[1].span).items() if not trace.gaps else ():
        ends = [-1, *(at for at, _ in pieces)]
        for own in reads.values() if len(pieces) > 1 else ():
            turns = [[op for at, op in own if begin < at < end] for begin, end in pairwise(ends)]
            found = [_average(diagnosis, ops, text.text) for ops, (_, text) in zip(turns, pieces, strict=True)]
            known = [each for each in found if each is not None]
            if len(known) < len(found) or len({each.place for each in known}) > 1:
                continue
            yield diagnosis.warning(
                "means_over_samples" if known[0].is_mean else "counts_over_batches",
                span,
                tensors=turns[0][0].inputs[:1],
                said=known[0].said,
                right=f"{known[0].right:.4g}",
                by=str(known[0].divided_by),
                parts=str(known[0].parts),
                read=diagnosis.code.excerpt(own[0][1].span),
                read_line=line(own[0][1].span),
            )


def _average(diagnosis: Diagnosis, reads: Sequence[Op], text: str) -> _Average | None:
    """The number in a text that is the sum of what was read in a turn, divided by what does not go with it."""
    values = [number for op in reads for number in numbers_of(diagnosis.input_of(op))]
    sizes = [_samples(diagnosis, op) for op in reads]
    if len(values) < 2 or len(values) != len(reads) or len(set(sizes)) > 2 or not all(size for _, size in sizes):
        return None
    is_mean, count = sizes[0][0], sum(size for _, size in sizes)
    wrong, right = (count, len(values)) if is_mean else (len(values), count)
    for place, said in enumerate(NUMBER.findall(text)):
        is_told = len(said.replace(".", "").lstrip("0")) >= DIGITS
        scales = (1,) if is_mean else (1, 100)
        if is_told and wrong != right and any(_is(said, scale * sum(values) / wrong) for scale in scales):
            return _Average(place, said, sum(values) / right, wrong, len(values), is_mean)
    return None


def _is(said: str, value: float) -> bool:
    """Whether a number as it was printed is a value, rounded."""
    places = len(said.partition(".")[2].partition("e")[0])
    return abs(float(said) - value) <= (0.51 * 10.0**-places if "e" not in said else 0) + ROUNDING * abs(value)


def _samples(diagnosis: Diagnosis, op: Op) -> tuple[bool, int]:
    """Whether what was read is a mean, and over how many samples it or the count of them was taken; 0 where it is
    neither."""
    maker = diagnosis.origin(op.inputs[0] if op.inputs else None, ("detach", "cpu", "float"))
    given = diagnosis.input_of(maker, 1 if maker.name in LOSS_FUNCTIONS else 0) if maker is not None else None
    if maker is None or given is None or not given.shape:
        return False, 0
    if maker.name in LOSS_FUNCTIONS:
        return True, given.shape[0] if argument(maker, "reduction") == "'mean'" else 0
    before = diagnosis.maker.get(maker.inputs[0])
    return False, given.shape[0] if maker.name == "sum" and before is not None and before.name == "eq" else 0
