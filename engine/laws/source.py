"""Laws of the program's own lines."""

from collections.abc import Iterator

from engine.program.source import source_of
from engine.trace import Trace
from engine.trace_index import TraceIndex


def source(index: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _lines(index.trace)
    yield from _outside(index.trace)
    yield from _code(index.trace)


def _lines(trace: Trace) -> Iterator[str]:
    count = source_of(trace.program.code).count
    lines = trace.lines_not_run
    if list(lines) != sorted(set(lines)) or any(not 0 < line <= count for line in lines):
        yield f"lines not run: {lines}, of {count}"
    ran = {op.span.line for op in trace.ops if op.span is not None and op.span.line == op.span.end_line}
    for line in ran.intersection(lines):
        yield f"line {line} did not run, but an op of it did"


def _outside(trace: Trace) -> Iterator[str]:
    """Writes past PyTorch and names bound anew stand on lines that ran."""
    idle = frozenset(trace.lines_not_run)
    for update in trace.updates:
        if update.kind == "outside" and update.span is not None and update.span.line in idle:
            yield f"update {update.id} was made on line {update.span.line}, which did not run"
    for storage in trace.storages:
        for name in storage.parted:
            if name.span.line in idle:
                yield f"{name.name} left storage {storage.id} on line {name.span.line}, which did not run"
            if name.kind == "array" and name.name in storage.arrays:
                yield f"{name.name} left storage {storage.id} and is in it at the end"


def _code(trace: Trace) -> Iterator[str]:
    count = source_of(trace.program.code).count
    for node in trace.nodes:
        if node.code is not None and not (node.custom and 0 < node.code.line <= node.code.end_line <= count):
            yield f"node {node.id} has lines of a backward that is not there"
        if node.type == "CopySlices" and node.op is None and not trace.truncated:
            yield f"node {node.id} is a CopySlices, and no op wrote"
