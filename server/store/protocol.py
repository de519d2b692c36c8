"""Where finished traces and snapshots are kept: the seam between the server and whatever holds them.

`server/store/sql_store.py` keeps both in tables: of one file, or of a database that many servers share. The memory in
front of a store and the reading of older formats are in `server/traces.py`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from engine.trace import FORMAT


class StoreDown(Exception):
    """The store cannot be read or written now; it may be again in a moment."""


class StoreFull(Exception):
    """There is no room for one more snapshot, and none leaves by itself."""


@dataclass(frozen=True)
class Stored:
    """One finished trace as it goes out."""

    body: bytes
    """The trace's JSON, gzip-compressed."""
    etag: str
    """Strong entity tag of the body."""
    tensors: Mapping[str, bytes] = field(default_factory=dict)
    """Values of the larger tensors that were kept, compressed, by tensor id; not filled in by `get`."""
    kept: bool = True
    """Whether it is in the store, or only remembered for a while."""
    format: str = FORMAT
    """Name and version of the format the body is written in."""

    @property
    def size_bytes(self) -> int:
        return len(self.body) + sum(map(len, self.tensors.values()))


class StoreSize(NamedTuple):
    """How many traces or snapshots a store holds, and their bytes."""

    entries: int
    size_bytes: int


class Store(Protocol):
    """Finished traces and tensor values by run id, within a number of bytes that its maker set.

    One instance belongs to one event loop. All its methods may be called from any task of that loop, and any number of
    calls may be under way at once; none of them blocks the loop. Several instances, also in other processes, may hold
    the same traces: a `put` is all there or not at all, and seen by every `get` that begins after it returned.
    """

    async def get(self, run: str) -> Stored | None:
        """The trace of a run as it was put, in whatever format, without its tensors; None when it is not there.

        Raises StoreDown."""

    async def part(self, run: str, name: str) -> bytes | None:
        """What lies beside a trace under a name: the compressed values of a larger tensor under its id, what was
        attached later. None when there is no such thing. Raises StoreDown."""

    async def attach(self, run: str, name: str, body: bytes) -> None:
        """Lay something beside a trace, unless something of that name is there or the trace is not. It leaves with the
        trace. Raises StoreDown."""

    async def put(self, run: str, stored: Stored, *, pinned: bool = False) -> tuple[str, ...]:
        """Keep a trace in place of an earlier one of the same run; one that was ever pinned is never evicted.

        Returns the runs evicted for it: those not asked for longest go, with their tensors, until the rest fits. Raises
        StoreDown, and then nothing has changed."""

    def touch(self, run: str) -> None:
        """Note that a run was asked for just now, also one answered from memory: what eviction goes by. Never fails."""

    async def size(self) -> StoreSize:
        """What it holds, as it was when that could last be found out."""

    @property
    def trouble(self) -> str:
        """What the last use failed with, to read or to write; empty when both went well."""

    async def close(self) -> None:
        """Wait for what is under way and give everything back; no method is called afterwards."""


class SnapshotStore(Protocol):
    """Snapshots by their content's id: never changed, never evicted.

    What `Store` says of concurrency goes for this one too."""

    async def snapshot(self, id: str) -> bytes | None:
        """The packed envelope as it was put; None when there is none. Raises StoreDown."""

    async def has_snapshot(self, id: str) -> bool:
        """Whether there is one; its bytes are not read. Raises StoreDown."""

    async def keep_snapshot(self, id: str, body: bytes, owner: str) -> bool:
        """Keep it for one more owner, the SHA-256 in hex of the owner's token; whether it is new.

        Raises StoreDown and StoreFull, and then nothing has changed."""

    async def release_snapshot(self, id: str, owner: str) -> bool:
        """Take one owner away; the snapshot goes with its last owner. False when this owner does not hold it.

        Raises StoreDown."""

    async def snapshots_size(self) -> StoreSize:
        """What all snapshots take, as it was when that could last be found out."""


def etag(body: bytes) -> str:
    """A strong entity tag of exactly these bytes."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'
