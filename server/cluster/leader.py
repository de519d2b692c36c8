"""The leader's part of a web node: its queue performs the runs of all nodes, and tells them what becomes of theirs."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error

from engine.devices import CPU
from engine.request import RunRequest
from engine.trace import Record
from server.cluster import subjects
from server.cluster.connection import PATIENCE_S, Connection
from server.cluster.messages import (
    Ask,
    Ended,
    EndedRefused,
    Enter,
    Find,
    Leading,
    Leave,
    Newest,
    Nothing,
    Refused,
    Renew,
    Reply,
    Standing,
    Stands,
    Stop,
    Stopped,
    Told,
    ToldPiece,
    Unknown,
    Watch,
)
from server.cluster.nats_runner import NatsRunner
from server.cluster.pieces import cut
from server.cluster.workers import RETRY_AFTER_S, Workers
from server.problems import Problem
from server.queue import LiveRun, Queue, Telling
from server.runner import Finished, Progressed
from server.snapshots import no_such
from server.store import Stored, StoreDown
from server.traces import Traces

TELL_S = 0.5
"""How often waiting runs are told where they stand, and everybody how the queue is doing."""
FORGOTTEN_S = 8.0
"""What a node asked for and does not ask again for so long is nobody's any more."""
WITHOUT_WORKERS_S = 3.0
"""How long those who wait are let wait when the last worker has gone."""
AGAIN_S = 1.5
"""A result that was not confirmed in this time is sent again when it is asked for."""

log = logging.getLogger("gradgraph.cluster")


class _Asked:
    """What one node wants to hear of one run."""

    def __init__(self, ask: str, node: str, run: str, telling: Telling) -> None:
        self.ask = ask
        self.node = node
        self.run = run
        self.telling = telling
        self.heard = time.monotonic()
        self.ended = 0.0
        """When its result was sent."""
        self.reading: asyncio.Task[Stored] | None = None
        """Keeps the run from being cancelled."""
        self.forwarding: asyncio.Task[None] | None = None

    def end(self) -> None:
        """Tell nothing more, and wait for nothing."""
        for task in (self.reading, self.forwarding):
            if task is not None:
                task.cancel()


class Leader:
    """Answers the web nodes, this one among them, while it holds the lease."""

    def __init__(
        self,
        node: str,
        connection: Connection,
        queue: Queue,
        runner: NatsRunner,
        workers: Workers,
        traces: Traces,
        is_leading: Callable[[], bool],
    ) -> None:
        self._node = node
        self._connection = connection
        self._queue = queue
        self._runner = runner
        self._workers = workers
        self._traces = traces
        self._is_leading = is_leading
        self._asked: dict[str, _Asked] = {}
        self._had_workers = time.monotonic()
        self._listening: Subscription | None = None
        self._telling: asyncio.Task[None] | None = None

    async def lead(self) -> None:
        """Begin to answer."""
        self._telling = asyncio.create_task(self._tell())
        self._listening = await self._connection.hear(subjects.ASK, self._on_ask)

    async def stop(self) -> None:
        """Leave everything to the next leader: the nodes ask it for what they wait for."""
        if self._listening is not None:
            with contextlib.suppress(Error):
                await self._listening.unsubscribe()
        for asked in self._asked.values():
            asked.end()
        self._asked.clear()
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)
        await self._queue.close()

    async def _on_ask(self, message: Msg) -> None:
        if not self._is_leading():
            return
        try:
            ask: Ask = msgspec.msgpack.decode(message.data, type=Ask)
            reply: Reply = await self._answer(ask)
        except msgspec.MsgspecError as wrong:  # it goes on asking: the next leader may be of its version
            log.warning("a node of another version asks: %s", wrong)
            return
        except Problem as problem:
            reply = Refused.of(problem)
        except Exception:
            log.exception("a node could not be answered")
            reply = Refused.of(Problem("bug", incident="leader"))
        await self._connection.say(message.reply, reply)

    async def _answer(self, ask: Ask) -> Reply:
        match ask:
            case Enter():
                return await self._enter(ask)
            case Watch():
                return await self._watch(ask)
            case Renew():
                return await self._renew(ask)
            case Leave():
                self._forget(ask.ask)
                return Nothing()
            case Find():
                return _standing_of(self._queue.find(ask.run))
            case Newest():
                return _standing_of(self._queue.newest_of(ask.session))
            case Stop():
                if (live := self._queue.find(ask.run)) is None:
                    raise no_such(ask.run)
                return Stopped(begun=await live.stop(ask.caller.client))

    async def _enter(self, enter: Enter) -> Reply:
        asked = self._asked.get(enter.ask)
        if asked is None and enter.is_back and (stored := await self._kept(enter.run)):
            self._follow(enter, _told(stored))
            return _over(enter.run)
        if asked is None or not asked.telling.answer.done():
            live = self._let_in(enter)
            live.detached |= enter.detached
            asked = self._follow(enter, live)
            if asked.reading is None and not live.detached:
                asked.reading = asyncio.create_task(live.wait())
                asked.reading.add_done_callback(_read)
            return _standing(live)
        self._follow(enter, asked.telling)
        return _over(enter.run)

    def _let_in(self, enter: Enter) -> LiveRun:
        request = msgspec.json.decode(enter.request, type=RunRequest)
        self._workers.pool_for(request)
        return self._queue.enter(
            enter.run,
            request,
            enter.caller.client,
            pinned=enter.pinned,
            background=enter.background,
            is_back=enter.is_back,
        )

    async def _kept(self, run: str) -> Stored | None:
        """What an earlier leader made of a run, and could not tell any more: it is not to have a second answer."""
        with contextlib.suppress(StoreDown, Problem, TimeoutError):
            return await asyncio.wait_for(self._traces.get(run), PATIENCE_S)
        return None

    async def _watch(self, watch: Watch) -> Reply:
        if (known := self._asked.get(watch.ask)) is not None:
            telling = known.telling
        elif live := self._queue.find(watch.run):
            telling = live
        elif (stored := self._traces.remembered(watch.run)) is not None:
            telling = _told(stored)
        else:
            return Nothing()
        self._follow(watch, telling)
        return _standing(telling) if isinstance(telling, LiveRun) else _over(watch.run)

    def _follow(self, ask: Enter | Watch, telling: Telling) -> _Asked:
        """Tell a node all that happens after what it has heard."""
        asked = self._asked.setdefault(ask.ask, _Asked(ask.ask, ask.node, ask.run, telling))
        asked.heard = time.monotonic()
        if asked.forwarding is not None:
            asked.forwarding.cancel()
        asked.forwarding = asyncio.create_task(self._forward(asked, ask.after))
        return asked

    async def _renew(self, renew: Renew) -> Reply:
        now = time.monotonic()
        unknown = []
        for ask in renew.asks:
            if (asked := self._asked.get(ask)) is None:
                unknown.append(ask)
                continue
            asked.heard = now
            if asked.ended and now - asked.ended > AGAIN_S:
                asked.forwarding = asyncio.create_task(self._forward(asked, asked.telling.last - 1))
        return Unknown(asks=tuple(unknown))

    def _forget(self, ask: str) -> None:
        if asked := self._asked.pop(ask, None):
            asked.end()

    async def _forward(self, asked: _Asked, after: int) -> None:
        """Tell a node what happens to a run, to its end."""
        async for number, event in asked.telling.follow(after):
            if isinstance(event, Finished):
                await self._give(asked, number, event)
                return
            await self._say(asked, Told(ask=asked.ask, number=number, event=event))
        if isinstance(why := asked.telling.refusal, Problem):
            await self._say(asked, EndedRefused(ask=asked.ask, why=Refused.of(why)))
        elif why is not None:
            await self._say(asked, EndedRefused(ask=asked.ask, why=Refused.of(Problem("bug", incident=asked.run))))
        asked.ended = time.monotonic()

    def _turn_away(self) -> None:
        """Nobody waits for workers of which none is left."""
        if self._workers.slots:
            self._had_workers = time.monotonic()
        elif time.monotonic() - self._had_workers > WITHOUT_WORKERS_S:
            self._queue.turn_away(
                lambda _: Problem("no-node", retry_after_s=RETRY_AFTER_S, device=CPU.name, retry=RETRY_AFTER_S)
            )

    async def _give(self, asked: _Asked, number: int, finished: Finished) -> None:
        manifest, pieces = cut(asked.run, finished)
        for index, data in enumerate(pieces):
            await self._say(asked, ToldPiece(ask=asked.ask, number=index, data=data))
        await self._say(asked, Ended(ask=asked.ask, number=number, manifest=manifest))
        asked.ended = time.monotonic()

    async def _say(self, asked: _Asked, message: Record) -> None:
        await self._connection.say(subjects.told(asked.node), message)

    async def _tell(self) -> None:
        """Tell what changes by itself, and forget what nobody asks for any more."""
        while True:
            for asked in list(self._asked.values()):
                live = asked.telling
                if isinstance(live, LiveRun) and live.state == "waiting" and not live.answer.done():
                    await self._say(asked, Stands(ask=asked.ask, standing=_standing(live)))
                if time.monotonic() - asked.heard > FORGOTTEN_S and self._connection.connected_s > FORGOTTEN_S:
                    self._forget(asked.ask)
            self._turn_away()
            leading = Leading(
                node=self._node,
                running=self._queue.running,
                waiting=self._queue.waiting,
                length=self._queue.length,
                oldest_s=round(self._queue.oldest_s, 3),
                redelivered=self._runner.redelivered.total(),
            )
            await self._connection.say(subjects.LEADER, leading)
            await asyncio.sleep(TELL_S)


def _standing(live: LiveRun) -> Standing:
    return Standing(run=live.id, state=live.state, ahead=live.ahead, expected_s=live.expected_s, progress=live.progress)


def _standing_of(live: LiveRun | None) -> Standing | Nothing:
    return _standing(live) if live else Nothing()


def _told(stored: Stored) -> Telling:
    """What there is to tell of a run that is over."""
    telling = Telling(asyncio.get_running_loop().create_future())
    telling.answer.set_result(stored)
    telling.say(Finished(status="", lost=False, stored=stored))
    return telling


def _over(run: str) -> Standing:
    """Of a run whose result is on its way."""
    return Standing(
        run=run, state="finished", ahead=0, expected_s=0.0, progress=Progressed(elapsed_s=0.0, line=0, ops=0)
    )


def _read(reading: "asyncio.Task[Stored]") -> None:
    """What came of it is told by those who follow."""
    if not reading.cancelled():
        reading.exception()
