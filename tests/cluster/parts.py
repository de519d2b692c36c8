"""Parts of a cluster inside one process: a real broker, a worker node, the runner of a web node."""

import asyncio
import gzip
import re
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from engine import DEFAULT_LIMITS, Program, RunRequest, Trace
from engine.keys import run_id, versions
from server.cluster.broker import WEB, Tls, WorkerUser, configuration
from server.cluster.connection import Connection, prepare
from server.cluster.nats_runner import NatsRunner
from server.cluster.worker import WorkerNode
from server.cluster.workers import Workers
from server.runner import Finished, RunEvent, Runner
from tools.cluster import Node, free_port, nats_server

R = TypeVar("R")
PATIENCE_S = 90.0


class Loop:
    """An event loop on a thread, so that what is slow to start is started once."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        ran: Future[R] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return ran.result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@dataclass(frozen=True)
class Broker:
    """A broker with two workers' users, and what it takes to be one of its nodes."""

    node: Node
    port: int
    ca: str = ""
    """File of the certificate it is believed by, if it speaks TLS."""
    token: str = ""
    """What it asks everybody for, if it knows no users."""

    def connection(self, user: str) -> Connection:
        by = self.token or f"{user}:{user}"
        return Connection(f"{'tls' if self.ca else 'nats'}://{by}@127.0.0.1:{self.port}", self.ca)


@contextmanager
def broker_in(folder: Path, tls: Tls | None = None, ca: str = "", token: str = "") -> Iterator[Broker]:
    """A real broker, with its files in a folder."""
    port = free_port()
    users = [WorkerUser(name, name) for name in ("worker-1", "worker-2")]
    listen, store = f"127.0.0.1:{port}", folder / "jetstream"
    text = configuration(WEB, users, listen=listen, store=store, tls=tls)
    if token:
        text = f'listen: "{listen}"\njetstream {{ store_dir: "{store}" }}\nauthorization {{ token: "{token}" }}\n'
    (folder / "nats.conf").write_text(text)
    node = Node("broker", [nats_server(), "-c", str(folder / "nats.conf")], folder, {})
    node.await_word(re.compile(rb"Server is ready"))
    try:
        yield Broker(node, port, ca, token)
    finally:
        node.stop()


@asynccontextmanager
async def working(broker: Broker, runner: Runner, name: str = "worker-1") -> AsyncIterator[asyncio.Event]:
    """A worker node in this process; the event tells it to stop."""
    connection, stopped = broker.connection(name), asyncio.Event()
    await connection.open()
    serving = asyncio.create_task(WorkerNode(connection, runner, versions().engine).serve(stopped, 0.0))
    try:
        yield stopped
    finally:
        stopped.set()
        await serving
        await connection.close()


@asynccontextmanager
async def leading(broker: Broker) -> AsyncIterator[tuple[NatsRunner, Workers]]:
    """The runner of a web node."""
    connection = broker.connection(WEB)
    await connection.open()
    await prepare(connection)
    workers = Workers(connection)
    await workers.start()
    try:
        yield NatsRunner(connection, workers, versions(), 10**8), workers
    finally:
        await workers.close()
        await connection.close()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0.01)


def asked(code: str, **limits: float) -> tuple[str, RunRequest]:
    request = RunRequest(program=Program(code=code), limits=msgspec.structs.replace(DEFAULT_LIMITS, **limits))
    return run_id(request, versions()), request


async def events_of(runner: Runner, run: str, request: RunRequest) -> list[RunEvent]:
    async with aclosing(runner.submit(run, request, 0.0)) as stream:
        return [event async for event in stream]


def trace_of(events: list[RunEvent]) -> Trace:
    """What the last event brings."""
    finished = events[-1]
    assert isinstance(finished, Finished)
    return msgspec.json.decode(gzip.decompress(finished.stored.body), type=Trace)
