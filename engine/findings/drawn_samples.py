"""Samples drawn around what a model says: a variance taken for a deviation, noise that is shared, another one or
mixed in by a square, a draw without a gradient."""

import ast
import math
import re
from collections.abc import Iterator, Sequence, Set
from itertools import permutations

from engine.findings.diagnosis import (
    Diagnosis,
    argument,
    by_number,
    extent,
    fed_by,
    grouped,
    line,
    near,
    number,
    numbers_of,
    size_of,
    times,
)
from engine.findings.losses import ELEMENTWISE_LOSSES, PASSING
from engine.findings.terms import SUMS, compared
from engine.ops import DETACHES
from engine.program.names import called, dotted
from engine.trace import Finding, Op, Span, Tensor

NOISES = frozenset("randn randn_like normal normal_".split())
UNIFORM = frozenset(("rand", "rand_like"))
LEAST_LEVELS = 3
"""Different factors of noise, which a schedule has and a constant has not."""
CLOSE = 1e-3
MOST_TERMS = 12
SHARES_OUT = PASSING | DETACHES | {"div", "expand"}
"""What is done to probabilities before one of their places is drawn."""
ADDS_UP = PASSING | {"neg", "mean", "sum", "add", "sub", "stack", "cat"}
"""What is done to the parts of a loss."""


_HANDS_ON = PASSING | {"cat", "stack"}
"""Ops that a model's input goes through whole."""


def variances_taken_for_deviations(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A log-variance, or the variance made of it, times the noise of a sample, where the deviation was meant; or a
    deviation times noise of which none is below 0."""
    for op in diagnosis.ops_named(("mul",)):
        if len(op.inputs) != 2 or not diagnosis.reaches_a_pass(op):
            continue
        noise = [given for given in op.inputs if _is_noise(diagnosis, given, NOISES | UNIFORM)]
        scale = next((given for given in op.inputs if given not in noise), None)
        if len(noise) != 1 or scale is None:
            continue
        maker = diagnosis.maker.get(scale)
        log, is_even = scale, not _is_noise(diagnosis, noise[0], NOISES)
        if maker is not None and maker.name == "exp":
            halved = diagnosis.origin(maker.inputs[0], ("mul", "div")) if is_even else None
            log = halved.outputs[0] if halved is not None else maker.inputs[0]
        if (is_even and log == scale) or not _is_log_variance(diagnosis, log, op):
            continue
        drawn = diagnosis.maker[noise[0]]
        yield diagnosis.warning(
            "noise_of_one_sign"
            if is_even
            else "log_variance_as_deviation"
            if log == scale
            else "variance_as_deviation",
            drawn if is_even else op,
            tensors=(scale, noise[0]),
            name=diagnosis.say(noise[0] if is_even else scale),
            log=diagnosis.say(log),
            exp_line=_exp_line(diagnosis, log, op),
            used=diagnosis.code.excerpt(op.span),
            used_line=line(op.span),
        )


def means_added_twice(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`mean + scale * noise` where the noise was drawn around that mean already."""
    for op in diagnosis.ops_named(("add",) if any(diagnosis.ops_named(("normal",))) else ()):
        for mean, product in permutations(op.inputs) if len(op.inputs) == 2 else ():
            maker = diagnosis.maker.get(product)
            is_scaled = maker is not None and maker.name == "mul" and len(maker.inputs) == 2
            for noise, scale in permutations(maker.inputs) if maker is not None and is_scaled else ():
                draw = diagnosis.origin(noise, PASSING | DETACHES)
                around = draw.inputs[0] if draw is not None and draw.name == "normal" and len(draw.inputs) == 2 else ""
                stretched = diagnosis.maker.get(around)
                around = stretched.inputs[0] if stretched is not None and stretched.name == "expand" else around
                if draw is None or around != mean or extent(diagnosis.tensors.get(mean)) in ((0, 0), None):
                    continue
                call = diagnosis.code.call_at(draw.span)
                is_plain = call is not None and called(call) == "normal" and len(call.args) == 2 and not call.keywords
                fix = f"torch.randn_like({diagnosis.code.text(call.args[1])})" if call is not None and is_plain else ""
                yield diagnosis.warning(
                    "mean_added_twice",
                    op,
                    tensors=(mean, noise, *op.outputs[:1]),
                    fix=(diagnosis.code.replace(call, fix),) if call is not None and fix else (),
                    mean=diagnosis.say(mean),
                    noise=diagnosis.say(noise),
                    scale=diagnosis.say(scale),
                    draw_line=line(draw.span),
                )
                return


def _is_noise(diagnosis: Diagnosis, tensor: str, draws: frozenset[str]) -> bool:
    maker = diagnosis.origin(tensor, ("mul", "div"))
    return maker is not None and maker.name in draws and not diagnosis.is_tracked(tensor)


def _is_log_variance(diagnosis: Diagnosis, log: str, sample: Op) -> bool:
    """Whether the loss takes a value for the logarithm of a variance: its exponential and itself are both terms there,
    and nobody squares the exponential."""
    takers = diagnosis.takers.get(log, ())
    exponentials = [output for taker in takers if taker.name == "exp" for output in taker.outputs]
    uses = [user for value in exponentials for user in diagnosis.takers.get(value, ()) if user is not sample]
    squared = any(user.name in ("pow", "square") or user.inputs == (user.inputs[0],) * 2 for user in uses)
    added = any(taker.name in SUMS for taker in takers)
    return added and not squared and any(user.name in SUMS or user.name in ("sum", "neg") for user in uses)


def _exp_line(diagnosis: Diagnosis, log: str, sample: Op) -> str:
    """Where the loss takes the exponential."""
    exps = [taker for taker in diagnosis.takers.get(log, ()) if taker.name == "exp"]
    own = [taker for taker in exps if not set(taker.outputs) & set(sample.inputs)]
    return line((own or exps)[0].span)


def log_variances_cut_at_zero(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A log-variance that a ReLU made: no deviation below 1 can come out."""
    for op in diagnosis.ops_named(("relu",)):
        takers = diagnosis.takers.get(op.outputs[0], ()) if op.outputs and diagnosis.reaches_a_pass(op) else ()
        inner = [taker for taker in takers if taker.name in SUMS] and [
            *(taker for taker in takers if taker.name == "exp"),
            *(later for taker in takers if taker.name == "neg" for later in diagnosis.takers.get(taker.outputs[0], ())),
        ]
        variance = next(
            (each for each in inner if each.name == "exp" and is_variance(diagnosis, each.outputs[0])), None
        )
        if variance is not None:
            yield diagnosis.warning(
                "log_variance_cut_at_zero",
                op,
                tensors=(*op.inputs[:1], *op.outputs[:1]),
                name=diagnosis.say(op.outputs[0]),
                exp_line=line(variance.span),
            )


def is_variance(diagnosis: Diagnosis, value: str) -> bool:
    """Whether an exponential is a term beside others of its size, as in a divergence, or scales a squared error."""
    shape = diagnosis.tensors[value].shape
    for user in diagnosis.takers.get(value, ()):
        others = [diagnosis.maker.get(given) for given in user.inputs if given != value]
        is_square = any(maker is not None and maker.name in ("pow", "square") for maker in others)
        if user.name in ("div", "mul") and is_square:
            return True
        if user.name in SUMS and len(others) == 1 and diagnosis.tensors[user.outputs[0]].shape == shape:
            return True
    return False


def divergences_of_two_variances(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`1 + 2 * s - m ** 2 - exp(s)`: the logarithm beside a variance is not that of this variance."""
    sums = {op.span: op for op in diagnosis.ops_named(SUMS) if diagnosis.reaches_a_pass(op)}
    for op in sums.values():
        terms = _weighed(diagnosis, op.outputs[0])
        parts = [(weight, term) for weight, term in terms if term]
        constant = sum(weight for weight, term in terms if not term)
        for (by_log, log), (weight, spread), (other, square) in permutations(parts) if len(parts) == 3 else ():
            base, wanted = _scaled(diagnosis, log, -by_log / weight)
            own, has = _logarithm(diagnosis, spread)
            is_divergence = math.isclose(weight, other) and math.isclose(weight, -constant)
            maker, is_squared = diagnosis.maker.get(spread), _logarithm(diagnosis, square)[1] == 2
            if base != own or not is_divergence or not has > 0 or not is_squared or math.isclose(has, wanted):
                continue
            if maker is not None and math.isclose(has, -wanted) and not _is_added_to(diagnosis, op):
                yield diagnosis.warning(
                    "divergence_log_sign",
                    op,
                    tensors=(log, spread),
                    spread=diagnosis.code.excerpt(maker.span),
                    log=_written(diagnosis, op, log),
                )
            elif maker is not None and wanted > 0:
                unit = diagnosis.say(base[1])
                yield diagnosis.warning(
                    "divergence_of_two_variances",
                    op,
                    tensors=(spread, base[1]),
                    spread=diagnosis.code.excerpt(maker.span),
                    log=f"log({unit})" if base[0] == "log" else unit,
                    has=f"{has:g}",
                    wanted=f"{wanted:g}",
                    lowest=f"{wanted / has:g}",
                )


def _written(diagnosis: Diagnosis, op: Op, tensor: str) -> str:
    """What the line of an op calls a tensor, where that is a name of it."""
    names, node = diagnosis.tensors[tensor].names, diagnosis.code.at(op.span)
    parts = [dotted(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)] if node else []
    return next((part for part in parts if part in names), diagnosis.say(tensor))


def _is_added_to(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether what a sum comes to is a term of another, beside what requires a gradient and has as many numbers."""
    takers = [taker for made in op.outputs for taker in diagnosis.takers.get(made, ()) if taker.name in SUMS]
    others = [given for taker in takers for given in taker.inputs if given not in op.outputs]
    count = diagnosis.elements(op.outputs[0])
    return any(diagnosis.is_tracked(given) and diagnosis.elements(given) == count for given in others)


def _weighed(diagnosis: Diagnosis, root: str) -> list[tuple[float, str]]:
    """What a value is a weighed sum of: the weights, each with a tensor, or with nothing where it is a number."""
    pending, found = [(1.0, root)], list[tuple[float, str]]()
    while pending and len(pending) + len(found) < MOST_TERMS:
        weight, tensor = pending.pop()
        op = diagnosis.maker.get(tensor)
        value = number(argument(op, "other", 1)) if op is not None and len(op.inputs) == 1 else None
        if op is None or argument(op, "alpha") not in ("", "1"):
            found.append((weight, tensor))
        elif op.name in SUMS and (value is not None or len(op.inputs) == 2):
            signs = {"add": (1, 1), "sub": (1, -1), "rsub": (-1, 1)}[op.name]
            pending += [(weight * sign, given) for sign, given in zip(signs, op.inputs, strict=False)]
            found += [(weight * signs[1] * value, "")] if value is not None else []
        elif (scale := _factor(op, value)) is not None:
            pending.append((weight * scale, op.inputs[0]))
        else:
            found.append((weight, tensor))
    return found if not pending else []


def _factor(op: Op, value: float | None) -> float | None:
    """How many times its one input an op makes, given the number it is written with."""
    if op.name == "neg":
        return -1.0
    return {"mul": value, "div": 1 / value}.get(op.name) if value else None


def _scaled(diagnosis: Diagnosis, tensor: str, factor: float) -> tuple[tuple[str, str], float]:
    """What a value is so many times of: a tensor, or the logarithm of one."""
    for op in diagnosis.back(tensor, MOST_TERMS):
        scale = _factor(op, number(argument(op, "other", 1)) if len(op.inputs) == 1 else None)
        if op.name == "log":
            base, more = _logarithm(diagnosis, op.inputs[0])
            return base, factor * more
        if scale is None:
            break
        tensor, factor = op.inputs[0], factor * scale
    return ("", tensor), factor


def _logarithm(diagnosis: Diagnosis, tensor: str) -> tuple[tuple[str, str], float]:
    """The same of the logarithm of a value."""
    factor = 1.0
    for op in diagnosis.back(tensor, MOST_TERMS):
        power = number(argument(op, "exponent", 1)) if op.name == "pow" else None
        if op.name == "exp":
            return _scaled(diagnosis, op.inputs[0], factor)
        if op.name == "square" or (op.name == "mul" and len(op.inputs) == 2 and len({*op.inputs}) == 1):
            power = 2.0
        if power is None:
            break
        tensor, factor = op.inputs[0], factor * power
    return ("log", tensor), factor


def noise_of_all_samples(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Noise drawn without the axis of the batch: every sample of it gets the same."""
    for op in diagnosis.ops_named(("mul", "add")):
        noise = [given for given in op.inputs if _is_noise(diagnosis, given, NOISES)]
        others = [diagnosis.tensors[given] for given in op.inputs if given not in noise]
        if len(noise) != 1 or len(others) != 1 or not op.broadcast or not diagnosis.reaches_a_pass(op):
            continue
        drawn, other = diagnosis.tensors[noise[0]], others[0]
        is_short = drawn.shape in (other.shape[1:], (1, *other.shape[1:])) and len(other.shape) > 1
        if is_short and other.shape[0] > 1 and not other.is_leaf and diagnosis.elements(drawn.id) > 1:
            yield diagnosis.warning(
                "noise_of_all_samples",
                op,
                tensors=(drawn.id, other.id),
                name=diagnosis.say(drawn.id),
                other=diagnosis.say(other.id),
                shape=times(drawn),
                other_shape=times(other),
                batch=str(other.shape[0]),
                draw_line=line(diagnosis.maker[drawn.id].span),
            )


def noise_without_root(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Data and noise mixed with factors of which one is the complement of the other's square, in every turn: its root
    was meant, as for the mixture to keep its size the two squares have to add up to 1."""
    for ops in grouped(diagnosis.ops_named(("add",)), lambda op: op.span).values():
        mixed = [parts for op in ops if (parts := _mixture(diagnosis, op)) is not None]
        for wrong, right in ((1, 0), (0, 1)):
            pairs = [(parts[wrong], parts[right]) for parts in mixed]
            ends = {each for factor, _ in pairs for each in extent(factor) or ()}
            if len(ends) < LEAST_LEVELS or not all(_is_complement_of_square(*pair) for pair in pairs):
                continue
            factor, other = pairs[0]
            yield diagnosis.warning(
                "noise_without_root",
                ops[0],
                tensors=(factor.id, other.id, *ops[0].outputs[:1]),
                factor=diagnosis.say(factor.id),
                other=diagnosis.say(other.id),
                sum=f"{(size_of(factor) or 0) ** 2 + (size_of(other) or 0) ** 2:.3g}",
                is_noise=str(wrong),
            )


def _mixture(diagnosis: Diagnosis, op: Op) -> tuple[Tensor, Tensor] | None:
    """What data and what the noise that a model is then asked for are multiplied by in a sum."""

    def is_drawn(tensor: Tensor) -> bool:
        maker = diagnosis.maker.get(tensor.id)
        return maker is not None and maker.name in NOISES

    def is_asked(taker: Op) -> bool:
        return taker.name in (*ELEMENTWISE_LOSSES, "sub") and diagnosis.reaches_a_pass(taker)

    products = [diagnosis.maker.get(given) for given in op.inputs]
    factors: dict[bool, Tensor] = {}
    draws: dict[int, bool] = {}
    for product in products if len(products) == 2 else ():
        given = [diagnosis.tensors[each] for each in product.inputs] if product is not None else []
        if product is None or product.name != "mul" or len(given) != 2 or any(each.requires_grad for each in given):
            return None
        factor, whole = sorted(given, key=lambda each: (is_drawn(each), diagnosis.elements(each.id)))
        is_noise = is_drawn(whole) and any(map(is_asked, diagnosis.takers[whole.id]))
        factors[is_noise] = factor
        draws |= {diagnosis.op_at[diagnosis.maker[whole.id].id]: is_noise} if is_drawn(whole) else {}
    is_last = len(factors) == 2 and draws[max(draws)]  # made-up data may be drawn too, but before
    return (factors[False], factors[True]) if is_last else None


def _is_complement_of_square(one: Tensor, other: Tensor) -> bool:
    """Whether numbers and the squares of others add up to 1, each for each, and the squares of both do not."""
    ends, far, size, others = extent(one), extent(other), size_of(one), size_of(other)
    if ends is None or far is None or size is None or others is None or far[0] < 0:
        return False
    sums = (ends[0] + far[1] ** 2, ends[1] + far[0] ** 2)
    return max(abs(each - 1) for each in sums) < CLOSE < abs(size**2 + others**2 - 1)


def noise_of_another_draw(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A model that is asked for noise other than what was mixed into its data."""
    for op in diagnosis.ops_named(sorted(ELEMENTWISE_LOSSES)):
        pair = compared(diagnosis, op) if diagnosis.reaches_a_pass(op) else None
        asked = diagnosis.maker.get(pair[1].id) if pair is not None else None
        if pair is None or asked is None or asked.name not in NOISES or len(diagnosis.takers[pair[1].id]) > 1:
            continue
        mixed = _mixed_in(diagnosis, pair[0].id, pair[1])
        if mixed is not None:
            yield diagnosis.warning(
                "noise_of_another_draw",
                op,
                tensors=(pair[0].id, pair[1].id, *mixed.outputs[:1]),
                name=diagnosis.say(pair[0].id),
                target=diagnosis.say(pair[1].id),
                target_line=line(asked.span),
                mixed_line=line(mixed.span),
            )


def _mixed_in(diagnosis: Diagnosis, answer: str, asked: Tensor) -> Op | None:
    """The draw that was scaled and added to the data behind an answer, where what it is asked for is not behind it."""
    behind = list(diagnosis.makers_behind([answer]))
    if any(asked.id in maker.inputs for maker in behind):
        return None
    scaled = [maker for maker in behind if maker.name == "mul" and not maker.nodes]
    sums = {given for maker in behind if maker.name == "add" for given in maker.inputs}
    draws = (diagnosis.maker.get(given) for op in scaled if op.outputs[0] in sums for given in op.inputs)
    alike = (op for op in draws if op is not None and op.name in NOISES and len(diagnosis.takers[op.outputs[0]]) == 1)
    return next((op for op in alike if diagnosis.tensors[op.outputs[0]].shape == asked.shape), None)


def noisy_data_asked_for(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A model that is given data with noise and asked for just that again: a copy is the best answer, and nothing asks
    for the noise or for the data without it."""
    losses = diagnosis.ops_named((*sorted(ELEMENTWISE_LOSSES), "pow", "square"))
    for turns in grouped(losses, lambda op: op.span).values():
        draws = [_copied(diagnosis, op) for op in turns[:LEAST_LEVELS]]
        pair, draw = compared(diagnosis, turns[0]), draws[0]
        anew = {op.id for op in draws if op is not None}
        if pair is not None and draw is not None and 1 < len(anew) == len(draws):
            yield diagnosis.warning(
                "noisy_data_asked_for",
                turns[0],
                tensors=(pair[0].id, pair[1].id, *draw.outputs[:1]),
                name=diagnosis.say(pair[0].id),
                target=diagnosis.say(pair[1].id),
                noise_line=line(draw.span),
            )


def _copied(diagnosis: Diagnosis, loss: Op) -> Op | None:
    """The draw that was added to data, and read for nothing else, where a loss that is no part of a sum asks a model
    for the data with the noise, and what the model is given of it comes through without a narrow place."""
    pair = compared(diagnosis, loss) if diagnosis.reaches_a_pass(loss) else None
    mixed = diagnosis.maker.get(pair[1].id) if pair is not None else None
    later = (op for made in near(loss.outputs, diagnosis.made_of) for op in diagnosis.takers.get(made, ()))
    if pair is None or mixed is None or mixed.name != "add" or any(op.nodes and len(op.inputs) > 1 for op in later):
        return None
    draws = [_noise_in(diagnosis, given) for given in mixed.inputs]
    drawn = [op for op in draws if op is not None and len(diagnosis.takers[op.outputs[0]]) == 1]
    is_one = len(draws) == 2 and len(drawn) == 1 and diagnosis.tensors[drawn[0].outputs[0]].shape == pair[1].shape
    size = diagnosis.elements(pair[1].id)

    def wide(tensor: str) -> Iterator[str]:
        takers = (op for op in diagnosis.takers.get(tensor, ()) if op.nodes or op.name in _HANDS_ON)
        made = (each for op in takers if "dropout" not in op.name for each in op.outputs)
        return (each for each in made if diagnosis.elements(each) >= size)

    return drawn[0] if is_one and pair[0].id in near([pair[1].id], wide) else None


def _noise_in(diagnosis: Diagnosis, part: str) -> Op | None:
    """The draw that a part of a sum is, or is a multiple of."""
    product = diagnosis.maker.get(part)
    given = product.inputs if product is not None and product.name == "mul" else (part,)
    return next((op for op in map(diagnosis.maker.get, given) if op is not None and op.name in NOISES), None)


def samples_without_gradient(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`sample()` of a distribution whose mean is to be trained, where the loss is computed from the sample: the way
    through it is missing. What is scored with `log_prob`, or held against its mean by hand, needs none."""
    code = diagnosis.code
    scored = [call for call in code.calls if called(call) == "log_prob"]
    given = {each for call in scored for op in diagnosis.ops_at(code.span(call)) for each in op.inputs}
    shapes = {diagnosis.tensors[each].shape for each in given}
    drawn: dict[ast.Attribute, tuple[Op, list[str]]] = {}
    for op in diagnosis.ops_named(("normal",)):
        call = code.call_at(op.span)
        way = "normal" if op.nodes else "sample"  # torch.normal has a derivative, which is 0
        if call is None or called(call) != way or not isinstance(call.func, ast.Attribute):
            continue
        behind = list(near(op.inputs, diagnosis.made_from)) if call.func not in drawn else []
        leaves = {diagnosis.identity(tensor) for tensor in behind if diagnosis.is_parameter(tensor)}
        if leaves and not _is_scored(diagnosis, op, shapes) and _is_trained_from(diagnosis, op, behind, leaves):
            drawn[call.func] = op, sorted(leaves, key=by_number)
    if drawn:
        op = next(iter(drawn.values()))[0]
        yield diagnosis.warning(
            "sample_without_gradient",
            op.span,
            tensors=op.outputs[:1],
            fix=tuple(code.replace(method, f"{code.text(method.value)}.rsample") for method in drawn if not op.nodes),
            is_function=str(int(bool(op.nodes))),
            is_all="0",
            pass_line=line(op.span),
            code=code.excerpt(op.span),
            leaves=diagnosis.say_all([leaf for _, leaves in drawn.values() for leaf in leaves]),
        )


def _is_trained_from(diagnosis: Diagnosis, sample: Op, behind: Sequence[str], leaves: set[str]) -> bool:
    """Whether a pass that trains what a sample was drawn around began at something computed from the sample, or what it
    was drawn around is in an optimizer and got no gradient at all."""
    made = (tensor.grad_fn for tensor in map(diagnosis.tensors.get, behind) if tensor is not None)
    nodes = [fn.node for fn in made if fn is not None]
    passes = {diagnosis.visited[node] for node in nodes if node in diagnosis.visited}
    found = near(sample.outputs, diagnosis.made_outside)
    takers = [taker for tensor in found for taker in diagnosis.takers.get(tensor, ())]
    used = {diagnosis.visited[node] for taker in takers for node in taker.nodes if node in diagnosis.visited}
    fed = {leaf for number in used for leaf in fed_by(diagnosis.trace.passes[number])}
    is_left = bool(used) and diagnosis.held.intersection(leaves) - diagnosis.fed != set()
    return bool(passes & used) or is_left or bool(fed.intersection(leaves))


def _is_scored(diagnosis: Diagnosis, sample: Op, scored: Set[tuple[int, ...]]) -> bool:
    """Whether a sample is taken from the mean it was drawn around, so that a density is written out, or something of
    its shape, as it may have been kept, is among the shapes that `log_prob` was given."""
    sources = {source for at in sample.inputs[:1] for source in (at, *diagnosis.made_from(at))}
    cut = (op.outputs for op in diagnosis.takers.get(sample.outputs[0], ()) if op.name in DETACHES)
    takers = (op for outputs in (sample.outputs, *cut) for each in outputs for op in diagnosis.takers.get(each, ()))
    if any(taker.name in ("sub", "rsub") and not sources.isdisjoint(taker.inputs) for taker in takers):
        return True
    shape = diagnosis.tensors[sample.outputs[0]].shape
    return any(size[len(size) - len(shape) :] == shape for size in scored)


def probabilities_for_logarithms(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The probability of an action that was drawn by it, times a reward in a loss, where its logarithm was meant."""
    told = set[Span | None]()
    for draw in diagnosis.ops_named(("multinomial",)):
        made = diagnosis.origin(draw.inputs[0], SHARES_OUT) if draw.span not in told and draw.outputs else None
        drawn = set(near(draw.outputs, diagnosis.made_of)) if made is not None and made.name == "softmax" else set()
        picks = diagnosis.takers.get(made.outputs[0], ()) if made is not None and drawn else ()
        for pick in (each for each in picks if _picks(diagnosis, each, draw, drawn)):
            weighed = _weighed_in_a_loss(diagnosis, pick, draw)
            if weighed is not None and draw.span not in told:
                told.add(draw.span)
                yield diagnosis.warning(
                    "probability_for_its_logarithm",
                    weighed,
                    tensors=(*pick.outputs[:1], *weighed.outputs[:1]),
                    name=diagnosis.say(pick.outputs[0]),
                    draw_line=line(draw.span),
                )


def _picks(diagnosis: Diagnosis, op: Op, draw: Op, drawn: Set[str]) -> bool:
    """Whether an op picks the entry that was drawn: by a tensor, or by its number."""
    if op.name == "getitem" and len(op.inputs) == 1:
        written, number_drawn = re.findall(r"\d+", op.arguments[-1].text or ""), numbers_of(diagnosis.output_of(draw))
        is_read = any(taker.name == "item" for tensor in drawn for taker in diagnosis.takers.get(tensor, ()))
        return is_read and len(number_drawn) == 1 and written[-1:] == [f"{number_drawn[0]:.0f}"]
    return op.name in ("getitem", "gather") and not drawn.isdisjoint(op.inputs[1:])


def _weighed_in_a_loss(diagnosis: Diagnosis, pick: Op, draw: Op) -> Op | None:
    """The product of a picked probability, as it is, with something else that has no gradient and that comes from no
    probability but by the draw, on its way to the loss of a pass."""
    roots = {root.tensor for pass_ in diagnosis.ended for root in pass_.roots}
    products: dict[str, Op] = {}

    def undrawn(tensor: str) -> Sequence[str]:
        return () if tensor in draw.outputs else diagnosis.made_from(tensor)

    def further(tensor: str) -> Iterator[str]:
        for taker in diagnosis.takers.get(tensor, ()):
            others = [given for given in taker.inputs if given != tensor]
            if taker.name == "mul" and not any(map(diagnosis.is_tracked, others)):
                is_corrected = pick.inputs[0] in near(others, undrawn)
                products.update(() if is_corrected or not _varies(diagnosis, taker) else {taker.id: taker}.items())
                yield from () if is_corrected else taker.outputs
            elif taker.name in ADDS_UP:
                yield from taker.outputs

    is_in_a_loss = not roots.isdisjoint(near(pick.outputs, further))
    return next(iter(products.values()), None) if is_in_a_loss else None


def _varies(diagnosis: Diagnosis, product: Op) -> bool:
    """Whether it is no product with one number: what an action earned is another each time."""
    turns = diagnosis.ops_at(product.span)
    return len(product.inputs) == 2 or len({argument(turn, "other", 1) for turn in turns}) > 1
