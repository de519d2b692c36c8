"""Ends a run whose time is over, and says where the program was.

A signal says so: SIGXCPU, the kernel's, for processor time; SIGVTALRM, the supervisor's, for the time the run had,
which only he can measure.
"""

import faulthandler
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Literal

from engine.events import Failed
from engine.worker.capture.recorder import Recorder
from engine.worker.pytorch.internals import current_frames
from engine.worker.runtime.crash import call_at, call_off
from engine.worker.runtime.program_name import PROGRAM

_LATE_S = 0.05  # when the program leaves no other thread its turn
_TOLD_S = 0.5
_Limit = Literal["wall_s", "cpu_s"]
_TIMES: dict[_Limit, str] = {"wall_s": "time limit of {:g} s", "cpu_s": "limit of {:g} s of processor time"}
_end = os._exit


def line_of(thread: threading.Thread) -> int:
    """The user's line a thread is at, 0 for none."""
    frame = current_frames().get(thread.ident or 0)
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno or 0


class Deadline:
    """The time one run has."""

    def __init__(
        self, recorder: Recorder, thread: threading.Thread, ended: Callable[[], bool], say: Callable[[Failed], None]
    ) -> None:
        """`ended`: whether the program has said all. `say`: tells and sends its failure with what else can be said."""
        self.recorder = recorder
        self.thread = thread
        self.limits = recorder.limits
        self._ended = ended
        self._say = say
        self._at = 0.0
        self._told: _Limit | None = None
        self._telling = threading.Lock()
        """Held by the thread that says where the program was."""

    def begin(self, patience: float) -> None:
        """Counts from now. Called in the recorder's own thread, before the program's begins.

        By the clock alone it ends after `patience` times the limit."""
        if hasattr(signal, "SIGXCPU") and threading.current_thread() is threading.main_thread():
            # without it the process would end at once, and not say where
            signal.signal(signal.SIGXCPU, lambda number, frame: self._note("cpu_s"))
            signal.signal(signal.SIGVTALRM, lambda number, frame: self._note("wall_s"))
        else:
            patience = 1.0  # nobody could tell it
        self._at = time.monotonic() + patience * self.limits.wall_s
        call_at(self.limits.wall_s, patience * self.limits.wall_s + _LATE_S, lambda: self._over("wall_s"))

    def check(self) -> None:
        """Ends the process if a time is over. Called by the recorder's own thread each time it has its turn."""
        if self._told:
            self._over(self._told)
        if time.monotonic() > self._at:
            self._over("wall_s")

    def _note(self, limit: _Limit) -> None:
        self._told = self._told or limit

    def _over(self, limit: _Limit) -> None:
        if self._ended():
            _end(0)  # only a check is under way
        if not self._telling.acquire(blocking=False):
            time.sleep(_TOLD_S)  # the other thread that noticed needs its turn
            return
        call_off()
        site = self.recorder.sites.of(current_frames().get(self.thread.ident or 0))
        line = line_of(self.thread) or max(map(line_of, threading.enumerate()))  # one that it waits for
        what = _TIMES[limit].format(self.limits.wall_s if limit == "wall_s" else self.limits.cpu_s)
        if line:
            message = f"{what} reached at line {line}; make the loop shorter or use less data"
        else:
            message = f"{what} reached outside the program's own lines; let it do less"
            faulthandler.dump_traceback(2)  # for the operator
        self._say(Failed("limit", limit, message, site, (), "", limit=limit))
        _end(0)
