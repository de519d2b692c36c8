"""The failures that a worker cannot tell itself: it was stopped, or its process died."""

import itertools
import re

from engine.limits import STOPPING_OUTPUT_BYTES
from engine.outcome import Outcome
from engine.program.spans import Lines, margin_of
from engine.trace import Failure, RunLimits, Span

_LIMITS = {"wall": "wall_s", "cpu": "cpu_s", "memory": "memory_bytes", "trace": "trace_bytes"}


def stopped_by(stopped: str, limits: RunLimits, span: Span | None) -> Failure:
    """The failure of a run that the supervisor stopped; `span` is where it was seen last."""
    limit = _LIMITS.get(stopped)
    at = f" at line {span.line}" if span else ""
    if stopped == "files":
        message = f"the program put too much into its folder{at}; write fewer and smaller files"
        return Failure(kind="limit", type="files", message=message, span=span, limit="files")
    if stopped == "output":
        message = f"the program printed more than {STOPPING_OUTPUT_BYTES:,} bytes{at} and was stopped; print less"
        return Failure(kind="limit", type="output_bytes", message=message, span=span, limit="output_bytes")
    if limit is None:
        return Failure(kind="lost", type="cancelled", message=f"the run was cancelled{at}", span=span)
    kind = "memory" if stopped == "memory" else "limit"
    value = getattr(limits, limit)
    message = f"the limit `{limit}` = {value:,} was reached{at}; make the program smaller"
    return Failure(kind=kind, type=limit, message=message, span=span, limit=limit)  # type: ignore[arg-type]


_SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    3: "SIGQUIT",
    4: "SIGILL",
    5: "SIGTRAP",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    10: "SIGUSR1",
    11: "SIGSEGV",
    12: "SIGUSR2",
    13: "SIGPIPE",
    14: "SIGALRM",
    15: "SIGTERM",
    31: "SIGSYS",
}
_ALARM = 14
"""Ends a process whose last words stick."""
_CRASHES = {
    "Segmentation fault": 11,
    "Aborted": 6,
    "Bus error": 7,
    "Floating point exception": 8,
    "Illegal instruction": 4,
}


def ended_by_signal(outcome: Outcome, code: str) -> Failure:
    """The failure of a run whose process died of a signal."""
    number = outcome.signal or 0
    if number == _ALARM:  # it crashed and then could not say its last words
        number = _CRASHES.get(_said_by_handler(outcome.stderr_tail), number)
    name = _SIGNALS.get(number, f"signal {number}")
    span = _crash_span(outcome.stderr_tail, code)
    if number == 31:
        message = "the program made a system call that the sandbox forbids, and was ended by SIGSYS"
        return Failure(kind="forbidden", type=name, message=message, span=span)
    if number == 9:
        message = (
            "the process was killed by SIGKILL: where the program did not do so itself, most likely because the "
            "machine ran out of memory; run it again"
        )
        return Failure(kind="crash", type=name, message=message, span=span)
    how = "crashed inside native code and was" if number in _CRASHES.values() else "was"
    message = f"the process {how} ended by {name}; what it said before is kept"
    return Failure(kind="crash", type=name, message=message, span=span)


def _said_by_handler(stderr_tail: str) -> str:
    """What Python's fault handler calls the crash."""
    named = re.search(r"^Fatal Python error: (.+)$", stderr_tail, re.MULTILINE)
    return named[1] if named else ""


def _crash_span(stderr_tail: str, code: str) -> Span | None:
    """The innermost line of the program that Python's fault handler named."""
    named = re.search(r'^  File "<program>", line (\d+) in', stderr_tail, re.MULTILINE)
    return line_span(code, int(named[1][:9])) if named else None


_TOLD = re.compile(
    r'^(?:Current thread|Thread) 0x[0-9a-f]{1,16}\b|^  File "([^"\n<>]{1,300})", line (\d{1,9}) in (\w{1,100})$',
    re.MULTILINE,
)
_MOST_TOLD = 60


def stacks(stderr_tail: str) -> list[str]:
    """Where a process's threads were, as its fault handler said, for the operator: nothing of the program's own."""
    found = itertools.islice(_TOLD.finditer(stderr_tail), _MOST_TOLD)
    return [f"{frame[1]}:{frame[2]} {frame[3]}" if frame[1] else "thread" for frame in found]


def line_span(code: str, number: int) -> Span | None:
    """One line of the program, as text without its indent; None when there is no such line."""
    lines = Lines(code)
    if not 0 < number <= lines.count:
        return None
    text = lines.lines[number - 1]
    return Span(line=number, end_line=number, column=len(margin_of(text)), end_column=len(text))
