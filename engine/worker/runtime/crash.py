"""Last words of a process that ends before its program does: what was recorded is sent first."""

import ctypes
import faulthandler
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

from engine.worker.pytorch.internals import get_frame

_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL") if hasattr(signal, name)
)
_IGNORED = 1  # SIG_IGN
_ALLOWED_S = 2
"""A crash may have left a lock held that Python needs."""


class _LastWords:
    """What is done at which end of which process. There is one: a signal's handler has no other way to it."""

    def __init__(self) -> None:
        self.process = 0
        self.send: Callable[[], None] | None = None
        self.exits: Callable[[int, FrameType], None] | None = None
        self.flush: Callable[[], None] | None = None
        self.late: Callable[[], None] | None = None
        self.late_at = 0.0

    def are_of_this_process(self) -> bool:
        """Whether this is the process that records, not one that the program forked."""
        return os.getpid() == self.process


_words = _LastWords()


def keep_last_words(
    send: Callable[[], None], exits: Callable[[int, FrameType], None], flush: Callable[[], None]
) -> None:
    """Have `send` called when native code crashes, `exits`, with code and caller, before `os._exit` ends the process,
    and `flush` before the program sends itself a signal.

    None of it happens in processes that the program forks, nor before `stand_by`.
    """
    _words.send, _words.exits, _words.flush, _words.process = send, exits, flush, os.getpid()


def stand_by() -> None:
    """Watch for ends of this process and of its forks."""
    _watch_exit()
    _watch_kill()
    if _libc is not None:
        faulthandler.disable()  # it tells where first, and then does as was done before it
        for number in _SIGNALS:
            _libc.signal(number, _crashed)
        faulthandler.enable()


def call_at(earliest_s: float, latest_s: float, late: Callable[[], None]) -> None:
    """Have `late` called at an alarm between these times, at the latest then, by a thread that takes alarms, although
    native code lets no other have its turn.

    From now on this thread takes none, nor do those it starts: an alarm here would wait for the turn that never comes.
    The handler enters Python, which is right in a thread that holds Python's lock, as native code that does not end
    does. A thread that is just handing the lock on holds the lock of the lock: there the handler would wait for itself
    (`take_gil` in Python/ceval_gil.h of CPython 3.11). So it rings only when the recorder's own thread has had no turn,
    and `call_off` ends it.
    """
    _words.late, _words.late_at = late, time.monotonic() + earliest_s
    if _libc is not None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        _libc.signal(int(signal.SIGALRM), _rang)
        signal.setitimer(signal.ITIMER_REAL, latest_s)


def take_alarms() -> None:
    """In the program's first thread: alarms are for it and for the threads it starts."""
    if _libc is not None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})


def call_off() -> None:
    """Have nothing called any more: one who waits for Python's lock is not to be called in the middle of that."""
    if _libc is not None:
        _libc.signal(int(signal.SIGALRM), _IGNORED)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _ring(number: int) -> None:
    assert _libc is not None
    _libc.signal(number, None)
    if _words.late is not None and time.monotonic() >= _words.late_at and _words.are_of_this_process():
        _words.late()
    else:
        getattr(_libc, "raise")(number)  # the program's own


def _watch_exit() -> None:
    end = os._exit

    @functools.wraps(end)
    def _exit(status: int) -> None:
        if _words.exits is not None and _words.are_of_this_process() and isinstance(status, int):
            try:
                _words.exits(status, get_frame(1))
            except Exception:  # nothing may keep it from ending
                end(status)
        end(status)

    os._exit = _exit  # type: ignore[assignment]


def _watch_kill() -> None:
    kill = os.kill

    @functools.wraps(kill)
    def told(pid: int, number: int, /) -> None:
        if _words.flush is None or not pid == _words.process == os.getpid():
            kill(pid, number)
        elif number in _SIGNALS:  # as where native code crashes: in this thread, no other can be interrupted anywhere
            signal.pthread_kill(threading.get_ident(), number)
        else:
            _words.flush()  # nobody is asked before SIGKILL and SIGSTOP take effect
            kill(pid, number)

    os.kill = told


def _last_words(number: int) -> None:
    assert _libc is not None
    _libc.signal(number, None)
    _libc.signal(int(signal.SIGALRM), None)
    _libc.alarm(_ALLOWED_S)
    try:
        if _words.send is not None and _words.are_of_this_process():
            _words.send()
    finally:
        getattr(_libc, "raise")(number)


# made here and not for each run: the warm process has them ready
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
if _libc is not None:
    _libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
    _libc.signal.restype = ctypes.c_void_p
_crashed = ctypes.CFUNCTYPE(None, ctypes.c_int)(_last_words)
_rang = ctypes.CFUNCTYPE(None, ctypes.c_int)(_ring)
