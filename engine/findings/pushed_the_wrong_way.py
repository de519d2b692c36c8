"""Parts of a loss that push the wrong way: the sign of the gradient that came to them tells, however the loss is
written."""

from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis, extent, grouped, line, near
from engine.trace import Finding, Op

GIVE_PROBABILITIES = ("exp", "softmax")
PICKS = ("gather", "getitem")
PRODUCTS = ("mul", "bmm", "matmul", "einsum")
LAID_OUT = frozenset("sum squeeze unsqueeze view reshape flatten transpose permute div expand".split())


def _pushed(diagnosis: Diagnosis, op: Op) -> int:
    """1 where training makes each of its numbers larger, −1 smaller; 0 where that differs or is not known."""
    node = op.nodes[-1] if op.nodes else ""
    pass_ = diagnosis.trace.passes[diagnosis.visited[node]] if node in diagnosis.visited else None
    visit = next((visit for visit in pass_.visits if visit.node == node), None) if pass_ is not None else None
    ends = extent(diagnosis.tensors.get(visit.entered[0] or "")) if visit is not None and visit.entered else None
    if ends is None or ends[0] * ends[1] < 0 or ends == (0.0, 0.0):
        return 0
    return 1 if ends[0] + ends[1] < 0 else -1


def clips_that_let_all_through(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`max` of `ratio * gain` and its clipped twin, made large; or `min` of them, made small: of the two always the one
    that the clip does not bound."""
    for op in diagnosis.ops_named(("max", "maximum", "min", "minimum")):
        if op.iteration or len(op.inputs) != 2 or not _is_clipped_twin(diagnosis, op):
            continue
        is_min = op.name.startswith("min")
        if _pushed(diagnosis, op) == (-1 if is_min else 1):
            yield diagnosis.warning(
                "clip_taken_wrong",
                op,
                tensors=(*op.inputs, *op.outputs[:1]),
                one=diagnosis.say(op.inputs[0]),
                other=diagnosis.say(op.inputs[1]),
                is_min=str(int(is_min)),
                right=op.name.replace("min", "max") if is_min else op.name.replace("max", "min"),
            )


def _is_clipped_twin(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether both are a product with the same factor, one of a ratio, the other of that ratio clipped."""
    products = [diagnosis.maker.get(given) for given in op.inputs]
    factors = [set(made.inputs) for made in products if made is not None and made.name == "mul"]
    if len(factors) < 2 or len(factors[0] & factors[1]) != 1:
        return False
    one, other = (next(iter(own - (factors[0] & factors[1])), "") for own in factors)
    clips = (diagnosis.maker.get(factor) for factor in (one, other))
    return any(clip is not None and clip.name in ("clamp", "clip") and clip.inputs[0] in (one, other) for clip in clips)


def policies_made_sure(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The entropy of the very probabilities that actions are drawn from, made smaller by a loss that weighs these
    actions: the sign of the bonus is turned."""
    draws = [draw for draw in diagnosis.ops_named(("multinomial",)) if not draw.iteration]
    for op in diagnosis.ops_named(("mul",)) if draws else ():
        sides = [diagnosis.maker.get(given) for given in op.inputs] if not op.iteration else []
        probabilities = next((made for made in sides if made is not None and made.name in GIVE_PROBABILITIES), None)
        if len(sides) != 2 or probabilities is None or not all(map(diagnosis.is_tracked, op.inputs)):
            continue
        other = op.inputs[1 - op.inputs.index(probabilities.outputs[0])]
        log = diagnosis.maker.get(other)
        is_of_one = other in probabilities.inputs or (
            log is not None and not {*near([other], diagnosis.made_from)}.isdisjoint(probabilities.inputs)
        )
        if not is_of_one or (extent(diagnosis.tensors.get(other)) or (0, 1))[1] > 0:
            continue  # no logarithm of them
        if _pushed(diagnosis, op) == 1 and any(_is_weighed(diagnosis, draw, other) for draw in draws):
            total = next(diagnosis.computed_from(op.outputs), op)
            yield diagnosis.warning(
                "entropy_made_small",
                op,
                tensors=(other, op.outputs[0]),
                name=diagnosis.say(total.outputs[0]),
                draw_line=line(next(draw.span for draw in draws)),
            )
            return


def _is_weighed(diagnosis: Diagnosis, draw: Op, log: str) -> bool:
    """Whether what was drawn picks among the logarithms of a policy with the same weights, on the way to a pass."""
    drawn = {*near(draw.outputs, diagnosis.made_of)}
    weights = diagnosis.leaves_behind([log])
    picks = (taker for taker in diagnosis.ops_named(PICKS) if not drawn.isdisjoint(taker.inputs[1:]))
    own = (taker for taker in picks if diagnosis.is_tracked(taker.inputs[0]) and diagnosis.reaches_a_pass(taker))
    return any(diagnosis.leaves_behind(taker.inputs[:1]) == weights for taker in own)


def scores_all_pushed_up(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`logsigmoid` of a score with its true partner and of those with others, all made large: nothing keeps any pair
    apart."""
    calls = diagnosis.ops_named(("log_sigmoid", "logsigmoid"))
    turns = grouped((op for op in calls if not op.iteration and diagnosis.reaches_a_pass(op)), lambda op: op.module)
    for ops in turns.values():
        pairs = [_multiplied(diagnosis, op) for op in ops]
        if len(ops) != 2 or not all(pairs) or len(pairs[0] & pairs[1]) != 1 or pairs[0] == pairs[1]:
            continue
        if any(_pushed(diagnosis, op) != 1 for op in ops):
            continue
        fewer, more = sorted(ops, key=lambda op: diagnosis.elements(op.inputs[0]))
        if diagnosis.elements(fewer.inputs[0]) < diagnosis.elements(more.inputs[0]):
            yield diagnosis.warning(
                "all_pushed_up",
                more,
                tensors=(more.inputs[0], fewer.inputs[0]),
                name=diagnosis.say(more.inputs[0]),
                count=str(diagnosis.elements(more.inputs[0]) // diagnosis.elements(fewer.inputs[0])),
                other_line=line(fewer.span),
            )


def _multiplied(diagnosis: Diagnosis, op: Op) -> set[str]:
    """The two learnt vectors whose product a score is, as they were before they were laid out for it."""
    product = diagnosis.origin(op.inputs[0], LAID_OUT)
    if product is None or product.name not in PRODUCTS or len(product.inputs) != 2:
        return set()
    makers = [diagnosis.origin(given, LAID_OUT) for given in product.inputs]
    return {maker.outputs[0] for maker in makers if maker is not None and maker.name == "embedding"}
