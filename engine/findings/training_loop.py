"""The order of a training loop: what was zeroed, stepped or left out when it should not have been."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.findings.diagnosis import (
    RESETS,
    UNKNOWN,
    Diagnosis,
    by_number,
    extent,
    fed_by,
    is_alike,
    is_zero,
    line,
    numbers_of,
)
from engine.findings.optimizer_code import bound_once, changed_after, made_later, models_given, receiver, span_of
from engine.program.names import called, dotted, is_grad
from engine.program.tree import Loop
from engine.trace import Finding, Op, Pass, Span, Update

OF_NUMBERS = ("tensor", "as_tensor")
FEWEST = 3
"""Passes in a row that tell what a loop does in all of its turns."""
METHODS = frozenset("step zero_grad backward eval train requires_grad_ retain_grad detach_ zero_".split())
"""Methods that are called for what they do, not for what they give."""
GIVE = frozenset("item tolist numpy detach cpu mean sum max min std norm size dim numel parameters state_dict".split())
"""Methods that give something when they are called with nothing."""
_METHOD_PRINTED = re.compile(r"<(?:built-in|bound) method (?:\w+\.)*(\w+) of ")


class Wasted(NamedTuple):
    """A gradient that was zeroed before any step used it."""

    by: Update
    of: Pass


class _Turn(NamedTuple):
    """A step, what ran since the step of the same optimizer before it, and what it came too late for."""

    step: Update
    begin: int
    """Place in the timeline of the step before it, or of the program's start."""
    is_idle: bool
    """It moved nothing: its parameters had no gradients, or zeroed ones."""
    wasted: Wasted | None = None


def idle_steps(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Steps that moved nothing: before a backward, after a `zero_grad`, or where no gradient came to what they hold."""
    is_whole = not any(omitted.what in ("passes", "updates") for omitted in diagnosis.trace.truncated)
    for turns in _turns(diagnosis):
        idle = [turn for turn in turns if turn.is_idle]
        always = len(idle) == len(turns)
        if not idle or not (always or is_whole):
            continue
        since = _passes_since(diagnosis, idle[0])
        if idle[0].wasted is not None and not always and _is_choice(diagnosis, idle[0], idle[0].wasted):
            continue  # a batch that is to move nothing
        if idle[0].wasted is not None:
            yield _zeroed_too_early(diagnosis, idle[0], idle[0].wasted, len(idle), len(turns))
        elif not since and not any(_passes_since(diagnosis, turn) for turn in idle if turn.wasted is None):
            yield _no_backward(diagnosis, idle[0].step, always=always)
        elif always and not _is_one_of_several(diagnosis, idle[0].step):
            told = next((turn for turn in reversed(idle) if _is_recorded(diagnosis, turn)), idle[-1])
            yield _moves_nothing(diagnosis, told, _passes_since(diagnosis, told) or since)


def _is_one_of_several(diagnosis: Diagnosis, step: Update) -> bool:
    """Whether a loop over optimizers takes the step, for what is trained in this turn and what is not."""
    call = diagnosis.code.call_at(step.span)
    name = dotted(diagnosis.code.receiver(call)) if call is not None else ""
    loops = diagnosis.code.loops(call) if call is not None else ()
    return any(isinstance(loop, ast.For) and dotted(loop.target) == name for loop in loops)


def _turns(diagnosis: Diagnosis) -> list[list[_Turn]]:
    """The steps of each optimizer: of what holds the same parameters."""
    turns: dict[frozenset[str], list[_Turn]] = {}
    waiting: dict[str, Pass] = {}
    cleared: set[str] = set()
    wasted: dict[str, Wasted] = {}
    for moment in moments_of(diagnosis):
        if isinstance(moment, Pass):
            fed = fed_by(moment)
            waiting.update((leaf, moment) for leaf in fed)
            cleared.difference_update(fed)
            for leaf in fed:
                wasted.pop(leaf, None)
        elif moment.kind == "step":
            held, moved = frozenset(diagnosis.held_by(moment)), diagnosis.changed_by(moment)
            own = turns.setdefault(held, [])
            begin = diagnosis.update_step[own[-1].step.id] if own else -1
            is_idle = cleared.issuperset(moved)
            lost = next((wasted[leaf] for leaf in wasted if leaf in held), None) if is_idle else None
            own.append(_Turn(moment, begin, is_idle, lost))
            for leaf in () if is_idle else moved:
                waiting.pop(leaf, None)
                wasted.pop(leaf, None)
        elif moment.kind == "grad_set":
            given = (each for each in moment.changes if not is_zero(diagnosis.tensors.get(each.after or "")))
            cleared.difference_update(each.leaf or "" for each in given)
        else:
            owners = (diagnosis.gradient_owner.get(gradient) for gradient in diagnosis.changed_by(moment))
            for owner in (owner for owner in owners if owner is not None):
                cleared.add(owner)
                if owner in waiting:
                    wasted[owner] = Wasted(moment, waiting.pop(owner))
    return list(turns.values())


def moments_of(diagnosis: Diagnosis) -> list[Pass | Update]:
    """Passes, steps and resets that came to their end, in the order they came."""
    trace, pass_step, update_step = diagnosis.trace, diagnosis.pass_step, diagnosis.update_step
    moments: list[tuple[int, Pass | Update]] = [
        *((pass_step.get(pass_.id, 0), pass_) for pass_ in trace.passes if not pass_.failed),
        *(
            (update_step[update.id], update)
            for update in trace.updates
            if update.kind in ("step", *RESETS) and not update.raised and update.id in update_step
        ),
    ]
    return [moment for _, moment in sorted(moments, key=lambda dated: dated[0])]


def _passes_since(diagnosis: Diagnosis, turn: _Turn) -> list[Pass]:
    """The passes between a step and the one before it."""
    end = diagnosis.update_step[turn.step.id]
    return [pass_ for pass_ in diagnosis.trace.passes if turn.begin < diagnosis.pass_step.get(pass_.id, -1) < end]


def _is_recorded(diagnosis: Diagnosis, turn: _Turn) -> bool:
    """Whether it is known what its passes began at: of a long loop the last turns may be without their ops."""
    return any(root.tensor in diagnosis.maker for pass_ in _passes_since(diagnosis, turn) for root in pass_.roots)


def _is_choice(diagnosis: Diagnosis, turn: _Turn, wasted: Wasted) -> bool:
    """Whether a condition decides if gradients are zeroed, and not if the step comes."""
    code = diagnosis.code
    zero, step = (code.call_at(update.span) for update in (wasted.by, turn.step))
    choice = code.enclosing(zero, ast.If) if zero is not None else None
    return choice is not None and step is not None and choice not in code.around(step)


def _zeroed_too_early(diagnosis: Diagnosis, turn: _Turn, wasted: Wasted, idle: int, steps: int) -> Finding:
    """Where the same turn zeroed them before its backward too, this line is to be left out; else it comes too early."""
    code, step = diagnosis.code, turn.step
    zero, backward = code.statement_at(wasted.by.span), code.statement_at(wasted.of.span)
    owners, end = set(diagnosis.held_by(step)), diagnosis.pass_step.get(wasted.of.id, -1)
    before = (one for one in diagnosis.trace.updates if turn.begin < diagnosis.update_step.get(one.id, -1) < end)
    others = [one for one in before if one.kind in RESETS and one.span not in (None, wasted.by.span)]
    is_extra = turn.begin >= 0 and any(
        diagnosis.gradient_owner.get(each) in owners for one in others for each in diagnosis.changed_by(one)
    )
    return diagnosis.finding(
        "zero_grad_before_step",
        "error",
        wasted.by.span,
        tensors=diagnosis.held_by(step)[:8],
        fix=code.moved(zero, before=backward) if code.follows(backward, zero) and not is_extra else (),
        pass_line=line(wasted.of.span),
        step_line=line(step.span),
        zeroing=code.excerpt(code.span(zero) if isinstance(zero, ast.Assign) else wasted.by.span),
        is_extra=str(int(is_extra)),
        idle=str(idle),
        steps=str(steps),
        always=str(int(idle == steps)),
    )


def _no_backward(diagnosis: Diagnosis, step: Update, *, always: bool) -> Finding:
    code = diagnosis.code
    statement = code.statement_at(step.span)
    written = (code.statement_at(pass_.span) for pass_ in diagnosis.trace.passes)
    later = next((other for other in written if code.follows(statement, other)), None)
    uses = (op for leaf in diagnosis.held_by(step) for op in diagnosis.uses.get(leaf, ()))
    is_used = any(not op.name.endswith("_") for op in uses)
    is_trial = not is_used and not diagnosis.trace.passes  # a plan of learning rates is looked at
    return diagnosis.finding(
        "step_without_backward",
        "note" if is_trial else "error" if always else "warning",
        step.span,
        tensors=diagnosis.held_by(step)[:8],
        fix=code.moved(statement, after=later) if later is not None else (),
        optimizer=step.variable or step.optimizer or "",
    )


def _moves_nothing(diagnosis: Diagnosis, turn: _Turn, since: Sequence[Pass]) -> Finding:
    """The passes before it fed other tensors; where these are all that was used, the optimizer was given others."""
    step, held = turn.step, diagnosis.held_by(turn.step)
    used = (op for leaf in held for op in diagnosis.uses.get(leaf, ()) if not op.in_place)  # initialisers only write
    is_used = any(diagnosis.op_step.get(op.id, -1) > turn.begin for op in used)
    fed = sorted({leaf for pass_ in since for leaf in fed_by(pass_)}, key=by_number)
    others = [leaf for leaf in fed if diagnosis.is_parameter(leaf)]
    made = bound_once(diagnosis, step.variable)
    deep = _deep_copy(diagnosis, fed, held)
    if deep is not None:
        return diagnosis.finding(
            "learns_in_copies",
            "error",
            deep,
            tensors=(*fed, *held),
            nodes=(),
            optimizer=step.variable or step.optimizer or "",
            names=diagnosis.code.short(deep.targets[0]),
            pass_line=line(since[-1].span if since else None),
            step_line=line(step.span),
        )
    wrapped = _wrapped(diagnosis, fed, held, turn.begin) if is_used else None
    anew = wrapped or (_made_anew(diagnosis, fed, turn.begin) if is_used else None)
    if anew is not None:
        return diagnosis.finding(
            "ends_in_new_leaf",
            "error",
            anew,
            tensors=fed[:8],
            optimizer=receiver(diagnosis, step) or step.optimizer or "",
            names=diagnosis.say_all(fed),
            pass_line=line(since[-1].span if since else None),
            step_line=line(step.span),
            made=diagnosis.code.short(wrapped.args[0]) if wrapped is not None else "",
            is_wrapped=str(int(wrapped is not None)),
        )
    is_other = bool(others) and not is_used
    replaced = changed_after(diagnosis, made) if is_other else []
    return diagnosis.finding(
        "optimizer_holds_others" if is_other else "step_moves_nothing",
        "error",
        diagnosis.code.span(replaced[-1]) if replaced else step.span,
        tensors=others if is_other else held,
        fix=made_later(diagnosis, made) if is_other else (),
        optimizer=step.variable or step.optimizer or "",
        names=diagnosis.say_all(fed) or diagnosis.say(since[-1].roots[0].tensor if since else None),
        pass_line=line(since[-1].span if since else None),
        made_line=line(span_of(diagnosis, made) or step.span),
    )


def _made_anew(diagnosis: Diagnosis, leaves: Sequence[str], since: int) -> Op | None:
    """The one place that made all of some leaves, which are no parameters, of numbers since some place in the timeline,
    and that makes them in other turns too."""
    makers = [diagnosis.maker.get(leaf) for leaf in leaves]
    first = makers[0] if makers else None
    if first is None or first.name not in OF_NUMBERS or len(diagnosis.ops_at(first.span)) < FEWEST:
        return None
    spans = {op.span if op is not None and diagnosis.op_step.get(op.id, -1) > since else None for op in makers}
    return first if spans == {first.span} and not any(map(diagnosis.is_parameter, leaves)) else None


def _wrapped(diagnosis: Diagnosis, leaves: Sequence[str], held: Sequence[str], since: int) -> ast.Call | None:
    """The `nn.Parameter(...)` of one of some leaves, all of which have the numbers of what was computed from others."""
    code, wanted = diagnosis.code, set(held)
    calls = [call for call in code.calls if called(call) == "Parameter" and call.args and diagnosis.has_run(call)]
    computed = [op for op in diagnosis.trace.ops if calls and op.nodes and diagnosis.op_step.get(op.id, -1) > since]
    made = [tensor for op in computed if (tensor := diagnosis.output_of(op)) is not None]
    for leaf in leaves:
        own = diagnosis.tensors[leaf]
        ends = extent(own)
        alike = (each for each in made if each.shape == own.shape and is_alike(each, own))
        origin = next(alike, None) if ends is not None and ends[0] != ends[1] and diagnosis.is_parameter(leaf) else None
        if origin is None or wanted.isdisjoint(diagnosis.leaves_behind([origin.id])):
            return None
    name = diagnosis.say(leaves[0]).rpartition(".")[2] if leaves else ""
    bound = ((call, code.statement(call)) for call in calls)
    named = [
        call for call, by in bound if isinstance(by, ast.Assign) and dotted(by.targets[0]).rpartition(".")[2] == name
    ]
    return next(iter(named if len(named) == 1 else calls if len(calls) == 1 else ()), None)


def _deep_copy(diagnosis: Diagnosis, copies: Sequence[str], originals: Sequence[str]) -> ast.Assign | None:
    """The one statement that copies a model, where some leaves have the shapes of the others."""
    code = diagnosis.code
    shapes = [
        {diagnosis.tensors[leaf].shape for leaf in leaves if leaf in diagnosis.tensors}
        for leaves in (copies, originals)
    ]
    made = [each for each in code.bindings if isinstance(each.value, ast.Call) and called(each.value) == "deepcopy"]
    return made[0] if len(made) == 1 and shapes[0] == shapes[1] and set(copies).isdisjoint(originals) else None


def never_stepped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Passes and `zero_grad` in a loop, and no step: of any optimizer, or of one that the program never steps nor hands
    on."""
    code, trace = diagnosis.code, diagnosis.trace
    written = [attribute for attribute in code.attributes if attribute.attr == "step"]
    if trace.status != "ok" or (not diagnosis.steps and not diagnosis.fed.isdisjoint(diagnosis.moved)):
        return  # by hand
    if written and not diagnosis.steps:
        yield from _never_reached(diagnosis)
        if diagnosis.moves or not all(diagnosis.has_run(attribute) for attribute in written):
            return  # else these are steps of schedulers, or of environments
    zeroed = Counter(
        update.variable
        for update in trace.updates
        if update.kind == "zero_grad" and update.owner == "optimizer" and update.variable
    )
    fed = [pass_ for pass_ in trace.passes if fed_by(pass_)]
    resets = sum(update.kind == "zero_grad" for update in trace.updates)
    unused = {name: resets for name in _optimizers_bound(diagnosis) if name not in zeroed} if diagnosis.steps else {}
    for variable, count in (zeroed | unused).items():
        if diagnosis.steps and not _is_only_zeroed(diagnosis, variable):
            continue
        if count >= 2 and len(fed) >= 2:
            yield diagnosis.warning(
                "backward_without_step",
                fed[-1].span,
                fix=code.line_after(code.statement_at(fed[-1].span), f"{variable}.step()"),
                optimizer=variable,
                count=diagnosis.counted(fed),
            )


def _optimizers_bound(diagnosis: Diagnosis) -> list[str]:
    """The names of the optimizers that a program makes, of the kinds that step in it."""
    kinds = {step.optimizer for step in diagnosis.steps}
    return [
        dotted(binding.targets[0])
        for binding in diagnosis.code.bindings
        if isinstance(binding.value, ast.Call) and called(binding.value) in kinds
    ]


def _never_reached(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A step that stands under a condition which held in no turn of the loop, or in the `else` of one that held in
    each, while its passes ran and nothing else moved what they fed."""
    code = diagnosis.code
    for call in (call for call in code.calls if called(call) == "step" and not diagnosis.has_run(call)):
        test, loops = code.enclosing(call, ast.If), set(code.loops(call))
        turns = [
            pass_
            for pass_ in diagnosis.ended
            if (backward := code.statement_at(pass_.span)) is not None and loops.intersection(code.loops(backward))
        ]
        fed = fed_by(turns[-1]) if turns else ()
        is_moved = any(diagnosis.identity(leaf) in diagnosis.moved for leaf in fed)
        if test is not None and diagnosis.has_run(test) and len(turns) > 1 and not is_moved:
            yield diagnosis.warning(
                "step_never_reached",
                call,
                tensors=fed[:8],
                test=code.short(test.test),
                test_line=str(test.lineno),
                is_else=str(int(any(call in ast.walk(each) for each in test.orelse))),
                count=diagnosis.counted(turns),
                pass_line=line(turns[0].span),
            )
            return


def _is_only_zeroed(diagnosis: Diagnosis, variable: str) -> bool:
    """Whether all that a program does with an optimizer, whose parameters get gradients, is to zero them."""
    code = diagnosis.code
    reads = [node for node in code.nodes if isinstance(node, ast.Name | ast.Attribute) and dotted(node) == variable]
    above = [code.parents.get(read) for read in reads if isinstance(read.ctx, ast.Load)]
    made = bound_once(diagnosis, variable)
    models = models_given(made)
    fed = {root.path for leaf in diagnosis.fed - diagnosis.moved if (root := diagnosis.root_of.get(leaf)) is not None}
    is_zeroing = all(isinstance(node, ast.Attribute) and node.attr == "zero_grad" for node in above)
    return is_zeroing and bool(models) and fed.issuperset(models)


def stepped_outside_the_loop(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A step after the loop whose every turn zeroes the gradients: only the last turn's are left for it."""
    code = diagnosis.code
    zeros = [update for update in diagnosis.trace.updates if update.kind == "zero_grad"]
    for step in diagnosis.steps[:1]:
        written, held = code.statement_at(step.span), set(diagnosis.held_by(step))
        for passes in diagnosis.passes_by_place.values():
            backward = code.statement_at(passes[0].span)
            loop = next(iter(code.loops(backward)), None) if backward is not None else None
            zero = next((each for each in zeros if loop and is_each_turn(diagnosis, each.span, loop)), None)
            own = [pass_ for pass_ in passes if fed_by(pass_) and held.issuperset(fed_by(pass_))]
            steps = [each for each in diagnosis.steps if each.span == step.span]
            if loop is None or written is None or backward is None or zero is None or len(own) < 2 * len(steps):
                continue
            is_last = code.follows(loop, written) and code.follows(code.statement_at(zero.span), backward)
            if not is_last or reads_gradients(loop) or any(each.span != step.span for each in diagnosis.moves):
                continue
            yield diagnosis.warning(
                "stepped_outside_the_loop",
                step.span,
                tensors=sorted(held, key=by_number),
                passes=diagnosis.counted(own),
                steps=diagnosis.counted(steps),
                zero_line=line(zero.span),
                pass_line=line(passes[0].span),
                loop_line=str(loop.lineno),
            )
            return


def reads_gradients(loop: ast.AST) -> bool:
    """Whether the gradients of each turn are used otherwise than by a step."""
    return any(map(is_grad, ast.walk(loop)))


def backward_after_the_loop(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A loss computed for each batch of a loop, or each step of a sequence, and a backward below the loop: it sees the
    last one alone."""
    code = diagnosis.code
    for passes in diagnosis.passes_by_place.values():
        backward = code.statement_at(passes[0].span)
        maker = diagnosis.maker.get(passes[0].roots[0].tensor or "") if passes[0].roots else None
        made = code.statement_at(maker.span) if maker is not None else None
        loop = next((each for each in code.loops(made) if code.follows(each, backward)), None) if made else None
        alike = [op for op in diagnosis.ops_at(maker.span) if op.name == maker.name and op.nodes] if maker else []
        lost = [op for op in alike if not diagnosis.reaches_a_pass(op)]
        if maker is None or loop is None or len(lost) < FEWEST or any(_leads_on(diagnosis, op) for op in lost):
            continue
        if not all(_is_of_the_last(diagnosis, alike, pass_) for pass_ in passes):
            continue  # one of them was picked
        is_alone = all(_is_alone(diagnosis, op) for op in lost)
        if not is_alone and any(diagnosis.takers.get(output) for op in lost for output in op.outputs):
            continue  # the steps before it are read as well as learnt through
        yield diagnosis.warning(
            "backward_after_the_loop" if is_alone else "loss_overwritten",
            passes[0].span if is_alone else maker.span,
            tensors=maker.outputs[:1],
            name=diagnosis.say(maker.outputs[0]),
            count=diagnosis.counted(alike),
            lost=diagnosis.counted(lost),
            made_line=line(maker.span),
            loop_line=str(loop.lineno),
            pass_line=line(passes[0].span),
        )


def _is_of_the_last(diagnosis: Diagnosis, losses: Sequence[Op], pass_: Pass) -> bool:
    """Whether a pass began at the last loss before it, and none was held against another one."""
    begin = diagnosis.pass_step.get(pass_.id, -1)
    last = [op for op in losses if diagnosis.op_step.get(op.id, begin) < begin][-1:]
    takers = (taker for op in losses for taker in diagnosis.takers.get(op.outputs[0], ()))
    return bool(last) and pass_.roots[0].tensor in last[0].outputs and all(len(each.inputs) < 2 for each in takers)


def _leads_on(diagnosis: Diagnosis, loss: Op) -> bool:
    """Whether anything was computed from a loss that gradient could come back through."""
    return any(taker.nodes for output in loss.outputs for taker in diagnosis.takers.get(output, ()))


def _is_alone(diagnosis: Diagnosis, loss: Op) -> bool:
    """Whether no pass saw anything between a loss and the leaves."""
    behind = diagnosis.reached_from(loss.nodes) & diagnosis.visited.keys()
    return all(diagnosis.nodes[node].variable is not None for node in behind)


class _Scaled(NamedTuple):
    """A pass that began at `scaler.scale(loss)`, and the first step along its gradients."""

    op: Op
    scaler: str
    step: Update


def _scaled(diagnosis: Diagnosis) -> Iterator[_Scaled]:
    """The first pass of a scaled loss along whose gradients an optimizer steps."""
    code = diagnosis.code
    for pass_ in diagnosis.ended if any(called(call) == "GradScaler" for call in code.calls) else ():
        makers = (diagnosis.maker.get(root.tensor or "") for root in pass_.roots)
        op = next((maker for maker in makers if maker is not None and maker.name == "mul"), None)
        call = code.call_at(op.span) if op is not None else None
        if op is None or call is None or called(call) != "scale" or not isinstance(call.func, ast.Attribute):
            continue
        scaler = dotted(call.func.value)
        steps = [step for step in diagnosis.steps if not set(diagnosis.changed_by(step)).isdisjoint(fed_by(pass_))]
        if steps:
            yield _Scaled(op, scaler, steps[0])
            return


def scaled_and_stepped(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Steps along the gradients of a scaled loss, or gradients clipped, before they were scaled back."""
    code = diagnosis.code
    for op, scaler, step in _scaled(diagnosis):
        through = any(dotted(each.func) == f"{scaler}.step" for each in code.calls)
        unscaled = [code.statement(each) for each in code.calls if dotted(each.func) == f"{scaler}.unscale_"]
        clips = [each for each in code.calls if called(each).startswith("clip_grad_") and diagnosis.has_run(each)]
        early = [each for each in clips if all(code.follows(code.statement(each), later) for later in unscaled)]
        written = next(iter(early), None) if through else None if unscaled else code.call_at(step.span)
        optimizer = receiver(diagnosis, step)
        if written is None or not optimizer:
            continue
        updated = code.line_after(code.statement_at(step.span), f"{scaler}.update()")
        stepped = (code.replace(written, f"{scaler}.step({optimizer})"), *updated) if updated else ()
        clip, undo = code.statement(written), f"{scaler}.unscale_({optimizer})"
        in_time = code.moved(unscaled[0], before=clip) if unscaled else code.line_before(clip, undo)
        yield diagnosis.finding(
            "clipped_while_scaled" if through else "scaled_and_stepped",
            "error",
            written,
            tensors=diagnosis.held_by(step),
            fix=in_time if through else stepped,
            scaler=scaler,
            undone=undo if unscaled else f"{scaler}.step({optimizer})",
            optimizer=optimizer,
            scale=_factor(diagnosis, op),
            scale_line=line(op.span),
        )


def _factor(diagnosis: Diagnosis, op: Op) -> str:
    numbers = numbers_of(diagnosis.input_of(op, 1))
    return f"{numbers[0]:.6g}" if len(numbers) == 1 else UNKNOWN


def losses_of_one_graph(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Pass after pass through what was computed once, the loss or a part of it, while steps move what it was computed
    from."""
    for passes in diagnosis.passes_by_place.values():
        op = _computed_once(diagnosis, passes) if len(passes) >= FEWEST else None
        at = [diagnosis.pass_step.get(pass_.id, -1) for pass_ in passes]
        if op is None or any(at[0] < diagnosis.op_step.get(each.id, -1) < at[-1] for each in diagnosis.ops_at(op.span)):
            continue
        fed = {diagnosis.nodes[node].variable for node in diagnosis.reached_from(op.nodes)} & set(fed_by(passes[0]))
        moved = [step for step in diagnosis.steps if not fed.isdisjoint(diagnosis.changed_by(step))]
        between = [step for step in moved if at[0] < diagnosis.update_step.get(step.id, -1) < at[-1]]
        if len(between) < len(passes) - 1:
            continue
        yield diagnosis.finding(
            "loss_computed_once",
            "error",
            op,
            tensors=(*op.outputs[:1], *sorted(filter(None, fed), key=by_number)),
            name=diagnosis.say(op.outputs[0]),
            count=diagnosis.counted(passes),
            pass_line=line(passes[0].span),
            step_line=line(between[0].span),
        )


def _computed_once(diagnosis: Diagnosis, passes: Sequence[Pass]) -> Op | None:
    """The last op that all passes went through."""
    shared = set.intersection(*({visit.node for visit in pass_.visits} for pass_ in passes))
    own = (visit.node for visit in passes[0].visits if visit.node in shared)
    known = (diagnosis.nodes[node] for node in own if node in diagnosis.nodes)
    first = next((node.id for node in known if node.variable is None), None)
    return diagnosis.op_of_node(first) if first is not None else None


def methods_not_called(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`opt.step` as a statement: the method without its brackets does nothing."""
    code = diagnosis.code
    for node in code.nodes:
        attribute = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(attribute, ast.Attribute) or attribute.attr not in METHODS:
            continue
        if diagnosis.has_run(attribute):
            yield diagnosis.finding(
                "method_not_called",
                "error",
                attribute,
                fix=(code.after(attribute, "()"),),
                method=attribute.attr,
            )


def methods_printed(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`print(loss.item)`: what was printed is the description of a method."""
    code = diagnosis.code
    for piece in diagnosis.trace.output:
        printed = {*_METHOD_PRINTED.findall(piece.text)} & GIVE
        call = code.call_at(piece.span) if printed else None
        named = [node for node in ast.walk(call) if isinstance(node, ast.Attribute)] if call is not None else []
        for attribute in named:
            above = code.parents.get(attribute)
            is_called = isinstance(above, ast.Attribute) or (isinstance(above, ast.Call) and above.func is attribute)
            if attribute.attr in printed and not is_called and code.text(attribute).endswith(f".{attribute.attr}"):
                fix = (code.after(attribute, "()"),)
                yield diagnosis.warning("method_printed", attribute, fix=fix, method=attribute.attr)


def is_each_turn(diagnosis: Diagnosis, span: Span | None, loop: Loop) -> bool:
    call = diagnosis.code.call_at(span)
    around = list(diagnosis.code.runs_in(call)) if call is not None else []
    within = around[: around.index(loop)] if loop in around else [loop]
    return not any(isinstance(each, ast.If | ast.For | ast.While) for each in within)
