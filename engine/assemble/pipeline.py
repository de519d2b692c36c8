"""The whole way of a run: events read, put together, derived from, diagnosed."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from engine.assemble.assembly import assembled
from engine.assemble.read import read
from engine.collector import uncollected
from engine.derive import derive
from engine.findings import explanation, find
from engine.outcome import Outcome
from engine.program.expression import in_expression
from engine.replay import failed_node
from engine.request import RunRequest
from engine.trace import Failure, Finding, Pass, Program, Trace
from engine.trace_index import TraceIndex

_Told = TypeVar("_Told", Failure, Finding)


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


def _diagnosed(looked: TraceIndex) -> Trace:
    """The trace with what can be concluded from it."""
    trace = msgspec.structs.replace(looked.trace, passes=_placed(looked))
    findings = (*trace.findings, *find(trace, looked))
    failure = trace.failure
    if failure is not None and failure.explanation is None:
        failure = msgspec.structs.replace(failure, explanation=explanation(failure, findings))
    if trace.program.expression is not None:
        failure = None if failure is None else _in_expression(trace.program, failure)
        findings = tuple(_in_expression(trace.program, one) for one in findings)
    return msgspec.structs.replace(trace, failure=failure, findings=findings)


def _in_expression(program: Program, one: _Told) -> _Told:
    return msgspec.structs.replace(one, in_expression=in_expression(program, one.span))


def _placed(looked: TraceIndex) -> tuple[Pass, ...]:
    """The passes, the failed ones with the node that raised."""
    return tuple(
        msgspec.structs.replace(one, failed_node=failed_node(looked.nodes, one)) if one.failed else one
        for one in looked.trace.passes
    )
