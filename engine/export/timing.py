"""Where the time went, in the Trace Event Format that chrome://tracing and Perfetto open."""

from collections.abc import Iterator

import msgspec

from engine.trace import Trace
from engine.trace_index import TraceIndex

_PHASES = 1
_STEPS = 2

Arguments = dict[str, str | int]


class Slice(msgspec.Struct, frozen=True):
    """A complete event; times in microseconds."""

    name: str
    cat: str
    ts: float
    dur: float
    tid: int
    args: Arguments
    ph: str = "X"
    pid: int = 1


class RowName(msgspec.Struct, frozen=True):
    """A metadata event: what a row is called."""

    tid: int
    args: Arguments
    name: str = "thread_name"
    ph: str = "M"
    pid: int = 1


def timing(trace: Trace) -> bytes:
    """JSON with two rows: the phases of the run; and its operations and node visits in the order of the timeline, those
    of a module's call or of a pass under it.

    All durations are measured. The steps of the second row stand end to end, without the program's own time between
    them and without the recording, so that row has a clock of its own."""
    events: list[Slice | RowName] = [
        RowName(tid=_PHASES, args={"name": "from request to trace"}),
        *_phases(trace),
        RowName(tid=_STEPS, args={"name": "operations and node visits, end to end"}),
        *_steps(trace),
    ]
    return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ms"})


def _phases(trace: Trace) -> Iterator[Slice]:
    times = trace.timings
    at_us = 0.0
    for name, time_ms in (
        ("queued", times.queued_ms),
        ("start", times.start_ms),
        ("run", times.run_ms),
        ("assemble", times.assemble_ms),
    ):
        yield Slice(name, "phase", at_us, time_ms * 1000, _PHASES, {})
        at_us += time_ms * 1000


def _steps(trace: Trace) -> Iterator[Slice]:
    index = TraceIndex(trace)
    at_us = 0.0
    begun: dict[str, float] = {}
    for step in trace.timeline:
        match step.kind:
            case "op" if step.op is not None:
                op = index.ops[step.op]
                line: Arguments = {"line": op.span.line} if op.span is not None else {}
                yield Slice(op.name, "op", at_us, op.time_us, _STEPS, {"id": op.id, **line})
                at_us += op.time_us
            case "visit" if step.pass_id is not None and step.visit is not None:
                visit = index.passes[step.pass_id].visits[step.visit]
                name = index.nodes[visit.node].type
                yield Slice(name, "visit", at_us, visit.time_us, _STEPS, {"id": visit.node, "pass": step.pass_id})
                at_us += visit.time_us
            case "call" if step.call is not None:
                begun[step.call] = at_us
            case "pass" if step.pass_id is not None:
                begun[step.pass_id] = at_us
            case "call_end" if step.call in begun:
                module = index.modules[index.calls[step.call].module]
                yield _around(module.path or module.type, "module", begun.pop(step.call), at_us)
            case "pass_end" if step.pass_id in begun:
                name = f"{index.passes[step.pass_id].kind} {step.pass_id}"
                yield _around(name, "pass", begun.pop(step.pass_id), at_us)


def _around(name: str, category: str, from_us: float, to_us: float) -> Slice:
    return Slice(name, category, from_us, to_us - from_us, _STEPS, {})
