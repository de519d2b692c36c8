"""Losses held against what each of their arguments has to be: log-probabilities, probabilities, signs, logarithms of
rates; and scores cut as if they were probabilities. The recorded values tell, whatever the program calls them."""

import ast
import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from engine.findings.class_axis import CONVOLUTIONS
from engine.findings.diagnosis import Diagnosis, argument, extent, line, number, numbers_of
from engine.findings.losses import CLASS_LOSSES, MADE_BY_LAYERS, PASSING, last_maker, logarithms, said_at
from engine.ops import DETACHES
from engine.program.edits import Edits
from engine.trace import Finding, Op, Tensor

NEARLY = 1e-3
"""More than what is added to a probability, to keep its logarithm finite, takes it above 1."""
_IN_TOTAL = 1.01
ABOVE_ZERO = ("exp", "softplus")
"""Ops whose results are rates or scales, and no logarithms of them."""
CUTS = frozenset("gt ge lt le round".split())
MIDDLE = 0.5
Test: TypeAlias = "Callable[[Diagnosis, Op, Tensor], bool]"


class _Rule(NamedTuple):
    """What one argument of a loss may not be."""

    code: str
    at: int
    is_wrong: Test


def _above_zero(diagnosis: Diagnosis, _: Op, given: Tensor) -> bool:
    """No logarithm of a probability is above 0; times a reward it may be."""
    ends, maker = extent(given), diagnosis.origin(given.id, PASSING | {"mul"})
    return ends is not None and ends[1] > NEARLY and (maker is None or maker.name != "log_softmax")


def _below_zero(_: Diagnosis, op: Op, target: Tensor) -> bool:
    ends = extent(target)
    return ends is not None and ends[0] < 0 and argument(op, "log_target") != "True"


def _has_blank(diagnosis: Diagnosis, op: Op, target: Tensor) -> bool:
    """Whether a text of CTC has its blank as a symbol, padding beyond its length aside."""
    symbols, blank = numbers_of(target), float(argument(op, "blank", 4) or 0)
    given = diagnosis.input_of(op, 3)
    written = re.findall(r"\d+", argument(op, "target_lengths", 3))
    lengths = [int(length) for length in (numbers_of(given) if given is not None else written)]
    if len(target.shape) == 1 or not lengths:
        return blank in symbols
    width = target.shape[1]
    return any(blank in symbols[row * width :][:length] for row, length in enumerate(lengths))


def _no_fraction(_: Diagnosis, op: Op, target: Tensor) -> bool:
    """Neither 0 nor 1 nor between; a target that weights or a mask may leave out can be any number."""
    ends, weights = extent(target), [each for each in op.arguments if each.name == "weight" and each.tensor]
    is_whole = argument(op, "reduction") != "'none'" and not weights
    return ends is not None and is_whole and not -NEARLY <= ends[0] <= ends[1] <= 1 + NEARLY


def _without_signs(_: Diagnosis, __: Op, target: Tensor) -> bool:
    """Labels 0 and 1 where −1 and 1 are asked for."""
    return extent(target) in ((0.0, 1.0), (0.0, 0.0))


def _is_rate(diagnosis: Diagnosis, op: Op, given: Tensor) -> bool:
    maker = last_maker(diagnosis, given)
    return maker is not None and maker.name in ABOVE_ZERO and argument(op, "log_input") != "False"


def _is_swapped(diagnosis: Diagnosis, op: Op, target: Tensor) -> bool:
    given = diagnosis.input_of(op)
    return given is not None and target.requires_grad and not given.requires_grad


def _shares_one(diagnosis: Diagnosis, op: Op, target: Tensor) -> bool:
    """Probabilities of a softmax, which add up to 1 in each row, against rows with several ones."""
    given, maker = diagnosis.input_of(op), last_maker(diagnosis, diagnosis.input_of(op))
    is_softmax = op.name == "cross_entropy" or (maker is not None and maker.name == "softmax")
    if given is None or not is_softmax or target.shape != given.shape or len(target.shape) != 2 or target.shape[1] < 2:
        return False
    numbers, summary, total = numbers_of(target), target.summary, _total(target) or 0.0
    are_labels = set(numbers) == {0.0, 1.0} or (summary is not None and _are_labels(target))
    return are_labels and total > target.shape[0] * (1 + NEARLY)


def _are_labels(target: Tensor) -> bool:
    """Whether all numbers are 0 or 1, by their figures: then the sum is that of the squares."""
    summary = target.summary
    count = target.shape[0] * target.shape[1]
    if summary is None or (summary.min, summary.max) != (0, 1):
        return False
    ones = count - summary.zeros
    return abs(float(summary.norm) ** 2 - ones) < 0.01 * ones and abs(float(summary.mean) * count - ones) < 0.01 * ones


def _no_shares(diagnosis: Diagnosis, op: Op, target: Tensor) -> bool:
    """Decimal targets that are no probabilities of classes; one number a sample is a weight, and none is padding."""
    given, ends, total = diagnosis.input_of(op), extent(target), _total(target)
    if (
        given is None
        or ends is None
        or total is None
        or target.shape != given.shape
        or not target.dtype.startswith("float")
    ):
        return False
    numbers, zeros = numbers_of(target), target.summary.zeros if target.summary is not None else 0
    filled = math.prod(target.shape) - (numbers.count(0) if numbers else zeros)
    samples = _samples(target)
    return filled > samples and (ends[0] < -NEARLY or total > samples * _IN_TOTAL)


def _total(target: Tensor) -> float | None:
    numbers, summary = numbers_of(target), target.summary
    if numbers:
        return sum(numbers)
    return float(summary.mean) * math.prod(target.shape) if summary is not None else None


def _samples(target: Tensor) -> int:
    """How many answers a target of class probabilities holds."""
    return math.prod(target.shape) // target.shape[min(1, len(target.shape) - 1)]


_LOGARITHMS = _Rule("nll_without_log_softmax", 0, _above_zero)
_LABELS = (_Rule("loss_arguments_swapped", 1, _is_swapped), _Rule("bce_target_outside", 1, _no_fraction))
_ONE_CLASS = _Rule("softmax_of_several_labels", 1, _shares_one)
_SHARES = _Rule("targets_no_probabilities", 1, _no_shares)

RULES: dict[str, tuple[_Rule, ...]] = {
    "nll_loss": (_LOGARITHMS,),
    "ctc_loss": (_LOGARITHMS, _Rule("blank_among_targets", 1, _has_blank)),
    "cross_entropy": (_ONE_CLASS, _SHARES),
    "kl_div": (_Rule("kl_of_probabilities", 0, _above_zero), _Rule("kl_target_logarithms", 1, _below_zero)),
    "binary_cross_entropy": (*_LABELS, _ONE_CLASS),
    "binary_cross_entropy_with_logits": _LABELS,
    "multilabel_soft_margin_loss": _LABELS,
    "cosine_embedding_loss": (_Rule("target_without_signs", 2, _without_signs),),
    "margin_ranking_loss": (_Rule("target_without_signs", 2, _without_signs),),
    "hinge_embedding_loss": (_Rule("target_without_signs", 1, _without_signs),),
    "soft_margin_loss": (_Rule("target_without_signs", 1, _without_signs),),
    "poisson_nll_loss": (_Rule("rate_for_its_logarithm", 0, _is_rate),),
}
"""For each loss what its arguments may not be, in the order in which it is asked."""


def losses_given_something_else(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Arguments that a loss takes without an error, and that are not what it computes with."""
    for op in diagnosis.ops_named(RULES):
        found = _broken(diagnosis, op) if op.span is not None else None
        if found is not None:
            yield _said(diagnosis, op, *found)


def _broken(diagnosis: Diagnosis, op: Op) -> tuple[_Rule, Tensor] | None:
    for rule in RULES[op.name]:
        given = diagnosis.input_of(op, rule.at)
        if given is not None and rule.is_wrong(diagnosis, op, given):
            return rule, given
    return None


def _said(diagnosis: Diagnosis, op: Op, rule: _Rule, given: Tensor) -> Finding:
    is_swapped = rule.code == "loss_arguments_swapped"
    shown, other = (diagnosis.input_of(op) or given, given) if is_swapped else (given, diagnosis.input_of(op, 1))
    low, high = extent(shown) or (0.0, 0.0)
    maker = last_maker(diagnosis, diagnosis.input_of(op))
    is_logarithms = other is not None and _below_zero(diagnosis, op, other) and not _above_zero(diagnosis, op, other)
    is_exchanged = rule.code == "kl_of_probabilities" and is_logarithms and low >= 0 and high <= 1 + NEARLY
    return diagnosis.warning(
        rule.code,
        op,
        tensors=op.inputs[:2] if op.name not in CLASS_LOSSES else op.inputs[:1],
        fix=logarithms(diagnosis, op) if rule is _LOGARITHMS else _exchanged(diagnosis, op) if is_exchanged else (),
        is_exchanged=str(int(is_exchanged)),
        loss=op.name,
        name=said_at(diagnosis, op, shown),
        other=diagnosis.say(other.id if other is not None else None),
        low=f"{low:.4g}",
        high=f"{high:.4g}",
        op=maker.name if maker is not None else "",
        op_line=line(maker.span if maker is not None else None),
        total=f"{(_total(given) or 0.0) / _samples(given):.4g}" if rule is _SHARES else "",
        axis=str(min(1, len(given.shape) - 1)),
        is_below=str(int(low < 0)),
        is_log=str(int(high <= 0)),
        blank=argument(op, "blank", 4) or "0",
    )


def _exchanged(diagnosis: Diagnosis, op: Op) -> Edits:
    """The first two arguments of a call the other way round."""
    call = diagnosis.code.call_at(op.span)
    one, other = call.args[:2] if call is not None and len(call.args) > 1 else (None, None)
    if one is None or other is None or isinstance(one, ast.Starred) or isinstance(other, ast.Starred):
        return ()
    text = diagnosis.code.text
    return diagnosis.code.replace(one, text(other)), diagnosis.code.replace(other, text(one))


def scores_cut_at_half(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Scores from below 0 to above 1, that a loss takes for logits, decided at 0.5 as if they were probabilities."""
    losses = list(diagnosis.ops_named(("binary_cross_entropy_with_logits",)))
    layers = {_weights(diagnosis, loss.inputs[0]): loss for loss in losses}
    for op in diagnosis.ops_named(CUTS) if layers else ():
        given, at = diagnosis.input_of(op), MIDDLE if op.name == "round" else number(argument(op, "other", 1))
        weights = _weights(diagnosis, given.id) if given is not None else frozenset()
        ends = extent(given)
        if given is None or not weights or weights not in layers or at != MIDDLE or len(op.inputs) > 1:
            continue
        if ends is None or ends[0] >= 0 or op.span is None:
            continue
        yield diagnosis.warning(
            "scores_cut_at_half",
            op.span,
            tensors=op.inputs[:1],
            fix=_at_zero(diagnosis, op),
            name=diagnosis.say(given.id),
            low=f"{ends[0]:.3g}",
            high=f"{ends[1]:.3g}",
            loss_line=line(layers[weights].span),
        )


def _weights(diagnosis: Diagnosis, scores: str) -> frozenset[str]:
    """The weights of the layer whose bare results these are."""
    maker = diagnosis.origin(scores, PASSING | DETACHES | {"getitem"})
    if maker is None or maker.name not in MADE_BY_LAYERS | CONVOLUTIONS:
        return frozenset()
    return frozenset(diagnosis.identity(given) for given in maker.inputs[1:] if diagnosis.is_parameter(given))


def _at_zero(diagnosis: Diagnosis, op: Op) -> Edits:
    match diagnosis.code.at(op.span):
        case ast.Compare(comparators=[ast.Constant() as bound]):
            return (diagnosis.code.replace(bound, "0"),)
    return ()
