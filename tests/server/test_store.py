"""What every store does: what was put is got, until it must make room. Another store joins by one line in `STORES`."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from engine.trace import FORMAT
from server.sqlite_store import SqliteStore
from server.store import Store, etag
from tests.server.stores import trace, use

STORES: dict[str, Callable[[Path, int], Store]] = {"sqlite": SqliteStore}


class Open(Protocol):
    """Opens a store; all those of one test hold the same traces."""

    def __call__(self, max_bytes: int = 10**6) -> Store: ...


@pytest.fixture(params=STORES)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    store = STORES[request.param]
    return lambda max_bytes=10**6: store(tmp_path, max_bytes)


def test_a_trace_outlives_the_server(open_store: Open) -> None:
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

    use(open_store, put, get)


def test_the_traces_not_asked_for_longest_leave_first(open_store: Open) -> None:
    async def overfill(store: Store) -> None:
        for letter in "abc":
            await store.put(letter, trace(letter))
            await asyncio.sleep(0.002)
        store.touch("a")
        await store.put("d", trace("d"))
        kept = {letter for letter in "abcd" if await store.get(letter)}
        assert kept == {"a", "c", "d"}
        assert await store.size() == (3, 3_000)

    use(lambda: open_store(3_500), overfill)


def test_a_pinned_trace_stays(open_store: Open) -> None:
    async def overfill(store: Store) -> None:
        await store.put("pinned", trace("p"), pinned=True)
        for letter in "abcd":
            await store.put(letter, trace(letter))
        assert await store.get("pinned")
        assert not await store.get("a")

    use(lambda: open_store(2_500), overfill)


def test_the_values_of_a_trace_leave_with_it(open_store: Open) -> None:
    async def overfill(store: Store) -> None:
        await store.put("a", trace("a", tensors={"t1": b"values"}))
        assert await store.part("a", "t1") == b"values"
        assert await store.part("a", "t2") is None
        await store.put("b", trace("b", size=2_000))
        assert await store.get("a") is None
        assert await store.part("a", "t1") is None

    use(lambda: open_store(2_500), overfill)


def test_what_is_attached_stays_with_its_trace(open_store: Open) -> None:
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

    use(open_store, attach)


def test_a_newer_trace_takes_the_place_of_the_older(open_store: Open) -> None:
    async def put_twice(store: Store) -> None:
        await store.put("a", trace("a", tensors={"t1": b"old"}), pinned=True)
        await store.put("a", trace("b", size=10))
        found = await store.get("a")
        assert found is not None
        assert found.body == b"b" * 10
        assert await store.part("a", "t1") is None
        assert await store.size() == (1, 10)

    use(open_store, put_twice)


def test_many_at_once_do_not_disturb_each_other(open_store: Open) -> None:
    async def crowd(store: Store) -> None:
        async def put_and_read(number: int) -> None:
            name = f"r{number}"
            await store.put(name, trace(chr(97 + number % 26), tensors={"t1": name.encode()}))
            assert await store.part(name, "t1") == name.encode()

        await asyncio.gather(*(put_and_read(number) for number in range(50)))
        assert (await store.size())[0] == 50

    use(open_store, crowd)


def test_two_servers_share_one_file(open_store: Open) -> None:
    async def both() -> None:
        first, other = open_store(), open_store()
        try:
            await asyncio.gather(*(store.put(f"{n}", trace("x")) for n, store in enumerate([first, other] * 20)))
            assert await first.size() == await other.size() == (40, 40_000)
        finally:
            await first.close()
            await other.close()

    asyncio.run(both())


@pytest.mark.parametrize("size", [0, 1])
def test_entity_tags_are_strong_and_tell_bytes_apart(size: int) -> None:
    assert etag(b"a" * size) != etag(b"a" * (size + 1))
    assert etag(b"a").startswith('"')
