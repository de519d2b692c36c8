"""What tests of stores share: traces to put, and a use of stores one after the other."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path

from server.store import Stored, etag
from server.store.database import database
from server.store.sql_store import SqlStore


def store_in(place: Path | str, max_bytes: int = 10**6, max_snapshots_bytes: int = 10**6) -> SqlStore:
    """The store in a folder, or in a PostgreSQL by its URL."""
    tables = database(place, Path()) if isinstance(place, str) else database("", place)
    return SqlStore(tables, max_bytes, max_snapshots_bytes)


def trace(letter: str, size: int = 1_000, **more: object) -> Stored:
    body = letter.encode() * size
    return Stored(body=body, etag=etag(body), **more)  # type: ignore[arg-type]


def use(open_store: Callable[[], SqlStore], *uses: Callable[[SqlStore], Coroutine[None, None, None]]) -> None:
    """Let each use have a store of its own, one after the other."""

    async def one_after_the_other() -> None:
        for each in uses:
            store = open_store()
            try:
                await each(store)
            finally:
                await store.close()

    asyncio.run(one_after_the_other())
