"""Value functions: targets and advantages that are trained although they are only to be aimed at, values of actions
that were not done, and returns in the wrong order."""

import ast
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from engine.findings.diagnosis import (
    LEAST_TURNS,
    Diagnosis,
    argument,
    by_number,
    extent,
    grouped,
    line,
    near,
    number,
    numbers_of,
    size_of,
    times,
)
from engine.findings.losses import ELEMENTWISE_LOSSES, MADE_BY_LAYERS, PASSING
from engine.findings.shared_data import DRAWS
from engine.ops import DETACHES
from engine.program.edits import Edits, in_line
from engine.program.names import called, dotted, names_read
from engine.trace import Finding, ModuleCall, Op, Tensor

MOST_BEHIND = 40
BESIDE = 6
"""Among how many ops before and after one what was made beside it is looked for."""
LEAST_PARTS = 4
"""A state, an action, a reward and how it went on."""
_SUMMING = frozenset("add sub rsub".split())
FACTORS = ("mul", "squeeze", "unsqueeze", "view", "reshape", "flatten")
"""Ops between a value and its share in a target."""


def targets_that_learn(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A value held against reward + gamma * the next value of the same model, with a gradient on both sides."""
    for op in diagnosis.trace.ops:
        if (op.name not in ELEMENTWISE_LOSSES and op.name != "sub") or len(op.inputs) != 2:
            continue
        for target, other in (op.inputs[::-1], op.inputs) if diagnosis.reaches_a_pass(op) else ():
            future, value = _future(diagnosis, target), _call(diagnosis, other)
            call = _call(diagnosis, future) if future is not None else None
            if call is None or value is None or call.module != value.module or call.id == value.id:
                continue
            yield diagnosis.warning(
                "target_learns",
                op,
                tensors=(target, other),
                fix=_detached(diagnosis, op, target),
                target=diagnosis.say(target),
                value=diagnosis.say(other),
                model=diagnosis.modules[call.module].path,
                next_line=line(call.span),
            )
            break


def _future(diagnosis: Diagnosis, target: str) -> str | None:
    """What a target adds to a reward, before it was discounted."""
    maker = diagnosis.maker.get(target)
    tracked = [given for given in maker.inputs if diagnosis.is_tracked(given)] if maker is not None else []
    if maker is None or maker.name != "add" or len(maker.inputs) != 2 or len(tracked) != 1:
        return None
    tensor, is_discounted = tracked[0], False
    while (maker := diagnosis.maker.get(tensor)) is not None and maker.name in FACTORS:
        tracked = [given for given in maker.inputs if diagnosis.is_tracked(given)]
        if len(tracked) != 1:
            return None
        tensor = tracked[0]
        is_discounted |= maker.name == "mul" and 0 < (number(argument(maker, "other", 1)) or 0) <= 1
    return tensor if is_discounted else None


def _call(diagnosis: Diagnosis, tensor: str) -> ModuleCall | None:
    """The call of a model whose result this is, picked from or as it is."""
    for behind in near([tensor], lambda at: diagnosis.made_from(at)[:1]):
        maker = diagnosis.maker.get(behind)
        if maker is not None and maker.module is not None:
            return diagnosis.call_around(maker)
    return None


def _detached(diagnosis: Diagnosis, op: Op, target: str) -> Edits:
    """`.detach()` after the target, where the loss names it."""
    code = diagnosis.code
    call = code.call_at(op.span)
    written = call.args[op.inputs.index(target)] if call is not None and len(call.args) >= 2 else None
    return (code.after(written, ".detach()"),) if isinstance(written, ast.Name) else ()


def best_taken_for_the_one_done(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The highest value of a state held against reward + gamma * the highest value of the next: what was received is
    for the action that was done, which need not be the best one."""
    for op in diagnosis.ops_named((*ELEMENTWISE_LOSSES, "sub")):
        for target, value in (
            (op.inputs, op.inputs[::-1]) if len(op.inputs) == 2 and diagnosis.reaches_a_pass(op) else ()
        ):
            best = diagnosis.origin(value, PASSING) if diagnosis.is_tracked(value) else None
            call = _call(diagnosis, best.inputs[0]) if best is not None and _is_best(best) else None
            behind = list(diagnosis.makers_behind([target])) if call is not None else []
            is_discounted = any(
                each.name == "mul" and 0 < (number(argument(each, "other", 1)) or 0) < 1 for each in behind
            )
            if best is None or call is None or not is_discounted or not any(map(_is_best, behind)):
                continue
            yield diagnosis.warning(
                "best_for_done",
                op,
                tensors=(value, target),
                value=diagnosis.say(value),
                target=diagnosis.say(target),
                model=diagnosis.modules[call.module].path,
                best_line=line(best.span),
            )
            break


def _is_best(op: Op) -> bool:
    """Whether it picks the largest number along an axis."""
    return op.name == "amax" or (op.name == "max" and len(op.outputs) == 2)


def advantages_that_learn(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The logarithm of a probability times return - value, where the value is trained through that product too."""
    moved = diagnosis.held | diagnosis.stepped
    for op in diagnosis.ops_named(("mul",)):
        if len(op.inputs) != 2 or not diagnosis.reaches_a_pass(op):
            continue
        for advantage, probability in (op.inputs, op.inputs[::-1]):
            if not diagnosis.is_tracked(advantage) or not _is_log_prob(diagnosis, probability):
                continue
            if not any(_is_gain(diagnosis, maker) for maker in _near(diagnosis, advantage)):
                continue
            behind = set(diagnosis.leaves_behind([advantage])) - set(diagnosis.leaves_behind([probability]))
            own = sorted((leaf for leaf in behind if diagnosis.is_parameter(leaf) or leaf in moved), key=by_number)
            if not own:
                continue
            yield diagnosis.warning(
                "advantage_learns",
                op,
                tensors=(advantage, *own),
                advantage=diagnosis.say(advantage),
                leaves=diagnosis.say_all(own),
            )
            break


def _near(diagnosis: Diagnosis, tensor: str) -> Iterator[Op]:
    return islice(diagnosis.makers_behind([tensor]), MOST_BEHIND)


def _is_gain(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether it takes a learnt value from what was received, or from that and a later value."""
    if op.name != "sub" or len(op.inputs) != 2 or not any(map(diagnosis.is_tracked, op.inputs)):
        return False
    sums = (diagnosis.maker.get(given) for given in op.inputs)
    received = [
        *op.inputs,
        *(given for maker in sums if maker is not None and maker.name == "add" for given in maker.inputs),
    ]
    return not all(map(diagnosis.is_tracked, received))


def _is_log_prob(diagnosis: Diagnosis, tensor: str) -> bool:
    """Whether a value comes from `log_prob`, perhaps as a ratio."""
    calls = (diagnosis.code.call_at(maker.span) for maker in _near(diagnosis, tensor))
    return any(call is not None and called(call) == "log_prob" for call in calls)


def densities_of_each_part(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A log-probability of each part of an action, added to one value for each action, or taken from it."""
    for op in diagnosis.ops_named(("add", "sub")):
        pair = [diagnosis.tensors[given] for given in op.inputs if given in diagnosis.tensors]
        pair.sort(key=lambda given: given.shape[1:] != (1,))
        value, parts = pair if len(pair) == 2 else (None, None)
        if value is None or parts is None or len(parts.shape) != 2 or parts.shape[1] < 2:
            continue
        layer = diagnosis.origin(value.id, (*PASSING, *DETACHES, "minimum", "min", "mul"))
        is_one_each = value.shape == (parts.shape[0], 1) and value.shape[0] > 1
        density = _density(diagnosis, parts) if is_one_each else None
        if density is None or layer is None or layer.module is None or layer.name not in MADE_BY_LAYERS:
            continue
        yield diagnosis.warning(
            "density_of_each_part",
            density,
            tensors=(parts.id, value.id),
            parts=diagnosis.say(parts.id),
            shape=times(parts),
            value=diagnosis.say(value.id),
            value_shape=times(value),
            count=str(parts.shape[1]),
            used=diagnosis.code.excerpt(op.span),
            used_line=line(op.span),
        )


def _density(diagnosis: Diagnosis, parts: Tensor) -> Op | None:
    """What `log_prob` of a distribution of numbers gave, where a tensor was computed from it place by place."""

    def of_one_shape(tensor: str) -> Iterator[str]:
        return (each for each in diagnosis.made_from(tensor) if diagnosis.tensors[each].shape == parts.shape)

    for tensor in near([parts.id], of_one_shape):
        maker = diagnosis.maker.get(tensor)
        call = diagnosis.code.call_at(maker.span) if maker is not None and maker.name == "sub" else None
        if call is not None and called(call) == "log_prob":
            return maker
    return None


def ends_never_read(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A target reward + gamma * next value, beside flags of the same samples that nothing reads: the value of what
    comes after an end counts too."""
    for turns in grouped(diagnosis.ops_named(("add",)), lambda op: op.span).values():
        op = turns[0]
        reward, future = op.inputs if len(op.inputs) == 2 else ("", "")
        if _is_discounted(diagnosis, reward):
            reward, future = future, reward
        if not _is_discounted(diagnosis, future) or not _is_aimed_at(diagnosis, op):
            continue
        made = [diagnosis.origin(turn.inputs[op.inputs.index(reward)], FACTORS) for turn in turns]
        flags = _unread_flags(diagnosis, [maker for maker in made if maker is not None])
        if flags is not None:
            yield diagnosis.warning(
                "end_never_read",
                op,
                tensors=(*op.outputs[:1], flags),
                flags=diagnosis.say(flags),
                reward=diagnosis.say(reward),
                flags_line=line(diagnosis.maker[flags].span),
                times=diagnosis.counted(turns),
            )
            continue
        name = _unread_end(diagnosis, op, reward)
        stored = _stored_end(diagnosis, name) if name is not None else None
        if name is not None and stored is not None:
            yield diagnosis.warning(
                "end_left_out",
                op,
                tensors=(*op.outputs[:1], reward),
                reward=diagnosis.say(reward),
                flags=name.id,
                flags_line=str(name.lineno),
                stored=diagnosis.code.short(stored),
                stored_line=str(stored.lineno),
            )


def _is_discounted(diagnosis: Diagnosis, tensor: str) -> bool:
    """Whether it is a part of 1 of what a model gave, without gradient."""
    maker = diagnosis.maker.get(tensor)
    is_part = maker is not None and maker.name == "mul" and 0 < (number(argument(maker, "other", 1)) or 0) < 1
    for maker in diagnosis.back(tensor, MOST_BEHIND) if is_part else ():
        if maker.module is not None:
            return not diagnosis.is_tracked(tensor)
        if len(maker.inputs) != 1:  # something else says where the value counts
            return False
    return False


def _is_aimed_at(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether a loss holds values against it."""
    later = (
        taker
        for tensor in (*op.outputs, *diagnosis.made_of(op.outputs[0]))
        for taker in diagnosis.takers.get(tensor, ())
    )
    return any(taker.name in (*ELEMENTWISE_LOSSES, "sub") and diagnosis.reaches_a_pass(taker) for taker in later)


def _unread_flags(diagnosis: Diagnosis, rewards: Sequence[Op]) -> str | None:
    """Made as the rewards were, beside them: a tensor of zeros and ones that nothing took in any turn."""
    for at in range(1, BESIDE):
        for step in (at, -at):
            near_by = [diagnosis.op_at[op.id] + step for op in rewards]
            ops = [diagnosis.trace.ops[each] for each in near_by if 0 <= each < len(diagnosis.trace.ops)]
            made = [op.outputs[0] for op in ops if op.outputs and op.name == rewards[0].name]
            known = [{*numbers_of(diagnosis.tensors.get(each))} for each in made]
            is_flag = {0.0, 1.0} in known and all(each and each <= {0.0, 1.0} for each in known)
            is_flag &= not any(diagnosis.tensors[each].dtype.startswith("int") for each in made)
            alike = {op.span for op in ops} if is_flag and len(made) == len(rewards) else set()
            shapes = {diagnosis.tensors[each].shape for each in made} if len(alike) == 1 else set()
            is_beside = shapes == {diagnosis.tensors[op.outputs[0]].shape for op in rewards}
            if made and is_beside and not any(diagnosis.takers.get(each) for each in made):
                return made[0]
    return None


def _unread_end(diagnosis: Diagnosis, op: Op, reward: str) -> ast.Name | None:
    """A name beside that of the reward, among those that samples are taken apart into, which no line reads."""
    code, statement = diagnosis.code, diagnosis.code.statement_at(op.span)
    function = code.function(statement) if statement is not None else None
    maker = diagnosis.maker.get(reward)
    made = code.at(maker.span) if maker is not None else None
    asked = {diagnosis.say(reward), *(names_read(made) if made is not None else ())}
    here = [node for node in code.nodes if function is None or code.function(node) is function]
    read = {node.id for node in here if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in here:
        parts = node.elts if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store) else []
        names = [part for part in parts if isinstance(part, ast.Name)]
        loose = [name for name in names if name.id not in read and not name.id.startswith("_")]
        if LEAST_PARTS <= len(names) == len(parts) and asked & {name.id for name in names} and len(loose) == 1:
            return loose[0]
    return None


def _stored_end(diagnosis: Diagnosis, name: ast.Name) -> ast.expr | None:
    """What is stored for such a name, where the program asks that itself whether to go on."""
    code, unpacked = diagnosis.code, diagnosis.code.parents.get(name)
    if not isinstance(unpacked, ast.Tuple | ast.List):
        return None
    at, count = unpacked.elts.index(name), len(unpacked.elts)
    tests = [node.test for node in code.nodes if isinstance(node, ast.While | ast.If | ast.IfExp)]
    asked = {name for test in tests for name in _flags_of(test)}
    for call in code.calls:
        given = call.args[0].elts if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple) else call.args
        if isinstance(call.func, ast.Attribute) and len(given) == count and asked & names_read(given[at]):
            return given[at]
    return None


def _flags_of(test: ast.expr) -> Iterator[str]:
    """The names that a condition asks for yes or no."""
    match test:
        case ast.Name(name):
            yield name
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _flags_of(operand)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _flags_of(value)


def ratios_of_one(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`exp(new - old)` or `new / old` that is 1 in every turn, though steps lie between turns that score the same data:
    both come from the same weights."""
    for turns in grouped(diagnosis.ops_named(("exp", "div")), lambda op: op.span).values():
        if len(turns) < LEAST_TURNS or not all(_is_ratio_of_one(diagnosis, op) for op in turns):
            continue
        alike = [(one, other) for one, other in pairwise(turns) if _scores_the_same(diagnosis, one, other)]
        if len(alike) < 2:
            continue
        new, old = _compared(diagnosis, turns[0])
        yield diagnosis.warning(
            "ratio_of_one",
            turns[0],
            tensors=(turns[0].outputs[0], new, old),
            ratio=diagnosis.say(turns[0].outputs[0]),
            new=diagnosis.say(new),
            old=diagnosis.say(old),
            times=diagnosis.counted(turns),
            again=diagnosis.counted(alike),
        )


def _compared(diagnosis: Diagnosis, op: Op) -> tuple[str, ...]:
    """The two sides of a ratio, or of the difference whose exponential it is."""
    difference = diagnosis.maker.get(op.inputs[0]) if op.name == "exp" else op
    is_pair = difference is not None and difference.name in ("sub", "div") and len({*difference.inputs}) == 2
    return difference.inputs if difference is not None and is_pair else ()


def _is_ratio_of_one(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether it compares several numbers with others without gradient, all alike. `new - new.detach()` is there
    for its gradient, unless something clips it."""
    pair = _compared(diagnosis, op)
    cuts = (diagnosis.maker.get(given) for given in pair)
    is_own = any(cut is not None and cut.name in DETACHES and cut.inputs[:1] == pair[:1] for cut in cuts)
    is_clipped = any(taker.name in ("clamp", "clip") for made in op.outputs for taker in diagnosis.takers.get(made, ()))
    is_one = bool(pair) and extent(diagnosis.output_of(op)) == (1.0, 1.0) and diagnosis.elements(op.outputs[0]) > 1
    is_cut = sum(map(diagnosis.is_tracked, pair)) == 1 and diagnosis.reaches_a_pass(op)
    return is_one and is_cut and (is_clipped or (op.name == "exp" and not is_own))


def _scores_the_same(diagnosis: Diagnosis, one: Op, other: Op) -> bool:
    """Whether a step lies between two turns, and nothing that the later one scores was drawn or made since."""
    behind = list(near(other.inputs, diagnosis.made_from))
    first, last = (diagnosis.op_step.get(op.id, -1) for op in (one, other))
    steps = (step for step in diagnosis.moves if first < diagnosis.update_step.get(step.id, -1) < last)
    moved = {leaf for step in steps for leaf in diagnosis.changed_by(step)}
    makers = (diagnosis.maker.get(tensor) for tensor in behind)
    since = [maker for maker in makers if maker is not None and diagnosis.op_at[maker.id] > diagnosis.op_at[one.id]]
    is_fresh = any(not maker.inputs or maker.name in DRAWS for maker in since)
    return not is_fresh and not moved.isdisjoint(map(diagnosis.identity, behind))


def advantages_past_the_end(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A sum carried from turn to turn over the end of an episode, where the value of the next state counts for nothing:
    what it carries is of another episode."""
    code = diagnosis.code
    for turns in grouped(diagnosis.ops_named(("mul",)), lambda op: op.span).values():
        masked = [op for op in turns if _factor(diagnosis, op) == 0] if turns[0].span is not None else []
        if not masked or len(masked) == len(turns):
            continue
        carrying = (each for op in masked if _call(diagnosis, op.inputs[0]) for each in _carrying(diagnosis, op))
        carried = next(carrying, None)
        if carried is None or carried.span is None:
            continue
        product, weighed = code.at(masked[0].span), code.at(carried.span)
        factor = product.right if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult) else None
        yield diagnosis.warning(
            "advantage_past_the_end",
            carried,
            tensors=(carried.inputs[0], masked[0].inputs[0]),
            fix=_masked_too(diagnosis, product, weighed),
            value=diagnosis.say(masked[0].inputs[0]),
            masked_line=line(masked[0].span),
            mask=_in_brackets(diagnosis, factor) if factor is not None else "",
            is_written=str(int(factor is not None)),
        )


def _in_brackets(diagnosis: Diagnosis, node: ast.expr) -> str:
    """What is written there, as one factor of a product."""
    text = diagnosis.code.text(node)
    return text if isinstance(node, ast.Name | ast.Subscript | ast.Call | ast.Attribute) else f"({text})"


def _factor(diagnosis: Diagnosis, op: Op) -> float | None:
    """The number that an op takes another one times, where both are single numbers."""
    given, numbers = diagnosis.input_of(op), numbers_of(diagnosis.input_of(op, 1))
    if given is None or given.shape not in ((), (1,)):
        return None
    return numbers[0] if len(numbers) == 1 else number(argument(op, "other", 1))


def _carrying(diagnosis: Diagnosis, masked: Op) -> Iterator[Op]:
    """The products by which the sum that an op is a part of takes up what the same lines made a turn before."""
    sums = [masked]
    for _ in range(BESIDE):
        takers = diagnosis.takers.get(sums[-1].outputs[0], ())
        sums += [taker for taker in takers if taker.name in _SUMMING and taker.outputs][:1]
    again = {(op.name, op.span) for op in sums[1:]}
    pending: list[tuple[str, Op | None]] = [(given, None) for op in sums[1:] for given in op.inputs]
    own = {op.id for op in sums}
    for _ in range(MOST_BEHIND):
        tensor, product = pending.pop(0) if pending else ("", None)
        maker = diagnosis.maker.get(tensor)
        if maker is None or maker.id in own:
            continue
        if product is not None and (maker.name, maker.span) in again and size_of(diagnosis.tensors.get(tensor)):
            yield product
        elif maker.name == "mul" and _factor(diagnosis, maker):
            pending.append((maker.inputs[0], product or maker))
        elif maker.name in _SUMMING and product is None:
            pending += [(given, None) for given in maker.inputs]


def _masked_too(diagnosis: Diagnosis, product: ast.AST | None, weighed: ast.AST | None) -> Edits:
    """What takes the next value out put behind what is carried, where it can be read there."""
    code = diagnosis.code
    match product, weighed:
        case ast.BinOp(op=ast.Mult(), right=mask), ast.BinOp(op=ast.Mult()):
            places = [code.statement(weighed), code.statement(product)]
            block = code.block(places[0]) if places[0] is not None else []
            first, last = sorted(block.index(each) if each in block else -1 for each in places)
            nodes = (node for one in block[first:last] for node in ast.walk(one) if isinstance(node, ast.Name))
            stored = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
            if first >= 0 and names_read(mask).isdisjoint(stored):
                return (code.after(weighed, f" * {_in_brackets(diagnosis, mask)}"),)
    return ()


def returns_backwards(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`returns.append(R)` in a loop over the rewards from the end, where nothing turns the list round, or each turn of
    the loop does."""
    code = diagnosis.code
    turned = [node for node in code.nodes if _turns_round(node)]
    for loop in (node for node in code.nodes if isinstance(node, ast.For) and _turns_round(node.iter)):
        sums = [each for each in loop.body if isinstance(each, ast.Assign) and _is_summed_up(each, loop)]
        names = {dotted(each.targets[0]) for each in sums}
        for call in (node for node in ast.walk(loop) if isinstance(node, ast.Call) and called(node) == "append"):
            name = dotted(code.receiver(call))
            is_sum = len(call.args) == 1 and not names.isdisjoint(names_read(call.args[0]))
            within = [each for each in loop.body if isinstance(each, ast.Expr) and _is_reversed(each.value, name)]
            others = [node for node in turned if node not in [each.value for each in within]]
            if is_sum and name and others == [loop.iter] and diagnosis.has_run(call) and _weighs(diagnosis, name, loop):
                yield diagnosis.warning(
                    "returns_backwards",
                    within[0].value if within else call,
                    fix=_behind(diagnosis, within[0], loop) if len(within) == 1 else (),
                    name=name,
                    added=code.short(call),
                    loop_line=str(loop.lineno),
                    is_turned=str(int(bool(within))),
                )


def _is_reversed(node: ast.expr, name: str) -> bool:
    """`name.reverse()`."""
    return isinstance(node, ast.Call) and called(node) == "reverse" and dotted(node.func) == f"{name}.reverse"


def _behind(diagnosis: Diagnosis, statement: ast.stmt, loop: ast.For) -> Edits:
    """The last line of a loop, moved out of it."""
    is_last = statement is loop.body[-1] and diagnosis.code.stands_alone(statement)
    return (in_line(statement.lineno, loop.col_offset, statement.col_offset, ""),) if is_last else ()


def _turns_round(node: ast.AST) -> bool:
    """Whether it goes through something from the end, or puts things at the front: `reversed(x)`, `x[::-1]`,
    `x.insert(0, y)`."""
    match node:
        case ast.Call():
            return called(node) in ("reversed", "reverse", "flip", "flipud", "appendleft", "insert")
        case ast.Subscript(slice=ast.Slice(step=ast.UnaryOp(op=ast.USub()))):
            return True
    return False


def _is_summed_up(statement: ast.Assign, loop: ast.For) -> bool:
    """`R = r + gamma * R` with what a loop goes through."""
    read = names_read(statement.value)
    return dotted(statement.targets[0]) in read and any(
        isinstance(node, ast.Name) and node.id in read for node in ast.walk(loop.target)
    )


def _weighs(diagnosis: Diagnosis, name: str, loop: ast.For) -> bool:
    """Whether a list is zipped with something below a loop, or made a tensor that a tracked one is multiplied with or
    held against."""
    code = diagnosis.code
    later = [call for call in code.calls if call.lineno > (loop.end_lineno or 0) and name in names_read(call)]
    if any(called(call) == "zip" and len(call.args) > 1 for call in later):
        return True
    ops = (op for call in later for op in diagnosis.ops_at(code.span(call)) if not op.nodes and op.outputs)
    made = {op.id: diagnosis.tensors[op.outputs[0]].shape for op in ops}
    for op in diagnosis.ops_named(("mul", "sub", *ELEMENTWISE_LOSSES)) if made else ():
        sides = sorted(op.inputs[:2], key=diagnosis.is_tracked) if diagnosis.reaches_a_pass(op) else []
        is_weighed = list(map(diagnosis.is_tracked, sides)) == [False, True]
        shape = diagnosis.tensors[sides[0]].shape if is_weighed else ()
        if shape and any(made.get(maker.id) == shape for maker in diagnosis.makers_behind(sides[:1])):
            return True
    return False
