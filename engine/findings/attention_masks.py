"""Masks of attention that hide what should be seen: the past in place of the future, words in place of padding."""

import ast
from collections.abc import Iterator, Sequence

from engine.findings.diagnosis import Diagnosis, argument, line, numbers_of, once_a_line, times
from engine.program.names import dotted
from engine.trace import Finding, Op, Tensor

KEY_MASKS = ("src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask", "key_padding_mask")
"""Arguments that are True where attention is not to look."""
HIDES = -1e3
"""A score below it has no weight after a softmax."""


@once_a_line
def past_hidden(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Scores whose mask hides each place and all before it, and shows what comes after."""
    for op in diagnosis.ops_named(("masked_fill",)):
        mask, value = diagnosis.input_of(op, 1), argument(op, "value", 2)
        if mask is None or not _is_low(value) or not _goes_into_softmax(diagnosis, op) or not _hides_the_past(mask):
            continue
        yield diagnosis.finding(
            "past_hidden",
            "warning",
            op.span,
            tensors=(mask.id,),
            nodes=op.nodes[:1],
            code=diagnosis.code.excerpt(op.span),
            shape=times(mask),
        )


def _is_low(value: str) -> bool:
    try:
        return float(value) < HIDES
    except ValueError:
        return False


def _goes_into_softmax(diagnosis: Diagnosis, op: Op) -> bool:
    takers = (taker for output in op.outputs for taker in diagnosis.takers.get(output, ()))
    return any(taker.name == "softmax" and argument(taker, "dim", 1) in ("-1", "3") for taker in takers)


def _hides_the_past(mask: Tensor) -> bool:
    """Whether it is True on the diagonal and below, and nowhere else."""
    if len(mask.shape) < 2 or mask.shape[-1] != mask.shape[-2] or mask.shape[-1] < 3 or not mask.data:
        return False
    size = mask.shape[-1]
    return all(bool(number) == (at % size <= at // size % size) for at, number in enumerate(mask.data))


def words_hidden(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`tokens != PAD` given as a padding mask, which is True where nothing is to be seen."""
    code = diagnosis.code
    for word in (word for call in code.calls for word in call.keywords if word.arg in KEY_MASKS):
        compared = _written(diagnosis, word.value)
        op = next((op for op in diagnosis.ops_at(code.span(compared)) if op.name == "ne"), None) if compared else None
        tokens = numbers_of(diagnosis.input_of(op)) if op is not None else ()
        if op is None or compared is None or len(op.inputs) != 1 or not _are_tokens(tokens):
            continue
        yield diagnosis.finding(
            "words_hidden",
            "warning",
            code.span(compared),
            tensors=op.outputs[:1],
            mask=word.arg or "",
            code=code.short(compared),
            tokens=code.short(compared.left),
            pad=code.short(compared.comparators[0]),
            call_line=line(code.span(word.value)),
        )
        return


def _written(diagnosis: Diagnosis, node: ast.expr) -> ast.Compare | None:
    """The comparison that a mask is, or that the one statement binding its name gives it."""
    bound = [binding for binding in diagnosis.code.bindings if dotted(binding.targets[0]) == dotted(node) != ""]
    value = bound[0].value if len(bound) == 1 else node
    return value if isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.NotEq) else None


def _are_tokens(numbers: Sequence[float]) -> bool:
    """Whether they are numbers of words, not a mask of zeros and ones."""
    return len(set(numbers)) > 2 and all(number.is_integer() for number in numbers)
