"""Snapshots in the SQLite file of the traces, until one store keeps both."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from server.store import StoreDown, StoreFull, StoreSize

T = TypeVar("T")

_SCHEMA = """
PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS snapshots (
    id TEXT PRIMARY KEY, body BLOB NOT NULL, size_bytes INTEGER NOT NULL, created_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS snapshot_owners (
    snapshot TEXT NOT NULL REFERENCES snapshots (id) ON DELETE CASCADE, owner TEXT NOT NULL, created_at REAL NOT NULL,
    PRIMARY KEY (snapshot, owner)) WITHOUT ROWID;
"""


class SqliteSnapshots:
    """A `SnapshotStore` on one connection."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._max_bytes = max_bytes
        self._one = threading.Lock()
        self._connection = sqlite3.connect(folder / "gradgraph.sqlite3", timeout=2, check_same_thread=False)
        self._connection.executescript(_SCHEMA)

    async def snapshot(self, id: str) -> bytes | None:
        return await self._do(lambda: self._read(id))

    async def keep_snapshot(self, id: str, body: bytes, owner: str) -> bool:
        return await self._do(lambda: self._keep(id, body, owner))

    async def release_snapshot(self, id: str, owner: str) -> bool:
        return await self._do(lambda: self._release(id, owner))

    async def snapshots_size(self) -> StoreSize:
        return await self._do(self._measure)

    async def close(self) -> None:
        await asyncio.to_thread(self._connection.close)

    async def _do(self, work: Callable[[], T]) -> T:
        def locked() -> T:
            try:
                with self._one, self._connection:
                    return work()
            except sqlite3.Error as trouble:
                raise StoreDown(str(trouble)) from trouble

        return await asyncio.to_thread(locked)

    def _read(self, id: str) -> bytes | None:
        row: tuple[bytes] | None = self._connection.execute("SELECT body FROM snapshots WHERE id = ?", (id,)).fetchone()
        return row[0] if row else None

    def _keep(self, id: str, body: bytes, owner: str) -> bool:
        is_new = self._read(id) is None
        if is_new and self._measure().size_bytes + len(body) > self._max_bytes:
            raise StoreFull
        now = time.time()
        self._connection.execute("INSERT OR IGNORE INTO snapshots VALUES (?, ?, ?, ?)", (id, body, len(body), now))
        self._connection.execute("INSERT OR IGNORE INTO snapshot_owners VALUES (?, ?, ?)", (id, owner, now))
        return is_new

    def _release(self, id: str, owner: str) -> bool:
        held = self._connection.execute("DELETE FROM snapshot_owners WHERE snapshot = ? AND owner = ?", (id, owner))
        self._connection.execute(
            "DELETE FROM snapshots WHERE id = ? AND NOT EXISTS (SELECT 1 FROM snapshot_owners WHERE snapshot = ?)",
            (id, id),
        )
        return held.rowcount > 0

    def _measure(self) -> StoreSize:
        counted = "SELECT count(*), coalesce(sum(size_bytes), 0) FROM snapshots"
        count, total = self._connection.execute(counted).fetchone()
        return StoreSize(count, total)
