"""A cluster with each node in a network namespace: what the kernel does when a cable is cut is real.

Where nobody may make namespaces, `test_loss.py` cuts wires inside one process instead."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import httpx
import pytest
from sqlalchemy import make_url

from tests.cluster.conftest import PATIENCE_S, SETTINGS, Nodes
from tests.cluster.namespaces import Cable, Namespaces, NoNamespaces
from tests.cluster.parts import Loop
from tests.cluster.test_loss import CUTS, answered_while_cut, callers, is_whole
from tests.cluster.wires import Wire
from tests.server.conftest import wait_until
from tools.cluster import cluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces"),
]
__all__ = ["callers"]


@pytest.fixture(scope="module")
def apart() -> Iterator[Nodes]:
    """A cluster whose web and worker nodes reach broker, store and callers over a cable each."""
    cables: dict[tuple[str, str], Cable] = {}
    with ExitStack() as held:
        try:
            namespaces = held.enter_context(closing(Namespaces()))
            callers_s = {name: namespaces.cable(name) for name in ("web-1", "web-2")}
        except NoNamespaces as why:
            pytest.skip(str(why))
        network = held.enter_context(closing(Loop()))

        def way(node: str, address: str) -> str:
            url = make_url(address)
            is_store = url.drivername == "postgresql"
            to = f"{url.query['host']}/.s.PGSQL.5432" if is_store else url.port or 0
            cable = cables[node, "store" if is_store else "broker"] = namespaces.cable(node)
            wire = held.enter_context(closing(Wire(network, to, cable.here)))
            return url.set(host=cable.here, port=wire.port, query={}).render_as_string(hide_password=False)

        settings = {**SETTINGS, "GRADGRAPH_HOST": "0.0.0.0"}
        made = cluster(web=2, workers=2, slots=1, settings=settings, way=way, within=namespaces.within)
        running = held.enter_context(made)
        running.await_workers()
        ports = [address.rpartition(":")[2] for address in running.addresses]
        addresses = [f"http://{cable.there}:{port}" for cable, port in zip(callers_s.values(), ports, strict=True)]
        clients = (httpx.Client(base_url=address, timeout=PATIENCE_S) for address in addresses)
        yield Nodes(running, tuple(map(held.enter_context, clients)), cables)


@pytest.mark.parametrize("cut", CUTS)
def test_every_run_is_answered_while_a_cable_between_two_is_cut(
    apart: Nodes, callers: ThreadPoolExecutor, number: int, cut: str
) -> None:
    wait_until(lambda: all(is_whole(apart, node) for node in range(len(apart.web))), PATIENCE_S)
    answered_while_cut(apart, callers, number, cut)
