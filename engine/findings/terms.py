"""Terms of a loss that are not what they are taken for: without a gradient, of the wrong kind of number, masked at the
wrong moment."""

import ast
import math
from collections.abc import Iterator
from typing import NamedTuple

from engine.findings.axes import MATRIX_PRODUCTS
from engine.findings.diagnosis import RESETS, Diagnosis, argument, by_number, extent, line, near, number, share_outside
from engine.findings.losses import ELEMENTWISE_LOSSES, PASSING, said_at
from engine.findings.uphill import squares_differences
from engine.findings.zeroing import written_at
from engine.ops import PASSES, READS
from engine.program.names import called, keyword
from engine.program.spans import holds
from engine.program.tree import given_by
from engine.trace import Finding, Op, Pass, Span, Tensor

SUMS = frozenset("add sub rsub".split())
CHOICES = frozenset("gt ge lt le eq ne argmax".split())
"""Ops that make a yes, a no or a place of numbers."""
COPIES_NUMBERS = ("tensor", "as_tensor")
LEAVES_GRAPH = ("detach", "data")
SCALES = frozenset("mul div neg mean sum squeeze".split())
NEARLY = 1e-3
NO_SCORE = 1e-3
"""A score nearer to 0 hides nothing: `-1e-9` for `-1e9`."""
HIDDEN = -1000.0
"""Scores below it were masked before the softmax."""


class _Cut(NamedTuple):
    """Where the way from a parameter, or from scores, to a term was cut."""

    name: str
    leaf: str
    span: Span | None


def terms_without_gradient(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A part of the loss that was made of parameters, and that autograd takes for a number."""
    first = {pass_.span: pass_ for pass_ in reversed(diagnosis.trace.passes) if pass_.kind == "backward"}
    for root in (root.tensor for pass_ in first.values() for root in pass_.roots):
        if root is None or diagnosis.elements(root) != 1:
            continue
        cuts = ((op, term, _cut(diagnosis, op, term)) for op, term in _terms(diagnosis, root))
        for op, term, cut in (*cuts, *_slopes(diagnosis, root)):
            if cut is None:
                continue
            place, word = _told_to(diagnosis, cut)
            yield diagnosis.warning(
                "term_of_choices"
                if cut.name in CHOICES
                else "penalty_without_graph"
                if cut.name == "grad"
                else "term_without_gradient",
                place,
                tensors=(term or root, cut.leaf),
                nodes=op.nodes[:1],
                code=diagnosis.code.excerpt(op.span),
                sum_line=line(op.span),
                op=cut.name,
                cut=diagnosis.code.excerpt(place),
                leaf=diagnosis.say(cut.leaf),
                word=word,
            )


def _told_to(diagnosis: Diagnosis, cut: _Cut) -> tuple[Span | None, str]:
    """Where it was said that a gradient is taken as a number, and by which word: where that comes through an argument
    of a function of the program's, in the only call that hands over `False`."""
    code, call = diagnosis.code, diagnosis.code.call_at(cut.span) if cut.name == "grad" else None
    word = keyword(call, "create_graph") if call is not None else None
    function = code.function(call) if call is not None else None
    if word is None or function is None or not isinstance(word.value, ast.Name):
        return cut.span, "create_graph"
    given = [
        (each, given_by(each, function, word.value.id)) for each in code.calls_to(function) if diagnosis.has_run(each)
    ]
    off = [each for each, value in given if isinstance(value, ast.Constant) and not value.value]
    return (code.span(off[0]), word.value.id) if len(off) == 1 else (cut.span, "create_graph")


def terms_that_train_nothing(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A term of a loss that was cut off from what the next step moves, and whose gradients come only to what is zeroed
    before its own step: the judgement of a detached fake, in the loss of its generator."""
    owners = diagnosis.gradient_owner
    steps = written_at(diagnosis, ("step",), diagnosis.leaf_of)
    resets = written_at(diagnosis, RESETS, lambda id_: owners.get(diagnosis.identity(id_)))
    first = {pass_.span: pass_ for pass_ in reversed(diagnosis.ended) if pass_.kind == "backward"}
    for pass_ in first.values() if len(diagnosis.steps) > 1 else ():
        now, root = diagnosis.pass_step.get(pass_.id, 0), pass_.roots[0].tensor or ""
        step = next((step for step in diagnosis.steps if diagnosis.update_step.get(step.id, -1) > now), None)
        moved = set(diagnosis.changed_by(step)) if step is not None else set()
        if step is None or diagnosis.elements(root) != 1 or moved.isdisjoint(_reached(diagnosis, root)):
            continue

        def is_taken(leaf: str, now: int = now) -> bool:
            later = next((at for at in steps.get(leaf, ()) if at > now), None)
            return later is not None and not any(now < reset < later for reset in resets.get(leaf, ()))

        for op, term in _added(diagnosis, root):
            leaves = _reached(diagnosis, term)
            if not leaves or not moved.isdisjoint(leaves) or any(map(is_taken, leaves)):
                continue
            makers = [maker for maker in diagnosis.makers_behind([term]) if maker.name in LEAVES_GRAPH]
            lost = {maker.id: moved.intersection(diagnosis.leaves_behind(maker.inputs)) for maker in makers}
            cut = max(makers, key=lambda maker: len(lost[maker.id]), default=None)
            if cut is not None and lost[cut.id]:
                yield diagnosis.warning(
                    "term_trains_nothing",
                    cut,
                    tensors=(term, *sorted(leaves, key=by_number)[:7]),
                    nodes=op.nodes[:1],
                    cut=diagnosis.code.excerpt(cut.span),
                    op=cut.name,
                    sum_line=line(op.span),
                    code=diagnosis.code.excerpt(op.span),
                    names=diagnosis.say_all(sorted(leaves, key=by_number)),
                    step_line=line(step.span),
                    moved=diagnosis.say_all(sorted(moved, key=by_number)),
                )


def _reached(diagnosis: Diagnosis, tensor: str) -> set[str]:
    """The leaves that gradient comes to from a tensor."""
    record = diagnosis.tensors.get(tensor)
    nodes = diagnosis.reached_from([record.grad_fn.node]) if record is not None and record.grad_fn is not None else ()
    variables = (diagnosis.nodes[node].variable for node in nodes if node in diagnosis.nodes)
    return {diagnosis.identity(variable) for variable in variables if variable is not None}


def _added(diagnosis: Diagnosis, root: str) -> Iterator[tuple[Op, str]]:
    """The single numbers with a gradient of their own that are added up to a loss, with the op that adds them."""

    def parts(tensor: str) -> Iterator[str]:
        maker = diagnosis.maker.get(tensor)
        if maker is not None and maker.name in SUMS | SCALES:
            yield from (given for given in maker.inputs if diagnosis.elements(given) == 1)

    for tensor in near([root], parts):
        maker = diagnosis.maker.get(tensor)
        if maker is not None and maker.name in SUMS and len(maker.inputs) > 1:
            yield from ((maker, given) for given in maker.inputs if diagnosis.is_tracked(given))


def _terms(diagnosis: Diagnosis, root: str) -> Iterator[tuple[Op, str | None]]:
    """What is added up to a loss without a gradient of its own: with the op that adds it, a tensor or None for a
    number."""

    def parts(tensor: str) -> Iterator[str]:
        maker = diagnosis.maker.get(tensor)
        by_number = maker is not None and sum(map(diagnosis.is_tracked, maker.inputs)) == 1
        is_sum = maker is not None and (maker.name in SUMS or (by_number and maker.name in SCALES))
        if maker is not None and is_sum and diagnosis.is_followed(tensor):
            yield from (given for given in maker.inputs if diagnosis.elements(given) == 1)

    for tensor in near([root], parts):
        maker = diagnosis.maker.get(tensor)
        if maker is None or maker.name not in SUMS or not diagnosis.is_followed(tensor):
            continue
        if len(maker.inputs) == 1:
            yield maker, None
        yield from ((maker, given) for given in maker.inputs if not diagnosis.is_tracked(given))


def _parameters_of(diagnosis: Diagnosis, pass_: Pass) -> list[str]:
    """Those that the roots of a pass were computed from."""
    leaves = diagnosis.leaves_behind(root.tensor for root in pass_.roots if root.tensor is not None)
    return [leaf for leaf in leaves if diagnosis.is_parameter(leaf)]


def _slopes(diagnosis: Diagnosis, root: str) -> Iterator[tuple[Op, str, _Cut]]:
    """Derivatives by the data that a loss is computed from outside of any model, as a differential equation is, taken
    as numbers: of parameters that the same loss trains."""

    def outside(tensor: str) -> tuple[str, ...]:
        maker = diagnosis.maker.get(tensor)
        module = diagnosis.modules.get(maker.module or "") if maker is not None else None
        is_model = module is not None and diagnosis.outermost(module).id in diagnosis.leaves_of
        is_inside = is_model and diagnosis.is_tracked(tensor)
        is_free = maker is not None and not is_inside and not any(map(diagnosis.is_parameter, maker.inputs))
        return maker.inputs if maker is not None and is_free else ()

    for tensor in near([root], outside) if diagnosis.given_by else ():
        pass_ = diagnosis.given_by.get(diagnosis.identity(tensor))
        if pass_ is None or pass_.create_graph or any(map(diagnosis.is_parameter, filter(None, pass_.inputs or ()))):
            continue
        trained = set(diagnosis.leaves_behind([root])).intersection(_parameters_of(diagnosis, pass_)) & diagnosis.held
        takers = (taker for made in near([tensor], diagnosis.made_outside) for taker in diagnosis.takers.get(made, ()))
        taker = next(filter(diagnosis.reaches_a_pass, takers), None)
        if trained and taker is not None:
            yield taker, tensor, _Cut("grad", min(trained, key=by_number), pass_.span)


def _cut(diagnosis: Diagnosis, op: Op, term: str | None) -> _Cut | None:
    """What keeps the gradient of a term from the parameters that it was made of."""
    if term is None:
        reads = [diagnosis.ops[read] for read in diagnosis.escapes.get(op.id, ())]
        for read in reads:
            leaves = diagnosis.leaves_behind(read.inputs)
            if leaves and all(map(diagnosis.is_parameter, leaves)):
                return _Cut(read.name, leaves[0], read.span)
        return None
    left: dict[int, _Cut] = {}
    for tensor in near([term], lambda at: _made_from(diagnosis, at)):
        maker = diagnosis.maker.get(tensor)
        pass_ = diagnosis.given_by.get(diagnosis.identity(tensor))
        if pass_ is not None and not pass_.create_graph:
            fed = _parameters_of(diagnosis, pass_)
            return _Cut("grad", fed[0], pass_.span) if fed else None
        if maker is None or maker.name in PASSES or diagnosis.is_followed(tensor) or maker.in_place:
            continue
        scores = next((given for given in maker.inputs if diagnosis.is_tracked(given)), None)
        if maker.name in CHOICES and scores is not None and maker.grad_mode == "grad":
            return _Cut(maker.name, scores, maker.span)
        is_loose = maker.name in LEAVES_GRAPH and scores is not None and diagnosis.elements(scores) > 1
        if is_loose and scores is not None and not _stands_in_for(diagnosis, maker, scores):
            held = diagnosis.held.intersection(diagnosis.leaves_behind([scores]))
            left |= {diagnosis.op_at[maker.id]: _Cut(maker.name, min(held, key=by_number), maker.span)} if held else {}
        copied = _copied(diagnosis, maker)
        if copied is not None:
            return copied
        leaf = next((given for given in maker.inputs if diagnosis.is_tracked_leaf(given)), None)
        is_fed = leaf is not None and diagnosis.is_parameter(leaf) and diagnosis.identity(leaf) in diagnosis.fed
        if leaf is not None and is_fed and maker.module is None:
            name = "no_grad" if diagnosis.why_unfollowed(maker) == "no_grad" else maker.name
            return _Cut(name, diagnosis.identity(leaf), maker.span)
    return left[min(left)] if left else None


def _copied(diagnosis: Diagnosis, maker: Op) -> _Cut | None:
    """What of parameters was copied into a new tensor, `torch.tensor([p.norm() for p in …])`, which an op makes or is
    given."""
    is_copy = maker.name in COPIES_NUMBERS
    copies = [maker] if is_copy else [diagnosis.ops[read] for read in diagnosis.escapes.get(maker.id, ())]
    lost = diagnosis.leaves_behind(given for copy in copies for given in copy.inputs if diagnosis.is_tracked(given))
    leaves = diagnosis.held.intersection(lost)
    if not leaves:
        return None
    call = diagnosis.code.call_at(copies[0].span)
    name = copies[0].name if is_copy or call is None else called(call)
    return _Cut(name, min(leaves, key=by_number), copies[0].span)


def _stands_in_for(diagnosis: Diagnosis, cut: Op, given: str) -> bool:
    """Whether what was cut off is used just as what it was cut from is: `(p * c) - (p * c.detach())` keeps a value."""
    own = {(taker.name, *(each for each in taker.inputs if each != given)) for taker in diagnosis.takers.get(given, ())}
    takers = (taker for output in cut.outputs for taker in diagnosis.takers.get(output, ()))
    return any((taker.name, *(each for each in taker.inputs if each not in cut.outputs)) in own for taker in takers)


def _made_from(diagnosis: Diagnosis, tensor: str) -> tuple[str, ...]:
    """What a tensor was made from, also where that went through an array of NumPy in the same expression."""
    maker = diagnosis.maker.get(tensor)
    if maker is None or maker.inputs:
        return maker.inputs if maker is not None else ()
    before = diagnosis.trace.ops[diagnosis.op_at[maker.id] - 1]
    is_inside = maker.span is not None and before.span is not None and holds(maker.span, before.span)
    return before.inputs if before.name in READS and is_inside else ()


def masks_at_the_wrong_moment(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A mask of zeros and ones after a softmax, whose weights no longer add up to 1; or multiplied before it, where a
    0 is a score like another."""
    for op in diagnosis.ops_named(("softmax",)):
        given, made = diagnosis.input_of(op), diagnosis.output_of(op)
        if given is None or made is None or len(given.shape) < 2 or given.shape[-1] < 2:
            continue
        values, before = extent(given), diagnosis.maker.get(given.id)
        if values is None or values[0] < HIDDEN or (given.summary is not None and given.summary.inf):
            continue
        if before is not None and _is_masking(diagnosis, before):
            yield _masked(diagnosis, op, before, "masked_by_zero_scores", made)
        for after in diagnosis.takers.get(made.id, ()):
            takers = diagnosis.takers.get(after.outputs[0] if after.outputs else "", ())
            is_shared = any(taker.name == "sum" and diagnosis.reaches_a_pass(taker) for taker in takers)  # anew
            weighs = any(taker.name in MATRIX_PRODUCTS and taker.inputs[0] == after.outputs[0] for taker in takers)
            if weighs and not is_shared and _is_masking(diagnosis, after) and not _is_chosen_by(diagnosis, after, made):
                yield _masked(diagnosis, op, after, "masked_after_softmax", made)


def _masked(diagnosis: Diagnosis, op: Op, mask: Op, code: str, made: Tensor) -> Finding:
    value = number(argument(mask, "value", 2)) if mask.name == "masked_fill" else 0.0
    return diagnosis.warning(
        code,
        mask,
        tensors=(made.id, *mask.outputs[:1]),
        softmax_line=line(op.span),
        value=f"{value or 0.0:g}",
        factor="≈ 1" if value else "1",
    )


def _is_masking(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether it puts zeros where a mask says so, differently along the last axis."""
    if op.name == "masked_fill":
        value = number(argument(op, "value", 2))
        if value is None or abs(value) >= NO_SCORE or len(op.inputs) != 2:
            return False
        return value != 0 or _differs(diagnosis.input_of(op, 1))
    return op.name == "mul" and any(_differs(diagnosis.tensors.get(given)) for given in op.inputs)


def _is_chosen_by(diagnosis: Diagnosis, op: Op, made: Tensor) -> bool:
    """Whether the mask was made of the weights themselves, as in a choice of the largest."""
    masks = [given for given in op.inputs if given != made.id]
    return bool({made.id, *diagnosis.made_from(made.id)} & set(near(masks, diagnosis.made_from)))


def _differs(mask: Tensor | None) -> bool:
    """Whether a tensor is all zeros and ones, some of each, along its last axis too."""
    if mask is None or mask.requires_grad or not mask.shape or mask.shape[-1] < 2:
        return False
    if mask.data is not None:
        size = mask.shape[-1]
        rows = [mask.data[at : at + size] for at in range(0, len(mask.data), size)]
        return set(mask.data) == {0, 1} and any(len(set(row)) == 2 for row in rows)
    summary = mask.summary
    if summary is None or (summary.min, summary.max) != (0, 1) or mask.shape[-1] != mask.shape[-2]:
        return False
    ones = round(float(summary.norm) ** 2)
    count = float(summary.mean) * (ones + summary.zeros)
    return summary.zeros > 0 and abs(count - ones) < 0.5


CHOOSES = PASSING | {"gather", "getitem", "index_select"}
"""Ops that hand numbers on, or some of them, as the value of the action that was taken."""
MOST_CHOICES = 4
REACH = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, math.inf)}
"""What the values of an op lie between."""


def targets_out_of_reach(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A prediction whose last op cannot give most of the numbers that it is held against."""
    told = set[Span | None]()
    for op in diagnosis.trace.ops:
        pair = compared(diagnosis, op) if op.span not in told and diagnosis.reaches_a_pass(op) else None
        if pair is not None and _is_masked(diagnosis, op):
            continue
        maker = diagnosis.origin(pair[0].id, CHOOSES, MOST_CHOICES) if pair is not None else None
        reach = _reach(maker) if pair is not None and maker is not None else None
        if pair is None or maker is None or reach is None:
            continue
        low, high = reach
        if share_outside(pair[1], low - NEARLY, high + NEARLY) <= 0.5:
            continue
        told.add(op.span)
        batches = (other[1] for each in diagnosis.ops_at(op.span) if (other := compared(diagnosis, each)) is not None)
        ends = [ends for batch in batches if (ends := extent(batch)) is not None]
        least, most = min((end for end, _ in ends), default=low), max((end for _, end in ends), default=high)
        yield diagnosis.warning(
            "targets_out_of_reach",
            maker,
            tensors=(pair[0].id, pair[1].id),
            name=said_at(diagnosis, op, pair[1]),
            least=f"{least:.4g}",
            most=f"{most:.4g}",
            low=f"{low:g}",
            high="∞" if math.isinf(high) else f"{high:g}",
            loss_line=line(op.span),
        )


def _is_masked(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether a mask, or an index, says which of the distances count."""
    takers = [taker for taker in diagnosis.takers.get(op.outputs[0], ()) if taker.name in ("mul", "getitem")]
    others = (diagnosis.tensors.get(given) for taker in takers for given in taker.inputs if given not in op.outputs)
    return any((extent(other) or (0.0,))[0] == 0 for other in others)


def _reach(op: Op) -> tuple[float, float] | None:
    """What the values of an op lie between, a `clamp` between the numbers that it is given."""
    if op.name.rstrip("_") not in ("clamp", "clip"):
        return REACH.get(op.name.rstrip("_"))
    low, high = (number(argument(op, bound, at)) for at, bound in enumerate(("min", "max"), 1))
    return (-math.inf if low is None else low, math.inf if high is None else high)


def compared(diagnosis: Diagnosis, op: Op) -> tuple[Tensor, Tensor] | None:
    """A prediction and what a loss that measures distances holds it against."""
    if squares_differences(diagnosis, op):
        op = diagnosis.maker[op.inputs[0]]
    elif op.name not in ELEMENTWISE_LOSSES:
        return None
    pair = [tensor for tensor in (diagnosis.input_of(op), diagnosis.input_of(op, 1)) if tensor is not None]
    pair.sort(key=lambda tensor: not diagnosis.is_tracked(tensor.id))
    is_pair = len(pair) == 2 and diagnosis.is_tracked(pair[0].id) and not diagnosis.is_tracked(pair[1].id)
    return (pair[0], pair[1]) if is_pair else None
