"""What a process of the service does to itself."""

import contextlib
import ctypes
import sys

PR_SET_DUMPABLE = 4


def hide_memory() -> None:
    """Let no other process of this user read this one's memory or environment, and let no core be dumped."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
