"""How gradient flows through layers: where it fades, grows, is blocked, or is the same for all."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from engine.findings.diagnosis import (
    UNKNOWN,
    Diagnosis,
    extent,
    fed_by,
    grouped,
    is_zero,
    line,
    near,
    numbers_of,
    share_outside,
    size_of,
)
from engine.findings.losses import LOSS_FUNCTIONS
from engine.trace import Finding, Op, Pass, Span, Tensor

LAYERS = 5
"""Fewer weights in a row say little about depth."""
FADED = 1e-4
"""Ratio of gradients between the first and the last layer."""
LOOKED_AT = 5
PRODUCTS = ("linear", "matmul", "mm", "addmm", "bmm", "mv", "einsum", "conv1d", "conv2d", "conv3d")
FLAT = ("RoundBackward", "FloorBackward", "CeilBackward", "SignBackward", "TruncBackward")
RELUS = ("relu", "relu_", "relu6")
SQUASHES = {"sigmoid": (0.02, 0.98), "tanh": (-0.98, 0.98), "sigmoid_": (0.02, 0.98), "tanh_": (-0.98, 0.98)}
SATURATED = 0.95
ROUNDING = 2e-3
"""Of the largest number: what some hundred steps of an optimizer that divides by them make of it."""
RESHAPED = ("view", "reshape", "flatten", "squeeze", "unsqueeze", "contiguous")
LONG = 20
"""Passes of a training that says how far it comes."""
HARDLY = 0.8
FEWEST_FED = 3
MOST_NEAR_BY = 6
FEW = 8  # elements; a lesson about `relu(-2)` is no dead layer


def _sampled(passes: Sequence[Pass]) -> list[Pass]:
    """First, last and some between: of a long training they tell what all do."""
    if len(passes) <= LOOKED_AT:
        return list(passes)
    return [passes[round(at * (len(passes) - 1) / (LOOKED_AT - 1))] for at in range(LOOKED_AT)]


def gradients_over_depth(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The gradient that enters the products of weights, over the layers."""
    if not any(True for _ in diagnosis.ops_named(PRODUCTS)):
        return
    looked_at = [_entering(diagnosis, pass_) for pass_ in _sampled(diagnosis.ended)]
    if looked_at and any(len(products) >= LAYERS for products in looked_at):
        yield from _over_layers(diagnosis, looked_at, diagnosis.ended[-1])


class _Product(NamedTuple):
    """One product of a weight that a pass went through."""

    at: int
    op: Op
    weight: str
    size: float


def _entering(diagnosis: Diagnosis, pass_: Pass) -> list[_Product]:
    """In the order in which they were computed."""
    found: list[_Product] = []
    for visit in pass_.visits:
        node = diagnosis.nodes.get(visit.node)
        op = diagnosis.ops.get(node.op or "") if node is not None else None
        if op is None or op.name not in PRODUCTS or visit.node != op.nodes[-1] or not visit.entered:
            continue
        gradient = diagnosis.tensors.get(visit.entered[0] or "")
        size = size_of(gradient)
        if gradient is None or size is None:
            continue
        norm = size * math.sqrt(math.prod(gradient.shape))
        found.extend(_Product(diagnosis.op_at[op.id], op, weight, norm) for weight in _weights(diagnosis, op))
    return sorted(found, key=lambda product: product.at)


def _over_layers(diagnosis: Diagnosis, looked_at: list[list[_Product]], last: Pass) -> Iterator[Finding]:
    ratios: list[float] = []
    for products in looked_at:
        layers = grouped(products, lambda product: product.weight)
        if len(layers) < LAYERS:
            return
        (first, *_), *_, (final, *_) = layers.values()
        is_behind = not diagnosis.reached_from(final.op.nodes).isdisjoint(first.op.nodes)  # and no head beside it
        if not (first.size > 0 and final.size > 0 and is_behind):
            return
        ratios.append(first.size / final.size)
    code = "gradient_vanishes" if max(ratios) < FADED else "gradient_explodes" if min(ratios) > 1 / FADED else ""
    if code:  # it holds in every pass that was looked at
        yield diagnosis.warning(
            code,
            first.op,
            tensors=(first.weight, final.weight),
            first=diagnosis.say(first.weight),
            last=diagnosis.say(final.weight),
            first_size=f"{first.size:.2g}",
            last_size=f"{final.size:.2g}",
            ratio=_rounded(first.size / final.size),
            first_most=_most(diagnosis, last, first.weight),
            last_most=_most(diagnosis, last, final.weight),
            count=str(len(layers) - 1),
            line=line(last.span),
        )


def _most(diagnosis: Diagnosis, pass_: Pass, weight: str) -> str:
    """The largest magnitude in what a pass gave a weight."""
    given = {added.tensor: added.delta for added in pass_.accumulations if added.delta is not None}
    given.update(
        (asked, result) for asked, result in zip(pass_.inputs or (), pass_.results, strict=False) if asked and result
    )
    ends = extent(diagnosis.tensors.get(given.get(weight) or ""))
    return f"{max(map(abs, ends)):.2g}" if ends is not None else UNKNOWN


def _rounded(ratio: float) -> str:
    return f"{ratio:.1g}" if ratio < 1 else f"{ratio:.2g}"


def _first_uses(diagnosis: Diagnosis) -> dict[str, int]:
    """Weights of at least two axes in the order in which they were first multiplied."""
    uses: dict[str, int] = {}
    for op in diagnosis.ops_named(PRODUCTS):
        for weight in _weights(diagnosis, op):
            at = diagnosis.op_at[op.id]
            uses[weight] = min(at, uses.get(weight, at))
    return uses


def _weights(diagnosis: Diagnosis, op: Op, *, as_they_were: bool = False) -> Iterator[str]:
    for input_ in op.inputs:
        record = diagnosis.tensors.get(input_)
        if record is not None and record.requires_grad and record.grad_fn is None and len(record.shape) >= 2:
            yield input_ if as_they_were else diagnosis.identity(input_)


def dead_relus(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A ReLU behind a layer that let nothing through in any pass, or from one on to the last, though not for want of
    anything to let through."""

    def is_dead(op: Op, result: Tensor) -> bool:
        is_unit = math.prod(result.shape) >= FEW and bool(_layer(diagnosis, op)) and _is_used(diagnosis, op)
        return is_zero(result) and is_unit and not _has_nothing(diagnosis, op)

    dead = _places_where_always(diagnosis, RELUS, is_dead, at_last=True)
    if dead:  # nothing comes back through it, so the others may be dead because it is
        first = min(dead, key=lambda ops: diagnosis.op_at[ops[0].id])
        shape = diagnosis.tensors[first[-1].outputs[0]].shape
        units = str(shape[1 if _layer(diagnosis, first[-1]).startswith("conv") and len(shape) > 2 else -1])
        before = diagnosis.op_at[first[0].id]
        is_late = any((op.module, op.span) == (first[0].module, first[0].span) for op in diagnosis.trace.ops[:before])
        empty = _filled_with_zeros(diagnosis, first[0])
        yield _blocked(
            diagnosis,
            "dead_relu",
            first,
            units=units,
            alone=str(len(dead)),
            is_late=str(int(is_late)),
            is_empty=str(int(empty is not None)),
            filled_line=line(empty.span) if empty is not None else "",
        )


def _is_used(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether what it gives goes through a layer or is held against targets; else it is a penalty, and is to be 0."""
    behind = diagnosis.computed_from(op.outputs)
    return any(one.name in PRODUCTS or one.name in LOSS_FUNCTIONS or _is_held_against(diagnosis, one) for one in behind)


def _is_held_against(diagnosis: Diagnosis, op: Op) -> bool:
    given = [math.prod(each.shape) for each in map(diagnosis.tensors.get, op.inputs) if each is not None]
    return op.name in ("sub", "rsub") and len(given) == 2 and min(given) > 1


def _has_nothing(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether only zeros came to it: of a layer to which only zeros came, or where nothing is trained."""
    layer = _product_behind(diagnosis, op)
    is_fed = diagnosis.steps and layer is not None and not is_zero(diagnosis.input_of(layer))
    return is_zero(diagnosis.input_of(op)) and not is_fed


def _filled_with_zeros(diagnosis: Diagnosis, op: Op) -> Op | None:
    """What filled the weight of the layer behind it, where that is all zeros."""
    layer = _product_behind(diagnosis, op)
    given = (diagnosis.tensors.get(tensor) for tensor in layer.inputs) if layer is not None else ()
    empty = next((weight for weight in given if weight is not None and weight.requires_grad and is_zero(weight)), None)
    return _filled(diagnosis, diagnosis.identity(empty.id), layer) if empty is not None and layer is not None else None


def _is_trained(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether steps moved the layer behind it."""
    layer = _product_behind(diagnosis, op)
    return layer is not None and not diagnosis.stepped.isdisjoint(map(diagnosis.identity, layer.inputs))


def _product_behind(diagnosis: Diagnosis, op: Op) -> Op | None:
    makers = diagnosis.back(op.inputs[0] if op.inputs else None, 4)
    return next((maker for maker in makers if maker.name in PRODUCTS), None)


def _places_where_always(
    diagnosis: Diagnosis, names: Iterable[str], is_so: Callable[[Op, Tensor], bool], *, at_last: bool = False
) -> list[list[Op]]:
    """The ops of each place of a module, where it was so each time that gradient came back through them; or, behind a
    layer that is trained, at last: as many times as it was not so, and three at least."""
    found: dict[tuple[str | None, Span | None], list[Op]] = {}
    others: Counter[tuple[str | None, Span | None]] = Counter()
    for op in diagnosis.ops_named(names):
        place, result = (op.module, op.span), diagnosis.output_of(op)
        if result is None or (others[place] and not at_last) or not diagnosis.reaches_a_pass(op):
            continue
        if is_so(op, result):
            found.setdefault(place, []).append(op)
        else:
            others[place] += 1 + len(found.pop(place, ()))
    return [
        ops
        for place, ops in found.items()
        if not others[place] or (at_last and len(ops) >= max(3, others[place]) and _is_trained(diagnosis, ops[0]))
    ]


def _blocked(diagnosis: Diagnosis, code: str, ops: list[Op], **parameters: str) -> Finding:
    last = ops[-1]
    layer = _product_behind(diagnosis, last)
    return diagnosis.warning(
        code,
        last,
        tensors=(*last.outputs[:1], *(_weights(diagnosis, layer, as_they_were=True) if layer is not None else ())),
        fix=(),
        name=_place(diagnosis, last),
        count=diagnosis.counted(ops),
        **parameters,
    )


def _place(diagnosis: Diagnosis, op: Op) -> str:
    """The path of the layer that an op is, else what the op makes."""
    module = diagnosis.modules.get(op.module or "")
    is_layer = module is not None and module.type.lower().startswith(op.name.rstrip("_"))
    return diagnosis.module_name(module) if module is not None and is_layer else diagnosis.say(op.outputs[0])


def _layer(diagnosis: Diagnosis, op: Op) -> str:
    """The kind of layer an op lies behind; empty when it is behind none."""
    layer = _product_behind(diagnosis, op)
    return layer.name if layer is not None else ""


def saturated_units(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A sigmoid or tanh between two layers whose outputs sit at its ends in every pass."""
    fed = {tensor for op in diagnosis.ops_named(PRODUCTS) for tensor in op.inputs[:1]}

    def is_saturated(op: Op, result: Tensor) -> bool:
        share = share_outside(result, *SQUASHES[op.name]) if math.prod(result.shape) >= FEW else 0.0
        return share >= SATURATED and result.id in fed and bool(_layer(diagnosis, op))

    for ops in _places_where_always(diagnosis, SQUASHES, is_saturated):
        last = ops[-1]
        share = share_outside(diagnosis.tensors[last.outputs[0]], *SQUASHES[last.name])
        yield _blocked(diagnosis, "saturated", ops, op=last.name, share=f"{share:.0%}")


def symmetric_units(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Hidden units with equal weights that got equal gradients: they stay copies of each other."""
    if not diagnosis.stepped or not diagnosis.ended:
        return
    use, last = _first_uses(diagnosis), diagnosis.ended[-1]
    deltas = {added.tensor: added.delta for added in last.accumulations if added.tensor in use}
    leaves = sorted(deltas, key=use.__getitem__)
    told = [
        leaf
        for leaf in leaves[:-1]
        if leaf in diagnosis.stepped
        and not is_zero(diagnosis.tensors.get(deltas[leaf] or ""))
        and _are_copies(diagnosis, last, leaf, deltas[leaf], use[leaf])
    ]
    if told:
        op = diagnosis.trace.ops[use[told[0]]]
        filled = _filled(diagnosis, told[0], op)
        yield diagnosis.warning(
            "symmetric_units",
            (filled or op).span,
            tensors=tuple(told),
            nodes=op.nodes[-1:],
            name=diagnosis.say(told[0]),
            units=str(diagnosis.tensors[told[0]].shape[_axis(diagnosis, op, told[0])]),
            pass_line=line(last.span),
        )


def _filled(diagnosis: Diagnosis, leaf: str, use: Op) -> Op | None:
    """What last wrote into a weight before it was used, or made it."""
    before = diagnosis.trace.ops[: diagnosis.op_at[use.id]]
    writes = (op for op in reversed(before) if op.in_place and leaf in map(diagnosis.identity, op.inputs[:1]))
    return next((op for op in writes if op.span is not None), diagnosis.maker.get(leaf))


def _are_copies(diagnosis: Diagnosis, pass_: Pass, leaf: str, delta: str | None, use: int) -> bool:
    weight, gradient = _before(diagnosis, pass_, leaf), diagnosis.tensors.get(delta or "")
    if leaf not in diagnosis.tensors:
        return False
    axis = _axis(diagnosis, diagnosis.trace.ops[use], leaf)
    if weight is None or gradient is None or weight.shape[axis] < 2:
        return False
    return _has_equal_units(weight, axis) and _has_equal_units(gradient, axis)


def _axis(diagnosis: Diagnosis, op: Op, leaf: str) -> int:
    """The axis of a weight along which its units lie: columns when it is what a plain product multiplies by."""
    is_plain = op.name in ("matmul", "mm", "addmm", "bmm")
    return -1 if is_plain and diagnosis.identity(op.inputs[-1]) == leaf else 0


def _before(diagnosis: Diagnosis, pass_: Pass, leaf: str) -> Tensor | None:
    """The state of a leaf that a pass went back to: what its last op before the pass was given."""
    now = diagnosis.pass_step.get(pass_.id, 0)
    for op in reversed(diagnosis.uses.get(leaf, ())):
        if diagnosis.op_step.get(op.id, now) < now:
            return next((diagnosis.tensors.get(at) for at in op.inputs if diagnosis.identity(at) == leaf), None)
    return None


def _has_equal_units(tensor: Tensor, axis: int) -> bool:
    """Equal but for rounding, which differs with the place in a vector instruction."""
    numbers, units = numbers_of(tensor), tensor.shape[axis]
    if not numbers:
        return tensor.summary is not None and float(tensor.summary.std) == 0.0
    width = len(numbers) // units
    first, *others = (
        numbers[at::units] if axis == -1 else numbers[at * width : (at + 1) * width] for at in range(units)
    )
    nearly = ROUNDING * max(map(abs, numbers))
    return all(abs(one - other) <= nearly for unit in others for one, other in zip(first, unit, strict=True))


def layers_that_are_one(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Trained layers with nothing between them but views: together they are one, and a loss that hardly falls may want
    more than that. One that makes fewer numbers than either side has is meant."""
    found = grouped(_joined(diagnosis), lambda pair: pair[0].module)
    pairs = [pairs[0] for pairs in found.values()] if found and any(stuck(diagnosis)) else []
    if pairs:
        (first, _), last = pairs[0], pairs[0][1]
        while (after := next((op for op, later in pairs if op is last), None)) is not None:
            last = next(later for op, later in pairs if op is after)
        yield diagnosis.warning(
            "layers_are_one",
            last,
            tensors=(*_weights(diagnosis, first), *_weights(diagnosis, last)),
            first=diagnosis.module_path(first),
            last=diagnosis.module_path(last),
        )


def _joined(diagnosis: Diagnosis) -> Iterator[tuple[Op, Op]]:
    """Each two layers of which the second takes what the first made, and nothing else ever does."""
    taken: dict[str | None, set[tuple[str, str | None]]] = {}
    for op in diagnosis.ops_named(("linear",)) if diagnosis.stepped else ():
        takers = diagnosis.takers.get(op.outputs[0], ()) if op.outputs else ()
        taken.setdefault(op.module, set()).update((taker.name, taker.module) for taker in takers)
    for op in diagnosis.ops_named(("linear",)) if diagnosis.stepped else ():
        before = diagnosis.origin(op.inputs[0], RESHAPED) if not op.iteration and diagnosis.reaches_a_pass(op) else None
        if before is None or before.name != "linear" or before.module in (None, op.module):
            continue
        shapes = [diagnosis.tensors[weight].shape for each in (before, op) for weight in each.inputs[1:2]]
        is_alone = len(diagnosis.takers.get(before.outputs[0], ())) == len(taken[before.module]) == 1
        is_trained = all(diagnosis.identity(each.inputs[1]) in diagnosis.stepped for each in (before, op))
        if is_alone and is_trained and shapes[0][0] >= min(shapes[0][1], shapes[1][0]):
            yield before, op


def stuck(diagnosis: Diagnosis) -> Iterator[list[Pass]]:
    """The passes of one line for one model whose losses hardly fall; each fold of a cross-validation trains another."""
    for passes in grouped(diagnosis.ended, lambda pass_: (pass_.span, *fed_by(pass_)[:1])).values():
        if _stays_behind(diagnosis.begun_at(passes)):
            yield passes


def _stays_behind(losses: Sequence[float]) -> bool:
    """Whether no later quarter of many is much smaller than the first: a loss that fell and rose again has fallen."""
    quarter = len(losses) // 4
    sums = [sum(losses[at * quarter : (at + 1) * quarter]) for at in range(3)] + [sum(losses[-quarter:])]
    return quarter >= LONG // 4 and min(sums[1:]) > HARDLY * sums[0] > 0


def flat_ops(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`round` and its like, through which a pass sent a gradient of zeros only."""
    for node in diagnosis.trace.nodes:
        is_met = node.type.startswith(FLAT) and node.id in diagnosis.visited
        op = diagnosis.op_of_node(node.id) if is_met else None
        starved = _starved_by(diagnosis, node.id) if op is not None else []
        if op is not None and starved:
            leaf = diagnosis.say_all(starved)
            yield diagnosis.warning("flat_op", op, tensors=starved[:8], nodes=(node.id,), leaf=leaf)


def _starved_by(diagnosis: Diagnosis, node: str) -> list[str]:
    """Leaves below a node that got nothing but zeros in all passes."""
    leaves = {diagnosis.nodes[below].variable for below in diagnosis.reached_from([node])}
    zero: dict[str, bool] = {}
    for _, added in diagnosis.accumulations:
        if added.tensor in leaves:
            zero[added.tensor] = zero.get(added.tensor, True) and is_zero(diagnosis.tensors.get(added.delta or ""))
    return [leaf for leaf, is_all in zero.items() if is_all]


def zeros_hold_each_other(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Two matrices in a row that are all zeros and got only zeros in every pass: the gradient of each is a product with
    the other, as where both matrices of a LoRA are filled with zeros."""
    deltas = grouped(diagnosis.accumulations, lambda fed: fed[1].tensor)
    still = {
        leaf
        for leaf, fed in deltas.items()
        if len(fed) >= FEWEST_FED
        and is_zero(diagnosis.last_states.get(leaf))
        and all(is_zero(diagnosis.tensors.get(added.delta or "")) for _, added in fed)
    }
    products = sorted(diagnosis.ops_named(PRODUCTS), key=lambda op: diagnosis.op_at[op.id]) if len(still) > 1 else []
    weights = {op.id: still.intersection(_turned(diagnosis, given) for given in op.inputs) for op in products}
    for op in products:
        near_by = islice(near(op.outputs, diagnosis.made_of), MOST_NEAR_BY)
        takers = (taker for tensor in (*op.outputs, *near_by) for taker in diagnosis.takers.get(tensor, ()))
        other = next((taker for taker in takers if weights.get(taker.id, set()) - weights[op.id]), None)
        if weights[op.id] and other is not None:
            first, second = min(weights[op.id]), min(weights[other.id] - weights[op.id])
            yield diagnosis.warning(
                "zeros_hold_each_other",
                other,
                tensors=(first, second),
                count=diagnosis.counted(deltas[second]),
            )
            return


def _turned(diagnosis: Diagnosis, tensor: str) -> str:
    """What a tensor is, or is a view of."""
    while (maker := diagnosis.maker.get(tensor)) is not None and maker.view and len(maker.inputs) == 1:
        tensor = maker.inputs[0]
    return diagnosis.identity(tensor)
