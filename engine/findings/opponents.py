"""Two models trained against each other, as the two of a GAN are, when one is trained to help the other instead.

The gradients tell, not how a loss is written: an opponent that pulls its score of what a model makes one way, and its
score of all else the other, is to be fooled. So the model's own loss pulls that score back.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis, extent, line
from engine.findings.losses import last_maker, left_out
from engine.trace import Finding, ModuleCall, Op, Pass, Tensor, Update

MOST_ROUNDS = 8


class _Round(NamedTuple):
    """A step, and the passes since the step before it."""

    step: Update
    held: frozenset[str]
    passes: list[Pass]


class _Score(NamedTuple):
    """What a model gave in one call, the gradient that came back to it, and the direction in which that pulls it: 1 up,
    −1 down."""

    made: Tensor
    slope: Tensor | None
    pull: int


def opponents_helped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A model whose loss pulls the score of what it makes the way that the one who gives the score pulls it."""
    rounds = list(islice(_rounds(diagnosis), MOST_ROUNDS))
    holders = {round_.held for round_ in rounds}
    for other in holders if len(holders) > 1 else ():
        for judge in (judge for judge, leaves in diagnosis.leaves_of.items() if leaves <= other):
            for own in (own for own in holders if own.isdisjoint(other)):
                found = _helped(diagnosis, judge, [each for each in rounds if each.held in (own, other)], own)
                if found is not None:
                    yield found


def critics_squashed(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A critic that ends in a sigmoid, where its loss is a difference of its scores' means and its slope is held, by a
    penalty or by clipped weights, as for a Wasserstein distance: that has no bounds."""
    rounds = [each for each in islice(_rounds(diagnosis), MOST_ROUNDS) if each.passes]
    holders = {round_.held for round_ in rounds}
    for judge, leaves in diagnosis.leaves_of.items() if len(holders) > 1 else ():
        own = [each for each in rounds if leaves <= each.held]
        calls = [call for call in diagnosis.trace.calls if call.module == judge and call.parent is None]
        scores = [list(_averaged(diagnosis, calls, each)) for each in own]
        squashed = last_maker(diagnosis, scores[0][0].made) if scores and scores[0] else None
        are_opposed = all({score.pull for score in each} == {1, -1} for each in scores)
        if squashed is None or squashed.name != "sigmoid" or not are_opposed or not _is_held(diagnosis, leaves, own[0]):
            continue
        pass_ = next(each for each in own[0].passes if each.kind == "backward")
        yield diagnosis.warning(
            "critic_squashed",
            squashed,
            tensors=(scores[0][0].made.id,),
            fix=left_out(diagnosis, squashed),
            critic=diagnosis.modules[judge].path,
            pass_line=line(pass_.span),
        )


def _averaged(diagnosis: Diagnosis, calls: list[ModuleCall], round_: _Round) -> Iterator[_Score]:
    """The scores whose slope is the same for all, though they differ: their mean counts, or their sum."""
    for score in _scores(diagnosis, calls, round_):
        ends, slopes = extent(score.made), extent(score.slope)
        if score.pull and ends is not None and ends[0] < ends[1] and slopes is not None and slopes[0] == slopes[1]:
            yield score


def _is_held(diagnosis: Diagnosis, leaves: set[str], round_: _Round) -> bool:
    """Whether a loss counts how a model's result changes with its input, or the model's weights are clipped."""
    slopes = (root.tensor or "" for each in round_.passes if each.create_graph for root in each.roots)
    clips = diagnosis.ops_named(("clamp_", "clip_"))
    is_clipped = any(diagnosis.leaf_of(op.inputs[0]) in leaves for op in clips)
    return is_clipped or not leaves.isdisjoint(diagnosis.leaves_behind(slopes))


def _rounds(diagnosis: Diagnosis) -> Iterator[_Round]:
    begin = -1
    for step in diagnosis.steps:
        end = diagnosis.update_step.get(step.id, -1)
        passes = [pass_ for pass_ in diagnosis.ended if begin < diagnosis.pass_step.get(pass_.id, -1) < end]
        begin = end
        yield _Round(step, frozenset(diagnosis.held_by(step)), passes)


def _helped(diagnosis: Diagnosis, judge: str, rounds: list[_Round], own: frozenset[str]) -> Finding | None:
    """Where all rounds agree: the opponent's pull what the model makes one way and the rest the other, the model's pull
    it that same way."""
    calls = [call for call in diagnosis.trace.calls if call.module == judge and call.parent is None]
    judged: dict[bool, list[_Score]] = {True: [], False: []}
    scored: list[_Score] = []
    for round_ in rounds:
        for score in _scores(diagnosis, calls, round_):
            if round_.held == own:
                scored.append(score)
            else:
                is_made = not own.isdisjoint(diagnosis.leaves_behind([score.made.id]))
                judged[is_made].append(score)
    pulls = {is_made: {score.pull for score in scores} for is_made, scores in judged.items()}
    pull = next(iter(pulls[True]), 0)
    if not pull or pulls != {True: {pull}, False: {-pull}} or {score.pull for score in scored} != {pull}:
        return None
    loss, against = _taker(diagnosis, scored[0].made), _taker(diagnosis, judged[True][0].made)
    if loss is None or against is None or _goal(diagnosis, loss) != _goal(diagnosis, against):
        return None
    model = diagnosis.root_of.get(min(own))
    return diagnosis.warning(
        "opponent_helped",
        loss,
        tensors=(scored[0].made.id,),
        model=model.path if model is not None else diagnosis.say(min(own)),
        opponent=diagnosis.modules[judge].path,
        is_up=str(int(pull > 0)),
        other_line=line(against.span),
    )


def _scores(diagnosis: Diagnosis, calls: list[ModuleCall], round_: _Round) -> Iterator[_Score]:
    """What the calls gave that passes of a round came back through."""
    visits = (visit for pass_ in round_.passes if pass_.kind == "backward" for visit in pass_.visits)
    entered = {visit.node: visit.entered for visit in visits}
    sign = -1 if any(group.get("maximize") == "True" for group in round_.step.settings) else 1
    for call in calls:
        made = next((diagnosis.output_of(op) for op in reversed(diagnosis.ops_of(call)) if op.nodes), None)
        if made is not None and made.grad_fn is not None and made.grad_fn.node in entered:
            slopes = dict(enumerate(entered[made.grad_fn.node]))
            slope = diagnosis.tensors.get(slopes.get(made.grad_fn.output_nr) or "")
            yield _Score(made, slope, sign * _pull(slope))


def _pull(slope: Tensor | None) -> int:
    """The direction that is downhill for all; 0 where it differs or is not known."""
    ends = extent(slope)
    if ends is None or ends == (0, 0):
        return 0
    return -1 if ends[0] >= 0 else int(ends[1] <= 0)


def _goal(diagnosis: Diagnosis, op: Op) -> tuple[float, float] | int | None:
    """What a square pulls a score to, from both sides: a number of its own where that is not known."""
    if op.name == "mse_loss":
        return extent(diagnosis.input_of(op, 1))
    later = (op, *(taker for made in op.outputs for taker in diagnosis.takers.get(made, ())))
    return diagnosis.op_at[op.id] if any(each.name in ("pow", "square") for each in later) else None


def _taker(diagnosis: Diagnosis, made: Tensor) -> Op | None:
    """What a loss first does with a score."""
    return next((op for op in diagnosis.takers.get(made.id, ()) if diagnosis.reaches_a_pass(op)), None)
