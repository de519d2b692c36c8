"""A divergence so much larger than the rest of a loss that only it is trained."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, argument, extent, line, near, numbers_of
from engine.findings.drawn_samples import is_variance
from engine.findings.losses import CLASS_LOSSES
from engine.findings.terms import SCALES, SUMS
from engine.trace import Finding, Op, Pass

LEAST_PASSES = 3
EVEN = 1e-4
OUTWEIGHS = 10
"""How many times as much as a number of the reconstruction one of a divergence weighs that then comes to nothing."""
COLLAPSED = 0.05
"""What is left of a divergence that has won."""


def divergences_that_drown_the_loss(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A reconstruction that is a mean beside a divergence that is a sum: it comes to nothing, and so does the code."""
    for passes in diagnosis.passes_by_place.values():
        pair = [_mean_and_divergence(diagnosis, pass_) for pass_ in (passes[0], passes[-1])]
        if len(passes) < LEAST_PASSES or pair[0] is None or pair[1] is None or pair[0].weight < OUTWEIGHS:
            continue
        began, ended = pair[0], pair[1]
        if ended.value < COLLAPSED * began.value:
            yield diagnosis.warning(
                "divergence_drowns_loss",
                began.term,
                tensors=(*began.term.outputs[:1], *began.mean.outputs[:1]),
                mean=diagnosis.code.excerpt(began.mean.span),
                mean_line=line(began.mean.span),
                count=str(began.over),
                share=str(began.over // (samples := diagnosis.elements(began.term.outputs[0]))),
                is_each=str(int(samples > 1)),
                weight=f"{began.weight:.0f}",
                first=f"{began.value:.3g}",
                last=f"{ended.value:.3g}",
                passes=diagnosis.counted(passes),
            )


class _Beside(NamedTuple):
    """A mean of a loss over so many numbers, the sum of a divergence, what that is, and how many times as much one
    number of it weighs."""

    mean: Op
    over: int
    term: Op
    value: float
    weight: float


def _mean_and_divergence(diagnosis: Diagnosis, pass_: Pass) -> _Beside | None:
    """The two terms of a loss that has two."""
    entered = {visit.node: diagnosis.tensors.get(next(iter(visit.entered), None) or "") for visit in pass_.visits}
    terms = _summands(diagnosis, pass_.roots[0].tensor or "") if len(pass_.roots) == 1 else []
    makers = [diagnosis.origin(term, SCALES - {"sum", "mean"}) for term in terms]
    sums = {at: summed for at, op in enumerate(makers) if (summed := _summed(diagnosis, op)) is not None}
    means = [op for at, op in enumerate(makers) if op is not None and at not in sums and _is_mean(op)]
    if len(terms) != 2 or len(means) != 1 or len(sums) != 1:
        return None
    (at, term), *_ = sums.items()
    slopes = [extent(entered.get(op.nodes[-1])) if op.nodes else None for op in (term, means[0])]
    value = numbers_of(diagnosis.tensors.get(terms[at]))
    if not value or not all(each and each[0] and math.isclose(*each, rel_tol=EVEN) for each in slopes):
        return None
    heavy, light = (abs(each[0]) for each in slopes if each)
    count = diagnosis.elements(means[0].inputs[1 if means[0].name in CLASS_LOSSES else 0])
    return _Beside(means[0], count, term, abs(value[0]), heavy / light * count)


def _is_mean(op: Op) -> bool:
    return op.name == "mean" or argument(op, "reduction") == "'mean'"


def _summed(diagnosis: Diagnosis, op: Op | None) -> Op | None:
    """The sum of a divergence: of all its numbers, or of those of each sample, of which a mean was taken."""
    if op is not None and op.name == "mean":
        op = diagnosis.origin(op.inputs[0], SCALES - {"sum", "mean"})
    return op if op is not None and op.name == "sum" and _is_divergence(diagnosis, op) else None


def _is_divergence(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether it adds up all numbers of a sum that an exponential and a square are terms of."""

    def parts(tensor: str) -> tuple[str, ...]:
        maker = diagnosis.maker.get(tensor)
        return maker.inputs if maker is not None and maker.name in SUMS | SCALES else ()

    behind = (diagnosis.maker.get(each) for each in near(op.inputs, parts))
    makers = [maker for maker in behind if maker is not None]
    has_square = any(maker.name in ("pow", "square") or len({*maker.inputs}) < len(maker.inputs) for maker in makers)
    return has_square and any(maker.name == "exp" and is_variance(diagnosis, maker.outputs[0]) for maker in makers)


def _summands(diagnosis: Diagnosis, root: str) -> list[str]:
    """The single numbers that one is the sum of."""

    def parts(tensor: str) -> Iterator[str]:
        maker = diagnosis.maker.get(tensor)
        if maker is not None and maker.name in SUMS and all(diagnosis.elements(each) == 1 for each in maker.inputs):
            yield from maker.inputs

    return [each for each in near([root], parts) if not any(parts(each))]
