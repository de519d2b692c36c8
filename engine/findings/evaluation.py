"""What a model is measured by and is not what it is taken for: data standardised by their own figures."""

import re
from collections.abc import Iterator
from itertools import islice

from engine.findings.diagnosis import Diagnosis, argument, line, once_a_line, walk
from engine.findings.losses import PASSING
from engine.trace import Finding, Op, Tensor

HELD_OUT = re.compile(r"(^|_)([xy]_?)?(te|test|testing|val|valid|validation|holdout)(_|\d|$)", re.IGNORECASE)
TRAINING = re.compile(r"(^|_)([xy]_?)?(tr|train|training)(_|\d|$)", re.IGNORECASE)
KEEPS_SCALE = PASSING | {"add", "clamp", "clamp_min", "maximum", "where"}
MOST_AHEAD = 200


def _is_held_out(name: str) -> bool:
    return HELD_OUT.search(name) is not None and TRAINING.search(name) is None


@once_a_line
def standardised_by_themselves(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Test data less their own mean over their own deviation, where those of the training have figures of their own."""
    scaled = [(op, of) for op in diagnosis.ops_named(("div",)) if (of := _standardised(diagnosis, op)) is not None]
    trained = [
        each for each in scaled if not _is_named_held_out(diagnosis, *each) and _is_trained_on(diagnosis, each[0])
    ]
    for op, given in scaled if trained else ():
        first, of = trained[0]
        if not _is_named_held_out(diagnosis, op, given) or _is_trained_on(diagnosis, op) or of.id == given.id:
            continue
        if of.shape[1:] != given.shape[1:]:
            continue
        test, train = (_called(diagnosis, each, tensor) for each, tensor in ((op, given), (first, of)))
        yield diagnosis.warning(
            "standardised_by_itself",
            op.span,
            tensors=(given.id, *op.outputs[:1]),
            name=test,
            train=train,
            train_line=line(first.span),
        )


def _standardised(diagnosis: Diagnosis, op: Op) -> Tensor | None:
    """The samples that an op gives less their own mean over their own deviation, column by column."""
    less, scale = (diagnosis.maker.get(tensor) for tensor in op.inputs[:2]) if len(op.inputs) == 2 else (None, None)
    if less is None or scale is None or less.name != "sub" or len(less.inputs) != 2 or op.inputs[0] not in less.outputs:
        return None
    spread = diagnosis.origin(op.inputs[1], KEEPS_SCALE) if scale.name != "std" else scale
    mean, given = diagnosis.maker.get(less.inputs[1]), diagnosis.input_of(less)
    if spread is None or mean is None or given is None or (mean.name, spread.name) != ("mean", "std"):
        return None
    over = {argument(each, "dim", 1) or argument(each, "axis") for each in (mean, spread)}
    is_own = mean.inputs[:1] == spread.inputs[:1] == less.inputs[:1]
    is_data = not diagnosis.is_followed(given.id) and len(given.shape) > 0 and given.shape[0] > 1
    return given if is_own and is_data and over <= {"0", "(0,)", "", "None"} else None


def _is_named_held_out(diagnosis: Diagnosis, op: Op, given: Tensor) -> bool:
    made = diagnosis.output_of(op)
    return any(_is_held_out(name) for tensor in (given, made) if tensor is not None for name in tensor.names)


def _called(diagnosis: Diagnosis, op: Op, given: Tensor) -> str:
    made = diagnosis.output_of(op)
    return next((name for name in (*(made.names if made else ()), *given.names)), diagnosis.say(given.id))


def _is_trained_on(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether a pass went back through something that was computed from it."""
    used = islice(walk(op.outputs, diagnosis.made_of), MOST_AHEAD)
    makers = (diagnosis.maker.get(tensor) for tensor in used)
    return any(maker is not None and diagnosis.reaches_a_pass(maker) for maker in makers)
