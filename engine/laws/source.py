"""Laws of the program's own lines."""

from collections.abc import Iterator

from engine.trace import Trace


def source(trace: Trace) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _lines(trace)
    yield from _code(trace)


def _lines(trace: Trace) -> Iterator[str]:
    count = len(trace.program.code.splitlines())
    lines = trace.lines_not_run
    if list(lines) != sorted(set(lines)) or any(not 0 < line <= count for line in lines):
        yield f"lines not run: {lines}, of {count}"
    ran = {op.span.line for op in trace.ops if op.span is not None and op.span.line == op.span.end_line}
    for line in ran.intersection(lines):
        yield f"line {line} did not run, but an op of it did"


def _code(trace: Trace) -> Iterator[str]:
    count = len(trace.program.code.splitlines())
    for node in trace.nodes:
        if node.code is not None and not (node.custom and 0 < node.code.line <= node.code.end_line <= count):
            yield f"node {node.id} has lines of a backward that is not there"
        if node.type == "CopySlices" and node.op is None and not trace.truncated:
            yield f"node {node.id} is a CopySlices, and no op wrote"
