"""The store: what was put is got, until it must make room."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from server.store import Store, Stored, StoreDown, etag

Use = Callable[[Store], Coroutine[None, None, None]]


def trace(letter: str, size: int = 1_000, **more: object) -> Stored:
    body = letter.encode() * size
    return Stored(body=body, etag=etag(body), **more)  # type: ignore[arg-type]


def use(folder: Path, *uses: Use, max_bytes: int = 10**6, memory_bytes: int = 0) -> None:
    """Let each use have a store of its own over the same file, one after the other."""

    async def one_after_the_other() -> None:
        for each in uses:
            store = Store(folder, max_bytes, memory_bytes)
            try:
                await each(store)
            finally:
                await store.close()

    asyncio.run(one_after_the_other())


def test_a_trace_outlives_the_server(tmp_path: Path) -> None:
    async def put(store: Store) -> None:
        await store.keep("a", trace("a"))

    async def get(store: Store) -> None:
        found = await store.get("a")
        assert found is not None
        assert (found.body, found.etag, found.kept) == (trace("a").body, trace("a").etag, True)
        assert await store.get("b") is None

    use(tmp_path, put, get)


def test_the_traces_not_asked_for_longest_leave_first(tmp_path: Path) -> None:
    async def overfill(store: Store) -> None:
        for letter in "abc":
            await store.keep(letter, trace(letter))
            await asyncio.sleep(0.002)
        await store.get("a")
        await store.keep("d", trace("d"))
        kept = {letter for letter in "abcd" if await store.get(letter)}
        assert kept == {"a", "c", "d"}
        assert await store.size() == (3, 3_000)

    use(tmp_path, overfill, max_bytes=3_500)


def test_the_size_is_the_sum_of_what_is_there(tmp_path: Path) -> None:
    async def change(store: Store) -> None:
        for letter in "abcdef":
            await store.keep(letter, trace(letter))
        await store.keep("f", trace("f", size=300, tensors={"t1": b"v" * 50}))
        await store.keep("f", trace("f", size=310))
        with sqlite3.connect(tmp_path / "gradgraph.sqlite3") as file:
            assert await store.size() == file.execute("SELECT count(*), sum(bytes) FROM traces").fetchone()
        assert (await store.size())[0] < 6

    use(tmp_path, change, max_bytes=3_500)


def test_a_file_from_before_its_size_was_noted_is_summed_up_once(tmp_path: Path) -> None:
    async def put(store: Store) -> None:
        for letter in "abc":
            await store.keep(letter, trace(letter))

    async def look(store: Store) -> None:
        assert await store.size() == (3, 3_000)
        await store.keep("d", trace("d"))
        assert await store.size() == (3, 3_000)
        assert await store.get("a") is None

    use(tmp_path, put)
    with sqlite3.connect(tmp_path / "gradgraph.sqlite3") as file:
        file.executescript("DROP TABLE held; DROP TRIGGER put; DROP TRIGGER replaced; DROP TRIGGER gone;")
    use(tmp_path, look, max_bytes=3_500)


def test_a_write_costs_the_same_however_much_is_stored(tmp_path: Path) -> None:
    steps: list[int] = []

    async def count(store: Store) -> None:
        for size in (20, 2_000):
            with store._connection() as connection:
                connection.executemany(
                    "INSERT OR IGNORE INTO traces VALUES (?, '', 'body', 4, 0, 0)", [(f"r{n}",) for n in range(size)]
                )
            done: list[None] = []
            connection.set_progress_handler(lambda done=done: done.append(None), 1)  # type: ignore[misc]
            store._write(f"new{size}", trace("n"), False)
            connection.set_progress_handler(None, 0)
            steps.append(len(done))

    use(tmp_path, count)
    few, many = steps
    assert few <= many < few + 20  # instructions of SQLite


def test_a_pinned_trace_stays(tmp_path: Path) -> None:
    async def overfill(store: Store) -> None:
        await store.keep("pinned", trace("p"), pinned=True)
        for letter in "abcd":
            await store.keep(letter, trace(letter))
        assert await store.get("pinned")
        assert not await store.get("a")

    use(tmp_path, overfill, max_bytes=2_500)


def test_the_values_of_a_trace_leave_with_it(tmp_path: Path) -> None:
    async def overfill(store: Store) -> None:
        await store.keep("a", trace("a", tensors={"t1": b"values"}))
        assert await store.tensor("a", "t1") == b"values"
        assert await store.tensor("a", "t2") is None
        await store.keep("b", trace("b", size=2_000))
        assert await store.get("a") is None
        assert await store.tensor("a", "t1") is None

    use(tmp_path, overfill, max_bytes=2_500)


def test_a_newer_trace_takes_the_place_of_the_older(tmp_path: Path) -> None:
    async def put_twice(store: Store) -> None:
        await store.keep("a", trace("a", tensors={"t1": b"old"}), pinned=True)
        await store.keep("a", trace("b", size=10))
        found = await store.get("a")
        assert found is not None
        assert found.body == b"b" * 10
        assert await store.tensor("a", "t1") is None
        assert await store.size() == (1, 10)

    use(tmp_path, put_twice)


def test_what_is_only_remembered_is_not_in_the_file(tmp_path: Path) -> None:
    async def remember(store: Store) -> None:
        store.remember("a", trace("a", kept=False))
        found = await store.get("a")
        assert found is not None
        assert not found.kept

    async def look(store: Store) -> None:
        assert await store.get("a") is None

    use(tmp_path, remember, look, memory_bytes=10_000)


def test_many_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    async def crowd(store: Store) -> None:
        async def one(number: int) -> None:
            name = f"r{number}"
            await store.keep(name, trace(chr(97 + number % 26), tensors={"t1": name.encode()}))
            assert await store.tensor(name, "t1") == name.encode()

        await asyncio.gather(*(one(number) for number in range(50)))
        assert (await store.size())[0] == 50

    use(tmp_path, crowd)


def test_two_servers_share_one_file(tmp_path: Path) -> None:
    async def both() -> None:
        one, other = Store(tmp_path, 10**6, 0), Store(tmp_path, 10**6, 0)
        try:
            await asyncio.gather(*(store.keep(f"{n}", trace("x")) for n, store in enumerate([one, other] * 20)))
            assert await one.size() == await other.size() == (40, 40_000)
        finally:
            await one.close()
            await other.close()

    asyncio.run(both())


@pytest.mark.parametrize("size", [0, 1])
def test_entity_tags_are_strong_and_tell_bytes_apart(size: int) -> None:
    assert etag(b"a" * size) != etag(b"a" * (size + 1))
    assert etag(b"a").startswith('"')


def test_a_damaged_file_is_set_aside_and_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "gradgraph.sqlite3"

    async def put(store: Store) -> None:
        await store.keep("a", trace("a"))

    async def find_it_damaged(store: Store) -> None:
        assert await store.get("a") is None
        await store.keep("b", trace("b"))
        assert await store.get("b") is not None
        assert store.trouble == ""

    use(tmp_path, put)
    with file.open("r+b") as handle:  # its first page still says that all is well
        handle.seek(4096)
        handle.write(b"\xff" * (file.stat().st_size - 4096))
    use(tmp_path, find_it_damaged)
    assert len(list(tmp_path.glob("*.damaged-*"))) >= 1


def test_a_file_that_was_damaged_while_the_server_was_off_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "gradgraph.sqlite3").write_bytes(b"this is not a database" * 100)

    async def put(store: Store) -> None:
        await store.keep("a", trace("a"))
        assert await store.get("a") is not None

    use(tmp_path, put)
    (aside,) = tmp_path.glob("*.damaged-*")
    assert aside.read_bytes().startswith(b"this is not a database")


def test_a_locked_file_costs_only_what_was_to_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.store._PATIENCE_S", 0.05)

    async def keep(store: Store) -> None:
        await store.keep("a", trace("a"))
        other = sqlite3.connect(tmp_path / "gradgraph.sqlite3", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreDown, match="locked"):
            await store.keep("b", trace("b"))
        assert "locked" in store.trouble
        assert await store.get("b") is not None, "it is remembered"
        assert await store.get("a") is not None
        other.execute("ROLLBACK")
        other.close()
        await store.keep("c", trace("c"))
        assert store.trouble == ""

    use(tmp_path, keep, memory_bytes=10**6)


def test_a_clock_that_jumps_loses_no_pinned_and_no_newest_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def jump(store: Store) -> None:
        await store.keep("pinned", trace("p", 2_000), pinned=True)
        for number, now in enumerate((2e9, 1e9, 3e9, 0.0)):
            monkeypatch.setattr("server.store.time.time", lambda now=now: now)
            await store.keep(f"run{number}", trace(str(number), 2_000))
            for run in ("pinned", f"run{number}"):
                assert await store.get(run) is not None
        assert (await store.size())[0] == 5

    use(tmp_path, jump)


def test_a_full_disk_loses_no_trace_that_was_stored(tmp_path: Path) -> None:
    async def fill(store: Store) -> None:
        await store.keep("a", trace("a"))

        def full() -> None:
            pages = store._connection().execute("PRAGMA page_count").fetchone()[0]
            store._connection().execute(f"PRAGMA max_page_count = {pages}")

        store._threads._max_workers = 1
        await store._in_thread(full)
        with pytest.raises(StoreDown, match="full"):
            await store.keep("big", trace("b", 200_000))
        found = await store.get("a")
        assert found is not None
        assert found.body == trace("a").body

    use(tmp_path, fill)
