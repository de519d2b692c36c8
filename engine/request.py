"""What the engine is asked to run: crosses into the sandbox as one line of JSON."""

from typing import Literal

from engine.devices import checked
from engine.limits import DEFAULT_LIMITS
from engine.trace import Program, Record, RunLimits

CheckKind = Literal["finite-difference", "jacobian", "surface", "calls"]


class RunRequest(Record, frozen=True):
    """One run. Raises ValueError for a device that nothing runs on."""

    program: Program
    """Source, seed and device."""
    limits: RunLimits = DEFAULT_LIMITS
    """Limits; never above the operator's."""
    checks: tuple[CheckKind, ...] = ()
    """What is to be worked out beside the run: after its end the gradients by `finite-difference`, `jacobian`s and the
    `surface` of a function of two numbers; while it runs, the `calls` of its own functions."""

    def __post_init__(self) -> None:
        checked(self.program.device)
