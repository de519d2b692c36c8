"""Backups: whole, of one moment, and readable by any kind of store; or refused in a sentence."""

import asyncio
import os
import random
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from server.store.archive import FORMAT, Refused, backup, restore
from server.store.database import Database, database
from server.store.schema import metadata
from server.store.sql_store import SqlStore
from tests.server.stores import store_in, trace, use

pytestmark = pytest.mark.slow

Place = Path | str
ROOT = Path(__file__).parents[2]


@pytest.fixture
def other_place(request: pytest.FixtureRequest, tmp_path: Path, place: Place) -> Place:
    """A store of the other kind than `place`."""
    other: Place = tmp_path / "other" if isinstance(place, str) else request.getfixturevalue("postgres_url")
    return other


@contextmanager
def tables(place: Place) -> Iterator[Database]:
    """The database of a store."""
    one = database(place, Path()) if isinstance(place, str) else database("", place)
    try:
        yield one
    finally:
        one.close()


def rows(place: Place) -> dict[str, list[tuple[object, ...]]]:
    """Everything that is in a store."""
    with tables(place) as there, there.reading() as connection:
        return {
            table.name: sorted(tuple(row) for row in connection.execute(select(table)))
            for table in metadata.sorted_tables
        }


async def fill(store: SqlStore) -> None:
    for number in range(40):
        await store.put(f"r{number}", trace(chr(97 + number % 26), 100 + number), pinned=number % 7 == 0)
    await store.put("values", trace("v", tensors={"t1": os.urandom(70_000), "t2": b""}))
    await store.attach("values", "fixes", b"\0tried\xff")
    for owner in ("one", "other"):
        await store.keep_snapshot("s1", b"\x1f\x8b\0body", owner)


async def put_one(store: SqlStore) -> None:
    await store.put("mine", trace("m"))


def test_a_backup_fills_a_store_of_either_kind(tmp_path: Path, place: Place, other_place: Place) -> None:
    file = tmp_path / "archive"
    use(partial(store_in, place), fill)
    with tables(place) as there:
        assert backup(there, file) == (41, 1)
    with tables(other_place) as there:
        assert restore(there, file) == (41, 1)
    assert rows(other_place) == rows(place)
    assert {entry.name for entry in tmp_path.iterdir()} <= {
        "archive",
        "other",
        *(f"gradgraph.sqlite3{end}" for end in ("", "-wal", "-shm")),
    }

    async def go_on(store: SqlStore) -> None:
        assert await store.part("values", "fixes") == b"\0tried\xff"
        assert await store.snapshot("s1") == b"\x1f\x8b\0body"
        before = await store.size()
        await store.put("new", trace("n", 10))
        assert await store.size() == (before.entries + 1, before.size_bytes + 10)

    use(partial(store_in, other_place), go_on)


def test_a_backup_is_of_one_moment(tmp_path: Path, place: Place) -> None:
    """Each trace is put with a part, and the sum follows it; a server goes on putting while the rows are read."""
    file = tmp_path / "archive"

    async def both(store: SqlStore) -> None:
        ended = asyncio.Event()

        async def go_on() -> None:
            number = 0
            while not ended.is_set():
                await store.put(f"r{number % 60}", trace("r", 500 + number, tensors={"t": b"t" * 2_000}))
                number += 1

        putting = asyncio.create_task(go_on())
        for _ in range(5):
            await asyncio.to_thread(backup, store._database, file, overwrite=True)
            with zipfile.ZipFile(file) as archive:
                archive.extract("store.sqlite3", tmp_path / "out")
            copy = sqlite3.connect(tmp_path / "out" / "store.sqlite3")
            held = copy.execute("SELECT entries, bytes FROM held WHERE what = 'traces'").fetchone()
            assert held == copy.execute("SELECT count(*), coalesce(sum(bytes), 0) FROM traces").fetchone()
            assert copy.execute("SELECT count(*) FROM parts").fetchone() == (held[0],)
            copy.close()
        ended.set()
        await putting

    use(partial(store_in, place), both)


def test_what_is_there_is_replaced_only_when_that_is_asked_for(tmp_path: Path, place: Place) -> None:
    file = tmp_path / "archive"
    use(partial(store_in, tmp_path / "first"), fill)
    use(partial(store_in, place), put_one)
    with tables(tmp_path / "first") as first, tables(place) as there:
        backup(first, file)
        with pytest.raises(Refused, match="archive is there already"):
            backup(there, file)
        with pytest.raises(Refused, match="holds 1 traces and 0 snapshots; --overwrite"):
            restore(there, file)
        assert rows(place)["traces"][0][0] == "mine"
        assert restore(there, file, overwrite=True) == (41, 1)
    assert rows(place) == rows(tmp_path / "first")


def test_a_restoring_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "archive"
    use(partial(store_in, tmp_path / "first"), fill)
    use(partial(store_in, place), put_one)
    before = rows(place)
    with tables(tmp_path / "first") as first, tables(place) as there:
        backup(first, file)
        monkeypatch.setattr(
            "server.store.archive.insert", lambda table: 1 / 0 if table.name == "snapshots" else table.insert()
        )
        with pytest.raises(ZeroDivisionError):
            restore(there, file, overwrite=True)
    assert rows(place) == before


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    use(partial(store_in, tmp_path / "mine"), put_one)
    foreign = {
        "text": b"this is no archive",
        "empty": b"",
        "store": (tmp_path / "mine" / "gradgraph.sqlite3").read_bytes(),
    }
    for name, body in foreign.items():
        (tmp_path / name).write_bytes(body)
    for name, about in {
        "zip": "{}",
        "list": "[]",
        "newer": '{"format": "gradgraph.archive/9"}',
        "bare": f'{{"format": "{FORMAT}"}}',
    }.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("about.json", about)
        foreign[name] = b""
    with tables(tmp_path / "mine") as there:
        for name in (*foreign, "missing"):
            with pytest.raises(Refused, match=name):
                restore(there, tmp_path / name, overwrite=True)
    assert [row[0] for row in rows(tmp_path / "mine")["traces"]] == ["mine"]


def test_a_damaged_archive_is_refused_or_does_no_harm(tmp_path: Path) -> None:
    file, bad, chance = tmp_path / "archive", tmp_path / "bad", random.Random(0)
    use(partial(store_in, tmp_path / "first"), fill)
    use(partial(store_in, tmp_path / "mine"), put_one)
    whole, mine = rows(tmp_path / "first"), rows(tmp_path / "mine")
    with tables(tmp_path / "first") as first:
        backup(first, file)
    body = file.read_bytes()
    refused = 0
    ends = [*range(60), *range(len(body) - 260, len(body))]
    for place in [*chance.sample(ends, 60), *(chance.randrange(len(body)) for _ in range(20))]:
        bad.write_bytes(body[:place] + bytes([body[place] ^ 1 << chance.randrange(8)]) + body[place + 1 :])
        with tables(tmp_path / "mine") as there:
            try:
                restore(there, bad, overwrite=True)
            except Refused:
                refused += 1
                assert rows(tmp_path / "mine") == mine
                continue
            assert rows(tmp_path / "mine") == whole
            with there.writing() as connection:
                for table in reversed(metadata.sorted_tables):
                    connection.execute(table.delete())
                for table in metadata.sorted_tables:
                    if mine[table.name]:
                        connection.execute(
                            table.insert(), [dict(zip(table.c.keys(), row, strict=True)) for row in mine[table.name]]
                        )
    assert refused > 50
    bad.write_bytes(body[: len(body) // 2])
    with tables(tmp_path / "mine") as there, pytest.raises(Refused, match="cannot be read"):
        restore(there, bad, overwrite=True)


def test_the_verbs_say_what_they_did(tmp_path: Path) -> None:
    use(partial(store_in, tmp_path / "first"), fill)

    def do(*words: str, folder: str = "first") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "server.store", *words],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "GRADGRAPH_DATA_DIR": str(tmp_path / folder)},
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )

    file = str(tmp_path / "archive")
    assert do("backup", file).stdout == f"41 traces and 1 snapshots are in {file}\n"
    assert do("restore", file, folder="second").stdout == "the store holds 41 traces and 1 snapshots\n"
    again = do("restore", file, folder="second")
    assert (again.returncode, again.stdout) == (1, "")
    assert (
        again.stderr
        == "gradgraph: the store holds 41 traces and 1 snapshots; --overwrite puts those of archive in their place\n"
    )
    assert rows(tmp_path / "second") == rows(tmp_path / "first")
