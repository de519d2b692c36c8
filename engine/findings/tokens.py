"""Sequences, of tokens or of numbers, that are scored against what they should not be: against what the model was
given, against answers it may look up, against padding. The way of places through the graph tells, and the values where
it does not."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from engine.findings.attention_masks import FUSED, attn_mask, hidden_places
from engine.findings.axes import ATTENTION, KEEPS_AXES, RECURRENT, RESHAPES
from engine.findings.diagnosis import Diagnosis, argument, extent, is_alike, line, near, number, numbers_of, times
from engine.findings.losses import CLASS_LOSSES
from engine.findings.recurrent import LOOKS_ASIDE
from engine.ops import DETACHES
from engine.program.edits import Edits
from engine.program.names import called
from engine.trace import Finding, Op, Span, Tensor

KEEPS_ORDER = frozenset((*RESHAPES, *DETACHES, *"flatten squeeze unsqueeze contiguous clone long to".split()))
TURNS = frozenset(("transpose", "permute"))
KEEPS_PLACES = KEEPS_AXES | KEEPS_ORDER | LOOKS_ASIDE | TURNS | {"matmul"}
WEIGHS = frozenset("matmul bmm einsum dropout".split())
"""Ops that take the weights of attention as they are."""
AS_NUMBERS = ("float", "long", "int", "double")
MOST_BACK = 80
MOVES = {
    "getitem": r"\(?(?:Ellipsis, )?slice\((None|\d+), (?:None|-?\d+), None\)",
    "roll": r"\(?-(\d+)",
    "pad": r"[(\[](\d+), ",
}
"""How ops are written that move the places of one long row, with how far."""
FEWEST = 3
"""Tokens that are compared by value: fewer may be alike by chance."""
_ALL = "slice(None, None, None)"


class _Scored(NamedTuple):
    """A loss over all places of a sequence, and the tokens that the model was given."""

    loss: Op
    lookup: Op
    given: Tensor
    wanted: Tensor
    ahead: int
    """How many places later in the given tokens the target of each place stands."""


def inputs_as_targets(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Tokens scored against themselves at their own places: the model is asked for what it was just given."""
    for scored in _all_scored(diagnosis):
        if scored.ahead or not _looks_aside(diagnosis, scored):
            continue
        yield diagnosis.warning(
            "input_as_target",
            scored.loss,
            tensors=(scored.given.id, scored.loss.inputs[1]),
            name=diagnosis.say(scored.wanted.id),
            lookup_line=line(scored.lookup.span),
        )


def answers_seen(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The next token is asked for, and an op between lets each place see those after it, the answer among them."""
    for scored in _all_scored(diagnosis):
        makers = diagnosis.makers_behind(scored.loss.inputs[:1]) if scored.ahead > 0 else ()
        looking = (maker for maker in makers if _sees_the_answer(diagnosis, maker, scored))
        op = next((each for each in looking if _leads_to(diagnosis, scored.lookup, each)), None)
        if op is None:
            continue
        mask = diagnosis.tensors.get(attn_mask(op) or "")
        product = diagnosis.origin(op.inputs[0], ("div", "mul"))
        is_bare = mask is None and (op.name != "softmax" or (product is not None and product.name in WEIGHS))
        other = _masked_beside(diagnosis, op)
        yield diagnosis.warning(
            "answer_read_backwards" if op.name in RECURRENT else "answer_seen",
            op,
            tensors=(scored.given.id, scored.wanted.id, *op.outputs[:1]),
            fix=_causal(diagnosis, op),
            name=diagnosis.say(scored.wanted.id),
            loss_line=line(scored.loss.span),
            length=str(scored.given.shape[1]),
            is_masked=str(int(not is_bare)),
            is_added=str(int(mask is not None and mask.dtype.startswith("float"))),
            is_beside=str(int(other is not None)),
            other=diagnosis.modules[other.module].path if other is not None and other.module is not None else "",
        )


def _masked_beside(diagnosis: Diagnosis, op: Op) -> Op | None:
    """Of attention in a decoder of PyTorch's: another that was given a causal mask by the very call that gave none to
    this."""
    module = diagnosis.modules.get(op.module or "")
    while module is not None and not module.type.startswith("TransformerDecoder"):
        module = diagnosis.modules.get(module.parent or "")
    for each in diagnosis.ops_at(op.span) if module is not None and op.name == ATTENTION and not attn_mask(op) else ():
        mask = diagnosis.tensors.get(attn_mask(each) or "") if each.name == ATTENTION and each.module else None
        hidden = hidden_places(mask, hides=True) if mask is not None else None
        if hidden and all(is_so == (at > row) for (row, at), is_so in hidden.items()):
            return each
    return None


def _all_scored(diagnosis: Diagnosis) -> Iterator[_Scored]:
    for op in diagnosis.ops_named(("cross_entropy",)):
        target = diagnosis.input_of(op, 1)
        wanted = _unordered(diagnosis, target)
        if op.iteration or target is None or wanted is None or len(wanted.shape) != 2 or wanted.shape[1] < FEWEST - 1:
            continue
        lookup, begin = _looked_up(diagnosis, op.inputs[0], wanted.shape)
        given = diagnosis.input_of(lookup) if lookup is not None else None
        if lookup is None or given is None or len(given.shape) != 2:
            continue
        ahead = _ahead(diagnosis, given, wanted, begin)
        if ahead is not None:
            yield _Scored(op, lookup, given, wanted, ahead)


def _unordered(diagnosis: Diagnosis, tensor: Tensor | None) -> Tensor | None:
    """The rows of tokens that these are, laid out otherwise."""
    for _ in range(MOST_BACK):
        maker = diagnosis.maker.get(tensor.id) if tensor is not None else None
        if tensor is None or maker is None or maker.name not in KEEPS_ORDER or len(tensor.shape) == 2:
            break
        tensor = diagnosis.input_of(maker)
    return tensor


def _looked_up(diagnosis: Diagnosis, scores: str, shape: tuple[int, ...]) -> tuple[Op | None, int]:
    """The embedding from which a model of sequences leads to scores, each at the place of its token, and at which of
    its places the scores begin."""
    tensor, begin, is_placed = scores, 0, False
    for _ in range(MOST_BACK):
        maker, record = diagnosis.maker.get(tensor), diagnosis.tensors.get(tensor)
        is_turned = maker is not None and maker.name in TURNS
        if record is not None and len(record.shape) == 3 and not is_placed and not is_turned:
            if record.shape[:2] != shape:
                break
            is_placed = True
        if maker is None or maker.name == "embedding":
            return (maker if is_placed else None), begin
        cut = _begin(maker, record) if maker.name == "getitem" else 0
        if cut is None or maker.name not in KEEPS_PLACES | {"getitem"} or maker.outputs[0] != tensor:
            break
        begin, size = begin + cut, diagnosis.elements(tensor)
        followed = [given for given in maker.inputs if diagnosis.is_followed(given)]
        alike = [given for given in followed if diagnosis.elements(given) == size]
        tensor = (alike or followed or [""])[-1 if maker.name == "matmul" else 0]
    return None, 0


def _begin(op: Op, made: Tensor | None) -> int | None:
    """At which place a slice of sequences begins that keeps all the rest; None for what picks otherwise."""
    text = re.sub(r"tensor\((\d+)\)", r"\1", op.arguments[-1].text or "") if op.arguments else ""
    parts = re.findall(r"slice\([^()]*\)|[^,()\s]+", text)
    axes = len(made.shape) if made is not None else 0
    if parts[:1] == ["Ellipsis"]:
        parts[:1] = [_ALL] * (axes + 1 - len(parts))
    at = min(axes, 2) - 1
    rest = [part for place, part in enumerate(parts) if place != at]
    cut = re.fullmatch(r"slice\((None|\d+), (None|-?\d+), None\)", parts[at]) if 0 <= at < len(parts) else None
    if cut is None or rest != [_ALL] * len(rest):
        return None
    return 0 if cut[1] == "None" else int(cut[1])


def _ahead(diagnosis: Diagnosis, given: Tensor, wanted: Tensor, begin: int) -> int | None:
    """How many places later in the given tokens each target stands; None when they are not those tokens."""
    one, other = _places(diagnosis, given), _places(diagnosis, wanted)
    steps = {there - here - begin for (_, here), (_, there) in zip(one, other, strict=False)}
    if len(steps) == 1 and [source for source, _ in one] == [source for source, _ in other]:
        return steps.pop()
    return next((ahead for ahead in (0, 1) if _are_shifted(given, wanted, begin + ahead)), None)


def _places(diagnosis: Diagnosis, tensor: Tensor) -> list[tuple[str, int]]:
    """For each row that was stacked, or for all at once, the tensor that they are cut out of and where they begin."""
    start = 0
    for _ in range(MOST_BACK):
        maker = diagnosis.maker.get(tensor.id)
        if maker is not None and maker.name == "stack":
            rows = [diagnosis.tensors[row] for row in maker.inputs if row in diagnosis.tensors]
            cut = [place for row in rows if len(row.shape) == 1 for place in _places(diagnosis, row)]
            return [(source, start + at) for source, at in cut]
        if maker is not None and maker.name == "cat" and len(maker.inputs) == 2 and _is_along_places(maker, tensor):
            first, rest = (diagnosis.tensors[part] for part in maker.inputs)
            start, tensor = start - first.shape[-1], rest
            continue
        begin = _begin(maker, tensor) if maker is not None and maker.name == "getitem" and maker.view else None
        given = diagnosis.input_of(maker) if maker is not None else None
        if maker is None or given is None or (maker.name not in KEEPS_ORDER and begin is None):
            break
        start, tensor = start + (begin or 0), given
    return [(diagnosis.identity(tensor.id), start)]


def _is_along_places(op: Op, made: Tensor) -> bool:
    """Whether rows were joined end to end, as a token for the start and those that follow it are."""
    return int(number(argument(op, "dim", 1)) or 0) in (-1, len(made.shape) - 1)


def _are_shifted(given: Tensor, wanted: Tensor, by: int) -> bool:
    """Whether the targets are the given tokens so many places later, as far as those reach."""
    old, new = numbers_of(given), numbers_of(wanted)
    width, length = given.shape[1], wanted.shape[1]
    shared = min(length, width - by)
    if given.shape[0] != wanted.shape[0] or shared < FEWEST - 1 or len(set(new)) < FEWEST or not old:
        return False
    return all(
        new[row * length : row * length + shared] == old[row * width + by : row * width + by + shared]
        for row in range(given.shape[0])
    )


def _looks_aside(diagnosis: Diagnosis, scored: _Scored) -> bool:
    """Whether a place may know of others: by a layer, or by weights that each place has for all of them."""
    makers = [*diagnosis.makers_behind(scored.loss.inputs[:1])]
    weights = [diagnosis.tensors[maker.outputs[0]] for maker in makers if maker.name == "softmax"]
    square = [made for made in weights if made.shape[-2:] == (scored.given.shape[1],) * 2]
    takers = (taker.name for made in square for taker in diagnosis.takers.get(made.id, ()))
    return any(name in WEIGHS for name in takers) or any(maker.name in LOOKS_ASIDE for maker in makers)


def _sees_the_answer(diagnosis: Diagnosis, op: Op, scored: _Scored) -> bool:
    """Whether by this op each place sees the one whose token it is to predict: its mask leaves that open, or the
    weights that came out give it a share."""
    length, first = scored.given.shape[1], diagnosis.input_of(op)
    shape = first.shape if first is not None else ()
    if op.name in RECURRENT:
        options = [given.text for given in op.arguments if given.tensor is None]
        return len(shape) == 3 and length in shape[:2] and options[-2:-1] == ["True"]
    if op.name in (ATTENTION, FUSED):
        if argument(op, "is_causal") == "True" or len(op.inputs) < 2:
            return False
        keys = diagnosis.tensors[op.inputs[1]].shape
        is_own = op.inputs[0] == op.inputs[1] and shape[0] == length if op.name == ATTENTION else shape[-2] == length
        return (
            is_own and keys[0 if op.name == ATTENTION else -2] == length and _leaves_open(diagnosis, op, scored.ahead)
        )
    if op.name != "softmax" or shape[-2:] != (length, length) or length < FEWEST:
        return False
    made = diagnosis.tensors[op.outputs[0]]
    weights, row = numbers_of(made), length + 1  # from one number of a diagonal to the next
    ahead = [
        share
        for begin in range(0, len(weights), length * length)
        for share in weights[begin + scored.ahead : begin + length * (length - scored.ahead) : row]
    ]
    is_open = min(ahead) > 0 if ahead else made.summary is not None and not made.summary.zeros
    return is_open and all(taker.name in WEIGHS for taker in diagnosis.takers.get(made.id, ()))


def _leaves_open(diagnosis: Diagnosis, op: Op, ahead: int) -> bool:
    """Whether no mask, or one that is known, keeps the places of attention from themselves and from those ahead."""
    mask = diagnosis.tensors.get(attn_mask(op) or "")
    if mask is None:
        return attn_mask(op) is None
    hidden = hidden_places(mask, hides=op.name != FUSED)
    return hidden is not None and not any(is_so for (row, at), is_so in hidden.items() if at - row in (0, ahead))


def _leads_to(diagnosis: Diagnosis, lookup: Op, op: Op) -> bool:
    """Whether what an op looks at was computed from the tokens looked up; of attention that is the keys."""
    looked_at = op.inputs[1:2] if op.name in (ATTENTION, FUSED) else op.inputs[:1]
    return lookup.outputs[0] in near(looked_at, diagnosis.made_from)


def _causal(diagnosis: Diagnosis, op: Op) -> Edits:
    call = diagnosis.code.call_at(op.span)
    if op.name != FUSED or call is None or called(call) != FUSED or attn_mask(op) is not None:
        return ()
    return (diagnosis.code.argument_added(call, "is_causal=True"),)


class _LongRow(NamedTuple):
    """Rows that were laid one after the other and then cut or turned along the whole."""

    rows: Tensor
    begin: int
    shift: Op | None


def rows_run_together(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Labels shifted when their rows were one long row already: the last place of each is held against the first token
    of the next. Rows that were cut out of one text do go on in the next."""
    for op in diagnosis.ops_named(CLASS_LOSSES):
        scores, target = (_laid_out(diagnosis, diagnosis.input_of(op, at)) for at in (0, 1))
        if op.iteration or target is None or scores is None or target.shift is None or target.begin <= scores.begin:
            continue
        size, rows = target.rows.shape, target.rows
        are_rows = len(size) == 2 and min(size) > 1 and scores.rows.shape[:2] == size
        before = diagnosis.origin(rows.id, KEEPS_ORDER, MOST_BACK)
        source = diagnosis.output_of(before) if before is not None else rows
        if not are_rows or source is None or len(source.shape) < 2 or _begins_ignored(diagnosis, op, rows):
            continue
        yield diagnosis.warning(
            "rows_run_together",
            target.shift,
            tensors=(rows.id, op.inputs[1]),
            name=diagnosis.say(rows.id),
            shape=times(rows),
            batch=str(size[0]),
            steps=str(size[1]),
            ahead=str(target.begin - scores.begin),
            loss_line=line(op.span),
            is_cut=str(int(before is not None and before.name == "getitem" and bool(_begin(before, source)))),
        )


def _laid_out(diagnosis: Diagnosis, tensor: Tensor | None) -> _LongRow | None:
    """The rows behind one long row, with how many places of the whole were left out at its beginning."""
    begin, shift = 0, None
    for _ in range(MOST_BACK):
        maker = diagnosis.maker.get(tensor.id) if tensor is not None else None
        given = diagnosis.input_of(maker) if maker is not None else None
        if tensor is None or maker is None or given is None:
            break
        if len(given.shape) > len(tensor.shape) and maker.name in KEEPS_ORDER:
            return _LongRow(given, begin, shift)
        moved = re.match(MOVES.get(maker.name, ""), maker.arguments[1].text or "") if len(maker.arguments) > 1 else None
        if maker.name not in KEEPS_ORDER and (maker.name not in MOVES or moved is None):
            break
        by = int(moved[1]) if moved is not None and moved.groups() and moved[1] != "None" else 0
        begin += -by if maker.name == "pad" else by
        shift, tensor = maker if by > 0 and maker.name != "pad" else shift, given
    return None


def _begins_ignored(diagnosis: Diagnosis, op: Op, rows: Tensor) -> bool:
    """Whether the first tokens of rows may all be such as the loss leaves out."""
    ignored, ends, numbers = number(argument(op, "ignore_index", 5)), extent(rows), numbers_of(rows)
    if ignored is None or ends is None or not ends[0] <= ignored <= ends[1]:
        return ends is None
    return all(each == ignored for each in numbers[:: rows.shape[1]])


def padding_of_lookup_scored(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Targets that end in the number which the embedding of the same tokens was told to be padding."""
    for scored in _all_scored(diagnosis):
        padding = number(argument(scored.lookup, "padding_idx", 2))
        filled, count = _padded(scored.wanted, padding)
        is_loose = any(each.tensor for each in scored.loss.arguments if each.name == "weight")
        is_loose |= _is_weighed_by_place(diagnosis, scored.loss)
        is_ignored = padding == number(argument(scored.loss, "ignore_index", 5))
        if padding is None or padding < 0 or is_ignored or is_loose or not 0 < filled < count:
            continue
        yield diagnosis.warning(
            "padding_of_lookup_scored",
            scored.loss,
            tensors=(scored.wanted.id, scored.given.id),
            fix=_ignoring(diagnosis, scored.loss, padding),
            loss=scored.loss.name,
            name=diagnosis.say(scored.wanted.id),
            padding=f"{padding:.0f}",
            filled=str(filled),
            count=str(count),
            lookup_line=line(scored.lookup.span),
        )


def _is_weighed_by_place(diagnosis: Diagnosis, loss: Op) -> bool:
    """Whether something else, as a mask, says which of the losses of single places count."""

    def laid_out(tensor: str) -> Iterator[str]:
        takers = diagnosis.takers.get(tensor, ())
        return (made for taker in takers if taker.name in KEEPS_ORDER | TURNS for made in taker.outputs)

    each = near(loss.outputs, laid_out) if argument(loss, "reduction") == "'none'" else ()
    return any(len(taker.inputs) > 1 for tensor in each for taker in diagnosis.takers.get(tensor, ()))


def _padded(wanted: Tensor, padding: float | None) -> tuple[int, int]:
    """How many of the targets are padding, where rows end in it but not all do, and how many there are; of those too
    many to be known each, the zeros."""
    numbers, (rows, width) = numbers_of(wanted), wanted.shape
    is_ragged = not numbers or 0 < numbers[width - 1 :: width].count(padding) < rows
    return (_held(wanted, padding) if is_ragged else 0), rows * width


def _ignoring(diagnosis: Diagnosis, op: Op, padding: float) -> Edits:
    """`ignore_index` where the loss is called, or made."""
    code = diagnosis.code
    call = code.call_at(op.span)
    made = [each for each in code.calls if called(each) in ("CrossEntropyLoss", "NLLLoss")]
    loss = call if call is not None and called(call) in CLASS_LOSSES else made[0] if len(made) == 1 else None
    is_plain = isinstance(loss, ast.Call) and not any(word.arg in ("ignore_index", None) for word in loss.keywords)
    return (code.argument_added(loss, f"ignore_index={padding:.0f}"),) if loss is not None and is_plain else ()


def padding_counted(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Right answers counted over all places, those that the loss leaves out among them."""
    losses = {
        ignored: op
        for op in diagnosis.ops_named(CLASS_LOSSES)
        if (ignored := number(argument(op, "ignore_index", 5))) is not None and ignored >= 0
    }
    told: set[Span | None] = set()
    for op in diagnosis.ops_named(("eq",)) if len(losses) == 1 else ():
        (padding, loss), wanted = next(iter(losses.items())), diagnosis.input_of(op, 1)
        made = diagnosis.input_of(op)
        if made is not None and not _is_predicted(diagnosis, made):
            made, wanted = wanted, made
        if made is None or wanted is None or made.shape != wanted.shape or op.span in told:
            continue
        filled, count = _held(wanted, padding), diagnosis.elements(wanted.id)
        is_all = _all_count(diagnosis, op)
        if 0 < filled < count and is_all and _is_predicted(diagnosis, made) and not _is_predicted(diagnosis, wanted):
            told.add(op.span)
            yield diagnosis.warning(
                "padding_counted",
                op,
                tensors=(made.id, wanted.id),
                name=diagnosis.say(wanted.id),
                padding=f"{padding:.0f}",
                filled=str(filled),
                count=str(count),
                loss_line=line(loss.span),
            )


def padding_in_the_mean(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Losses of single places, made 0 at padding by a mask, and averaged over all places: the zeros count as well."""
    for op in (each for each in diagnosis.ops_named(("mean",)) if not each.iteration):
        product = diagnosis.origin(op.inputs[0], KEEPS_ORDER)
        taken = product.inputs[:2] if product is not None and product.name in ("mul", "mul_") else ()
        for each, mask in (taken, taken[::-1]) if len(taken) == 2 else ():
            loss = diagnosis.origin(each, KEEPS_ORDER | TURNS)
            compared = diagnosis.origin(mask, KEEPS_ORDER.union(AS_NUMBERS))
            if loss is None or compared is None or loss.name not in CLASS_LOSSES or compared.name not in ("ne", "gt"):
                continue
            wanted, padding = diagnosis.input_of(loss, 1), number(argument(compared, "other", 1))
            hidden = _held(diagnosis.tensors[mask], 0)
            count = diagnosis.elements(mask)
            is_of_each = argument(loss, "reduction") == "'none'" and count == diagnosis.elements(each)
            is_own = wanted is not None and extent(wanted) and is_alike(wanted, diagnosis.input_of(compared))
            if wanted is None or padding is None or not is_own or not is_of_each or not 0 < hidden < count:
                continue
            users = [taker for taker in diagnosis.takers.get(op.outputs[0], ()) if taker.name in ("mul", "div")]
            if any(len(taker.inputs) > 1 for taker in users):
                continue  # what the mean is scaled by may put it right
            yield diagnosis.warning(
                "padding_in_mean",
                op,
                tensors=(mask, *op.outputs[:1]),
                fix=_over_shown(diagnosis, op, taken.index(mask)),
                name=diagnosis.say(wanted.id),
                mask=diagnosis.say(mask),
                padding=f"{padding:g}",
                hidden=str(hidden),
                count=str(count),
                times=f"{count / (count - hidden):.3g}",
            )


def _over_shown(diagnosis: Diagnosis, op: Op, at: int) -> Edits:
    """`(loss * mask).mean()` as its sum, divided by that of the mask."""
    code = diagnosis.code
    match call := code.call_at(op.span):
        case ast.Call(func=ast.Attribute(value=ast.BinOp(op=ast.Mult()) as product), args=[], keywords=[]):
            mask = (product.left, product.right)[at]
            shown = code.text(mask) if isinstance(mask, ast.Name) else f"({code.text(mask)})"
            is_alone = isinstance(code.parents.get(call), ast.Return | ast.Assign)
            return (code.replace(call, f"({code.text(product)}).sum() / {shown}.sum()"),) if is_alone else ()
    return ()


def _is_predicted(diagnosis: Diagnosis, tensor: Tensor) -> bool:
    """Whether it was chosen among scores."""
    return any(maker.name in ("argmax", "max", "topk") for maker in diagnosis.back(tensor.id, MOST_BACK))


def _held(wanted: Tensor, padding: float | None) -> int:
    """How many of its numbers are padding; of those too many to be known each, the zeros."""
    numbers = numbers_of(wanted)
    zeros = wanted.summary.zeros if wanted.summary is not None and padding == 0 else 0
    return numbers.count(padding) if numbers else zeros


def _all_count(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether all that an op gives is added up and nothing else is made of it, as it is or as numbers."""
    takers = diagnosis.takers.get(op.outputs[0], ())
    return bool(takers) and all(
        taker.name in ("sum", "mean") or (taker.name in AS_NUMBERS and _all_count(diagnosis, taker)) for taker in takers
    )


def padding_rows_drawn(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The row of an embedding for padding, drawn anew after the layer had set it to 0, and summed with those of the
    tokens: no gradient ever comes to it."""
    for op in diagnosis.ops_named(("embedding",)):
        words, weight = diagnosis.input_of(op), diagnosis.input_of(op, 1)
        padding = number(argument(op, "padding_idx", 2))
        is_first = op.iteration == 0 and weight is not None and padding is not None
        drawn = _drawn_last(diagnosis, op, weight) if is_first and weight is not None else None
        ways = (taker for output in op.outputs for taker in _undropped(diagnosis, output))
        summed = next((taker for taker in ways if taker.name in ("sum", "mean") and _is_over_places(taker)), None)
        if words is None or weight is None or drawn is None or summed is None or padding is None:
            continue
        if not _holds(words, padding) or not diagnosis.reaches_a_pass(summed):
            continue
        yield diagnosis.warning(
            "padding_row_drawn",
            drawn,
            tensors=(weight.id, words.id),
            name=diagnosis.say(weight.id),
            padding=f"{padding:.0f}",
            words=diagnosis.say(words.id),
            sum_line=line(summed.span),
        )


def _drawn_last(diagnosis: Diagnosis, op: Op, weight: Tensor) -> Op | None:
    """The initialiser that drew all numbers of a weight, where nothing before an op wrote into it since."""
    before = diagnosis.trace.ops[: diagnosis.op_at[op.id]]
    writes = (each for each in reversed(before) if each.in_place and each.outputs)
    last = next((each for each in writes if _storage(diagnosis, each.outputs[0]) == weight.storage), None)
    is_whole = last is not None and diagnosis.tensors[last.outputs[0]].shape == weight.shape
    return last if last is not None and is_whole and re.search(r"normal_|uniform_|orthogonal_", last.name) else None


def _storage(diagnosis: Diagnosis, tensor: str) -> str | None:
    record = diagnosis.tensors.get(tensor)
    return record.storage if record is not None else None


def _undropped(diagnosis: Diagnosis, tensor: str) -> Iterator[Op]:
    """What takes a value, or takes it after a dropout."""
    for taker in diagnosis.takers.get(tensor, ()):
        yield taker
        if taker.name == "dropout" and taker.outputs[0] != tensor:
            yield from diagnosis.takers.get(taker.outputs[0], ())


def _is_over_places(op: Op) -> bool:
    return argument(op, "dim", 1).strip("()[],") in ("1", "-2")


def _holds(words: Tensor, token: float) -> bool:
    """Whether a token is known to be among some."""
    return token in numbers_of(words) or (token == 0 and words.summary is not None and words.summary.zeros > 0)
