"""Whether the machine has time for what could as well be left: whether its processors idled of late."""

import math
import os
import time
from collections.abc import Callable
from pathlib import Path

_LOOK_S = 0.1
"""Seconds between two looks: the kernel counts in hundredths."""
_ENOUGH = 0.4
_TOO_LITTLE = 0.2
"""Less than the other share, because what is done in this time fills some of it."""


def idle_s() -> float:
    """Seconds that all processors together have idled; infinite where the system does not say."""
    try:
        line = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        return (int(line[4]) + int(line[5])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return math.inf


class Leisure:
    """Looks at the time since it last looked."""

    def __init__(self, idle: Callable[[], float] = idle_s, clock: Callable[[], float] = time.monotonic) -> None:
        self._idle = idle
        self._clock = clock
        self._at = clock(), idle()
        self._has_time = True

    def has_time(self) -> bool:
        """Whether a fair share of the processors idles."""
        (before, idled), (now, idles) = self._at, (self._clock(), self._idle())
        if now - before >= _LOOK_S and math.isfinite(idles):
            share = (idles - idled) / (now - before) / (os.cpu_count() or 1)
            self._has_time = share > (_TOO_LITTLE if self._has_time else _ENOUGH)
            self._at = now, idles
        return self._has_time
