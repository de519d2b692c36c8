"""Finished traces by run id: a store, in front of it the memory of those used last, and older formats made current."""

import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable

from engine.formats import UnreadableFormat, migrate
from engine.trace import FORMAT
from server.cache import Cache
from server.problems import Problem
from server.snapshots import Snapshots, is_snapshot
from server.store import Store, Stored, StoreSize, etag


class OtherFormat(Problem):
    """A trace that is there but cannot be read: its program has to run again."""

    def __init__(self, run: str, found: str) -> None:
        super().__init__("other-format", run=run, found=found, format=FORMAT)


class Traces:
    """What queue, views and routes read traces from and put them into; as safe for concurrent use as its store.

    Runs that must not be stored (a limit stopped them, the worker was lost) live in memory alone, until others push
    them out. What is remembered is given also while the store is down.
    The id of a snapshot is as good as that of a run, wherever there are snapshots.
    """

    def __init__(self, store: Store, memory_bytes: int, snapshots: Snapshots | None = None) -> None:
        self._store = store
        self._snapshots = snapshots
        self._memory: Cache[Stored] = Cache(memory_bytes)
        self._evictions = 0
        self.elsewhere: Callable[[str], Awaitable[Stored | None]] | None = None
        """Asks other servers for what they remember."""

    @property
    def trouble(self) -> str:
        """What the store's last use failed with; empty when it went well."""
        return self._store.trouble

    async def get(self, run: str) -> Stored | None:
        """The trace of a run or snapshot, or None when it was never made, was evicted or deleted.

        Raises StoreDown, and Problem for one of another version."""
        if self._snapshots and is_snapshot(run):
            snapshot = await self._snapshots.open(run)
            return snapshot and snapshot.stored
        self._store.touch(run)
        if remembered := self._memory.get(run):
            return remembered
        evictions = self._evictions
        stored = await self._store.get(run)
        if stored is not None:
            if stored.format != FORMAT:
                stored = await asyncio.to_thread(_migrated, run, stored)
            if evictions == self._evictions:  # else it may have left while it was read
                self.remember(run, stored)
        return stored

    async def get_anywhere(self, run: str) -> Stored | None:
        """The same, also of a run that is not stored and that another server remembers."""
        stored = await self.get(run)
        if stored is None and self.elsewhere and not is_snapshot(run):
            stored = await self.elsewhere(run)
            if stored is not None:
                self.remember(run, stored)
        return stored

    async def tensor(self, run: str, tensor: str) -> bytes | None:
        """The compressed values of a larger tensor, or None when they were not kept. Raises StoreDown."""
        if self._snapshots and is_snapshot(run):
            snapshot = await self._snapshots.open(run)
            return snapshot and snapshot.stored.tensors.get(tensor)
        if (remembered := self._memory.get(run)) and tensor in remembered.tensors:
            return remembered.tensors[tensor]
        return await self._store.part(run, tensor)

    def remembered(self, run: str) -> Stored | None:
        """A trace that is at hand."""
        return self._memory.get(run)

    def remember(self, run: str, stored: Stored) -> None:
        """Have a trace at hand, in place of an earlier one of the same run."""
        self._memory.put(run, stored, stored.size_bytes)

    async def keep(self, run: str, stored: Stored, *, pinned: bool = False) -> None:
        """Have a trace at hand and in the store. A pinned one is never evicted. Raises StoreDown."""
        self.remember(run, stored)
        for evicted in await self._store.put(run, stored, pinned=pinned):
            self._evictions += 1
            self._memory.drop(evicted)

    async def part(self, run: str, name: str) -> bytes | None:
        """What was attached to a run under a name. Raises StoreDown."""
        return await self._store.part(run, name)

    async def attach(self, run: str, name: str, body: bytes) -> None:
        """Lay something beside a stored trace. Raises StoreDown."""
        await self._store.attach(run, name, body)

    async def size(self) -> StoreSize:
        """What the store holds, as it was when that could last be found out."""
        return await self._store.size()

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()


def _migrated(run: str, stored: Stored) -> Stored:
    """A stored trace in the current format. What is stored stays as it was written: an older server may share it."""
    try:
        body = gzip.compress(migrate(gzip.decompress(stored.body)), mtime=0)
    except (UnreadableFormat, OSError, EOFError, zlib.error):
        raise OtherFormat(run, stored.format) from None
    return Stored(body=body, etag=etag(body))
