"""Two traces as one comparison."""

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

from engine.compare.graph import depth, loss_of, main_passes
from engine.compare.lines import corresponding, stretches
from engine.compare.names import MOST_NAMES, Names, plain
from engine.compare.ops import Ops
from engine.compare.types import FORMAT, Comparison, Named, OpPair, Printed, Side, Split
from engine.compare.values import alike, difference
from engine.program.spans import lines_of
from engine.trace import Finding, Pass, Trace
from engine.trace_index import TraceIndex

MOST_OPS = 1_000
_PRINTED_CHARACTERS = 200

Paired = list[tuple[Pass | None, Pass | None]]


def compare(here: Trace, there: Trace) -> Comparison:
    """What corresponds in two runs and what differs, seen from `here`."""
    ours, theirs = TraceIndex(here), TraceIndex(there)
    lines = corresponding(here.program.code, there.program.code)
    ops = Ops(ours, theirs, lines)
    names = Names(ours, theirs, ops.pairs)
    rows = names.rows()
    passes = _paired(here, there)
    findings = _findings(here, there, ops)
    printed = _printed(here, there)
    loose = plain(here, there)
    gradient = _gradient(passes, ours, theirs, {**ops.nodes(), **_sinks(names, ours, theirs)})
    return Comparison(
        format=FORMAT,
        here=_side(ours),
        there=_side(theirs),
        differs=bool(
            ops.differing or ops.only_here or ops.only_there or ops.graph or ops.value or gradient or any(findings)
        )
        or here.status != there.status
        or (len(here.passes), len(here.updates)) != (len(there.passes), len(there.updates))
        or not all(map(_agrees, rows)),
        lines=stretches(lines, here.program.code, there.program.code),
        tensors=tuple(rows[:MOST_NAMES]),
        tensors_omitted=max(0, len(rows) - MOST_NAMES),
        plain=loose,
        printed=printed,
        matched=len(ops.pairs),
        differing=tuple(OpPair(here=a.id, there=b.id) for a, b in ops.differing[:MOST_OPS]),
        only_here=tuple(op.id for op in ops.only_here[:MOST_OPS]),
        only_there=tuple(op.id for op in ops.only_there[:MOST_OPS]),
        value=ops.value,
        graph=ops.graph,
        gradient=gradient,
        findings_here=findings[0],
        findings_there=findings[1],
    )


def _side(run: TraceIndex) -> Side:
    trace = run.trace
    passes = main_passes(trace.passes)
    last = next((pass_ for pass_ in reversed(passes) if loss_of(pass_, run.tensors) is not None), None)
    root = run.tensors[last.roots[0].tensor or ""] if last else None
    failure = trace.failure
    return Side(
        run=trace.id,
        status=trace.status,
        ops=len(trace.ops),
        nodes=len(trace.nodes),
        depth=depth(trace.nodes),
        passes=len(passes),
        loss=loss_of(last, run.tensors) if last else None,
        root=run.name(root.id) or run.code.excerpt(maker.span) if root and (maker := run.maker.get(root.id)) else None,
        failure=failure.type if failure else None,
        failure_line=failure.span.line if failure and failure.span else None,
    )


def _agrees(row: Named) -> bool:
    """Whether a tensor is in both runs, with the same value and gradient."""
    if row.value is None or not alike(row.value):
        return False
    return (row.gradient_here is None) == (row.gradient_there is None) and (row.gradient is None or alike(row.gradient))


def _paired(here: Trace, there: Trace) -> Paired:
    """The first calls of the engine, the second ones …; of loops of which only a sample was kept, those with the same
    number."""
    ours, theirs = main_passes(here.passes), main_passes(there.passes)
    if not (here.gaps or there.gaps):
        return list(zip_longest(ours, theirs))
    by_number = {pass_.id: pass_ for pass_ in ours}, {pass_.id: pass_ for pass_ in theirs}
    ids = sorted({**by_number[0], **by_number[1]}, key=lambda id: int(id[1:]))
    return [(by_number[0].get(id), by_number[1].get(id)) for id in ids]


def _sinks(names: Names, here: TraceIndex, there: TraceIndex) -> dict[str, str]:
    """AccumulateGrad nodes here and there of leaves with the same name."""
    leaves = names.leaves()
    return {
        node: there.leaf_nodes[leaves[leaf]]
        for leaf, node in here.leaf_nodes.items()
        if leaves.get(leaf) in there.leaf_nodes
    }


def _gradient(passes: Paired, here: TraceIndex, there: TraceIndex, nodes: dict[str, str]) -> Split | None:
    """The first node that a different gradient entered."""
    for a, b in passes:
        entered = {visit.node: visit.entered for visit in b.visits} if a and b else {}
        for visit in a.visits if a else ():
            node = nodes.get(visit.node, "")
            for x, y in zip(visit.entered, entered.get(node, ()), strict=False):
                ours, theirs = here.tensors.get(x or ""), there.tensors.get(y or "")
                if (x is None) != (y is None) or (ours and theirs and not alike(difference(ours, theirs))):
                    return Split(
                        here=visit.node,
                        there=node,
                        line=_line_of(visit.node, here),
                        line_there=_line_of(node, there),
                        tensor_here=x,
                        tensor_there=y,
                        pass_id=a.id if a else None,
                    )
    return None


def _line_of(node: str, run: TraceIndex) -> int | None:
    op = run.op_of_node(node)
    return op.span.line if op and op.span else None


def _findings(here: Trace, there: Trace, ops: Ops) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Findings of one run only: by code and line; one at a comment by the same line."""
    written = [lines_of(trace.program.code) for trace in (here, there)]

    def key(finding: Finding, *, is_there: bool) -> tuple[str, int | None]:
        line = finding.span.line if finding.span else None
        if not is_there or not line:
            return finding.code, line
        comment, other = (lines[line - 1 : line] for lines in written)
        is_same = comment == other and "".join(comment).lstrip().startswith("#")
        return finding.code, line if is_same else ops.line_here(line) or -line

    ours = [key(finding, is_there=False) for finding in here.findings]
    theirs = [key(finding, is_there=True) for finding in there.findings]
    return tuple(_beyond(ours, Counter(theirs))), tuple(_beyond(theirs, Counter(ours)))


def _beyond(keys: list[tuple[str, int | None]], others: Counter[tuple[str, int | None]]) -> Iterator[int]:
    """Places of those that the others have fewer of."""
    for at, key in enumerate(keys):
        if others[key] > 0:
            others[key] -= 1
        else:
            yield at


def _printed(here: Trace, there: Trace) -> Printed | None:
    """The first printed line that differs."""
    texts = ["".join(printed.text for printed in trace.output if printed.stream == "stdout") for trace in (here, there)]
    if texts[0] == texts[1]:
        return None
    for line, (a, b) in enumerate(zip_longest(*(text.splitlines() for text in texts)), 1):
        if a != b:
            return Printed(line=line, here=_short(a), there=_short(b))
    return None


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= _PRINTED_CHARACTERS else text[: _PRINTED_CHARACTERS - 1] + "…"
