"""The failure of a user's program: its place, its frames, and the text plain Python prints for it."""

import errno
import re
import traceback
from types import FrameType, TracebackType
from typing import Literal

import torch
from torch.multiprocessing.spawn import ProcessRaisedException

from engine.events import Failed, Found
from engine.worker.capture.recorder import Recorder
from engine.worker.capture.safe_repr import class_name
from engine.worker.explain.failure_context import FailureContext, Operand
from engine.worker.explain.syntax_errors import fault
from engine.worker.pytorch.internals import array_bytes
from engine.worker.pytorch.tracebacks import Entry, plain

_MOST_FRAMES = 40
_DEEPEST = 5_000
"""Frames that are printed: a program may let Python go a million deep, and printing them takes a minute."""


def _entries(trace: TracebackType | None) -> list[tuple[FrameType, tuple[int, int]]]:
    entries = []
    while trace is not None:
        entries.append((trace.tb_frame, (trace.tb_lineno, trace.tb_lasti)))
        trace = trace.tb_next
    return entries


def failure(error: BaseException, recorder: Recorder, source: str) -> Failed | None:
    """The event for an exception that ended the program; None for an exit with code 0."""
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return None
    printed = _printed(error)
    error = _origin(error)
    entries = plain(_entries(error.__traceback__))
    frames = tuple([_frame(entry, recorder) for entry in entries[:_MOST_FRAMES]])
    users = (entry for entry in reversed(entries) if recorder.sites.is_users(entry[0].f_code))
    innermost = next(((frame, instruction) for frame, (_, instruction) in users), None)
    site = 0 if innermost is None else recorder.sites.place(innermost[0].f_code, innermost[1])
    raised, op = recorder.raised
    failing, pass_id = recorder.raised_in_pass
    kind: Literal["exception", "exit", "memory", "forbidden"] = "exception"
    text = _text(error)
    name, message = class_name(error), recorder.texts.of_failure(text)
    if isinstance(error, SystemExit):
        kind = "exit"
    asked: dict[str, str] = {}
    if _is_out_of_memory(error, message):
        kind = "memory"
        asked = _asked_bytes(error, message)
        limit = recorder.limits.memory_bytes
        message = message or f"memory ran out: a program may add {limit:,} bytes; make its data smaller"
    elif _is_refused(error, message):
        kind = "forbidden"
    if message != text:
        printed = recorder.texts.of_failure(printed)
    operands, facts = (
        ((), asked) if kind == "memory" or innermost is None else _clues(error, recorder, source, *innermost)
    )
    return Failed(
        kind, name, message, site, frames, printed,
        op if raised is error else 0, pass_id if failing is error else 0, "", operands, facts,
    )  # fmt: skip


def _origin(error: BaseException) -> BaseException:
    """What a rank raised, where the program that waits for it passes that on."""
    return error.__cause__ or error if isinstance(error, ProcessRaisedException) else error


def _printed(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "" if isinstance(error.code, int) else f"{error.code}\n"
    deep = len(_entries(error.__traceback__)) > _DEEPEST
    try:
        return _COLOUR.sub("", "".join(traceback.format_exception(error, limit=-_DEEPEST if deep else None)))
    except BaseException as trouble:
        return f"{class_name(error)}: {_text(error)}\n({type(trouble).__name__} while printing the traceback)\n"


def _frame(entry: Entry, recorder: Recorder) -> tuple[str, int, str, int]:
    frame, (line, instruction) = entry
    code = frame.f_code
    if recorder.sites.is_users(code):
        return code.co_name, recorder.sites.place(code, instruction), "", 0
    return code.co_name, 0, code.co_filename, line


def _clues(
    error: BaseException, recorder: Recorder, source: str, frame: FrameType, instruction: int
) -> tuple[tuple[Operand, ...], dict[str, str]]:
    """Nothing here may cost the failure itself; a program may have bound its names to anything."""
    operands: tuple[Operand, ...] = ()
    try:
        clues = FailureContext(recorder, source, frame, instruction)
        operands = clues.operands()
        return operands, clues.facts(error)
    except BaseException as trouble:
        recorder.trouble("failure", RuntimeError(type(trouble).__name__))
        return operands, {}


def _is_out_of_memory(error: BaseException, message: str) -> bool:
    """PyTorch's CPU allocator raises a plain RuntimeError (c10/core/impl/alloc_cpu.cpp, 2.13)."""
    return (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or (isinstance(error, RuntimeError) and ("can't allocate memory" in message or "bad_alloc" in message))
    )


def _is_refused(error: BaseException, message: str) -> bool:
    """By the sandbox; of shared memory PyTorch says it in a plain RuntimeError (torch/lib/libshm, 2.13)."""
    if isinstance(error, PermissionError):
        return error.errno in (errno.EPERM, errno.EACCES)
    return isinstance(error, RuntimeError) and message.startswith("unable to open shared memory object")


_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_ASKED = re.compile(r"[Tt]ried to allocate ([\d.]+) (bytes|[KMGT]iB)")


def _asked_bytes(error: BaseException, message: str) -> dict[str, str]:
    """How many bytes were asked for, when PyTorch or NumPy says so."""
    size = array_bytes(error)
    if size is None and (found := _ASKED.search(message)):
        size = round(float(found[1]) * _UNITS[found[2]])
    return {} if size is None else {"asked_bytes": str(int(size))}


_COLOUR = re.compile(r"\x1b\[[\d;]*m")
"""How a terminal is told to write in bold: `torch.load` does so."""


def _text(error: BaseException) -> str:
    try:
        return _COLOUR.sub("", str(error))
    except BaseException:  # a program may raise anything here
        return "<exception str() failed>"


def syntax_failure(error: Exception, recorder: Recorder) -> Failed:
    """The event for a program that could not be compiled."""
    printed = "".join(traceback.format_exception_only(type(error), error))
    site = 0
    if isinstance(error, SyntaxError) and error.lineno:
        column = max((error.offset or 1) - 1, 0)
        end = error.end_lineno or error.lineno
        end_column = max((error.end_offset or 0) - 1, 0) or column + 1
        site = recorder.sites.fixed((error.lineno, max(end, error.lineno), column, end_column))
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return Failed("syntax", class_name(error), message, site, (), printed)


def syntax_finding(error: Exception, source: str, recorder: Recorder) -> Found | None:
    """The event that explains why a program could not be compiled; None when nothing certain can be said."""
    found = fault(error, source) if isinstance(error, SyntaxError) else None
    if found is None:
        return None
    parameters = {"line": str(found.place[0]), **found.parameters}
    return Found(found.code, "error", recorder.sites.fixed(found.place), parameters, found.fix)
