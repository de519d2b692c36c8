"""Terms of a loss so much larger than the others that only they are trained."""

import math
from collections.abc import Container, Iterator
from itertools import takewhile
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, argument, extent, line, near, numbers_of
from engine.findings.drawn_samples import is_variance
from engine.findings.losses import CLASS_LOSSES
from engine.findings.terms import SCALES, SUMS
from engine.trace import Finding, Op, Pass

LEAST_PASSES = 3
MOST_SCALES = 6
EVEN = 1e-4
DROWNS = 100
"""How many times as large as the rest of a loss a penalty is that leaves nothing else to train."""
OUTWEIGHS = 10
"""How many times as much as a number of the reconstruction one of a divergence weighs that then comes to nothing."""
NOT_LEARNT = 0.9
COLLAPSED = 0.05
"""What is left of a divergence that has won."""


def penalties_that_drown_the_loss(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A term of the weights alone, so much larger than the one of the data in every pass that only it is trained."""
    for passes in diagnosis.passes_by_place.values():
        sums = [_data_and_weights(diagnosis, pass_.roots[0].tensor) for pass_ in passes if len(pass_.roots) == 1]
        shares = [each for each in sums if each is not None and each.data > 0]
        if len(shares) < LEAST_PASSES or len(shares) < len(passes):
            continue
        if any(each.weights < DROWNS * each.data for each in shares) or shares[-1].data < NOT_LEARNT * shares[0].data:
            continue
        yield diagnosis.warning(
            "penalty_drowns_loss",
            shares[0].term,
            tensors=shares[0].term.outputs[:1],
            loss=diagnosis.say(passes[0].roots[0].tensor),
            term=diagnosis.say(shares[0].term.outputs[0]),
            weights=f"{shares[0].weights:.4g}",
            first=f"{shares[0].data:.4g}",
            last=f"{shares[-1].data:.4g}",
            count=diagnosis.counted(passes),
        )


class _Shares(NamedTuple):
    """What the weights alone and what the data give to a loss, and the largest term of the former."""

    weights: float
    data: float
    term: Op


def _data_and_weights(diagnosis: Diagnosis, root: str | None) -> _Shares | None:
    """Of a sum of single numbers; None where one is not known or nothing is a penalty."""
    terms = _summands(diagnosis, root or "", ("add",))
    values = {term: numbers_of(diagnosis.tensors.get(term)) for term in terms}
    if len(terms) < 2 or not all(values.values()) or not all(term in diagnosis.maker for term in terms):
        return None
    penalties = [term for term in terms if _is_of_weights(diagnosis, term)]
    sizes = {term: abs(values[term][0]) for term in terms}
    if not penalties or len(penalties) == len(terms):
        return None
    largest = max(penalties, key=lambda term: sizes[term])
    data = sum(size for term, size in sizes.items() if term not in penalties)
    return _Shares(sum(map(sizes.__getitem__, penalties)), data, diagnosis.maker[largest])


def _is_of_weights(diagnosis: Diagnosis, term: str) -> bool:
    """Whether it was computed from parameters and from nothing else."""

    def given(tensor: str) -> tuple[str, ...]:
        return () if diagnosis.is_parameter(tensor) else diagnosis.made_from(tensor)

    ends = [tensor for tensor in near([term], given) if not given(tensor)]
    return bool(ends) and all(map(diagnosis.is_parameter, ends))


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


def divergences_averaged(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A divergence that is a mean over the numbers of a code too, beside a reconstruction that adds up those of a
    sample: it weighs so many times less as a code has numbers."""
    for passes in diagnosis.passes_by_place.values():
        terms = _summands(diagnosis, passes[0].roots[0].tensor or "", SUMS) if len(passes[0].roots) == 1 else []
        ways = [[*takewhile(lambda op: op.name in SCALES, diagnosis.back(term, MOST_SCALES))] for term in terms]
        makers = [diagnosis.origin(term, SCALES, MOST_SCALES) for term in terms]
        if len(terms) != 2 or None in makers or len(passes) < LEAST_PASSES:
            continue
        for (op, way), other in zip(zip(makers, ways, strict=True), reversed(makers), strict=True):
            means = [each for each in way if each.name == "mean"]
            if op is None or other is None or not means or any(each.name == "sum" for each in way):
                continue
            times = _times_lighter(diagnosis, passes[0], op, other) if _is_divergence(diagnosis, means[-1]) else None
            if times is not None:
                yield diagnosis.warning(
                    "divergence_averaged",
                    means[-1],
                    tensors=(*means[-1].outputs[:1], *other.outputs[:1]),
                    latent=str(math.prod(diagnosis.tensors[op.outputs[0]].shape[1:])),
                    times=str(times),
                    other=diagnosis.code.excerpt(other.span),
                    other_line=line(other.span),
                )


def _times_lighter(diagnosis: Diagnosis, pass_: Pass, divergence: Op, other: Op) -> int | None:
    """How many times less a divergence weighs beside a reconstruction than with its bare factor of a half: as many as a
    code has numbers, or as all codes of a batch have."""
    shape, given = diagnosis.tensors[divergence.outputs[0]].shape, diagnosis.tensors[other.inputs[0]].shape
    is_each = diagnosis.tensors[other.outputs[0]].shape == given or argument(other, "reduction") == "'sum'"
    if len(shape) < 2 or shape[0] != given[0] or math.prod(given[1:]) < 2 or not is_each or other.name in CLASS_LOSSES:
        return None
    entered = {visit.node: diagnosis.tensors.get(next(iter(visit.entered), None) or "") for visit in pass_.visits}
    slopes = [extent(entered.get(op.nodes[-1])) if op.nodes else None for op in (divergence, other)]
    if not all(each and each[0] and math.isclose(*each, rel_tol=EVEN) for each in slopes):
        return None
    light, heavy = (abs(each[0]) for each in slopes if each)
    wanted = (math.prod(shape[1:]), math.prod(shape))
    return next((n for n in wanted if n > 1 and math.isclose(heavy / light / 2, n, rel_tol=EVEN)), None)


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
    terms = _summands(diagnosis, pass_.roots[0].tensor or "", SUMS) if len(pass_.roots) == 1 else []
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


def _summands(diagnosis: Diagnosis, root: str, by: Container[str]) -> list[str]:
    """The single numbers that one is made up of by some ops."""

    def parts(tensor: str) -> Iterator[str]:
        maker = diagnosis.maker.get(tensor)
        if maker is not None and maker.name in by and all(diagnosis.elements(each) == 1 for each in maker.inputs):
            yield from maker.inputs

    return [each for each in near([root], parts) if not any(parts(each))]
