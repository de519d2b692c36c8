"""Where runs are performed: the seam between the server and whatever executes programs.

A request goes in and events come out, each as versioned data. `server/local_runner.py` performs runs on this machine;
another runner may hand the same requests to other machines.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol

from engine.request import RunRequest
from engine.trace import Isolation, Record
from server.store import Stored


class Started(Record, frozen=True, tag="started"):
    """The program begins."""


class Printed(Record, frozen=True, tag="output"):
    """The program printed something."""

    stream: Literal["stdout", "stderr"]
    """Where it went."""
    text: str
    """The text."""


class Progressed(Record, frozen=True, tag="progress"):
    """How far a run is, as its worker says."""

    elapsed_s: float
    """Seconds since it began, by the clock of the server."""
    line: int
    """Line of the program it is at; 0 when no line of the program's own is running."""
    ops: int
    """Forward operations recorded so far."""


@dataclass(frozen=True)
class Finished:
    """The run is over."""

    status: str
    """The trace's status."""
    lost: bool
    """The worker was lost through no fault of the program; trying again may help."""
    stored: Stored
    """The trace, ready to be kept and sent."""
    codes: tuple[str, ...] = ()
    """Of its findings."""


RunEvent = Started | Printed | Progressed | Finished


class RunnerDown(Exception):
    """The machinery failed before there was a trace; the program is not at fault."""


class Runner(Protocol):
    """Performs runs somewhere."""

    async def start(self) -> None:
        """Get ready; returns when runs can be submitted."""

    def submit(self, run: str, request: RunRequest, waited_ms: float) -> AsyncGenerator[RunEvent, None]:
        """Perform a run; the last event is Finished. Closing the generator cancels the run. Raises RunnerDown."""

    def cancel(self, run: str) -> None:
        """End a run that is being performed; its Finished comes soon, with what was recorded so far."""

    def yield_processor(self, run: str) -> None:
        """Let a run have only what the others leave: it has taken long."""

    def take_processor(self, run: str) -> None:
        """Let a run have its full share again: nobody else wants it."""

    @property
    def capacity(self) -> int:
        """Runs it performs at the same time with their full share; 0 before `start`."""

    @property
    def slow_capacity(self) -> int:
        """Runs it performs beside those after they have yielded; 0 before `start`."""

    @property
    def isolation(self) -> Isolation | None:
        """How runs are kept apart, by self-test; None before `start`."""

    @property
    def devices(self) -> tuple[str, ...]:
        """Devices a program can have."""

    async def close(self) -> None:
        """Stop all runs and give everything back."""
