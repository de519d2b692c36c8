"""What the numbers that a program prints are, worked out from the values it read: whatever it is written like."""

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from engine.findings.diagnosis import LEAST_TURNS, Diagnosis, argument, grouped, line, numbers_of
from engine.findings.losses import LOSS_FUNCTIONS
from engine.program.names import called, dotted, names_read
from engine.trace import Finding, Op, Trace

NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[-+]\d+)?(?![\w.])")
DIGITS = 3
"""Fewer that are not 0 may agree by chance."""
ROUNDING = 1e-4
APART = 0.05
"""How far an average is off, as a share of it, that it is told."""


class _Average(NamedTuple):
    """A printed number that was divided by another count than its parts ask for."""

    place: int
    """Which of the numbers printed."""
    said: str
    right: float
    divided_by: int
    parts: int
    code: str


def averages_of_the_wrong_count(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The means of batches divided by the count of samples, counts of samples by that of batches, or the count in the
    last batch by that of all samples, in what is printed after each epoch or at the end."""
    trace = diagnosis.trace
    moments = [(at, step) for at, step in enumerate(trace.timeline) if step.kind in ("op", "output")]
    told = ((at, trace.output[step.index]) for at, step in moments if step.kind == "output" and step.index is not None)
    read = ((at, op) for at, step in moments if (op := diagnosis.ops.get(step.op or "")) and op.name in ("item", "sum"))
    ran = [at for at, step in moments if step.kind == "op"]
    reads = grouped(read, lambda each: (each[1].span, each[1].grad_mode))  # one function may train and evaluate
    said = (each for each in told if each[1].text.strip())  # a line that ends its own text is told in two pieces
    for span, pieces in grouped(said, lambda each: each[1].span).items():
        ends = pairwise([-1, *(at for at, _ in pieces)])
        printed = [(begin, end, text) for (begin, end), (_, text) in zip(ends, pieces, strict=True)]
        for own in reads.values():
            at, ops = zip(*own, strict=True)
            places = [(bisect_right(at, begin), bisect_right(at, end)) for begin, end, _ in printed]
            most = max(last - first for first, last in places)
            whole = [
                (ops[first:last], text)
                for (first, last), (begin, end, text) in zip(places, printed, strict=True)
                if not diagnosis.has_gap(_begun(at, first, begin, last - first == most), _next_op(ran, end))
                and (first < last or not _is_left_out(trace, end))
            ]
            turns = [turn for turn, _ in whole]
            known = list(_averages(diagnosis, turns, [text.text for _, text in whole]))
            is_short = len(whole) == 1 and all(_digits(each.said) <= DIGITS for each in known)
            is_short |= len(whole) < LEAST_TURNS and not all(_is_long(each.said) for each in known)
            if is_short and not _is_divided_by_all(diagnosis, own[0][1]):
                continue
            if not known or len(known) < len(whole) or len({(each.place, each.code) for each in known}) > 1:
                continue
            yield diagnosis.warning(
                known[0].code,
                span,
                tensors=turns[0][0].inputs[:1],
                said=known[0].said,
                right=f"{known[0].right:.4g}",
                by=str(known[0].divided_by),
                parts=str(known[0].parts),
                read=diagnosis.code.excerpt(own[0][1].span),
                read_line=line(own[0][1].span),
            )


def _begun(at: Sequence[int], first: int, begin: int, is_all: bool) -> int:
    """Where in the timeline the reads of a turn begin: what is left out before the first does not matter where they are
    as many as in any turn."""
    return at[first] - 1 if is_all and first < len(at) else max(begin, at[0] - 1)


def _is_left_out(trace: Trace, at: int) -> bool:
    """Whether what a line printed is of turns left out: several such lines stand behind one gap."""
    kinds = (step.kind for step in trace.timeline[at::-1])
    return next((kind for kind in kinds if kind != "output"), "") == "gap"


def _next_op(ran: Sequence[int], at: int) -> int:
    """Where in the timeline the next op stands: what was left out before a line was printed is told before that one."""
    later = bisect_right(ran, at)
    return ran[later] if later < len(ran) else at


def _averages(diagnosis: Diagnosis, turns: Sequence[Sequence[Op]], texts: Sequence[str]) -> Iterator[_Average]:
    """What is wrong in the text of each turn, up to the first where nothing is."""
    for ops, text in zip(turns, texts, strict=True):
        found = _average(diagnosis, ops, text)
        if found is None:
            return
        yield found


def _average(diagnosis: Diagnosis, reads: Sequence[Op], text: str) -> _Average | None:
    """The number in a text that is the sum of what was read in a turn, or the last of it, divided by what does not go
    with it."""
    made = (diagnosis.output_of(op) if op.name == "sum" else diagnosis.input_of(op) for op in reads)
    values = [number for each in made for number in numbers_of(each)]
    sizes = [_samples(diagnosis, op) for op in reads]
    if len(values) < 2 or len(values) != len(reads) or len(set(sizes)) > 2 or not all(size for _, size in sizes):
        return None
    is_mean, count = sizes[0][0], sum(size for _, size in sizes)
    wrong, right = (count, len(values)) if is_mean else (len(values), count)
    stored = _stored(diagnosis)
    of_all = sum(value * size for value, (_, size) in zip(values, sizes, strict=True)) if is_mean else sum(values)
    code = "means_over_samples" if is_mean else "counts_over_batches"
    for place, said in enumerate(NUMBER.findall(text)):
        is_told = _is_long(said)
        scales = (1,) if is_mean else (1, 100)
        if not is_mean and any(_is(said, scale * sum(values) / count) for scale in scales):
            continue  # it is the right share, whatever else it may be
        # two counts that are far apart are told from each other by few digits, if each turn agrees
        is_known = is_told or (wrong >= 2 * right and _is_long(said, DIGITS - 1))
        if is_known and wrong != right and any(_is(said, scale * sum(values) / wrong) for scale in scales):
            return _Average(place, said, sum(values) / right, wrong, len(values), code)
        is_uneven = is_mean and len(set(sizes)) == 2 and all(op.grad_mode != "grad" for op in reads)
        alike, each = sum(values) / len(values), of_all / count
        is_apart = is_told and is_uneven and abs(alike - each) > APART * abs(each)
        scale = next((scale for scale in (1, 100) if is_apart and _is(said, scale * alike)), 0)
        if scale:
            return _Average(place, said, scale * each, sizes[-1][1], len(values), "batches_weigh_alike")
        if is_told and stored > count and any(_is(said, scale * of_all / stored) for scale in scales):
            if not is_mean or _is_weighed(diagnosis, reads[0]):
                return _Average(place, said, of_all / count, stored, count, "divided_by_all_stored")
            each_time = count // len(values)
            if len(set(sizes)) == 1 and stored % each_time == 0:  # the program counts turns, not samples
                return _Average(place, said, alike, stored // each_time, len(values), "divided_by_all_turns")
        is_last = is_told and not is_mean and any(_is(said, scale * values[-1] / count) for scale in scales)
        if is_last and sum(values) > values[-1] > 0:
            return _Average(place, said, sum(values) / count, count, len(values), "last_count_over_samples")
    return None


def _is_divided_by_all(diagnosis: Diagnosis, read: Op) -> bool:
    """Whether the program divides what it adds a read to by the length of a loader's dataset."""
    added = diagnosis.code.statement_at(read.span)
    total = dotted(added.target) if isinstance(added, ast.AugAssign) else ""
    for node in diagnosis.code.nodes:
        match node:
            case ast.BinOp(left=divided, op=ast.Div(), right=count) | ast.AugAssign(divided, ast.Div(), count):
                is_all = isinstance(count, ast.Call) and called(count) == "len" and "dataset" in _last_names(count)
                if total and is_all and dotted(divided) == total:
                    return True
    return False


def _last_names(call: ast.Call) -> Iterator[str]:
    """The last name of each argument."""
    return (dotted(each).rpartition(".")[2] for each in call.args)


def _is_weighed(diagnosis: Diagnosis, read: Op) -> bool:
    """Whether the program multiplies what it reads, as with the count of the samples, where it reads it."""
    node = diagnosis.code.at(read.span)
    around = diagnosis.code.around(node) if node is not None else ()
    return any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult) for each in around)


def sums_over_the_last_index(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`total / i` below a loop that counts its turns from 0: the last index is one less than there were turns."""
    code = diagnosis.code
    for node in code.nodes:
        match node:
            case ast.BinOp(op=ast.Div(), right=ast.Name(name)) if diagnosis.has_run(node):
                loop = _counted_above(diagnosis, node, name)
            case _:
                continue
        added = [each.target for each in ast.walk(loop) if isinstance(each, ast.AugAssign)] if loop is not None else []
        totals = names_read(node.left).intersection(map(dotted, added))
        left = [each.lineno for each in ast.walk(loop) if isinstance(each, ast.Break | ast.Continue)] if loop else []
        if loop is not None and totals and not any(at < each.lineno for each in added for at in left):
            yield diagnosis.warning(
                "divided_by_last_index",
                node,
                fix=(code.replace(node.right, f"({name} + 1)"),),
                total=min(totals),
                index=name,
                loop_line=str(loop.lineno),
            )


def _counted_above(diagnosis: Diagnosis, node: ast.BinOp, name: str) -> ast.For | None:
    """The loop beside a division that gave a name its last index, where nothing has bound it anew since."""
    code = diagnosis.code
    stores = [each for each in code.nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    lines = [each.lineno for each in stores if each.id == name and each.lineno < node.lineno]
    loops = [each for each in code.nodes if isinstance(each, ast.For) and code.loops(each) == code.loops(node)]
    return next(
        (
            loop
            for loop in loops
            if code.function(loop) is code.function(node)
            and name in _indices(loop)
            and lines
            and loop.lineno <= max(lines) <= (loop.end_lineno or 0) < node.lineno
        ),
        None,
    )


def _index(loop: ast.For) -> str:
    """The name that counts the turns of a loop from 0."""
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(name), _]),
            iter=ast.Call(func=ast.Name("enumerate"), args=[_], keywords=[]),
        ):
            return name
        case ast.For(target=ast.Name(name), iter=ast.Call(func=ast.Name("range"), args=[_])):
            return name
    return ""


def _indices(loop: ast.For) -> set[str]:
    """That name, and those it is given on to, where nothing else is."""
    index = _index(loop)
    if not index:
        return set()
    stores = [node for node in ast.walk(loop) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    given = {dotted(node.targets[0]) for node in stores if dotted(node.value) == index}
    return {index} | {name for name in given if name.isidentifier()}


def _stored(diagnosis: Diagnosis) -> int:
    """How many samples the largest dataset has of which a loader gave the last one; 0 where none was seen."""
    places = (place for batch in diagnosis.trace.batches for place in batch.indices if isinstance(place, int))
    return max(places, default=-1) + 1


def counts_after_the_loop(diagnosis: Diagnosis) -> Iterator[Finding]:
    """The right answers of the last batch, counted where the loop over the batches has ended, and divided by the number
    of samples of all batches."""
    code, trace = diagnosis.code, diagnosis.trace
    told = [(at, trace.output[step.index or 0]) for at, step in enumerate(trace.timeline) if step.kind == "output"]
    last = {op.span: op for op in diagnosis.ops_named(("sum",)) if sum(numbers_of(diagnosis.output_of(op))) > 0}
    for op in last.values():
        loop, sizes = _loop_before(diagnosis, op)
        text = next((text for at, text in told if diagnosis.op_step[op.id] < at), None)
        if loop is None or text is None or _samples(diagnosis, op)[1] != sizes[-1]:
            continue
        values = [scale * sum(numbers_of(diagnosis.output_of(op))) / sum(sizes) for scale in (1, 100)]
        numbers = NUMBER.findall(text.text)
        said = next((said for said in numbers if any(_is_told(said, value) for value in values)), None)
        if said is not None:
            yield diagnosis.warning(
                "counted_after_the_loop",
                op,
                tensors=op.inputs[:1],
                said=said,
                said_line=line(text.span),
                read=code.excerpt(op.span),
                loop_line=str(loop.lineno),
                batches=str(len(sizes)),
                size=str(sizes[-1]),
                by=str(sum(sizes)),
            )
            return


def _is_told(said: str, value: float) -> bool:
    """Whether a value was printed: with digits enough, or all that it has."""
    return said == repr(value) or (_is_long(said) and _is(said, value))


def _is_long(said: str, least: int = DIGITS) -> bool:
    """Whether a number was printed with digits enough, zeros before the first other one aside."""
    return len(said.replace(".", "").lstrip("0")) >= least


def _digits(said: str) -> int:
    """How many digits a number has between zeros: fewer than some agree with another quotient of small counts."""
    return len(said.replace(".", "").strip("0"))


def _loop_before(diagnosis: Diagnosis, op: Op) -> tuple[ast.For | None, list[int]]:
    """The loop above the statement of an op in which a model gave what the op counts, and how many samples it gave in
    each turn since it was trained last."""
    code, at = diagnosis.code, diagnosis.op_step[op.id]
    around = next(filter(None, map(diagnosis.call_around, diagnosis.makers_behind(op.inputs))), None)
    counting, made = code.statement_at(op.span), code.statement_at(around.span) if around is not None else None
    loop = next(iter(code.loops(made)), None) if made is not None else None
    if around is None or counting is None or not isinstance(loop, ast.For) or counting in ast.walk(loop):
        return None, []
    is_beside = code.function(loop) is code.function(counting) and code.loops(loop) == code.loops(counting)
    since = max((step for step in diagnosis.pass_step.values() if step < at), default=-1)
    calls = (call for call in diagnosis.trace.calls if call.module == around.module and call.span == around.span)
    ends = [diagnosis.ops.get(call.last_op or "") for call in calls]
    given = [end for end in ends if end is not None and since < diagnosis.op_step[end.id] < at]
    sizes = [each.shape[0] for end in given if (each := diagnosis.output_of(end)) is not None and each.shape]
    is_whole = len(sizes) > 1 and not diagnosis.has_gap(diagnosis.op_step[given[0].id], at)
    return (loop, sizes) if is_beside and is_whole else (None, [])


def _is(said: str, value: float) -> bool:
    """Whether a number as it was printed is a value, rounded."""
    places = len(said.partition(".")[2].partition("e")[0])
    return abs(float(said) - value) <= (0.51 * 10.0**-places if "e" not in said else 0) + ROUNDING * abs(value)


def _samples(diagnosis: Diagnosis, op: Op) -> tuple[bool, int]:
    """Whether what was read is a mean, and over how many samples it or the count of them was taken; 0 where it is
    neither."""
    through = ("detach", "cpu", "float")
    maker = op if op.name == "sum" else diagnosis.origin(op.inputs[0] if op.inputs else None, through)
    given = diagnosis.input_of(maker, 1 if maker.name in LOSS_FUNCTIONS else 0) if maker is not None else None
    if maker is None or given is None or not given.shape:
        return False, 0
    if maker.name in LOSS_FUNCTIONS:
        return True, given.shape[0] if argument(maker, "reduction") == "'mean'" else 0
    before = diagnosis.origin(given.id, through)
    is_of_answers = maker.name in ("sum", "mean") and before is not None and before.name == "eq"
    return maker.name == "mean", given.shape[0] if is_of_answers else 0
