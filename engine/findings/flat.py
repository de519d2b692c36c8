"""Results that cannot change: differences of equal things, and ops where the gradient ends because what comes out is
the same whatever comes in."""

import math
from collections import Counter
from collections.abc import Iterator

from engine.findings.axes import ATTENTION, RECURRENT
from engine.findings.class_axis import one_class_alone
from engine.findings.diagnosis import (
    LEAST_TURNS,
    UNKNOWN,
    Diagnosis,
    by_number,
    extent,
    grouped,
    is_alike,
    is_zero,
    line,
    size_of,
    times,
)
from engine.findings.gradient_flow import PRODUCTS, RELUS, SQUASHES, flat_ops
from engine.findings.losses import ELEMENTWISE_LOSSES, said_at
from engine.findings.recurrent import CELLS
from engine.trace import Finding, Op, Span, Visit

SAID_ELSEWHERE = frozenset((*RELUS, *SQUASHES, *PRODUCTS))
"""Ops that other families look at."""
OF_SEQUENCES = frozenset((*CELLS, *RECURRENT, ATTENTION, "scaled_dot_product_attention", "softmax"))
"""A sequence of one step has one key and no state before it: their weights are then right to get nothing."""
OF_ROWS = frozenset(("embedding", "embedding_bag"))
"""The row of the padding gets no gradient however it is looked at."""
COMPARING = ("sub", "div", *sorted(ELEMENTWISE_LOSSES))
TRIPLET = "triplet_margin_loss"
DRAWS_FROM = frozenset(("normal", "bernoulli", "poisson"))
"""Ops whose numbers come by chance: PyTorch sends zeros back through them."""
SHRINKS = frozenset(("prod", "exp", "pow"))
SQUARING = frozenset(("pow", "square"))
NOTHING = 1e-5
"""Of what came in: rounding alone leaves so little of it."""
LEAST_SHARE = 1e-3
"""A softmax that gives one all and the others nothing lets nothing through either."""
ROUNDING = 1e-4
"""Of the largest gradient: a normalisation over one number gives not quite 0."""


def compared_with_themselves(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A difference, a ratio or a distance of two things that were computed alike from the same parameters; and triplets
    of which the first two are, so that only the distance to the third is left."""
    turns = grouped(diagnosis.ops_named((*COMPARING, TRIPLET)) if diagnosis.steps else (), lambda op: op.span)
    for span, ops in turns.items():
        if span is None or len(ops) < LEAST_TURNS or not all(_is_of_equals(diagnosis, op) for op in ops):
            continue
        if not any(map(diagnosis.reaches_a_pass, ops)):
            continue
        op, other = ops[0], diagnosis.tensors[ops[0].inputs[1]]
        yield diagnosis.warning(
            "positive_is_anchor" if op.name == TRIPLET else "compared_with_itself",
            op,
            tensors=tuple(dict.fromkeys(op.inputs[:2])),
            name=said_at(diagnosis, op, other) if op.name == TRIPLET else diagnosis.say(op.inputs[0]),
            other=diagnosis.say(other.id),
            value="1" if op.name == "div" else "0",
            count=diagnosis.counted(ops),
        )


def _is_of_equals(diagnosis: Diagnosis, op: Op) -> bool:
    one, other = diagnosis.input_of(op), diagnosis.input_of(op, 1)
    if one is None or other is None or not (diagnosis.is_followed(one.id) and diagnosis.is_followed(other.id)):
        return False
    if one.id == other.id:
        return True
    is_alone = diagnosis.elements(one.id) < 2 or diagnosis.elements(other.id) < 2
    if is_alone or not size_of(one) or one.shape != other.shape or not is_alike(one, other):
        return False
    return diagnosis.leaves_behind([one.id]) == diagnosis.leaves_behind([other.id])


def flattened(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The op that turned a gradient into zeros, where what lies behind it got nothing else in any pass."""
    counts = Counter(added.tensor for _, added in diagnosis.accumulations)
    starved = {leaf for leaf, count in counts.items() if count >= LEAST_TURNS} & diagnosis.held - _alive(diagnosis)
    for pass_ in diagnosis.ended[:1] if starved else ():
        for visit in pass_.visits:
            behind = _behind_zeros(diagnosis, visit)
            leaves = [leaf for leaf in behind if leaf in starved]
            op = diagnosis.op_of_node(visit.node)
            if op is None or not leaves or len(leaves) < len(behind):
                continue
            if op.name in SQUARING and is_zero(diagnosis.input_of(op)):
                continue  # the square of 0 is at its lowest
            if op.name in SAID_ELSEWHERE | OF_SEQUENCES | OF_ROWS or any(_said_better(diagnosis)):
                return
            yield diagnosis.warning(
                _why_flat(diagnosis, op),
                op,
                tensors=(*op.outputs[:1], *leaves[:8]),
                nodes=(visit.node,),
                leaves=diagnosis.say_all(leaves),
                count=diagnosis.counted([added for _, added in diagnosis.accumulations if added.tensor == leaves[0]]),
                shape=times(given) if (given := diagnosis.input_of(op)) is not None else UNKNOWN,
            )
            return


def shares_counted_alike(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Shares of a softmax that a loss weighs alike in every pass: they add up to 1 however they are spread, and what
    lies behind them gets nothing but rounding."""
    turns: dict[Span | None, list[tuple[Op, Visit]]] = {}
    for pass_ in diagnosis.ended if any(diagnosis.ops_named(("softmax",))) else ():
        for visit in pass_.visits:
            op = diagnosis.op_of_node(visit.node)
            if op is not None and op.name == "softmax":
                turns.setdefault(op.span, []).append((op, visit))
    for visits in turns.values():
        op, first = visits[0]
        sizes = [_sizes(diagnosis, visit) for _, visit in visits]
        shares = extent(diagnosis.output_of(op))
        if len(visits) < LEAST_TURNS or shares is None or not LEAST_SHARE < shares[0] < shares[1] < 1 - LEAST_SHARE:
            continue
        most = max(entered for entered, _ in sizes)
        leaves = diagnosis.leaves_behind(op.inputs)
        given = [added.delta for _, added in diagnosis.accumulations if added.tensor in leaves]
        learnt = (size_of(diagnosis.tensors.get(delta or "")) for delta in given)
        if any(not left < NOTHING * entered for entered, left in sizes) or not given:
            continue
        takers = [taker for taker in diagnosis.takers.get(op.outputs[0], ()) if diagnosis.reaches_a_pass(taker)]
        if takers and all(size is not None and size < NOTHING * most for size in learnt):
            yield diagnosis.warning(
                "shares_counted_alike",
                takers[0],
                tensors=(op.outputs[0], *leaves[:7]),
                nodes=(first.node,),
                name=diagnosis.say(op.outputs[0]),
                softmax_line=line(op.span),
                entered=f"{sizes[0][0]:.2g}",
                left=f"{sizes[0][1]:.2g}",
                leaves=diagnosis.say_all(leaves),
                count=diagnosis.counted(visits),
            )


def _sizes(diagnosis: Diagnosis, visit: Visit) -> tuple[float, float]:
    """Of the gradient that came to a node, and of what left it."""
    entered, left = (
        size_of(diagnosis.tensors.get(next(iter(given), None) or "")) for given in (visit.entered, visit.left)
    )
    return entered or 0.0, math.inf if left is None else left


def _why_flat(diagnosis: Diagnosis, op: Op) -> str:
    """What is known of the reason why only zeros go back through an op."""
    if op.name in DRAWS_FROM:
        return "drawn_by_chance"
    low, high = extent(diagnosis.input_of(op)) or (0.0, 0.0)
    is_rounded = op.name in SHRINKS and is_zero(diagnosis.output_of(op)) and (op.name == "exp" or low > 0 or high < 0)
    return "rounded_to_zero" if is_rounded else "gradient_flattened"


def _alive(diagnosis: Diagnosis) -> set[str]:
    """The leaves that got more than the rounding of zeros from some pass."""
    given = [(added.tensor, size_of(diagnosis.tensors.get(added.delta or ""))) for _, added in diagnosis.accumulations]
    least = ROUNDING * max((size for _, size in given if size is not None), default=0.0)
    return {leaf for leaf, size in given if size is None or size > least}


def _said_better(diagnosis: Diagnosis) -> Iterator[Finding]:
    for family in (one_class_alone, flat_ops, compared_with_themselves):
        yield from family(diagnosis)


def _behind_zeros(diagnosis: Diagnosis, visit: Visit) -> list[str]:
    """The leaves that lie behind the zeros which a node sent on, of a gradient that was none."""
    if all(is_zero(diagnosis.tensors.get(entered or "")) for entered in visit.entered if entered is not None):
        return []
    edges = diagnosis.nodes[visit.node].edges if visit.node in diagnosis.nodes else ()
    sent = zip(edges, visit.left, strict=False)
    zeros = [edge.to for edge, left in sent if edge.to is not None and is_zero(diagnosis.tensors.get(left or ""))]
    leaves = (diagnosis.nodes[node].variable for node in diagnosis.reached_from(zeros))
    return sorted((leaf for leaf in leaves if leaf is not None), key=by_number)
