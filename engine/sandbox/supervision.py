"""What the supervisor knows of a run: bytes counted, limits watched, its end as facts. It trusts no word of a child."""

import asyncio
import os
from collections.abc import Callable

from engine.limits import MIB, STOPPING_OUTPUT_BYTES
from engine.outcome import Outcome, StoppedBy
from engine.sandbox.messages import OUT_OF_MEMORY, Exited
from engine.trace import Isolation, RunLimits, Timings

GRACE_S = 0.8
"""The worker stops itself at the limit and says where the program was; after this it is killed."""
LATE_S = 0.1
"""After this native code that leaves no other thread its turn is interrupted."""
FLUSH_S = 0.5
"""The worker says what the program printed a little later than the program prints it."""
TAIL_BYTES = 16 * 1024
MEMORY_SLACK_BYTES = 64 * MIB
"""The address space limit gives the friendlier failure, so it comes first."""
_ENDS: dict[int | None, StoppedBy] = {-24: "cpu", OUT_OF_MEMORY: "memory"}
"""Ends that are a limit's doing: SIGXCPU (not every system has the name), and what a child says of itself."""
_BLOB = b'["blob"'


class Supervision:
    """One run from request to end. `kill` ends the process; it is called at most once. `on_over` is called when the
    process has said all."""

    def __init__(
        self,
        limits: RunLimits,
        kill: Callable[[], None],
        on_event: Callable[[bytes], None] | None,
        on_over: Callable[[], None] = lambda: None,
    ) -> None:
        self.lines: list[bytes] = []
        self.is_late = False
        """Its time is over: it was told so, and how it ends now is the limit's doing."""
        self.over = False
        """It has said its last word. What it would do then is cut short: it gains nothing by saying so too early."""
        self._limits = limits
        self._kill = kill
        self._on_event = on_event
        self._on_over = on_over
        self._stopped_by: StoppedBy | None = None
        self._partial: list[bytes] = []
        self._said_bytes = 0
        self._blob_bytes = 0
        self._tail = b""
        self._output_bytes = 0

    def on_events(self, data: bytes) -> None:
        """Take bytes of events; an unfinished line waits for its end and is dropped when there is none."""
        self._said_bytes += len(data)
        if self._said_bytes > self._limits.trace_bytes + MIB:
            self.stop("trace")
        if self._stopped_by == "trace" or self.over:
            return
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = b"".join((*self._partial, whole[0]))
            self._partial.clear()
        self._partial.append(rest)
        for line in whole:
            if not line:
                self.over = True
                self._on_over()
                return
            self.lines.append(line)
            if line.startswith(_BLOB):
                self._blob_bytes += len(line)
            if self._on_event:
                self._on_event(line)

    def on_output(self, data: bytes) -> None:
        """Take bytes that the process wrote to its stdout or stderr, by `print` or past it."""
        self._output_bytes += len(data)
        self._tail = (self._tail + data)[-TAIL_BYTES:]
        if self._output_bytes > STOPPING_OUTPUT_BYTES:
            self.stop("output", after_s=FLUSH_S)

    def on_memory(self, added_bytes: int) -> None:
        """Take how much the process grew since it was given its request."""
        if added_bytes > self._limits.memory_bytes + MEMORY_SLACK_BYTES:
            self.stop("memory")

    def stop(self, reason: StoppedBy, after_s: float = 0) -> None:
        """Kill the run; the first reason counts."""
        if self._stopped_by is None:
            self._stopped_by = reason
            asyncio.get_running_loop().call_later(after_s, self._kill)

    def outcome(self, exited: Exited | None, timings: Timings, isolation: Isolation | None) -> Outcome:
        """How it ended; `exited` is None when its supervisor was lost with it, or it was over before it had ended."""
        code = 0 if self.over else os.waitstatus_to_exitcode(exited.status) if exited else None
        ends = dict(_ENDS)
        if exited and exited.cpu_s >= self._limits.cpu_s:  # native code left no moment to stop by itself
            ends[-9] = "cpu"
        if (
            self.is_late and code is not None and code < 0
        ):  # its last words may end it too, said in the middle of native code
            ends.setdefault(code, "wall")
        return Outcome(
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            stopped_by=self._stopped_by or ("files" if exited and exited.overfilled else ends.get(code)),
            stderr_tail=self._tail.decode(errors="replace"),
            timings=timings,
            isolation=isolation,
            blobs=self._blob_bytes,
        )
