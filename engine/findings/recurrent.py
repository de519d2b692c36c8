"""What becomes of the steps of sequences: states lost on their way from one to the next, or read after the padding, and
averages that count the padding."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from engine.findings.attention_masks import FUSED
from engine.findings.axes import ATTENTION, KEEPS_AXES, RECURRENT
from engine.findings.diagnosis import Diagnosis, argument, grouped, line, number, numbers_of, walk
from engine.ops import DETACHES
from engine.program.names import dotted, names_read
from engine.trace import Finding, Op, Tensor

FEW_STEPS = 3
MOST_LAYERS = 40
LOOKS_ASIDE = frozenset((ATTENTION, FUSED, *RECURRENT))
"""Ops by which a place knows of others."""


def states_dropped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """An LSTM run step by step that gets back one of the two states it gave, and in place of the other always what the
    first step got."""
    for ops in grouped(diagnosis.ops_named(("lstm", "lstm_cell")), lambda op: op.module).values():
        if not any(map(diagnosis.reaches_a_pass, ops)):
            continue
        for kept, lost in ((0, 1), (1, 0)):
            pairs = [(one, other) for one, other in pairwise(ops) if _is_handed_on(diagnosis, one, other, kept)]
            if len(pairs) < FEW_STEPS or any(one.inputs[lost + 1] != other.inputs[lost + 1] for one, other in pairs):
                continue
            first, code = pairs[0][0], diagnosis.code
            written = _as_written(diagnosis, first)
            made, given = written[lost] if written else (None, None)
            is_free = isinstance(made, ast.Name) and made.id not in names_read(code.tree)
            yield diagnosis.warning(
                "state_dropped",
                first,
                tensors=(first.inputs[lost + 1], first.outputs[lost - 2]),
                fix=(code.replace(made, dotted(given)),) if made is not None and is_free and dotted(given) else (),
                layer=diagnosis.module_path(first),
                given=dotted(given) or diagnosis.say(first.inputs[lost + 1]),
                count=diagnosis.counted(pairs),
                is_cell=str(lost),
            )


def _is_handed_on(diagnosis: Diagnosis, one: Op, other: Op, state: int) -> bool:
    """Whether a step begins at one of the two states that the step before it ended in."""
    return diagnosis.origin(other.inputs[state + 1], (*DETACHES, "dropout")) is one


def _as_written(diagnosis: Diagnosis, op: Op) -> list[tuple[ast.expr, ast.expr]]:
    """For each of the two states what a step's result is called, and what is written for it in the call."""
    call, statement = diagnosis.code.call_at(op.span), diagnosis.code.statement_at(op.span)
    match (statement.targets[0], call.args) if isinstance(statement, ast.Assign) and call is not None else (None, []):
        case (
            ast.Tuple(elts=[_, ast.Tuple(elts=[_, _] as names)]) | ast.Tuple(elts=[ast.Name(), _] as names),
            [_, ast.Tuple(elts=[_, _] as given)],
        ):
            return [*zip(names, given, strict=True)]
    return []


def padding_read_last(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The state after the last step of sequences that were filled up at their ends: of the shorter ones it has run over
    padding."""
    for op in diagnosis.ops_named(RECURRENT):
        lookup = diagnosis.origin(op.inputs[0], ("dropout",)) if op.outputs and op.iteration < FEW_STEPS else None
        words = diagnosis.input_of(lookup) if lookup is not None and lookup.name == "embedding" else None
        is_first = op.arguments[-1].text == "True"
        if lookup is None or words is None or len(words.shape) != 2:
            continue
        rows, length = words.shape if is_first else words.shape[::-1]
        ended = _ended_in_padding(diagnosis, lookup, words, is_first=is_first)
        made = diagnosis.output_of(op) if 0 < ended < rows else None
        picked = next(_last_picked(diagnosis, made, length, is_first=is_first), None) if made is not None else None
        if picked is None:
            continue
        yield diagnosis.warning(
            "padding_read_last",
            picked,
            tensors=(words.id, *picked.outputs[:1]),
            name=diagnosis.say(words.id),
            ended=str(ended),
            rows=str(rows),
            length=str(length),
            layer_line=line(op.span),
            is_unpacked="0",
        )


def filling_read_last(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The last place of what was unpacked: of the shorter sequences it is what they were filled up with."""
    for op in diagnosis.ops_named(("_pad_packed_sequence",)):
        steps = _unpacked(diagnosis, op) if op.iteration < FEW_STEPS and len(op.outputs) > 1 else None
        if steps is None:
            continue
        length = steps.made.shape[int(steps.is_first)]
        ended = sum(end + 1 < length for end in steps.ends)
        picked = next(_last_picked(diagnosis, steps.made, length, is_first=steps.is_first), None) if ended else None
        if picked is None:
            continue
        yield diagnosis.warning(
            "padding_read_last",
            picked,
            tensors=(steps.made.id, *picked.outputs[:1]),
            name=diagnosis.say(steps.made.id),
            ended=str(ended),
            rows=str(len(steps.ends)),
            length=str(length),
            layer_line=line(op.span),
            is_unpacked="1",
        )


def padding_averaged(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A mean over all places of sequences that were filled up at their ends, batch by batch to another length, where no
    mask took part."""
    for op in diagnosis.ops_named(("mean",)):
        mixed, way = diagnosis.input_of(op), list(diagnosis.back(op.inputs[0], MOST_LAYERS))
        lookup = next((maker for maker in way if maker.name not in KEEPS_AXES | LOOKS_ASIDE), None)
        words = diagnosis.input_of(lookup) if lookup is not None and lookup.name == "embedding" else None
        axis = {"0": 0, "1": 1, "-2": 1}.get(argument(op, "dim", 1).strip("()[],"))
        if op.iteration or lookup is None or words is None or mixed is None or axis is None:
            continue
        if len(mixed.shape) != 3 or mixed.shape[:2] != words.shape or not diagnosis.reaches_a_pass(op):
            continue
        ended, rows = _ended_in_padding(diagnosis, lookup, words, is_first=axis == 1), words.shape[1 - axis]
        is_zero_row = number(argument(lookup, "padding_idx")) is not None
        lengths = {given.shape[axis] for turn in diagnosis.ops_at(op.span) if (given := diagnosis.input_of(turn))}
        if not 0 < ended < rows or len(lengths) < 2 or (lookup is way[0] and is_zero_row):
            continue
        if _is_masked(diagnosis, op, words):
            continue
        yield diagnosis.warning(
            "padding_averaged",
            op,
            tensors=(words.id, *op.outputs[:1]),
            name=diagnosis.say(words.id),
            ended=str(ended),
            rows=str(rows),
            length=str(words.shape[axis]),
        )


def _is_masked(diagnosis: Diagnosis, op: Op, words: Tensor) -> bool:
    """Whether something untracked, with a number for each place, took part in what a mean is over, or scales the
    mean."""
    tracked = (maker for maker in diagnosis.makers_behind(op.inputs) if any(map(diagnosis.is_tracked, maker.outputs)))
    behind = (maker for maker in tracked if maker.name != "embedding")
    given = {tensor for maker in behind for tensor in maker.inputs if not diagnosis.is_tracked(tensor)}
    is_masked = any(sorted(diagnosis.tensors[each].shape[:2]) == sorted(words.shape) for each in given)
    products = walk(op.outputs, lambda made: [taker.outputs[0] for taker in _scalings(diagnosis, made)])
    scalings = (taker for made in products for taker in _scalings(diagnosis, made))
    return is_masked or any(not all(map(diagnosis.is_tracked, taker.inputs)) for taker in scalings)


def _scalings(diagnosis: Diagnosis, tensor: str) -> list[Op]:
    return [taker for taker in diagnosis.takers.get(tensor, ()) if taker.name in ("mul", "div") and taker.outputs]


class Steps(NamedTuple):
    """What a layer gave for every step, and the last step of each sequence."""

    made: Tensor
    ends: tuple[float, ...]
    is_first: bool


def both_ways(diagnosis: Diagnosis, op: Op) -> Steps | None:
    """The steps of a layer that runs both ways: of sequences that were packed after they were padded again."""
    made, flags = diagnosis.output_of(op), [given.text for given in op.arguments if given.tensor is None]
    if made is not None and len(made.shape) == 3 and flags[-2:-1] == ["True"]:
        is_first = flags[-1] == "True"
        rows, length = made.shape[:2] if is_first else made.shape[1::-1]
        return Steps(made, (length - 1.0,) * rows, is_first)
    takers = diagnosis.takers.get(op.outputs[0], ())
    pad = next((taker for taker in takers if taker.name == "_pad_packed_sequence"), None)
    return _unpacked(diagnosis, pad) if pad is not None and len(pad.outputs) > 1 and flags[-1:] == ["True"] else None


def _unpacked(diagnosis: Diagnosis, pad: Op) -> Steps:
    """What sequences that were packed became when they were padded again."""
    padded, lengths = (_in_their_order(diagnosis, each) for each in pad.outputs[:2])
    ends = tuple(length - 1 for length in numbers_of(diagnosis.tensors.get(lengths)))
    return Steps(diagnosis.tensors[padded], ends, pad.arguments[2].text == "True")


def _in_their_order(diagnosis: Diagnosis, tensor: str) -> str:
    """What was unpacked, put back from the order of lengths into that in which sequences were packed."""
    takers = diagnosis.takers.get(tensor, ())
    sorts = (taker for taker in takers if taker.name in ("index_select", "getitem") and len(taker.inputs) == 2)
    return next((taker.outputs[0] for taker in sorts if taker.span == diagnosis.maker[tensor].span), tensor)


def _ended_in_padding(diagnosis: Diagnosis, lookup: Op, words: Tensor, *, is_first: bool) -> int:
    """How many sequences end in padding: those that `pad_sequence` was given shorter, or that end in the number which
    the embedding was told stands for nothing."""
    lengths = _lengths(diagnosis, words.id)
    if lengths:
        longest, rows = words.shape[:2] if not is_first else words.shape[1::-1]
        return sum(length < longest for length in lengths) if len(lengths) == rows else 0
    width, ids = words.shape[1], numbers_of(words)
    return (ids[width - 1 :: width] if is_first else ids[-width:]).count(number(argument(lookup, "padding_idx")))


def _lengths(diagnosis: Diagnosis, tensor: str) -> list[int]:
    """How long each of the sequences was that `pad_sequence` filled up at their ends, also of those that were picked of
    them for a batch; empty where that is not known."""
    maker = diagnosis.origin(tensor, ("to", "long", "clone", "contiguous"))
    if maker is None or not maker.inputs or not maker.arguments:
        return []
    if maker.name == "pad_sequence":
        is_at_end = all(given.text != "'left'" for given in maker.arguments)
        return [diagnosis.tensors[row].shape[0] for row in maker.inputs] if is_at_end else []
    if maker.name == "stack":
        picked = [_lengths(diagnosis, row) for row in maker.inputs]
        return [row[0] for row in picked] if all(len(row) == 1 for row in picked) else []
    source = diagnosis.maker.get(maker.inputs[0]) if maker.name == "getitem" else None
    if source is None or source.name != "pad_sequence" or argument(source, "batch_first", 1) != "True":
        return []
    whole, text = _lengths(diagnosis, maker.inputs[0]), maker.arguments[-1].text or ""
    rows = diagnosis.input_of(maker, 1)
    if rows is not None:
        is_rows = not text and rows.dtype.startswith("int")
        places = [int(place) for place in numbers_of(rows)] if is_rows else []
    elif part := re.fullmatch(r"slice\((\d+|None), (\d+|None), None\)", text):
        begin, end = (int(each) if each != "None" else None for each in part.groups())
        return whole[begin:end]
    else:
        places = [int(text)] if text.isdecimal() else []
    return [whole[place] for place in places if place < len(whole)]


def _last_picked(diagnosis: Diagnosis, made: Tensor, length: int, *, is_first: bool) -> Iterator[Op]:
    """What takes the last step alone of what a layer gave."""
    before = r"slice\(None, None, None\), " if is_first else ""
    place = re.compile(rf"\(?{before}(-1|{length - 1})\b")
    for taker in diagnosis.takers.get(made.id, ()):
        is_picked = taker.name == "getitem" and place.match(taker.arguments[-1].text or "") is not None
        if is_picked and diagnosis.reaches_a_pass(taker):
            yield taker
