"""The whole way of a run: events read, put together, derived from, diagnosed."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from engine.assemble.assembly import assembled
from engine.assemble.read import read
from engine.derive import derive
from engine.findings import explanation, find
from engine.gc_pause import uncollected
from engine.outcome import Outcome
from engine.program.expression import in_expression
from engine.replay import failed_node
from engine.request import RunRequest
from engine.trace import Failure, Finding, Pass, Program, Trace
from engine.trace_index import TraceIndex

_Placed = TypeVar("_Placed", Failure, Finding)


def assemble(run: str, request: RunRequest, lines: Iterable[bytes], outcome: Outcome) -> Trace:
    """The trace of one run.

    A line that is no event ends the reading; a line may hold several events separated by newlines. What the supervisor
    saw wins over what the worker said. Blob events are passed over: their tensors are marked `stored`.
    """
    with uncollected():
        return _assembled(run, request, lines, outcome)


def _assembled(run: str, request: RunRequest, lines: Iterable[bytes], outcome: Outcome) -> Trace:
    trace, facts = assembled(run, request, read(lines), outcome)
    return _diagnosed(derive(trace, facts))


def _diagnosed(index: TraceIndex) -> Trace:
    """The trace with what can be concluded from it."""
    trace = msgspec.structs.replace(index.trace, passes=_with_failed_nodes(index))
    findings = find(trace, index, trace.findings)
    failure = trace.failure
    if failure is not None and failure.explanation is None:
        failure = msgspec.structs.replace(failure, explanation=explanation(failure, findings))
    if trace.program.expression is not None:
        failure = None if failure is None else _placed(trace.program, failure)
        findings = tuple(_placed(trace.program, finding) for finding in findings)
    return msgspec.structs.replace(trace, failure=failure, findings=findings)


def _placed(program: Program, record: _Placed) -> _Placed:
    """The record with its place in the expression as given."""
    return msgspec.structs.replace(record, in_expression=in_expression(program, record.span))


def _with_failed_nodes(index: TraceIndex) -> tuple[Pass, ...]:
    return tuple(
        msgspec.structs.replace(pass_, failed_node=failed_node(index.nodes, pass_, index.hooked_after(pass_.id)))
        if pass_.failed
        else pass_
        for pass_ in index.trace.passes
    )
