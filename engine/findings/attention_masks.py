"""Masks of attention that hide what should be seen: the past in place of the future, words in place of padding."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from engine.findings.diagnosis import (
    LEAST_TURNS,
    Diagnosis,
    argument,
    extent,
    is_of_ones_and_zeros,
    number,
    numbers_of,
    times,
)
from engine.trace import Finding, Op, Span, Tensor

FUSED = "scaled_dot_product_attention"
ATTENTIONS = ("multi_head_attention_forward", FUSED)
KEEPS_PLACES = frozenset("bool to long int float unsqueeze expand repeat clone getitem view reshape detach".split())
TURNS_ROUND = ("logical_not", "bitwise_not", "invert")
COMPARES = ("eq", "ne", "gt")
MOST_BACK = 8
_AROUND = 4
"""Rows beside a diagonal that tell where it lies."""
HIDES = -1e3
"""A score below it has no weight after a softmax."""


def past_hidden(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Scores whose mask hides each place and all before it, and shows what comes after."""
    for op, mask, hides in _masks(diagnosis):
        hidden = hidden_places(mask, hides=hides) or _triangle_hidden(diagnosis, mask, hides=hides)
        if not hidden or any(is_so != (column <= row) for (row, column), is_so in hidden.items()):
            continue
        yield diagnosis.warning(
            "past_hidden",
            op,
            tensors=(mask.id, *op.outputs[:1]),
            shape=times(mask),
        )


def _masks(diagnosis: Diagnosis) -> Iterator[tuple[Op, Tensor, bool]]:
    """Masks of attention, with what True means in them: that a place is hidden, or shown."""
    for op in diagnosis.ops_named(("masked_fill", *ATTENTIONS)):
        if op.name == "masked_fill":
            mask = diagnosis.input_of(op, 1) if _hides(op) and _goes_into_softmax(diagnosis, op) else None
        else:
            mask = diagnosis.tensors.get(attn_mask(op) or "")
        if mask is not None:  # one of floats is added to the scores
            yield op, mask, op.name != FUSED or mask.dtype != "bool"


def _hides(op: Op) -> bool:
    return (number(argument(op, "value", 2)) or 0) < HIDES


def _goes_into_softmax(diagnosis: Diagnosis, op: Op) -> bool:
    takers = [taker for output in op.outputs for taker in diagnosis.takers.get(output, ())]
    scaled = (output for taker in takers if taker.name in ("div", "mul") for output in taker.outputs)
    takers += (taker for output in scaled for taker in diagnosis.takers.get(output, ()))
    return any(taker.name == "softmax" and argument(taker, "dim", 1) in ("-1", "3") for taker in takers)


def masks_added(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A mask of the floats 0 and 1: attention adds it to the scores, and no place is hidden."""
    for op in diagnosis.ops_named(ATTENTIONS):
        for mask in (
            diagnosis.tensors.get(attn_mask(op) or ""),
            diagnosis.tensors.get(_key_padding_mask(diagnosis, op) or ""),
        ):
            is_float = mask is not None and mask.dtype.startswith(("float", "bfloat")) and not mask.requires_grad
            if mask is not None and is_float and is_of_ones_and_zeros(mask):
                yield diagnosis.warning(
                    "mask_added",
                    op,
                    tensors=(mask.id, *op.outputs[:1]),
                    mask=diagnosis.say(mask.id),
                    shape=times(mask),
                    dtype=mask.dtype,
                    is_shown=str(int(op.name == FUSED)),
                )


def hidden_places(mask: Tensor, *, hides: bool) -> dict[tuple[int, int], bool] | None:
    """For each row and column of a square mask whether it is hidden there, in one batch or head at least; None where
    that is not known. One of floats is added to the scores, whatever True means."""
    if len(mask.shape) < 2 or mask.shape[-1] != mask.shape[-2] or mask.shape[-1] < 3 or not mask.data:
        return None
    size, is_added = mask.shape[-1], mask.dtype.startswith(("float", "bfloat"))
    found: dict[tuple[int, int], bool] = {}
    for at, each in enumerate(mask.data):
        place = (at // size % size, at % size)
        found[place] = found.get(place, False) or (float(each) < HIDES if is_added else bool(each) == hides)
    return found


def _triangle_hidden(diagnosis: Diagnosis, mask: Tensor, *, hides: bool) -> dict[tuple[int, int], bool]:
    """The same of a large mask whose numbers are not all kept, near the diagonal: what `triu` or `tril` made of a table
    of one number has one number on each side, whatever it was compared with, and how many are hidden tells which."""
    size, summary = mask.shape[-1] if mask.shape else 0, mask.summary
    if summary is None or math.prod(mask.shape) != size**2:
        return {}
    for op in diagnosis.back(mask.id, MOST_BACK):
        given, made = diagnosis.input_of(op), diagnosis.output_of(op)
        if given is None or made is None or made.shape[-2:] != (size, size) or given.shape[-2:] != (size, size):
            return {}
        if op.name in ("triu", "tril"):
            offset = number(argument(op, "diagonal", 1) or "0")
            if offset is None or not _is_of_one_number(given):
                return {}
            below = sum(min(max(row + offset + (op.name == "tril"), 0), size) for row in range(size))
            is_added, count = (
                mask.dtype.startswith(("float", "bfloat")),
                below if op.name == "tril" else size**2 - below,
            )
            if is_added and not (float(summary.min) < HIDES or summary.inf):
                return {}
            hidden = summary.zeros if not is_added and not hides else size**2 - summary.zeros
            if count == size**2 - count or hidden not in (count, size**2 - count):
                return {}
            sign, around = 1 if op.name == "triu" else -1, range(min(size, int(abs(offset)) + _AROUND))
            places = ((row, column) for row in around for column in around)
            return {at: (sign * (at[1] - at[0] - offset) >= 0) == (hidden == count) for at in places}
        if len(op.inputs) != 1 or op.name not in (*KEEPS_PLACES, *COMPARES, *TURNS_ROUND):
            return {}
    return {}


def _is_of_one_number(table: Tensor) -> bool:
    ends = extent(table)
    is_endless = table.summary is not None and table.summary.inf == math.prod(table.shape)
    return is_endless or (ends is not None and ends[0] == ends[1] != 0)


def padding_masks_turned_round(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A `key_padding_mask` that is True for the tokens and False for the padding: values tell, whatever made it."""
    places: dict[Span | None, list[tuple[Op, Tensor, Tensor]]] = {}
    lookups = list(diagnosis.ops_named(("embedding",)))
    for op in diagnosis.ops_named(("multi_head_attention_forward",)):
        mask = diagnosis.tensors.get(_key_padding_mask(diagnosis, op) or "")
        if mask is not None and mask.dtype == "bool" and extent(mask) == (0.0, 1.0):
            before = bisect_left(lookups, diagnosis.op_at[op.id], key=lambda each: diagnosis.op_at[each.id])
            tokens = diagnosis.input_of(lookups[before - 1]) if before else None
            joined = diagnosis.maker.get(mask.id)
            parts = joined.inputs if joined is not None and joined.name == "cat" else ()
            masks = (mask, *(diagnosis.tensors[part] for part in parts if part in diagnosis.tensors))
            of_tokens = next((each for each in masks if tokens is not None and each.shape == tokens.shape), None)
            if tokens is not None and of_tokens is not None:
                places.setdefault(op.span, []).append((op, of_tokens, tokens))
    for turns in places.values():
        shown = [_only_shown(mask, tokens) for _, mask, tokens in turns]
        op, mask, tokens = turns[0]
        is_certain = bool(mask.data) or (len(turns) >= LEAST_TURNS and len({_hidden(mask) for _, mask, _ in turns}) > 1)
        if is_certain and None not in shown and len({*shown}) == 1 and _is_at_one_end(tokens, shown[0] or 0):
            yield diagnosis.warning(
                "padding_mask_turned_round",
                op,
                tensors=(mask.id, tokens.id),
                mask=diagnosis.say(mask.id),
                tokens=diagnosis.say(tokens.id),
                padding=f"{shown[0]:.0f}",
                hidden=str(_hidden(mask)),
                shown=str(diagnosis.elements(mask.id) - _hidden(mask)),
            )


def _key_padding_mask(diagnosis: Diagnosis, op: Op) -> str | None:
    """The mask of the keys that attention was given, also where PyTorch made numbers of it."""
    mask = next((written.tensor for written in op.arguments if written.name == "key_padding_mask"), None)
    maker = diagnosis.maker.get(mask or "")
    is_filled = maker is not None and maker.name == "masked_fill_" and len(maker.inputs) > 1
    return maker.inputs[1] if maker is not None and is_filled else mask


def _only_shown(mask: Tensor, tokens: Tensor) -> float | None:
    """The one token at all places that a mask shows, where those it hides hold others; of a large one 0, where it shows
    as many places as there are zeros."""
    if mask.data and tokens.data:
        shown, hidden = (
            {ids for is_so, ids in zip(mask.data, tokens.data, strict=True) if bool(is_so) == at}
            for at in (False, True)
        )
        return float(min(shown)) if len(shown) == 1 < len(hidden) and shown.isdisjoint(hidden) else None
    zeros = tokens.summary.zeros if tokens.summary is not None else 0
    shown_places = mask.summary.zeros if mask.summary is not None else -1
    return 0.0 if zeros == shown_places != _hidden(mask) else None


def _is_at_one_end(tokens: Tensor, padding: float) -> bool:
    """Whether a number stands at one end of each row, as padding does and a marked token does not, as far as they are
    known."""
    width, places = tokens.shape[-1], [each == padding for each in numbers_of(tokens)]
    rows = (places[at : at + width] for at in range(0, len(places), width))
    return all(sum(one != other for one, other in pairwise(row)) < 2 for row in rows)


def _hidden(mask: Tensor) -> int:
    """How many places a mask of truth values hides."""
    zeros = mask.summary.zeros if mask.summary is not None else list(mask.data or ()).count(0)
    return math.prod(mask.shape) - zeros


def attn_mask(op: Op) -> str | None:
    """The mask that attention was given."""
    return next((written.tensor for written in op.arguments if written.name == "attn_mask"), None)
