"""What the engine is asked to run: crosses into the sandbox as one line of JSON."""

from typing import Literal

from engine.limits import DEFAULT_LIMITS
from engine.trace import Program, Record, RunLimits

CheckKind = Literal["finite-difference", "jacobian"]


class RunRequest(Record, frozen=True):
    """One run."""

    program: Program
    """Source, seed and device."""
    limits: RunLimits = DEFAULT_LIMITS
    """Limits; never above the operator's."""
    checks: tuple[CheckKind, ...] = ()
    """What is to be checked after the program has ended: its gradients by `finite-difference`, and `jacobian`s."""
