"""Gradients that are zeroed too seldom, too often or at the wrong moment, and what is added up or lost by it."""

import ast
from collections.abc import Callable, Iterator, Sequence, Sized

from engine.findings.diagnosis import RESETS, Diagnosis, by_number, fed_by, is_zero, line
from engine.findings.training_loop import is_each_turn, moments_of, reads_gradients
from engine.ops import FILLS
from engine.program.edits import Edits
from engine.program.names import called, dotted
from engine.program.tree import Loop, covers
from engine.trace import Finding, Op, Pass, Span, Update


def gradients_added_up(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The first pass of each optimizer that added to gradients left over: after a step it is a mistake, otherwise worth
    knowing. What is written by hand into the leaves of an optimizer, as an attack on an embedding, is no step."""
    latest: dict[str, Pass] = {}
    owners = diagnosis.gradient_owner
    by_hand = written_at(diagnosis, ("data", "in_place"), diagnosis.leaf_of)
    stepped = {leaf: steps for leaf, steps in by_hand.items() if leaf not in diagnosis.held}
    stepped |= written_at(diagnosis, ("step",), diagnosis.leaf_of)
    reset = written_at(diagnosis, RESETS, lambda id_: owners.get(diagnosis.identity(id_)), _is_overwritten)
    written = written_at(diagnosis, ("grad_set",), lambda id_: owners.get(diagnosis.identity(id_)))
    if diagnosis.steps and not reads_gradients(diagnosis.code.tree):  # what else is written is only copied there
        stepped = {leaf: steps for leaf, steps in stepped.items() if leaf in diagnosis.held}
    zeroing = (call for call in diagnosis.code.calls if called(call) == "zero_grad")
    may_reset = bool(reset) or any(map(diagnosis.has_run, zeroing))
    noted: Finding | None = None
    told: set[str] = set()
    for pass_ in diagnosis.trace.passes:
        added = [
            added.tensor
            for added in pass_.accumulations
            if added.delta is not None
            and added.tensor in latest
            and added.tensor not in told
            and added.before is not None
            and (there := diagnosis.tensors.get(added.before)) is not None
            and not (is_zero(there) or 0 in there.shape)
        ]
        now = diagnosis.pass_step.get(pass_.id, 0)
        mistaken = [
            leaf
            for leaf in added
            if any(diagnosis.pass_step.get(latest[leaf].id, 0) < step < now for step in stepped.get(leaf, ()))
            and _is_used(now, stepped.get(leaf, []), reset.get(leaf, []))
            and not _is_faded(now, stepped[leaf], written.get(leaf, []))
            and not (may_reset and diagnosis.has_gap(diagnosis.pass_step.get(latest[leaf].id, 0), now))
        ]
        leaves = sorted(mistaken or (added if pass_.parent is None else []), key=by_number)
        if leaves:
            is_meant = any(_in_some_turns(diagnosis, step.span) is not None for step in _steps_of(diagnosis, leaves))
            used = any(leaf not in stepped or _is_used(now, stepped[leaf], reset.get(leaf, [])) for leaf in leaves)
            if used and mistaken:
                yield _added(
                    diagnosis, _first_of_its_own(diagnosis, pass_, leaves), latest[leaves[0]], leaves, is_mistake=True
                )
                told |= {*leaves, *(leaf for step in _steps_of(diagnosis, leaves) for leaf in diagnosis.held_by(step))}
            elif not told and noted is None and used and not is_meant:  # a GAN adds to gradients that nobody reads
                noted = _added(diagnosis, pass_, latest[leaves[0]], leaves, is_mistake=False)
            elif not told and noted is None:
                return
        latest.update((leaf, pass_) for leaf in fed_by(pass_))
    if noted is not None and not told:
        yield noted


def gradients_left_by_others(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A pass that adds to what a pass for another optimizer left behind, as a discriminator's adds to what came to it
    from its generator's loss, before its own step takes both."""
    latest: dict[str, Pass] = {}
    steps = [(diagnosis.update_step.get(step.id, -1), frozenset(diagnosis.held_by(step))) for step in diagnosis.steps]
    reset = written_at(
        diagnosis, RESETS, lambda id_: diagnosis.gradient_owner.get(diagnosis.identity(id_)), _is_overwritten
    )
    found: dict[tuple[Span | None, Span | None], list[tuple[Pass, Pass, list[str]]]] = {}
    for pass_ in diagnosis.ended if len({held for _, held in steps}) > 1 else ():
        now, left = diagnosis.pass_step.get(pass_.id, 0), list[str]()
        for added in pass_.accumulations:
            before = latest.get(added.tensor)
            if before is None or before.span == pass_.span or added.before is None:
                continue
            then = diagnosis.pass_step.get(before.id, 0)
            between = [held for at, held in steps if then < at < now]
            is_others = bool(between) and not any(added.tensor in held for held in between)
            is_kept = not is_zero(diagnosis.tensors.get(added.before)) and not diagnosis.has_gap(then, now)
            taken = next((at for at, held in steps if at > now and added.tensor in held), None)
            is_taken = taken is not None and not any(now < at < taken for at in reset.get(added.tensor, ()))
            if is_others and is_kept and is_taken:
                left.append(added.tensor)
        if left:
            found.setdefault((latest[left[0]].span, pass_.span), []).append((latest[left[0]], pass_, left))
        latest.update((leaf, pass_) for leaf in fed_by(pass_))
    for (other, _), times in found.items():
        if len(times) > 1:
            yield _left(diagnosis, times[0][1], other, sorted(times[0][2], key=by_number), times)
            return


def gradients_left_by_searches(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Passes that look for an input step by step with its gradient, as a sampler does, and fill parameters as well: the
    pass of a loss adds to that, and a step takes both."""
    held, read = diagnosis.held, dict[str, list[Op]]()
    for op in diagnosis.trace.ops if len(diagnosis.passes_by_place) > 1 else ():
        for given in op.inputs if op.name not in FILLS else ():
            owner = diagnosis.gradient_owner.get(diagnosis.identity(given), "")
            read.setdefault(owner, []).append(op)

    def sought(one: Pass, end: int) -> list[str]:
        begin, others = diagnosis.pass_step.get(one.id, 0), (leaf for leaf in fed_by(one) if leaf not in held)
        return [leaf for leaf in others if any(is_followed(op, begin, end) for op in read.get(leaf, ()))]

    def is_followed(op: Op, begin: int, end: int) -> bool:
        is_between = begin < diagnosis.op_step.get(op.id, -1) < end
        return is_between and any(map(diagnosis.reaches_a_pass, diagnosis.computed_from(op.outputs)))

    found: dict[tuple[Span | None, Span | None], list[tuple[Pass, list[str], list[str]]]] = {}
    waiting: list[Pass] = []
    for moment in moments_of(diagnosis) if read else ():
        if isinstance(moment, Pass):
            waiting += [moment] if moment.parent is None and not held.isdisjoint(fed_by(moment)) else []
            continue
        if moment.kind == "step" and len(waiting) > 2 and held.issuperset(fed_by(waiting[-1])):
            *searches, own = waiting
            ends = [diagnosis.pass_step.get(each.id, 0) for each in waiting]
            inputs = [sought(each, end) for each, end in zip(searches, ends[1:], strict=True)]
            leaves = {*diagnosis.held_by(moment)}.intersection(fed_by(searches[-1]), fed_by(own))
            is_whole = not diagnosis.has_gap(ends[0], diagnosis.update_step.get(moment.id, 0))
            if (
                all(inputs)
                and leaves
                and is_whole
                and {each.span for each in searches} - {own.span} == {searches[0].span}
            ):
                of_both = found.setdefault((searches[0].span, own.span), [])
                of_both.append((own, inputs[0], sorted(leaves, key=by_number)))
        owners = {diagnosis.gradient_owner.get(changed) for changed in diagnosis.changed_by(moment)}
        if moment.kind == "step" or (_is_overwritten(diagnosis, moment) and not held.isdisjoint(owners)):
            waiting = []
    for (other, _), times in found.items():
        if len(times) > 1:
            own, (input_, *_), left = times[0]
            yield _left(diagnosis, own, other, left, times, fix=_zeroed(diagnosis, own, left), input_=input_)
            return


def _left(
    diagnosis: Diagnosis,
    own: Pass,
    other: Span | None,
    leaves: list[str],
    times: Sized,
    *,
    fix: Edits = (),
    input_: str | None = None,
) -> Finding:
    return diagnosis.warning(
        "gradient_left_by_another",
        own.span,
        tensors=leaves[:8],
        fix=fix,
        names=diagnosis.say_all(leaves),
        other_line=line(other),
        other=diagnosis.code.excerpt(other),
        count=diagnosis.counted(times),
        optimizer=_mover(diagnosis, leaves),
        is_search=str(int(input_ is not None)),
        input=diagnosis.say(input_) if input_ is not None else "",
    )


def _first_of_its_own(diagnosis: Diagnosis, now: Pass, leaves: Sequence[str]) -> Pass:
    """The first of the passes before the next step of some leaves that feeds none which other steps move."""
    begin, steps = diagnosis.pass_step.get(now.id, 0), list(_steps_of(diagnosis, leaves))
    end = next((at for step in steps if (at := diagnosis.update_step.get(step.id, 0)) > begin), begin)
    held = {leaf for step in steps for leaf in diagnosis.held_by(step)}
    since = (each for each in diagnosis.ended if begin <= diagnosis.pass_step.get(each.id, 0) < end)
    own = (each for each in since if held.issuperset(fed_by(each)) and not held.isdisjoint(fed_by(each)))
    return next(own, now)


def written_at(
    diagnosis: Diagnosis,
    kinds: tuple[str, ...],
    leaf_of: Callable[[str], str | None],
    is_meant: Callable[[Diagnosis, Update], bool] = lambda _, __: True,
) -> dict[str, list[int]]:
    """When updates of these kinds, and of those the ones that are meant, wrote to each leaf, or to its gradient."""
    times: dict[str, list[int]] = {}
    for update in diagnosis.trace.updates:
        at = diagnosis.update_step.get(update.id) if update.kind in kinds and is_meant(diagnosis, update) else None
        found = (leaf_of(change.before) for change in update.changes if at is not None and change.before is not None)
        for leaf in found:
            if leaf is not None and at is not None:
                times.setdefault(leaf, []).append(at)
    return times


def _is_overwritten(diagnosis: Diagnosis, update: Update) -> bool:
    """Whether nothing is left of what was there: a gradient that is clipped or scaled in place still holds its sum."""
    op = diagnosis.ops.get(update.op or "") if update.kind == "grad_set" else None
    return op is None or not op.in_place or op.name in FILLS or op.name == "setitem"


def _is_faded(now: int, steps: list[int], written: list[int]) -> bool:
    """Whether the program itself changed the gradient between the last step and a pass: it means to keep it."""
    last = max(step for step in steps if step < now)
    return any(last < at < now for at in written)


def _is_used(now: int, steps: list[int], resets: list[int]) -> bool:
    """Whether a step took the sum before anything zeroed it."""
    next_step = next((step for step in steps if step > now), None)
    next_reset = next((step for step in resets if step > now), None)
    return next_step is not None and (next_reset is None or next_step < next_reset)


def _added(diagnosis: Diagnosis, now: Pass, before: Pass, leaves: list[str], *, is_mistake: bool) -> Finding:
    is_closure = any(move.optimizer == "LBFGS" and leaves[0] in diagnosis.changed_by(move) for move in diagnosis.steps)
    return diagnosis.finding(
        "closure_adds_up" if is_closure else "step_without_zero_grad" if is_mistake else "gradient_added_up",
        "warning" if is_mistake or is_closure else "note",
        now.span,
        tensors=tuple(leaves),
        fix=_zeroed(diagnosis, now, leaves) if is_mistake or is_closure else (),
        names=diagnosis.say_all(leaves),
        first_line=line(before.span),
        count=diagnosis.counted(range(_in_a_row(diagnosis, leaves[0]))),
        **({"optimizer": _mover(diagnosis, leaves)} if is_mistake or is_closure else {}),
    )


def _in_a_row(diagnosis: Diagnosis, leaf: str) -> int:
    """The most passes that wrote into the gradient of a leaf without its being zeroed between them, as far as all of
    them are recorded."""
    most = run = last = 0
    for pass_, added in diagnosis.accumulations:
        if added.tensor == leaf:
            now = diagnosis.pass_step.get(pass_.id, 0)
            is_first = added.before is None or is_zero(diagnosis.tensors.get(added.before))
            run = 1 if is_first or diagnosis.has_gap(last, now) else run + 1
            most, last = max(most, run), now
    return most


def _movers(diagnosis: Diagnosis, leaves: list[str]) -> set[str | None]:
    """The names of the optimizers that move some leaves; None for what moves them by hand."""
    moves = (move for move in diagnosis.moves if not set(leaves).isdisjoint(diagnosis.changed_by(move)))
    return {move.variable for move in moves}


def _mover(diagnosis: Diagnosis, leaves: list[str]) -> str:
    """What the program calls an optimizer that moves some leaves, for a sentence."""
    return next(iter(filter(None, _movers(diagnosis, leaves))), "optimizer")


def _zeroed(diagnosis: Diagnosis, now: Pass, leaves: list[str]) -> Edits:
    """The gradients dropped before the pass: by the one optimizer that moves them, or by hand."""
    movers = _movers(diagnosis, leaves)
    names = [diagnosis.name(leaf) for leaf in leaves]
    text = ""
    if len(movers) == 1 and (variable := next(iter(movers))):
        text = f"{variable}.zero_grad()"
    elif movers == {None} and all(map(str.isidentifier, names)) and len({*names}) == len(names):
        text = " = ".join([*(f"{name}.grad" for name in names), "None"])
    return diagnosis.code.line_before(diagnosis.code.statement_at(now.span), text) if text else ()


def zeroed_in_every_part(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`zero_grad` in each micro-batch, a step only after several: all but the last one's gradients are thrown away."""
    zeros = [update for update in diagnosis.trace.updates if update.kind == "zero_grad"]
    for step in diagnosis.steps[:1]:
        counted = _in_some_turns(diagnosis, step.span)
        if counted is None:
            continue
        above, loop = counted
        zero = next((each for each in zeros if is_each_turn(diagnosis, each.span, loop)), None)
        backward = [pass_ for pass_ in diagnosis.trace.passes if is_each_turn(diagnosis, pass_.span, loop)]
        moved = {leaf for each in diagnosis.steps for leaf in diagnosis.changed_by(each)}
        is_all_moved = all(moved.issuperset(fed_by(pass_)) for pass_ in backward)
        own = diagnosis.steps
        if len({each.span for each in own}) > 1:  # of several optimizers, which all step and are zeroed in one place
            own = [each for each in own if each.span == step.span]
            places = [each.span.line for each in diagnosis.steps if each.span is not None]
            is_alike = all(any(covers(part, place) for part in above.body) for place in places)
            is_all_moved &= is_alike and len(backward) == len(diagnosis.ended) and _zeroes(diagnosis, zeros, zero, step)
        if zero is None or len(backward) < 2 * len(own) or not is_all_moved:
            continue
        yield diagnosis.warning(
            "zeroed_in_every_part",
            zero.span,
            step_line=line(step.span),
            passes=diagnosis.counted(backward),
            steps=diagnosis.counted(own),
            test=diagnosis.code.short(above.test),
            is_several=str(int(len({each.span for each in diagnosis.steps}) > 1)),
        )


def _zeroes(diagnosis: Diagnosis, zeros: Sequence[Update], zero: Update | None, step: Update) -> bool:
    """Whether what one line zeroes are gradients of what a step moves."""
    alike = (each for each in zeros if zero is not None and each.span == zero.span)
    owners = {diagnosis.gradient_owner.get(gradient) for each in alike for gradient in diagnosis.changed_by(each)}
    return not owners.isdisjoint(diagnosis.held_by(step))


def _steps_of(diagnosis: Diagnosis, leaves: Sequence[str]) -> Iterator[Update]:
    return (step for step in diagnosis.steps if not set(leaves).isdisjoint(diagnosis.changed_by(step)))


def _in_some_turns(diagnosis: Diagnosis, span: Span | None) -> tuple[ast.If, Loop] | None:
    """The condition that counts the turns of a loop, as `(i + 1) % n == 0` does, or a count that it sets back, for what
    is done in some of them."""
    code = diagnosis.code
    call = code.call_at(span)
    around = list(code.runs_in(call)) if call is not None else []
    above = next((each for each in around if isinstance(each, ast.If)), None)
    loop = next(iter(code.loops(call)), None) if call is not None else None
    if above is None or loop is None or around.index(above) > around.index(loop):
        return None
    set_back = {dotted(target) for each in above.body if isinstance(each, ast.Assign) for target in each.targets}
    is_counted = any(
        (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))
        or (isinstance(node, ast.Name | ast.Attribute) and dotted(node) in set_back)
        for node in ast.walk(above.test)
    )
    return (above, loop) if is_counted else None
