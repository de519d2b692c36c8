"""Measures of how far two masks overlap whose terms do not add up to 1 for two masks that are the same."""

import math
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, by_number, extent, line, near, number, size_of
from engine.findings.gradient_flow import RESHAPED
from engine.trace import Finding, Op

SAME = frozenset((*RESHAPED, "float", "to", "double", "clone", "detach"))
KEPT = frozenset((*SAME, "sum", "add"))
"""Ops of one tensor that leave a sum of it what it was, but for a number that is added."""
MOST_BEHIND = 12


def overlaps_counted_once(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Dice without its factor 2: what two masks share, divided by both of them together, is a half where they are the
    same."""
    for op in diagnosis.ops_named(("div",)):
        product = _product_of_two(diagnosis, op) if len(op.inputs) == 2 else None
        if product is None or not _adds_up(diagnosis, op.inputs[1], product) or not _is_taken_from_one(diagnosis, op):
            continue
        masks = [given for given in product.inputs if _is_mask(diagnosis, given)]
        ranges = [extent(diagnosis.tensors.get(given)) for given in (*product.inputs, *op.outputs)]
        if masks and all(found is not None and found[0] >= 0 and found[1] <= 1 for found in ranges):
            yield diagnosis.warning(
                "overlap_counted_once",
                product,
                tensors=(*product.outputs[:1], *op.outputs[:1]),
                quotient=diagnosis.code.excerpt(op.span),
                quotient_line=line(op.span),
                mask=diagnosis.say(masks[0]),
            )


def _product_of_two(diagnosis: Diagnosis, op: Op) -> Op | None:
    """The product of two masks whose bare sum an op divides; a number may have been added to it."""
    for maker in diagnosis.back(op.inputs[0], MOST_BEHIND):
        if maker.name == "mul" and len(maker.inputs) == 2:
            shapes = {diagnosis.tensors[given].shape for given in maker.inputs if given in diagnosis.tensors}
            return maker if len(shapes) == 1 and () not in shapes else None
        if maker.name not in KEPT or len(maker.inputs) != 1:
            return None
    return None


def _adds_up(diagnosis: Diagnosis, whole: str, product: Op) -> bool:
    """Whether a value is the sum of just the two factors of a product, or of their squares."""
    parts = list(near([whole], lambda tensor: _parts(diagnosis, tensor)))
    ends = [_bare(diagnosis, tensor) for tensor in parts if not _parts(diagnosis, tensor)]
    own = [_bare(diagnosis, given) for given in product.inputs]
    return len(set(own)) == 2 and sorted(ends, key=by_number) == sorted(own, key=by_number)


def _parts(diagnosis: Diagnosis, tensor: str) -> tuple[str, ...]:
    """What a sum was made of; of a square what was squared."""
    maker = diagnosis.maker.get(tensor)
    if maker is None or not maker.inputs:
        return ()
    is_power = maker.name == "pow" and number(maker.arguments[-1].text) in (1, 2)
    is_square = (
        is_power or maker.name == "square" or (maker.name == "mul" and len({*maker.inputs}) == 1 < len(maker.inputs))
    )
    is_sum = maker.name in KEPT and (len(maker.inputs) == 1 or maker.name == "add")
    return tuple(dict.fromkeys(maker.inputs)) if is_sum or is_square else ()


def _bare(diagnosis: Diagnosis, tensor: str) -> str:
    """What a view, or a copy in another type, shows."""
    maker = diagnosis.maker.get(tensor)
    while maker is not None and maker.name in SAME and maker.inputs:
        tensor = maker.inputs[0]
        maker = diagnosis.maker.get(tensor)
    return tensor


def _is_taken_from_one(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether a loss is 1 minus what it made, or minus the mean of that."""
    users = diagnosis.takers.get(op.outputs[0], ())
    means = [after for user in users if user.name == "mean" for after in diagnosis.takers.get(user.outputs[0], ())]
    return diagnosis.reaches_a_pass(op) and any(
        user.name == "rsub" and number(user.arguments[-1].text) == 1 for user in (*users, *means)
    )


def _is_mask(diagnosis: Diagnosis, tensor: str) -> bool:
    """Whether every number is 0 or 1: then their square has the mean that they have."""
    state = diagnosis.tensors[tensor]
    size, found = size_of(state), extent(state)
    if size is None or found != (0.0, 1.0):
        return False
    mean = (
        float(state.summary.mean)
        if state.summary is not None
        else sum(map(float, state.data or ())) / len(state.data or (1,))
    )
    return math.isclose(size * size, mean, rel_tol=1e-4)
