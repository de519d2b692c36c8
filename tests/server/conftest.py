"""Real servers on this machine: uvicorn, the pool of sandboxed workers, a store in a temporary folder."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from server.app import create_app
from server.service import Service
from server.settings import Settings
from tests.server.postgres import Postgres, postgres

START_S = 50.0

Json = dict[str, Any]


@dataclass(frozen=True)
class Served:
    """A server that answers."""

    http: httpx.Client
    service: Service

    def run(self, code: str, **more: object) -> Json:
        """The trace of a program."""
        answer = self.http.post("/api/v1/runs", json={"code": code, **more})
        assert answer.status_code == 200, answer.text
        trace: Json = answer.json()
        return trace

    def problem(self, answer: httpx.Response, status: int, key: str) -> str:
        """The sentence of a refused request, after checking its form."""
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
        body = answer.json()
        assert (body["type"], body["status"]) == (f"urn:gradgraph:problem:{key}", status)
        assert body["title"]
        detail: str = body["detail"]
        return detail


@contextmanager
def serving(settings: Settings, *, ready_first: bool = True) -> Iterator[Served]:
    """A server on a port of its own, for as long as the block lasts."""
    app = create_app(settings, ready_first=ready_first)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    try:
        thread.start()
        wait_until(lambda: server.started or not thread.is_alive(), START_S)
        assert server.started, "the server did not start; its log says why"
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, verify=False) as http:
            yield Served(http, app.state.service)
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not stop"


def wait_until(holds: Callable[[], bool], within_s: float = START_S) -> None:
    """Return when a condition holds; fail when it does not in time."""
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server most tests share."""
    folder: Path = tmp_path_factory.mktemp("store")
    with serving(Settings(data_dir=folder, warm_gallery=False)) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """The PostgreSQL of all tests."""
    with postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: Postgres) -> Iterator[str]:
    """An empty database in it."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a store may be: in a folder or in a PostgreSQL."""
    url: str = request.getfixturevalue("postgres_url") if request.param == "postgresql" else ""
    return url or tmp_path
