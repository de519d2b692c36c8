"""The memory in front of a store."""

import sqlite3
from pathlib import Path

import pytest

from server.sqlite_store import SqliteStore
from server.store import StoreDown
from server.traces import Traces
from tests.server.stores import trace, use


def test_what_is_only_remembered_is_not_in_the_store(tmp_path: Path) -> None:
    async def remember(store: SqliteStore) -> None:
        traces = Traces(store, 10_000)
        traces.remember("a", trace("a", kept=False))
        found = await traces.get("a")
        assert found is not None
        assert not found.kept

    async def look(store: SqliteStore) -> None:
        assert await Traces(store, 10_000).get("a") is None

    use(lambda: SqliteStore(tmp_path, 10**6), remember, look)


def test_what_could_not_be_written_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.sqlite_store._PATIENCE_S", 0.05)

    async def keep(store: SqliteStore) -> None:
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

    use(lambda: SqliteStore(tmp_path, 10**6), keep)


def test_what_is_read_is_asked_for_and_what_is_evicted_is_forgotten(tmp_path: Path) -> None:
    async def overfill(store: SqliteStore) -> None:
        traces = Traces(store, 10**6)
        for letter in "ab":
            await traces.keep(letter, trace(letter))
        assert await traces.get("a") is not None, "from memory, and its store knows"
        await traces.keep("c", trace("c"))
        assert [letter for letter in "abc" if await traces.get(letter)] == ["a", "c"]

    use(lambda: SqliteStore(tmp_path, 2_500), overfill)
