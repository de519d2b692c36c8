"""Places and what stands at them: written several times at once, or taken for the value itself."""

import ast
from collections.abc import Iterator
from itertools import islice

from engine.findings.diagnosis import (
    Diagnosis,
    argument,
    is_of_ones_and_zeros,
    line,
    near,
    number,
    numbers_of,
    times,
)
from engine.trace import Finding, Op, Tensor

PICKS_PLACES = {"argmax": 0, "max": 1, "topk": 1, "sort": 1, "min": 1, "argmin": 0}
"""Ops that give places, and which of their outputs those are."""
HANDS_ON = frozenset("view reshape squeeze unsqueeze float to double type detach flatten getitem".split())
ADDS = ("add", "add_", "sub", "sub_")
MOST_BACK = 4
LEAST_MASKED = 8
"""Rows that are not as many as there are numbers by chance."""


def added_once(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`sums[places] += values` where a place comes several times: each reads the old sum, and the last one is kept."""
    for op in diagnosis.ops_named(("setitem",)):
        places = _places(diagnosis, op)
        numbers, target = numbers_of(places), diagnosis.input_of(op)
        count = places.shape[0] if places is not None else 0
        rows = target.shape[0] if target is not None and target.shape else count
        lost = len(numbers) - len(set(numbers)) if numbers else max(0, count - rows)  # more than there are places
        if places is None or not lost or len(op.inputs) < 3:
            continue
        sums, value = diagnosis.identity(op.inputs[0]), diagnosis.identity(op.inputs[2])
        maker = diagnosis.maker.get(op.inputs[2])
        read = [
            each for each in islice(diagnosis.makers_behind([op.inputs[2], value]), MOST_BACK) if each.name == "getitem"
        ]
        is_read = any((diagnosis.identity(each.inputs[0]), *each.inputs[1:]) == (sums, places.id) for each in read)
        statement, written = diagnosis.code.statement_at(op.span), diagnosis.code.at(op.span)
        at = written.slice if isinstance(written, ast.Subscript) else None
        others = at.elts if isinstance(at, ast.Tuple) else []
        is_whole = sum(not isinstance(each, ast.Slice | ast.Constant) for each in others) < 2  # `d[range(n), y]` is not
        if maker is None or maker.name not in ADDS or not is_read or not is_whole:
            continue
        yield diagnosis.warning(
            "added_once",
            statement or op.span,
            tensors=(op.inputs[0], places.id),
            nodes=op.nodes[:1],
            name=diagnosis.say(op.inputs[0]),
            places=diagnosis.code.short(at) if at is not None else diagnosis.say(places.id),
            value=_added(diagnosis, statement, maker.inputs[-1]),
            count=str(count),
            lost=str(lost) if numbers else f"≥ {lost}",
        )


def _added(diagnosis: Diagnosis, statement: ast.stmt | None, value: str) -> str:
    """What a statement adds, as it is written or called."""
    match statement:
        case (
            ast.AugAssign(op=sign, value=written)
            | ast.Assign(value=ast.BinOp(left=ast.Subscript(), op=sign, right=written))
        ):
            return diagnosis.code.short(written) + (", alpha=-1" if isinstance(sign, ast.Sub) else "")
    return diagnosis.say(value)


def _places(diagnosis: Diagnosis, op: Op) -> Tensor | None:
    """The one tensor of whole numbers that an op was given to say where."""
    given = [diagnosis.tensors[each] for each in op.inputs[1:] if each in diagnosis.tensors]
    whole = [tensor for tensor in given if tensor.dtype.startswith("int") and len(tensor.shape) == 1]
    return whole[0] if len(whole) == 1 and op.inputs[1] == whole[0].id else None


def masks_as_places(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`losses[event]` with a whole number, 0 or 1, for each row: rows 0 and 1 are picked again and again."""
    for op in diagnosis.ops_named(("getitem",)):
        given, made, places = diagnosis.input_of(op), diagnosis.output_of(op), _places(diagnosis, op)
        is_whole = given is not None and made is not None and given.shape == made.shape  # `q[range(n), actions]` is not
        if given is None or places is None or not is_whole or not is_of_ones_and_zeros(places):
            continue
        node, is_mask = diagnosis.code.at(op.span), _was_mask(diagnosis, places.id)
        is_computed = given.shape[0] >= 2 * LEAST_MASKED and not diagnosis.is_tracked_leaf(given.id)
        is_told = given.shape[0] >= LEAST_MASKED and (is_mask or is_computed) and diagnosis.reaches_a_pass(op)
        if not isinstance(node, ast.Subscript) or not is_told or not given.requires_grad:
            continue
        if len(diagnosis.takers.get(given.id, ())) == 1 or is_mask:
            yield diagnosis.warning(
                "mask_as_places",
                op,
                tensors=(given.id, places.id, *op.outputs[:1]),
                fix=diagnosis.code.method(node.slice, ".bool()"),
                places=diagnosis.say(places.id),
                dtype=places.dtype,
                name=diagnosis.say(given.id),
                size=str(given.shape[0]),
            )


def _was_mask(diagnosis: Diagnosis, tensor: str) -> bool:
    """Whether whole numbers were truth values before."""
    for op in diagnosis.back(tensor, MOST_BACK):
        given = diagnosis.input_of(op)
        if op.name not in (*HANDS_ON, "long", "int", "flip", "cat") or given is None:
            return False
        if given.dtype == "bool":
            return True
    return False


def places_for_values(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The place of the largest number where the number was meant: discounted, and added to a reward."""
    for op in diagnosis.ops_named(PICKS_PLACES):
        at = PICKS_PLACES[op.name]
        if len(op.outputs) <= at or any(diagnosis.takers.get(value) for value in op.outputs[:at]):
            continue
        discounted = next(_discounts(diagnosis, op.outputs[at]), None)
        later = near(discounted.outputs, diagnosis.made_of) if discounted is not None else ()
        makers = (diagnosis.maker.get(tensor) for tensor in later)
        if discounted is None or not any(maker is not None and diagnosis.reaches_a_pass(maker) for maker in makers):
            continue
        yield diagnosis.warning(
            "place_for_value",
            op,
            tensors=(op.inputs[0], op.outputs[at], *discounted.outputs[:1]),
            name=diagnosis.say(op.inputs[0]),
            shape=times(diagnosis.tensors[op.inputs[0]]),
            used=diagnosis.code.excerpt(discounted.span),
            used_line=line(discounted.span),
        )


def _discounts(diagnosis: Diagnosis, places: str) -> Iterator[Op]:
    """The products of places with a number between 0 and 1 that something is added to."""
    for tensor in near([places], lambda tensor: _handed_on(diagnosis, tensor)):
        for taker in diagnosis.takers.get(tensor, ()):
            is_share = 0 < (number(argument(taker, "other", 1)) or number(argument(taker, "self", 0)) or 0) < 1
            users = (user for made in taker.outputs for user in diagnosis.takers.get(made, ()))
            ahead = (user.name for user in users if len(user.inputs) > 1)  # `idx * 0.1 + 0.05` is the middle of a bin
            if taker.name == "mul" and is_share and not {"add", "mul"}.isdisjoint(ahead):
                yield taker


def _handed_on(diagnosis: Diagnosis, tensor: str) -> Iterator[str]:
    """The same numbers in another form."""
    takers = diagnosis.takers.get(tensor, ())
    return (made for taker in takers if taker.name in HANDS_ON and taker.inputs[0] == tensor for made in taker.outputs)
