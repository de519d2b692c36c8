"""What the engine is asked to run: crosses into the sandbox as one line of JSON."""

from engine.limits import DEFAULT_LIMITS
from engine.trace import Program, Record, RunLimits


class RunRequest(Record, frozen=True):
    """One run."""

    program: Program
    """Source, seed and device."""
    limits: RunLimits = DEFAULT_LIMITS
    """Limits; never above the operator's."""
