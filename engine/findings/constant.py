"""Results that do not depend on what they should: numbers that are the same whatever the model says, data that is the
same in each step, rows and labels that were put in different orders."""

import ast
import re
from collections.abc import Iterator
from itertools import islice

from engine.findings.diagnosis import Diagnosis, argument, fed_by, line, once_a_line, times, walk
from engine.findings.gradient_flow import flat_ops
from engine.findings.losses import LOSSES, MADE_BY_LAYERS, PASSING, SOFTMAXES
from engine.findings.optimizers import receiver
from engine.program.names import called, dotted, keyword, names_read
from engine.program.tree import Loop, covers
from engine.trace import Finding, Op, Pass, Span, Tensor, Update

LAYERS = MADE_BY_LAYERS | {"conv1d", "conv2d"}
HANDS_ON = PASSING | frozenset((*SOFTMAXES, "sigmoid", "tanh", "relu", "leaky_relu"))
CLASS_LOSSES = ("cross_entropy", "nll_loss")
CHOICES = ("argmax", "max")
COMPARING = (*LOSSES, "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "sub", "rsub")
LEAST_STEPS = 3
MOST_BEHIND = 400


@once_a_line
def one_class_alone(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A softmax, an argmax or a class loss over the one score that a layer gives: always 1, 0 and 0."""
    for op in diagnosis.ops_named((*SOFTMAXES, *CHOICES, *CLASS_LOSSES)):
        given = diagnosis.input_of(op) if not op.iteration else None
        if given is None or not given.shape or not _is_from_layer(diagnosis, given) or given.shape[0] < 2:
            continue
        axis = 1 if op.name in CLASS_LOSSES else _axis(op, given)
        if axis is None or axis >= len(given.shape) or given.shape[axis] != 1 or axis == 0:
            continue
        if op.name == "max" and diagnosis.takers.get(op.outputs[0]):
            continue  # a pooling
        if any(other.shape[axis : axis + 1] != (1,) for other in _inputs_at(diagnosis, op)):
            continue
        is_loss, is_choice = op.name in CLASS_LOSSES, op.name in CHOICES
        yield diagnosis.finding(
            "one_class_loss" if is_loss else "one_class_choice" if is_choice else "one_class_softmax",
            "error",
            op,
            tensors=(given.id, *op.outputs[-1:]),
            op=op.name,
            name=diagnosis.say(given.id),
            shape=times(given),
            axis=str(axis),
            value="0" if op.name != "softmax" else "1",
        )


def _is_from_layer(diagnosis: Diagnosis, tensor: Tensor) -> bool:
    """Whether a layer gave it, seen through what hands values on."""
    maker = diagnosis.maker.get(tensor.id)
    while maker is not None and maker.name in HANDS_ON and maker.inputs:
        maker = diagnosis.maker.get(maker.inputs[0])
    return maker is not None and maker.name in LAYERS


def _axis(op: Op, given: Tensor) -> int | None:
    text = argument(op, "dim", 1) or argument(op, "axis")
    return int(text) % len(given.shape) if re.fullmatch(r"-?\d+", text) else None


def _inputs_at(diagnosis: Diagnosis, op: Op) -> Iterator[Tensor]:
    """What ops of that name were given at that place."""
    for other in diagnosis.ops_at(op.span):
        given = diagnosis.input_of(other) if other.name == op.name else None
        if given is not None:
            yield given


def losses_that_stay(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A loss with exactly the same value at every step, to whose parameters nothing but zeros came back."""
    places: dict[Span | None, list[Pass]] = {}
    for pass_ in diagnosis.trace.passes if diagnosis.steps else ():
        if pass_.kind == "backward" and not pass_.failed and len(pass_.roots) == 1:
            places.setdefault(pass_.span, []).append(pass_)
    for span, passes in places.items():
        if any(one_class_alone(diagnosis)) or any(flat_ops(diagnosis)):
            return  # that says why
        values = {point.loss for point in diagnosis.trace.curve if point.span == span}
        given = [diagnosis.tensors.get(added.delta or "") for pass_ in passes for added in pass_.accumulations]
        if len(passes) < LEAST_STEPS or len(values) != 1 or not given or not all(map(_is_zero, given)):
            continue
        yield diagnosis.warning(
            "loss_stays",
            span,
            tensors=tuple(root.tensor for root in passes[0].roots if root.tensor is not None),
            name=diagnosis.say(passes[0].roots[0].tensor),
            value=f"{next(iter(values))}",
            count=str(len(passes)),
            code=diagnosis.code.excerpt(span),
        )


def _is_zero(tensor: Tensor | None) -> bool:
    if tensor is None:
        return False
    return not any(tensor.data) if tensor.data is not None else tensor.summary is not None and tensor.summary.norm == 0


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
                    code.span(node),
                    code=code.short(node),
                    loop_line=str(loop.lineno),
                    first="iter" if isinstance(node, ast.Call) else dotted(loop.target),
                )
                break


def _restarts(diagnosis: Diagnosis, node: ast.expr) -> bool:
    """`next(iter(loader))` of a loader that does not shuffle, and has more rows than were ever asked for."""
    match node:
        case ast.Call(func=ast.Name("next"), args=[ast.Call(func=ast.Name("iter"), args=[loader])]):
            made = [
                binding.value for binding in diagnosis.code.bindings if dotted(binding.targets[0]) == dotted(loader)
            ]
            word = keyword(made[0], "shuffle") if len(made) == 1 and isinstance(made[0], ast.Call) else None
            is_loader = len(made) == 1 and isinstance(made[0], ast.Call) and called(made[0]) == "DataLoader"
            in_order = is_loader and (word is None or ast.unparse(word.value) == "False")
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
    match loop.iter:
        case ast.Call(func=ast.Name("range"), args=[_, _, _]):
            pass
        case _:
            return False
    counter = dotted(loop.target)
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice) or not counter:
        return False
    names = [name for body in loop.body for name in ast.walk(body) if isinstance(name, ast.Name)]
    read = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    return counter not in read and len(diagnosis.ops_at(diagnosis.code.span(node))) >= LEAST_STEPS


def settings_without_effect(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`opt.lr = 0.01`: Python makes an attribute; the optimizer reads its `param_groups`."""
    code = diagnosis.code
    steps = {receiver(diagnosis, step): step for step in reversed(diagnosis.steps)}
    types = {definition.name for definition in code.nodes if isinstance(definition, ast.ClassDef)}
    for node in code.nodes:
        if not isinstance(node, ast.Assign | ast.AugAssign):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        step = _optimizer(diagnosis, steps, target.value) if isinstance(target, ast.Attribute) else None
        if step is None or not isinstance(target, ast.Attribute) or step.optimizer in types or not step.settings:
            continue
        option = {"learning_rate": "lr"}.get(target.attr, target.attr)
        if option not in step.settings[0] or node.lineno in diagnosis.trace.lines_not_run:
            continue
        name = code.text(target.value)
        if any(attribute.attr == "param_groups" for attribute in code.attributes) and any(
            code.text(read) == code.text(target) and isinstance(read.ctx, ast.Load) for read in code.attributes
        ):
            continue  # the program hands it on itself
        yield diagnosis.finding(
            "setting_without_effect",
            "error",
            code.span(node),
            fix=(code.replace(target, f'{name}.param_groups[0]["{option}"]'),) if len(step.settings) == 1 else (),
            name=name,
            attribute=target.attr,
            option=option,
            value=step.settings[0][option],
            code=code.short(node),
        )


def _optimizer(diagnosis: Diagnosis, steps: dict[str, Update], node: ast.expr) -> Update | None:
    """A step of the optimizer that an expression names, also as a parameter of the function it is in."""
    name, function = dotted(node), diagnosis.code.function(node)
    taken = [each.arg for each in function.args.args] if function is not None else []
    if name in steps or name not in taken or function is None:
        return steps.get(name)
    calls = [call for call in diagnosis.code.calls if called(call) == function.name]
    given = [dotted(call.args[at]) for call in calls if (at := taken.index(name)) < len(call.args)]
    return next((steps[each] for each in given if each in steps), None)


@once_a_line
def shuffled_apart(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Predictions from rows in one random order compared with labels in another."""
    for op in diagnosis.ops_named(COMPARING) if any(diagnosis.ops_named(("randperm",))) else ():
        sides = [_orders(diagnosis, side) for side in op.inputs[:2]] if op.iteration < 2 else []
        if len(sides) < 2 or len(sides[0]) != 1 or len(sides[1]) != 1 or sides[0] == sides[1]:
            continue
        (first,), (second,) = sides
        orders = [diagnosis.tensors[drawn.outputs[0]] for drawn in (first, second)]
        tracked = sum(map(diagnosis.is_tracked, op.inputs[:2]))
        if (
            tracked != 1
            or first.span == second.span
            or orders[0].shape != orders[1].shape
            or _is_same(diagnosis, *orders)
        ):
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
            code=diagnosis.code.excerpt(later.span),
        )


def _is_same(diagnosis: Diagnosis, first: Tensor, second: Tensor) -> bool:
    """Whether two random orders are the same one, drawn from the same seed; of a long one that is not known."""
    if first.data is not None:
        return first.data == second.data
    return sum(called(call) == "manual_seed" for call in diagnosis.code.calls) > 1


def _orders(diagnosis: Diagnosis, tensor: str) -> list[Op]:
    """The random orders that data behind a tensor was put into."""
    found: dict[str, Op] = {}
    for value in islice(walk([tensor], diagnosis.made_from), MOST_BEHIND):
        maker = diagnosis.maker.get(value)
        if maker is not None and maker.name == "randperm":
            found[maker.id] = maker
    return list(found.values())


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
        if (
            zero is None
            or len(backward) < 2 * len(diagnosis.steps)
            or not all(moved.issuperset(fed_by(p)) for p in backward)
        ):
            continue
        yield diagnosis.warning(
            "zeroed_in_every_part",
            zero.span,
            code=code.excerpt(zero.span),
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
        if len(loops) < 2 or steps[0].lineno in diagnosis.trace.lines_not_run or code.enclosing(steps[0], ast.If):
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
            code.span(steps[0]),
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
        case ast.For(iter=ast.Call(func=ast.Name("range"), args=[last])):
            return _number(diagnosis, last)
        case ast.For(iter=ast.Call(func=ast.Name("range"), args=[ast.Constant(value=int() as first), last])):
            end = _number(diagnosis, last)
            return None if end is None else end - first
    return None


def _number(diagnosis: Diagnosis, node: ast.expr | None) -> int | None:
    """A whole number as written, or of a name that is bound to it once; of a list its largest."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.List(elts=items) if items:
            known = [each for item in items if (each := _number(diagnosis, item)) is not None]
            return max(known, default=None)
        case ast.Name(id=name) if name in names_read(node):
            bound = [each.value for each in diagnosis.code.bindings if dotted(each.targets[0]) == name]
            return _number(diagnosis, bound[0]) if len(bound) == 1 else None
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
            code.span(call),
            tensors=(weights[0].id,),
            name=code.short(call.args[0]),
            weights=str(weights[0].shape[0]),
            last=str(weights[0].shape[0] - 1),
            samples=str(min(sizes)),
        )
