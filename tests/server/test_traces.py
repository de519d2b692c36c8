"""The memory in front of a store."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from server.store import Store, Stored, StoreDown
from server.traces import Traces
from tests.server.stores import store_in, trace, use


def test_what_is_only_remembered_is_not_in_the_store(tmp_path: Path) -> None:
    async def remember(store: Store) -> None:
        traces = Traces(store, 10_000)
        traces.remember("a", trace("a", kept=False))
        found = await traces.get("a")
        assert found is not None
        assert not found.kept

    async def look(store: Store) -> None:
        assert await Traces(store, 10_000).get("a") is None

    use(lambda: store_in(tmp_path), remember, look)


def test_what_could_not_be_written_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.store.database.PATIENCE_S", 0.05)

    async def keep(store: Store) -> None:
        traces = Traces(store, 10**6)
        await traces.keep("a", trace("a"))
        other = sqlite3.connect(tmp_path / "gradgraph.sqlite3", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreDown, match="locked"):
            await traces.keep("b", trace("b"))
        assert "locked" in traces.trouble
        assert await traces.get("b") is not None
        assert await traces.get("a") is not None
        other.execute("ROLLBACK")
        other.close()

    use(lambda: store_in(tmp_path), keep)


def test_what_is_read_is_asked_for_and_what_is_evicted_is_forgotten(tmp_path: Path) -> None:
    async def overfill(store: Store) -> None:
        traces = Traces(store, 10**6)
        for letter in "ab":
            await traces.keep(letter, trace(letter))
        assert await traces.get("a") is not None, "from memory, and its store knows"
        await traces.keep("c", trace("c"))
        assert [letter for letter in "abc" if await traces.get(letter)] == ["a", "c"]

    use(lambda: store_in(tmp_path, 2_500), overfill)


def test_what_is_evicted_while_it_is_read_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(store: Store) -> None:
        writing, reading = Traces(store, 10**6), Traces(store, 10**6)
        await writing.keep("a", trace("a"))
        found, is_read, may_go_on = store.get, asyncio.Event(), asyncio.Event()

        async def held(run: str) -> Stored | None:
            stored = await found(run)
            is_read.set()
            await may_go_on.wait()
            return stored

        monkeypatch.setattr(store, "get", held)
        asked = asyncio.create_task(reading.get("a"))
        await is_read.wait()
        for letter in "bc":
            await reading.keep(letter, trace(letter))
        may_go_on.set()
        assert await asked is not None
        assert reading.remembered("a") is None
        assert await reading.get("a") is None

    use(lambda: store_in(tmp_path, 2_500), read)
