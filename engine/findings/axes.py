"""Axes taken for one another: a view where a permutation was meant, time taken for the batch, weights that add up to 1
along the wrong axis. Sizes and the way of the axes through the graph tell, not how it is written."""

import ast
import re
from collections.abc import Iterator
from itertools import accumulate, pairwise, permutations
from operator import mul

from engine.findings.diagnosis import Diagnosis, argument, line, near, times
from engine.findings.losses import CLASS_LOSSES
from engine.program.edits import Edits
from engine.program.names import called, keyword
from engine.trace import Finding, Op, Tensor

Axes = tuple[int, ...]
"""Sizes of axes; or the places of some axes in a tensor, -1 for one that is gone."""
RESHAPES = ("view", "reshape")
RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
ATTENTION = "multi_head_attention_forward"
BATCH_FIRST = {"LSTM", "GRU", "RNN", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer"}
"""Layers that can be told that the batch is axis 0."""
KEEPS_AXES = frozenset(
    "add sub mul div linear dropout layer_norm relu gelu tanh sigmoid leaky_relu contiguous clone float".split()
)
REDUCES = frozenset("mean sum max amax min amin logsumexp".split())
MATRIX_PRODUCTS = frozenset(("matmul", "bmm"))
HANDED_ON = frozenset("stack cat div mul sub add float to contiguous getitem index_select".split())
"""What is done to samples before a model gets them."""
CASTS = frozenset("type float double to contiguous getitem sub div".split())
"""What leaves the order of the numbers of a table."""
TABLES = frozenset("tensor as_tensor from_numpy stack cat".split())
"""What makes one of numbers that the program has, or of columns that it puts together."""
SWAPS = ("transpose", "swapaxes", "swapdims", "t", "T", "mT")
NORMS = ("norm", "vector_norm", "linalg_vector_norm", "linalg_norm")
MOST_AXES = 5
MOST_TURNS = 8
"""Of one place; what comes later is like it."""
MOST_VALUES = 200
MOST_BACK = 6
_SLICE = re.compile(r"slice\([^()]*\)")


def axis_of(op: Op, given: Tensor, at: int = 1) -> int | None:
    """The axis that an op was told to run over, from 0."""
    text = argument(op, "dim", at)
    return int(text) % len(given.shape) if given.shape and re.fullmatch(r"-?\d+", text) else None


def views_for_permutes(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A view to a shape that only another order of the axes leads to: sizes fit, the numbers land elsewhere. Of those
    with the same sizes the first."""
    told: set[tuple[Axes, Axes]] = set()
    for op in diagnosis.ops_named(RESHAPES):
        given, made = diagnosis.input_of(op), diagnosis.output_of(op) if op.iteration < MOST_TURNS else None
        if given is None or made is None or (given.shape, made.shape) in told:
            continue
        takers = diagnosis.takers.get(made.id, ())
        old, new = _long(given.shape), _long(made.shape)
        is_swapped = len(old) == 2 and new == (old[1], old[0]) != old and _is_table(diagnosis, given, made)
        if not is_swapped and not _is_computed_with(diagnosis, made):
            continue  # the places of its numbers mean nothing
        apart, call = _told_apart(old, new), diagnosis.code.call_at(op.span)
        if call is not None and call.args and isinstance(call.args[0], ast.BinOp):
            new = apart  # `view(samples * heads, ...)`, where sizes may be the same by chance
        is_scored = any(taker.name in CLASS_LOSSES and taker.inputs[0] == made.id for taker in takers)
        as_rows = is_scored and len(new) == 2 and len(old) > 2 and new[1] == old[1] != old[-1]
        as_steps = is_scored and len(old) == 3 and new == (old[0], old[2], old[1]) != old
        is_mixed = is_swapped or any(is_permuted(old, each) for each in (new, apart))
        if not as_rows and not as_steps and not is_mixed:
            continue
        told.add((given.shape, made.shape))
        yield diagnosis.warning(
            "view_for_permute",
            op,
            tensors=(given.id, made.id),
            name=diagnosis.say(given.id),
            shape=times(given),
            result=times(made),
            is_joined=str(int(len(made.shape) < len(given.shape))),
        )


def _is_computed_with(diagnosis: Diagnosis, made: Tensor) -> bool:
    """Whether a model or a loss takes a tensor, or a batch that it was put into."""

    def handed_on(tensor: str) -> Iterator[str]:
        takers = (op for op in diagnosis.takers.get(tensor, ()) if op.module is None)
        return (output for op in takers if op.name in HANDED_ON for output in op.outputs)

    values = near([made.id], handed_on)
    takers = (taker for value in values for taker in diagnosis.takers.get(value, ()))
    return any(taker.module is not None or taker.name in CLASS_LOSSES for taker in takers)


def _is_table(diagnosis: Diagnosis, given: Tensor, made: Tensor) -> bool:
    """Whether the rows of what a view is given mean something, and a layer takes those of the result for samples or
    for time steps: what a recurrent layer reads, or a first linear layer gets of columns put together."""
    origin = diagnosis.origin(given.id, CASTS)
    if origin is not None and origin.name in RESHAPES:
        return False

    def handed_on(tensor: str) -> Iterator[str]:
        takers = (op for op in diagnosis.takers.get(tensor, ()) if op.name in (*RESHAPES, *HANDED_ON))
        outputs = (diagnosis.output_of(op) for op in takers)
        return (output.id for output in outputs if output is not None and _long(output.shape) == _long(made.shape))

    is_of_columns = origin is not None and origin.name in TABLES
    layers = (*RECURRENT, "linear") if is_of_columns else RECURRENT
    takers = (taker for value in near([made.id], handed_on) for taker in diagnosis.takers.get(value, ()))
    return any(taker.name in layers and taker.module is not None for taker in takers)


def _long(shape: Axes) -> Axes:
    return tuple(size for size in shape if size != 1)


def _told_apart(given: Axes, made: Axes) -> Axes:
    """The axes made, with the first one as two where it holds the first one given several times: samples and heads."""
    samples = given[0] if given and made and made[0] % (given[0] or 1) == 0 else 1
    return (samples, made[0] // samples, *made[1:]) if 1 < samples < made[0] else made


def is_permuted(given: Axes, made: Axes) -> bool:
    """Whether a view mixes axes, and some other order of them, before or after it, leads there without mixing any; one
    that only orders sizes anew always does."""
    old, new = _long(given), _long(made)
    if not 2 < max(len(old), len(new)) <= MOST_AXES:
        return False
    if sorted(old) == sorted(new):
        return old != new
    if not _scrambles(old, new):
        return False
    return any(not _scrambles(order, new) for order in permutations(old) if order != old) or any(
        not _scrambles(old, order) for order in permutations(new) if order != new
    )


def _scrambles(old: Axes, new: Axes) -> bool:
    """Whether a view gives an axis numbers of parts of several axes, rather than of whole axes or of one that is
    split."""
    if 0 in old or not old or not new:
        return False
    before, after = bounds(old), bounds(new)
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


def bounds(shape: Axes) -> list[int]:
    """How many numbers lie within each axis and those after it, from 1 up to all."""
    return [1, *accumulate(reversed(shape), mul)]


def _is_uneven(before: list[int], bound: int) -> bool:
    """Whether a bound cuts an axis into parts that are not all the same."""
    below, above = max(b for b in before if b < bound), min(b for b in before if b > bound)
    return bound % below != 0 or above % bound != 0


def batch_taken_for_time(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A recurrent layer or attention whose samples are picked or averaged away, while its time steps are scored as
    samples: `batch_first` does not fit the data."""
    for op in diagnosis.ops_named((*RECURRENT, ATTENTION)):
        given, made = diagnosis.input_of(op), diagnosis.output_of(op)
        if given is None or made is None or op.iteration > 1 or len(made.shape) != 3 or min(made.shape[:2]) < 2:
            continue
        first = op.name != ATTENTION and op.arguments[-1].text == "True"
        lost = _batch_lost(diagnosis, made, (1, 0) if first else (0, 1))
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
            fix=() if first else turned_round(diagnosis, is_first=False),
            layer=kind,
            samples=str(made.shape[batch]),
            steps=str(made.shape[1 - batch]),
            code=diagnosis.code.excerpt(lost.span),
            pick_line=line(lost.span),
            layer_line=line(op.span),
        )


def _batch_lost(diagnosis: Diagnosis, made: Tensor, axes: Axes) -> Op | None:
    """The op that picks one sample or sums over them, where the time steps live on; `axes` are time and batch."""
    for op, tensor, at in _ways(diagnosis, made, axes):
        moved = _moved(diagnosis, op, tensor, at)
        if moved is not None and moved[1] < 0 <= moved[0]:
            alike = (taker for taker in diagnosis.takers[tensor] if taker.span == op.span)
            if len({taker.arguments[-1].text for taker in alike}) == 1:  # a loop that picks all of them loses none
                return op
    return None


def _ways(diagnosis: Diagnosis, made: Tensor, axes: Axes) -> Iterator[tuple[Op, str, Axes]]:
    """The ops that a tensor goes into, as long as all its axes live, with what each was given and where they lie
    there."""
    pending, met = [(made.id, axes)], {made.id}
    while pending and len(met) < MOST_VALUES:
        tensor, at = pending.pop(0)
        for op in diagnosis.takers.get(tensor, ()):
            yield op, tensor, at
            moved = _moved(diagnosis, op, tensor, at)
            if moved is not None and min(moved) >= 0 and op.outputs[0] not in met:
                met.add(op.outputs[0])
                pending.append((op.outputs[0], moved))


def _moved(diagnosis: Diagnosis, op: Op, tensor: str, axes: Axes) -> Axes | None:
    """Where the axes lie after an op; None when that is not known."""
    given, made = diagnosis.tensors.get(tensor), diagnosis.output_of(op)
    if given is None or made is None or op.raised or not op.nodes:
        return None
    count, is_first = len(given.shape), op.inputs[0] == tensor
    if op.name in (*KEEPS_AXES, "softmax") and (op.name != "linear" or is_first):
        return axes if given.shape[:-1] == made.shape[:-1] else None
    if op.name in MATRIX_PRODUCTS and len(made.shape) == count == 3:
        # one row of weights for each place of axis 0 takes axis 1 together
        is_pooling = made.shape[1] == 1 < given.shape[1] and max(axes) < 2
        return axes if is_first and max(axes) < 2 else tuple(-axis for axis in axes) if is_pooling else None
    if op.name == "einsum":
        return _kept_by_letters(op, op.inputs.index(tensor), axes)
    if op.name in (*SWAPS, "permute"):
        order = order_of(op, count)
        return tuple(map(order.index, axes)) if order is not None else None
    gone = gone_of(op, count)
    if gone is None or len(made.shape) != count - len(gone):
        return None
    return tuple(-1 if axis in gone else axis - sum(other < axis for other in gone) for axis in axes)


def _kept_by_letters(op: Op, place: int, axes: Axes) -> Axes | None:
    """Where an `einsum` that only weighs and sums up leaves the axes of one of its operands."""
    operands, made = _letters(op)
    own = operands[place]
    return tuple(made.find(own[axis]) for axis in axes) if made and {*made} <= {*own} and "." not in own else None


def _letters(op: Op) -> tuple[list[str], str]:
    """Those of the operands of an `einsum`, and those of its result."""
    terms, _, made = (op.arguments[0].text or "").strip("'\"").replace(" ", "").partition("->")
    return terms.split(","), made


def order_of(op: Op, count: int) -> list[int] | None:
    """The old place of each axis of a transposed tensor."""
    written = [number for given in op.arguments for number in re.findall(r"-?\d+", given.text or "")]
    numbers, order = [int(number) % count for number in written], list(range(count))
    if op.name in ("t", "T", "mT"):
        return order[::-1] if count == 2 else None
    if op.name in SWAPS and len(numbers) == 2:
        first, second = numbers
        order[first], order[second] = second, first
        return order
    return numbers if sorted(numbers) == order else None


def gone_of(op: Op, count: int) -> list[int] | None:
    """The axes that an index with whole numbers or a reduction takes away."""
    if op.name == "getitem":
        text = _SLICE.sub(":", op.arguments[-1].text or "")
        parts = [part.strip() for part in text.strip("()").split(",") if part.strip()]
        if all(part == ":" or re.fullmatch(r"-?\d+", part) for part in parts):
            return [at for at, part in enumerate(parts) if part != ":"]
    elif op.name in REDUCES and argument(op, "keepdim", 2) in ("", "False"):
        return [int(number) % count for number in re.findall(r"-?\d+", argument(op, "dim", 1))] or None
    return None


def turned_round(diagnosis: Diagnosis, *, is_first: bool) -> Edits:
    """`batch_first=True` added or, where it `is_first`, left out, where only one layer that takes it is made."""
    code = diagnosis.code
    made = [call for call in code.calls if called(call) in BATCH_FIRST]
    word = keyword(made[0], "batch_first") if len(made) == 1 else None
    if len(made) != 1 or (word is not None) != is_first:
        return ()
    return (code.argument_added(made[0], "batch_first=True") if word is None else code.replace(word.value, "False"),)


def weights_along_the_wrong_axis(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Weights that add up to 1 along another axis than the one that the sum with the values runs over: those of
    attention, or one for each place."""
    for op in diagnosis.ops_named(("softmax", "softmin")):
        given, made = diagnosis.input_of(op), diagnosis.output_of(op)
        axis = axis_of(op, made) if made is not None else None
        if given is None or made is None or axis is None or min(_long(made.shape) or (0,)) < 2:
            continue
        is_attention = len(made.shape) > 2 and made.shape[-1] > 1
        if is_attention and not _are_products(diagnosis, given):
            continue
        summed = next((found for found in _sums(diagnosis, made, axis) if is_attention or found[1] < 2), None)
        if summed is None or summed[1] == axis:
            continue
        is_one, weighed = made.shape[axis] == 1, diagnosis.input_of(summed[0])
        if is_one and summed[0].name == "sum" and weighed is not None and weighed.shape == made.shape:
            continue  # one number for each entry is weighed: a probability rather than a weight
        yield diagnosis.finding(
            "weights_along_the_wrong_axis",
            "error" if is_one else "warning",
            op,
            tensors=(given.id, made.id),
            name=diagnosis.say(given.id),
            shape=times(given),
            dim=str(axis),
            other=str(summed[1]),
            keys=str(made.shape[summed[1]]),
            sum_line=line(summed[0].span),
            is_one=str(int(is_one)),
        )


def _are_products(diagnosis: Diagnosis, scores: Tensor) -> bool:
    """Whether they were computed as products of queries and keys."""
    return any(maker.name in (*MATRIX_PRODUCTS, "einsum") for maker in diagnosis.back(scores.id, MOST_BACK + 1))


def _sums(diagnosis: Diagnosis, made: Tensor, shared: int) -> Iterator[tuple[Op, int]]:
    """The sums that weights, shared out along an axis, are used in, with the axis of the weights that each runs over:
    `w @ v`, `(w * x).sum(1)`, `w.unsqueeze(1) @ x`, or an `einsum`."""
    pending = [(made.id, 0, False)]
    for tensor, added, is_weighing in pending:
        for taker in diagnosis.takers.get(tensor, ()):
            if not taker.outputs or (taker.inputs[0] != tensor and taker.name not in ("mul", "einsum")):
                continue
            count = len(made.shape) + added
            if taker.name in MATRIX_PRODUCTS:
                yield taker, len(made.shape) - 1
            elif taker.name == "einsum" and not added:
                yield from ((taker, at) for at in _contracted(taker, taker.inputs.index(tensor), shared, count))
            elif taker.name in RESHAPES and _keeps_keys(diagnosis, taker) and _are_products(diagnosis, made):
                users = diagnosis.takers.get(taker.outputs[0], ())
                yield from ((user, len(made.shape) - 1) for user in users if user.name in MATRIX_PRODUCTS)
            elif taker.name == "sum" and is_weighing and len(gone := gone_of(taker, count) or []) == 1:
                yield taker, gone[0]
            elif taker.name == "unsqueeze" and argument(taker, "dim", 1) == "1":
                pending.append((taker.outputs[0], 1, is_weighing))
            elif taker.name == "dropout" or (taker.name == "mul" and made.shape[-1] == 1):
                pending.append((taker.outputs[0], added, is_weighing or taker.name == "mul"))


def _contracted(op: Op, place: int, shared: int, count: int) -> Iterator[int]:
    """The axis of one of two operands that an `einsum` sums over, where the values know nothing of the axis that the
    weights were shared out along: capsules share out what each of their values is for."""
    operands, made = _letters(op)
    if len(operands) != 2 or not made or len(op.inputs) != 2 or "." in operands[place].lstrip("."):
        return
    own, values = operands[place], operands[1 - place]
    summed = [at + count - len(own) for at, letter in enumerate(own) if letter in values and letter not in made]
    if len(summed) == 1 and (summed[0] == shared or own[shared - count :][:1] not in values):
        yield summed[0]


def _keeps_keys(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether a view leaves the last axis as it is."""
    given, made = diagnosis.input_of(op), diagnosis.output_of(op)
    return given is not None and made is not None and given.shape[-1:] == made.shape[-1:]


def powers_for_axes(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`F.normalize(x, -1)` or `x.norm(-1)`: the place after the tensor is that of the power."""
    for op in diagnosis.ops_named(("normalize", "norm")):
        call, power = diagnosis.code.call_at(op.span), argument(op, "p", 1)
        is_axis = re.fullmatch(r"-\d+", power) or (op.name == "normalize" and power == "0")
        if not is_axis or call is None or not called(call).startswith("norm") or keyword(call, "dim") is not None:
            continue
        if call.args and ast.unparse(call.args[-1]) == power:
            yield diagnosis.warning(
                "power_for_axis",
                op,
                tensors=(*op.inputs[:1], *op.outputs[:1]),
                fix=(diagnosis.code.replace(call.args[-1], f"dim={power}"),),
                value=power,
            )
