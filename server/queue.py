"""Who runs next: a bounded queue in front of the runner, fair between sessions and addresses.

A session (one browser) has at most one running and one waiting run, and a newer one replaces the waiting one. Callers
without a session are held to a number of runs for their address. The same run asked for twice is performed once.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal

from engine.request import RunRequest
from server.metrics import Metrics
from server.problems import Problem
from server.runner import Finished, Progressed, RunEvent, Runner, RunnerDown
from server.store import Store, Stored

RETRY_AFTER_S = 2

log = logging.getLogger("gradgraph.queue")


@dataclass(frozen=True)
class Client:
    """Who asks."""

    address: str
    """Network address."""
    session: str | None
    """One browser; None for programs."""


@dataclass(eq=False)
class LiveRun:
    """A run that waits or is being performed."""

    id: str
    request: RunRequest
    client: Client
    pinned: bool
    """Its trace is never evicted."""
    answer: asyncio.Future[Stored]
    """The finished run, or the Problem that kept it from being performed."""
    detached: bool = False
    """It goes on although nobody waits for the answer."""
    readers: int = 0
    """Callers that wait for the answer."""
    state: Literal["waiting", "running", "finished"] = "waiting"
    since: float = field(default_factory=time.monotonic)
    said: list[tuple[int, RunEvent]] = field(default_factory=list)
    """What happened so far, numbered."""
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, event: RunEvent) -> None:
        """Tell all who follow the run; of progress only the latest is kept."""
        number = self.said[-1][0] + 1 if self.said else 1
        if self.said and isinstance(event, Progressed) and isinstance(self.said[-1][1], Progressed):
            self.said.pop()
        self.said.append((number, event))
        self.wake()

    def wake(self) -> None:
        """Let followers look again."""
        news, self.news = self.news, asyncio.Event()
        news.set()

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, RunEvent]]:
        """What happened after number `after`, and what happens until the run is over."""
        while True:
            news, over = self.news, self.answer.done()
            for number, event in [each for each in self.said if each[0] > after]:
                after = number
                yield number, event
            if over:
                return
            await news.wait()


class Queue:
    """Takes runs in, lets the runner perform them, puts their traces into the store."""

    def __init__(self, runner: Runner, store: Store, metrics: Metrics, length: int, per_address: int) -> None:
        self.length = length
        self._runner = runner
        self._store = store
        self._metrics = metrics
        self._per_address = per_address
        self._waiting: list[LiveRun] = []
        self._running: dict[LiveRun, asyncio.Task[None]] = {}

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def running(self) -> int:
        return len(self._running)

    def find(self, run: str) -> LiveRun | None:
        """The live run with this id, if it waits or is being performed."""
        return next((live for live in (*self._running, *self._waiting) if live.id == run), None)

    def newest_of(self, session: str | None) -> LiveRun | None:
        """The run this browser asked for last, while it waits or is being performed."""
        theirs = [live for live in (*self._running, *self._waiting) if session and live.client.session == session]
        return max(theirs, key=lambda live: live.since, default=None)

    def ahead(self, live: LiveRun) -> int:
        """How many runs that came before a waiting one are not over."""
        return sum(other.since < live.since for other in (*self._running, *self._waiting))

    def enter(self, run: str, request: RunRequest, client: Client, pinned: bool = False) -> LiveRun:
        """The live run for a request: a new one at the end of the queue, or the one already there. Raises Problem."""
        if live := self.find(run):
            return live
        self._make_room(client)
        live = LiveRun(run, request, client, pinned, asyncio.get_running_loop().create_future())
        self._waiting.append(live)
        self._dispatch()
        return live

    async def wait(self, live: LiveRun) -> Stored:
        """The finished run. When every caller that waits is cancelled, so is the run. Raises Problem."""
        live.readers += 1
        try:
            return await asyncio.shield(live.answer)
        finally:
            live.readers -= 1
            if not live.readers and not live.detached and not live.answer.done():
                self._cancel(live)

    async def close(self) -> None:
        """Refuse those who wait, cancel those who run."""
        for live in list(self._waiting):
            self._refuse(live, Problem("cancelled", run=live.id))
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _make_room(self, client: Client) -> None:
        """Check the rules of the queue for one more run of this client."""
        if client.session is not None:
            for older in [live for live in self._waiting if live.client.session == client.session]:
                self._refuse(older, Problem("replaced", retry_after_s=1))
        theirs = sum(live.client.address == client.address for live in (*self._waiting, *self._running))
        if theirs >= self._per_address:
            raise Problem("too-many-runs", retry_after_s=RETRY_AFTER_S, count=theirs, limit=self._per_address)
        if len(self._waiting) >= self.length:
            raise Problem("queue-full", retry_after_s=RETRY_AFTER_S, count=len(self._waiting), retry=RETRY_AFTER_S)

    def _dispatch(self) -> None:
        """Start what can start: in order, passing over those whose session is already running."""
        while len(self._running) < self._runner.capacity and (live := self._next()):
            self._waiting.remove(live)
            live.state = "running"
            self._running[live] = asyncio.create_task(self._perform(live))

    def _next(self) -> LiveRun | None:
        busy = {live.client.session for live in self._running} - {None}
        return next((live for live in self._waiting if live.client.session not in busy), None)

    async def _perform(self, live: LiveRun) -> None:
        try:
            finished = await self._attempt(live)
            if finished is None or finished.lost:  # the machine's fault, never the program's: worth one more try
                finished = await self._attempt(live) or finished
            if finished is None:
                raise Problem("no-worker", retry_after_s=RETRY_AFTER_S, retry=RETRY_AFTER_S)
            self._metrics.runs[finished.status] += 1
            self._metrics.run_took(time.monotonic() - live.since)
            self._store.remember(live.id, finished.stored)
            self._end(live, finished)
            if finished.stored.kept:
                await self._store.keep(live.id, finished.stored, live.pinned)
        except asyncio.CancelledError:
            self._refuse(live, Problem("cancelled", run=live.id))
            raise
        except Problem as problem:
            self._refuse(live, problem)
        except Exception as bug:
            log.exception("run %s could not be performed", live.id)
            self._refuse(live, bug)
        finally:
            live.wake()
            self._running.pop(live, None)
            self._dispatch()

    async def _attempt(self, live: LiveRun) -> Finished | None:
        waited_ms = (time.monotonic() - live.since) * 1000
        try:
            async with aclosing(self._runner.submit(live.id, live.request, waited_ms)) as stream:
                async for event in stream:
                    if isinstance(event, Finished):
                        return event
                    live.say(event)
        except RunnerDown:
            log.exception("run %s lost its worker", live.id)
        return None

    def _end(self, live: LiveRun, finished: Finished) -> None:
        live.state = "finished"
        live.answer.set_result(finished.stored)
        live.say(finished)
        self._running.pop(live, None)
        self._dispatch()

    def _refuse(self, live: LiveRun, why: Exception) -> None:
        if live in self._waiting:
            self._waiting.remove(live)
        if not live.answer.done():
            live.answer.set_exception(why)
            live.answer.exception()  # it may be that nobody reads it
        live.wake()

    def _cancel(self, live: LiveRun) -> None:
        if task := self._running.get(live):
            task.cancel()
        else:
            self._refuse(live, Problem("cancelled", run=live.id))
