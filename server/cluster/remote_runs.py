"""The live runs of a cluster, as one web node sees them: it asks the leader, and asks again until it is answered."""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator
from typing import TypeVar

import msgspec
from nats.aio.msg import Msg
from nats.errors import Error

from engine.request import RunRequest
from server.cluster import subjects
from server.cluster.connection import PATIENCE_S, RETRY_S, Connection
from server.cluster.messages import (
    Ask,
    Caller,
    Ended,
    EndedRefused,
    Enter,
    Find,
    Leading,
    Leave,
    Newest,
    OfLeader,
    Refused,
    Renew,
    Reply,
    Standing,
    Stands,
    State,
    Stop,
    Stopped,
    Told,
    ToldPiece,
    Unknown,
    Watch,
    decode,
)
from server.cluster.pieces import Damaged, Joining
from server.problems import Problem
from server.queue import Client, Telling
from server.runner import Progressed, RunEvent
from server.runs import Live, Load
from server.store import Stored
from server.traces import Traces

ANSWER_S = 10.0
"""How long a leader is waited for: longer than it takes until another node leads."""
UNLED_S = 30.0
"""How long callers go on waiting for a run that no leader can be asked about."""
RENEW_S = 1.0
STALE_S = 3.0
"""A leader that has told nothing for so long leads no more."""
RETRY_AFTER_S = 3

R = TypeVar("R")

log = logging.getLogger("gradgraph.cluster")


class RemoteLive(Telling):
    """A live run, as far as this node has heard."""

    def __init__(self, runs: "RemoteRuns", run: str) -> None:
        super().__init__(asyncio.get_running_loop().create_future())
        self.id = run
        self.ask = secrets.token_urlsafe(12)
        self.enters: dict[Client, Enter] = {}
        """What clients of this node asked for; empty for a run that was only found."""
        self.is_watched = False
        self.ending = False
        """It was stopped, and its trace so far is on its way: who asks for it now begins it anew."""
        self.pieces = Joining(runs.most_bytes)
        self.users = 0
        """Callers of this node that follow it or wait for it."""
        self.ahead = 0
        self.expected_s = 0.0
        self.state: State = "waiting"
        self._runs = runs
        self._told = Progressed(elapsed_s=0.0, line=0, ops=0)

    @property
    def detached(self) -> bool:
        """It goes on although nobody waits for the answer."""
        return any(enter.detached for enter in self.enters.values())

    @property
    def progress(self) -> Progressed:
        return max(self._told, super().progress, key=lambda each: each.elapsed_s)

    def stand(self, standing: Standing) -> None:
        """Take over what the leader says of it."""
        self.state, self.ahead, self.expected_s = standing.state, standing.ahead, standing.expected_s
        self._told = standing.progress

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, RunEvent]]:
        async with self._runs.using(self):
            async for each in super().follow(after):
                yield each

    async def wait(self) -> Stored:
        async with self._runs.using(self):
            return await asyncio.shield(self.answer)

    async def stop(self, client: Client) -> bool:
        return await self._runs.stop(self, client)


class RemoteRuns:
    """The runs of a cluster that are not over."""

    def __init__(self, node: str, connection: Connection, traces: Traces, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._node = node
        self._connection = connection
        self._traces = traces
        self._lives: dict[str, RemoteLive] = {}
        """By run."""
        self._asks: dict[str, RemoteLive] = {}
        """By the name under which the leader tells of them."""
        self._leading: Leading | None = None
        self._leading_at = 0.0
        self._renewing: asyncio.Task[None] | None = None
        self._sending: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen to the leader, whoever it is."""
        await self._connection.hear(subjects.told(self._node), self._on_told)
        await self._connection.hear(subjects.LEADER, self._on_leading)
        self._renewing = asyncio.create_task(self._renew())

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
        known = self._lives.get(run)
        live = known if known and not known.ending else RemoteLive(self, run)
        enter = Enter(
            ask=live.ask,
            node=self._node,
            run=run,
            request=msgspec.json.encode(request),
            caller=Caller.of(client),
            pinned=pinned,
            background=background,
            detached=detached,
            is_back=False,
            after=live.last,
        )
        self._hold(live)
        live.users += 1
        try:
            reply = await self._ask(enter)
            live.enters[client] = enter
        finally:
            live.users -= 1
            if not live.enters:
                self._let_go(live)
        if isinstance(reply, Standing):
            live.stand(reply)
        return live

    async def find(self, run: str) -> Live | None:
        return self._lives.get(run) or self._found(await self._ask(Find(run=run)))

    async def newest_of(self, session: str | None) -> Live | None:
        return self._found(await self._ask(Newest(session=session))) if session else None

    async def remembered(self, run: str) -> Stored | None:
        """A run that is over and not in the store: the leader may remember it."""
        live = RemoteLive(self, run)
        with contextlib.suppress(Problem, TimeoutError):
            self._asks[live.ask] = live
            try:
                watch = Watch(ask=live.ask, node=self._node, run=run, after=0)
                if not isinstance(await self._ask(watch, PATIENCE_S), Standing):
                    return None
                return await asyncio.wait_for(live.answer, PATIENCE_S)
            finally:
                self._let_go(live)
        return None

    async def stop(self, live: RemoteLive, client: Client) -> bool:
        """End a run, if only this client asked for it. Raises Problem."""
        reply = await self._ask(Stop(run=live.id, caller=Caller.of(client)))
        live.enters.pop(client, None)
        live.ending = isinstance(reply, Stopped) and reply.begun
        return live.ending

    @property
    def load(self) -> Load:
        """As the leader last told it."""
        leading = self._leading
        if leading is None or time.monotonic() - self._leading_at > STALE_S:
            return Load(0, 0, 0, 0.0)
        return Load(leading.running, leading.waiting, leading.length, leading.oldest_s)

    @property
    def leading(self) -> Leading | None:
        """What the leader told last; None while there is none."""
        return self._leading if time.monotonic() - self._leading_at <= STALE_S else None

    @contextlib.asynccontextmanager
    async def using(self, live: RemoteLive) -> AsyncIterator[None]:
        """Have the leader tell of a run for as long as the block lasts."""
        live.users += 1
        try:
            if not live.enters and not live.is_watched and not live.answer.done():
                live.is_watched = True
                self._hold(live)
                await self._watch(live)
            yield
        finally:
            live.users -= 1
            if not live.users and not live.detached:
                self._let_go(live)

    async def wind_down(self, patience_s: float) -> None:
        """Let those who wait have what comes in this time, and refuse the others."""
        waiting = [live.answer for live in self._lives.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=patience_s)
        for live in list(self._lives.values()):
            live.refuse(Problem("cancelled", run=live.id))

    async def close(self) -> None:
        for live in list(self._lives.values()):
            live.refuse(Problem("cancelled", run=live.id))
            self._let_go(live)
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
        await asyncio.gather(*self._sending, return_exceptions=True)

    def _hold(self, live: RemoteLive) -> None:
        self._lives[live.id] = self._asks[live.ask] = live

    def _let_go(self, live: RemoteLive) -> None:
        """Nobody here wants to hear of it any more."""
        if self._asks.pop(live.ask, None) is not None:
            self._send(Leave(ask=live.ask))
        if self._lives.get(live.id) is live:
            del self._lives[live.id]

    def _found(self, reply: Reply) -> RemoteLive | None:
        if not isinstance(reply, Standing):
            return None
        live = self._lives.get(reply.run) or RemoteLive(self, reply.run)
        live.stand(reply)
        return live

    async def _watch(self, live: RemoteLive) -> None:
        reply = await self._ask(Watch(ask=live.ask, node=self._node, run=live.id, after=live.last))
        if isinstance(reply, Standing):
            live.stand(reply)
        elif not live.answer.done():  # it is over, and its leader is gone
            await self._end_as_stored(live)

    async def _end_as_stored(self, live: RemoteLive) -> None:
        if (stored := await self._traces.get(live.id)) is not None:
            self._finish(live, stored)
        else:
            live.refuse(Problem("cancelled", run=live.id))

    async def _ask(self, ask: Ask, patience_s: float = ANSWER_S) -> Reply:
        """The leader's answer; while there is no leader it is waited for. Raises Problem."""
        end = time.monotonic() + patience_s
        while True:
            try:
                data = await self._connection.ask(subjects.ASK, ask)
                reply: Reply = msgspec.msgpack.decode(data, type=Reply)
            except (Error, OSError, msgspec.MsgspecError) as why:
                if time.monotonic() > end:
                    log.warning("no leader answers: %s", why or type(why).__name__)
                    raise Problem("no-leader", retry_after_s=RETRY_AFTER_S, retry=RETRY_AFTER_S) from None
                await asyncio.sleep(RETRY_S / 2)
                continue
            if isinstance(reply, Refused):
                raise reply.problem
            return reply

    def _send(self, ask: Ask) -> None:
        """Tell the leader something that needs no answer."""
        sending = asyncio.create_task(self._connection.say(subjects.ASK, ask))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    async def _renew(self) -> None:
        """Say what is still waited for. A leader that knows nothing of it is another one: it is asked anew."""
        while True:
            await asyncio.sleep(RENEW_S)
            if not self._asks:
                continue
            try:
                reply = await self._ask(Renew(node=self._node, asks=tuple(self._asks)), UNLED_S)
            except Problem as unled:
                for live in list(self._asks.values()):
                    live.refuse(unled)
                    self._let_go(live)
                continue
            if isinstance(reply, Unknown):
                for ask in reply.asks:
                    await self._ask_anew(ask)

    async def _ask_anew(self, ask: str) -> None:
        live = self._asks.get(ask)
        if live is None or live.answer.done():
            return
        live.pieces.clear()
        log.info("run %s is asked for again", live.id)
        try:
            for enter in list(live.enters.values()):
                await self._ask(msgspec.structs.replace(enter, after=live.last, is_back=True))
            if not live.enters and live.is_watched:
                await self._watch(live)
        except Problem as problem:
            live.refuse(problem)

    async def _on_told(self, message: Msg) -> None:
        try:
            told: OfLeader = msgspec.msgpack.decode(message.data, type=OfLeader)
        except msgspec.MsgspecError as wrong:
            log.warning("the leader is of another version: %s", wrong)
            return
        live = self._asks.get(told.ask)
        if live is None or live.answer.done():
            return
        match told:
            case Told():
                live.state = "running"
                if told.number > live.last:
                    live.say_as(told.number, told.event)
            case Stands():
                live.stand(told.standing)
            case ToldPiece():
                live.pieces.put(told.number, told.data)
            case Ended():
                self._on_ended(live, told)
            case EndedRefused():
                live.refuse(told.why.problem)
                self._let_go(live)

    def _on_ended(self, live: RemoteLive, ended: Ended) -> None:
        try:
            finished = live.pieces.whole(ended.manifest)
        except Damaged as damaged:  # it is sent again
            log.warning("run %s: %s", live.id, damaged)
            live.pieces.clear()
            return
        self._traces.remember(live.id, finished.stored)
        live.state = "finished"
        live.answer.set_result(finished.stored)
        live.say_as(ended.number, finished)
        self._let_go(live)

    def _finish(self, live: RemoteLive, stored: Stored) -> None:
        live.state = "finished"
        live.answer.set_result(stored)
        live.wake()

    async def _on_leading(self, message: Msg) -> None:
        with contextlib.suppress(msgspec.MsgspecError):
            self._leading, self._leading_at = decode(message.data, Leading), time.monotonic()
