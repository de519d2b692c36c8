"""Value functions: targets and advantages that are trained although they are only to be aimed at, values of actions
that were not done, and networks of targets that are copied the wrong way or too fast."""

import ast
from collections.abc import Iterator
from itertools import islice, pairwise

from engine.findings.diagnosis import (
    LEAST_TURNS,
    Diagnosis,
    argument,
    by_number,
    extent,
    grouped,
    is_alike,
    line,
    near,
    number,
    numbers_of,
)
from engine.findings.losses import ELEMENTWISE_LOSSES, PASSING
from engine.findings.shared_data import DRAWS
from engine.ops import DETACHES
from engine.program.edits import Edits
from engine.program.names import called
from engine.trace import Finding, ModuleCall, Op

MOST_BEHIND = 40
MOST_KEPT = 0.1
"""What a network that follows another slowly has at least of its own weights after it moved."""
COPIED = ("detach", "data", "clone", "alias")
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
        is_discounted |= maker.name == "mul" and _is_discount(diagnosis, maker)
    return tensor if is_discounted else None


def _is_discount(diagnosis: Diagnosis, product: Op) -> bool:
    """Whether a factor is a number between 0 and 1, or has one, as in `0.9 * (1 - done)`."""
    makers = map(diagnosis.maker.get, product.inputs)
    factors = [one for one in makers if one is not None and one.name == "mul" and not one.nodes]
    return any(0 < (number(argument(one, "other", 1)) or 0) <= 1 for one in (product, *factors))


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


def best_taken_for_the_one_done(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The highest value of a state held against reward + gamma * the highest value of the next: what was received is
    for the action that was done, which need not be the best one."""
    for op in diagnosis.ops_named((*ELEMENTWISE_LOSSES, "sub")):
        for target, value in (
            (op.inputs, op.inputs[::-1]) if len(op.inputs) == 2 and diagnosis.reaches_a_pass(op) else ()
        ):
            best = diagnosis.origin(value, PASSING) if diagnosis.is_tracked(value) else None
            call = _call(diagnosis, best.inputs[0]) if best is not None and _is_best(best) else None
            behind = list(diagnosis.makers_behind([target])) if call is not None else []
            is_discounted = any(
                each.name == "mul" and 0 < (number(argument(each, "other", 1)) or 0) < 1 for each in behind
            )
            if best is None or call is None or not is_discounted or not any(map(_is_best, behind)):
                continue
            yield diagnosis.warning(
                "best_for_done",
                op,
                tensors=(value, target),
                value=diagnosis.say(value),
                target=diagnosis.say(target),
                model=diagnosis.modules[call.module].path,
                best_line=line(best.span),
            )
            break


def _is_best(op: Op) -> bool:
    """Whether it picks the largest number along an axis."""
    return op.name == "amax" or (op.name == "max" and len(op.outputs) == 2)


def advantages_that_learn(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The logarithm of a probability times return - value, where the value is trained through that product too."""
    moved = diagnosis.held | diagnosis.stepped
    for op in diagnosis.ops_named(("mul",)):
        if len(op.inputs) != 2 or not diagnosis.reaches_a_pass(op):
            continue
        for advantage, probability in (op.inputs, op.inputs[::-1]):
            if not diagnosis.is_tracked(advantage) or not _is_log_prob(diagnosis, probability):
                continue
            if not any(_is_gain(diagnosis, maker) for maker in _near(diagnosis, advantage)):
                continue
            behind = set(diagnosis.leaves_behind([advantage])) - set(diagnosis.leaves_behind([probability]))
            own = sorted((leaf for leaf in behind if diagnosis.is_parameter(leaf) or leaf in moved), key=by_number)
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


def ratios_of_one(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`exp(new - old)` or `new / old` that is 1 in every turn, though steps lie between turns that score the same data:
    both come from the same weights."""
    for turns in grouped(diagnosis.ops_named(("exp", "div")), lambda op: op.span).values():
        if len(turns) < LEAST_TURNS or not all(_is_ratio_of_one(diagnosis, op) for op in turns):
            continue
        alike = [(one, other) for one, other in pairwise(turns) if _scores_the_same(diagnosis, one, other)]
        if len(alike) < 2:
            continue
        new, old = _compared(diagnosis, turns[0])
        yield diagnosis.warning(
            "ratio_of_one",
            turns[0],
            tensors=(turns[0].outputs[0], new, old),
            ratio=diagnosis.say(turns[0].outputs[0]),
            new=diagnosis.say(new),
            old=diagnosis.say(old),
            times=diagnosis.counted(turns),
            again=diagnosis.counted(alike),
        )


def _compared(diagnosis: Diagnosis, op: Op) -> tuple[str, ...]:
    """The two sides of a ratio, or of the difference whose exponential it is."""
    difference = diagnosis.maker.get(op.inputs[0]) if op.name == "exp" else op
    is_pair = difference is not None and difference.name in ("sub", "div") and len({*difference.inputs}) == 2
    return difference.inputs if difference is not None and is_pair else ()


def _is_ratio_of_one(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether it compares several numbers with others without gradient, all alike. `new - new.detach()` is there
    for its gradient, unless something clips it."""
    pair = _compared(diagnosis, op)
    cuts = (diagnosis.maker.get(given) for given in pair)
    is_own = any(cut is not None and cut.name in DETACHES and cut.inputs[:1] == pair[:1] for cut in cuts)
    is_clipped = any(taker.name in ("clamp", "clip") for made in op.outputs for taker in diagnosis.takers.get(made, ()))
    is_one = bool(pair) and extent(diagnosis.output_of(op)) == (1.0, 1.0) and diagnosis.elements(op.outputs[0]) > 1
    is_cut = sum(map(diagnosis.is_tracked, pair)) == 1 and diagnosis.reaches_a_pass(op)
    return is_one and is_cut and (is_clipped or (op.name == "exp" and not is_own))


def _scores_the_same(diagnosis: Diagnosis, one: Op, other: Op) -> bool:
    """Whether a step lies between two turns, and nothing that the later one scores was drawn or made since."""
    behind = list(near(other.inputs, diagnosis.made_from))
    first, last = (diagnosis.op_step.get(op.id, -1) for op in (one, other))
    steps = (step for step in diagnosis.moves if first < diagnosis.update_step.get(step.id, -1) < last)
    moved = {leaf for step in steps for leaf in diagnosis.changed_by(step)}
    makers = (diagnosis.maker.get(tensor) for tensor in behind)
    since = [maker for maker in makers if maker is not None and diagnosis.op_at[maker.id] > diagnosis.op_at[one.id]]
    is_fresh = any(not maker.inputs or maker.name in DRAWS for maker in since)
    return not is_fresh and not moved.isdisjoint(map(diagnosis.identity, behind))


def trained_weights_overwritten(diagnosis: Diagnosis) -> Iterator[Finding]:
    """What the optimizer trains gets, between steps, the weights of the network that its loss aims at, which itself
    never changes: it is copied the wrong way round."""
    copies = [op for op in diagnosis.ops_named(("copy_",)) if diagnosis.steps and len(op.inputs) == 2]
    roots = [pass_.roots[0].tensor or "" for pass_ in diagnosis.ended[-1:]]
    aimed_at = {diagnosis.identity(tensor) for tensor in near(roots, diagnosis.made_from)} if copies else set()
    still = aimed_at - diagnosis.stepped - diagnosis.held
    for (_, target), turns in grouped(copies, lambda op: (op.span, _moved(diagnosis, op))).items():
        sources = [_weight(diagnosis, turn.inputs[1]) for turn in turns]
        source = diagnosis.tensors.get(sources[0])
        if source is None or target not in diagnosis.held or diagnosis.identity(source.id) not in still:
            continue
        trained = [turn for turn in turns if diagnosis.op_step.get(turn.id, -1) > min(diagnosis.pass_step.values())]
        is_same = all(is_alike(source, diagnosis.tensors.get(each)) for each in sources)
        if len(trained) >= 2 and is_same and not is_alike(*map(diagnosis.tensors.get, trained[-1].inputs)):
            yield diagnosis.warning(
                "trained_overwritten",
                trained[0],
                tensors=(target, source.id),
                name=_owner(diagnosis, target),
                other=_owner(diagnosis, source.id),
                count=diagnosis.counted(trained),
                until_line=line(diagnosis.steps[0].span),
            )
            return


def _owner(diagnosis: Diagnosis, parameter: str) -> str:
    """What the model is called that holds a parameter, else the parameter."""
    identity = diagnosis.identity(parameter)
    modules = (module for module in diagnosis.trace.modules if module.parent is None)
    own = (module for module in modules if identity in diagnosis.leaves_of.get(module.id, ()))
    return next(map(diagnosis.module_name, own), diagnosis.say(identity))


def _moved(diagnosis: Diagnosis, op: Op) -> str:
    """The parameter that an op writes into."""
    return diagnosis.identity(_weight(diagnosis, op.inputs[0]))


def _weight(diagnosis: Diagnosis, tensor: str) -> str:
    """The parameter in whose memory a copied value lies."""
    for _ in range(len(COPIED)):
        maker = diagnosis.maker.get(tensor)
        if maker is None or maker.name not in COPIED:
            break
        tensor = maker.inputs[0]
    return tensor


def followers_too_fast(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`tau * target + (1 - tau) * local` with a small `tau`: at every step the slow copy is nearly all the other."""
    moves = diagnosis.ops_named(("copy_", "lerp_")) if diagnosis.steps else ()
    for turns in grouped(moves, lambda op: (op.span, _moved(diagnosis, op))).values():
        shares = [_taken_over(diagnosis, op) for op in turns] if len(turns) >= LEAST_TURNS else []
        known = [share for share in shares if share is not None]
        if len(known) < LEAST_TURNS or not all(1 - MOST_KEPT <= share < 1 for share in known):
            continue
        if max(known) - min(known) > MOST_KEPT / 10:
            continue
        op, other = turns[0], _followed(diagnosis, turns[0])
        target = _weight(diagnosis, op.inputs[0])
        yield diagnosis.warning(
            "follower_too_fast",
            op,
            tensors=(target, *op.outputs[:1]),
            name=_owner(diagnosis, target),
            other=_owner(diagnosis, other or ""),
            share=f"{100 * known[-1]:.3g}",
            kept=f"{100 * (1 - known[-1]):.2g}",
            count=diagnosis.counted(known),
        )
        return


def _followed(diagnosis: Diagnosis, op: Op) -> str | None:
    """The one trained weight that a weight which no optimizer holds is moved towards."""
    own, given = _moved(diagnosis, op), {*near(op.inputs[1:2], diagnosis.made_from)}
    held = {diagnosis.identity(tensor): tensor for tensor in given if diagnosis.identity(tensor) in diagnosis.held}
    return next(iter(held.values())) if len(held) == 1 and own not in diagnosis.held else None


def _taken_over(diagnosis: Diagnosis, op: Op) -> float | None:
    """How far a weight went towards the one that it follows; None where it did not go straight there, or all the
    way."""
    other = _followed(diagnosis, op)
    old, new, aim = (numbers_of(diagnosis.tensors.get(at or "")) for at in (op.inputs[0], op.outputs[0], other))
    if not len(old) == len(new) == len(aim) or list(new) == list(aim):
        return None
    way = [to - begin for to, begin in zip(aim, old, strict=True)]
    length = sum(step * step for step in way)
    share = sum((end - begin) * step for end, begin, step in zip(new, old, way, strict=True)) / length if length else 0
    missed = sum((end - begin - share * step) ** 2 for end, begin, step in zip(new, old, way, strict=True))
    return share if length and missed < 1e-4 * length else None
