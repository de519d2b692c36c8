"""The store in one SQLite file: what it costs, and what it survives."""

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from server.sqlite_store import SqliteStore
from server.store import StoreDown
from tests.server.stores import trace, use


def test_the_size_is_the_sum_of_what_is_there(tmp_path: Path) -> None:
    async def change(store: SqliteStore) -> None:
        for letter in "abcdef":
            await store.put(letter, trace(letter))
        await store.put("f", trace("f", size=300, tensors={"t1": b"v" * 50}))
        await store.put("f", trace("f", size=310))
        with sqlite3.connect(tmp_path / "gradgraph.sqlite3") as file:
            assert await store.size() == file.execute("SELECT count(*), sum(bytes) FROM traces").fetchone()
        assert (await store.size())[0] < 6

    use(partial(SqliteStore, tmp_path, 3_500), change)


def test_a_file_from_before_its_size_was_noted_is_summed_up_once(tmp_path: Path) -> None:
    async def put(store: SqliteStore) -> None:
        for letter in "abc":
            await store.put(letter, trace(letter))

    async def look(store: SqliteStore) -> None:
        assert await store.size() == (3, 3_000)
        await store.put("d", trace("d"))
        assert await store.size() == (3, 3_000)
        assert await store.get("a") is None

    use(partial(SqliteStore, tmp_path, 10**6), put)
    with sqlite3.connect(tmp_path / "gradgraph.sqlite3") as file:
        file.executescript("DROP TABLE held; DROP TRIGGER put; DROP TRIGGER replaced; DROP TRIGGER gone;")
    use(partial(SqliteStore, tmp_path, 3_500), look)


def test_a_write_costs_the_same_however_much_is_stored(tmp_path: Path) -> None:
    steps: list[int] = []

    async def count(store: SqliteStore) -> None:
        for size in (20, 2_000):
            with store._connection() as connection:
                connection.executemany(
                    "INSERT OR IGNORE INTO traces (id, etag, body, bytes, used) VALUES (?, '', 'body', 4, 0)",
                    [(f"r{n}",) for n in range(size)],
                )
            done: list[None] = []
            connection.set_progress_handler(lambda done=done: done.append(None), 1)  # type: ignore[misc]
            store._write(f"new{size}", trace("n"), False)
            connection.set_progress_handler(None, 0)
            steps.append(len(done))

    use(partial(SqliteStore, tmp_path, 10**6), count)
    few, many = steps
    assert few <= many < few + 20  # instructions of SQLite


def test_a_damaged_file_is_set_aside_and_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "gradgraph.sqlite3"

    async def put(store: SqliteStore) -> None:
        await store.put("a", trace("a"))

    async def find_it_damaged(store: SqliteStore) -> None:
        assert await store.get("a") is None
        await store.put("b", trace("b"))
        assert await store.get("b") is not None
        assert store.trouble == ""

    use(partial(SqliteStore, tmp_path, 10**6), put)
    with file.open("r+b") as handle:  # its first page still says that all is well
        handle.seek(4096)
        handle.write(b"\xff" * (file.stat().st_size - 4096))
    use(partial(SqliteStore, tmp_path, 10**6), find_it_damaged)
    assert len(list(tmp_path.glob("*.damaged-*"))) >= 1


def test_a_file_that_was_damaged_while_the_server_was_off_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "gradgraph.sqlite3").write_bytes(b"this is not a database" * 100)

    async def put(store: SqliteStore) -> None:
        await store.put("a", trace("a"))
        assert await store.get("a") is not None

    use(partial(SqliteStore, tmp_path, 10**6), put)
    (aside,) = tmp_path.glob("*.damaged-*")
    assert aside.read_bytes().startswith(b"this is not a database")


def test_a_locked_file_costs_only_what_was_to_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.sqlite_store._PATIENCE_S", 0.05)

    async def keep(store: SqliteStore) -> None:
        await store.put("a", trace("a"))
        other = sqlite3.connect(tmp_path / "gradgraph.sqlite3", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreDown, match="locked"):
            await store.put("b", trace("b"))
        assert "locked" in store.trouble
        other.execute("ROLLBACK")
        other.close()
        await store.put("c", trace("c"))
        assert store.trouble == ""

    use(partial(SqliteStore, tmp_path, 10**6), keep)


def test_a_clock_that_jumps_loses_no_pinned_and_no_newest_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def jump(store: SqliteStore) -> None:
        await store.put("pinned", trace("p", 2_000), pinned=True)
        for number, now in enumerate((2e9, 1e9, 3e9, 0.0)):
            monkeypatch.setattr("server.sqlite_store.time.time", lambda now=now: now)
            await store.put(f"run{number}", trace(str(number), 2_000))
            for run in ("pinned", f"run{number}"):
                assert await store.get(run) is not None
        assert (await store.size())[0] == 5

    use(partial(SqliteStore, tmp_path, 10**6), jump)


def test_a_full_disk_loses_no_trace_that_was_stored(tmp_path: Path) -> None:
    async def fill(store: SqliteStore) -> None:
        await store.put("a", trace("a"))

        def full() -> None:
            pages = store._connection().execute("PRAGMA page_count").fetchone()[0]
            store._connection().execute(f"PRAGMA max_page_count = {pages}")

        store._threads._max_workers = 1
        await store._in_thread(full)
        with pytest.raises(StoreDown, match="full"):
            await store.put("big", trace("b", 200_000))
        found = await store.get("a")
        assert found is not None
        assert found.body == trace("a").body

    use(partial(SqliteStore, tmp_path, 10**6), fill)


def test_a_file_from_before_formats_were_noted_holds_traces_of_the_first(tmp_path: Path) -> None:
    async def put(store: SqliteStore) -> None:
        await store.put("a", trace("a"))

    async def look(store: SqliteStore) -> None:
        found = await store.get("a")
        assert found is not None
        assert found.format == "gradgraph.trace/1"
        await store.put("b", trace("b", format="gradgraph.trace/2"))
        newer = await store.get("b")
        assert newer is not None
        assert newer.format == "gradgraph.trace/2"

    use(partial(SqliteStore, tmp_path, 10**6), put)
    with sqlite3.connect(tmp_path / "gradgraph.sqlite3") as file:
        file.execute("ALTER TABLE traces DROP COLUMN format")
    use(partial(SqliteStore, tmp_path, 10**6), look)
