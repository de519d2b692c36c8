"""Classes looked for along the wrong axis: a softmax that runs over the batch instead, or over one score alone."""

import ast
from collections.abc import Iterator

from engine.findings.axes import RECURRENT, axis_of
from engine.findings.diagnosis import Diagnosis, near, numbers_of, times
from engine.findings.losses import CLASS_LOSSES, LOSSES, MADE_BY_LAYERS, PASSING, SOFTMAX_LAYERS, SOFTMAXES
from engine.ops import DETACHES
from engine.program.edits import Edits
from engine.program.names import called, keyword
from engine.trace import Finding, Op, Tensor

BENDS = frozenset("relu tanh sigmoid leaky_relu gelu softplus".split())
CONVOLUTIONS = frozenset(("conv1d", "conv2d", "conv3d"))
"""Their classes are on axis 1; those of all other layers on the last."""
BY_NUMBERS = frozenset("div mul add sub".split())
"""Ops that keep the axes when they are given one tensor and a number, or a bias."""
KEEPS_PLACES = PASSING | BY_NUMBERS | DETACHES | frozenset("log neg clamp clamp_min log1p exp cpu numpy round".split())
READS_CLASSES = frozenset(
    (
        *LOSSES,
        *"kl_div mse_loss __getitem__ getitem gather index_select".split(),
        *"argmax max topk amax eq ne sum mean item tolist".split(),
    )
)
"""What is done with the probabilities of classes; a product with other values makes them weights, and those may run
over any axis."""
ITEMS = ("__getitem__", "getitem")
CHOICES = ("argmax", "max")
MOST_STEPS = 8


def one_class_alone(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A softmax, an argmax or a class loss over the one score that a layer gives: always 1, 0 and 0."""
    for op in diagnosis.ops_named((*SOFTMAXES, *CHOICES, *CLASS_LOSSES)):
        given = diagnosis.input_of(op) if not op.iteration else None
        is_loss, is_choice = op.name in CLASS_LOSSES, op.name in CHOICES
        axis = 1 if is_loss else axis_of(op, given) if given is not None else None
        if given is None or axis is None or given.shape[axis : axis + 1] != (1,):
            continue
        layer = _layer(diagnosis, given)
        if (op.name == "max" and diagnosis.takers.get(op.outputs[0])) or layer is None:
            continue  # a pooling, or no scores
        if diagnosis.tensors[layer.outputs[0]].shape == (*given.shape, 1):
            continue  # the one score was taken out: these are places
        if (not axis or given.shape[0] < 2) and not (
            op.name in SOFTMAXES and _gives_one(diagnosis, layer, given, axis)
        ):
            continue  # one sample, or one place of a sequence
        others = (diagnosis.input_of(other) for other in diagnosis.ops_at(op.span) if other.name == op.name)
        if any(other is not None and other.shape[axis : axis + 1] != (1,) for other in others):
            continue
        yield diagnosis.finding(
            "one_class_loss" if is_loss else "one_class_choice" if is_choice else "one_class_softmax",
            "error",
            op,
            tensors=(given.id, *op.outputs[-1:]),
            name=diagnosis.say(given.id),
            shape=times(given),
            axis=str(axis),
            value="0" if op.name != "softmax" else "1",
        )


def _gives_one(diagnosis: Diagnosis, layer: Op, scores: Tensor, axis: int) -> bool:
    """Whether a layer has one output alone, and the last axis of the scores of one sample is that."""
    weight, made = diagnosis.input_of(layer, 1), diagnosis.output_of(layer)
    is_one = layer.name == "linear" and weight is not None and weight.shape[:1] == (1,)
    return is_one and made is not None and made.shape == scores.shape == (1,) * (axis + 1)


def softmax_over_batch(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Probabilities of a batch of scores that add up to 1 over the batch."""
    for made in diagnosis.ops_named((*SOFTMAXES, "div", "sub")):
        op = made if made.name in SOFTMAXES else total_of(diagnosis, made)
        given = diagnosis.input_of(op) if op is not None else None
        if op is None or given is None or not _over_batch(diagnosis, op, given):
            continue
        if not _only_classes(diagnosis, made) or _also_over_classes(diagnosis, op):
            continue
        call, axis = _written(diagnosis, op), _class_axis(diagnosis, given)
        span = diagnosis.code.span(call) if call is not None else op.span
        yield diagnosis.warning(
            "softmax_over_batch",
            span,
            tensors=(given.id, *made.outputs[:1]),
            nodes=op.nodes[:1],
            fix=_other_axis(diagnosis, call, axis) if op is made else _all_axes(diagnosis, op, axis),
            op=op.name,
            keep="" if op is made else ", keepdim=True",
            name=diagnosis.say(given.id),
            shape=times(given),
            run=str(axis_of(op, given)),
            batch=str(given.shape[axis_of(op, given) or 0]),
            classes=str(given.shape[axis]),
            dim=str(axis),
        )


def total_of(diagnosis: Diagnosis, op: Op) -> Op | None:
    """What numbers are divided by in a softmax written out, the sum of these exponentials; for its logarithm the
    `logsumexp` that is taken off."""
    total = diagnosis.maker.get(op.inputs[1]) if len(op.inputs) == 2 else None
    maker = diagnosis.maker.get(op.inputs[0])
    if total is None or maker is None or total.inputs[:1] != op.inputs[:1]:
        return None
    is_total = total.name == "sum" and maker.name == "exp" if op.name == "div" else total.name == "logsumexp"
    return total if is_total else None


def _over_batch(diagnosis: Diagnosis, op: Op, given: Tensor) -> bool:
    """Whether it runs over axis 0 of what a layer made of a batch, or over the steps of a sequence whose classes a
    loss then looks for on the last axis."""
    axis, dim = _class_axis(diagnosis, given), axis_of(op, given)
    if len(given.shape) < 2 or dim in (None, axis) or min(given.shape[dim or 0], given.shape[axis]) < 2:
        return False
    last = axis == len(given.shape) - 1 and (dim == 0 or _is_scored(diagnosis, op, given.shape[-1]))
    return (dim == 0 or last) and _layer(diagnosis, given) is not None


def _is_scored(diagnosis: Diagnosis, op: Op, classes: int) -> bool:
    """Whether the probabilities go into a loss as rows of so many classes."""
    scores = ((user, diagnosis.input_of(user)) for user in _users(diagnosis, op.outputs[0] if op.outputs else ""))
    return any(user.name in LOSSES and score is not None and score.shape[1:] == (classes,) for user, score in scores)


def _class_axis(diagnosis: Diagnosis, given: Tensor) -> int:
    layer = _layer(diagnosis, given)
    return 1 if layer is not None and layer.name in CONVOLUTIONS else len(given.shape) - 1


def _layer(diagnosis: Diagnosis, tensor: Tensor | None) -> Op | None:
    """The layer whose scores these are: one that keeps the batch on axis 0 and puts the classes last (or on 1)."""
    for _ in range(MOST_STEPS):
        maker = diagnosis.maker.get(tensor.id) if tensor is not None else None
        if tensor is None or maker is None or not maker.inputs:
            return None
        if maker.name in CONVOLUTIONS:
            return maker if len(tensor.shape) >= 3 else None
        if maker.name in ("linear", "embedding", "addmm") or (
            maker.name in RECURRENT and tensor.id == maker.outputs[0]
        ):
            return maker
        if maker.name in MADE_BY_LAYERS:
            weight = diagnosis.input_of(maker, 1)
            return maker if weight is not None and weight.is_leaf and weight.requires_grad else None
        if maker.name not in KEEPS_PLACES | BENDS and maker.name not in SOFTMAXES:
            return None
        if maker.name in BY_NUMBERS and not _by_number(diagnosis, maker):
            return None
        tensor = diagnosis.input_of(maker)
    return None


def _by_number(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether its second operand is a number, or a tensor that is the same for all rows."""
    if len(op.inputs) < 2:
        return True
    first, second = diagnosis.input_of(op), diagnosis.input_of(op, 1)
    if first is None or second is None:
        return False
    return second.shape[:-1] == (1,) or (len(second.shape) < len(first.shape) and len(second.shape) <= 1)


def _users(diagnosis: Diagnosis, tensor: str) -> Iterator[Op]:
    """The ops that a value goes into, seen through those that keep its places; an op that such a value merely fills
    is left out."""

    def through(value: str) -> Iterator[str]:
        for op in diagnosis.takers.get(value, ()):
            is_column = (
                op.name in ITEMS and len(op.inputs) == 1
            )  # of weights it is still a weight; no class of each row
            if _keeps_places(diagnosis, op) or is_column:
                yield from op.outputs

    for value in near([tensor], through):
        yield from (op for op in diagnosis.takers.get(value, ()) if not _keeps_places(diagnosis, op))


def _keeps_places(diagnosis: Diagnosis, op: Op) -> bool:
    return op.name in KEEPS_PLACES and (op.name not in BY_NUMBERS or _by_number(diagnosis, op))


def _only_classes(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether all that happens to the probabilities fits classes: losses, choices, sums; no weighing of other
    values."""
    return all(
        (user.name in READS_CLASSES and not _picks_rows(diagnosis, user))
        or (user.name == "mul" and _by_one_hot(diagnosis, user))
        for user in _users(diagnosis, op.outputs[0] if op.outputs else "")
    )


def _picks_rows(diagnosis: Diagnosis, op: Op) -> bool:
    """`p[best, torch.arange(3)]`: whether it asks for one row of each class, which are then what is chosen from."""
    places = [list(numbers_of(diagnosis.tensors.get(given))) for given in op.inputs[1:]] if op.name in ITEMS else []
    counts = [place == list(range(len(place))) for place in places]
    return counts == [False, True]


def _by_one_hot(diagnosis: Diagnosis, op: Op) -> bool:
    return any(
        numbers and set(numbers) == {0.0, 1.0}
        for numbers in (numbers_of(diagnosis.tensors.get(input_)) for input_ in op.inputs)
    )


def _also_over_classes(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether the same scores are normalised over another axis too: both are looked at."""
    others = diagnosis.takers.get(op.inputs[0], ()) if op.inputs else ()
    given = diagnosis.input_of(op)
    return any(
        other.name in SOFTMAXES and given is not None and axis_of(other, given) not in (axis_of(op, given), None)
        for other in others
    )


def _written(diagnosis: Diagnosis, op: Op) -> ast.Call | None:
    """The call that says the axis: the op's own, or the one that makes the only layer of its kind."""
    code = diagnosis.code
    call = code.call_at(op.span)
    layer = diagnosis.modules.get(op.module or "")
    is_layer = layer is not None and layer.type in SOFTMAX_LAYERS  # then `self.softmax(x)` does not say the axis
    if call is not None and called(call) == op.name and not is_layer:
        return call
    kind = next((layer for layer in SOFTMAX_LAYERS if layer.lower() == op.name.replace("_", "")), None)
    made = [maker for maker in code.calls if kind is not None and called(maker) == kind]
    return made[0] if len(made) == 1 else None


def _all_axes(diagnosis: Diagnosis, total: Op, axis: int) -> Edits:
    """The axis given to the sum of a softmax written out, and to the largest score that it takes off before."""
    code, before = diagnosis.code, diagnosis.back(total.inputs[0], MOST_STEPS)
    taken = (maker for op in before if op.name == "sub" for maker in map(diagnosis.maker.get, op.inputs[1:]))
    ops = [total, *(maker for maker in taken if maker is not None and maker.name in ("max", "amax"))]
    calls = [call for op in ops if (call := code.call_at(op.span)) is not None and called(call) == op.name]
    turned = [_other_axis(diagnosis, call, axis) for call in calls]
    short = (
        call for call in calls if "True" not in map(code.text, (*call.args, *(word.value for word in call.keywords)))
    )
    kept = [code.argument_added(call, "keepdim=True") for call in short]
    return (*(edit for edits in turned for edit in edits), *kept) if len(calls) == len(ops) and all(turned) else ()


def _other_axis(diagnosis: Diagnosis, call: ast.Call | None, axis: int) -> Edits:
    if call is None:
        return ()
    code = diagnosis.code
    word = keyword(call, "dim") or keyword(call, "axis")
    if word is not None:
        return (code.replace(word.value, str(axis)),)
    at = 0 if code.receiver(call) is not None or called(call) in SOFTMAX_LAYERS else 1
    if at < len(call.args):
        return (code.replace(call.args[at], str(axis)),)
    return ()
