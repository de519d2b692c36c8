"""Finished traces by run id: a store, and in front of it the memory of those used last."""

from server.cache import Cache
from server.store import Store, Stored, StoreSize


class Traces:
    """What queue, views and routes read traces from and put them into; as safe for concurrent use as its store.

    Runs that must not be stored (a limit stopped them, the worker was lost) live in memory alone, until others push them
    out. What is remembered is given also while the store is down.
    """

    def __init__(self, store: Store, memory_bytes: int) -> None:
        self._store = store
        self._memory: Cache[Stored] = Cache(memory_bytes)

    @property
    def trouble(self) -> str:
        """What the store's last use failed with; empty when it went well."""
        return self._store.trouble

    async def get(self, run: str) -> Stored | None:
        """The trace of a run, or None when it was never made or was evicted. Raises StoreDown."""
        self._store.touch(run)
        if remembered := self._memory.get(run):
            return remembered
        stored = await self._store.get(run)
        if stored is not None:
            self.remember(run, stored)
        return stored

    async def tensor(self, run: str, tensor: str) -> bytes | None:
        """The compressed values of a larger tensor, or None when they were not kept. Raises StoreDown."""
        if (remembered := self._memory.get(run)) and tensor in remembered.tensors:
            return remembered.tensors[tensor]
        return await self._store.tensor(run, tensor)

    def remember(self, run: str, stored: Stored) -> None:
        """Have a trace at hand, in place of an earlier one of the same run."""
        self._memory.put(run, stored, stored.size_bytes)

    async def keep(self, run: str, stored: Stored, *, pinned: bool = False) -> None:
        """Have a trace at hand and in the store. A pinned one is never evicted. Raises StoreDown."""
        self.remember(run, stored)
        for evicted in await self._store.put(run, stored, pinned=pinned):
            self._memory.drop(evicted)

    async def size(self) -> StoreSize:
        """What the store holds, as it was when that could last be found out."""
        return await self._store.size()

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()
