"""A worker node: takes runs from the broker, one for each free slot, performs them here and tells what happens."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError
from nats.js import JetStreamContext

from engine.devices import CUDA, kind_of
from engine.request import RunRequest
from engine.trace import FORMAT as TRACE_FORMAT
from engine.trace import Isolation
from server.cluster import messages, subjects
from server.cluster.connection import Connection
from server.cluster.messages import (
    TASK_FORMAT,
    Alive,
    Beat,
    Claim,
    Denied,
    Down,
    GivenBack,
    Granted,
    Made,
    Order,
    Piece,
    Received,
    Said,
    Task,
    TaskFormat,
    ToClaim,
    ToMade,
)
from server.cluster.pieces import cut
from server.cluster.subjects import RUNS, Pool
from server.runner import Finished, RunEvent, Runner, RunnerDown
from server.store import Stored

BEAT_S = 1.0
ALIVE_S = 0.5
PULL_S = 2.0
"""How long one request for a run waits; one that the broker lost is made again then."""
RETRY_S = 0.3
ANSWER_S = 5.0
TRIES = 6
"""Times that a result is sent before it is given up."""
UNKNOWN_S = 1.0
"""After this another worker is asked to take what this one does not know."""

log = logging.getLogger("gradgraph.worker")


class Slots:
    """How many more runs may begin: as many as have the machine's full share, besides those that have yielded."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._news = asyncio.Event()

    async def take(self) -> None:
        """Returns when one is free, which is the caller's then."""
        while self._free <= 0:
            self._news.clear()
            await self._news.wait()
        self._free -= 1

    def force(self) -> None:
        """Take one that may not be there: a run that had yielded has its share again."""
        self._free -= 1

    def give(self) -> None:
        """One is free again."""
        self._free += 1
        self._news.set()


class WorkerNode:
    """One worker of the cluster, in front of a runner of this machine."""

    def __init__(self, connection: Connection, runner: Runner, engine: str) -> None:
        self._connection = connection
        self._runner = runner
        self._engine = engine
        self._slots = Slots(runner.capacity)
        self._performing: dict[str, _Performing] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_leaving = False

    @property
    def pool(self) -> Pool:
        """Where it takes its runs from."""
        return "cuda" if any(kind_of(device) is CUDA for device in self._runner.devices) else "cpu"

    async def serve(self, stopped: asyncio.Event, patience_s: float) -> None:
        """Take runs until it is to stop; those that then take longer than the patience are given back."""
        await self._connection.hear(subjects.orders(self._connection.user), self._on_order)
        await self._connection.hear(subjects.CALL, self._on_call)
        jetstream = self._connection.jetstream
        pulls = [asyncio.create_task(self._pull(jetstream)) for _ in range(self._runner.capacity)]
        beats = asyncio.create_task(self._beat())
        await stopped.wait()
        self._is_leaving = True
        for pull in pulls:
            pull.cancel()
        await asyncio.gather(*pulls, return_exceptions=True)
        await self._tell()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=patience_s)
        for performing in self._performing.values():
            performing.give_back()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        beats.cancel()
        await asyncio.gather(beats, return_exceptions=True)

    async def _pull(self, jetstream: JetStreamContext) -> None:
        """Take one run after the other."""
        while True:
            await self._slots.take()
            try:
                message = await self._next(jetstream)
            except BaseException:
                self._slots.give()
                raise
            task = asyncio.create_task(self._take(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _next(self, jetstream: JetStreamContext) -> Msg:
        while True:
            try:
                pulled = await jetstream.pull_subscribe_bind(self.pool, RUNS)
                try:
                    while True:
                        with contextlib.suppress(TimeoutError):
                            return (await pulled.fetch(1, timeout=PULL_S))[0]
                finally:
                    with contextlib.suppress(Error):
                        await pulled.unsubscribe()
            except (Error, OSError) as why:
                log.debug("no run could be asked for: %s", why or type(why).__name__)
                await asyncio.sleep(RETRY_S)

    async def _take(self, message: Msg) -> None:
        """Perform a run that was delivered, if it is wanted yet."""
        performing = None
        try:
            task = self._known(message.data)
            if task is None:
                await message.nak(delay=UNKNOWN_S)
                return
            performing = await self._claim(task)
            await message.ack()
            if performing is not None:
                await self._perform(performing)
        except (Error, OSError) as why:
            log.warning("a run was lost on the way: %s", why or type(why).__name__)
        finally:
            if performing is None or not performing.yields:
                self._slots.give()

    def _known(self, data: bytes) -> Task | None:
        """The task, if this version knows it."""
        try:
            if messages.decode(data, TaskFormat).format == TASK_FORMAT:
                task = messages.decode(data, Task)
                return task if task.trace == TRACE_FORMAT else None
        except msgspec.MsgspecError as wrong:
            log.warning("a task that cannot be read goes back: %s", wrong)
        return None

    async def _claim(self, task: Task) -> "_Performing | None":
        """Ask whether the run is wanted, and by whom it is performed."""
        by = secrets.token_urlsafe(12)
        claim = Claim(by=by, worker=self._connection.user)
        try:
            answer: ToClaim = msgspec.msgpack.decode(
                await self._connection.ask(subjects.said(task.token), claim), type=ToClaim
            )
        except NoRespondersError:
            log.info("run %s is not wanted any more", task.run)
            return None
        if isinstance(answer, Denied):
            return None
        return _Performing(self._connection, self._runner, self._slots, task, by, answer)

    async def _perform(self, performing: "_Performing") -> None:
        self._performing[performing.task.token] = performing
        try:
            await performing.perform(self._engine)
        finally:
            self._performing.pop(performing.task.token, None)

    async def _on_order(self, message: Msg) -> None:
        with contextlib.suppress(msgspec.MsgspecError):
            order = messages.decode(message.data, Order)
            if performing := self._performing.get(order.token):
                performing.obey(order)

    async def _on_call(self, _: Msg) -> None:
        await self._tell()

    async def _beat(self) -> None:
        while True:
            await self._tell()
            await asyncio.sleep(BEAT_S)

    async def _tell(self) -> None:
        """Tell what this worker has; one that is leaving has no slots."""
        name = self._connection.user
        beat = Beat(
            worker=name,
            pool=self.pool,
            slots=0 if self._is_leaving else self._runner.capacity,
            slow_slots=0 if self._is_leaving else self._runner.slow_capacity,
            running=len(self._performing),
            devices=self._runner.devices,
            isolation=self._runner.isolation or Isolation(profile="none", layers=()),
            engine=self._engine,
            trace=TRACE_FORMAT,
            task=TASK_FORMAT,
        )
        await self._connection.say(subjects.beats(name), beat)


class _Performing:
    """A run that is this worker's."""

    def __init__(
        self, connection: Connection, runner: Runner, slots: Slots, task: Task, by: str, granted: Granted
    ) -> None:
        self.task = task
        self.yields = False
        """It has given its slot away."""
        self._connection = connection
        self._runner = runner
        self._slots = slots
        self._by = by
        self._granted = granted
        self._subject = subjects.said(task.token)
        self._work: asyncio.Task[None] | None = None
        self._is_given_back = False

    async def perform(self, engine: str) -> None:
        """Run the task and tell of it to its end, or that it is given back for another worker."""
        self._work = asyncio.create_task(self._perform(engine))
        alive = asyncio.create_task(self._say_alive())
        try:
            await self._work
        except asyncio.CancelledError:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
            if self._is_given_back:
                await self._connection.say(self._subject, GivenBack(by=self._by))
        finally:
            alive.cancel()

    def obey(self, order: Order) -> None:
        """Do what the leader wants."""
        match order.what:
            case "cancel":
                self._runner.cancel(self.task.run)
            case "abandon":
                self._end()
            case "yield_processor":
                self._yield()
            case "take_processor" if self.yields:
                self.yields = False
                self._slots.force()
                self._runner.take_processor(self.task.run)

    def give_back(self) -> None:
        """Another worker is to perform it."""
        self._is_given_back = True
        self._end()

    def _end(self) -> None:
        if self._work is not None:
            self._work.cancel()

    def _yield(self) -> None:
        if not self.yields:
            self.yields = True
            self._slots.give()
            self._runner.yield_processor(self.task.run)

    async def _perform(self, engine: str) -> None:
        task = self.task
        log.info("run %s begins", task.run)
        request = msgspec.json.decode(task.request, type=RunRequest)
        try:
            async with aclosing(self._runner.submit(task.run, request, task.waited_ms)) as events:
                finished = await self._tell_all(events)
        except RunnerDown:
            log.exception("run %s could not be performed", task.run)
            finished = None
        if finished is None:
            await self._connection.say(self._subject, Down(by=self._by))
            return
        await self._give(finished, is_same_engine=engine == task.engine)
        log.info("run %s ended: %s", task.run, finished.status)

    async def _tell_all(self, events: AsyncGenerator[RunEvent, None]) -> Finished | None:
        async for event in events:
            if isinstance(event, Finished):
                return event
            await self._connection.say(self._subject, Said(by=self._by, event=event))
            if self._granted.yields:
                self._yield()
            if self._granted.cancelled:
                self._runner.cancel(self.task.run)
        return None

    async def _give(self, finished: Finished, *, is_same_engine: bool) -> None:
        """Send the result until it is there, or nobody wants it."""
        stored = finished.stored
        if not is_same_engine:
            stored = Stored(stored.body, stored.etag, stored.tensors, kept=False, format=stored.format)
        manifest, pieces = cut(self.task.run, Finished(finished.status, finished.lost, stored))
        for _ in range(TRIES):
            try:
                for number, data in enumerate(pieces):
                    await self._connection.say(self._subject, Piece(by=self._by, number=number, data=data))
                made = Made(by=self._by, manifest=manifest)
                answer: ToMade = msgspec.msgpack.decode(
                    await self._connection.ask(self._subject, made, ANSWER_S), type=ToMade
                )
                if isinstance(answer, Received):
                    return
            except NoRespondersError:
                return
            except (Error, OSError):
                await asyncio.sleep(RETRY_S)
        log.warning("run %s: its result could not be given", self.task.run)

    async def _say_alive(self) -> None:
        while True:
            await asyncio.sleep(ALIVE_S)
            await self._connection.say(self._subject, Alive(by=self._by))
