"""How a run ended: what the supervisor saw comes first, then what the worker said."""

from collections.abc import Sequence
from typing import Literal

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.outcome import Outcome
from engine.request import RunRequest
from engine.supervisor_failures import ended_by_signal, line_span, stopped_by
from engine.trace import Failure, Frame, Operand, Output, Span

_Status = Literal["ok", "failed", "limited", "crashed"]
_LOST = "the process that ran the program was lost, through no fault of the program; run it again in a minute"


def ending(
    recorded: Recorded, ids: Ids, request: RunRequest, outcome: Outcome, outputs: Sequence[Output]
) -> tuple[Failure | None, _Status]:
    """Why the program did not reach its end, and the status of the run."""
    code = request.program.code
    failed = None if recorded.failed is None else _failure(recorded.failed, recorded, ids)
    if (stopped := outcome.stopped_by) is not None:
        if failed is not None and failed.kind == "limit":
            return failed, "limited"
        place = _last_place(recorded, stopped, failed, code, outputs)
        return stopped_by(stopped, request.limits, place), "limited"
    if recorded.damage:
        message = f"the worker said something that is no event: {recorded.damage}"
        return Failure(kind="crash", type="events", message=message), "crashed"
    if failed is not None:
        return failed, "limited" if failed.kind in ("limit", "memory") and failed.limit else "failed"
    if outcome.signal is not None:
        return ended_by_signal(outcome, code), "crashed"
    if outcome.exit_code is None:
        return Failure(kind="lost", type="worker", message=_LOST), "crashed"
    if outcome.exit_code != 0:
        return _exited(f"the process ended with exit code {outcome.exit_code} before the program did"), "failed"
    if recorded.ended is None:
        return _exited("the process ended before the program did"), "failed"
    return None, "ok"


def _exited(message: str) -> Failure:
    return Failure(kind="exit", type="SystemExit", message=message)


def _last_place(
    recorded: Recorded, stopped: str, failed: Failure | None, code: str, outputs: Sequence[Output]
) -> Span | None:
    """Where a program was when it was stopped, as far as it said so."""
    if failed is not None:
        return failed.span
    if stopped == "output" and outputs:
        return outputs[-1].span
    return line_span(code, recorded.last_line)


def _failure(event: ev.Failed, recorded: Recorded, ids: Ids) -> Failure:
    return Failure(
        kind=event.kind,
        type=event.type,
        message=event.message,
        span=recorded.spans.get(event.site),
        frames=tuple(
            Frame(function=function, span=recorded.spans.get(site), file=file, line=line)
            for function, site, file, line in event.frames
        ),
        op=ids.op.optional(event.op),
        pass_id=ids.pass_.optional(event.pass_id),
        limit=event.limit or None,
        operands=tuple(
            Operand(text=text, type=kind, tensor=ids.tensor.among(number, recorded.tensors))
            for text, kind, number in event.operands
        ),
        facts=event.facts,
        traceback=event.traceback,
    )
