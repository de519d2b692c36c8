"""Results that do not depend on what they should: data that is the same in each step, settings that nobody reads, rows
and labels that were put in different orders."""

import ast
import re
from collections.abc import Iterator
from itertools import islice

from engine.findings.diagnosis import Diagnosis, fed_by, is_alike, line, once_a_line, says, times, walk
from engine.findings.losses import ELEMENTWISE_LOSSES, LOSSES
from engine.program.names import called, dotted, keyword
from engine.program.tree import Loop, covers
from engine.trace import Finding, Op, Span, Tensor, Update

COMPARING = (*LOSSES, *sorted(ELEMENTWISE_LOSSES), "sub", "rsub")
LEAST_STEPS = 3
MOST_BEHIND = 400


def first_batch_again(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`next(iter(loader))` in the loop, or slices that do not follow its counter: each step sees the first batch."""
    code = diagnosis.code
    passes = {pass_.span.line for pass_ in diagnosis.trace.passes if pass_.span is not None}
    for loop in (node for node in code.nodes if isinstance(node, ast.For)):
        inside = [node for body in loop.body for node in ast.walk(body) if isinstance(node, ast.Call | ast.Subscript)]
        if not passes.intersection(node.lineno for node in inside) or not diagnosis.steps:
            continue
        for node in inside:
            if code.loops(node)[:1] == [loop] and (_restarts(diagnosis, node) or _stays(diagnosis, loop, node)):
                yield diagnosis.warning(
                    "first_batch_again",
                    node,
                    loop_line=str(loop.lineno),
                    first="iter" if isinstance(node, ast.Call) else dotted(loop.target),
                )
                break


def _restarts(diagnosis: Diagnosis, node: ast.expr) -> bool:
    """`next(iter(loader))` of a loader that does not shuffle, and has more rows than were ever asked for."""
    match node:
        case ast.Call(func=ast.Name("next"), args=[ast.Call(func=ast.Name("iter"), args=[loader])]):
            made = diagnosis.value_of(dotted(loader))
            is_loader = isinstance(made, ast.Call) and called(made) == "DataLoader"
            in_order = is_loader and isinstance(made, ast.Call) and says(made, "shuffle") in ("", "False")
            return in_order and _leaves_rows(diagnosis, diagnosis.code.span(node))
    return False


def _leaves_rows(diagnosis: Diagnosis, span: Span) -> bool:
    """Whether a loader at that place took some rows of a tensor and not all; those of a dataset of the program's own
    are taken in its `__getitem__`."""
    code = diagnosis.code
    own = [function for function in code.functions if function.name == "__getitem__"]
    inside = [op for op in diagnosis.ops_named(("getitem",)) if op.span is not None and own]
    taken: dict[str, set[str | None]] = {}
    for op in (*diagnosis.ops_at(span), *(op for op in inside if covers(own[0], op.span.line if op.span else 0))):
        if op.name == "getitem" and op.inputs:
            taken.setdefault(op.inputs[0], set()).add(op.arguments[-1].text)
    return any(len(rows) < diagnosis.tensors[tensor].shape[0] for tensor, rows in taken.items())


def _stays(diagnosis: Diagnosis, loop: ast.For, node: ast.expr) -> bool:
    """A slice of data in a loop over where batches begin, whose counter nothing in it reads."""
    counter = dotted(loop.target)
    match loop.iter, node:
        case ast.Call(func=ast.Name("range"), args=[_, _, _]), ast.Subscript(slice=ast.Slice()) if counter:
            pass
        case _:
            return False
    names = [name for body in loop.body for name in ast.walk(body) if isinstance(name, ast.Name)]
    read = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    return counter not in read and len(diagnosis.ops_at(diagnosis.code.span(node))) >= LEAST_STEPS


@once_a_line
def shuffled_apart(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Predictions from rows in one random order compared with labels in another."""
    for op in diagnosis.ops_named(COMPARING) if any(diagnosis.ops_named(("randperm",))) else ():
        sides = [_orders(diagnosis, side) for side in op.inputs[:2]] if op.iteration < 2 else []
        if [len(side) for side in sides] != [1, 1] or sum(map(diagnosis.is_tracked, op.inputs[:2])) != 1:
            continue
        (first,), (second,) = sides
        orders = [diagnosis.tensors[drawn.outputs[0]] for drawn in (first, second)]
        if first.span == second.span or orders[0].shape != orders[1].shape or _is_same(diagnosis, *orders):
            continue
        later = max(first, second, key=lambda drawn: diagnosis.op_at[drawn.id])
        earlier = first if later is second else second
        yield diagnosis.finding(
            "shuffled_apart",
            "error",
            later.span,
            tensors=(first.outputs[0], second.outputs[0]),
            rows=times(orders[0]),
            first_line=line(earlier.span),
            second_line=line(later.span),
            loss_line=line(op.span),
        )


def _is_same(diagnosis: Diagnosis, first: Tensor, second: Tensor) -> bool:
    """Whether two random orders are the same one, drawn from the same seed; of a long one that is not known."""
    if first.data is not None:
        return is_alike(first, second)
    return sum(called(call) == "manual_seed" for call in diagnosis.code.calls) > 1


def _orders(diagnosis: Diagnosis, tensor: str) -> list[Op]:
    """The random orders that data behind a tensor was put into."""
    makers = (diagnosis.maker.get(value) for value in islice(walk([tensor], diagnosis.made_from), MOST_BEHIND))
    drawn = (maker for maker in makers if maker is not None and maker.name == "randperm")
    return list({maker.id: maker for maker in drawn}.values())


def zeroed_in_every_part(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`zero_grad` in each micro-batch, a step only after several: all but the last one's gradients are thrown away."""
    code = diagnosis.code
    zeros = [update for update in diagnosis.trace.updates if update.kind == "zero_grad"]
    for step in diagnosis.steps[:1]:
        call = code.call_at(step.span)
        above = code.enclosing(call, ast.If)
        loop = next(iter(code.loops(call)), None) if call is not None else None
        if above is None or loop is None or loop not in code.around(above) or not _counts(above.test):
            continue
        zero = next((each for each in zeros if _is_each_turn(diagnosis, each.span, loop)), None)
        backward = [pass_ for pass_ in diagnosis.trace.passes if _is_each_turn(diagnosis, pass_.span, loop)]
        moved = {leaf for each in diagnosis.steps for leaf in diagnosis.changed_by(each)}
        is_all_moved = all(moved.issuperset(fed_by(pass_)) for pass_ in backward)
        if zero is None or len(backward) < 2 * len(diagnosis.steps) or not is_all_moved:
            continue
        yield diagnosis.warning(
            "zeroed_in_every_part",
            zero.span,
            step_line=line(step.span),
            passes=str(len(backward)),
            steps=str(len(diagnosis.steps)),
            test=code.short(above.test),
            pass_line=line(backward[0].span),
        )


def _counts(test: ast.expr) -> bool:
    """`(i + 1) % n == 0`: in some of the turns."""
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in ast.walk(test))


def _is_each_turn(diagnosis: Diagnosis, span: Span | None, loop: Loop) -> bool:
    call = diagnosis.code.call_at(span)
    statement = diagnosis.code.statement(call) if call is not None else None
    return statement is not None and any(statement is each for each in loop.body)


EPOCHS = {"StepLR": "step_size", "CosineAnnealingLR": "T_max", "MultiStepLR": "milestones"}
"""Schedulers that count in epochs in most programs, and the option that says how many."""


def scheduled_per_batch(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A scheduler told a number of epochs and stepped in each batch."""
    code = diagnosis.code
    for made in code.bindings if len(diagnosis.steps) > 2 else ():
        call = made.value
        option = EPOCHS.get(called(call)) if isinstance(call, ast.Call) else None
        if option is None or not isinstance(call, ast.Call):
            continue
        name = dotted(made.targets[0])
        steps = [each for each in code.calls if dotted(each.func) == f"{name}.step"]
        loops = code.loops(steps[0]) if len(steps) == 1 else []
        if len(loops) < 2 or not diagnosis.has_run(steps[0]) or code.enclosing(steps[0], ast.If):
            continue
        word = keyword(call, option)
        written = word.value if word is not None else call.args[1] if len(call.args) > 1 else None
        epochs = _turns(diagnosis, loops[1])
        count = _number(diagnosis, written)
        stepped = len(diagnosis.steps)
        if epochs is None or count is None or count > epochs or stepped < 2 * epochs:
            continue
        yield diagnosis.warning(
            "scheduled_per_batch",
            steps[0],
            name=name,
            type=called(call),
            option=option,
            count=str(count),
            epochs=str(epochs),
            times=str(stepped),
            batch_line=str(loops[0].lineno),
            epoch_line=str(loops[1].lineno),
            first=_rate(diagnosis.steps[0]),
            last=_rate(diagnosis.steps[-1]),
        )


def _turns(diagnosis: Diagnosis, loop: Loop) -> int | None:
    """How often `for epoch in range(n)` turns."""
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name("range"), args=[*first, last])) if len(first) < 2:
            begin, end = _number(diagnosis, first[0]) if first else 0, _number(diagnosis, last)
            return end - begin if begin is not None and end is not None else None
    return None


def _number(diagnosis: Diagnosis, node: ast.expr | None) -> int | None:
    """A whole number as written, or of a name that is bound to it once; of a list its largest."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.List(elts=items) if items:
            known = [each for item in items if (each := _number(diagnosis, item)) is not None]
            return max(known, default=None)
        case ast.Name(id=name):
            return _number(diagnosis, diagnosis.value_of(name))
    return None


def _rate(step: Update) -> str:
    """The learning rate of a step, for a sentence."""
    rate = step.settings[0].get("lr", "") if step.settings else ""
    return f"{float(rate):.3g}" if re.fullmatch(r"[\d.e+-]+", rate) else rate or "?"


def samples_never_drawn(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A sampler given a weight for each class: it draws only among as many samples."""
    code = diagnosis.code
    makers = [call for call in code.calls if called(call) == "WeightedRandomSampler" and call.args]
    data = [part for call in code.calls if called(call) == "TensorDataset" for part in call.args]
    sizes = [tensor.shape[0] for part in data for tensor in diagnosis.bound_to(part) if tensor.shape]
    for call in makers:
        weights = [tensor for tensor in diagnosis.bound_to(call.args[0]) if len(tensor.shape) == 1]
        drawn = [op for op in diagnosis.ops_named(("multinomial",)) if diagnosis.is_inside_library(op)]
        if len(makers) > 1 or not weights or not drawn or not sizes or min(sizes) <= weights[0].shape[0]:
            continue
        yield diagnosis.finding(
            "samples_never_drawn",
            "error",
            call,
            tensors=(weights[0].id,),
            name=code.short(call.args[0]),
            weights=str(weights[0].shape[0]),
            last=str(weights[0].shape[0] - 1),
            samples=str(min(sizes)),
        )
