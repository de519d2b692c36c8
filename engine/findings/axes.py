"""Axes taken for one another: a view where a permutation was meant, time taken for the batch, weights that add up to 1
along the wrong axis. Sizes and the way of the axes through the graph tell, not how it is written."""

import re
from collections.abc import Iterator
from itertools import accumulate, pairwise, permutations
from operator import mul
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, argument, line, once_a_line, times, walk
from engine.findings.losses import SOFTMAXES
from engine.program.edits import Edits
from engine.program.names import called, keyword
from engine.trace import Finding, Op, Tensor

Shape = tuple[int, ...]
RESHAPES = ("view", "reshape")
RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
ATTENTION = "multi_head_attention_forward"
BATCH_FIRST = {"LSTM", "GRU", "RNN", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer"}
"""Layers that can be told that the batch is axis 0."""
KEEPS_AXES = frozenset(
    "add sub mul div linear dropout layer_norm relu gelu tanh sigmoid leaky_relu contiguous clone float".split()
)
REDUCES = frozenset("mean sum max amax min amin logsumexp".split())
PRODUCTS = frozenset(("matmul", "bmm"))
CLASS_LOSSES = frozenset(("cross_entropy", "nll_loss"))
MOST_AXES = 5
MOST_TURNS = 8
"""Of one place; what comes later is like it."""
MOST_VALUES = 200
_SLICE = re.compile(r"slice\([^()]*\)")


def views_for_permutes(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A view to a shape that only another order of the axes leads to: sizes fit, the numbers land elsewhere. Of those
    with the same sizes the first."""
    told: set[tuple[Shape, Shape]] = set()
    for op in diagnosis.ops_named(RESHAPES):
        given, made = diagnosis.input_of(op), diagnosis.output_of(op) if op.iteration < MOST_TURNS else None
        if given is None or made is None or (given.shape, made.shape) in told or not _is_for_layers(diagnosis, op):
            continue
        old, new = _long(given.shape), _long(made.shape)
        as_rows = _is_class_loss(diagnosis, made) and len(new) == 2 and len(old) == 3 and new[1] == old[1] != old[2]
        if not as_rows and not (2 < max(len(old), len(new)) <= MOST_AXES and _scrambles(old, new)):
            continue
        if not as_rows and not _is_permuted(old, new):
            continue
        told.add((given.shape, made.shape))
        yield diagnosis.warning(
            "view_for_permute",
            op,
            tensors=(given.id, made.id),
            op=op.name,
            name=diagnosis.say(given.id),
            shape=times(given),
            result=times(made),
        )


def _is_for_layers(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether a model computes with the result, so that the places of its numbers mean something."""
    takers = diagnosis.takers.get(op.outputs[0] if op.outputs else "", ())
    return any(taker.module is not None or taker.name in CLASS_LOSSES for taker in takers)


def _is_class_loss(diagnosis: Diagnosis, made: Tensor) -> bool:
    return any(taker.name in CLASS_LOSSES and taker.inputs[0] == made.id for taker in diagnosis.takers.get(made.id, ()))


def _long(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def _bounds(shape: Shape) -> list[int]:
    """How many numbers lie within each axis and those after it, from 1 up to all."""
    return [1, *accumulate(reversed(shape), mul)]


def _scrambles(old: Shape, new: Shape) -> bool:
    """Whether a view gives an axis numbers of parts of several axes, rather than of whole axes or of one that is
    split."""
    if 0 in old or not old or not new:
        return False
    before, after = _bounds(old), _bounds(new)
    parts: dict[int, int] = {}
    for low, high in pairwise(after):
        cut = [bound for bound in (low, high) if bound not in before]
        if any(_is_uneven(before, bound) for bound in cut):
            return True
        if any(low < bound < high for bound in before):
            for bound in cut:
                axis = sum(other < bound for other in before)
                parts[axis] = parts.get(axis, 0) + 1
            if len(cut) == 2:
                return True
    return any(count > 1 for count in parts.values())


def _is_uneven(before: list[int], bound: int) -> bool:
    """Whether a bound cuts an axis into parts that are not all the same."""
    below, above = max(b for b in before if b < bound), min(b for b in before if b > bound)
    return bound % below != 0 or above % bound != 0


def _is_permuted(old: Shape, new: Shape) -> bool:
    """Whether some other order of the axes, before or after the view, leads there without mixing any."""
    return any(not _scrambles(order, new) for order in permutations(old) if order != old) or any(
        not _scrambles(old, order) for order in permutations(new) if order != new
    )


class _Axes(NamedTuple):
    """Where the axis lies that a layer takes for time, and the one that it takes for the batch; -1 when it is gone."""

    time: int
    batch: int


@once_a_line
def batch_taken_for_time(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A recurrent layer or attention whose samples are picked or averaged away, while its time steps are scored as
    samples: `batch_first` does not fit the data."""
    for op in diagnosis.ops_named((*RECURRENT, ATTENTION)):
        given, made = diagnosis.input_of(op), diagnosis.output_of(op)
        if given is None or made is None or op.iteration > 1 or len(made.shape) != 3 or min(made.shape[:2]) < 2:
            continue
        first = op.name != ATTENTION and op.arguments[-1].text == "True"
        lost = _batch_lost(diagnosis, made, _Axes(1, 0) if first else _Axes(0, 1))
        if lost is None or not diagnosis.reaches_a_pass(lost):
            continue
        batch = 0 if first else 1
        chain = (diagnosis.modules[module].type for module in diagnosis.module_chain(op.module))
        kind = next((each for each in chain if each in BATCH_FIRST), op.name)
        yield diagnosis.warning(
            "sample_picked_for_step" if first else "batch_taken_for_time",
            lost.span if first else op.span,
            tensors=(given.id, made.id),
            nodes=op.nodes[:1],
            fix=() if first else _batch_first(diagnosis, op),
            layer=kind,
            shape=times(made),
            samples=str(made.shape[batch]),
            steps=str(made.shape[1 - batch]),
            code=diagnosis.code.excerpt(lost.span),
            pick_line=line(lost.span),
            layer_line=line(op.span),
        )


def _batch_lost(diagnosis: Diagnosis, made: Tensor, axes: _Axes) -> Op | None:
    """The op that picks one sample or sums over them, where the time steps live on."""
    pending, met = [(made.id, axes)], {made.id}
    while pending and len(met) < MOST_VALUES:
        tensor, at = pending.pop(0)
        for op in diagnosis.takers.get(tensor, ()):
            moved = _moved(diagnosis, op, tensor, at)
            if moved is not None and moved.batch < 0 <= moved.time:
                return op
            if moved is not None and min(moved) >= 0 and op.outputs[0] not in met:
                met.add(op.outputs[0])
                pending.append((op.outputs[0], moved))
    return None


def _moved(diagnosis: Diagnosis, op: Op, tensor: str, axes: _Axes) -> _Axes | None:
    """Where the axes lie after an op; None when that is not known."""
    given, made = diagnosis.tensors.get(tensor), diagnosis.output_of(op)
    if given is None or made is None or op.raised or not op.nodes:
        return None
    if op.name in KEEPS_AXES and (op.name != "linear" or op.inputs[0] == tensor):
        return axes if given.shape[:-1] == made.shape[:-1] else None
    count = len(given.shape)
    if op.name in ("transpose", "permute"):
        order = _order(op, count)
        return _Axes(order.index(axes.time), order.index(axes.batch)) if order is not None else None
    gone = _gone(op, count)
    if gone is None or len(made.shape) != count - len(gone):
        return None
    time, batch = (-1 if axis in gone else axis - sum(other < axis for other in gone) for axis in axes)
    return _Axes(time, batch)


def _numbers(op: Op) -> list[int]:
    return [int(number) for given in op.arguments for number in re.findall(r"-?\d+", given.text or "")]


def _order(op: Op, count: int) -> list[int] | None:
    """The old place of each axis of a transposed tensor."""
    numbers, order = [number % count for number in _numbers(op)], list(range(count))
    if op.name == "transpose" and len(numbers) == 2:
        first, second = numbers
        order[first], order[second] = second, first
        return order
    return numbers if sorted(numbers) == order else None


def _gone(op: Op, count: int) -> list[int] | None:
    """The axes that an index with whole numbers or a reduction takes away."""
    if op.name == "getitem":
        text = _SLICE.sub(":", op.arguments[-1].text or "")
        parts = [part.strip() for part in text.strip("()").split(",") if part.strip()]
        if all(part == ":" or re.fullmatch(r"-?\d+", part) for part in parts):
            return [at for at, part in enumerate(parts) if part != ":"]
    elif op.name in REDUCES and argument(op, "keepdim", 2) in ("", "False"):
        text = argument(op, "dim", 1)
        return [int(number) % count for number in re.findall(r"-?\d+", text)] or None
    return None


def _batch_first(diagnosis: Diagnosis, op: Op) -> Edits:
    """`batch_first=True`, where only one layer that takes it is made."""
    made = [call for call in diagnosis.code.calls if called(call) in BATCH_FIRST]
    if len(made) != 1 or keyword(made[0], "batch_first") is not None:
        return ()
    return (diagnosis.code.argument_added(made[0], "batch_first=True"),)


@once_a_line
def weights_along_the_wrong_axis(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Attention weights that add up to 1 along another axis than the one that the product with the values sums
    over."""
    for op in diagnosis.ops_named(SOFTMAXES):
        given, made = diagnosis.input_of(op), diagnosis.output_of(op)
        if given is None or made is None or len(given.shape) < 3 or min(given.shape[-2:]) < 2:
            continue
        dim = argument(op, "dim", 1)
        if not re.fullmatch(r"-?\d+", dim) or int(dim) % len(given.shape) == len(given.shape) - 1:
            continue
        scores = next((m for m in _made_by(diagnosis, given) if m.name in PRODUCTS), None)
        weighed = next((t for t in _weighs(diagnosis, made) if t.name in PRODUCTS), None)
        if scores is None or weighed is None:
            continue
        yield diagnosis.warning(
            "weights_along_the_wrong_axis",
            op,
            tensors=(given.id, made.id),
            op=op.name,
            name=diagnosis.say(given.id),
            shape=times(given),
            dim=dim,
            keys=str(given.shape[-1]),
            product_line=line(weighed.span),
        )


def _made_by(diagnosis: Diagnosis, tensor: Tensor) -> Iterator[Op]:
    """The op that made it, and those before, as long as there is but one way back."""
    maker = diagnosis.maker.get(tensor.id)
    for _ in range(6):
        if maker is None:
            return
        yield maker
        maker = diagnosis.maker.get(maker.inputs[0]) if maker.inputs and maker.name not in PRODUCTS else None


def _weighs(diagnosis: Diagnosis, made: Tensor) -> Iterator[Op]:
    """The products in which it stands first, as it is or after dropout."""

    def kept(tensor: str) -> Iterator[str]:
        takers = diagnosis.takers.get(tensor, ())
        return (output for taker in takers if taker.name == "dropout" for output in taker.outputs if output != tensor)

    for tensor in walk([made.id], kept):
        yield from (taker for taker in diagnosis.takers.get(tensor, ()) if taker.inputs[0] == tensor)


@once_a_line
def sums_of_other_weights(diagnosis: Diagnosis) -> Iterator[Finding]:
    """One weight for each place, which add up to 1 along one axis, in a sum along another."""
    for op in diagnosis.ops_named(SOFTMAXES[:1]):
        made = diagnosis.output_of(op)
        dim = argument(op, "dim", 1)
        if made is None or not re.fullmatch(r"-?\d+", dim) or min(made.shape[:2], default=0) < 2:
            continue
        ran = int(dim) % len(made.shape)
        other = 1 - ran
        summed = _summed(diagnosis, made, other)
        if summed is None:
            continue
        yield diagnosis.warning(
            "sum_of_other_weights",
            op,
            tensors=(made.id,),
            op=op.name,
            shape=times(made),
            dim=str(ran),
            other=str(other),
            sum_line=line(summed.span),
        )


def _summed(diagnosis: Diagnosis, made: Tensor, axis: int) -> Op | None:
    """The sum along an axis that weights of two axes are used in: `(w * x).sum(1)`, or `w.unsqueeze(1) @ x`."""

    def takers(tensor: str, *names: str) -> Iterator[Op]:
        return (
            taker for taker in diagnosis.takers.get(tensor, ()) if taker.name in names and taker.inputs[0] == tensor
        )

    if len(made.shape) == 3 and made.shape[-1] == 1:
        products = (product for product in diagnosis.takers.get(made.id, ()) if product.name == "mul")
        sums = (taker for product in products for taker in takers(product.outputs[0], "sum"))
        return next((taker for taker in sums if _gone(taker, 3) == [axis]), None)
    if len(made.shape) != 2 or axis != 1:
        return None
    rows = (taker.outputs[0] for taker in takers(made.id, "unsqueeze") if argument(taker, "dim", 1) == "1")
    return next((taker for row in rows for taker in takers(row, *PRODUCTS)), None)


@once_a_line
def products_of_unnormalised(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Similarities `z @ z.T` of rows, where it is the columns that were brought to length 1."""
    for op in diagnosis.ops_named(("normalize",)):
        made = diagnosis.output_of(op)
        if made is None or len(made.shape) != 2 or argument(op, "dim", 2) not in ("0", "-2"):
            continue
        product = next((t for t in diagnosis.takers.get(made.id, ()) if t.name in ("matmul", "mm")), None)
        if product is None or product.inputs[0] != made.id or made.id not in diagnosis.made_from(product.inputs[-1]):
            continue
        call = diagnosis.code.call_at(op.span)
        word = keyword(call, "dim") if call is not None else None
        yield diagnosis.warning(
            "product_of_unnormalised",
            op,
            tensors=(made.id,),
            fix=(diagnosis.code.replace(word.value, "1"),) if word is not None else (),
            shape=times(made),
            rows=str(made.shape[0]),
            code=diagnosis.code.excerpt(op.span),
            product=diagnosis.code.excerpt(product.span),
            product_line=line(product.span),
        )


@once_a_line
def rows_in_another_order(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Scores flattened from (time, batch) against targets flattened from (batch, time)."""
    for op in diagnosis.ops_named(CLASS_LOSSES):
        scores, targets = (_unflattened(diagnosis, diagnosis.input_of(op, at)) for at in (0, 1))
        if scores is None or targets is None or len(scores.shape) != 3 or len(targets.shape) != 2:
            continue
        if scores.shape[:2] != targets.shape[::-1] or scores.shape[0] == scores.shape[1] or 1 in scores.shape[:2]:
            continue
        yield diagnosis.finding(
            "rows_in_another_order",
            "error",
            op.span,
            tensors=(scores.id, targets.id),
            nodes=op.nodes[-1:],
            loss=op.name,
            scores=diagnosis.say(scores.id),
            targets=diagnosis.say(targets.id),
            shape=times(scores),
            target_shape=times(targets),
        )


def _unflattened(diagnosis: Diagnosis, tensor: Tensor | None) -> Tensor | None:
    """What a tensor was before it was flattened."""
    maker = diagnosis.maker.get(tensor.id) if tensor is not None else None
    return diagnosis.input_of(maker) if maker is not None and maker.name in (*RESHAPES, "flatten") else None
