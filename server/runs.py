"""What callers may do about runs that are not over: the seam between them and the queue, wherever it is.

`LocalRuns` is the queue of this process; in a cluster `server/cluster/remote_runs.py` asks the node that has the queue.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol

from engine.request import RunRequest
from server.isolation import check_isolation
from server.queue import Client, Queue
from server.runner import Progressed, RunEvent, Runner
from server.settings import Settings
from server.store import Stored

State = Literal["waiting", "running", "finished"]


@dataclass(frozen=True)
class Load:
    """How much there is to do."""

    running: int
    waiting: int
    length: int
    """Most runs that may wait."""
    oldest_s: float
    """How long the one has waited that came first; 0 when none does."""


@dataclass(frozen=True)
class WorkerLoad:
    """A worker node and what it does."""

    name: str
    pool: str
    """Kind of its processors: `cpu` or `cuda`."""
    slots: int
    running: int


@dataclass(frozen=True)
class ClusterLoad:
    """The nodes of a cluster."""

    leader: str | None
    """The web node whose queue is everybody's; None while there is none."""
    redelivered: int
    """Runs that were given to another worker, since that node leads."""
    workers: tuple[WorkerLoad, ...]


class Live(Protocol):
    """A run that waits or is being performed."""

    @property
    def id(self) -> str: ...

    @property
    def state(self) -> State: ...

    @property
    def ahead(self) -> int:
        """Runs whose turn is before its own; 0 once it is being performed."""

    @property
    def expected_s(self) -> float:
        """Seconds until it begins, if runs go on taking as long as of late; 0 once it is being performed."""

    @property
    def progress(self) -> Progressed:
        """Its last word on how far it is."""

    @property
    def refusal(self) -> BaseException | None:
        """Why it was not performed; None for one that was, and while it may be yet."""

    def follow(self, after: int) -> AsyncIterator[tuple[int, RunEvent]]:
        """What happened after number `after`, and what happens until the run is over."""

    async def wait(self) -> Stored:
        """The finished run. When every caller that waits is cancelled, so is the run, unless it was asked for in the
        background of a request or found. Raises Problem."""

    async def stop(self, client: Client) -> bool:
        """End it, if only this client asked for it; whether it had begun, and gives its trace so far. Raises Problem
        where this client has not asked for it."""


class Runs(Protocol):
    """The runs of a service that are not over."""

    async def start(self) -> None:
        """Get ready; returns when runs can be performed, or will be."""

    async def enter(
        self,
        run: str,
        request: RunRequest,
        client: Client,
        *,
        pinned: bool = False,
        background: bool = False,
        detached: bool = False,
    ) -> Live:
        """The live run for a request: a new one at the end of the queue, or the one already there. Raises Problem.

        A pinned one is never evicted from the store; one in the background waits for everybody; a detached one goes on
        although nobody waits for the answer."""

    async def find(self, run: str) -> Live | None:
        """The live run with this id, if it waits or is being performed."""

    async def newest_of(self, session: str | None) -> Live | None:
        """The run this browser asked for last, while it waits or is being performed."""

    @property
    def load(self) -> Load: ...

    @property
    def cluster(self) -> ClusterLoad | None:
        """The other nodes; None for a service of one process."""

    async def wind_down(self, patience_s: float) -> None:
        """The server is to stop: nobody is to wait in vain."""

    async def close(self) -> None:
        """End what was begun here."""


class LocalRuns:
    """The runs of a queue in this process."""

    def __init__(self, queue: Queue, runner: Runner, settings: Settings) -> None:
        self._queue = queue
        self._runner = runner
        self._settings = settings

    async def start(self) -> None:
        await self._runner.start()
        check_isolation(self._runner.isolation, self._settings)
        self._queue.dispatch()

    async def enter(
        self,
        run: str,
        request: RunRequest,
        client: Client,
        *,
        pinned: bool = False,
        background: bool = False,
        detached: bool = False,
    ) -> Live:
        live = self._queue.enter(run, request, client, pinned=pinned, background=background)
        live.detached |= detached
        return live

    async def find(self, run: str) -> Live | None:
        return self._queue.find(run)

    async def newest_of(self, session: str | None) -> Live | None:
        return self._queue.newest_of(session)

    @property
    def load(self) -> Load:
        queue = self._queue
        return Load(queue.running, queue.waiting, queue.length, queue.oldest_s)

    @property
    def cluster(self) -> ClusterLoad | None:
        return None

    async def wind_down(self, patience_s: float) -> None:
        await self._queue.wind_down(patience_s)

    async def close(self) -> None:
        await self._queue.close()
        await self._runner.close()
