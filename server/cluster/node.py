"""A web node: its connection, what it knows of the workers, the runs it asks for, and the queue if it leads."""

import asyncio
import logging

from nats.js.kv import KeyValue

from engine.keys import Versions
from server.cluster.connection import Connection, name_of_its_own, prepare
from server.cluster.leader import Leader
from server.cluster.lease import Lease
from server.cluster.nats_runner import NatsRunner
from server.cluster.remote_runs import RemoteRuns
from server.cluster.rooms import SharedBoard
from server.cluster.workers import Workers
from server.metrics import Metrics
from server.queue import Queue
from server.runs import ClusterLoad, WorkerLoad
from server.settings import Settings
from server.traces import Traces

HEARD_S = 1.2
"""A node leads only when it has heard what workers there are."""

log = logging.getLogger("gradgraph.cluster")


class WebNode(RemoteRuns):
    """The runs of the cluster, on a node that leads when it has the lease."""

    def __init__(self, settings: Settings, traces: Traces, metrics: Metrics, versions: Versions) -> None:
        self._connection = Connection(settings.runner, settings.runner_ca)
        self._workers = Workers(self._connection)
        self.board = SharedBoard(self._connection)
        self.runner = NatsRunner(self._connection, self._workers, versions, settings.trace_bytes)
        self.queue = Queue(self.runner, traces, metrics, settings, stores_first=True)
        self._name = name_of_its_own()
        self._contending: asyncio.Task[None] | None = None
        self._preparing: asyncio.Task[KeyValue] | None = None
        super().__init__(self._name, self._connection, traces, 2 * settings.trace_bytes)
        traces.elsewhere = self.remembered

    async def start(self) -> None:
        """Connect, listen, and try to lead; returns when the broker is there."""
        await self._connection.open()
        bucket = await prepare(self._connection)
        self._connection.on_return = self._prepare_again
        self.board.follow()
        await super().start()
        lease = Lease(bucket, self._name)
        leader = Leader(
            self._name,
            self._connection,
            self.queue,
            self.runner,
            self._workers,
            self._traces,
            lambda: lease.is_held,
        )
        self._workers.on_change = self.queue.dispatch
        await self._workers.start()
        self._contending = asyncio.create_task(self._contend(lease, leader))

    @property
    def cluster(self) -> ClusterLoad:
        leading = self.leading
        return ClusterLoad(
            leader=leading.node if leading else None,
            redelivered=leading.redelivered if leading else 0,
            workers=tuple(
                WorkerLoad(beat.worker, beat.pool, beat.slots, beat.running)
                for beat in sorted(self._workers, key=lambda each: each.worker)
            ),
        )

    async def wind_down(self, patience_s: float) -> None:
        """Lead no more: another node takes over what waits, while callers of this one wait for it."""
        await self._stop_contending()
        await super().wind_down(patience_s)

    async def close(self) -> None:
        await self._stop_contending()
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.gather(self._preparing, return_exceptions=True)
        await super().close()
        await self.board.close()
        await self._workers.close()
        await self._connection.close()

    def _prepare_again(self) -> None:
        """A broker that comes back may have lost its files, and has lost its memory."""
        self.board.follow()
        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.create_task(prepare(self._connection))

    async def _contend(self, lease: Lease, leader: Leader) -> None:
        await asyncio.sleep(HEARD_S)
        await lease.contend(leader.lead, leader.stop)

    async def _stop_contending(self) -> None:
        if self._contending is not None:
            self._contending.cancel()
            await asyncio.gather(self._contending, return_exceptions=True)
