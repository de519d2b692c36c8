"""Steps that lead the wrong way: a sign that makes the loss grow."""

import ast
import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.findings.diagnosis import (
    UNKNOWN,
    Diagnosis,
    argument,
    by_number,
    fed_by,
    near,
    numbers_of,
)
from engine.findings.losses import LOSS_FUNCTIONS, PASSING
from engine.findings.optimizer_code import made_by
from engine.program.edits import Edits
from engine.program.names import dotted, is_grad, keyword
from engine.trace import Finding, Op, Pass, Span, Update

KEEPS_SIGN = PASSING | frozenset("mean sum __getitem__ getitem sqrt detach stack cat".split())
BY_NUMBERS = frozenset("add sub mul div neg rsub".split())
"""Ops of one tensor and a number; those that turn the sign among them."""
MOST_STEPS = 8
UNWANTED = re.compile(
    r"unlike|unlearn|forget|neg(ative)?(?!(ative)?(_?log|\()|at)|bad|wrong|reject|repeat|avoid", re.IGNORECASE
)
"""What it calls answers that are to become rarer, or the loss that makes them so."""


def uphill(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A loss whose parameters are moved along its gradient instead of against it."""
    by_place = diagnosis.passes_by_place.values()
    single = (passes for passes in by_place if all(len(pass_.roots) == 1 for pass_ in passes))
    losses = [(sign, passes) for passes in single if (sign := _aim(diagnosis, passes[0])) is not None]
    moves = _moves(diagnosis) if losses else {}
    for sign, passes in losses:
        fed = sorted({leaf for pass_ in passes for leaf in _given(diagnosis, pass_)}, key=by_number)
        wrong = {leaf: moves[leaf] for leaf in fed if leaf in moves and _is_trained(diagnosis, leaf)}
        wrong = {leaf: own for leaf, own in wrong.items() if all(move.direction == sign for move in own)}
        if wrong and _grows(diagnosis, passes, sign):
            found = _finding(diagnosis, sign, passes, wrong)
            if found is not None:
                yield found


class _Move(NamedTuple):
    """A leaf that was moved along its gradient (1) or against it (−1)."""

    span: Span | None
    direction: int
    step: Update | None
    """The step of an optimizer that did it; by hand otherwise."""


def _moves(diagnosis: Diagnosis) -> dict[str, list[_Move]]:
    """For each leaf the moves whose direction is known."""
    moves: dict[str, list[_Move]] = {}
    for leaf, move in (*_updates(diagnosis), *_rebindings(diagnosis)):
        if move.direction:
            moves.setdefault(leaf, []).append(move)
    return moves


def _updates(diagnosis: Diagnosis) -> Iterator[tuple[str, _Move]]:
    """The steps of optimizers, and writes by hand."""
    for update in diagnosis.trace.updates:
        if update.kind not in ("step", "data", "in_place"):
            continue
        now = diagnosis.update_step.get(update.id, -1)
        for change in update.changes:
            leaf = diagnosis.leaf_of(change.before)
            latest = _latest_gradient(diagnosis, leaf, now)
            if leaf is None:
                continue
            if update.kind == "step" and update.settings:
                group = update.settings[min(change.group, len(update.settings) - 1)]
                yield leaf, _Move(update.span, 1 if group.get("maximize") == "True" else -1, update)
            elif latest is not None and (update.kind == "step" or _reads_gradient(diagnosis, update.span)):
                step = update if update.kind == "step" else None
                yield leaf, _Move(update.span, _along(diagnosis, change.before, change.after, latest), step)


def _reads_gradient(diagnosis: Diagnosis, span: Span | None) -> bool:
    """Whether what stands at a place was computed from a gradient, as far as ops tell."""
    given = [tensor for op in diagnosis.ops_at(span) for tensor in op.inputs]
    behind = (diagnosis.tensors.get(tensor) for tensor in near(given, diagnosis.made_from))
    return not given or any(record is not None and record.role == "gradient" for record in behind)


def _rebindings(diagnosis: Diagnosis) -> Iterator[tuple[str, _Move]]:
    """`w = w + lr * w.grad`: a new leaf under the old one's name."""
    is_by_hand = any(map(is_grad, diagnosis.code.attributes))
    for op in diagnosis.ops_named(("add", "sub")) if is_by_hand else ():
        leaf = diagnosis.leaf_of(op.inputs[0]) if len(op.inputs) == 2 and op.outputs else None
        latest = _latest_gradient(diagnosis, leaf, diagnosis.op_step.get(op.id, -1))
        if leaf is not None and latest is not None and _is_bound_anew(diagnosis, op):
            yield leaf, _Move(op.span, _along(diagnosis, op.inputs[0], op.outputs[0], latest), None)


def _is_bound_anew(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether the statement gives the result to the very name that its first operand was read from."""
    code = diagnosis.code
    statement, node = code.statement_at(op.span), code.at(op.span)
    operand = node.left if isinstance(node, ast.BinOp) else None
    if isinstance(node, ast.Call):
        operand = code.receiver(node) or next(iter(node.args), None)
    name = dotted(operand)
    return isinstance(statement, ast.Assign) and bool(name) and dotted(statement.targets[0]) == name


def _latest_gradient(diagnosis: Diagnosis, leaf: str | None, now: int) -> str | None:
    """What passes had left for a leaf by then."""
    gradients = diagnosis.gradient_steps.get(leaf or "", [])
    earlier = bisect_left(gradients, (now,))
    return gradients[earlier - 1][1] if earlier else None


def _along(diagnosis: Diagnosis, before: str | None, after: str | None, gradient: str) -> int:
    """1 when a tensor was moved along a gradient and nowhere else, −1 against it; 0 when it went elsewhere."""
    old, new, slope = (numbers_of(diagnosis.tensors.get(tensor or "")) for tensor in (before, after, gradient))
    if not len(old) == len(new) == len(slope) or not old:
        return 0
    moved = [now - then for now, then in zip(new, old, strict=True)]
    product = sum(step * up for step, up in zip(moved, slope, strict=True))
    sizes = math.hypot(*moved) * math.hypot(*slope)
    if not sizes or abs(product) < 0.99 * sizes:
        return 0
    return 1 if product > 0 else -1


def _is_trained(diagnosis: Diagnosis, leaf: str) -> bool:
    """Whether it is what training is to change: a model's parameter, or without a model any leaf."""
    return diagnosis.is_parameter(leaf) or not any(module.parameters for module in diagnosis.trace.modules)


def _given(diagnosis: Diagnosis, pass_: Pass) -> Iterator[str]:
    """The leaves that got a gradient, in their `.grad` or as what `autograd.grad` returned."""
    yield from fed_by(pass_)
    asked = (tensor for tensor in pass_.inputs or () if tensor is not None)
    yield from (diagnosis.identity(tensor) for tensor in asked if diagnosis.is_tracked_leaf(tensor))


def _grows(diagnosis: Diagnosis, passes: Sequence[Pass], sign: int) -> bool:
    """Whether the loss grew, where several passes show it."""
    values = _losses(diagnosis, passes)
    if len(values) < 2 or not values[0] or not values[-1]:
        return True  # NaN or infinity at the end
    return (values[-1][0] - values[0][0]) * sign > 0


def _losses(diagnosis: Diagnosis, passes: Sequence[Pass]) -> list[Sequence[float]]:
    return [numbers_of(diagnosis.tensors.get(pass_.roots[0].tensor or "")) for pass_ in passes]


def _aim(diagnosis: Diagnosis, pass_: Pass) -> int | None:
    """1 for a pass that begins at a loss function or at squared differences, −1 where these are negated; None for what
    may as well be made large."""
    tensor: str | None = pass_.roots[0].tensor
    sign = 1
    for _ in range(MOST_STEPS):
        maker = diagnosis.maker.get(tensor or "")
        if maker is None:
            return None
        if maker.name in LOSS_FUNCTIONS or squares_differences(diagnosis, maker):
            return sign if sign > 0 or not _is_held_apart(diagnosis, maker) else None
        if _negates(maker):
            sign = -sign
        tensor = _summand(diagnosis, maker)
    return None


def _is_held_apart(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether what a loss holds a value against comes of parameters too: to push the two apart may be meant."""
    maker = diagnosis.maker.get(op.inputs[0]) if op.name not in LOSS_FUNCTIONS else op
    return maker is not None and all(map(diagnosis.leaves_behind, ([given] for given in maker.inputs[:2])))


def _negates(op: Op) -> bool:
    is_product = op.name in ("mul", "div") and len(op.inputs) == 1
    is_difference = op.name == "rsub" and len(op.inputs) == 1
    return op.name == "neg" or is_difference or (is_product and argument(op, "other", 1).startswith("-"))


def _summand(diagnosis: Diagnosis, op: Op) -> str | None:
    """The input that an op makes smaller or larger with its result: of a sum the one that is a loss."""
    if len(op.inputs) == 1 and op.name in KEEPS_SIGN | BY_NUMBERS:
        return op.inputs[0]
    if op.name == "add" and len(op.inputs) == 2:
        makers = {tensor: diagnosis.maker.get(tensor) for tensor in op.inputs if diagnosis.is_tracked(tensor)}
        return next((tensor for tensor, by in makers.items() if by is not None and by.name in LOSS_FUNCTIONS), None)
    return op.inputs[0] if op.inputs and op.name in KEEPS_SIGN else None


def is_square(op: Op) -> bool:
    """Whether it squares each number, in any spelling."""
    return (
        (op.name == "pow" and argument(op, "exponent", 1) in ("2", "2.0"))
        or op.name == "square"
        or (op.name == "mul" and len(op.inputs) == 2 and op.inputs[0] == op.inputs[1])
    )


def squares_differences(diagnosis: Diagnosis, op: Op) -> bool:
    """`(y_hat - y) ** 2`, in any of its spellings, with a target that is not trained or a number."""
    if not is_square(op) and op.name != "abs":
        return False
    maker = diagnosis.maker.get(op.inputs[0]) if op.inputs else None
    if maker is None or maker.name not in ("sub", "rsub"):
        return False
    return len(maker.inputs) == 1 or not all(map(diagnosis.is_tracked, maker.inputs))


def _finding(diagnosis: Diagnosis, sign: int, passes: Sequence[Pass], wrong: dict[str, list[_Move]]) -> Finding | None:
    """Told where the sign is wrong: at the step by hand, at the optimizer that maximizes, or where the loss was
    negated."""
    loss, leaves = passes[0].roots[0].tensor, list(wrong)
    moves = sorted((own[0] for own in wrong.values()), key=_place)
    told = _where(diagnosis, sign, moves, loss, passes[0].span)
    if told is None:
        return None
    code, span, fix = told
    known = [value[0] * sign for value in _losses(diagnosis, passes) if value]
    return diagnosis.finding(
        code,
        "error" if len(passes) > 1 and all(map(diagnosis.is_parameter, leaves)) else "warning",
        span,
        tensors=leaves[:8],
        fix=fix,
        names=diagnosis.say_all(leaves) if code == "uphill_by_hand" else "",
        loss=diagnosis.say(loss),
        first=f"{known[0]:.4g}" if known else UNKNOWN,
        last=f"{known[-1]:.4g}" if known else UNKNOWN,
        count=diagnosis.counted(passes),
    )


def _place(move: _Move) -> tuple[int, int]:
    return (move.span.line, move.span.column) if move.span is not None else (0, 0)


def _where(
    diagnosis: Diagnosis, sign: int, moves: Sequence[_Move], loss: str | None, pass_span: Span | None
) -> tuple[str, Span | None, Edits] | None:
    """The code of the finding, its place, and edits that turn the sign."""
    move = moves[0]
    if move.step is None:
        places = dict.fromkeys(move.span for move in moves)
        return "uphill_by_hand", move.span, tuple(edit for place in places for edit in _turned(diagnosis, place))
    if sign > 0:
        return "maximize_of_loss", *_maximized_at(diagnosis, move.step)
    if len({step.span for step in diagnosis.steps}) > 1:
        return None  # two players: one may be meant to lose
    if _is_unwanted(diagnosis, loss):
        return None
    return "loss_negated", _negated_at(diagnosis, loss) or pass_span, ()


def _is_unwanted(diagnosis: Diagnosis, loss: str | None) -> bool:
    """Whether the lines or the functions that led to a loss speak of answers that are to become rarer."""
    code = diagnosis.code
    written = [code.at(maker.span) for maker in diagnosis.back(loss, MOST_STEPS)]
    known = [statement for node in written if node is not None and (statement := code.statement(node)) is not None]
    functions = [function.name for statement in known if (function := code.function(statement)) is not None]
    return any(UNWANTED.search(text) for text in (*functions, *map(code.short, known)))


def _maximized_at(diagnosis: Diagnosis, step: Update) -> tuple[Span | None, Edits]:
    code, made = diagnosis.code, made_by(diagnosis, step)
    call = made.value if made is not None else None
    if not isinstance(call, ast.Call):
        return step.span, ()
    word = keyword(call, "maximize")
    return code.span(word.value if word is not None else call), code.argument_removed(call, word) if word else ()


def _negated_at(diagnosis: Diagnosis, tensor: str | None) -> Span | None:
    makers = diagnosis.back(tensor, MOST_STEPS)
    return next((maker.span for maker in makers if maker.name in ("neg", "mul", "div", "rsub")), None)


def _turned(diagnosis: Diagnosis, span: Span | None) -> Edits:
    """The step with the other sign."""
    code = diagnosis.code
    match code.at(span):
        case ast.AugAssign(target=target, op=ast.Add(), value=value) as statement:
            return (code.replace(statement, f"{code.text(target)} -= {code.text(value)}"),)
        case ast.Call(func=ast.Attribute(attr="add_", value=inner) as func):
            return (code.replace(func, f"{code.text(inner)}.sub_"),)
        case ast.BinOp(left=left, op=ast.Add(), right=right) as sum_ if isinstance(
            right, ast.BinOp | ast.Attribute | ast.Name
        ):
            return (code.replace(sum_, f"{code.text(left)} - {code.text(right)}"),)
    return ()
