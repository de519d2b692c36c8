"""Steps that lead nowhere, or uphill: a learning rate of 0, and a sign that makes the loss grow."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, argument, line, numbers_of
from engine.findings.losses import ELEMENTWISE_LOSSES, LOSSES, PASSING
from engine.findings.training_loop import made_by, receiver
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword
from engine.trace import Finding, Op, Pass, Span, Update

LOSS_FUNCTIONS = frozenset(
    (
        *LOSSES,
        *ELEMENTWISE_LOSSES,
        *"kl_div poisson_nll_loss gaussian_nll_loss ctc_loss soft_margin_loss multi_margin_loss multilabel_margin_loss".split(),
    )
)
NAMED_LOSS = re.compile(r"(^|_)(loss|losses|cost|err|error|mse|mae|rmse|nll|bce|ce|risk)(\d|_|$)", re.IGNORECASE)
INPUT_LIKE = re.compile(
    r"(^|_)(x\d?|img|imgs|image|images|inp|inputs?|adv|delta|perturb\w*|noise|z|latent|data|trigger|prompt|pixels)(_|$)",
    re.IGNORECASE,
)
"""Leaves that people change so that a loss grows: adversarial examples."""
KEEPS_SIGN = PASSING | frozenset("mean sum __getitem__ getitem sqrt detach".split())
MOST_STEPS = 8


def steps_of_zero(diagnosis: Diagnosis) -> Iterator[Finding]:
    """An optimizer whose learning rate is 0 in all steps, or in all from some step on."""
    by_place: dict[tuple[str | None, Span | None], list[Update]] = {}
    for update in diagnosis.trace.updates:
        if update.kind == "step" and update.changes and not update.raised:
            by_place.setdefault((receiver(diagnosis, update), update.span), []).append(update)
    for steps in by_place.values():
        still = [_rate(step) == 0 for step in steps]
        at = still.index(True) if True in still else len(steps)
        if not all(still[at:]) or 2 * at > len(steps) or at == len(steps):
            continue
        first = steps[at]
        span, fix = _zero_from(diagnosis, first, was_zero=at == 0)
        yield Finding(
            code="learning_rate_zero",
            severity="error" if at == 0 else "warning",
            span=span,
            parameters={
                "line": line(span),
                "optimizer": receiver(diagnosis, first) or first.optimizer or "",
                "step_line": line(first.span),
                "count": str(len(steps) - at),
                "of": str(len(steps)),
                "code": diagnosis.code.excerpt(span),
            },
            fix=fix,
        )


def _rate(step: Update) -> float | None:
    """The largest learning rate of the groups that it changed something of."""
    texts = [
        step.settings[group].get("lr", "")
        for group in {change.group for change in step.changes}
        if group < len(step.settings)
    ]
    found = [re.search(r"-?\d+(\.\d*)?(e[-+]?\d+)?|-?\.\d+", text) for text in texts]
    rates = [abs(float(one.group())) for one in found if one is not None]
    return max(rates) if len(rates) == len(texts) and rates else None


def _zero_from(diagnosis: Diagnosis, step: Update, *, was_zero: bool) -> tuple[Span | None, Edits]:
    """Where the 0 comes from: the optimizer's own line, the schedule's, or a line that sets it."""
    code = diagnosis.code
    made = made_by(diagnosis, step)
    call = made.value if made is not None else None
    is_scheduled = any(setting.get("initial_lr", "0") not in ("0", "0.0") for setting in step.settings)
    if was_zero and not is_scheduled and isinstance(call, ast.Call):
        return code.span(call), _rate_given(diagnosis, call)
    name = dotted(made.targets[0]) if made is not None else ""
    schedules = [
        one
        for one in code.calls
        if one.args and dotted(one.args[0]) == name and re.search(r"LR$|Lambda|Cosine|Schedule|OnPlateau", called(one))
    ]
    by_hand = [node for node in code.nodes if isinstance(node, ast.Assign | ast.AugAssign) and _sets_rate(node)]
    if schedules and (is_scheduled or not by_hand):
        return code.span(schedules[-1]), ()
    if by_hand:
        return code.span(by_hand[-1]), ()
    return (code.span(call), ()) if isinstance(call, ast.Call) else (step.span, ())


def _sets_rate(statement: ast.Assign | ast.AugAssign) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(
        isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == "lr"
        for target in targets
    )


def _rate_given(diagnosis: Diagnosis, call: ast.Call) -> Edits:
    word = keyword(call, "lr")
    value = word.value if word is not None else call.args[1] if len(call.args) > 1 else None
    return (diagnosis.code.replace(value, "0.01"),) if isinstance(value, ast.Constant) else ()


class _Goal(NamedTuple):
    """What a pass differentiates, taken for something to be made small."""

    sign: int
    """1 when the root grows with the loss, −1 when it was negated."""
    is_certain: bool
    """A loss function or squared differences; else only its name says so."""


def uphill(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A loss whose parameters are moved along its gradient instead of against it."""
    told: set[str] = set()
    goals = [(goal, passes) for passes in _passes_by_place(diagnosis).values() if (goal := _goal(diagnosis, passes[0]))]
    moves = _moves(diagnosis) if goals else {}
    for goal, passes in goals:
        fed = sorted({leaf for pass_ in passes for leaf in _fed(diagnosis, pass_)}, key=lambda leaf: (len(leaf), leaf))
        wrong = [_Moved(leaf, ups) for leaf in fed if (ups := moves.get(leaf)) and _is_uphill(goal, ups)]
        wrong = [one for one in wrong if _is_trained(diagnosis, one.leaf)]
        if not wrong or not _grows(diagnosis, passes, goal):
            continue
        if not goal.is_certain and len(wrong) < len(moves.keys() & fed):
            continue
        first = [one.moves[0] for one in sorted(wrong, key=lambda one: _place(one.moves[0].span))]
        found = _finding(diagnosis, goal, first, passes, [one.leaf for one in wrong])
        if found is not None and line(found.span) not in told:
            told.add(line(found.span))
            yield found


class _Move(NamedTuple):
    """A leaf that was moved along its gradient (1) or against it (−1)."""

    span: Span | None
    direction: int
    step: Update | None
    """The step of an optimizer that did it; by hand otherwise."""


class _Moved(NamedTuple):
    leaf: str
    moves: Sequence[_Move]


def _moves(diagnosis: Diagnosis) -> dict[str, list[_Move]]:
    """For each leaf the moves whose direction is known."""
    gradients = diagnosis.gradient_steps
    moves: dict[str, list[_Move]] = {}
    for update in diagnosis.trace.updates:
        if update.kind not in ("step", "data", "in_place"):
            continue
        now = diagnosis.update_step.get(update.id, -1)
        for change in update.changes:
            leaf = diagnosis.leaf_of(change.before)
            if leaf is None or leaf not in gradients:
                continue
            latest = [gradient for at, gradient in gradients[leaf] if at < now]
            if update.kind == "step" and update.settings:
                group = update.settings[min(change.group, len(update.settings) - 1)]
                direction = 1 if group.get("maximize") == "True" else -1
            elif latest:
                direction = _along(diagnosis, change.before, change.after, latest[-1])
            else:
                continue
            if direction:
                moves.setdefault(leaf, []).append(
                    _Move(update.span, direction, update if update.kind == "step" else None)
                )
    for leaf, move in _rebindings(diagnosis):
        moves.setdefault(leaf, []).append(move)
    return moves


def _rebindings(diagnosis: Diagnosis) -> Iterator[tuple[str, "_Move"]]:
    """`w = w + lr * w.grad`: a new leaf under the old one's name."""
    code = diagnosis.code
    is_by_hand = any(attribute.attr == "grad" for attribute in code.attributes)
    for op in diagnosis.ops_named(("add", "sub")) if is_by_hand else ():
        leaf = diagnosis.leaf_of(op.inputs[0]) if len(op.inputs) == 2 and op.outputs else None
        if leaf is None or leaf not in diagnosis.gradient_steps:
            continue
        statement = code.statement_at(op.span)
        target = dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        now = diagnosis.op_step.get(op.id, -1)
        latest = [gradient for at, gradient in diagnosis.gradient_steps[leaf] if at < now]
        if target and latest and target in diagnosis.tensors[leaf].names:
            direction = _along(diagnosis, op.inputs[0], op.outputs[0], latest[-1])
            if direction:
                yield leaf, _Move(op.span, direction, None)


def _along(diagnosis: Diagnosis, before: str | None, after: str | None, gradient: str) -> int:
    """1 when a tensor was moved along a gradient and nowhere else, −1 against it; 0 when it went elsewhere."""
    old, new, slope = (numbers_of(diagnosis.tensors.get(one or "")) for one in (before, after, gradient))
    if not len(old) == len(new) == len(slope) or not old:
        return 0
    moved = [one - other for one, other in zip(new, old, strict=True)]
    product = sum(one * other for one, other in zip(moved, slope, strict=True))
    sizes = (sum(one * one for one in moved) * sum(one * one for one in slope)) ** 0.5
    if not sizes or abs(product) < 0.99 * sizes:
        return 0
    return 1 if product > 0 else -1


def _place(span: Span | None) -> tuple[int, int]:
    return (span.line, span.column) if span is not None else (0, 0)


def _is_uphill(goal: _Goal, moves: Sequence[_Move]) -> bool:
    return all(move.direction * goal.sign > 0 for move in moves)


def _is_trained(diagnosis: Diagnosis, leaf: str) -> bool:
    """Whether it is what training is to change: a model's parameter, or without a model a weight of one's own."""
    if diagnosis.is_parameter(leaf):
        return True
    has_model = any(module.parameters for module in diagnosis.trace.modules)
    return not has_model and not INPUT_LIKE.search(diagnosis.name(leaf))


def _fed(diagnosis: Diagnosis, pass_: Pass) -> Iterator[str]:
    """The leaves that got a gradient, in their `.grad` or as what `autograd.grad` returned."""
    yield from (accumulation.tensor for accumulation in pass_.accumulations if accumulation.delta is not None)
    yield from (
        diagnosis.identity(asked)
        for asked in pass_.inputs or ()
        if asked is not None and diagnosis.is_tracked_leaf(asked)
    )


def _passes_by_place(diagnosis: Diagnosis) -> dict[Span | None, list[Pass]]:
    found: dict[Span | None, list[Pass]] = {}
    for pass_ in diagnosis.trace.passes:
        if not pass_.failed and len(pass_.roots) == 1 and pass_.parent is None:
            found.setdefault(pass_.span, []).append(pass_)
    return found


def _grows(diagnosis: Diagnosis, passes: Sequence[Pass], goal: _Goal) -> bool:
    """Whether the loss grew, where several passes show it."""
    values = [numbers_of(diagnosis.tensors.get(pass_.roots[0].tensor or "")) for pass_ in passes]
    if len(values) < 2 or not values[0]:
        return goal.is_certain
    if not values[-1]:
        return True  # NaN or infinity
    return (values[-1][0] - values[0][0]) * goal.sign > 0


def _goal(diagnosis: Diagnosis, pass_: Pass) -> _Goal | None:
    """What kind of loss a pass begins at; nothing for what may as well be made large."""
    tensor = diagnosis.tensors.get(pass_.roots[0].tensor or "")
    sign = 1
    names = [] if tensor is None else [*tensor.names]
    for _ in range(MOST_STEPS):
        maker = diagnosis.maker.get(tensor.id) if tensor is not None else None
        if maker is None:
            break
        if maker.name in LOSS_FUNCTIONS or _squares_differences(diagnosis, maker):
            return _Goal(sign, is_certain=True)
        if maker.name == "neg" or (maker.name == "rsub" and len(maker.inputs) == 1):
            sign, names = -sign, []
        elif maker.name in ("mul", "div") and len(maker.inputs) == 1:
            number = argument(maker, "other", 1)
            sign, names = (-sign, []) if number.startswith("-") else (sign, names)
        elif maker.name == "add" and len(maker.inputs) == 2:
            tracked = [input_ for input_ in maker.inputs if diagnosis.is_tracked(input_)]
            losses = [
                one for one in tracked if (by := diagnosis.maker.get(one)) is not None and by.name in LOSS_FUNCTIONS
            ]
            if not losses:
                break
            tensor = diagnosis.tensors.get(losses[0])
            continue
        elif maker.name not in KEEPS_SIGN and not (maker.name in ("add", "sub") and len(maker.inputs) == 1):
            break
        tensor = diagnosis.input_of(maker)
        names += [] if tensor is None else tensor.names
    return _Goal(1, is_certain=False) if sign == 1 and any(NAMED_LOSS.search(name) for name in names) else None


def _squares_differences(diagnosis: Diagnosis, op: Op) -> bool:
    """`(y_hat - y) ** 2`, in any of its spellings, with a target that is not trained."""
    is_square = (
        (op.name == "pow" and argument(op, "exponent", 1) in ("2", "2.0"))
        or op.name == "square"
        or (op.name == "mul" and len(op.inputs) == 2 and op.inputs[0] == op.inputs[1])
    )
    if not is_square and op.name != "abs":
        return False
    maker = diagnosis.maker.get(op.inputs[0]) if op.inputs else None
    if maker is None or maker.name not in ("sub", "rsub"):
        return False
    return len(maker.inputs) == 2 and not all(diagnosis.is_tracked(input_) for input_ in maker.inputs)


def _finding(
    diagnosis: Diagnosis, goal: _Goal, moves: Sequence[_Move], passes: Sequence[Pass], leaves: list[str]
) -> Finding | None:
    """Told where the sign is wrong: at the step by hand, at the optimizer that maximizes, or where the loss was negated."""
    code = diagnosis.code
    loss, move = passes[0].roots[0].tensor, moves[0]
    fix: Edits = ()
    if move.step is None:
        name, span = "uphill_by_hand", move.span
        fix = tuple(edit for place in dict.fromkeys(one.span for one in moves) for edit in _turned(diagnosis, place))
    elif goal.sign > 0:
        made = made_by(diagnosis, move.step)
        call = made.value if made is not None else None
        word = keyword(call, "maximize") if isinstance(call, ast.Call) else None
        name, span = "maximize_of_loss", move.span
        if isinstance(call, ast.Call):
            span = code.span(word.value if word is not None else call)
            fix = code.argument_removed(call, word) if word is not None else ()
    else:
        if len({update.span for update in diagnosis.trace.updates if update.kind == "step"}) > 1:
            return None  # two players: one may be meant to lose
        name, span = "loss_negated", _negated_at(diagnosis, loss) or passes[0].span
    values = [numbers_of(diagnosis.tensors.get(pass_.roots[0].tensor or "")) for pass_ in passes]
    known = [value[0] * goal.sign for value in values if value]
    return Finding(
        code=name,
        severity="error" if goal.is_certain and len(passes) > 1 else "warning",
        span=span,
        tensors=tuple(leaves[:8]),
        parameters={
            "line": line(span),
            "names": diagnosis.say_all(leaves),
            "loss": diagnosis.say(loss),
            "first": f"{known[0]:.4g}" if known else "?",
            "last": f"{known[-1]:.4g}" if known else "?",
            "count": str(len(passes)),
            "code": diagnosis.code.excerpt(span),
        },
        fix=fix,
    )


def _negated_at(diagnosis: Diagnosis, tensor: str | None) -> Span | None:
    record = diagnosis.tensors.get(tensor or "")
    for _ in range(MOST_STEPS):
        maker = diagnosis.maker.get(record.id) if record is not None else None
        if maker is None:
            return None
        if maker.name in ("neg", "mul", "div", "rsub"):
            return maker.span
        record = diagnosis.input_of(maker)
    return None


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
