"""Sequences, of tokens or of numbers, that are scored against what they should not be: against what the model was
given, against answers it may look up, against padding. The way of places through the graph tells, and the values where
it does not."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from engine.findings.attention_masks import FUSED, attn_mask, hidden_places
from engine.findings.axes import ATTENTION, KEEPS_AXES, RECURRENT, RESHAPES
from engine.findings.diagnosis import Diagnosis, argument, line, near, number, numbers_of
from engine.findings.losses import CLASS_LOSSES, ELEMENTWISE_LOSSES
from engine.findings.recurrent import LOOKS_ASIDE, both_ways
from engine.ops import DETACHES
from engine.program.edits import Edits
from engine.program.names import called
from engine.trace import Finding, Op, Tensor

KEEPS_ORDER = frozenset((*RESHAPES, *DETACHES, *"flatten squeeze unsqueeze contiguous clone long to".split()))
TURNS = frozenset(("transpose", "permute"))
KEEPS_PLACES = KEEPS_AXES | KEEPS_ORDER | LOOKS_ASIDE | TURNS | {"matmul"}
WEIGHS = frozenset("matmul bmm einsum dropout".split())
"""Ops that take the weights of attention as they are."""
MOST_BACK = 80
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
            "answer_seen",
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


def answers_read_backward(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The next step of a sequence is asked for, of tokens or of numbers, and a layer that runs both ways has read
    it."""
    layers = {op.id: op for op in diagnosis.ops_named(RECURRENT) if not op.iteration and op.outputs}
    for op in diagnosis.ops_named(("cross_entropy", *ELEMENTWISE_LOSSES)) if layers else ():
        wanted = _unordered(diagnosis, diagnosis.input_of(op, 1), most=3) if not op.iteration else None
        behind = diagnosis.makers_behind(op.inputs[:1]) if wanted is not None else ()
        layer = next((maker for maker in behind if maker.id in layers and both_ways(diagnosis, maker)), None)
        steps = both_ways(diagnosis, layer) if layer is not None else None
        if layer is None or wanted is None or steps is None or not steps.is_first:
            continue
        lookup = diagnosis.origin(layer.inputs[0], ("dropout",))
        read = diagnosis.input_of(lookup if lookup is not None and lookup.name == "embedding" else layer)
        if read is None:
            continue
        is_said = read.shape[:2] == steps.made.shape[:2] == wanted.shape[:2] and wanted.shape[1] >= FEWEST
        if is_said and (_ahead(diagnosis, read, wanted, 0) or 0) > 0:
            yield diagnosis.warning(
                "answer_read_backward",
                layer,
                tensors=(read.id, wanted.id, *layer.outputs[:1]),
                name=diagnosis.say(wanted.id),
                read=diagnosis.say(read.id),
                loss_line=line(op.span),
                length=str(read.shape[1]),
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


def _unordered(diagnosis: Diagnosis, tensor: Tensor | None, most: int = 2) -> Tensor | None:
    """The rows that these are, laid out otherwise, with two axes or a few more."""
    for _ in range(MOST_BACK):
        maker = diagnosis.maker.get(tensor.id) if tensor is not None else None
        is_rows = tensor is not None and 2 <= len(tensor.shape) <= most
        if tensor is None or maker is None or maker.name not in KEEPS_ORDER or is_rows:
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
    is_wide = len(old) > given.shape[0] * width  # several features a step
    if given.shape[0] != wanted.shape[0] or shared < FEWEST - 1 or len(set(new)) < FEWEST or not old or is_wide:
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


def _held(wanted: Tensor, padding: float | None) -> int:
    """How many of its numbers are padding; of those too many to be known each, the zeros."""
    numbers = numbers_of(wanted)
    zeros = wanted.summary.zeros if wanted.summary is not None and padding == 0 else 0
    return numbers.count(padding) if numbers else zeros
