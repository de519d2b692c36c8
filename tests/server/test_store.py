"""What every store does, whatever its database: what was put is got, until it must make room."""

import asyncio
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Timer

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from engine.trace import FORMAT
from server.store import Store, StoreDown, StoreFull, database, etag
from server.store.schema import HEAD, metadata
from server.store.sql_store import SqlStore
from tests.server.stores import store_in, trace, use

Place = Path | str


def test_a_trace_outlives_the_server(place: Place) -> None:
    async def put(store: Store) -> None:
        await store.put("a", trace("a"))
        await store.put("older", trace("o", format="gradgraph.trace/0"))

    async def get(store: Store) -> None:
        found = await store.get("a")
        assert found is not None
        assert (found.body, found.etag, found.kept) == (trace("a").body, trace("a").etag, True)
        assert await store.get("b") is None
        older = await store.get("older")
        assert older is not None
        assert (found.format, older.format) == (FORMAT, "gradgraph.trace/0")

    use(partial(store_in, place), put, get)


def test_the_traces_not_asked_for_longest_leave_first(place: Place) -> None:
    async def overfill(store: Store) -> None:
        for letter in "abc":
            await store.put(letter, trace(letter))
            await asyncio.sleep(0.002)
        store.touch("a")
        await store.put("d", trace("d"))
        kept = {letter for letter in "abcd" if await store.get(letter)}
        assert kept == {"a", "c", "d"}
        assert await store.size() == (3, 3_000)

    use(partial(store_in, place, 3_500), overfill)


def test_a_pinned_trace_stays(place: Place) -> None:
    async def overfill(store: Store) -> None:
        await store.put("pinned", trace("p"), pinned=True)
        for letter in "abcd":
            await store.put(letter, trace(letter))
        assert await store.get("pinned")
        assert not await store.get("a")

    use(partial(store_in, place, 2_500), overfill)


def test_the_values_of_a_trace_leave_with_it(place: Place) -> None:
    async def overfill(store: Store) -> None:
        await store.put("a", trace("a", tensors={"t1": b"values"}))
        assert await store.part("a", "t1") == b"values"
        assert await store.part("a", "t2") is None
        await store.put("b", trace("b", size=2_000))
        assert await store.get("a") is None
        assert await store.part("a", "t1") is None

    use(partial(store_in, place, 2_500), overfill)


def test_what_is_attached_stays_with_its_trace(place: Place) -> None:
    async def attach(store: Store) -> None:
        await store.put("a", trace("a"))
        await store.attach("a", "fixes", b"tried")
        await store.attach("a", "fixes", b"tried again")
        await store.attach("nothing", "fixes", b"lost")
        assert await store.part("a", "fixes") == b"tried"
        assert await store.part("nothing", "fixes") is None
        assert await store.size() == (1, 1_005)
        await store.put("a", trace("b"))
        assert await store.part("a", "fixes") is None
        assert await store.size() == (1, 1_000)

    use(partial(store_in, place), attach)


def test_a_newer_trace_takes_the_place_of_the_older(place: Place) -> None:
    async def put_twice(store: Store) -> None:
        await store.put("a", trace("a", tensors={"t1": b"old"}), pinned=True)
        await store.put("a", trace("b", size=10))
        found = await store.get("a")
        assert found is not None
        assert found.body == b"b" * 10
        assert await store.part("a", "t1") is None
        assert await store.size() == (1, 10)

    use(partial(store_in, place), put_twice)


def test_many_at_once_do_not_disturb_each_other(place: Place) -> None:
    async def crowd(store: Store) -> None:
        async def put_and_read(number: int) -> None:
            name = f"r{number}"
            await store.put(name, trace(chr(97 + number % 26), tensors={"t1": name.encode()}))
            assert await store.part(name, "t1") == name.encode()

        await asyncio.gather(*(put_and_read(number) for number in range(50)))
        assert (await store.size())[0] == 50

    use(partial(store_in, place), crowd)


def test_two_servers_share_one_store(place: Place) -> None:
    async def both() -> None:
        first, other = store_in(place), store_in(place)
        try:
            await asyncio.gather(*(store.put(f"{n}", trace("x")) for n, store in enumerate([first, other] * 20)))
            assert await first.size() == await other.size() == (40, 40_000)
        finally:
            await first.close()
            await other.close()

    asyncio.run(both())


def test_two_servers_that_evict_do_not_wait_for_each_other_in_a_circle(place: Place) -> None:
    async def both() -> None:
        first, other = store_in(place, 5_500), store_in(place, 5_500)
        try:
            await asyncio.gather(*(store.put(f"{n % 8}", trace("x")) for n, store in enumerate([first, other] * 40)))
            assert await first.size() == await other.size() == (5, 5_000)
        finally:
            await first.close()
            await other.close()

    asyncio.run(both())


def test_a_snapshot_stays_until_its_last_owner_lets_it_go(place: Place) -> None:
    async def keep(store: SqlStore) -> None:
        assert await store.keep_snapshot("s", b"body", "one")
        assert not await store.keep_snapshot("s", b"body", "other")
        assert not await store.keep_snapshot("s", b"body", "other")

    async def release(store: SqlStore) -> None:
        assert await store.snapshots_size() == (1, 4)
        assert not await store.release_snapshot("s", "stranger")
        assert not await store.release_snapshot("none", "one")
        assert await store.release_snapshot("s", "one")
        assert not await store.release_snapshot("s", "one")
        assert await store.snapshot("s") == b"body"
        assert await store.has_snapshot("s") and not await store.has_snapshot("S")
        assert await store.release_snapshot("s", "other")
        assert await store.snapshot("s") is None
        assert not await store.has_snapshot("s")
        assert await store.snapshots_size() == (0, 0)
        assert await store.keep_snapshot("s", b"body", "one")

    use(partial(store_in, place), keep, release)


def test_full_of_snapshots_it_refuses_one_and_loses_none(place: Place) -> None:
    async def fill(store: SqlStore) -> None:
        await store.put("run", trace("r", 2_000))
        assert await store.keep_snapshot("first", b"a" * 900, "owner")
        with pytest.raises(StoreFull):
            await store.keep_snapshot("second", b"b" * 200, "owner")
        assert await store.snapshot("second") is None
        assert await store.snapshots_size() == (1, 900)
        assert not await store.keep_snapshot("first", b"a" * 900, "other"), "one that is there takes no room"
        assert await store.keep_snapshot("third", b"c" * 100, "owner")
        assert await store.get("run") is not None
        assert store.trouble == ""

    use(partial(store_in, place, max_snapshots_bytes=1_000), fill)


def test_many_owners_of_one_snapshot_at_once_make_it_new_once(place: Place) -> None:
    async def both() -> None:
        stores = [store_in(place), store_in(place)]
        try:
            kept = await asyncio.gather(*(stores[n % 2].keep_snapshot("s", b"body", f"owner {n}") for n in range(20)))
            assert sorted(kept) == [False] * 19 + [True]
            gone = await asyncio.gather(*(stores[n % 2].release_snapshot("s", f"owner {n}") for n in range(20)))
            assert all(gone)
            assert await stores[0].snapshots_size() == (0, 0)
        finally:
            for store in stores:
                await store.close()

    asyncio.run(both())


def test_servers_that_start_at_once_make_the_tables_once(place: Place) -> None:
    async def start() -> None:
        stores = await asyncio.gather(*(asyncio.to_thread(store_in, place) for _ in range(6)))
        for number, store in enumerate(stores):
            await store.put(f"{number}", trace("x"))
        assert {await store.size() for store in stores} == {(6, 6_000)}
        for store in stores:
            await store.close()

    asyncio.run(start())


def test_a_file_that_another_process_is_beginning_is_waited_for(tmp_path: Path) -> None:
    async def put(store: Store) -> None:
        assert await store.put("a", trace("a")) == ()

    file = tmp_path / "gradgraph.sqlite3"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        Timer(0.2, other.rollback).start()
        use(partial(store_in, tmp_path), put)


def test_the_migrations_lead_to_the_tables_that_are_used(place: Place) -> None:
    async def compare(store: SqlStore) -> None:
        with store._database.connection() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []

    use(partial(store_in, place), compare)


def test_the_newest_migration_is_known() -> None:
    versions = Path(database.__file__).with_name("migrations")
    assert ScriptDirectory(str(versions)).get_heads() == [HEAD]


def test_tables_of_a_newer_server_are_left_alone(place: Place) -> None:
    async def age(store: SqlStore) -> None:
        with store._database.writing() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        store._database._prepared = False
        with pytest.raises(StoreDown, match=rf"newer Gradgraph \(9999\).* up to {HEAD}"):
            await store.get("a")
        assert store.trouble != ""

    use(partial(store_in, place), age)


@pytest.mark.parametrize("size", [0, 1])
def test_entity_tags_are_strong_and_tell_bytes_apart(size: int) -> None:
    assert etag(b"a" * size) != etag(b"a" * (size + 1))
    assert etag(b"a").startswith('"')
