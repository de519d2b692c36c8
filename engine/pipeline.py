"""The whole way of a run: request → events → trace → findings; it needs no server and, where one says so, no sandbox.

A pool takes the first step, `lines, outcome = await Pool().run(request)`, in a process of its own: sandboxed, or with
`Pool(sandboxed=False)` an ordinary one. `trace_of` takes the rest and is pure. `engine/local.py` is both for
synchronous code; the server takes the second step on threads and in processes beside it.
"""

import time
from collections.abc import Iterable

import msgspec

from engine.assemble import assemble
from engine.outcome import Outcome
from engine.request import RunRequest
from engine.trace import Trace


def trace_of(run: str, request: RunRequest, lines: Iterable[bytes], outcome: Outcome, waited_ms: float = 0.0) -> Trace:
    """The trace of what a process said, with findings and times; before the pool had it, it waited for `waited_ms`."""
    began = time.perf_counter()
    trace = assemble(run, request, lines, outcome)
    assemble_ms = (time.perf_counter() - began) * 1000
    timings = msgspec.structs.replace(
        trace.timings,
        total_ms=trace.timings.total_ms + waited_ms + assemble_ms,
        queued_ms=trace.timings.queued_ms + waited_ms,
        assemble_ms=assemble_ms,
    )
    return msgspec.structs.replace(trace, timings=timings)
