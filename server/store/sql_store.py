"""Finished traces and snapshots in the tables of a database, asked in threads of the store's own.

A database that is locked, away or on a full disk costs only what could not be written.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from sqlalchemy import Connection, bindparam, delete, exists, insert, literal, select, update
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from server.store.database import THREADS, Database
from server.store.protocol import Stored, StoreDown, StoreFull, StoreSize
from server.store.schema import held, parts, snapshot_owners, snapshots, traces

log = logging.getLogger("gradgraph.store")

ANSWER_S = 8.0
"""How long a database may take: one behind a network that was cut takes what is said to it and is silent."""
SIZE_S = 1.0
"""The same for its size, which nobody is to wait for."""

T = TypeVar("T")
P = ParamSpec("P")

_TRACE = select(traces.c.body, traces.c.etag, traces.c.format).where(traces.c.id == bindparam("run"))
_PART = select(parts.c.body).where(parts.c.run == bindparam("run"), parts.c.name == bindparam("name"))
_SIZE = select(held.c.entries, held.c.bytes).where(held.c.what == bindparam("what"))
_TAKE_OUT = delete(traces).where(traces.c.id == bindparam("run")).returning(traces.c.bytes, traces.c.pinned)
_PUT_IN = insert(traces)
_ASKED_FOR = update(traces).where(traces.c.id == bindparam("run")).values(used=bindparam("at"))
_OLDEST = select(traces.c.id).where(traces.c.pinned.is_(False)).order_by(traces.c.used).limit(1)
_EVICT = delete(traces).where(traces.c.id == _OLDEST.scalar_subquery()).returning(traces.c.id, traces.c.bytes)
_COUNT = (
    update(held)
    .where(held.c.what == bindparam("table"))
    .values(entries=held.c.entries + bindparam("more"), bytes=held.c.bytes + bindparam("grown"))
    .returning(held.c.bytes)
)
_SNAPSHOT = select(snapshots.c.body).where(snapshots.c.id == bindparam("id"))
_HAS_SNAPSHOT = select(exists().where(snapshots.c.id == bindparam("id")))
_OWNER = select(snapshot_owners.c.owner).where(snapshot_owners.c.snapshot == bindparam("id"))


class SqlStore:
    """A `Store` and `SnapshotStore` in a database."""

    def __init__(self, database: Database, max_bytes: int, max_snapshots_bytes: int) -> None:
        self._database = database
        self._max_bytes = max_bytes
        self._max_snapshots_bytes = max_snapshots_bytes
        self._troubles: dict[str, str] = {}
        """What the last use of each kind failed with: one that is locked can still be read."""
        self._sizes: dict[str, StoreSize] = {}
        self._used: dict[str, float] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")
        self._overdue: list[Callable[[], bool]] = []
        """Of uses that nobody waits for any more, whether each is done; until then it holds a thread."""
        try:
            self._safely(database.prepare)
        except StoreDown:
            if not database.comes_and_goes:
                raise

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
        return await self._last_size("traces")

    async def snapshot(self, id: str) -> bytes | None:
        return await self._in_thread(self._read_snapshot, id)

    async def has_snapshot(self, id: str) -> bool:
        return await self._in_thread(self._look_for_snapshot, id)

    async def keep_snapshot(self, id: str, body: bytes, owner: str) -> bool:
        return await self._in_thread(self._keep_snapshot, id, body, owner)

    async def release_snapshot(self, id: str, owner: str) -> bool:
        return await self._in_thread(self._release_snapshot, id, owner)

    async def snapshots_size(self) -> StoreSize:
        return await self._last_size("snapshots")

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown, wait=True)
        self._database.close()

    async def _last_size(self, what: str) -> StoreSize:
        with contextlib.suppress(StoreDown):
            self._sizes[what] = await self._within(SIZE_S, self._measure, what)
        return self._sizes.get(what, StoreSize(0, 0))

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._within(ANSWER_S, work, *args, **kwargs)

    async def _within(self, patience_s: float, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._overdue = [is_done for is_done in self._overdue if not is_done()]
        if len(self._overdue) >= THREADS:
            raise StoreDown("it does not answer")
        use = self._threads.submit(lambda: self._safely(work, *args, **kwargs))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(use), patience_s)
        except TimeoutError:
            log.warning("the store does not answer")
            self._troubles[work.__name__] = "it does not answer"
            raise StoreDown("it does not answer") from None
        finally:
            if not use.done():
                self._overdue.append(use.done)

    def _safely(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The work; a second time when the database could be mended. Raises StoreDown."""
        generation = self._database.generation
        try:
            try:
                done = work(*args, **kwargs)
            except DBAPIError as trouble:
                if not self._database.mend(trouble, generation):
                    raise
                done = work(*args, **kwargs)
        except (SQLAlchemyError, OSError, StoreDown) as trouble:
            why = str(trouble.orig if isinstance(trouble, DBAPIError) else trouble)
            log.warning("the store cannot be used: %s: %s", type(trouble).__name__, why)
            self._troubles[work.__name__] = self._database.told(trouble)
            raise StoreDown(why) from trouble
        self._troubles.pop(work.__name__, None)
        return done

    def _read(self, run: str) -> Stored | None:
        with self._database.connection() as connection:
            row = connection.execute(_TRACE, {"run": run}).one_or_none()
        return Stored(body=row.body, etag=row.etag, format=row.format) if row else None

    def _read_part(self, run: str, name: str) -> bytes | None:
        with self._database.connection() as connection:
            return connection.execute(_PART, {"run": run, "name": name}).scalar_one_or_none()

    def _attach(self, run: str, name: str, body: bytes) -> None:
        there = exists().where(parts.c.run == run, parts.c.name == name)
        row = select(traces.c.id, literal(name), literal(body)).where(traces.c.id == run, ~there)
        attached = insert(parts).from_select(["run", "name", "body"], row).returning(parts.c.run)
        with self._database.writing() as connection:
            if connection.execute(attached).one_or_none():
                grown = update(traces).where(traces.c.id == run)
                connection.execute(grown.values(bytes=traces.c.bytes + len(body)))
                _count(connection, "traces", 0, len(body))

    def _write(self, run: str, stored: Stored, pinned: bool) -> tuple[str, ...]:
        with self._database.writing() as connection:
            replaced = connection.execute(_TAKE_OUT, {"run": run}).one_or_none()
            row = {
                "id": run,
                "etag": stored.etag,
                "format": stored.format,
                "bytes": stored.size_bytes,
                "used": time.time(),
                "pinned": pinned or (replaced is not None and replaced.pinned),
                "body": stored.body,
            }
            connection.execute(_PUT_IN, row)
            if stored.tensors:
                rows = [{"run": run, "name": name, "body": body} for name, body in stored.tensors.items()]
                connection.execute(insert(parts), rows)
            grown = stored.size_bytes - (replaced.bytes if replaced else 0)
            return tuple(self._evict(connection, _count(connection, "traces", 0 if replaced else 1, grown)))

    def _evict(self, connection: Connection, total: int) -> list[str]:
        """Delete what was not asked for longest, until the rest fits. Reading is noted here, not on every read."""
        used, self._used = self._used, {}
        if used:
            connection.execute(_ASKED_FOR, [{"run": run, "at": at} for run, at in list(used.items())])
        evicted: dict[str, int] = {}
        while total - sum(evicted.values()) > self._max_bytes and (gone := connection.execute(_EVICT).one_or_none()):
            evicted[gone.id] = gone.bytes
        if evicted:
            _count(connection, "traces", -len(evicted), -sum(evicted.values()))
        return list(evicted)

    def _read_snapshot(self, id: str) -> bytes | None:
        with self._database.connection() as connection:
            return connection.execute(_SNAPSHOT, {"id": id}).scalar_one_or_none()

    def _look_for_snapshot(self, id: str) -> bool:
        with self._database.connection() as connection:
            return connection.execute(_HAS_SNAPSHOT, {"id": id}).scalar_one()

    def _keep_snapshot(self, id: str, body: bytes, owner: str) -> bool:
        now = time.time()
        with self._database.writing() as connection:
            is_new = not connection.execute(_HAS_SNAPSHOT, {"id": id}).scalar_one()
            if is_new:
                if _count(connection, "snapshots", 1, len(body)) > self._max_snapshots_bytes:
                    raise StoreFull
                row = {"id": id, "size_bytes": len(body), "created_at": now, "body": body}
                connection.execute(insert(snapshots), row)
            if owner not in connection.execute(_OWNER, {"id": id}).scalars():
                connection.execute(insert(snapshot_owners), {"snapshot": id, "owner": owner, "created_at": now})
        return is_new

    def _release_snapshot(self, id: str, owner: str) -> bool:
        with self._database.writing() as connection:
            theirs = delete(snapshot_owners).where(snapshot_owners.c.snapshot == id, snapshot_owners.c.owner == owner)
            released = connection.execute(theirs).rowcount > 0
            if released and connection.execute(_OWNER.limit(1), {"id": id}).one_or_none() is None:
                last = delete(snapshots).where(snapshots.c.id == id).returning(snapshots.c.size_bytes)
                _count(connection, "snapshots", -1, -connection.execute(last).scalar_one())
        return released

    def _measure(self, what: str) -> StoreSize:
        with self._database.connection() as connection:
            return StoreSize(*connection.execute(_SIZE, {"what": what}).one())


def _count(connection: Connection, what: str, entries: int, size_bytes: int) -> int:
    """Note that a table has more or fewer entries and bytes; returns its bytes."""
    more = {"table": what, "more": entries, "grown": size_bytes}
    return connection.execute(_COUNT, more).scalar_one()
