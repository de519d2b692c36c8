"""Value functions: targets and advantages that are trained although they are only to be aimed at."""

import ast
from collections.abc import Iterator
from itertools import islice

from engine.findings.diagnosis import Diagnosis, argument, by_number, line, near, number
from engine.findings.losses import ELEMENTWISE_LOSSES
from engine.program.edits import Edits
from engine.program.names import called
from engine.trace import Finding, ModuleCall, Op

MOST_BEHIND = 40
FACTORS = ("mul", "squeeze", "unsqueeze", "view", "reshape", "flatten")
"""Ops between a value and its share in a target."""


def targets_that_learn(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A value held against reward + gamma * the next value of the same model, with a gradient on both sides."""
    for op in diagnosis.trace.ops:
        if (op.name not in ELEMENTWISE_LOSSES and op.name != "sub") or len(op.inputs) != 2:
            continue
        for target, other in (op.inputs[::-1], op.inputs) if diagnosis.reaches_a_pass(op) else ():
            future, value = _future(diagnosis, target), _call(diagnosis, other)
            call = _call(diagnosis, future) if future is not None else None
            if call is None or value is None or call.module != value.module or call.id == value.id:
                continue
            yield diagnosis.warning(
                "target_learns",
                op,
                tensors=(target, other),
                fix=_detached(diagnosis, op, target),
                target=diagnosis.say(target),
                value=diagnosis.say(other),
                model=diagnosis.modules[call.module].path,
                next_line=line(call.span),
            )
            break


def _future(diagnosis: Diagnosis, target: str) -> str | None:
    """What a target adds to a reward, before it was discounted."""
    maker = diagnosis.maker.get(target)
    tracked = [given for given in maker.inputs if diagnosis.is_tracked(given)] if maker is not None else []
    if maker is None or maker.name != "add" or len(maker.inputs) != 2 or len(tracked) != 1:
        return None
    tensor, is_discounted = tracked[0], False
    while (maker := diagnosis.maker.get(tensor)) is not None and maker.name in FACTORS:
        tracked = [given for given in maker.inputs if diagnosis.is_tracked(given)]
        if len(tracked) != 1:
            return None
        tensor = tracked[0]
        is_discounted |= maker.name == "mul" and 0 < (number(argument(maker, "other", 1)) or 0) <= 1
    return tensor if is_discounted else None


def _call(diagnosis: Diagnosis, tensor: str) -> ModuleCall | None:
    """The call of a model whose result this is, picked from or as it is."""
    for behind in near([tensor], lambda at: diagnosis.made_from(at)[:1]):
        maker = diagnosis.maker.get(behind)
        if maker is not None and maker.module is not None:
            return diagnosis.call_around(maker)
    return None


def _detached(diagnosis: Diagnosis, op: Op, target: str) -> Edits:
    """`.detach()` after the target, where the loss names it."""
    code = diagnosis.code
    call = code.call_at(op.span)
    written = call.args[op.inputs.index(target)] if call is not None and len(call.args) >= 2 else None
    return (code.after(written, ".detach()"),) if isinstance(written, ast.Name) else ()


def advantages_that_learn(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The logarithm of a probability times return - value, where the value is trained through that product too."""
    for op in diagnosis.ops_named(("mul",)):
        if len(op.inputs) != 2 or not diagnosis.reaches_a_pass(op):
            continue
        for advantage, probability in (op.inputs, op.inputs[::-1]):
            if not diagnosis.is_tracked(advantage) or not _is_log_prob(diagnosis, probability):
                continue
            if not any(_is_gain(diagnosis, maker) for maker in _near(diagnosis, advantage)):
                continue
            behind = set(diagnosis.leaves_behind([advantage]))
            own = sorted(behind - set(diagnosis.leaves_behind([probability])), key=by_number)
            if not own:
                continue
            yield diagnosis.warning(
                "advantage_learns",
                op,
                tensors=(advantage, *own),
                advantage=diagnosis.say(advantage),
                leaves=diagnosis.say_all(own),
            )
            break


def _near(diagnosis: Diagnosis, tensor: str) -> Iterator[Op]:
    return islice(diagnosis.makers_behind([tensor]), MOST_BEHIND)


def _is_gain(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether it takes a learnt value from what was received, or from that and a later value."""
    if op.name != "sub" or len(op.inputs) != 2 or not any(map(diagnosis.is_tracked, op.inputs)):
        return False
    sums = (diagnosis.maker.get(given) for given in op.inputs)
    received = [
        *op.inputs,
        *(given for maker in sums if maker is not None and maker.name == "add" for given in maker.inputs),
    ]
    return not all(map(diagnosis.is_tracked, received))


def _is_log_prob(diagnosis: Diagnosis, tensor: str) -> bool:
    """Whether a value comes from `log_prob`, perhaps as a ratio."""
    calls = (diagnosis.code.call_at(maker.span) for maker in _near(diagnosis, tensor))
    return any(call is not None and called(call) == "log_prob" for call in calls)
