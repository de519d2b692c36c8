"""Which samples a step sees: the first batch again and again, a few of them alone; rows and labels in different
orders."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from engine.findings.diagnosis import (
    Diagnosis,
    extent,
    is_alike,
    line,
    near,
    number,
    says,
    times,
)
from engine.findings.losses import WITH_TARGETS
from engine.program.names import called, dotted, names_read, plain_names
from engine.program.tree import assigned, covers
from engine.trace import Batch, Finding, Op, Span, Tensor

HELD_AGAINST = (*WITH_TARGETS, "sub", "rsub")
SEEDING = ("seed", "set_state", "setstate", "RandomState", "default_rng", "Random")
PAIRING = ("TensorDataset", "train_test_split")
"""Calls that take the rows of several arrays for ones that belong together."""
MOST_BACK = 12
LEAST_STEPS = 3
OFTEN = 5
"""How many times an epoch draws each sample on average, that it should not be a sample of them all."""


def first_batch_again(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`next(iter(loader))` in the loop, or slices that do not follow its counter: each step sees the first batch."""
    code = diagnosis.code
    passes = (code.at(pass_.span) for pass_ in diagnosis.trace.passes if diagnosis.steps)
    trained = {loop for backward in passes if backward is not None for loop in [*code.loops(backward)][:1]}
    whole = {dotted(loop.iter) for loop in trained if isinstance(loop, ast.For)}
    for node in (node for node in code.nodes if isinstance(node, ast.Call | ast.Subscript) and trained):
        loop = next(iter(code.loops(node)), None)
        is_given = any(isinstance(each, ast.Yield) and node in ast.walk(each) for each in code.around(node))
        if not isinstance(loop, ast.For) or not (loop in trained or is_given):
            continue
        is_same = _restarts(diagnosis, node, dotted(loop.target)) or _stays(diagnosis, loop, node)
        if is_same and whole.isdisjoint(names_read(node)) and not _is_evaluation(diagnosis, node):
            trained.discard(loop)
            yield diagnosis.warning(
                "first_batch_again",
                node,
                loop_line=str(loop.lineno),
                first=_begun_anew(node) if isinstance(node, ast.Call) else dotted(loop.target),
            )


def _is_evaluation(diagnosis: Diagnosis, node: ast.expr) -> bool:
    """Whether it stands where the program has switched recording off."""
    switch = diagnosis.switch_over(node)
    return switch is not None and called(switch) != "set_grad_enabled"  # which may switch it on


def _restarts(diagnosis: Diagnosis, node: ast.expr, counter: str) -> bool:
    """`next(iter(loader))` of a loader that does not shuffle, and has more rows than were ever asked for; `next` of a
    generator that each turn makes anew, or a function that is told the turn, when both give the same rows again."""
    match node:
        case ast.Call(func=ast.Name("next"), args=[ast.Call(func=ast.Name("iter"), args=[ast.Name() as loader])]):
            made = diagnosis.value_of(dotted(loader))
            is_loader = isinstance(made, ast.Call) and called(made) == "DataLoader"
            in_order = is_loader and isinstance(made, ast.Call) and says(made, "shuffle") in ("", "False")
            return in_order and _leaves_rows(diagnosis, diagnosis.code.span(node))
        case ast.Call(func=ast.Name("next"), args=[ast.Call()]):
            return _gives_the_same(diagnosis, _begun_anew(node), ast.Yield)
        case ast.Call(func=ast.Name(name)) if counter and counter in plain_names(node.args):
            return _gives_the_same(diagnosis, name, ast.Return)
    return False


def _begun_anew(call: ast.Call) -> str:
    """What a turn of a loop calls for its batch: `batches` in `next(batches())` and `next(iter(batches()))`."""
    inner = call.args[0] if called(call) in ("next", "iter") and call.args else None
    return _begun_anew(inner) if isinstance(inner, ast.Call) else called(call)


def _gives_the_same(diagnosis: Diagnosis, name: str, gives: type[ast.Yield | ast.Return]) -> bool:
    """Whether all that a function gives each time are the same first rows of tensors whose others nobody takes."""
    code = diagnosis.code
    own = [function for function in code.functions if function.name == name]
    given = [each.value for each in (ast.walk(own[0]) if len(own) == 1 else ()) if isinstance(each, gives)]
    parts = [part for each in given for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    taken = [diagnosis.ops_at(code.span(part)) if isinstance(part, ast.Subscript) else [] for part in parts]
    return bool(taken) and all(len(ops) >= LEAST_STEPS and _are_first_rows(diagnosis, ops) for ops in taken)


def _are_first_rows(diagnosis: Diagnosis, ops: Sequence[Op]) -> bool:
    tensors, made = {op.inputs for op in ops}, diagnosis.output_of(ops[0])
    whole = diagnosis.input_of(ops[0]) if len(tensors) == 1 and len(ops[0].inputs) == 1 else None
    every = [op for op in diagnosis.takers.get(whole.id, ()) if op.name == "getitem"] if whole is not None else []
    is_part = whole is not None and made is not None and made.shape[:1] < whole.shape[:1]
    return is_part and len({op.arguments[-1].text for op in every}) == 1


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
    """The first rows of data in a loop over where batches of as many begin, whose counter nothing in it reads."""
    counter = dotted(loop.target)
    match loop.iter, node:
        case ast.Call(func=ast.Name("range"), args=[_, _, step]), ast.Subscript(
            slice=ast.Slice(upper=ast.expr() as end)
        ) if counter and ast.dump(step) == ast.dump(end):
            pass
        case _:
            return False
    names = [name for body in loop.body for name in ast.walk(body) if isinstance(name, ast.Name)]
    read = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    return counter not in read and len(diagnosis.ops_at(diagnosis.code.span(node))) >= LEAST_STEPS


def shuffled_apart(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Predictions from rows in one random order compared with labels in another."""
    for op in diagnosis.ops_named((*HELD_AGAINST, "mul")) if any(diagnosis.ops_named(("randperm",))) else ():
        makers = (diagnosis.maker.get(each) for each in op.inputs if op.name == "mul")
        if op.name == "mul" and not any(maker is not None and maker.name == "log_softmax" for maker in makers):
            continue
        yield from _shuffled_alone(diagnosis, op)
        sides = [_orders(diagnosis, side) for side in op.inputs[:2]] if op.iteration < 2 else []
        both = [drawn.id for drawn in sides[0] if drawn in sides[-1]] if len(sides) == 2 else []
        sides = [[drawn for drawn in side if drawn.id not in both] for side in sides]
        if [len(side) for side in sides] != [1, 1] or sum(map(diagnosis.is_tracked, op.inputs[:2])) != 1:
            continue
        (first,), (second,) = sides
        orders = [diagnosis.tensors[drawn.outputs[0]] for drawn in (first, second)]
        earlier, later = sorted((first, second), key=lambda drawn: diagnosis.op_at[drawn.id])
        if orders[0].shape != orders[1].shape or _is_same(diagnosis, *orders):
            continue
        if not all(_keeps_rows(diagnosis, side) for side in op.inputs[:2]):
            continue
        if first.span == second.span and _in_different_steps(diagnosis, earlier, later):
            continue
        yield diagnosis.finding(
            "shuffled_apart",
            "error",
            later.span,
            tensors=(first.outputs[0], second.outputs[0]),
            rows=times(orders[0]),
            is_one_line=str(int(line(earlier.span) == line(later.span))),
            first_line=line(earlier.span),
            second_line=line(later.span),
            loss_line=line(op.span),
        )


class _Shuffle(NamedTuple):
    """What put the rows of an array into a random order, and the call that drew it."""

    name: str
    statement: ast.stmt | None
    draw: ast.Call
    is_picked: bool = False
    """They were picked by an order of their own, and not moved where they are."""


def shuffled_by_numpy(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`np.random.shuffle(images)` and then `np.random.shuffle(labels)`, or each indexed with a `permutation` of its
    own, which are handed over together or meet in a loss."""
    code = diagnosis.code
    for first, second in pairwise(sorted(_shuffles(diagnosis), key=lambda each: each.draw.lineno)):
        one, other = first.name, second.name
        is_later = first.statement is second.statement or code.follows(first.statement, second.statement)
        if one == other or first.draw is second.draw or not is_later or not diagnosis.has_run(second.draw):
            continue
        last = second.statement.lineno if second.statement is not None else 0
        later = [call for call in code.calls if call.lineno > last]
        if first.is_picked or second.is_picked:  # as rows to train with and rows to test with are, in one call
            later = [call for call in later if called(call) in PAIRING]
        meet = any({one, other} <= {*names_read(call)} for call in later)
        if not _is_same_draw(diagnosis, first, second) and (
            meet or _are_held_together(diagnosis, one, other, second.draw)
        ):
            draws = (first.draw, second.draw)
            begin, end = draws if code.statement(draws[0]) is code.statement(draws[1]) else map(code.statement, draws)
            yield diagnosis.warning(
                "shuffled_by_numpy",
                end,
                name=one,
                other=other,
                first=code.short(begin) if begin is not None else "",
                first_line=line(code.span(first.draw)),
                code=code.short(end) if end is not None else "",
            )


def _shuffles(diagnosis: Diagnosis) -> Iterator[_Shuffle]:
    code = diagnosis.code
    for call in code.calls:
        if called(call) == "shuffle" and len(plain_names(call.args)) == 1:
            yield _Shuffle(dotted(call.args[0]), code.statement(call), call)
    for binding in code.bindings:
        for target, value in assigned(binding):
            match value:
                case ast.Subscript(value=rows, slice=ast.Tuple(elts=[order, *_]) | order):
                    draw = diagnosis.value_of(dotted(order)) if isinstance(order, ast.Name) else order
                case ast.Call(args=[rows]):
                    draw = value
                case _:
                    continue
            if isinstance(draw, ast.Call) and called(draw) == "permutation" and dotted(target) and dotted(rows):
                yield _Shuffle(dotted(target), binding, draw, is_picked=True)


def _is_same_draw(diagnosis: Diagnosis, *shuffles: _Shuffle) -> bool:
    """Whether two orders may be the same one: each drawn by a generator that was given the same seed."""
    first, second = (_seeding(diagnosis, each.draw) for each in shuffles)
    if first is second:
        return False
    told = [[diagnosis.code.text(given) for given in each.args] for each in (first, second) if each is not None]
    is_known = len(told) == 2 and all(map(_is_number, told[0] + told[1]))
    return not is_known or told[0] == told[1]


def _is_number(text: str) -> bool:
    return number(text) is not None


def _seeding(diagnosis: Diagnosis, draw: ast.Call) -> ast.Call | None:
    """The call that made the generator of a draw, or else the last one above it that seeded one."""
    source = draw.func.value if isinstance(draw.func, ast.Attribute) else None
    made = (
        source if isinstance(source, ast.Call) else diagnosis.value_of(dotted(source)) if source is not None else None
    )
    if isinstance(made, ast.Call) and called(made) in SEEDING:
        return made
    above = (each for each in diagnosis.code.calls if called(each) in SEEDING and each.lineno <= draw.lineno)
    return max(above, key=lambda each: each.lineno, default=None)


def _are_held_together(diagnosis: Diagnosis, one: str, other: str, after: ast.Call) -> bool:
    """Whether a loss holds predictions from the rows of one array against those of another, each made into tensors
    below a line."""
    made = [_made_of_array(diagnosis, name, after) for name in (one, other)]
    for op in diagnosis.ops_named(WITH_TARGETS) if all(made) else ():
        sides = sorted(op.inputs[:2], key=diagnosis.is_tracked) if op.iteration < 2 else []
        if len(sides) != 2 or list(map(diagnosis.is_tracked, sides)) != [False, True]:
            continue
        behind = [{maker.id for maker in diagnosis.makers_behind([side])} for side in sides]
        met = [[not each.isdisjoint(own) for own in made] for each in behind]
        if met in ([[True, False], [False, True]], [[False, True], [True, False]]):
            return True
    return False


def _made_of_array(diagnosis: Diagnosis, name: str, after: ast.Call) -> set[str]:
    """The ops that made tensors of an array, or of what was named of it, below a line of the same function."""
    code = diagnosis.code
    names, function = {name}, code.function(after)
    for binding in code.bindings:
        if binding.lineno > after.lineno and code.function(binding) is function:
            names |= {dotted(target) for target, value in assigned(binding) if names & _rows_read(value)} - {""}
    calls = ((op, code.call_at(op.span)) for op in diagnosis.trace.ops if not op.inputs)
    below = ((op, call) for op, call in calls if call is not None and call.lineno > after.lineno)
    return {op.id for op, call in below if names & _rows_read(call)}


def _rows_read(node: ast.AST) -> set[str]:
    """The names that an expression reads more of than their lengths."""
    sizes = (each for each in ast.walk(node) if isinstance(each, ast.Call) and called(each) == "len")
    counted = {inner for size in sizes for inner in ast.walk(size)}
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each not in counted}


def loaders_shuffled_apart(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Predictions from the rows of one loader compared with the labels of another, each in an order of its own."""
    alone = {batch.tensors[0]: batch for batch in diagnosis.trace.batches if len(batch.tensors) == 1}
    losses = WITH_TARGETS if len({batch.loader for batch in alone.values()}) > 1 else ()
    for op in diagnosis.ops_named(losses):
        sides = sorted(op.inputs[:2], key=diagnosis.is_tracked) if op.iteration < 2 else []
        label = alone.get(sides[0]) if len(sides) > 1 and diagnosis.reaches_a_pass(op) else None
        behind = near(sides[1:], diagnosis.made_from) if label is not None else ()
        rows = list({batch.loader: batch for each in behind if (batch := alone.get(each)) is not None}.values())
        if label is None or len(rows) != 1 or rows[0].loader == label.loader or rows[0].indices == label.indices:
            continue
        orders = [_order(diagnosis, batch) for batch in (rows[0], label)]
        if orders[0] == orders[1] or sorted(orders[0]) != sorted(orders[1]):
            continue
        yield diagnosis.finding(
            "loaders_shuffled_apart",
            "error",
            label.span,
            tensors=(rows[0].tensors[0], label.tensors[0]),
            name=diagnosis.say(label.tensors[0]),
            first_rows=", ".join(map(str, rows[0].indices[:4])),
            rows=", ".join(map(str, label.indices[:4])),
            loss_line=line(op.span),
        )


def _order(diagnosis: Diagnosis, batch: Batch) -> list[str]:
    """All that a loader handed out in the epoch of a batch, in its order."""
    same = (each for each in diagnosis.trace.batches if (each.loader, each.epoch) == (batch.loader, batch.epoch))
    return [str(index) for each in same for index in each.indices]


def _shuffled_alone(diagnosis: Diagnosis, op: Op) -> Iterator[Finding]:
    """Predictions from rows that were put into another order, held against targets that were made of the same rows, or
    of as many, in the old one."""
    sides = sorted(op.inputs[:2], key=diagnosis.is_tracked, reverse=True) if len(op.inputs) > 1 else ["", ""]
    drawn = [_orders(diagnosis, side) for side in sides]
    at = next((at for at in (0, 1) if len(drawn[at]) == 1 and not drawn[1 - at]), None)
    if at is None or not diagnosis.is_tracked(sides[0]) or diagnosis.is_tracked(sides[1]):
        return
    order, made = drawn[at][0].outputs[0], list(diagnosis.makers_behind([sides[at]]))
    sorts = [each for each in made if each.name in ("getitem", "index_select") and each.inputs[1:] == (order,)]
    size = diagnosis.elements(order)
    shape = diagnosis.tensors[sorts[0].inputs[0]].shape if len(sorts) == 1 else ()
    if shape[:1] != (size,) or shape.count(size) > 1:  # else the order may be that of another axis
        return
    rows = sorts[0].inputs[0]
    is_read_too = any({rows, order} & {*each.inputs} for each in made if each is not sorts[0])  # to put them back, say
    behind = set(near([sides[1 - at]], diagnosis.made_from))
    others = [diagnosis.tensors[each] for each in behind if each in diagnosis.tensors]
    ranges = (extent(each) for each in others if each.shape[:1] == (size,))
    if (
        is_read_too
        or not _keeps_rows(diagnosis, sides[at])
        or not any(known is not None and known[0] < known[1] for known in ranges)
    ):
        return
    yield diagnosis.warning(
        "shuffled_alone",
        sorts[0],
        tensors=(rows, sides[1 - at]),
        name=diagnosis.say(rows),
        targets=diagnosis.say(sides[1 - at]),
        rows=str(size),
        loss_line=line(op.span),
    )


def _is_same(diagnosis: Diagnosis, first: Tensor, second: Tensor) -> bool:
    """Whether two random orders are the same one, drawn from the same seed; of a long one that is not known."""
    if first.data is not None:
        return is_alike(first, second)
    return sum(called(call) == "manual_seed" for call in diagnosis.code.calls) > 1


def _in_different_steps(diagnosis: Diagnosis, *ops: Op) -> bool:
    """Whether a pass lies between ops."""
    first, last = (diagnosis.op_step[op.id] for op in ops)
    return any(first < begin < last for begin in diagnosis.pass_step.values())


def _keeps_rows(diagnosis: Diagnosis, side: str) -> bool:
    """Whether no mean or sum of all rows was made on the way to a side of a loss."""
    sums = (op for op in diagnosis.back(side, MOST_BACK) if op.name in ("mean", "sum"))
    ends = ((diagnosis.tensors[op.inputs[0]].shape, diagnosis.tensors[op.outputs[0]].shape) for op in sums)
    return all(given[:1] == made[:1] for given, made in ends)


def _orders(diagnosis: Diagnosis, tensor: str) -> list[Op]:
    """The random orders that data behind a tensor was put into."""
    drawn = (maker for maker in diagnosis.makers_behind([tensor]) if maker.name == "randperm")
    return list({maker.id: maker for maker in drawn}.values())


def few_samples_drawn(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A sampler with a weight for each class, where it takes one for each sample: it draws the first samples alone."""
    calls = [call for call in diagnosis.code.calls if called(call) == "WeightedRandomSampler" and call.args]
    drawn: dict[tuple[int, int], list[int]] = defaultdict(list)
    for batch in diagnosis.trace.batches if calls else ():
        drawn[batch.loader, batch.epoch] += [place for place in batch.indices if isinstance(place, int)]
    few = [places for places in drawn.values() if len(places) >= OFTEN * len(set(places)) > 0]
    few = [places for places in few if set(places) == set(range(max(places) + 1))]
    spans = {batch.span for batch in diagnosis.trace.batches if few and batch.span is not None}
    if any(_leaves_rows(diagnosis, span) for span in spans) and diagnosis.has_run(calls[0]):
        yield diagnosis.warning(
            "few_samples_drawn",
            calls[0],
            weights=diagnosis.code.text(calls[0].args[0]),
            drawn=str(len(few[0])),
            count=str(len(set(few[0]))),
        )
