"""The store in one SQLite file: what it costs, and what it survives."""

import sqlite3
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import event, inspect

from server.store import StoreDown
from server.store.schema import metadata
from server.store.sql_store import SqlStore
from tests.server.stores import store_in, trace, use


def test_the_size_is_the_sum_of_what_is_there(tmp_path: Path) -> None:
    async def change(store: SqlStore) -> None:
        for letter in "abcdef":
            await store.put(letter, trace(letter))
        await store.put("f", trace("f", size=300, tensors={"t1": b"v" * 50}))
        await store.put("f", trace("f", size=310))
        with sqlite3.connect(tmp_path / "gradgraph.sqlite3") as file:
            assert await store.size() == file.execute("SELECT count(*), sum(bytes) FROM traces").fetchone()
        assert (await store.size())[0] < 6

    use(partial(store_in, tmp_path, 3_500), change)


def test_a_write_costs_the_same_however_much_is_stored(tmp_path: Path) -> None:
    steps: list[int] = []

    async def count(store: SqlStore) -> None:
        engine = store._database._engine
        for size in (20, 2_000):
            with store._database.writing() as connection:
                connection.exec_driver_sql(
                    "INSERT OR IGNORE INTO traces (id, etag, format, body, bytes, used) VALUES (?, '', '', 'body', 4, 0)",
                    [(f"r{n}",) for n in range(size)],
                )
            done: list[None] = []

            def counted(connection: sqlite3.Connection, *_: object, done: list[None] = done) -> None:
                connection.set_progress_handler(lambda: done.append(None), 1)

            event.listen(engine, "checkout", counted)
            store._write(f"new{size}", trace("n"), False)
            event.remove(engine, "checkout", counted)
            steps.append(len(done))

    use(partial(store_in, tmp_path), count)
    few, many = steps
    assert few <= many < few + 20  # instructions of SQLite


def test_a_damaged_file_is_set_aside_and_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "gradgraph.sqlite3"

    async def put(store: SqlStore) -> None:
        await store.put("a", trace("a"))

    async def find_it_damaged(store: SqlStore) -> None:
        assert await store.get("a") is None
        await store.put("b", trace("b"))
        assert await store.get("b") is not None
        assert store.trouble == ""

    use(partial(store_in, tmp_path), put)
    with file.open("r+b") as handle:  # its first page still says that all is well
        handle.seek(4096)
        handle.write(b"\xff" * (file.stat().st_size - 4096))
    use(partial(store_in, tmp_path), find_it_damaged)
    assert len(list(tmp_path.glob("*.damaged-*"))) >= 1


def test_a_file_that_was_damaged_while_the_server_was_off_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "gradgraph.sqlite3").write_bytes(b"this is not a database" * 100)

    async def put(store: SqlStore) -> None:
        await store.put("a", trace("a"))
        assert await store.get("a") is not None

    use(partial(store_in, tmp_path), put)
    (aside,) = tmp_path.glob("*.damaged-*")
    assert aside.read_bytes().startswith(b"this is not a database")


def test_a_locked_file_costs_only_what_was_to_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.store.database.PATIENCE_S", 0.05)

    async def keep(store: SqlStore) -> None:
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

    use(partial(store_in, tmp_path), keep)


def test_a_clock_that_jumps_loses_no_pinned_and_no_newest_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def jump(store: SqlStore) -> None:
        await store.put("pinned", trace("p", 2_000), pinned=True)
        for number, now in enumerate((2e9, 1e9, 3e9, 0.0)):
            monkeypatch.setattr("server.store.sql_store.time.time", lambda now=now: now)
            await store.put(f"run{number}", trace(str(number), 2_000))
            for run in ("pinned", f"run{number}"):
                assert await store.get(run) is not None
        assert (await store.size())[0] == 5

    use(partial(store_in, tmp_path), jump)


def test_a_full_disk_loses_no_trace_that_was_stored(tmp_path: Path) -> None:
    async def fill(store: SqlStore) -> None:
        await store.put("a", trace("a"))

        @event.listens_for(store._database._engine, "checkout")
        def full(connection: sqlite3.Connection, *_: object) -> None:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")

        with pytest.raises(StoreDown, match="full"):
            await store.put("big", trace("b", 200_000))
        with pytest.raises(StoreDown, match="full"):
            await store.keep_snapshot("big", b"b" * 200_000, "owner")
        found = await store.get("a")
        assert found is not None
        assert found.body == trace("a").body
        assert await store.snapshots_size() == (0, 0)

    use(partial(store_in, tmp_path), fill)


AS_BEFORE_MIGRATIONS = """
CREATE TABLE traces (
    id TEXT PRIMARY KEY, etag TEXT NOT NULL, body BLOB NOT NULL, bytes INTEGER NOT NULL,
    used REAL NOT NULL, pinned INTEGER NOT NULL DEFAULT 0, format TEXT NOT NULL DEFAULT 'gradgraph.trace/1');
CREATE INDEX traces_used ON traces (pinned, used);
CREATE TABLE tensors (
    run TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE, id TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (run, id)) WITHOUT ROWID;
CREATE TABLE held (one INTEGER PRIMARY KEY, traces INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TRIGGER put AFTER INSERT ON traces BEGIN
    UPDATE held SET traces = traces + 1, bytes = bytes + new.bytes; END;
CREATE TRIGGER replaced AFTER UPDATE OF bytes ON traces BEGIN
    UPDATE held SET bytes = bytes + new.bytes - old.bytes; END;
CREATE TRIGGER gone AFTER DELETE ON traces BEGIN
    UPDATE held SET traces = traces - 1, bytes = bytes - old.bytes; END;
INSERT INTO held VALUES (1, 0, 0);
INSERT INTO traces VALUES ('pinned', 'e1', CAST('one' AS BLOB), 6, 1.0, 1, 'gradgraph.trace/0');
INSERT INTO traces VALUES ('old', 'e2', CAST('two' AS BLOB), 3, 2.0, 0, 'gradgraph.trace/1');
INSERT INTO traces VALUES ('new', 'e3', CAST('six' AS BLOB), 3, 3.0, 0, 'gradgraph.trace/1');
INSERT INTO tensors VALUES ('pinned', 't1', CAST('val' AS BLOB));
"""
"""The last form of a file that servers made before there were migrations."""


@pytest.mark.parametrize(
    ("earlier", "form"),
    [
        ("", "gradgraph.trace/0"),
        ("ALTER TABLE traces DROP COLUMN format;", "gradgraph.trace/1"),
        ("DROP TABLE held; DROP TRIGGER put; DROP TRIGGER replaced; DROP TRIGGER gone;", "gradgraph.trace/0"),
    ],
    ids=["last", "before formats were noted", "before its size was noted"],
)
def test_a_file_from_before_migrations_is_taken_over(tmp_path: Path, earlier: str, form: str) -> None:
    with sqlite3.connect(tmp_path / "gradgraph.sqlite3") as file:
        file.executescript(AS_BEFORE_MIGRATIONS + earlier)
    file.close()

    async def look(store: SqlStore) -> None:
        with store._database.connection() as connection:
            there = inspect(connection)
            for table in metadata.sorted_tables:
                assert {column["name"] for column in there.get_columns(table.name)} == set(table.c.keys())
            assert {*there.get_table_names()} == {*metadata.tables, "alembic_version"}
        pinned = await store.get("pinned")
        assert pinned is not None
        assert (pinned.body, pinned.etag, pinned.format) == (b"one", "e1", form)
        assert await store.part("pinned", "t1") == b"val"
        assert await store.size() == (3, 12)
        assert await store.put("more", trace("m", 3)) == ("old",)
        await store.put("pinned", trace("p", 3))
        assert await store.put("more still", trace("m", 6)) == ("new",)
        assert await store.size() == (3, 12)
        assert await store.keep_snapshot("s", b"body", "owner")

    use(partial(store_in, tmp_path, 12), look)
