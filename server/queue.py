"""Who runs next: a bounded queue in front of the runner, fair between addresses and the sessions behind them.

A session (one browser) has at most one running and one waiting run, and a newer one replaces the waiting one. Whoever
has the fewest runs going, and was served longest ago, is next: a flood waits behind itself. A run that takes long
yields its worker and goes on beside it, at idle priority while newer runs are there, so a few endless loops keep no
short run waiting. The same run asked for twice is performed once.

A run in the background is one that nobody asked for. Of these one at a time begins when a worker is idle and nobody
waits. It goes on beside the workers from its first moment; where there is no room it is given up for the next run.
"""

import asyncio
import contextlib
import itertools
import logging
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from engine.request import RunRequest
from server.metrics import Metrics
from server.problems import Problem
from server.rate_limit import RateLimit
from server.runner import Finished, Progressed, RunEvent, Runner, RunnerDown, Started
from server.settings import Settings
from server.store import Stored, StoreDown
from server.traces import Traces

RETRY_AFTER_S = 2
RELIEF_S = 0.5
"""Seconds without a newer run after which the slow ones have their share again."""
_REMEMBERED = 4096
"""Addresses and clients whose last turn is kept in mind."""

log = logging.getLogger("gradgraph.queue")


@dataclass(frozen=True)
class Client:
    """Who asks."""

    address: str
    """Network address."""
    session: str | None
    """One browser; None for programs."""


class Telling:
    """What has happened to a run, for all who follow it to its end."""

    def __init__(self, answer: asyncio.Future[Stored]) -> None:
        self.answer = answer
        """The finished run, or the Problem that kept it from being performed."""
        self.said: list[tuple[int, RunEvent]] = []
        """What happened so far, numbered."""
        self._news = asyncio.Event()

    def say(self, event: RunEvent) -> None:
        """Tell all who follow the run what happens next."""
        self.say_as(self.last + 1, event)

    def say_as(self, number: int, event: RunEvent) -> None:
        """Tell it under its number; of progress only the latest is kept."""
        if self.said and isinstance(event, Progressed) and isinstance(self.said[-1][1], Progressed):
            self.said.pop()
        self.said.append((number, event))
        self.wake()

    @property
    def last(self) -> int:
        """Number of the latest that was said."""
        return self.said[-1][0] if self.said else 0

    @property
    def progress(self) -> Progressed:
        """Its last word on how far it is."""
        words = (event for _, event in reversed(self.said) if isinstance(event, Progressed))
        return next(words, Progressed(elapsed_s=0.0, line=0, ops=0))

    @property
    def refusal(self) -> BaseException | None:
        """Why it was not performed; None for one that was, and while it may be yet."""
        return self.answer.exception() if self.answer.done() else None

    def refuse(self, why: Exception) -> None:
        """It is not performed."""
        if not self.answer.done():
            self.answer.set_exception(why)
            self.answer.exception()  # it may be that nobody reads it
        self.wake()

    def wake(self) -> None:
        """Let followers look again."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, RunEvent]]:
        """What happened after number `after`, and what happens until the run is over."""
        while True:
            news, over = self._news, self.answer.done()
            for number, event in [each for each in self.said if each[0] > after]:
                after = number
                yield number, event
            if over:
                return
            await news.wait()


class LiveRun(Telling):
    """A run that waits or is being performed."""

    def __init__(
        self, queue: "Queue", run: str, request: RunRequest, client: Client, *, pinned: bool, background: bool
    ) -> None:
        super().__init__(asyncio.get_running_loop().create_future())
        self._queue = queue
        self.id = run
        self.request = request
        self.client = client
        self.pinned = pinned
        """Its trace is never evicted."""
        self.background = background
        """Nobody asked for it: it is performed while the machine has nothing else to do."""
        self.detached = False
        """It goes on although nobody waits for the answer."""
        self.readers = 0
        """Callers that wait for the answer."""
        self.askers = {client}
        """All who asked for it and have not cancelled it."""
        self.state: Literal["waiting", "running", "finished"] = "waiting"
        self.slow = False
        """It has taken long and goes on beside the workers."""
        self.yielded = False
        """It has only the processor time that newer runs leave."""
        self.overdue = False
        """It has taken long, and would yield if there were room beside the workers."""
        self.ending = False
        """Nobody wanted it any more, and it goes on for a moment: who asks for it now begins it anew."""
        self.since = time.monotonic()

    @property
    def ahead(self) -> int:
        """Runs whose turn is before its own; 0 once it is being performed."""
        return self._queue.ahead(self) if self.state == "waiting" else 0

    @property
    def expected_s(self) -> float:
        """Seconds until it begins, if runs go on taking as long as of late; 0 once it is being performed."""
        return self._queue.expected_s(self) if self.state == "waiting" else 0.0

    def wait(self) -> Coroutine[Any, Any, Stored]:
        """The finished run. When every caller that waits is cancelled, so is the run. Raises Problem.

        Who calls this waits from the call on: others may go before its first step."""
        self.readers += 1
        return self._answered()

    async def _answered(self) -> Stored:
        try:
            return await asyncio.shield(self.answer)
        finally:
            self.readers -= 1
            if not self.readers and not self.detached and not self.answer.done():
                self._queue.cancel(self)

    async def stop(self, client: Client) -> bool:
        """End it, if only this client asked for it; whether it had begun, and gives its trace so far. Raises Problem
        where this client has not asked for it."""
        return self._queue.stop(self, client)


class Queue:
    """Takes runs in, lets the runner perform them, puts their traces into the store."""

    def __init__(
        self, runner: Runner, traces: Traces, metrics: Metrics, settings: Settings, *, stores_first: bool = False
    ) -> None:
        """With `stores_first` a trace is in the store before it is an answer: this process may go and others stay."""
        self.length = settings.queue
        self._stores_first = stores_first
        self._runner = runner
        self._traces = traces
        self._metrics = metrics
        self._per_address = settings.per_address
        self._rate = RateLimit(settings.rate_per_s, settings.rate_burst, time.monotonic)
        self._quick_s = settings.quick_s
        self._waiting: list[LiveRun] = []
        self._running: dict[LiveRun, asyncio.Task[None]] = {}
        self._relief: asyncio.TimerHandle | None = None
        self._turns = itertools.count()
        self._served: dict[str | Client, int] = {}
        """The last turn of each address and of each client."""
        self._turn_s = settings.quick_s / 10
        """Seconds a run has kept a worker for itself of late."""

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def oldest_s(self) -> float:
        """How long the run has waited that came first; 0 when none does."""
        now = time.monotonic()
        return max((now - live.since for live in self._wanted), default=0.0)

    @property
    def _wanted(self) -> list[LiveRun]:
        """Those that wait and that somebody asked for."""
        return [live for live in self._waiting if not live.background]

    def find(self, run: str) -> LiveRun | None:
        """The live run with this id, if it waits or is being performed."""
        known = [live for live in (*self._running, *self._waiting) if live.id == run]
        return min(known, key=lambda live: live.ending, default=None)

    def newest_of(self, session: str | None) -> LiveRun | None:
        """The run this browser asked for last, while it waits or is being performed."""
        theirs = [live for live in (*self._running, *self._waiting) if session and live.client.session == session]
        return max(theirs, key=lambda live: live.since, default=None)

    def ahead(self, live: LiveRun) -> int:
        """How many runs come before a waiting one: those that have a worker, and those whose turn is earlier."""
        before = [other for other in self._wanted if other.client == live.client and other.since < live.since]
        others = Counter(other.client for other in self._wanted if other.client != live.client)
        rounds = sum(min(count, len(before) + 1) for count in others.values())
        return len(before) + rounds + sum(not other.slow for other in self._running)

    def expected_s(self, live: LiveRun) -> float:
        """Seconds until a waiting run begins, if runs go on taking as long as of late."""
        return round(self.ahead(live) * self._turn_s / max(1, self._runner.capacity), 2)

    def enter(
        self,
        run: str,
        request: RunRequest,
        client: Client,
        *,
        pinned: bool = False,
        background: bool = False,
        is_back: bool = False,
    ) -> LiveRun:
        """The live run for a request: a new one at the end of the queue, or the one already there. Raises Problem.

        One that is back was let in by another queue, which is no more: the rules were kept then."""
        if (live := self.find(run)) and not live.ending:
            live.askers.add(client)
            if live.background and not background:
                self._promote(live, client)
            return live
        if not background:
            if not is_back:
                self._make_room(client)
        elif len(self._waiting) >= self.length:
            raise Problem("cancelled", run=run)
        live = LiveRun(self, run, request, client, pinned=pinned, background=background)
        self._waiting.append(live)
        self.dispatch()
        return live

    def stop(self, live: LiveRun, client: Client) -> bool:
        """End a run that only this client asked for; whether it had begun, and gives its trace so far. Raises Problem
        where this client did not ask for it."""
        if client not in live.askers:
            raise Problem("not-your-run", run=live.id)
        live.askers.discard(client)
        if live.askers:
            return False
        if live.state == "waiting":
            self._refuse(live, _cancelled(live.id))
            return False
        live.ending = True
        self._runner.cancel(live.id)
        return True

    def turn_away(self, why: Callable[[str], Problem]) -> None:
        """Refuse those who wait."""
        for live in list(self._waiting):
            self._refuse(live, why(live.id))

    async def wind_down(self, patience_s: float) -> None:
        """The server is to stop: refuse those who wait, end those who run longer than this with what they recorded."""
        self.length = 0
        self.turn_away(_cancelled)
        if self._running:
            await asyncio.wait(self._running.values(), timeout=patience_s)
        for live in self._running:
            self._runner.cancel(live.id)

    async def close(self) -> None:
        """Refuse those who wait, cancel those who run."""
        self.turn_away(_cancelled)
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _promote(self, live: LiveRun, client: Client) -> None:
        """Somebody asks for what was done in the background: it is theirs, and as quick as any."""
        live.background, live.client = False, client
        if live.state == "running" and live.yielded:
            live.yielded = False
            self._runner.take_processor(live.id)
        self.dispatch()

    def _make_room(self, client: Client) -> None:
        """Check the rules of the queue for one more run of this client."""
        if wait_s := self._rate.wait_s(client.address):
            raise Problem("too-fast", retry_after_s=math.ceil(wait_s), limit=f"{self._rate.per_s:g}")
        if client.session is not None:
            for older in [live for live in self._waiting if live.client.session == client.session]:
                self._refuse(older, Problem("replaced", retry_after_s=1))
        wanted = self._wanted
        theirs = sum(live.client.address == client.address for live in (*wanted, *self._running))
        if theirs >= self._per_address:
            raise Problem("too-many-runs", retry_after_s=RETRY_AFTER_S, count=theirs, limit=self._per_address)
        if len(wanted) >= self.length:
            raise Problem("queue-full", retry_after_s=RETRY_AFTER_S, count=len(wanted), retry=RETRY_AFTER_S)

    def dispatch(self) -> None:
        """Start what can start."""
        if self._wanted and self._quick() >= self._runner.capacity:
            self._make_way()
        while self._quick() < self._runner.capacity and (live := self._next()):
            self._waiting.remove(live)
            live.state = "running"
            live.slow = live.background and self._is_room_beside
            live.yielded = live.background and bool(self._running)
            self._serve(live.client)
            self._running[live] = task = asyncio.create_task(self._perform(live))
            # not in the task's own `finally`: one that is cancelled before its first step never gets there
            task.add_done_callback(partial(self._over, live))
            if not live.background:
                self._press()

    def _make_way(self) -> None:
        """Somebody waits for the worker that a run in the background has."""
        for live, task in self._running.items():
            if live.background and not live.slow:
                live.ending = True
                task.cancel()

    @property
    def _is_room_beside(self) -> bool:
        """Whether one more run may go on beside the workers."""
        return len(self._running) - self._quick() < self._runner.slow_capacity

    def _quick(self) -> int:
        """Runs that have a worker for themselves."""
        return sum(not live.slow for live in self._running)

    def _next(self) -> LiveRun | None:
        """Of those whose session is not running already: the one whose client has had least, then the earliest; while
        nobody waits, one in the background. A run that is ending still has its name."""
        busy = {live.client.session for live in self._running} - {None}
        ending = {live.id for live in self._running if live.ending}
        ready = [live for live in self._wanted if live.client.session not in busy and live.id not in ending]
        is_room = self._is_room_beside or not self._running
        if not self._wanted and is_room and not any(live.background for live in self._running):
            ready = [live for live in self._waiting if live.id not in ending]
        if not ready:
            return None
        going = Counter[str | Client]()
        for live in self._running:
            going.update((live.client.address, live.client))
        served = self._served
        return min(
            ready,
            key=lambda live: (
                going[live.client.address], served.get(live.client.address, -1), going[live.client],
                served.get(live.client, -1), live.since,
            ),
        )  # fmt: skip

    def _serve(self, client: Client) -> None:
        """Note whose turn it was."""
        turn = next(self._turns)
        self._served[client.address] = self._served[client] = turn
        if len(self._served) > _REMEMBERED:
            self._served = {who: at for who, at in self._served.items() if at > turn - _REMEMBERED // 4}

    def _yield(self, live: LiveRun) -> None:
        """A run has taken long: it makes room for newer ones, if there is place for it beside the workers."""
        live.overdue = True
        if live in self._running and not live.slow and self._is_room_beside:
            live.slow = True
            if self._quick():
                self._press()
            self.dispatch()

    def _press(self) -> None:
        """Newer runs are there: the slow ones let them go first."""
        if self._relief is not None:
            self._relief.cancel()
            self._relief = None
        for live in self._running:
            if live.slow and not live.yielded:
                live.yielded = True
                self._runner.yield_processor(live.id)

    def _relieve(self) -> None:
        """No newer run has come for a while: the slow ones have the machine."""
        self._relief = None
        for live in self._running:
            if live.yielded and (not live.background or len(self._running) == 1):
                live.yielded = False
                self._runner.take_processor(live.id)

    def _left(self, live: LiveRun) -> None:
        """A run is over: what it leaves free goes to one that is overdue, then to those that wait."""
        if self._running.pop(live, None) and live.slow:
            overdue = next((other for other in self._running if other.overdue and not other.slow), None)
            if overdue:
                self._yield(overdue)
        self.dispatch()
        if self._relief is None and not self._quick() and any(other.yielded for other in self._running):
            self._relief = asyncio.get_running_loop().call_later(RELIEF_S, self._relieve)

    async def _perform(self, live: LiveRun) -> None:
        began = time.monotonic()
        patience = asyncio.get_running_loop().call_later(self._quick_s, self._yield, live)
        try:
            finished = await self._attempt(live)
            if finished is None or finished.lost:  # the machine's fault, never the program's: worth one more try
                finished = await self._attempt(live) or finished
            if finished is None:
                raise Problem("no-worker", retry_after_s=RETRY_AFTER_S, retry=RETRY_AFTER_S)
            self._metrics.runs[finished.status] += 1
            if not live.background:
                self._metrics.run_took(time.monotonic() - live.since)
                self._metrics.told(finished.codes)
            self._traces.remember(live.id, finished.stored)
            if self._stores_first:
                await self._store(live, finished)
                self._end(live, finished)
            else:
                self._end(live, finished)
                await self._store(live, finished)
        except asyncio.CancelledError:
            self._refuse(live, _cancelled(live.id))
            raise
        except Problem as problem:
            self._refuse(live, problem)
        except Exception as bug:
            log.exception("run %s could not be performed", live.id)
            self._refuse(live, bug)
        finally:
            patience.cancel()
            if not live.background:
                self._turn_s += (min(time.monotonic() - began, self._quick_s) - self._turn_s) / 20

    async def _store(self, live: LiveRun, finished: Finished) -> None:
        if finished.stored.kept:
            with contextlib.suppress(StoreDown):  # it is remembered, and the log tells
                await self._traces.keep(live.id, finished.stored, pinned=live.pinned)

    def _over(self, live: LiveRun, task: "asyncio.Task[None]") -> None:
        """Its task has ended, in whatever way."""
        if task.cancelled():
            self._refuse(live, _cancelled(live.id))
        live.wake()
        self._left(live)

    async def _attempt(self, live: LiveRun) -> Finished | None:
        waited_ms = (time.monotonic() - live.since) * 1000
        try:
            async with aclosing(self._runner.submit(live.id, live.request, waited_ms)) as stream:
                async for event in stream:
                    if isinstance(event, Finished):
                        return event
                    if isinstance(event, Started) and live.yielded:
                        self._runner.yield_processor(live.id)
                    live.say(event)
        except RunnerDown:
            log.exception("run %s lost its worker", live.id)
        return None

    def _end(self, live: LiveRun, finished: Finished) -> None:
        live.state = "finished"
        live.answer.set_result(finished.stored)
        live.say(finished)
        self._left(live)

    def _refuse(self, live: LiveRun, why: Exception) -> None:
        if live in self._waiting:
            self._waiting.remove(live)
        live.refuse(why)

    def cancel(self, live: LiveRun) -> None:
        """Nobody wants it any more."""
        if task := self._running.get(live):
            live.ending = True
            task.cancel()
        else:
            self._refuse(live, _cancelled(live.id))


def _cancelled(run: str) -> Problem:
    return Problem("cancelled", run=run)
