"""How a run ended, as the supervisor saw it: facts that no word of the worker can change."""

from typing import Literal

from engine.trace import Isolation, Record, Timings

StoppedBy = Literal["wall", "cpu", "memory", "output", "trace", "files", "cancelled"]


class Outcome(Record, frozen=True):
    """The end of one worker process."""

    exit_code: int | None
    """Exit code; null when a signal ended it or it is unknown."""
    signal: int | None
    """Signal that ended it."""
    stopped_by: StoppedBy | None
    """Limit for which the supervisor stopped it, or `cancelled` by the caller."""
    stderr_tail: str
    """Last bytes the process itself wrote to stderr: the sandbox or a crash speaking, not the program's `print`."""
    timings: Timings
    """Where the time went, as the supervisor measured it."""
    isolation: Isolation | None
    """Layers of isolation that were active; null without a sandbox."""
    blobs: int
    """Bytes of blob events that were kept apart."""
