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
_ALLOWED_S = 2
"""A crash may have left a lock held that Python needs."""

_process = 0
_send: Callable[[], None] | None = None
_exits: Callable[[int, FrameType], None] | None = None
_flush: Callable[[], None] | None = None
_late: Callable[[], None] | None = None
_late_at = 0.0


def keep_last_words(
    send: Callable[[], None], exits: Callable[[int, FrameType], None], flush: Callable[[], None]
) -> None:
    """Have `send` called when native code crashes, `exits`, with code and caller, before `os._exit` ends the process, and
    `flush` before the program sends itself a signal.

    None of it happens in processes that the program forks, nor before `stand_by`.
    """
    global _send, _exits, _flush, _process
    _send, _exits, _flush, _process = send, exits, flush, os.getpid()


def stand_by() -> None:
    """Watch for ends of this process and of its forks."""
    _watch_exit()
    _watch_kill()
    if _libc is not None:
        faulthandler.disable()  # it tells where first, and then does as was done before it
        for number in _SIGNALS:
            _libc.signal(number, _crashed)
        faulthandler.enable()


def call_at(seconds: float, late: Callable[[], None]) -> None:
    """Have `late` called then by a thread that has not stood aside, although native code lets no other have its turn."""
    global _late, _late_at
    _late, _late_at = late, time.monotonic() + seconds
    if _libc is not None:
        _libc.signal(int(signal.SIGALRM), _rang)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def stand_aside() -> None:
    """Leave alarms to the other threads: those of the program."""
    if _libc is not None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})


def _ring(number: int) -> None:
    assert _libc is not None
    _libc.signal(number, None)
    if _late is not None and time.monotonic() >= _late_at and os.getpid() == _process:
        _late()
    else:
        getattr(_libc, "raise")(number)  # the program's own


def _watch_exit() -> None:
    end = os._exit

    @functools.wraps(end)
    def _exit(status: int) -> None:
        if _exits is not None and os.getpid() == _process and isinstance(status, int):
            try:
                _exits(status, get_frame(1))
            except Exception:  # nothing may keep it from ending
                end(status)
        end(status)

    os._exit = _exit  # type: ignore[assignment]


def _watch_kill() -> None:
    kill = os.kill

    @functools.wraps(kill)
    def told(pid: int, number: int, /) -> None:
        if _flush is None or not pid == _process == os.getpid():
            kill(pid, number)
        elif number in _SIGNALS:  # as where native code crashes: in this thread, no other can be interrupted anywhere
            signal.pthread_kill(threading.get_ident(), number)
        else:
            _flush()  # nobody is asked before SIGKILL and SIGSTOP take effect
            kill(pid, number)

    os.kill = told


def _last_words(number: int) -> None:
    assert _libc is not None
    _libc.signal(number, None)
    _libc.signal(int(signal.SIGALRM), None)
    _libc.alarm(_ALLOWED_S)
    try:
        if _send is not None and os.getpid() == _process:
            _send()
    finally:
        getattr(_libc, "raise")(number)


# made here and not for each run: the warm process has them ready
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
if _libc is not None:
    _libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
    _libc.signal.restype = ctypes.c_void_p
_crashed = ctypes.CFUNCTYPE(None, ctypes.c_int)(_last_words)
_rang = ctypes.CFUNCTYPE(None, ctypes.c_int)(_ring)
