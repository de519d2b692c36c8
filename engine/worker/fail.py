"""The failure of a user's program: its place, its frames, and the text plain Python prints for it."""

import traceback
from pathlib import Path
from types import FrameType, TracebackType

from engine.worker.record import PROGRAM, Ledger, Row

_HERE = str(Path(__file__).resolve().parent)
_OVERRIDES = "torch/overrides.py"
_MOST_FRAMES = 40

Entry = tuple[FrameType, int]


def _entries(trace: TracebackType | None) -> list[tuple[FrameType, int, int]]:
    entries = []
    while trace is not None:
        entries.append((trace.tb_frame, trace.tb_lineno, trace.tb_lasti))
        trace = trace.tb_next
    return entries


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_HERE)


def _kept(trace: TracebackType | None) -> list[int]:
    """Indices of the frames plain Python would have: ours go, and with them PyTorch's detour through `torch/overrides.py`
    and the first of the two frames of a function that was called again past the mode."""
    entries = _entries(trace)
    keep: list[int] = []
    detour = False
    for index, (frame, _, _) in enumerate(entries):
        name = frame.f_code.co_filename
        if _is_ours(frame):
            continue
        if name.endswith(_OVERRIDES):
            detour = True
            continue
        if detour and keep and entries[keep[-1]][0].f_code is frame.f_code:
            keep.pop()
        detour = False
        keep.append(index)
    return keep


def _printed(error: BaseException) -> str:
    """The traceback as plain Python prints it, causes and contexts included."""
    report = traceback.TracebackException.from_exception(error)
    _strip(report, error, set())
    return "".join(report.format())


def _strip(report: traceback.TracebackException, error: BaseException, seen: set[int]) -> None:
    if id(error) in seen:
        return
    seen.add(id(error))
    keep = _kept(error.__traceback__)
    if len(report.stack) >= len(keep):
        report.stack = traceback.StackSummary.from_list([report.stack[i] for i in keep if i < len(report.stack)])
    for inner, cause in ((report.__cause__, error.__cause__), (report.__context__, error.__context__)):
        if inner is not None and cause is not None:
            _strip(inner, cause, seen)


def _library(filename: str) -> str:
    parts = Path(filename).parts
    for marker in ("site-packages", "dist-packages"):
        if marker in parts:
            return "/".join(parts[len(parts) - parts[::-1].index(marker) :])
    return "/".join(parts[-2:])


def failure_row(error: BaseException, ledger: Ledger) -> Row | None:
    """The event for an exception that ended the program; None for an exit with code 0."""
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return None
    frames = []
    site = 0
    entries = _entries(error.__traceback__)
    for index in _kept(error.__traceback__):
        frame, line, instruction = entries[index]
        code = frame.f_code
        here = 0
        if code.co_filename == PROGRAM:
            site = here = ledger.place(code, instruction)
        frames.append((code.co_name, here, "" if here else _library(code.co_filename), 0 if here else line))
    raised, op = ledger.raised
    failing, pass_id = ledger.raised_pass
    kind, name, message, printed = "exception", type(error).__name__, _text(error), ""
    if isinstance(error, SystemExit):
        kind = "exit"
        printed = "" if isinstance(error.code, int) else f"{error.code}\n"
    else:
        try:
            printed = _printed(error)
        except Exception as trouble:
            printed = f"{name}: {message}\n({type(trouble).__name__} while printing the traceback)\n"
    if isinstance(error, MemoryError):
        kind = "memory"
    return (
        "fail", kind, name, message, site, tuple(frames[:_MOST_FRAMES]), printed, op if raised is error else 0,
        pass_id if failing is error else 0,
    )  # fmt: skip


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"


def syntax_row(error: SyntaxError | ValueError, ledger: Ledger) -> Row:
    """The event for a program that could not be compiled."""
    printed = "".join(traceback.format_exception_only(type(error), error))
    site = 0
    if isinstance(error, SyntaxError) and error.lineno:
        column = max((error.offset or 1) - 1, 0)
        end = error.end_lineno or error.lineno
        end_column = max((error.end_offset or 0) - 1, 0) or column + 1
        site = ledger.fixed_place(error.lineno, max(end, error.lineno), column, end_column)
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return ("fail", "syntax", type(error).__name__, message, site, (), printed)
