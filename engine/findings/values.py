"""Values that a type could not hold, memory that nothing was written into, and calls that changed nothing."""

import ast
import math
from collections.abc import Iterator, Sequence

from engine.findings.diagnosis import LEAST_TURNS, Diagnosis, argument, extent, grouped, line, number, numbers_of, times
from engine.ops import DETACHES, FILLS, LIKES, MOVES, SETS
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.trace import Finding, Op, Tensor

CASTS = ("to", "type", "int", "long", "short", "char", "byte", "tensor", "as_tensor", "full", "fill_")
WHOLE = {
    "uint8": (0, 255),
    "int8": (-128, 127),
    "int16": (-32768, 32767),
    "int32": (-(2**31), 2**31 - 1),
}
ARITHMETIC = {"add": float.__add__, "sub": float.__sub__, "mul": float.__mul__}
LEAST_LOST = 4
_MOST_WRAPPED = 6
LEAVE_AS_IS = {
    "squeeze": "squeeze_without_effect",
    "t": "transpose_without_effect",
    "permute": "permute_without_effect",
}
"""Ops that may give a tensor as it is, and what is told then."""
KEEPS_VALUES = (
    LIKES
    | FILLS
    | DETACHES
    | MOVES
    | frozenset(
        "size numel set_ resize_ resize_as_ kaiming_uniform_ kaiming_normal_ xavier_uniform_ xavier_normal_ orthogonal_"
        " trunc_normal_ constant_ ones_ zeros_ eye_ requires_grad_ share_memory_ Parameter".split()
    )
)
"""Ops that look at a tensor's form, fill it or hand it on: none computes with its values."""


def values_cut(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Fractions dropped and numbers wrapped round when a type of whole numbers took them."""
    if diagnosis.dtypes.isdisjoint((*WHOLE, "int64")):
        return
    for op in diagnosis.ops_named((*CASTS, *(ARITHMETIC if diagnosis.dtypes & WHOLE.keys() else ()))):
        found = _all_lost(diagnosis, op) or _cast(diagnosis, op) or _overflow(diagnosis, op)
        if found is not None:
            yield found


def _cast(diagnosis: Diagnosis, op: Op) -> Finding | None:
    given, result = diagnosis.input_of(op), diagnosis.output_of(op)
    if given is None or result is None or result.dtype not in (*WHOLE, "int64") or given.dtype == result.dtype:
        return None
    numbers, kept = numbers_of(given), numbers_of(result)
    if len(numbers) != len(kept):
        return None
    for before, after in zip(numbers, kept, strict=True):
        if math.trunc(before) != after:
            return _changed(diagnosis, op, "number_wrapped", result, before, after)
    return None


def _all_lost(diagnosis: Diagnosis, op: Op) -> Finding | None:
    """Fractions between −1 and 1 of which a type of whole numbers keeps nothing but 0."""
    given, result, ends = diagnosis.input_of(op), diagnosis.output_of(op), extent(diagnosis.input_of(op))
    if given is None or result is None or ends is None or result.dtype not in (*WHOLE, "int64"):
        return None
    is_fractional = given.dtype.startswith(("float", "bfloat")) and -1 < ends[0] < ends[1] < 1
    if not is_fractional or diagnosis.elements(given.id) < LEAST_LOST or not diagnosis.takers.get(result.id):
        return None
    return diagnosis.warning(
        "fractions_lost",
        op,
        tensors=(given.id, result.id),
        nodes=(),
        name=diagnosis.say(given.id),
        dtype=result.dtype,
        count=str(diagnosis.elements(given.id)),
        low=f"{ends[0]:.3g}",
        high=f"{ends[1]:.3g}",
    )


def quotients_all_alike(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`t // 100` of numbers from 0 to 99, on the way into a model: always 0, whatever was given."""
    for ops in grouped(diagnosis.ops_named(("floor_divide",)), lambda op: op.span).values():
        op, made = ops[0], [extent(diagnosis.output_of(op)) for op in ops]
        given = [ends for each in ops if (ends := extent(diagnosis.input_of(each))) is not None]
        is_lost = bool(made[0]) and {*made} == {made[0]} and made[0] is not None and made[0][0] == made[0][1]
        count = diagnosis.elements(op.inputs[0]) if is_lost and len(op.inputs) == 1 else 0
        is_varied = len(given) == len(ops) >= LEAST_TURNS and all(low < high for low, high in given)
        if count < LEAST_LOST or not is_varied or op.module is None:
            continue
        if any(map(diagnosis.reaches_a_pass, diagnosis.computed_from(op.outputs))):
            yield diagnosis.warning(
                "quotient_all_alike",
                op,
                tensors=(op.inputs[0], *op.outputs[:1]),
                nodes=(),
                name=diagnosis.say(op.inputs[0]),
                divisor=argument(op, "other", 1),
                low=f"{min(low for low, _ in given):.4g}",
                high=f"{max(high for _, high in given):.4g}",
                value=f"{made[0][0]:.4g}" if made[0] is not None else "",
                count=diagnosis.counted(ops),
            )


def _changed(diagnosis: Diagnosis, op: Op, code: str, result: Tensor, before: float, after: float) -> Finding:
    low, high = WHOLE.get(result.dtype, (-(2**63), 2**63 - 1))
    return diagnosis.warning(
        code,
        op,
        tensors=(*op.inputs, result.id),
        nodes=(),
        before=f"{before:.7g}",
        after=f"{after:.7g}",
        dtype=result.dtype,
        low=str(low),
        high=str(high),
        is_largest=str(int(result.dtype == "int64")),
    )


def _overflow(diagnosis: Diagnosis, op: Op) -> Finding | None:
    """A sum, difference or product outside the range of its type."""
    result = diagnosis.output_of(op)
    if result is None or result.dtype not in WHOLE or op.name not in ARITHMETIC or len(op.arguments) < 2:
        return None
    if _is_circular(diagnosis, result):
        return None
    low, high = WHOLE[result.dtype]
    first, second = (_operand(diagnosis, op, at) for at in (0, 1))
    if len(op.inputs) == 1 and not first and len(second) == 1:
        first = extent(diagnosis.input_of(op)) or ()
        for end in first:
            exact = ARITHMETIC[op.name](end, second[0])
            if not low <= exact <= high:
                return _changed(diagnosis, op, "number_wrapped", result, exact, low + (exact - low) % (high - low + 1))
    ends, given = extent(result), extent(diagnosis.input_of(op))
    is_of_positive = op.name == "sub" and low == 0 and len(op.inputs) == 2
    if is_of_positive and ends is not None and given is not None and ends[1] > given[1]:  # larger than any difference
        return _changed(diagnosis, op, "number_wrapped", result, ends[1] - high - 1, ends[1])
    size = max(len(first), len(second))
    if not first or not second or len(first) not in (1, size) or len(second) not in (1, size) or op.broadcast:
        return None
    for at in range(size):
        exact = ARITHMETIC[op.name](first[at % len(first)], second[at % len(second)])
        if not low <= exact <= high:
            kept = numbers_of(result)
            return _changed(diagnosis, op, "number_wrapped", result, exact, kept[at]) if len(kept) == size else None
    return None


def _is_circular(diagnosis: Diagnosis, result: Tensor) -> bool:
    """Whether what is computed of a result is counted in a circle on purpose."""
    users = list(diagnosis.takers.get(result.id, ()))
    users += [later for user in users if user.name in ARITHMETIC for later in diagnosis.takers.get(user.outputs[0], ())]
    return any(user.name in ("remainder", "bitwise_and") for user in users)


def _operand(diagnosis: Diagnosis, op: Op, at: int) -> Sequence[float]:
    given = op.arguments[at]
    if given.tensor is not None:
        return numbers_of(diagnosis.tensors.get(given.tensor))
    written = number(given.text)
    return [written] if written is not None else ()


def axes_left_as_they_are(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A `squeeze` that never found an axis of size 1, a `t()` of a tensor with one axis and a `permute` into the same
    order: they give the tensor as it is."""
    named = diagnosis.ops_named(tuple(LEAVE_AS_IS))
    pairs = ((op, diagnosis.input_of(op), diagnosis.output_of(op)) for op in named)
    known = [(op, given, made) for op, given, made in pairs if given is not None and made is not None and given.shape]
    effective = {line(op.span) for op, given, made in known if op.name == "squeeze" and given.shape != made.shape}
    for op, given, _ in known:
        call = diagnosis.code.call_at(op.span)
        if op.name == "squeeze" and (line(op.span) in effective or call is None or called(call) != "squeeze"):
            continue
        if op.name == "t" and (len(given.shape) != 1 or diagnosis.is_inside_library(op)):
            continue
        order = [number(diagnosis.code.text(axis)) for axis in call.args] if call is not None else []
        if op.name == "permute" and (len(order) < 2 or order != [*range(len(order))]):
            continue
        yield diagnosis.finding(
            LEAVE_AS_IS[op.name],
            "warning" if op.name == "permute" else "note",
            op.span,
            tensors=op.inputs[:1],
            nodes=op.nodes,
            name=diagnosis.say(given.id),
            shape=times(given),
            size=str(given.shape[0]),
        )


def uninitialised_reads(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A result computed from memory that nothing had been written into."""
    blank = {
        tensor.id for tensor in diagnosis.trace.tensors if tensor.contents == "uninitialised" and 0 not in tensor.shape
    }
    if not blank:
        return
    for op in diagnosis.trace.ops:
        read = [input_ for input_ in op.inputs if input_ in blank]
        if not read or op.view or op.raised or op.name in KEEPS_VALUES or not op.outputs:
            continue
        if op.collective is not None and "reduce" not in op.name:
            continue  # what others gave is written into it
        written = {given.tensor for given in op.arguments if given.name == "out"}
        if op.in_place and (op.name in SETS or written):
            written.add(op.inputs[0])
        if written.issuperset(read):
            continue
        made = _viewed(diagnosis, read[0])
        call = _reserving(diagnosis, made, read[0])
        if call is None:
            continue
        yield diagnosis.warning(
            "uninitialised_read",
            op,
            tensors=(made, *op.outputs[:1]),
            fix=_filled(diagnosis, call),
            name=diagnosis.say(made if diagnosis.has_names(made) or made in diagnosis.maker else read[0]),
            maker=called(call),
            made_line=str(call.lineno),
        )
        return


def uninitialised_prints(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Memory that nothing has been written into, shown by `print`: the numbers look like any others."""
    if not any(tensor.contents == "uninitialised" for tensor in diagnosis.trace.tensors):
        return
    ran = {piece.span.line for piece in diagnosis.trace.output if piece.span is not None}
    for call in diagnosis.code.calls:
        if dotted(call.func) != "print" or call.lineno not in ran:
            continue
        shown = [name for name in call.args if isinstance(name, ast.Name) and _is_blank(diagnosis, name)]
        makers = [maker for name in shown if isinstance(maker := diagnosis.value_of(name.id), ast.Call)]
        if not shown or len(makers) < len(shown):
            continue
        fixes = [_filled(diagnosis, maker) for maker in makers]
        yield diagnosis.finding(
            "uninitialised_print",
            "note",
            call,
            tensors=[diagnosis.bound_to(name)[-1].id for name in shown],
            fix=tuple(edit for fix in fixes for edit in fix) if all(fixes) else (),
            names=", ".join(f"`{name.id}`" for name in shown),
            maker=diagnosis.code.short(makers[0]),
            made_line=str(makers[0].lineno),
        )
        return


def _is_blank(diagnosis: Diagnosis, name: ast.Name) -> bool:
    held = diagnosis.bound_to(name)
    return held != [] and all(tensor.contents == "uninitialised" and 0 not in tensor.shape for tensor in held)


def _viewed(diagnosis: Diagnosis, tensor: str) -> str:
    """The tensor whose memory a view shows."""
    maker = diagnosis.maker.get(tensor)
    while maker is not None and maker.inputs and (maker.view or maker.name == "Parameter"):
        tensor = maker.inputs[0]
        maker = diagnosis.maker.get(tensor)
    return tensor


def _reserving(diagnosis: Diagnosis, tensor: str, shown: str) -> ast.Call | None:
    """The call that gave the memory: an op's, or `torch.Tensor(3)`, which is none, seen through a move that moved
    nothing, through what only wraps it and the function that returns it; of a tensor without names, those of a view."""
    code, maker = diagnosis.code, diagnosis.maker.get(tensor)
    names = diagnosis.tensors[tensor].names or diagnosis.tensors[shown].names
    call = next((value for name in names if (value := diagnosis.value_of(name)) is not None), None)
    if maker is not None:
        call = code.call_at(maker.span)
    for _ in range(_MOST_WRAPPED):
        if not isinstance(call, ast.Call):
            return None
        if called(call) in MOVES and maker is None:
            call = code.receiver(call)
        elif called(call) in ("Parameter", "Buffer", "Variable") and call.args:
            call = call.args[0]
        elif makers := [each for each in code.functions if each.name == dotted(call.func)]:
            returns = [each for each in ast.walk(makers[0]) if isinstance(each, ast.Return) and diagnosis.has_run(each)]
            call = returns[0].value if len(makers) == len(returns) == 1 else None
        else:
            return call
    return None


def _filled(diagnosis: Diagnosis, call: ast.Call) -> Edits:
    """`torch.zeros` in place of `torch.empty`, or of `torch.Tensor` with sizes."""
    code = diagnosis.code
    match call:
        case ast.Call(func=ast.Attribute(attr="empty" | "empty_like" | "new_empty" as name) as function):
            return (code.replace(function, code.text(function)[: -len(name)] + name.replace("empty", "zeros")),)
        case ast.Call(args=sizes) if all(isinstance(size, ast.Constant) for size in sizes):
            is_float = dotted(call.func) in ("torch.Tensor", "torch.FloatTensor")
            return (code.replace(call.func, "torch.zeros"),) if is_float else ()
    return ()
