"""The first NaN or Inf, and where it came from."""

import ast
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from itertools import pairwise
from typing import Literal, NamedTuple

from engine.findings.diagnosis import (
    Diagnosis,
    argument,
    by_number,
    extent,
    line,
    number,
    numbers_of,
    size_of,
    times,
    walk,
)
from engine.findings.losses import CLASS_LOSSES, LOSS_FUNCTIONS, PASSING, SOFTMAXES
from engine.ops import out_of_place
from engine.program.edits import Edits
from engine.program.names import called
from engine.trace import Finding, Op, Pass, Tensor, Update, Visit

Trouble = Literal["nan", "inf"]

_MEANT = (
    "masked_fill masked_fill_ full full_like new_full fill_ where triu tril tensor as_tensor empty empty_like"
    " new_empty scatter scatter_ index_fill __setitem__ setitem fill_diagonal_ new"
)
MEANT = frozenset(_MEANT.split())
"""Ops that put an infinity into a tensor on purpose."""
NAN_TAKEN_OUT = frozenset("nan_to_num nansum nanmean nanmedian nanquantile where masked_fill".split())

LOGARITHMS = frozenset("log log2 log10 log_ log2_ log10_ xlogy".split())
ROOTS = frozenset("sqrt sqrt_ rsqrt".split())
CLAMPED = ("log_of_zero", "log_of_negative", "root_of_negative")
ROUNDING = 1e-4
DIVISIONS = frozenset("div div_ rdiv true_divide divide reciprocal rsqrt remainder floor_divide fmod".split())
EXPONENTIALS = frozenset("exp exp_ expm1 exp2 cosh sinh pow pow_ square rpow".split())
POWERS = frozenset("pow pow_ square rpow".split())
AVERAGES = frozenset("mean median nanmean std var".split()) | LOSS_FUNCTIONS
SPREADS = frozenset("std var".split())
IS_ATOM = re.compile(r"[\w.]+(\[[^\[\]]*\]|\([^()]*\))?")
"""A name, or one call or subscript: what can stand before an index without brackets."""
PRODUCT_NODES = ("MmBackward", "AddmmBackward", "BmmBackward", "MvBackward", "MulBackward", "ConvolutionBackward")
ROOT_NODES = ("SqrtBackward", "PowBackward")
FACTORS = {"LinalgSvdBackward": ("svdvals", 1), "LinalgEighBackward": ("eigvalsh", 0)}
"""What gives only the values that a factorisation divides by in its backward, and which result those are."""
NO_EDITS: Edits = ()
TOO_LARGE = frozenset("overflow too_large diverged first_inf_forward gradient_too_large".split())
"""Codes of what grew out of the range of numbers: where one thing did, others do of the same values."""
_WIDE = 100.0
"""Times the size of what goes in that the sums of a layer have with weights that no training starts from."""
GROWN = 1e4
"""Times a parameter's first size from which steps have thrown it off."""


class Cause(NamedTuple):
    """Why one op made a non-finite number, and the operand to look at."""

    code: str
    operand: Tensor | None
    found: float
    place: str


def trouble(tensor: Tensor | None) -> Trouble | None:
    """NaN before Inf; None when all elements are finite or unknown."""
    if tensor is None or tensor.contents != "known":
        return None
    if tensor.summary is not None:
        return "nan" if tensor.summary.nan else "inf" if tensor.summary.inf else None
    data = tensor.data
    if not data:
        return None
    try:
        sum(data)  # type: ignore[arg-type]  # the quickest way to learn that all are numbers
    except TypeError:
        return "nan" if "nan" in data else "inf" if "inf" in data or "-inf" in data else None
    return None


def first_nonfinite(diagnosis: Diagnosis) -> Iterator[Finding]:
    """What made non-finite numbers out of finite ones, each cause that comes of no other; and the data that had one
    from the start."""
    troubled = {tensor.id: made for tensor in diagnosis.trace.tensors if (made := trouble(tensor)) is not None}
    if not troubled:
        yield from _growing(diagnosis)
    else:
        behind: set[str] = set()
        computed = [*_origins(diagnosis, troubled, behind)]
        given = [*_in_data(diagnosis, troubled, behind)]
        yield from computed + given or _of_infinities(diagnosis, troubled)


def _origins(diagnosis: Diagnosis, troubled: dict[str, Trouble], behind: set[str]) -> Iterator[Finding]:
    """In the order they ran, the ops and the visits that made a non-finite number. After the first only those that had
    nothing but finite numbers, none of which came of one before; each place once, and once what is too large. What
    comes of them is put into `behind`."""
    moves = {move.id for move in diagnosis.moves}
    told: set[Hashable] = set()
    for record in _in_time(diagnosis):
        if isinstance(record, Update):
            behind.update(change.after or "" for change in record.changes if told and record.id in moves)
            continue
        found = (
            _forward(diagnosis, troubled, record, behind, told)
            if isinstance(record, Op)
            else _backward(diagnosis, troubled, record, behind, told)
        )
        for finding in found:
            same = _marks(finding)
            if told.isdisjoint(same):
                yield finding
            told.update(same)
            if finding.code == "diverged":
                return  # all that is computed later comes of it


def _in_time(diagnosis: Diagnosis) -> list[Op | Pass | Update]:
    """What ran, in the order of the timeline."""
    trace, pass_step, update_step = diagnosis.trace, diagnosis.pass_step, diagnosis.update_step
    steps: list[tuple[int, Op | Pass | Update]] = [
        *((diagnosis.op_step.get(op.id, 0), op) for op in trace.ops if op.pass_id is None),
        *((pass_step.get(pass_.id, 0), pass_) for pass_ in trace.passes),
        *((update_step.get(update.id, 0), update) for update in trace.updates),
    ]
    return [record for _, record in sorted(steps, key=lambda step: step[0])]


def _marks(finding: Finding) -> set[Hashable]:
    """What tells whether two findings are one cause: the place, the kind of mistake with the value it was made with,
    and that something is too large."""
    operand = finding.parameters.get("operand")
    same: set[Hashable] = {finding.span}
    same |= {(finding.code, operand)} if operand else set()
    return same | {"large"} if finding.code in TOO_LARGE else same


def _growing(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A loss that ends more than ten thousand times as large as it began, of parameters that steps threw off."""
    for passes in diagnosis.passes_by_place.values():
        first, last = (diagnosis.tensors.get(each.roots[0].tensor or "") for each in (passes[0], passes[-1]))
        maker = diagnosis.maker.get(last.id) if last is not None else None
        ends = [extent(tensor) for tensor in (first, last)]
        if maker is None or last is None or not all(ends) or last.shape:
            continue
        began, ended = (abs(end[0]) for end in ends if end is not None)
        cause = _diverged(diagnosis, maker) if ended > GROWN * max(began, 1.0) else None
        if cause is not None and cause.operand is not None:
            yield diagnosis.warning(
                "grows_without_end",
                maker,
                tensors=(cause.operand.id, last.id),
                fix=NO_EDITS,
                name=diagnosis.say(last.id),
                operand=diagnosis.say(cause.operand.id),
                value=f"{cause.found:.4g}",
                first=f"{began:.4g}",
                last=f"{ended:.4g}",
                **_advice(diagnosis, maker, cause),
            )
            return


def _in_data(diagnosis: Diagnosis, troubled: dict[str, Trouble], behind: Set[str]) -> Iterator[Finding]:
    """The tensor whose NaN came to the root of a pass, and that no computation made, nor a step."""
    roots = (root.tensor for pass_ in diagnosis.trace.passes for root in pass_.roots if root.tensor is not None)
    start = next((root for root in roots if troubled.get(root) == "nan"), None)
    source = _source(diagnosis, troubled, behind, start) if start is not None else None
    if start is None or source is None:
        return
    maker, user = diagnosis.maker.get(source.id), next(iter(diagnosis.takers.get(source.id, ())), None)
    yield diagnosis.finding(
        "nan_in_data",
        "error",
        maker.span if maker is not None else user.span if user is not None else None,
        tensors=(source.id, start),
        name=diagnosis.say(source.id),
        place=_index(source, list(source.data).index("nan")) if source.data else "",
        root=diagnosis.say(start),
        used_line=line(user.span if user is not None else None),
        is_stepped=str(int(diagnosis.moves != [])),
    )


def _source(diagnosis: Diagnosis, troubled: dict[str, Trouble], behind: Set[str], start: str) -> Tensor | None:
    """The tensor that a NaN came from, where no computation made it, nor a step or a pass."""

    def before(tensor: str) -> list[str]:
        return [given for given in diagnosis.made_from(tensor) if troubled.get(given) == "nan"]

    def is_given(tensor: str) -> bool:
        maker = diagnosis.maker.get(tensor)
        is_made = maker is not None and maker.inputs and maker.name not in MEANT
        is_moved = diagnosis.is_tracked_leaf(tensor) and tensor != diagnosis.identity(tensor)
        is_gradient = diagnosis.tensors[tensor].role == "gradient"
        return not (is_made or is_moved or is_gradient or tensor in behind or tensor == start)

    sources = [tensor for tensor in walk([start], before) if not before(tensor) and is_given(tensor)]
    return diagnosis.tensors[min(sources, key=by_number)] if sources else None


def _of_infinities(diagnosis: Diagnosis, troubled: dict[str, Trouble]) -> Iterator[Finding]:
    """The op that made a NaN, or an infinite loss, of an infinity that was put there on purpose or stood in the
    data."""
    roots = [root.tensor for pass_ in diagnosis.trace.passes for root in pass_.roots if root.tensor in troubled]
    for root in roots[:1]:
        behind = [tensor for tensor in walk([root or ""], diagnosis.made_from) if tensor in troubled]
        ops = {op.id: op for tensor in behind if (op := diagnosis.maker.get(tensor)) is not None and op.inputs}
        ran = sorted(ops.values(), key=lambda op: diagnosis.op_at[op.id])
        made = next((op for op in ran if _worst(troubled, op.outputs) == "nan"), ran[-1] if ran else None)
        source = next((t for t in reversed(behind) if t in troubled and not _is_made(diagnosis, troubled, t)), None)
        if made is None or source is None or made.name in MEANT or _worst(troubled, made.inputs) != "inf":
            continue
        put = diagnosis.maker.get(source)
        yield diagnosis.warning(
            "infinity_goes_on",
            made,
            tensors=(source, *made.outputs),
            nodes=made.nodes,
            name=diagnosis.say(made.outputs[0]),
            source=diagnosis.say(source),
            source_line=line(put.span if put is not None else None),
            is_nan=str(int(_worst(troubled, made.outputs) == "nan")),
            root=diagnosis.say(root),
        )


def _is_made(diagnosis: Diagnosis, troubled: dict[str, Trouble], tensor: str) -> bool:
    """Whether it has its infinity from what it was computed from."""
    return any(given in troubled for given in diagnosis.made_from(tensor))


def _worst(troubled: dict[str, Trouble], tensors: Iterable[str | None]) -> Trouble | None:
    found = {troubled[tensor] for tensor in tensors if tensor in troubled}
    return "nan" if "nan" in found else "inf" if found else None


def _forward(
    diagnosis: Diagnosis, troubled: dict[str, Trouble], op: Op, behind: set[str], told: Set[Hashable]
) -> Iterator[Finding]:
    made = _worst(troubled, op.outputs)
    if not behind.isdisjoint(op.inputs):
        behind.update(op.outputs)
    elif made is not None and op.inputs and op.name not in MEANT:
        given, finding = _worst(troubled, op.inputs), None
        if op.span in told:
            behind.update(op.outputs)
        elif given is None and not _is_absorbed(diagnosis, troubled, op, made):
            if not _has_unwritten(diagnosis, op):  # what was never written may be anything
                goes_on = (
                    made == "nan" or _goes_on(diagnosis, troubled, op) or _spoils_gradient(diagnosis, troubled, op)
                )
                finding = _made(diagnosis, troubled, op, made, "warning" if goes_on else "note")
        elif given == "inf" and made == "nan" and op.name in SOFTMAXES and not _has_plus(diagnosis, op):
            finding = _empty_row(diagnosis, op)
        if finding is not None:
            behind.update(op.outputs)
            # a plain number in the call may be one that came of a cause before it
            if not (told and finding.code.startswith("first_") and len(op.arguments) > 1):
                yield finding


def _goes_on(diagnosis: Diagnosis, troubled: dict[str, Trouble], op: Op) -> bool:
    """Whether an infinity comes to a pass or into another result, where it was not put on purpose."""
    roots = {root.tensor for pass_ in diagnosis.trace.passes for root in pass_.roots}
    values = _came_of(diagnosis, troubled, op)
    return not roots.isdisjoint(values) or any(
        maker is not op and maker.name not in MEANT for value in values if (maker := diagnosis.maker.get(value))
    )


def _has_unwritten(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether memory that nothing was written into is behind an op; what wrote in place took none of what was there."""

    def before(tensor: str) -> tuple[str, ...]:
        maker = diagnosis.maker.get(tensor)
        return maker.inputs if maker is not None and not maker.in_place else ()

    behind = (diagnosis.tensors.get(tensor) for tensor in walk(op.inputs, before))
    is_unwritten = any(tensor is not None and tensor.contents == "uninitialised" for tensor in behind)
    return is_unwritten or op.name in ("resize_", "resize_as_")


def _is_absorbed(diagnosis: Diagnosis, troubled: dict[str, Trouble], op: Op, made: Trouble) -> bool:
    """Whether all that was computed from an infinity is finite in the end, as behind a softmax, or NaN was taken out by
    an op that is there for it: then it is meant, unless the gradient shows it still."""
    values = _came_of(diagnosis, troubled, op)
    roots = {root.tensor for pass_ in diagnosis.trace.passes for root in pass_.roots}
    takers = [taker for value in values for taker in diagnosis.takers.get(value, ())]
    ends = {taker.name.rstrip("_") for taker in takers if troubled.keys().isdisjoint(taker.outputs)}
    is_ended = all(
        troubled.get(value) == made and value not in roots and diagnosis.takers.get(value) for value in values
    )
    return is_ended and (made == "inf" or ends <= NAN_TAKEN_OUT) and not _spoils_gradient(diagnosis, troubled, op)


def _spoils_gradient(diagnosis: Diagnosis, troubled: dict[str, Trouble], op: Op) -> bool:
    """Whether a finite gradient came back to an op and left it as NaN; that of a side which `where` did not choose has
    a finding of its own."""
    visits = (visit for node in op.nodes for visit in diagnosis.visits_of.get(node, ()))
    made = (
        visit.node
        for visit in visits
        if _worst(troubled, visit.left) == "nan" and _worst(troubled, visit.entered) is None
    )
    return any(not _is_behind_where(diagnosis, node) for node in made)


def _came_of(diagnosis: Diagnosis, troubled: dict[str, Trouble], op: Op) -> list[str]:
    """What an op made, and what was computed from that and is not finite."""
    return list(walk(op.outputs, lambda tensor: filter(troubled.__contains__, diagnosis.made_of(tensor))))


def _made(
    diagnosis: Diagnosis, troubled: dict[str, Trouble], op: Op, made: Trouble, severity: Literal["warning", "note"]
) -> Finding:
    cause = _diverged(diagnosis, op) or _cause(diagnosis, op, made)
    maker = diagnosis.maker.get(cause.operand.id) if cause is not None and cause.operand is not None else None
    if maker is not None and maker.span == op.span and diagnosis.is_inside_library(op):
        cause = None  # the program has no words for what a function of a library computes with
    output = op.outputs[0]
    name = diagnosis.say(output)
    if cause is None:
        code = f"first_{made}_forward"
        return diagnosis.finding(code, severity, op, tensors=op.outputs, nodes=op.nodes, name=name, made=made)
    operand = cause.operand.id if cause.operand is not None else None
    divisor = diagnosis.say(operand) if operand is not None else _divisor(diagnosis, op)
    root, is_small = _root_of(diagnosis, operand), _is_rounding(cause)
    return diagnosis.finding(
        cause.code,
        severity,
        op,
        tensors=tuple(tensor for tensor in (operand, *op.outputs) if tensor is not None),
        nodes=op.nodes,
        fix=_kept_away(diagnosis, op) if is_small and cause.code in CLAMPED else (),
        name=name,
        made=made,
        **root,
        is_rounding=str(int(is_small)),
        **_nan_after(diagnosis, troubled, op),
        is_tracked=str(int(bool(op.nodes))),
        operand=divisor,
        base=_to_call(divisor),
        value=f"{cause.found:.4g}",
        place=cause.place,
        cell=_cell(divisor, cause.place),
        is_count=str(int(operand is None)),
        is_plain=str(int(operand is not None and root["is_root"] == "0")),
        shape=times(cause.operand) if cause.operand is not None else "",
        **_advice(diagnosis, op, cause),
    )


def _is_rounding(cause: Cause) -> bool:
    """Whether a number is so near to 0, beside the others, that it may have come of rounding."""
    ends = extent(cause.operand) or (0.0, 0.0)
    return abs(cause.found) <= ROUNDING * max(1.0, *map(abs, ends))


def _nan_after(diagnosis: Diagnosis, troubled: dict[str, Trouble], op: Op) -> dict[str, str]:
    """Where the first NaN comes of an infinity on the way forward."""
    makers = {diagnosis.maker[value].id: diagnosis.maker[value] for value in _came_of(diagnosis, troubled, op)}
    spoilt = (each for each in makers.values() if "nan" in map(troubled.get, each.outputs))
    first = min(spoilt, key=lambda each: diagnosis.op_at[each.id], default=op)
    return {
        "is_nan_forward": str(int(first is not op)),
        "nan_line": line(first.span),
        "nan_code": diagnosis.code.excerpt(first.span),
    }


def _divisor(diagnosis: Diagnosis, op: Op) -> str:
    """How a plain number is written that something is divided by."""
    match diagnosis.code.at(op.span):
        case ast.BinOp(right=right) | ast.AugAssign(value=right) | ast.Call(args=[right] | [_, right]):
            return diagnosis.code.short(right)
    return "0"


def _root_of(diagnosis: Diagnosis, tensor: str | None) -> dict[str, str]:
    """The square root that gave a tensor, where gradients go back through it: at 0 its slope is infinite."""
    op = diagnosis.origin(tensor, PASSING) if tensor is not None else None
    is_half = op is not None and op.name == "pow" and argument(op, "exponent", 1) in ("0.5", ".5", "1/2", "1 / 2")
    root = op if op is not None and op.nodes and (op.name in ("sqrt", "sqrt_") or is_half) else None
    return {"is_root": str(int(root is not None)), "root_line": line(root.span) if root is not None else ""}


def _cause(diagnosis: Diagnosis, op: Op, made: Trouble) -> Cause | None:
    first = diagnosis.input_of(op)
    if made == "nan" and first is not None and 0 in first.shape and op.name in AVERAGES:
        return Cause("mean_of_nothing", first, 0.0, "")
    ignored = number(argument(op, "ignore_index", 4)) if made == "nan" and op.name in CLASS_LOSSES else None
    if ignored is not None and extent(targets := diagnosis.input_of(op, 1)) == (ignored, ignored):
        return Cause("targets_all_ignored", targets, ignored, "")
    if op.name in LOGARITHMS:
        first = diagnosis.input_of(op, 1) if op.name == "xlogy" else first
        return _where(first, "log_of_negative", lambda x: x < 0) or _where(first, "log_of_zero", lambda x: x == 0)
    if op.name in ROOTS and (cause := _where(first, "root_of_negative", lambda x: x < 0)):
        return cause
    if op.name in ("pow", "pow_") and made == "nan":
        return _where(first, "root_of_negative", lambda x: x < 0)
    if op.name in DIVISIONS or (op.name == "pow" and argument(op, "exponent", 1).startswith("-")):
        return _divided(diagnosis, op)
    if op.name in EXPONENTIALS and made == "inf":
        largest = _largest(first)
        return largest._replace(code="too_large") if largest is not None and op.name in POWERS else largest
    if op.name in SPREADS and made == "nan" and first is not None and _is_of_single_values(diagnosis, op, first):
        return Cause("spread_of_one", first, 0.0, "")
    return None


def _is_of_single_values(diagnosis: Diagnosis, op: Op, given: Tensor) -> bool:
    """Whether it took each spread over one value: the result has as many elements as the input."""
    result = diagnosis.output_of(op)
    return result is not None and math.prod(result.shape) == math.prod(given.shape)


def _divided(diagnosis: Diagnosis, op: Op) -> Cause | None:
    words = [given for given in op.arguments if not given.name]
    by_itself = op.name in ("rdiv", "reciprocal", "rsqrt", "pow") or len(op.inputs) == 1
    if not by_itself:
        return _where(diagnosis.input_of(op, 1), "division_by_zero", lambda x: x == 0)
    if len(words) > 1 and words[1].text in ("0", "0.0") and op.name != "rdiv":
        return Cause("division_by_zero", None, 0.0, "")
    return _where(diagnosis.input_of(op), "division_by_zero", lambda x: x == 0)


def _where(tensor: Tensor | None, code: str, is_so: Callable[[float], bool]) -> Cause | None:
    """The first element for which it is so; for a large tensor only that there is one."""
    if tensor is None:
        return None
    numbers = numbers_of(tensor)
    for at, each in enumerate(numbers):
        if is_so(each):
            return Cause(code, tensor, each, _index(tensor, at))
    if not numbers and tensor.summary is not None:
        low = 0.0 if tensor.summary.zeros and is_so(0.0) else float(tensor.summary.min)
        return Cause(code, tensor, low, "") if is_so(low) else None
    return None


def _largest(tensor: Tensor | None) -> Cause | None:
    numbers, ends = numbers_of(tensor), extent(tensor)
    if tensor is None or ends is None:
        return None
    largest = max(ends, key=abs)
    return Cause("overflow", tensor, largest, _index(tensor, numbers.index(largest)) if numbers else "")


def _cell(written: str, place: str) -> str:
    """One number of a tensor, as a program would write it: `x[0]`, `(x - y)[0]`."""
    return f"({written}){place}" if place and not IS_ATOM.fullmatch(written) else f"{written}{place}"


def _index(tensor: Tensor, at: int) -> str:
    """`[1, 0]` for an element in row-major order; empty for a single number."""
    if not tensor.shape:
        return ""
    places = []
    for size in reversed(tensor.shape):
        at, place = divmod(at, size)
        places.append(str(place))
    return f"[{', '.join(reversed(places))}]"


def _diverged(diagnosis: Diagnosis, op: Op) -> Cause | None:
    """A parameter behind the op that its moves along gradients had made ten thousand times its first size."""
    now = diagnosis.op_step.get(op.id, 0)
    first: dict[str, Tensor] = {}
    last: dict[str, Tensor] = {}
    for update in diagnosis.moves:
        at = diagnosis.update_step.get(update.id, now)
        for change in update.changes if at < now else ():
            before, after = diagnosis.tensors.get(change.before or ""), diagnosis.tensors.get(change.after or "")
            identity = diagnosis.identity(before.id) if before is not None else ""
            given = diagnosis.gradient_steps.get(identity, ())
            if before is not None and after is not None and given and given[0][0] < at:
                first.setdefault(identity, before)
                last[identity] = after
    behind = set(map(diagnosis.identity, walk(op.inputs, diagnosis.made_from))) if last else set()
    for identity, record in last.items():
        size, began = _size(record), _size(first[identity])
        if identity in behind and (size > GROWN * max(began, 1e-3) or not math.isfinite(size)):
            return Cause("diverged", record, size, "")
    return None


def _size(tensor: Tensor) -> float:
    if tensor.summary is not None:
        return math.inf if tensor.summary.nan or tensor.summary.inf else float(tensor.summary.norm)
    if tensor.dtype.startswith("complex") or not tensor.data:
        return 0.0
    return math.sqrt(sum(number * number for number in map(float, tensor.data)))


def _advice(diagnosis: Diagnosis, op: Op, cause: Cause) -> dict[str, str]:
    """The step before the op, of what diverged if that is the cause: its line and its learning rate; and whether the
    program clips already."""
    now = diagnosis.op_step.get(op.id, 0)
    thrown = diagnosis.identity(cause.operand.id) if cause.code == "diverged" and cause.operand is not None else None
    before = (move for move in diagnosis.moves if diagnosis.update_step.get(move.id, now) < now)
    steps = [move for move in before if thrown is None or thrown in diagnosis.changed_by(move)]
    changes = steps[-1].changes if steps else ()
    own = (each.group for each in changes if each.before is not None and diagnosis.identity(each.before) == thrown)
    group = next(own, None) or 0
    lr = steps[-1].settings[group].get("lr", "") if steps and steps[-1].settings else ""
    return {
        "step_line": line(steps[-1].span) if steps else "",
        "lr": lr,
        "has_lr": str(int(bool(lr))),
        "steps": str(sum(1 for step in steps if step.span == steps[-1].span)),
        "clips": "1" if any(called(call).startswith("clip_grad_") for call in diagnosis.code.calls) else "0",
        **_begun_wide(diagnosis, steps),
    }


def _begun_wide(diagnosis: Diagnosis, steps: Sequence[Update]) -> dict[str, str]:
    """The weight that made the sums of its layer the largest, beside what went in, before the first of some steps."""
    began = [diagnosis.tensors.get(change.before or "") for change in steps[0].changes] if steps else []
    weights = [one for one in began if one is not None and len(one.shape) > 1]
    gains = [((size_of(one) or 0.0) * math.sqrt(math.prod(one.shape[1:])), one) for one in weights]
    gain, widest = max(gains, key=lambda pair: pair[0], default=(0.0, None))
    if widest is None or gain < _WIDE:
        return {"is_wide": "0", "wide": "", "wide_size": "", "gain": ""}
    size = f"{size_of(widest) or 0:.4g}"
    return {"is_wide": "1", "wide": diagnosis.say(widest.id), "wide_size": size, "gain": f"{gain:.0f}"}


def _kept_away(diagnosis: Diagnosis, op: Op) -> Edits:
    """The operand clamped, when the code of the call shows it. Not what a softmax made: no gradient goes through what
    is clamped, and most of it may be."""
    code = diagnosis.code
    given = diagnosis.input_of(op)
    maker = diagnosis.maker.get(given.id) if given is not None else None
    if maker is not None and maker.name == "softmax":
        return ()
    call = code.call_at(op.span)
    if call is None or called(call) not in (op.name, out_of_place(op.name)) or op.name.endswith("_") or call.keywords:
        return ()
    method = not call.args
    operand = getattr(call.func, "value", None) if method else call.args[0] if len(call.args) == 1 else None
    return code.method(operand, ".clamp(min=1e-8)") if operand is not None else ()


def _has_plus(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether +∞ is known to be in its input, which makes NaN of any row."""
    given = diagnosis.input_of(op)
    return given is not None and "inf" in (given.data or ())


def _empty_row(diagnosis: Diagnosis, op: Op) -> Finding:
    return diagnosis.warning(
        "softmax_of_masked_row",
        op.span,
        tensors=(*op.inputs[:1], *op.outputs),
        nodes=op.nodes,
        op=op.name,
        operand=diagnosis.say(op.inputs[0]),
    )


def _backward(
    diagnosis: Diagnosis, troubled: dict[str, Trouble], pass_: Pass, behind: Set[str], told: Set[Hashable]
) -> Iterator[Finding]:
    for visit in pass_.visits:
        made = _worst(troubled, visit.left)
        if made is None or _worst(troubled, visit.entered) is not None or visit.node not in diagnosis.nodes:
            continue
        op = diagnosis.op_of_node(visit.node)
        around = (*op.inputs, *op.outputs) if op is not None else ()
        of_values = _worst(troubled, around)  # what was in the values already
        is_hidden = of_values == "nan" == made and _is_behind_where(diagnosis, visit.node)
        if behind.isdisjoint(around) and (is_hidden or not (of_values if told else of_values == "nan")):
            yield _sent(diagnosis, troubled, pass_, visit, made)


def _sent(diagnosis: Diagnosis, troubled: dict[str, Trouble], pass_: Pass, visit: Visit, made: Trouble) -> Finding:
    node = diagnosis.nodes[visit.node]
    op = diagnosis.op_of_node(visit.node)
    code, fix = f"first_{made}_backward", NO_EDITS
    given = op.inputs[-1 if op.name in DIVISIONS else 0] if op is not None and op.inputs else None
    if op is not None and made == "nan" and _is_behind_where(diagnosis, visit.node):
        code = "nan_behind_where"
    elif made == "inf" and node.type.startswith(PRODUCT_NODES):
        code = "gradient_too_large"
    elif op is not None and node.type.startswith(ROOT_NODES) and _is_root_at_zero(diagnosis, op):
        code, fix = "root_at_zero", _kept_away(diagnosis, op)
    return diagnosis.warning(
        code,
        op.span if op is not None else pass_.span,
        tensors=[tensor for tensor in visit.left if tensor is not None],
        nodes=(visit.node,),
        fix=fix,
        node=node.type,
        op=op.name if op is not None else "",
        line=line(op.span if op is not None else None),
        pass_line=line(pass_.span),
        operand=diagnosis.say(given),
        base=_to_call(diagnosis.say(given)),
        made=made,
        is_undefined=str(int(op is not None and op.name not in LOGARITHMS and _worst(troubled, op.outputs) == "nan")),
        **(_factored(diagnosis, node.type, op) if code == "first_nan_backward" else {}),
    )


def _factored(diagnosis: Diagnosis, node: str, op: Op | None) -> dict[str, str]:
    """What a factorisation divides by the differences of, and one that comes twice."""
    only, at = next((FACTORS[type_] for type_ in FACTORS if node.startswith(type_)), ("", 0))
    values = diagnosis.tensors.get(op.outputs[at]) if op is not None and only and at < len(op.outputs) else None
    numbers = numbers_of(values) if values is not None and len(values.shape) == 1 else ()
    twice = next((f"{one:.4g}" for one, other in pairwise(numbers) if one == other), "")
    flags = {"is_factored": only, "is_singular": only == "svdvals", "is_eigen": only == "eigvalsh", "is_twice": twice}
    return {"twice": twice or "0"} | {name: str(int(bool(is_so))) for name, is_so in flags.items()}


def _to_call(said: str) -> str:
    """What a method is called on: all but a name with its attributes, items and calls in brackets."""
    return said if IS_ATOM.fullmatch(said) else f"({said})"


def _is_behind_where(diagnosis: Diagnosis, node: str) -> bool:
    """Whether `where` chose among its results: the gradient of what was not chosen is 0, and 0 times Inf is NaN."""
    return any(
        other.type.startswith(("WhereBackward", "MaskedFillBackward")) and any(edge.to == node for edge in other.edges)
        for other in diagnosis.trace.nodes
    )


def _is_root_at_zero(diagnosis: Diagnosis, op: Op) -> bool:
    operand = diagnosis.input_of(op)
    summary = operand.summary if operand is not None else None
    return summary.zeros > 0 if summary is not None else 0 in numbers_of(operand)
