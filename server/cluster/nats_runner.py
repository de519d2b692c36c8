"""The runner of a cluster: hands runs to worker nodes through the broker, and watches over them."""

import asyncio
import contextlib
import logging
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import msgspec
from nats.aio.msg import Msg
from nats.errors import Error
from nats.js.errors import APIError

from engine.keys import Versions, run_id
from engine.outcome import Outcome
from engine.request import RunRequest
from engine.trace import FORMAT as TRACE_FORMAT
from engine.trace import Isolation, Timings
from server.cluster import messages, subjects
from server.cluster.connection import PATIENCE_S, Connection
from server.cluster.messages import (
    TASK_FORMAT,
    Alive,
    Claim,
    Denied,
    Down,
    GivenBack,
    Granted,
    Incomplete,
    Made,
    OfWorker,
    Order,
    OrderKind,
    Piece,
    Received,
    Said,
    Task,
)
from server.cluster.pieces import Damaged, Joining, check
from server.cluster.workers import Workers
from server.problems import Problem
from server.runner import Finished, RunEvent, RunnerDown

LOST_AFTER_S = 3.0
"""A worker that says nothing of its run for so long has lost it; it speaks every half second."""
UNCLAIMED_S = 15.0
"""A run that no worker took in this time is handed over once more."""
LOOK_S = 0.25
MOST_GIVEN_BACK = 5
DEADLY = 2
"""Workers that may be lost with one run."""
REFUSED_S = 60
"""How long it is refused then."""

log = logging.getLogger("gradgraph.cluster")


class WorkerLost(RunnerDown):
    """The worker node went away in the middle of the run."""


class NatsRunner:
    """Performs runs on the workers of a cluster."""

    def __init__(self, connection: Connection, workers: Workers, versions: Versions, trace_bytes: int) -> None:
        self._connection = connection
        self._workers = workers
        self._versions = versions
        self._most_bytes = 2 * trace_bytes
        self._handed: dict[str, _Handed] = {}
        self._losses: dict[str, tuple[int, float]] = {}
        """Workers lost with a run, and when the last one was."""
        self.redelivered: Counter[str] = Counter()
        """Runs that were handed over again, by the reason."""

    async def start(self) -> None:
        """Nothing to wait for: workers come and go."""

    @property
    def capacity(self) -> int:
        return self._workers.slots

    @property
    def slow_capacity(self) -> int:
        return self._workers.slow_slots

    @property
    def isolation(self) -> Isolation | None:
        return self._workers.isolation

    @property
    def devices(self) -> tuple[str, ...]:
        return self._workers.devices

    def cancel(self, run: str) -> None:
        if handed := self._handed.get(run):
            handed.cancel()

    def yield_processor(self, run: str) -> None:
        if handed := self._handed.get(run):
            handed.yield_processor()

    def take_processor(self, run: str) -> None:
        if handed := self._handed.get(run):
            handed.take_processor()

    async def submit(self, run: str, request: RunRequest, waited_ms: float) -> AsyncGenerator[RunEvent, None]:
        self._check_losses(run)
        for _ in range(MOST_GIVEN_BACK):
            try:
                async with aclosing(self._hand_over(run, request, waited_ms)) as events:
                    async for event in events:
                        yield event
                return
            except _IsBack:
                self.redelivered["given_back"] += 1
            except WorkerLost as lost:
                self.redelivered["lost"] += 1
                if self._note_loss(run) < DEADLY:
                    raise
                log.warning("run %s has cost %d workers: %s", run, DEADLY, lost)
                from server.packing import finish  # with it comes all that assembles traces, which web nodes do not

                yield finish(run, request, [], LOST, waited_ms)
                return
        raise RunnerDown(f"{MOST_GIVEN_BACK} workers in a row gave it back")

    async def close(self) -> None:
        """Nothing is held: the queue has closed what was submitted."""

    async def _hand_over(self, run: str, request: RunRequest, waited_ms: float) -> AsyncGenerator[RunEvent, None]:
        pool = self._workers.pool_for(request)
        handed = self._handed[run] = _Handed(run, self._connection, self._workers, self._most_bytes)
        task = Task(
            run=run,
            token=handed.token,
            request=msgspec.json.encode(request),
            waited_ms=waited_ms,
            engine=self._versions.engine if run_id(request, self._versions) == run else "",
            trace=TRACE_FORMAT,
            format=TASK_FORMAT,
        )
        listening = await self._connection.hear(subjects.said(handed.token), handed.on_message)
        try:
            await self._publish(pool, task)
            while True:
                event = await handed.next()
                yield event
                if isinstance(event, Finished):
                    return
        finally:
            self._handed.pop(run, None)
            with contextlib.suppress(Error):
                await listening.unsubscribe()
            handed.let_go()

    async def _publish(self, pool: subjects.Pool, task: Task) -> None:
        try:
            await self._connection.jetstream.publish(subjects.runs(pool), messages.encode(task), timeout=PATIENCE_S)
        except APIError as full:
            log.warning("the broker refuses run %s: %s", task.run, full.description)
            raise RunnerDown("the broker takes no more runs") from full
        except (Error, OSError) as lost:
            raise RunnerDown(f"the broker cannot be reached: {lost or type(lost).__name__}") from lost

    def _note_loss(self, run: str) -> int:
        count, at = self._losses.get(run, (0, 0.0))
        now = time.monotonic()
        self._losses = {each: loss for each, loss in self._losses.items() if now - loss[1] < REFUSED_S}
        self._losses[run] = (count + 1 if now - at < REFUSED_S else 1, now)
        return self._losses[run][0]

    def _check_losses(self, run: str) -> None:
        count, at = self._losses.get(run, (0, 0.0))
        left_s = REFUSED_S - (time.monotonic() - at)
        if count >= DEADLY and left_s > 0:
            raise Problem("costs-workers", retry_after_s=int(left_s) + 1, run=run, count=count, retry=int(left_s) + 1)


class _IsBack(Exception):
    """The worker gave the run back."""


class _Handed:
    """A run that was handed over: its worker's words one after the other."""

    def __init__(self, run: str, connection: Connection, workers: Workers, most_bytes: int) -> None:
        self.token = secrets.token_urlsafe(24)
        self._run = run
        self._connection = connection
        self._workers = workers
        self._most_bytes = most_bytes
        self._pieces = Joining(most_bytes)
        self._said: asyncio.Queue[RunEvent | Exception] = asyncio.Queue()
        self._by = ""
        self._worker = ""
        self._heard = time.monotonic()
        self._yields = False
        self._cancelled = False
        self._is_over = False
        self._orders: set[asyncio.Task[None]] = set()

    async def next(self) -> RunEvent:
        """What happens next. Raises RunnerDown, WorkerLost and Problem, and what else becomes of it."""
        while True:
            try:
                said = await asyncio.wait_for(self._said.get(), LOOK_S)
            except TimeoutError:
                self._check()
                continue
            if isinstance(said, Exception):
                raise said
            return said

    async def on_message(self, message: Msg) -> None:
        try:
            said: OfWorker = msgspec.msgpack.decode(message.data, type=OfWorker)
        except msgspec.MsgspecError:
            log.warning("run %s: a word of its worker that cannot be read", self._run)
            return
        if isinstance(said, Claim):
            await self._on_claim(said, message.reply)
            return
        if said.by != self._by:
            return
        self._heard = time.monotonic()
        match said:
            case Said():
                self._said.put_nowait(said.event)
            case Piece():
                self._pieces.put(said.number, said.data)
            case Made():
                await self._on_made(said, message.reply)
            case Down():
                self._end(RunnerDown(f"worker {self._worker} could not perform it"))
            case GivenBack():
                self._end(_IsBack())
            case Alive():
                pass

    def cancel(self) -> None:
        self._cancelled = True
        self._order("cancel")

    def yield_processor(self) -> None:
        self._yields = True
        self._order("yield_processor")

    def take_processor(self) -> None:
        self._yields = False
        self._order("take_processor")

    def let_go(self) -> None:
        """Nobody wants to hear of it any more."""
        if not self._is_over:
            self._order("abandon")

    async def _on_claim(self, claim: Claim, reply: str) -> None:
        if self._by not in ("", claim.by):
            await self._connection.say(reply, Denied())
            return
        self._by, self._worker, self._heard = claim.by, claim.worker, time.monotonic()
        log.info("run %s is with %s", self._run, claim.worker)
        await self._connection.say(reply, Granted(yields=self._yields, cancelled=self._cancelled))

    async def _on_made(self, made: Made, reply: str) -> None:
        try:
            finished = self._pieces.whole(made.manifest)
            codes = await asyncio.to_thread(check, self._run, finished, self._most_bytes)
        except Damaged as damaged:
            log.warning("run %s: its result is damaged: %s", self._run, damaged)
            self._pieces.clear()
            await self._connection.say(reply, Incomplete())
            return
        await self._connection.say(reply, Received())
        self._end(replace(finished, codes=codes))

    def _end(self, how: Finished | Exception) -> None:
        self._is_over = True
        self._said.put_nowait(how)

    def _check(self) -> None:
        """Raises where nothing more can be hoped for."""
        silent_s = min(time.monotonic() - self._heard, self._connection.connected_s)
        if self._by and silent_s > LOST_AFTER_S:
            raise WorkerLost(f"worker {self._worker} was lost with it")
        if not self._by and silent_s > UNCLAIMED_S:
            raise RunnerDown("no worker took it")

    def _order(self, what: OrderKind) -> None:
        if self._worker:
            order = Order(token=self.token, what=what)
            sending = asyncio.create_task(self._connection.say(subjects.orders(self._worker), order))
            self._orders.add(sending)
            sending.add_done_callback(self._orders.discard)


LOST = Outcome(
    exit_code=None,
    signal=None,
    stopped_by=None,
    stderr_tail="",
    timings=Timings(total_ms=0.0, queued_ms=0.0, start_ms=0.0, run_ms=0.0),
    isolation=None,
    blobs=0,
)
"""What is known of the end of a run that took its workers with it."""
