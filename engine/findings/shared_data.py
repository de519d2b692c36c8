"""Data that is not what it is taken for because it is shared: a dataset or an argument changed by being read, the
same random numbers in every step, rows compared with themselves."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from engine.findings.diagnosis import (
    LEAST_TURNS,
    Diagnosis,
    argument,
    grouped,
    is_alike,
    line,
    number,
    numbers_of,
)
from engine.program.edits import Edits
from engine.program.names import dotted, name_written
from engine.program.rewriting import not_in_place
from engine.program.tree import Function, covers
from engine.trace import Finding, Op

CHANGES = ("add_", "sub_", "mul_", "div_")
DRAWS = ("rand", "randn", "randint", "randperm", "normal", "multinomial", "bernoulli", "rand_like", "randn_like")
TURNS_ROUND = ("t", "T", "mT", "transpose")


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


def _halves(diagnosis: Diagnosis, op: Op) -> tuple[str, ...]:
    """The two results that were joined to the rows which a product holds against themselves."""
    rows = _compared_rows(diagnosis, op.outputs[0])[1]
    joined = diagnosis.origin(rows[0], ("normalize", "div", "mul", "clone")) if len(rows) == 1 else None
    halves = joined.inputs if joined is not None and joined.name in ("cat", "concat") else ()
    return halves if all(map(diagnosis.is_followed, halves)) and len({*halves}) == len(halves) else ()


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
