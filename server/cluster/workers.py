"""The workers of a cluster, as they tell of themselves."""

import asyncio
import time
from collections.abc import Callable, Iterator

import msgspec
from nats.aio.msg import Msg

from engine.devices import AUTO, CPU, first_of_its_kind, kind_of
from engine.request import RunRequest
from engine.trace import FORMAT as TRACE_FORMAT
from engine.trace import Isolation
from server.cluster import subjects
from server.cluster.connection import Connection
from server.cluster.messages import TASK_FORMAT, Beat, Nothing, decode
from server.cluster.subjects import POOLS, Pool
from server.problems import Problem

SILENT_S = 3.5
"""A worker that has told nothing for so long is gone."""
LOOK_S = 0.5
RETRY_AFTER_S = 5
_WEAKEST = ("none", "partial", "container", "gvisor", "full")


class Workers:
    """Who is there now."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._beats: dict[str, tuple[Beat, float]] = {}
        self._looking: asyncio.Task[None] | None = None
        self.on_change: Callable[[], None] = lambda: None
        """Called when slots come or go."""

    async def start(self) -> None:
        """Listen, and have all that are there tell of themselves at once."""
        await self._connection.hear(subjects.beats("*"), self._heard)
        await self._connection.say(subjects.CALL, Nothing())
        self._looking = asyncio.create_task(self._look())

    async def close(self) -> None:
        """Listen no more."""
        if self._looking:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    def __iter__(self) -> Iterator[Beat]:
        return (beat for beat, _ in self._beats.values())

    @property
    def slots(self) -> int:
        return sum(beat.slots for beat in self)

    @property
    def slow_slots(self) -> int:
        return sum(beat.slow_slots for beat in self)

    @property
    def devices(self) -> tuple[str, ...]:
        """Devices that one of them has, the CPU first."""
        return tuple(dict.fromkeys([CPU.name, *(device for beat in self for device in beat.devices)]))

    @property
    def isolation(self) -> Isolation | None:
        """How the one isolates that isolates least."""
        return min((beat.isolation for beat in self), key=lambda each: _WEAKEST.index(each.profile), default=None)

    def pool_for(self, request: RunRequest) -> Pool:
        """Where a run goes: to the workers without a GPU, unless it asks for one or there are no others. Raises
        Problem where no worker could take it."""
        device = request.program.device
        able = {
            beat.pool
            for beat in self
            if (beat.task, beat.trace) == (TASK_FORMAT, TRACE_FORMAT)
            and beat.slots
            and (device == AUTO or kind_of(device) is CPU or first_of_its_kind(device) in beat.devices)
        }
        pool = next((pool for pool in POOLS if pool in able), None)
        if pool is None:
            raise Problem("no-node", retry_after_s=RETRY_AFTER_S, device=device, retry=RETRY_AFTER_S)
        return pool

    async def _heard(self, message: Msg) -> None:
        try:
            beat = decode(message.data, Beat)
        except msgspec.MsgspecError:  # of a later version: this one could not give it anything
            return
        if message.subject != subjects.beats(beat.worker):
            return
        before = self.slots, self.slow_slots
        self._beats[beat.worker] = (beat, time.monotonic())
        if not beat.slots:
            del self._beats[beat.worker]
        if before != (self.slots, self.slow_slots):
            self.on_change()

    async def _look(self) -> None:
        """Forget those who are gone; while the broker is, nobody can be heard."""
        while True:
            await asyncio.sleep(LOOK_S)
            if self._connection.connected_s < SILENT_S:
                continue
            gone = [name for name, (_, at) in self._beats.items() if time.monotonic() - at > SILENT_S]
            for name in gone:
                del self._beats[name]
            if gone:
                self.on_change()
