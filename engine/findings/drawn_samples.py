"""Samples drawn around what a model says: a variance taken for a deviation, noise of another draw, a draw without a
gradient."""

import ast
from collections.abc import Iterator, Sequence, Set

from engine.findings.diagnosis import Diagnosis, by_number, fed_by, line, near
from engine.findings.terms import SUMS
from engine.ops import DETACHES
from engine.program.names import called
from engine.trace import Finding, Op

NOISES = frozenset("randn randn_like normal normal_".split())
UNIFORM = frozenset(("rand", "rand_like"))


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
