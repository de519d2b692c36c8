"""Data that is not what it is taken for because it is shared: one tensor kept many times, a dataset changed by being
read, the same random numbers in every step, samples sorted by class, rows compared with themselves."""

import ast
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from engine.findings.diagnosis import (
    LEAST_TURNS,
    Diagnosis,
    argument,
    extent,
    fed_by,
    grouped,
    is_alike,
    is_zero,
    line,
    near,
    number,
    numbers_of,
    size_of,
)
from engine.findings.losses import WITH_TARGETS
from engine.ops import DETACHES
from engine.program.edits import Edits
from engine.program.names import called, dotted, name_written
from engine.program.rewriting import not_in_place
from engine.program.tree import Function, assigned, covers, given_by
from engine.trace import Finding, Op

JOINS = ("stack", "cat")
ACTIVATIONS = frozenset(
    f"{name}{end}" for name in ("relu", "leaky_relu", "elu", "sigmoid", "tanh", "hardtanh", "silu") for end in ("", "_")
)
CHANGES = ("add_", "sub_", "mul_", "div_")
DRAWS = ("rand", "randn", "randint", "randperm", "normal", "multinomial", "bernoulli", "rand_like", "randn_like")
TURNS_ROUND = ("t", "T", "mT", "transpose")
LEAST_KEPT = 4
_SCALED = 2.0
_FEWEST_BATCHES = 5
_APART = 5.0
"""By how many standard deviations of the batches of one epoch others differ that were not drawn from the same data."""


def one_tensor_many_times(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A list of what a tensor was at several times, which holds the tensor itself: each entry is what it is now."""
    for op in diagnosis.ops_named(JOINS):
        kept = {diagnosis.identity(_undetached(diagnosis, tensor)) for tensor in op.inputs}
        if len(op.inputs) < LEAST_KEPT or len(kept) > 1:
            continue
        (tensor,) = kept
        now = diagnosis.op_at[op.id]
        writes = [
            write
            for write in diagnosis.trace.ops[:now]
            if write.in_place and write.inputs and diagnosis.identity(write.inputs[0]) == tensor
        ]
        call = diagnosis.code.call_at(op.span)
        is_repeated = call is not None and any(isinstance(given, ast.BinOp | ast.ListComp) for given in call.args[:1])
        if len(writes) < len(op.inputs) - 1 or diagnosis.is_tracked(tensor) or is_repeated:
            continue
        yield diagnosis.warning(
            "one_tensor_many_times",
            writes[-1],
            tensors=(op.inputs[0], *op.outputs[:1]),
            name=diagnosis.say(tensor),
            count=str(len(op.inputs)),
            join_line=line(op.span),
            times=diagnosis.counted(writes),
        )


def _undetached(diagnosis: Diagnosis, tensor: str) -> str:
    maker = diagnosis.maker.get(diagnosis.identity(tensor))
    return maker.inputs[0] if maker is not None and maker.name in DETACHES and maker.inputs else tensor


def kept_and_overwritten(diagnosis: Diagnosis) -> Iterator[Finding]:
    """What `detach()` took of a result, as a hook does, which an activation then changes in place: who reads it later
    reads what came after."""
    writes: dict[str | None, list[Op]] = defaultdict(list)
    for op in diagnosis.ops_named(ACTIVATIONS):
        if op.in_place and op.outputs:
            writes[diagnosis.tensors[op.outputs[0]].storage].append(op)
    reads: dict[str, list[Op]] = defaultdict(list)
    for op in diagnosis.trace.ops if writes else ():
        for tensor in op.inputs:
            reads[diagnosis.identity(tensor)].append(op)
    for op in diagnosis.ops_named(("detach",)) if writes else ():
        kept, now = diagnosis.output_of(op), diagnosis.op_at[op.id]
        own = writes.get(kept.storage, ()) if kept is not None and kept.storage is not None else ()
        later = [write for write in own if diagnosis.op_at[write.id] > now]
        if kept is None or not later or kept.id in map(diagnosis.identity, later[0].inputs):
            continue
        read = [one for one in reads[kept.id] if diagnosis.op_at[one.id] > diagnosis.op_at[later[0].id]]
        call = diagnosis.code.call_at(op.span)
        if read and call is not None and called(call) == "detach":
            yield diagnosis.warning(
                "kept_and_overwritten",
                op,
                tensors=(kept.id, *later[0].outputs[:1]),
                fix=(diagnosis.code.replace(call, f"{diagnosis.code.text(call)}.clone()"),),
                code=diagnosis.code.short(call),
                op=later[0].name,
                write_line=line(later[0].span),
                read_line=line(read[0].span),
            )


def changed_by_reading(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A `__getitem__` or a loop over batches that writes into a view of the data, or into a tensor that shares the
    memory of a NumPy array: each epoch reads what the one before left."""
    readers = [function for function in diagnosis.code.functions if function.name == "__getitem__"]
    taken: dict[tuple[str, str | None], int] = {}
    for op in diagnosis.ops_named(("getitem", "from_numpy")):
        array = _shared_array(diagnosis, op)
        if op.span is None or not (op.view or array):
            continue
        is_read = any(covers(reader, op.span.line) for reader in readers)
        if not is_read and (op.name == "from_numpy" or not _is_cut_with_targets(diagnosis, op)):
            continue
        row = (array or diagnosis.identity(op.inputs[0]), op.arguments[-1].text)
        taken[row] = taken.get(row, 0) + 1
        writes = (taker for taker in diagnosis.takers.get(op.outputs[0], ()) if taker.inputs[0] == op.outputs[0])
        write = next((taker for taker in writes if taker.name in CHANGES and taker.in_place), None)
        if write is None or taken[row] < 2:
            continue
        read = diagnosis.code.at(op.span)
        yield diagnosis.warning(
            "changed_by_reading",
            write,
            tensors=(*op.inputs[:1], *write.outputs[:1]),
            fix=(diagnosis.code.after(read, ".clone()"),) if isinstance(read, ast.Subscript | ast.Call) else (),
            name=array or diagnosis.say(op.inputs[0]),
            view=diagnosis.say(op.outputs[0]),
            row_line=line(op.span),
        )


def arguments_changed(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A function that writes into a tensor it is given, in each turn into the same one: the data drift, and where the
    writing is followed, the graphs of all turns hang on each other."""
    passes = [diagnosis.pass_step.get(pass_.id, -1) for pass_ in diagnosis.ended]
    writes = grouped((op for op in diagnosis.trace.ops if op.in_place and op.inputs and op.outputs), lambda op: op.span)
    for ops in writes.values():
        given, left = diagnosis.input_of(ops[0]), diagnosis.output_of(ops[-1])
        is_one = len({diagnosis.identity(op.inputs[0]) for op in ops}) == 1
        written = argument_written(diagnosis, ops[0]) if len(ops) >= LEAST_TURNS and is_one else None
        if written is None or given is None or given.requires_grad or is_alike(given, left):
            continue
        turns = [diagnosis.op_step.get(op.id, -1) for op in ops]
        apart = [turn for turn in pairwise(turns) if any(turn[0] < at < turn[1] for at in passes)]
        is_followed = any(len(diagnosis.visits_of.get(node, ())) > 1 for node in ops[0].nodes)
        if len(apart) >= LEAST_TURNS - 1 and (is_followed or _is_input_scaled(diagnosis, ops, written.function)):
            tensors = (given.id, *ops[0].outputs[:1])
            said = written.said | {"is_followed": str(int(is_followed))}
            yield diagnosis.warning("argument_changed", ops[0], tensors=tensors, fix=written.fix, **said)


class _ArgumentWritten(NamedTuple):
    """A function that writes into one of its arguments, what a sentence says of that, and what makes a new tensor."""

    function: Function
    said: dict[str, str]
    fix: Edits


def argument_written(diagnosis: Diagnosis, op: Op) -> _ArgumentWritten | None:
    """The argument of the function around an op in place that it writes into by name and reads further down."""
    statement = diagnosis.code.statement_at(op.span)
    function, name = diagnosis.code.function(statement) if statement is not None else None, name_written(statement)
    if not op.in_place or statement is None or function is None or name not in _arguments(function):
        return None
    if not any(isinstance(node, ast.Name) and node.id == name for node in _below(function, statement)):
        return None  # the caller may be meant to find it changed
    right = f"{name} = {name}.clone()"
    fix = not_in_place(diagnosis.code, statement) if isinstance(statement, ast.AugAssign | ast.Expr) else ()
    fix = fix or diagnosis.code.line_before(statement, right)
    said = {"name": name, "function": function.name, "right": fix[0].text.strip() if fix else right}
    return _ArgumentWritten(function, said | {"written_line": line(op.span)}, fix)


def _arguments(function: Function) -> set[str]:
    return {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}


def _below(function: Function, statement: ast.stmt) -> Iterator[ast.AST]:
    last = statement.end_lineno or statement.lineno
    return (node for node in ast.walk(function) if isinstance(node, ast.expr) and node.lineno > last)


def _is_input_scaled(diagnosis: Diagnosis, ops: Sequence[Op], function: Function) -> bool:
    """Whether the ops add to or multiply all that a `forward` is given, and a pass goes back through what comes of it;
    of several arguments one may be a state that is kept on purpose."""
    is_input = function.name == "forward" and len(function.args.args) == 2 and ops[0].name in CHANGES
    used = (taker for made in ops[-1].outputs for taker in diagnosis.takers.get(made, ()))
    return is_input and not diagnosis.is_parameter(ops[0].inputs[0]) and any(map(diagnosis.reaches_a_pass, used))


def arrays_changed_by_reading(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A `__getitem__` that writes into a part of a NumPy array: from epoch to epoch the batches grow or shrink."""
    code = diagnosis.code
    readers = [function for function in code.functions if function.name == "__getitem__"]
    if not readers or not (_is_scaled_by_epoch(diagnosis) or _drifts_by_epoch(diagnosis)):
        return
    parts = (
        (reader, target.id, value)
        for reader in readers
        for binding in code.bindings
        if code.function(binding) is reader
        for target, value in assigned(binding)
        if isinstance(target, ast.Name) and isinstance(value, ast.Subscript) and "." in dotted(value.value)
    )
    for reader, name, value in parts:
        write = next(_written_in_place(diagnosis, reader, name), None)
        if write is not None and not diagnosis.ops_at(code.span(value)):  # of tensors `changed_by_reading` tells
            yield diagnosis.warning(
                "changed_by_reading",
                write,
                fix=(code.after(value, ".copy()"),),
                name=dotted(value.value),
                view=name,
                row_line=str(value.lineno),
                op=code.short(write),
            )


def _is_scaled_by_epoch(diagnosis: Diagnosis) -> bool:
    """Whether the inputs a loader gives spread over a much larger range in its second epoch than in the first, or over
    a much smaller one."""
    widths: dict[tuple[int, int], list[float]] = defaultdict(list)
    for batch in diagnosis.trace.batches:
        met = extent(diagnosis.tensors.get(batch.tensors[0])) if batch.tensors else None
        if met is not None:
            widths[batch.loader, batch.epoch].append(met[1] - met[0])
    means = {key: statistics.fmean(each) for key, each in widths.items()}
    pairs = ((first, means.get((loader, 2), first)) for (loader, epoch), first in means.items() if epoch == 1)
    return any(max(pair) > _SCALED * min(pair) for pair in pairs)


def _drifts_by_epoch(diagnosis: Diagnosis) -> bool:
    """Whether the inputs a loader gives grow, or shrink, from the first epoch to a middle one to the last, each time by
    far more than the batches of the first differ."""
    sizes: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for batch in diagnosis.trace.batches:
        size = size_of(diagnosis.tensors.get(batch.tensors[0])) if batch.tensors else None
        if size is not None:
            sizes[batch.loader][batch.epoch].append(size**2)
    for epochs in (list(each.values()) for each in sizes.values() if len(each) >= LEAST_TURNS):
        means = [statistics.fmean(epochs[at]) for at in (0, len(epochs) // 2, -1)]
        apart = _APART * statistics.stdev(epochs[0]) if len(epochs[0]) >= _FEWEST_BATCHES else math.inf
        gaps = [later - before for before, later in pairwise(means)]
        if min(gaps) > apart or max(gaps) < -apart:
            return True
    return False


def _written_in_place(diagnosis: Diagnosis, reader: Function, name: str) -> Iterator[ast.AugAssign | ast.Assign]:
    """Where a reader, or what it gives the part to, writes into it."""
    code = diagnosis.code
    inside = [(reader, name)]
    for call in (each for each in code.calls if code.function(each) is reader):
        takers = [each for each in code.functions if each.name == called(call)]
        for taken in takers[0].args.args if len(takers) == 1 else ():
            given = given_by(call, takers[0], taken.arg)
            if isinstance(given, ast.Name) and given.id == name:
                inside.append((takers[0], taken.arg))
    for function, part in inside:
        for node in ast.walk(function):
            target = node.target if isinstance(node, ast.AugAssign) else None
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                target = node.targets[0]
            root = target.value if isinstance(target, ast.Subscript) else target
            if isinstance(node, ast.AugAssign | ast.Assign) and root is not None and dotted(root) == part:
                yield node


def _is_cut_with_targets(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether the line takes the same rows of another tensor too, as batches are cut: `x[i:j], y[i:j]`."""
    rows, at = op.arguments[-1].text, diagnosis.op_at[op.id]
    near = diagnosis.trace.ops[max(0, at - 1) : at + 2]
    cut = [each for each in near if each.name == "getitem" and each.arguments[-1].text == rows]
    sources = {diagnosis.identity(each.inputs[0]) for each in cut}
    return "slice" in (rows or "") and len(sources) > 1


def _shared_array(diagnosis: Diagnosis, op: Op) -> str:
    """The array of which `torch.from_numpy(self.images[i])` takes one part without a copy."""
    match diagnosis.code.call_at(op.span):
        case ast.Call(args=[ast.Subscript(value=ast.Attribute() as array, slice=ast.Name())]) if (
            op.name == "from_numpy"
        ):
            return dotted(array)
    return ""


def kept_gradients_that_change(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A `.grad` kept under another name, then a pass that adds into that very tensor, and both read after it as if they
    were two."""
    code = diagnosis.code
    compared = (
        any(isinstance(node, ast.Is | ast.IsNot) for node in code.nodes) or "data_ptr" in diagnosis.trace.program.code
    )
    for kept in code.bindings if not compared else ():
        name, grad = dotted(kept.targets[0]), dotted(kept.value)
        if not name.isidentifier() or not grad.endswith(".grad") or len(code.values(name)) > 1:
            continue
        for pass_, added in diagnosis.accumulations:
            before, after = (diagnosis.tensors.get(state or "") for state in (added.before, added.after))
            statement = code.statement_at(pass_.span)
            if before is None or after is None or diagnosis.identity(before.id) != diagnosis.identity(after.id):
                continue
            if name not in before.names or not code.follows(kept, statement) or is_alike(before, after):
                continue
            later = [node for each in code.block(kept) if code.follows(statement, each) for node in ast.walk(each)]
            read = next((node for node in later if isinstance(node, ast.Name) and node.id == name), None)
            again = [node for node in later if isinstance(node, ast.Attribute) and dotted(node) == grad]
            zeroed = [node for node in later if isinstance(node, ast.Attribute) and dotted(node) == f"{grad}.zero_"]
            is_read = len(again) > len(zeroed) and all(isinstance(node.ctx, ast.Load) for node in again)
            if read is None or not is_read or not diagnosis.has_run(read):
                continue
            yield diagnosis.warning(
                "kept_gradient_changes",
                pass_.span,
                tensors=(added.tensor, before.id),
                fix=code.line_before(statement, f"{grad} = None") if not is_zero(before) else (),
                name=name,
                grad=grad,
                kept_line=str(kept.lineno),
                read_line=str(read.lineno),
                is_zeroed=str(int(is_zero(before))),
            )
            return


def lists_stored_and_cleared(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`episodes.append(steps)`, and later `steps.clear()`: what was stored is that very list, and is emptied too."""
    code = diagnosis.code
    cleared = {
        dotted(call.func.value): call
        for call in code.calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "clear" and diagnosis.has_run(call)
    }
    for call in code.calls:
        name = dotted(call.args[0]) if called(call) == "append" and len(call.args) == 1 else ""
        clear, made = cleared.get(name), code.values(name) if name else []
        if not name or clear is None or not diagnosis.has_run(call) or not made:
            continue
        store = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        is_list = len(made) == 1 and isinstance(made[0], ast.List) and not made[0].elts
        is_same = "." in name or code.function(clear) is code.function(call)  # else another variable may be called so
        if is_list and is_same and store and store not in cleared:
            yield diagnosis.warning(
                "stored_and_cleared",
                call,
                fix=(code.replace(call.args[0], f"list({name})"),),
                name=name,
                store=store,
                clear=code.text(clear),
                clear_line=str(clear.lineno),
            )


def drawn_again(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Random numbers that are the same in every step because the generator is seeded anew before each."""
    seeds = [call for call in diagnosis.code.calls if called(call) == "manual_seed"]
    seeds = [call for call in seeds if diagnosis.code.in_loop(call) or _is_in_function_called_often(diagnosis, call)]
    turns = grouped(diagnosis.ops_named(DRAWS) if seeds and diagnosis.steps else (), lambda op: op.span)
    for span, ops in turns.items():
        first = diagnosis.output_of(ops[0])
        if span is None or len(ops) < LEAST_TURNS or first is None or diagnosis.elements(first.id) < 2:
            continue
        if ops[0].name == "randperm" and first.data is None:
            continue  # the figures of all permutations are alike
        if not size_of(first) or not all(is_alike(first, diagnosis.output_of(op)) for op in ops[1:]):
            continue
        if not _each_trains(diagnosis, ops):
            continue
        yield diagnosis.warning(
            "drawn_again",
            seeds[0],
            tensors=(first.id,),
            draw=diagnosis.code.excerpt(span),
            draw_line=line(span),
            count=diagnosis.counted(ops),
        )


def _is_in_function_called_often(diagnosis: Diagnosis, seed: ast.Call) -> bool:
    """Whether a function seeds that may run in each turn; what a constructor draws is the data of its object."""
    function = diagnosis.code.function(seed)
    return function is not None and function.name != "__init__"


def _each_trains(diagnosis: Diagnosis, ops: list[Op]) -> bool:
    """Whether all draws were made for passes of the same leaves, and what they gave went into them; those of other
    models may well repeat."""
    passes = [(diagnosis.pass_step.get(pass_.id, -1), frozenset(fed_by(pass_))) for pass_ in diagnosis.ended]
    drawn = (diagnosis.op_step.get(op.id, -1) for op in ops)
    next_ = [next((leaves for at, leaves in passes if at > moment), None) for moment in drawn]
    fed = [leaves for leaves in next_ if leaves is not None]
    used = near(ops[0].outputs, diagnosis.made_of)
    makers = (diagnosis.maker.get(tensor) for tensor in used)
    return (
        len(fed) > 1
        and bool(frozenset.intersection(*fed))
        and any(maker is not None and diagnosis.reaches_a_pass(maker) for maker in makers)
    )


def inputs_all_alike(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A model to which every sample of each batch is the same, though the data were not and the targets are not."""
    losses = [op for op in diagnosis.ops_named(WITH_TARGETS) if diagnosis.reaches_a_pass(op)]
    targets = [target for op in losses if (target := diagnosis.input_of(op, 1)) is not None and target.shape]
    ranges = [extent(target) for target in targets if not target.requires_grad]
    if not ranges or any(ends is None or ends[0] == ends[1] for ends in ranges):
        return
    given: list[str] = []
    model = ""
    for call in (call for call in diagnosis.trace.calls if call.parent is None and call.training):
        ops = diagnosis.ops_of(call)
        own = {output for op in ops for output in op.outputs}
        taken = dict.fromkeys(tensor for op in ops for tensor in op.inputs if tensor not in own)
        data = [tensor for tensor in taken if diagnosis.tensors[tensor].role not in ("parameter", "buffer")]
        if not data or not all(map(diagnosis.has_like_rows, data)):
            return
        given += data
        model = diagnosis.modules[call.module].path
    lost = next((op for tensor in given for op in _where_rows_became_alike(diagnosis, tensor)), None)
    if lost is not None:
        yield diagnosis.warning(
            "inputs_all_alike",
            lost,
            tensors=(*lost.inputs[:1], given[0]),
            nodes=(),
            model=model,
            source=diagnosis.say(lost.inputs[0]),
            count=str(diagnosis.tensors[given[0]].shape[0]),
            loss_line=line(losses[0].span),
        )


def _where_rows_became_alike(diagnosis: Diagnosis, tensor: str) -> Iterator[Op]:
    """The op that made the same of rows that were not, on the way to a tensor."""
    for maker in diagnosis.makers_behind([tensor]):
        taken = diagnosis.input_of(maker)
        is_joined = maker.name in JOINS or taken is None or taken.shape[:1] < (2,)
        if not is_joined and size_of(taken) and not diagnosis.has_like_rows(maker.inputs[0]):
            yield maker


def rows_matched_with_themselves(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Similarities `z @ z.T` whose targets are the rows' own places: each is most like itself by construction; or whose
    targets are other places, and each row stands among those that it is held against."""
    for op in diagnosis.ops_named(("cross_entropy",)):
        scores, targets = diagnosis.input_of(op), list(numbers_of(diagnosis.input_of(op, 1)))
        size = len(targets)
        own = [place == at for at, place in enumerate(targets)]
        if scores is None or size < LEAST_TURNS or scores.shape != (size, size) or any(own) != all(own):
            continue
        product, rows = _compared_rows(diagnosis, scores.id)
        if product is not None and len(rows) == 1:
            code = "row_matched_with_itself" if all(own) else "row_against_itself"
            yield _matched(diagnosis, code, op, product, diagnosis.say(op.inputs[1]))
        elif product is not None and all(own) and _are_always_alike(diagnosis, op):
            yield from _one_view(diagnosis, rows, product, diagnosis.say(op.inputs[1]))
    for op in diagnosis.ops_named(("logsumexp", "sum")):
        below = diagnosis.maker.get(op.inputs[0]) if op.name == "sum" and op.inputs else op
        scores = diagnosis.input_of(below) if below is not None and below.name in ("exp", "logsumexp") else None
        if below is None or scores is None or len(scores.shape) != 2 or scores.shape[0] != scores.shape[1]:
            continue
        product, rows = _compared_rows(diagnosis, scores.id)
        if product is None or len(rows) != 1 or not diagnosis.reaches_a_pass(op) or _is_less_some(diagnosis, op):
            continue
        picked = next(_beside_the_diagonal(diagnosis, (scores.id, *below.outputs)), None)
        picked = picked or _paired(diagnosis, product, rows[0])
        if picked is not None:
            yield _matched(diagnosis, "row_against_itself", op, product, diagnosis.code.excerpt(picked.span))


def _is_less_some(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether something is taken off a sum of similarities, as each row's with itself may be."""
    takers = (taker for made in op.outputs for taker in diagnosis.takers.get(made, ()))
    return op.name == "sum" and any(taker.name in ("sub", "sub_") for taker in takers)


def _paired(diagnosis: Diagnosis, product: Op, rows: str) -> Op | None:
    """The product of two parts of the rows with each other, place by place, that a pass goes back through."""
    cut = (op for op in diagnosis.takers.get(rows, ()) if op.name in ("getitem", "chunk", "split"))
    parts = {*(part for op in cut for part in op.outputs), *_halves(diagnosis, product)}
    pairs = (op for part in parts for op in diagnosis.takers.get(part, ()) if op.name in ("mul", "cosine_similarity"))
    both = (op for op in pairs if len({*op.inputs}) == 2 and parts.issuperset(op.inputs))
    apart = (op for op in both if not is_alike(*map(diagnosis.tensors.get, op.inputs)))
    return next(filter(diagnosis.reaches_a_pass, apart), None)


def views_put_together(diagnosis: Diagnosis) -> Iterator[Finding]:
    """All rows of two views in one tensor, held against each other, where the second view has the numbers of the first
    in every turn."""
    for turns in grouped(diagnosis.ops_named(("matmul", "mm", "cosine_similarity")), lambda op: op.span).values():
        halves = [_halves(diagnosis, op) for op in turns]
        alike = [len(rows) == 2 and is_alike(*map(diagnosis.tensors.get, rows)) for rows in halves]
        if len(alike) >= LEAST_TURNS and all(alike) and any(map(diagnosis.reaches_a_pass, turns)):
            yield from _one_view(diagnosis, halves[0], turns[0])


def _halves(diagnosis: Diagnosis, op: Op) -> tuple[str, ...]:
    """The two results that were joined to the rows which a product holds against themselves."""
    rows = _compared_rows(diagnosis, op.outputs[0])[1]
    joined = diagnosis.origin(rows[0], ("normalize", "div", "mul", "clone")) if len(rows) == 1 else None
    halves = joined.inputs if joined is not None and joined.name in ("cat", "concat") else ()
    return halves if all(map(diagnosis.is_followed, halves)) and len({*halves}) == len(halves) else ()


def _one_view(diagnosis: Diagnosis, rows: Sequence[str], product: Op, targets: str = "") -> Iterator[Finding]:
    code, names = diagnosis.code, [diagnosis.say(row) for row in rows]
    places = [diagnosis.maker[row].span for row in rows if row in diagnosis.maker]
    if len({*places}) < len(places):  # made inside one function: told by where each got its name
        names = [code.stands_for(name) for name in names]
        bound = [code.assignments(name) for name in names]
        places = [code.span(each[0]) for each in bound if len(each) == 1]
    if len(places) == len(rows):
        yield diagnosis.warning(
            "views_are_one",
            places[1],
            tensors=rows,
            first=names[0],
            second=names[1],
            first_line=line(places[0]),
            product=code.excerpt(product.span),
            product_line=line(product.span),
            targets=targets,
            is_joined=str(int(not targets)),
        )


def _are_always_alike(diagnosis: Diagnosis, op: Op) -> bool:
    """Whether the two kinds of rows that a loss compares have the same numbers in every turn."""
    pairs = [_compared_rows(diagnosis, turn.inputs[0])[1] for turn in diagnosis.ops_at(op.span) if turn.name == op.name]
    alike = [len(rows) == 2 and is_alike(*map(diagnosis.tensors.get, rows)) for rows in pairs]
    return len(alike) >= LEAST_TURNS and all(alike)


def _compared_rows(diagnosis: Diagnosis, scores: str) -> tuple[Op | None, tuple[str, ...]]:
    """What made similarities of all rows with all rows, and the rows; two kinds of them, or one held against itself."""
    op = diagnosis.origin(scores, ("div", "mul", "clone", "contiguous", "float"))
    if op is None or len(op.inputs) != 2 or op.name not in ("matmul", "mm", "cosine_similarity"):
        return None, ()
    turned = [diagnosis.maker.get(given) for given in op.inputs]
    if op.name == "cosine_similarity":
        given = [maker.inputs[0] for maker in turned if maker is not None and maker.name in ("unsqueeze", "getitem")]
    else:
        last = turned[1]
        given = [op.inputs[0], last.inputs[0]] if last is not None and last.name in TURNS_ROUND else []
    return (op, tuple(dict.fromkeys(given))) if len(given) == 2 else (None, ())


def _beside_the_diagonal(diagnosis: Diagnosis, scores: Iterable[str]) -> Iterator[Op]:
    """What takes entries of square scores that are not on their diagonal, one of each row."""
    for op in (taker for each in scores for taker in diagnosis.takers.get(each, ())):
        if op.name in ("diag", "diagonal") and (number(argument(op, "offset", 1) or argument(op, "diagonal")) or 0):
            yield op
        places = [numbers_of(diagnosis.tensors.get(given)) for given in op.inputs[1:]] if op.name == "getitem" else []
        if len(places) == 2 and places[0] and not any(row == at for row, at in zip(*places, strict=False)):
            yield op


def _matched(diagnosis: Diagnosis, code: str, op: Op, product: Op, targets: str) -> Finding:
    return diagnosis.warning(
        code,
        op,
        tensors=(product.inputs[0], *op.inputs[:2]),
        product=diagnosis.code.excerpt(product.span),
        product_line=line(product.span),
        name=diagnosis.say(product.inputs[0]),
        targets=targets,
        size=str(diagnosis.tensors[op.inputs[0]].shape[0]),
    )


def one_tensor_with_two_names(diagnosis: Diagnosis) -> Iterator[Finding]:
    """A tensor added to itself, or joined with itself, under two names: what was to be kept was named too late."""
    turns = grouped(diagnosis.ops_named(("add", *JOINS)), lambda op: op.span)
    for span, ops in turns.items():
        written = diagnosis.code.at(span)
        is_one = all(len(op.inputs) == 2 and op.inputs[0] == op.inputs[1] for op in ops)
        named = _bound_to_each_other(diagnosis, written) if is_one and isinstance(written, ast.expr) else None
        if named is None or not any(map(diagnosis.reaches_a_pass, ops)):
            continue
        yield diagnosis.warning(
            "one_tensor_with_two_names",
            named,
            tensors=ops[0].inputs[:1],
            nodes=ops[0].nodes[-1:],
            first=dotted(named.targets[0]),
            second=dotted(named.value),
            used=diagnosis.code.excerpt(span),
            used_line=line(span),
        )


def _bound_to_each_other(diagnosis: Diagnosis, written: ast.expr) -> ast.Assign | None:
    """The statement of the same function that gives one of two names in an expression to what the other names, which
    names something else too, where nothing between them may bind one anew."""
    names = {dotted(node) for node in ast.walk(written) if isinstance(node, ast.Name)}
    function = diagnosis.code.function(written)
    bindings = sorted(diagnosis.code.bindings, key=lambda each: (-each.lineno, -each.col_offset))
    near = [each for each in bindings if diagnosis.code.function(each) is function]
    last = next((each for each in near if each.lineno < written.lineno and dotted(each.targets[0]) in names), None)
    if last is None:
        return None
    first, second = dotted(last.targets[0]), dotted(last.value)
    meanings = [dotted(each.targets[0]) for each in near] + [*(_arguments(function) if function is not None else ())]
    is_pair = "" not in (first, second) and first != second and {first, second} <= names
    return last if is_pair and meanings.count(second) > 1 else None
