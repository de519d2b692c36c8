"""A whole cluster that the tests of this folder share: broker, PostgreSQL, two web nodes, two workers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import httpx
import pytest
from sqlalchemy import make_url

from server.local_runner import LocalRunner
from tests.cluster.parts import Broker, Loop, broker_in
from tests.cluster.wires import Cut, Wire
from tools.cluster import Cluster, cluster

PATIENCE_S = 90.0
"""What an answer may take on a machine that is much slower than this one."""

Json = dict[str, Any]

SETTINGS = {
    "GRADGRAPH_WARM_GALLERY": "0",
    "GRADGRAPH_SLOW_WORKERS": "1",
    "GRADGRAPH_MEMORY_BYTES": str(256 * 1024**2),
}
_NUMBERS = count(1)


@dataclass(frozen=True)
class Nodes:
    """The cluster, and a client of each web node."""

    cluster: Cluster
    web: tuple[httpx.Client, ...]
    wires: Mapping[tuple[str, str], Cut]
    """Between a node and the `broker` or the `store`."""

    def run(self, code: str, node: int = 0, **more: object) -> Json:
        """The trace of a program, asked of one of the web nodes."""
        answer = self.web[node].post("/api/v1/runs", json={"code": code, **more})
        assert answer.status_code == 200, answer.text
        trace: Json = answer.json()
        return trace

    def health(self, node: int = 0) -> Json:
        body: Json = self.web[node].get("/api/v1/health").json()
        return body


@pytest.fixture(scope="session")
def nodes() -> Iterator[Nodes]:
    """The cluster; a test that kills or cuts something brings it back."""
    network, wires = Loop(), dict[tuple[str, str], Wire]()

    def way(node: str, address: str) -> str:
        url = make_url(address)
        is_store = url.drivername == "postgresql"
        wire = wires.setdefault(
            (node, "store" if is_store else "broker"),
            Wire(network, f"{url.query['host']}/.s.PGSQL.5432" if is_store else url.port or 0),
        )
        return url.set(host="127.0.0.1", port=wire.port, query={}).render_as_string(hide_password=False)

    with cluster(web=2, workers=2, slots=1, settings=SETTINGS, way=way) as running:
        running.await_workers()
        clients = tuple(httpx.Client(base_url=address, timeout=PATIENCE_S) for address in running.addresses)
        try:
            yield Nodes(running, clients, wires)
        finally:
            for client in clients:
                client.close()
    for wire in wires.values():
        wire.close()
    network.close()


@pytest.fixture
def number() -> int:
    """Makes a program another one."""
    return next(_NUMBERS)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with broker_in(tmp_path_factory.mktemp("broker")) as one:
        yield one


@pytest.fixture(scope="module")
def loop() -> Iterator[Loop]:
    one = Loop()
    yield one
    one.close()


@pytest.fixture(scope="module")
def local(loop: Loop) -> Iterator[LocalRunner]:
    """The machine."""

    async def started() -> LocalRunner:
        runner = LocalRunner(2, 2, 256 * 1024**2)
        await runner.start()
        return runner

    runner = loop.run(started())
    yield runner
    loop.run(runner.close())
