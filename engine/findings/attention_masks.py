"""Masks of attention that hide what should be seen: the past in place of the future, words in place of padding."""

import ast
from collections.abc import Callable, Iterator, Sequence

from engine.findings.diagnosis import Diagnosis, argument, line, number, numbers_of, once_a_line, times
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword
from engine.trace import Finding, Op, Tensor

KEY_MASKS = ("src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask", "key_padding_mask")
"""Arguments that are True where attention is not to look."""
ATTENTIONS = ("multi_head_attention_forward", "scaled_dot_product_attention")
KEEPS_PLACES = frozenset("bool to unsqueeze logical_not bitwise_not invert expand clone eq getitem view detach".split())
HIDES = -1e3
"""A score below it has no weight after a softmax."""


@once_a_line
def past_hidden(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Scores whose mask hides each place and all before it, and shows what comes after."""
    for op, mask, hides in _masks(diagnosis):
        if not _hides(mask, hides=hides, is_hidden=lambda row, column: column <= row):
            continue
        yield diagnosis.warning(
            "past_hidden",
            op,
            tensors=(mask.id, *op.outputs[:1]),
            shape=times(mask),
        )


@once_a_line
def diagonal_hidden(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A mask of the future that hides each place from itself too, so that the first sees nothing at all."""
    for op, mask, hides in _masks(diagnosis):
        if not _hides(mask, hides=hides, is_hidden=lambda row, column: column >= row):
            continue
        made = diagnosis.origin(mask.id, KEEPS_PLACES)
        maker = made if made is not None and made.name in ("triu", "tril") else op
        yield diagnosis.warning(
            "diagonal_hidden",
            maker,
            tensors=(mask.id, *op.outputs[:1]),
            fix=_above_the_diagonal(diagnosis, maker),
            shape=times(mask),
            mask_line=line(op.span),
        )


def _above_the_diagonal(diagnosis: Diagnosis, op: Op) -> Edits:
    """`diagonal=1` for a `triu` that begins at the diagonal itself."""
    code = diagnosis.code
    call = code.call_at(op.span)
    if call is None or called(call) != "triu" or argument(op, "diagonal", 1) not in ("", "0"):
        return ()
    at = keyword(call, "diagonal")
    written = at.value if at is not None else call.args[1] if len(call.args) > 1 else None
    return (code.replace(written, "1") if written is not None else code.argument_added(call, "diagonal=1"),)


def _masks(diagnosis: Diagnosis) -> Iterator[tuple[Op, Tensor, bool]]:
    """Masks of attention, with what True means in them: that a place is hidden, or shown."""
    for op in diagnosis.ops_named(("masked_fill", *ATTENTIONS)):
        if op.name == "masked_fill":
            is_mask = (number(argument(op, "value", 2)) or 0) < HIDES and _goes_into_softmax(diagnosis, op)
            mask = diagnosis.input_of(op, 1) if is_mask else None
        else:
            given = next((written.tensor for written in op.arguments if written.name == "attn_mask"), None)
            mask = diagnosis.tensors.get(given or "")
        if mask is not None:  # one of floats is added to the scores
            yield op, mask, op.name != ATTENTIONS[1] or mask.dtype != "bool"


def _goes_into_softmax(diagnosis: Diagnosis, op: Op) -> bool:
    takers = (taker for output in op.outputs for taker in diagnosis.takers.get(output, ()))
    return any(taker.name == "softmax" and argument(taker, "dim", 1) in ("-1", "3") for taker in takers)


def _hides(mask: Tensor, *, hides: bool, is_hidden: Callable[[int, int], bool]) -> bool:
    """Whether a mask hides just these places, told by row and column."""
    if len(mask.shape) < 2 or mask.shape[-1] != mask.shape[-2] or mask.shape[-1] < 3 or not mask.data:
        return False
    size = mask.shape[-1]
    is_added = mask.dtype.startswith(("float", "bfloat"))
    hidden = (float(each) < HIDES if is_added else bool(each) == hides for each in mask.data)
    return all(is_so == is_hidden(at // size % size, at % size) for at, is_so in enumerate(hidden))


def words_hidden(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`tokens != PAD` given as a padding mask, which is True where nothing is to be seen."""
    code = diagnosis.code
    for word in (word for call in code.calls for word in call.keywords if word.arg in KEY_MASKS):
        compared = _written(diagnosis, word.value)
        op = next((op for op in diagnosis.ops_at(code.span(compared)) if op.name == "ne"), None) if compared else None
        tokens = numbers_of(diagnosis.input_of(op)) if op is not None else ()
        if op is None or compared is None or len(op.inputs) != 1 or not _are_tokens(tokens):
            continue
        yield diagnosis.warning(
            "words_hidden",
            compared,
            tensors=op.outputs[:1],
            mask=word.arg or "",
            tokens=code.short(compared.left),
            pad=code.short(compared.comparators[0]),
            call_line=line(code.span(word.value)),
        )
        return


def _written(diagnosis: Diagnosis, node: ast.expr) -> ast.Compare | None:
    """The comparison that a mask is, or that the one statement binding its name gives it."""
    value = diagnosis.value_of(dotted(node)) or node
    return value if isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.NotEq) else None


def _are_tokens(numbers: Sequence[float]) -> bool:
    """Whether they are numbers of words, not a mask of zeros and ones."""
    return len(set(numbers)) > 2 and all(each.is_integer() for each in numbers)
