"""Learning rates: of 0, far too large ones, and schedules in the wrong order or at the wrong pace."""

import ast
import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise, takewhile
from typing import Literal

from engine.findings.diagnosis import (
    UNKNOWN,
    Diagnosis,
    by_number,
    fed_by,
    grouped,
    line,
    number,
    numbers_of,
    size_of,
)
from engine.findings.optimizer_code import made_by, receiver
from engine.program.edits import Edits
from engine.program.names import called, dotted, keyword
from engine.program.source import Source
from engine.trace import Change, Finding, Span, Update, Warning

SIZES_APART = 5
"""How many times larger one step may make the weights of a layer than they were made to be."""
ADAPTIVE = ("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "Adagrad")
"""Optimizers whose first step is about as long as the learning rate, whatever the gradient."""
SCHEDULES = re.compile(r"(^|\.)(\w+LR|ReduceLROnPlateau|CosineAnnealingWarmRestarts)$")
LEAST_STEPS = 3
MANY_STEPS = 8
STAYED = 0.999
STEEP = 1e-2
"""Length of a gradient that has somewhere to go."""
HARDLY = 1e-4
LONGEST = 10
"""How many learning rates long a step of an adaptive optimizer is at most, in each number: the first of RMSprop."""
MOST_MOMENTUM = 0.999
LEFT = 0.05
"""Share of the first learning rate that a plan which goes up again has come down to before."""
NEARLY = 0.9
DEAD = 1e-3
"""Share of the first learning rate at which nothing is learnt any more."""
FEWEST_RATES = 8
UNSCALES = "_amp_foreach_non_finite_check_and_unscale_"
TOO_EARLY = "before `optimizer.step()`"


def steps_of_zero(diagnosis: Diagnosis) -> Iterator[Finding]:
    """An optimizer whose learning rate is 0 in all steps, or in all from some step on."""
    whole = (step for step in diagnosis.steps if step.changes)
    for steps in grouped(whole, lambda step: (receiver(diagnosis, step), step.span)).values():
        still = [_rate(step) == 0 for step in steps]
        at = still.index(True) if True in still else len(steps)
        if diagnosis.trace.gaps and len(steps) < LEAST_STEPS:  # a warm-up may begin at 0
            continue
        if not all(still[at:]) or 2 * at > len(steps) or at == len(steps):
            continue
        first = steps[at]
        span, fix = _zero_from(diagnosis, first, was_zero=at == 0)
        yield diagnosis.finding(
            "learning_rate_zero",
            "error" if at == 0 else "warning",
            span,
            fix=fix,
            optimizer=receiver(diagnosis, first) or first.optimizer or "",
            step_line=line(first.span),
            count=diagnosis.counted(steps[at:]),
            of=diagnosis.counted(steps),
        )


def _rate(step: Update) -> float | None:
    """The largest learning rate of the groups that it changed something of."""
    texts = [
        step.settings[group].get("lr", "")
        for group in {change.group for change in step.changes}
        if group < len(step.settings)
    ]
    found = [re.search(r"(?<![\w.])(-?\d+(\.\d*)?(e[-+]?\d+)?|-?\.\d+)", text) for text in texts]
    rates = [abs(float(number.group())) for number in found if number is not None]
    return max(rates) if len(rates) == len(texts) and rates else None


def _zero_from(diagnosis: Diagnosis, step: Update, *, was_zero: bool) -> tuple[Span | None, Edits]:
    """Where the 0 comes from: the optimizer's own line, the schedule's, or a line that sets it."""
    code = diagnosis.code
    made = made_by(diagnosis, step)
    call = made.value if made is not None else None
    is_scheduled = any(setting.get("initial_lr", "0") not in ("0", "0.0") for setting in step.settings)
    if was_zero and not is_scheduled and isinstance(call, ast.Call):
        return code.span(call), _rate_given(diagnosis, call, "0.01")
    name = dotted(made.targets[0]) if made is not None else ""
    bound = [binding.value for binding in code.bindings if isinstance(binding.value, ast.Call) and binding.value.args]
    schedules = [call for call in bound if isinstance(call, ast.Call) and name and dotted(call.args[0]) == name]
    by_hand = [node for node in code.nodes if isinstance(node, ast.Assign | ast.AugAssign) and _sets_rate(node)]
    if schedules and (is_scheduled or not by_hand):
        return code.span(schedules[-1]), ()
    if by_hand:
        return code.span(by_hand[-1]), ()
    return (code.span(call), ()) if isinstance(call, ast.Call) else (step.span, ())


def steps_too_long(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A first step that leaves nothing of how layers were initialised, and a loss that is no lower for it."""
    for steps in grouped(diagnosis.steps, lambda step: (receiver(diagnosis, step), step.span)).values():
        step, rate = steps[0], _rate(steps[0])
        grown = [(change, _grown(diagnosis, change)) for change in step.changes]
        sizes = [(change, size) for change, size in grown if size is not None]
        thrown = [(change, size) for change, size in sizes if _is_thrown(diagnosis, change, *size)]
        began = _began_at(diagnosis, set(diagnosis.changed_by(step)))
        losses = list(filter(math.isfinite, began))
        if not thrown or 2 * len(thrown) < len(sizes) or len(steps) < LEAST_STEPS or len(losses) < LEAST_STEPS:
            continue
        is_clipped = step.optimizer not in ADAPTIVE and any(
            called(call).startswith("clip_grad_") for call in diagnosis.code.calls
        )
        if rate is None or step.optimizer == "LBFGS" or is_clipped or not _is_lost(losses):
            continue
        change, (before, after) = max(thrown, key=lambda each: each[1][1] / each[1][0])
        made = made_by(diagnosis, step)
        call = made.value if made is not None else None
        yield diagnosis.warning(
            "steps_too_long",
            call if isinstance(call, ast.Call) else step.span,
            tensors=[each.before for each, _ in thrown if each.before is not None][:8],
            fix=_rate_given(diagnosis, call, "0.001")
            if isinstance(call, ast.Call) and step.optimizer in ADAPTIVE
            else (),
            optimizer=receiver(diagnosis, step) or step.optimizer or "",
            lr=f"{rate:.4g}",
            step_line=line(step.span),
            name=diagnosis.say(change.before),
            before=f"{before:.3g}",
            after=f"{after:.3g}",
            first=f"{losses[0]:.4g}",
            most=f"{max(value for value in began if not math.isnan(value)):.4g}",
            last=f"{began[-1]:.4g}",
        )


def steps_too_short(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Steps that together moved next to nothing, along gradients that were none too small, and a loss that stayed."""
    whole = () if any(diagnosis.ops_named((UNSCALES,))) else diagnosis.steps  # a factor is in the gradients of these
    for steps in grouped(whole, lambda step: (receiver(diagnosis, step), step.span)).values():
        leaves = set(diagnosis.changed_by(steps[0]))
        losses, rate = list(filter(math.isfinite, _began_at(diagnosis, leaves))), _rate(steps[0])
        size = _length(diagnosis, (change.before for change in steps[0].changes))
        given = (added.delta for _, added in diagnosis.accumulations if added.tensor in leaves)
        gradient = _length(diagnosis, islice(given, len(leaves)))
        most = max((_rate(step) or 0 for step in steps), default=0)
        ways = [_moved(diagnosis, step, most) for step in steps]
        moved = sum(way for way, _ in ways)
        is_still = len(losses) >= MANY_STEPS and losses[-1] > STAYED * losses[0] > 0
        if len(steps) < MANY_STEPS or not rate or not is_still or gradient < STEEP or moved > HARDLY * size:
            continue
        made = made_by(diagnosis, steps[0])
        yield diagnosis.warning(
            "steps_too_short",
            made.value if made is not None else steps[0].span,
            tensors=sorted(leaves, key=by_number)[:8],
            optimizer=receiver(diagnosis, steps[0]) or steps[0].optimizer or "",
            lr=f"{rate:.4g}",
            count=str(len(steps)),  # those whose ways are added up
            moved=f"{moved:.2g}",
            is_known=str(int(all(is_known for _, is_known in ways))),
            size=f"{size:.3g}",
            gradient=f"{gradient:.2g}",
            first=f"{losses[0]:.6g}",
            last=f"{losses[-1]:.6g}",
        )


def _moved(diagnosis: Diagnosis, step: Update, rate: float) -> tuple[float, bool]:
    """How far a step moved the weights, and whether that is all known: of those with many numbers it is the most that
    their gradients and the learning rate allow."""
    squares, is_known = 0.0, True
    for change in step.changes:
        old, new = (diagnosis.tensors.get(state or "") for state in (change.before, change.after))
        if old is not None and new is not None and old.data and new.data:
            numbers = numbers_of(old), numbers_of(new)
            is_finite = len(numbers[0]) == len(numbers[1])
            squares += sum((one - other) ** 2 for one, other in zip(*numbers, strict=True)) if is_finite else math.inf
            continue
        group = step.settings[change.group] if change.group < len(step.settings) else {}
        pull = _length(diagnosis, [change.gradient]) / (1 - min(number(group.get("momentum")) or 0, MOST_MOMENTUM))
        if step.optimizer in ADAPTIVE:
            longest = LONGEST if step.optimizer != "Rprop" else math.inf  # its steps grow by themselves
            pull = longest * math.sqrt(diagnosis.elements(change.before or ""))
        decay = (number(group.get("weight_decay")) or 0) * _length(diagnosis, [change.before])
        squares, is_known = squares + (rate * (pull + decay)) ** 2, False
    return math.sqrt(squares), is_known


def _length(diagnosis: Diagnosis, states: Iterable[str | None]) -> float:
    """How long all numbers of some tensors are, taken for one vector."""
    sizes = [(size_of(diagnosis.tensors.get(state or "")) or 0.0, diagnosis.elements(state or "")) for state in states]
    return math.sqrt(sum(size**2 * count for size, count in sizes))


def _is_lost(losses: list[float]) -> bool:
    """Whether a loss was never much lower than at first, or shot up with the first step and did not come back."""
    first = losses[0]
    never_lower = first > 0 and min(losses[1:]) > NEARLY * first
    return never_lower or (losses[1] > 10 * abs(first) and losses[-1] > abs(first) / 2)


def _is_thrown(diagnosis: Diagnosis, change: Change, before: float, after: float) -> bool:
    """Whether weights are far larger than they were made to be, and than keeps what they give at the size of what they
    are given; those that began near 0 may well grow."""
    record = diagnosis.tensors.get(change.before or "")
    given = math.prod(record.shape[1:]) if record is not None else 1
    return after > SIZES_APART * before and after * math.sqrt(given) > SIZES_APART


def _grown(diagnosis: Diagnosis, change: Change) -> tuple[float, float] | None:
    """How large the numbers of a layer's weights were before a step and after it."""
    before, after = (diagnosis.tensors.get(state or "") for state in (change.before, change.after))
    old, new = size_of(before), size_of(after)
    is_layer = before is not None and len(before.shape) > 1 and diagnosis.is_parameter(before.id)
    return (old, new) if is_layer and old and new is not None else None


def _began_at(diagnosis: Diagnosis, leaves: set[str]) -> list[float]:
    """What passes began at that brought gradients to some leaves, turn by turn: NaN and infinity among it."""
    roots = (pass_.roots[0].tensor for pass_ in diagnosis.ended if pass_.roots and not leaves.isdisjoint(fed_by(pass_)))
    values = (tensor.data for root in roots if (tensor := diagnosis.tensors.get(root or "")) is not None)
    return [float(value[0]) for value in values if value is not None and len(value) == 1]


def _sets_rate(statement: ast.Assign | ast.AugAssign) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(
        isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == "lr"
        for target in targets
    )


def _rate_given(diagnosis: Diagnosis, call: ast.Call, rate: str) -> Edits:
    value = _rate_written(call)
    return (diagnosis.code.replace(value, rate),) if isinstance(value, ast.Constant) else ()


def _rate_written(optimizer: ast.Call) -> ast.expr | None:
    word = keyword(optimizer, "lr")
    return word.value if word is not None else optimizer.args[1] if len(optimizer.args) > 1 else None


def scheduler_before_step(diagnosis: Diagnosis) -> Iterator[Finding]:
    """PyTorch warns of it: the first value of the schedule is skipped."""
    code = diagnosis.code
    for warning in diagnosis.trace.warnings:
        if "lr_scheduler.step()" not in warning.message or TOO_EARLY not in warning.message:
            continue
        statement = code.statement_at(warning.span)
        other = code.statement_at(diagnosis.steps[0].span) if diagnosis.steps else None
        if not any(update.kind == "step" for update in diagnosis.trace.updates):
            yield from _without_steps(diagnosis, warning)
            return
        if other is None or statement is None or code.follows(other, statement):
            return  # it is a step that a GradScaler skipped, or another's
        if code.function(other) is code.function(statement) and other.lineno < statement.lineno:
            return  # a step that is not taken in each turn
        yield diagnosis.warning(
            "scheduler_before_step",
            warning.span,
            fix=code.moved(statement, after=other) if code.follows(statement, other) else (),
            step_line=line(diagnosis.steps[0].span),
        )
        return


def _without_steps(diagnosis: Diagnosis, warning: Warning) -> Iterator[Finding]:
    """A schedule with no step of any optimizer: of a training that lacks it, or shown by itself without its begin."""
    call = diagnosis.code.call_at(warning.span)
    is_learning = any(map(fed_by, diagnosis.ended))
    resets = (update.kind == "zero_grad" for update in diagnosis.trace.updates)
    if call is None or called(call) != "step" or diagnosis.moves or (is_learning and any(resets)):
        return  # of a loop that has all but the step another family tells
    scheduler, learning = dotted(call.func).removesuffix(".step"), str(int(is_learning))
    severity: Literal["warning", "note"] = "warning" if is_learning else "note"
    yield diagnosis.finding("schedule_without_steps", severity, call, scheduler=scheduler, is_learning=learning)


def _rates(step: Update) -> str:
    """The learning rate of a step, for a sentence."""
    rate = _rate(step)
    return f"{rate:.4g}" if rate is not None else UNKNOWN


MOST_NAMES = 4
EPOCHS = {"StepLR": "step_size", "CosineAnnealingLR": "T_max", "MultiStepLR": "milestones"}
"""Schedulers that count in epochs in most programs, and the option that says how many."""
BATCHES = {**EPOCHS, "OneCycleLR": "total_steps", "PolynomialLR": "total_iters"}
"""Those that some programs lay out in batches."""
TURNS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)


def scheduled_per_batch(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A scheduler told a number of epochs and stepped in each batch."""
    code, taken = diagnosis.code, _steps_taken(diagnosis)
    for call in code.calls if len(diagnosis.steps) > 2 else ():
        option = EPOCHS.get(called(call))
        steps = _schedule_steps(diagnosis, call) if option is not None else []
        loops = [each for each in code.runs_in(steps[0]) if isinstance(each, TURNS)] if len(steps) == 1 else []
        if option is None or len(loops) < 2 or not diagnosis.has_run(steps[0]) or _is_choice(code, steps[0], loops[1]):
            continue
        word = keyword(call, option)
        written = word.value if word is not None else call.args[1] if len(call.args) > 1 else None
        epochs, count = _turns(diagnosis, loops[1]), _number(diagnosis, written)
        is_short = epochs is not None and count is not None and count <= epochs <= taken / 2
        is_same = written is not None and _is_count_of(diagnosis, written, loops[1])
        is_wave, rates = _goes_up_again(diagnosis), list(filter(None, map(_rate, diagnosis.steps)))
        is_steep = any(later < NEARLY * rate for rate, later in pairwise(rates))
        if written is None or not ((is_short and (is_wave or is_steep)) or (is_same and is_wave)):
            continue
        yield diagnosis.warning(
            "scheduled_per_batch",
            steps[0],
            name=dotted(code.receiver(steps[0])),
            type=called(call),
            option=option,
            count=str(count) if is_short else code.short(written),
            epochs=str(epochs) if is_short else code.short(written),
            times=f"{taken:.0f}",
            batch_line=str(loops[0].lineno),
            epoch_line=str(loops[1].lineno),
            first=_rates(diagnosis.steps[0]),
            last=_rates(diagnosis.steps[-1]),
            is_wave=str(int(is_wave)),
        )


def _is_choice(code: Source, step: ast.Call, loop: ast.AST) -> bool:
    """Whether a condition decides in the turns of a loop if a line runs."""
    return any(isinstance(above, ast.If) for above in takewhile(lambda above: above is not loop, code.runs_in(step)))


def _steps_taken(diagnosis: Diagnosis) -> float:
    """How many steps a run had: in turns that a long loop left out as many for each pass as in those it kept."""
    left_out = sum(gap.passes for gap in diagnosis.trace.gaps)
    return len(diagnosis.steps) * (1 + left_out / max(len(diagnosis.trace.passes), 1))


def _schedule_steps(diagnosis: Diagnosis, made: ast.Call) -> list[ast.Call]:
    """The calls of a scheduler's `step`; of one that a function returns those of what its call gave, if they are no
    optimizer's."""
    code = diagnosis.code
    own = [each for each in code.calls if called(each) == "step" and isinstance(each.func, ast.Attribute)]
    binding, function = code.statement(made), code.function(made)
    if isinstance(binding, ast.Assign):
        name = code.stands_for(dotted(binding.targets[0])) if binding.value is made else ""
        return [each for each in own if name and code.stands_for(dotted(code.receiver(each)), each) == name]
    given = code.calls_to(function) if function is not None and isinstance(binding, ast.Return) else []
    bound = [each.targets[0] for each in code.bindings if each.value in given]
    names = {dotted(part) for target in bound for part in (target.elts if isinstance(target, ast.Tuple) else [target])}
    moving = {step.span for step in diagnosis.steps}
    return [each for each in own if dotted(code.receiver(each)) in names and code.span(each) not in moving]


def _is_count_of(diagnosis: Diagnosis, count: ast.expr, loop: ast.AST) -> bool:
    """Whether `for epoch in range(n)`, or to `n + 1`, turns as often as the name of a count says."""
    last = (
        loop.iter.args[-1] if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and loop.iter.args else None
    )
    end = last.left if isinstance(last, ast.BinOp) and isinstance(last.op, ast.Add) else last
    names = {diagnosis.code.stands_for(dotted(node), node) for node in (count, end) if node is not None}
    return len(names) == 1 and end is not None and "" not in names


def _goes_up_again(diagnosis: Diagnosis) -> bool:
    """Whether the learning rate came from far below its beginning back to where it began."""
    rates = [rate for step in diagnosis.steps if (rate := _rate(step)) is not None]
    low = next((at for at, rate in enumerate(rates) if rate < LEFT * rates[0]), len(rates))
    return max(rates[low:], default=0.0) > NEARLY * rates[0] > 0


def scheduled_per_epoch(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A schedule laid out for batches and stepped once an epoch: it stays near its beginning."""
    code = diagnosis.code
    for made in code.bindings:
        call, name = made.value, code.stands_for(dotted(made.targets[0]))
        option = BATCHES.get(called(call)) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or option is None or not name:
            continue
        own = [each for each in code.calls if called(each) == "step" and isinstance(each.func, ast.Attribute)]
        stepped = [each for each in own if code.stands_for(dotted(code.receiver(each)), each) == name]
        rates = [rate for step in diagnosis.steps if (rate := _rate(step)) is not None]
        changes = sum(one != other for one, other in pairwise(rates))
        if len(stepped) != 1 or not diagnosis.has_run(stepped[0]) or 2 * (changes + 1) > len(rates):
            continue
        planned = _planned_in_batches(diagnosis, call, option, stepped[0], changes)
        if planned is None:
            continue
        yield diagnosis.warning(
            "scheduled_per_epoch",
            stepped[0],
            name=dotted(code.receiver(stepped[0])),
            made_line=str(made.lineno),
            planned=code.short(planned),
            count=str(changes),
            of=diagnosis.counted(rates),
            last=_rates(diagnosis.steps[-1]),
        )


def _planned_in_batches(
    diagnosis: Diagnosis, made: ast.Call, option: str, stepped: ast.Call, changes: int
) -> ast.expr | None:
    """What a schedule is given that counts batches: `steps_per_epoch`, or a length that has the `len()` of what the
    loop around the optimizer's step goes over, in a run of fewer epochs than an epoch has batches."""
    code = diagnosis.code
    each = keyword(made, "steps_per_epoch")
    if each is not None:
        return each.value if changes else None
    word = keyword(made, option)
    planned = word.value if word is not None else made.args[1] if len(made.args) > 1 else None
    moved = code.call_at(diagnosis.steps[0].span)
    loop = next((each for each in code.around(moved) if isinstance(each, ast.For)), None) if moved is not None else None
    outer = next((each for each in code.runs_in(stepped) if isinstance(each, TURNS)), None)
    if planned is None or loop is None or outer is None or loop in code.around(stepped):
        return None
    epochs = _turns(diagnosis, outer) or changes + 1
    sources = {_stands_for(code, node) for node in ast.walk(loop.iter)} - {""}
    whole = diagnosis.value_of(dotted(planned)) or planned
    sizes = [node for node in ast.walk(whole) if isinstance(node, ast.Call) and called(node) == "len" and node.args]
    is_of_batches = any(_stands_for(code, size.args[0]) in sources for size in sizes)
    return planned if is_of_batches and epochs < _steps_taken(diagnosis) / epochs else None


def _stands_for(code: Source, node: ast.AST) -> str:
    return code.stands_for(dotted(node), node) or dotted(node)


def rates_that_die(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A schedule that has brought the learning rate to next to nothing before half of the steps were done."""
    code = diagnosis.code
    called_on = (each for each in code.calls if called(each) == "step" and isinstance(each.func, ast.Attribute))
    kinds = ((each, diagnosis.value_of(dotted(code.receiver(each)))) for each in called_on if diagnosis.has_run(each))
    every = [(each, made) for each, made in kinds if isinstance(made, ast.Call) and called(made).endswith("LR")]
    for (name, _), steps in grouped(diagnosis.steps, lambda step: (receiver(diagnosis, step), step.span)).items():
        own = [(each, made) for each, made in every if made.args and dotted(made.args[0]) == name]
        plans = own or (every if len(every) == 1 else [])
        rates = [rate for step in steps if (rate := _rate(step)) is not None]
        faint = [at for at, rate in enumerate(rates) if 0 < rate < DEAD * rates[0]]
        if len(rates) < FEWEST_RATES or 2 * len(faint) <= len(rates) or not plans:
            continue
        if any(True for _ in scheduled_per_batch(diagnosis)):
            return  # which says it with the numbers of the plan
        call, made = plans[0]
        yield diagnosis.warning(
            "rate_dies",
            call,
            name=dotted(code.receiver(call)),
            type=called(made),
            count=str(faint[0]),
            of=diagnosis.counted(rates),
            first=_rates(steps[0]),
            last=_rates(steps[-1]),
        )
        return


def _turns(diagnosis: Diagnosis, loop: ast.AST) -> int | None:
    """How often `for epoch in range(n)` turns."""
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name("range"), args=[*first, last])) if len(first) < 2:
            begin, end = _number(diagnosis, first[0]) if first else 0, _number(diagnosis, last)
            return end - begin if begin is not None and end is not None else None
    return None


def _number(diagnosis: Diagnosis, node: ast.expr | None, names: int = MOST_NAMES) -> int | None:
    """A whole number as written, a part of one, or of a name that is bound to it once or taken from one call; of a
    list its largest. At most so many names are followed."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.List(elts=items) if items:
            known = [each for item in items if (each := _number(diagnosis, item)) is not None]
            return max(known, default=None)
        case ast.Name() | ast.Attribute() if names:
            return _number(diagnosis, diagnosis.value_of(dotted(node)), names - 1)
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int() as parts)) if parts > 0:
            whole = _number(diagnosis, left, names)
            return whole // parts if whole is not None else None
    return None
