"""Samples of a batch that mix on their way to the loss: the axis that holds them is followed from what the model was
given, through every op that is sure to keep it, to the first one that breaks it.

Permuting the batch must permute the result, and changing one sample must not change another's output. An op whose way
with axes is not known ends the walk, so that nothing is said.
"""

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from engine.findings.axes import (
    ATTENTION,
    BATCH_FIRST,
    NORMS,
    RECURRENT,
    SWAPS,
    Axes,
    axis_of,
    bounds,
    gone_of,
    order_of,
)
from engine.findings.diagnosis import Diagnosis, line, near, says, size_of, times
from engine.findings.losses import CLASS_LOSSES, SOFTMAXES, WITH_TARGETS
from engine.ops import family_of
from engine.program.names import called
from engine.trace import Finding, Op, Tensor

CUTS_ANEW = frozenset(
    "view reshape flatten unflatten unsqueeze squeeze view_as reshape_as contiguous clone to float".split()
)
"""Ops that leave the numbers in their order."""
TURNS = frozenset((*SWAPS, "permute"))
SHARES = frozenset((*SOFTMAXES, "normalize"))
"""Ops that make numbers depend on all others along an axis."""
TOTALS = frozenset(("sum", *NORMS))
"""What numbers are divided by for the same end."""
RUNS_ALONG = SHARES | {"cumsum", "cumprod", "glu", "outer", "prod"}
REDUCES = frozenset("mean sum amax amin logsumexp".split())
POINTWISE = frozenset("add mul div pow act".split())
"""Families of ops that compute each number from those at its place."""
FIRST_AXIS = re.compile(r"conv|max_pool|avg_pool|adaptive_|batch_norm|instance_norm|group_norm|interpolate|pad")
"""Ops that keep axis 0."""
MOST_BACK = 6
MOST_OPS = 2_000
MOST_LOSSES = 4


class Place(NamedTuple):
    """Where the samples lie: along an axis, within so many `outer` parts of it, each sample so many `inner` long."""

    axis: int
    outer: int = 1
    inner: int = 1


class Batch(NamedTuple):
    """What a loss scores sample by sample."""

    size: int
    loss: Op
    target: Tensor
    """With the shape that it had before it was flattened."""

    @property
    def is_of_classes(self) -> bool:
        """Whether it holds one class for each sample."""
        return self.loss.name in CLASS_LOSSES and len(self.target.shape) == 1


def samples_mixed(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Normalisations, means and sums that make one sample's output depend on another's."""
    losses = (op for op in diagnosis.ops_named(WITH_TARGETS) if op.iteration == 0)
    for loss in islice(losses, MOST_LOSSES):
        batch = _batch(diagnosis, loss)
        if batch is not None:
            yield from _Walk(diagnosis, batch).findings()


def _batch(diagnosis: Diagnosis, loss: Op) -> Batch | None:
    target = diagnosis.input_of(loss, 1)
    maker = diagnosis.maker.get(target.id) if target is not None else None
    if target is not None and maker is not None and maker.name in CUTS_ANEW:
        target = diagnosis.input_of(maker) or target
    if target is None or target.requires_grad or not target.shape or target.shape[0] < 2:
        return None
    return Batch(target.shape[0], loss, target) if diagnosis.reaches_a_pass(loss) else None


class _Walk:
    """The way of one batch through the ops before its loss."""

    def __init__(self, diagnosis: Diagnosis, batch: Batch) -> None:
        self.diagnosis = diagnosis
        self.batch = batch
        self.places: dict[str, Place] = {}
        self.given: dict[str, str] = {}
        """For each tensor with a place, what the model was given."""

    def findings(self) -> Iterator[Finding]:
        end = self.diagnosis.op_at[self.batch.loss.id]
        for op in self.diagnosis.trace.ops[max(0, end - MOST_OPS) : end]:
            given = self.diagnosis.input_of(op)
            if given is None or op.raised or op.in_place or not op.outputs:
                continue
            if op.module is not None and given.id not in self.places and self._is_data(given):
                self.places[given.id], self.given[given.id] = Place(0), given.id
            if given.id in self.places:
                place = self.places[given.id]
                finding = self._finding(op, given, place)
                if finding is not None:
                    yield finding
                    return
                self._follow(op, given, place)

    def _is_data(self, given: Tensor) -> bool:
        """Whether a module was given it as it is, one row for each sample."""
        maker = self.diagnosis.maker.get(given.id)
        is_made = maker is not None and (maker.module is not None or bool(maker.nodes))
        return (
            not is_made
            and given.role not in ("parameter", "buffer")
            and given.shape[:1] == (self.batch.size,)
            and (given.shape[1:2] != given.shape[:1] or self._is_labelled_by_rows(given))
        )

    def _is_labelled_by_rows(self, given: Tensor) -> bool:
        """Whether the targets were computed from a column of the data: then axis 0 holds the samples of both."""
        tensor = self.batch.target.id
        for _ in range(MOST_BACK):
            maker = self.diagnosis.maker.get(tensor)
            if maker is None or not maker.inputs:
                break
            if maker.name == "getitem" and maker.inputs[0] == given.id:
                return (maker.arguments[-1].text or "").startswith("(slice(None, None, None), ")
            tensor = maker.inputs[0]
        return False

    def _users(self, given: Tensor) -> list[Op]:
        """What computes with a tensor for the sake of a gradient."""
        return [taker for taker in self.diagnosis.takers.get(given.id, ()) if taker.nodes]

    def _differs_along(self, op: Op, given: Tensor, axis: int) -> bool:
        """Whether what is added are weights or constants of the model with other numbers for each sample."""
        other, length = self.diagnosis.input_of(op, 1), self.batch.size
        if other is None or len(given.shape) < 3 or not size_of(other):
            return False
        maker = self.diagnosis.maker.get(other.id)
        held = self.diagnosis.input_of(maker) if maker is not None and maker.name == "getitem" else other
        at = axis - len(given.shape) + len(other.shape)
        is_own = held is other and held.role == "parameter"  # one for each of so many, who always come together
        is_held = held is not None and held.role in ("parameter", "buffer") and not is_own
        is_along = at >= 0 and other.shape[at] == length and math.prod(other.shape[at + 1 :]) > 1
        return is_along and (is_held or self._numbers_samples(maker))

    def _numbers_samples(self, maker: Op | None) -> bool:
        """Whether rows of a table are looked up by the number of each sample in its batch."""
        places = maker.inputs[0] if maker is not None and maker.name == "embedding" else ""
        counted = self.diagnosis.origin(places, CUTS_ANEW) if places else None
        is_count = counted is not None and counted.name == "arange"
        return is_count and self.diagnosis.elements(places) == self.batch.size

    def _follow(self, op: Op, given: Tensor, place: Place) -> None:
        for at, output in enumerate(op.outputs):
            made = self.diagnosis.tensors.get(output)
            new = _after(op, given, made, place, at, self.batch.size) if made is not None else None
            others = {self.places[other] for other in op.inputs[1:] if other in self.places} if new == place else set()
            if new is not None and not others - {place}:
                self.places[output], self.given[output] = new, self.given[given.id]

    def _finding(self, op: Op, given: Tensor, place: Place) -> Finding | None:
        """What mixes the samples on their way to the loss."""
        code = self._mixes(op, given, place)
        op = self._total(op, given) or op
        if not code or not self.diagnosis.reaches_a_pass(op):
            return None
        behind = self.diagnosis.reached_from(self.batch.loss.nodes)
        return self._said(code, op, given, place) if not behind.isdisjoint(op.nodes) else None

    def _mixes(self, op: Op, given: Tensor, place: Place) -> str:
        is_apart = op.name == "add" and place == Place(place.axis) and self._differs_along(op, given, place.axis)
        if op.module is not None and is_apart and (self._is_batch_first() or self._is_one_answer_each(given)):
            return "samples_told_apart"
        if op.module is None or not self._is_one_answer_each(given):
            return ""
        gone = gone_of(op, len(given.shape)) or [] if op.name in REDUCES else []
        if place.axis in gone and len(gone) < len(given.shape) and len(self._users(given)) == 1:
            return "samples_averaged" if place == Place(place.axis) and not self._meets_rows(op) else ""
        if op.name == "mean" and len(given.shape) > 1 and self._is_taken_off_each(op, given):
            return "samples_averaged"
        total = self._total(op, given) or op
        dim = axis_of(total, given, 1 if total.name in (*SOFTMAXES, "sum") else 2)
        if (
            (op.name in SHARES or total is not op)
            and dim == place.axis
            and given.shape.count(given.shape[place.axis]) == 1
        ):
            return "samples_share" if self.batch.is_of_classes else ""
        return ""

    def _total(self, op: Op, given: Tensor) -> Op | None:
        """The sum or the norm of the very numbers that it then divides."""
        total = self.diagnosis.maker.get(op.inputs[1]) if op.name == "div" and len(op.inputs) == 2 else None
        is_own = total is not None and total.name in TOTALS and total.inputs[0] == given.id
        return total if is_own else None

    def _meets_rows(self, op: Op) -> bool:
        """Whether what came of a mean is held against rows again, as a prototype is: there is an answer for each."""
        made = set(near(op.outputs, self.diagnosis.made_of))
        takers = (taker for tensor in made for taker in self.diagnosis.takers.get(tensor, ()))
        stretched = ((taker, each) for taker in takers if taker is not self.batch.loss for each in taker.broadcast)
        return any(taker.inputs[each.input] in made for taker, each in stretched)

    def _is_taken_off_each(self, op: Op, given: Tensor) -> bool:
        """Whether a mean over all axes is only subtracted from what has a row for each sample, and was made of the
        same."""
        takers = self.diagnosis.takers.get(op.outputs[0], ())
        rows = self.diagnosis.input_of(takers[0]) if len(takers) == 1 and takers[0].name == "sub" else None
        is_each = rows is not None and rows.shape[:1] == (self.batch.size,)
        is_all = self.diagnosis.elements(op.outputs[0]) == 1
        return is_all and rows is not None and is_each and given.id in near([rows.id], self.diagnosis.made_from)

    def _is_batch_first(self) -> bool:
        """Whether all layers for sequences were told that axis 0 holds the samples."""
        made = [call for call in self.diagnosis.code.calls if called(call) in BATCH_FIRST]
        return bool(made) and all(says(call, "batch_first") == "True" for call in made)

    def _is_one_answer_each(self, given: Tensor) -> bool:
        """Whether the loss wants answers for samples, and not for each of their steps."""
        data = self.diagnosis.tensors[self.given[given.id]]
        return len(data.shape) < 2 or self.batch.target.shape[1:2] != data.shape[1:2]

    def _said(self, code: str, op: Op, given: Tensor, place: Place) -> Finding:
        diagnosis = self.diagnosis
        made = op.outputs[0]
        return diagnosis.finding(
            code,
            "warning",
            op,
            tensors=(given.id, made),
            name=diagnosis.say(given.id),
            shape=times(given),
            result=times(diagnosis.tensors[made]),
            axis=str(place.axis),
            keep=", keepdim=True" if op.name in TOTALS else "",
            is_all=str(int(diagnosis.elements(made) == 1)),
            batch=str(self.batch.size),
            data=diagnosis.say(self.given[given.id]),
            loss_line=line(self.batch.loss.span),
        )


def _after(op: Op, given: Tensor, made: Tensor, place: Place, at: int, size: int) -> Place | None:
    """Where the samples lie in a result; None when that is not sure."""
    name, count = op.name.removesuffix("_"), len(given.shape)
    if name in CUTS_ANEW:
        return _cut_anew(given, made, place, size)
    if name in TURNS:
        order = order_of(op, count)
        return place._replace(axis=order.index(place.axis)) if order is not None else None
    if name in RECURRENT:
        is_states = at > 0 and len(made.shape) == 3
        return None if count != 3 else Place(1) if is_states else place
    if name == "embedding":
        return place if made.shape[:count] == given.shape else None
    if name in REDUCES or name == "getitem":
        return _reduced(op, given, made, place)
    is_kept = made.shape[: place.axis + 1] == given.shape[: place.axis + 1]
    if name in ("linear", "layer_norm", "dropout", ATTENTION):
        return place if is_kept and place.axis < count - 1 and at == 0 else None
    if FIRST_AXIS.search(name):
        return place if is_kept and place.axis == 0 and count > 1 else None
    is_pointwise = (family_of(name) in POINTWISE and name not in RUNS_ALONG) or name in SHARES
    return place if is_pointwise and made.shape == given.shape else None


def _stretch(shape: Axes, place: Place, size: int) -> tuple[int, int]:
    """From one sample to the next, and from the first to behind the last."""
    step = place.inner * bounds(shape)[len(shape) - 1 - place.axis]
    return step, step * size


def _cut_anew(given: Tensor, made: Tensor, place: Place, size: int) -> Place | None:
    """The axis of a view that still holds all samples one after the other, each whole or in equal parts."""
    if given.shape == made.shape:
        return place
    step, end = _stretch(given.shape, place, size)
    ends = bounds(made.shape)
    for axis in range(len(made.shape)):
        low, high = ends[len(made.shape) - 1 - axis], ends[len(made.shape) - axis]
        if low <= step and end <= high and step % low == 0 and high % end == 0:
            return Place(axis, high // end, step // low)
    return None


def _reduced(op: Op, given: Tensor, made: Tensor, place: Place) -> Place | None:
    """After an index or a sum over other axes than that of the samples."""
    gone = gone_of(op, len(given.shape)) or []
    axis = place.axis - sum(other < place.axis for other in gone)
    is_sure = bool(gone) and place.axis not in gone and len(made.shape) == len(given.shape) - len(gone)
    return place._replace(axis=axis) if is_sure and made.shape[axis] == given.shape[place.axis] else None
