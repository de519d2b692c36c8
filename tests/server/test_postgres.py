"""A PostgreSQL under the store: it may be killed, come late, and belong to several servers."""

import os
import signal
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, event

from server.settings import Settings
from server.store import StoreDown
from server.store.sql_store import SqlStore
from tests.server import postgres
from tests.server.conftest import Served, serving, wait_until
from tests.server.postgres import CannotMake, Cluster, Postgres, cluster
from tests.server.stores import store_in, trace, use

pytestmark = pytest.mark.slow

CODE = "import torch\nx = torch.tensor({n}.0, requires_grad=True)\n(x * x).backward()\n"


@pytest.fixture
def mortal() -> Iterator[Cluster]:
    """A PostgreSQL that may be killed."""
    with cluster() as one:
        yield one


def url_of(mortal: Cluster) -> str:
    return mortal.url.render_as_string(hide_password=False)


def test_a_killed_database_costs_what_was_asked_meanwhile(mortal: Cluster) -> None:
    async def lose(store: SqlStore) -> None:
        await store.put("a", trace("a"))
        mortal.kill()
        for _ in range(3):
            with pytest.raises(StoreDown):
                await store.get("a")
        with pytest.raises(StoreDown):
            await store.put("b", trace("b"))
        assert await store.size() == (0, 0), "what was last known"
        assert store.trouble == "OperationalError: the log of the server says more"
        mortal.start()
        assert (await store.get("a")) is not None
        assert await store.get("b") is None
        await store.put("b", trace("b"))
        assert await store.size() == (2, 2_000)
        assert store.trouble == ""

    use(partial(store_in, url_of(mortal)), lose)


@pytest.mark.parametrize("table", ["snapshots", "snapshot_owners", "traces", "held"])
def test_a_database_killed_in_the_middle_of_a_write_has_all_of_it_or_nothing(mortal: Cluster, table: str) -> None:
    async def lose(store: SqlStore) -> None:
        await store.put("there", trace("t"))
        assert await store.keep_snapshot("there", b"there", "owner")
        written = threading.Event()

        @event.listens_for(store._database._engine, "after_cursor_execute")
        def kill(connection: Connection, _cursor: object, statement: str, *_: object) -> None:
            if statement.startswith((f"INSERT INTO {table} ", f"UPDATE {table} ")) and not written.is_set():
                written.set()
                driver = connection.connection.dbapi_connection
                assert isinstance(driver, psycopg.Connection)
                os.kill(driver.info.backend_pid, signal.SIGKILL)  # else it may still take the end of the transaction
                mortal.kill()

        with pytest.raises(StoreDown):
            if table.startswith("snapshot"):
                await store.keep_snapshot("new", b"new" * 10**5, "owner")
            else:
                await store.put("new", trace("n", tensors={"t1": b"values"}))
        assert written.is_set()
        mortal.start()
        assert await store.snapshot("new") is None
        assert await store.get("new") is None
        assert await store.part("new", "t1") is None
        assert (await store.size(), await store.snapshots_size()) == ((1, 1_000), (1, 5))
        assert await store.keep_snapshot("new", b"new", "owner"), "as if nothing had been"
        await store.put("new", trace("n"))
        assert (await store.size(), await store.snapshots_size()) == ((2, 2_000), (2, 8))
        assert store.trouble == ""

    use(partial(store_in, url_of(mortal)), lose)


def test_a_database_that_was_away_between_two_uses_is_not_noticed(mortal: Cluster) -> None:
    async def lose(store: SqlStore) -> None:
        await store.put("a", trace("a"))
        mortal.kill()
        mortal.start()
        await store.put("b", trace("b"))
        mortal.kill()
        mortal.start()
        assert await store.get("a") is not None
        assert await store.size() == (2, 2_000)

    use(partial(store_in, url_of(mortal)), lose)


def test_a_database_may_come_after_the_server(mortal: Cluster) -> None:
    mortal.kill()

    async def wait(store: SqlStore) -> None:
        with pytest.raises(StoreDown):
            await store.get("a")
        mortal.start()
        await store.put("a", trace("a"))
        assert await store.get("a") is not None

    use(partial(store_in, url_of(mortal)), wait)


def test_a_writer_that_holds_the_tables_is_not_waited_for_without_end(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.store.database.PATIENCE_S", 0.05)

    async def keep(store: SqlStore) -> None:
        await store.put("a", trace("a"))
        with psycopg.connect(postgres_url) as other:
            other.execute("SELECT pg_advisory_xact_lock(7165904)")
            with pytest.raises(StoreDown, match="lock timeout"):
                await store.put("b", trace("b"))
            assert await store.get("a") is not None, "readers do not wait"
            assert store.trouble.startswith("LockNotAvailable")
        await store.put("c", trace("c"))
        assert store.trouble == ""

    use(partial(store_in, postgres_url), keep)


@pytest.fixture(scope="module")
def two(postgres_server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """Two servers that share a store."""
    nowhere = tmp_path_factory.mktemp("two") / "none"
    with postgres_server.database() as url:
        settings = Settings(store=url, data_dir=nowhere, workers=1, warm_gallery=False)
        with serving(settings) as first, serving(settings) as other:
            yield first, other
    assert not nowhere.exists()


def test_two_servers_see_each_other_s_runs(two: tuple[Served, Served]) -> None:
    first, other = two
    before = stored(first)
    made = first.run(CODE.format(n=3))
    wait_until(lambda: stored(other) == before + 1)
    assert other.http.get(f"/api/v1/runs/{made['id']}").json() == made
    answer = other.http.post("/api/v1/runs", json={"code": CODE.format(n=3)})
    assert answer.headers["cache-status"] == "gradgraph; hit"
    assert stored(first) == stored(other) == before + 1


def test_two_servers_share_snapshots(two: tuple[Served, Served]) -> None:
    first, other = two
    run = first.run(CODE.format(n=7))["id"]
    body = {"run": run, "view": {"step": 2, "lang": "en"}}
    made = first.http.post("/api/v1/snapshots", json=body).json()
    assert other.http.post("/api/v1/snapshots", json=body).json()["id"] == made["id"], "the same content"
    for server in (first, other):
        assert server.http.get(f"{made['url']}.json").json()["view"]["step"] == 2
    for token, status in (("stranger", 403), (made["token"], 204), (made["token"], 403)):
        gone = other.http.delete(f"/api/v1/snapshots/{made['id']}", headers={"Owner-Token": token})
        assert gone.status_code == status
    assert first.http.get(f"{made['url']}.json").status_code == 200, "its other owner keeps it"


def test_a_snapshot_deleted_at_one_server_is_gone_at_the_other_at_once(two: tuple[Served, Served]) -> None:
    first, other = two
    body = {"run": first.run(CODE.format(n=8))["id"], "view": {"step": 1, "lang": "zh"}}
    made = first.http.post("/api/v1/snapshots", json=body).json()
    assert first.http.get(f"{made['url']}.json").status_code == 200, "now it remembers it"
    gone = other.http.delete(f"/api/v1/snapshots/{made['id']}", headers={"Owner-Token": made["token"]})
    assert gone.status_code == 204
    for server in two:
        server.problem(server.http.get(f"{made['url']}.json"), 404, "no-such-snapshot")


def test_a_server_goes_on_without_its_database_and_with_it_again(mortal: Cluster, tmp_path: Path) -> None:
    settings = Settings(store=url_of(mortal), data_dir=tmp_path, workers=1, warm_gallery=False, memory_cache_bytes=0)
    with serving(settings) as served:
        kept = served.run(CODE.format(n=4))
        address = f"/api/v1/runs/{kept['id']}"
        wait_until(lambda: stored(served) == 1)
        body = {"run": kept["id"], "view": {"step": 1, "lang": "en"}}
        mortal.kill()
        served.problem(served.http.post("/api/v1/snapshots", json=body), 503, "store-down")
        assert served.run(CODE.format(n=5))["status"] == "ok", "and takes the place of the other in memory"
        sentence = served.problem(served.http.get(address), 503, "store-down")
        assert "new programs still run" in sentence
        said = health(served)
        assert said != "ok"
        assert str(mortal.url.query["host"]) not in said, "where it is concerns nobody"
        mortal.start()
        assert served.http.get(address).json() == kept
        assert served.http.post("/api/v1/snapshots", json=body).status_code == 201
        assert served.run(CODE.format(n=6))["status"] == "ok"
        wait_until(lambda: health(served) == "ok")


def stored(served: Served) -> int:
    """How many traces its store holds."""
    count: int = served.http.get("/api/v1/health").json()["stored_traces"]
    return count


def health(served: Served) -> str:
    """What the server says of its store."""
    said: str = served.http.get("/api/v1/health").json()["store"]
    return said


NAMELESS = 4242
"""A user whom only containers know, by this number."""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes as somebody else")
@pytest.mark.parametrize("borrows", [True, False], ids=["borrowed", "none to borrow"])
def test_a_user_without_a_name_borrows_one_or_is_told(monkeypatch: pytest.MonkeyPatch, borrows: bool) -> None:
    monkeypatch.setattr(postgres, "_USER", NAMELESS)
    if borrows:
        with cluster() as one:
            assert one.is_running
    else:
        monkeypatch.setattr(postgres, "_BORROWED_NAME", ("false",))
        with pytest.raises(CannotMake, match="no name on this system"), cluster():
            pass
