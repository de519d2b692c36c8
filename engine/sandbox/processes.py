"""Processes that perform one run each: what the pool needs of them, however they are made and isolated."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from engine.devices import KINDS
from engine.sandbox.canary import Targets
from engine.sandbox.messages import Exited, Ready

ENGINE_PARENT = str(Path(__file__).resolve().parents[2])
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "user",
    "LOGNAME": "user",
    "PYTHONPATH": ENGINE_PARENT,
    "PYTHONHASHSEED": "0",  # sets of words come in the same order in every run
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    # huge pages for everything Python allocates: half the page tables to copy, so a fork takes half the time
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "OMP_THREAD_LIMIT": "4",  # libgomp exits the process when a thread cannot be made
    "OPENBLAS_NUM_THREADS": "1",  # its threads would not survive the fork
    **{name: value for kind in KINDS for name, value in kind.environment.items()},
}
"""All the environment a program finds: nothing of the server's is inherited."""


class ZygoteLost(Exception):
    """The warm process ended, and what it had forked with it."""


class SandboxBroken(Exception):
    """A child could not close its sandbox; it was never given a program."""


class Process(Protocol):
    """Waits for a request, runs it, ends."""

    closed: asyncio.Future[None]
    """Done when the sandbox is closed around it and it waits for its request. Fails with SandboxBroken."""
    exited: asyncio.Future[Exited]
    """Its end; everything it said has been heard by then. Fails with ZygoteLost."""

    async def send(
        self, request: bytes, on_events: Callable[[bytes], None], on_output: Callable[[bytes], None]
    ) -> None:
        """Give it its request; from now on `on_events` gets its events' bytes, `on_output` what it writes to stderr."""

    def kill(self) -> None:
        """End it and all it started, whatever it is doing."""

    def tell(self, name: str) -> None:
        """Send it the signal of that name, and let it go on if it has stopped itself: its time is over."""

    def waited_s(self) -> float:
        """How long it was ready to run and had no processor. 0 when that is not known."""

    def yield_processor(self) -> None:
        """From now on it gets only the processor time that nobody else wants, as far as the system has a word for
        it."""

    def take_processor(self) -> None:
        """It gets its share again, where the system lets us give it back."""

    def own_bytes(self) -> int:
        """Memory it holds that is not a file's: what grows when it allocates. 0 when that is not known, or it is
        gone."""

    def drain(self) -> None:
        """Take what it has said and nobody has read yet."""


class Processes(Protocol):
    """Where they come from."""

    ready: asyncio.Future[Ready]
    lost: bool
    """It makes none any more: another has to take its place."""

    async def spawn(self, device: str = ..., canary: Targets | None = None, *, prefault: bool = False) -> Process:
        """A new process, which gets ready while the caller goes on, and prefaults its memory if there is time.

        Raises ZygoteLost and SandboxBroken."""

    async def close(self) -> None:
        """End all of them; nothing stays."""


def waited_s(pid: int) -> float:
    """The longest that a thread of a process was ready and had no processor, as the kernel counts it
    (Documentation/scheduler/sched-stats.rst)."""
    waited_ns = 0
    for thread in threads_of(pid):
        with contextlib.suppress(OSError, IndexError):  # it has just ended
            waited_ns = max(waited_ns, int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_bytes().split()[1]))
    return waited_ns / 1e9


def threads_of(pid: int) -> tuple[int, ...]:
    """The threads of a process; none when it has ended, or no file is left to look with."""
    try:
        return tuple(int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return ()


def retrieve(future: asyncio.Future[Exited] | asyncio.Future[None] | asyncio.Future[Ready]) -> None:
    """An end that nobody awaits is no bug of ours."""
    if not future.cancelled():
        future.exception()


def settle(future: asyncio.Future[None]) -> None:
    """Have it done, if it is not already."""
    if not future.done():
        future.set_result(None)
