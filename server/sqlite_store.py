"""Finished traces in one SQLite file in WAL mode, which server processes may share.

A file that is locked or on a full disk costs only what could not be written; a damaged one is set aside and begun anew.
"""

import asyncio
import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

from server.store import Stored, StoreDown, StoreSize

log = logging.getLogger("gradgraph.store")

T = TypeVar("T")
P = ParamSpec("P")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS traces (
    id TEXT PRIMARY KEY, etag TEXT NOT NULL, body BLOB NOT NULL, bytes INTEGER NOT NULL,
    used REAL NOT NULL, pinned INTEGER NOT NULL DEFAULT 0, format TEXT NOT NULL DEFAULT 'gradgraph.trace/1');
CREATE INDEX IF NOT EXISTS traces_used ON traces (pinned, used);
CREATE TABLE IF NOT EXISTS tensors (
    run TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE, id TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (run, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS held (one INTEGER PRIMARY KEY, traces INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TRIGGER IF NOT EXISTS put AFTER INSERT ON traces BEGIN
    UPDATE held SET traces = traces + 1, bytes = bytes + new.bytes; END;
CREATE TRIGGER IF NOT EXISTS replaced AFTER UPDATE OF bytes ON traces BEGIN
    UPDATE held SET bytes = bytes + new.bytes - old.bytes; END;
CREATE TRIGGER IF NOT EXISTS gone AFTER DELETE ON traces BEGIN
    UPDATE held SET traces = traces - 1, bytes = bytes - old.bytes; END;
INSERT OR IGNORE INTO held SELECT 1, count(*), coalesce(sum(bytes), 0) FROM traces;
"""
"""`held` is the sum of all traces: to add them up for each write would read the whole file. The triggers are there
before the sum is, so that what another process writes meanwhile is counted once."""


_ADD_FORMAT = "ALTER TABLE traces ADD COLUMN format TEXT NOT NULL DEFAULT 'gradgraph.trace/1'"
"""Files from before formats were noted hold only traces of the first; it stays, whatever the format is now."""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PATIENCE_S = 2.0  # for a lock that another process holds


class SqliteStore:
    """A `Store` in a folder; each of its threads has a connection of its own."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "gradgraph.sqlite3"
        self._troubles: dict[str, str] = {}
        """What the last use of each kind failed with: one that is locked can still be read."""
        self._size = StoreSize(0, 0)
        self._generation = 0
        self._max_bytes = max_bytes
        self._used: dict[str, float] = {}
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="store")
        self._writing = threading.Lock()
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        try:
            self._connection()
        except sqlite3.DatabaseError as trouble:
            if not _is_damaged(trouble):
                raise
            self._set_aside(trouble)
            self._connection()

    @property
    def trouble(self) -> str:
        return next(iter(self._troubles.values()), "")

    async def get(self, run: str) -> Stored | None:
        return await self._in_thread(self._read, run)

    async def part(self, run: str, name: str) -> bytes | None:
        return await self._in_thread(self._read_part, run, name)

    async def attach(self, run: str, name: str, body: bytes) -> None:
        await self._in_thread(self._attach, run, name, body)

    async def put(self, run: str, stored: Stored, *, pinned: bool = False) -> tuple[str, ...]:
        return await self._in_thread(self._write, run, stored, pinned)

    def touch(self, run: str) -> None:
        self._used[run] = time.time()

    async def size(self) -> StoreSize:
        with contextlib.suppress(StoreDown):
            self._size = await self._in_thread(self._measure)
        return self._size

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown, wait=True)
        for connection in self._open:
            connection.close()

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: self._safely(work, *args, **kwargs)
        )

    def _safely(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The work; a second time on a new file when the old one turns out to be damaged. Raises StoreDown."""
        try:
            try:
                done = work(*args, **kwargs)
            except sqlite3.DatabaseError as trouble:
                if not _is_damaged(trouble):
                    raise
                self._set_aside(trouble)
                done = work(*args, **kwargs)
        except (sqlite3.Error, OSError) as trouble:
            self._troubles[work.__name__] = why = f"{type(trouble).__name__}: {trouble}"
            log.warning("the store cannot be used: %s", why)
            raise StoreDown(why) from trouble
        self._troubles.pop(work.__name__, None)
        return done

    def _set_aside(self, trouble: sqlite3.DatabaseError) -> None:
        """Keep the damaged file under another name for the operator, and let a new one be begun."""
        with self._writing:
            if getattr(self._local, "generation", 0) != self._generation:
                return  # another thread has done so
            self._generation += 1
            aside = f"{self._file.name}.damaged-{time.time_ns()}"
            log.error("the store is damaged (%s): set aside as %s", trouble, aside)
            for ending in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    self._file.with_name(self._file.name + ending).rename(self._file.with_name(aside + ending))

    def _connection(self) -> sqlite3.Connection:
        """This thread's own connection to the file as it is now."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None or self._local.generation != self._generation:
            self._local.generation = self._generation
            connection = sqlite3.connect(self._file, timeout=_PATIENCE_S, check_same_thread=False)
            self._open.append(connection)
            connection.executescript(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;" + _SCHEMA
            )
            _note_formats(connection)
            self._local.connection = connection
        return connection

    def _read(self, run: str) -> Stored | None:
        row = self._connection().execute("SELECT body, etag, format FROM traces WHERE id = ?", (run,)).fetchone()
        return Stored(body=row[0], etag=row[1], format=row[2]) if row else None

    def _read_part(self, run: str, name: str) -> bytes | None:
        found = "SELECT body FROM tensors WHERE run = ? AND id = ?"
        row: tuple[bytes] | None = self._connection().execute(found, (run, name)).fetchone()
        return row[0] if row else None

    def _attach(self, run: str, name: str, body: bytes) -> None:
        with self._writing, self._connection() as connection:
            attached = connection.execute(
                "INSERT INTO tensors SELECT id, ?, ? FROM traces WHERE id = ? ON CONFLICT DO NOTHING", (name, body, run)
            )
            if attached.rowcount:
                connection.execute("UPDATE traces SET bytes = bytes + ? WHERE id = ?", (len(body), run))

    def _write(self, run: str, stored: Stored, pinned: bool) -> tuple[str, ...]:
        with self._writing, self._connection() as connection:
            connection.execute("DELETE FROM tensors WHERE run = ?", (run,))
            connection.execute(
                "INSERT INTO traces (id, etag, body, bytes, used, pinned, format) VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET etag = excluded.etag, body = excluded.body, bytes = excluded.bytes, "
                "used = excluded.used, pinned = max(pinned, excluded.pinned), format = excluded.format",
                (run, stored.etag, stored.body, stored.size_bytes, time.time(), pinned, stored.format),
            )
            connection.executemany(
                "INSERT INTO tensors VALUES (?, ?, ?)", [(run, name, body) for name, body in stored.tensors.items()]
            )
            return tuple(self._evict(connection))

    def _evict(self, connection: sqlite3.Connection) -> list[str]:
        """Delete what was not asked for longest, until the rest fits. Reading is noted here, not on every read."""
        used, self._used = self._used, {}
        connection.executemany("UPDATE traces SET used = ? WHERE id = ?", [(at, run) for run, at in used.items()])
        (total,) = connection.execute("SELECT bytes FROM held").fetchone()
        oldest = "SELECT id, bytes FROM traces WHERE pinned = 0 ORDER BY used LIMIT 1"
        evicted: list[str] = []
        while total > self._max_bytes and (row := connection.execute(oldest).fetchone()):
            connection.execute("DELETE FROM traces WHERE id = ?", (row[0],))
            evicted.append(row[0])
            total -= row[1]
        return evicted

    def _measure(self) -> StoreSize:
        count, total = self._connection().execute("SELECT traces, bytes FROM held").fetchone()
        return StoreSize(count, total)


def _note_formats(connection: sqlite3.Connection) -> None:
    """Have a column for each trace's format also in a file that was made before there was one."""
    if not any(column[1] == "format" for column in connection.execute("PRAGMA table_info(traces)")):
        with contextlib.suppress(sqlite3.OperationalError):  # another thread or process has added it
            connection.execute(_ADD_FORMAT)


def _is_damaged(trouble: sqlite3.Error) -> bool:
    return getattr(trouble, "sqlite_errorcode", None) in _DAMAGED
