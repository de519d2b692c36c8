"""What tests of stores share: traces to put, and a use of stores one after the other."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from server.store import Store, Stored, etag

S = TypeVar("S", bound=Store)


def trace(letter: str, size: int = 1_000, **more: object) -> Stored:
    body = letter.encode() * size
    return Stored(body=body, etag=etag(body), **more)  # type: ignore[arg-type]


def use(open_store: Callable[[], S], *uses: Callable[[S], Coroutine[None, None, None]]) -> None:
    """Let each use have a store of its own, one after the other."""

    async def one_after_the_other() -> None:
        for each in uses:
            store = open_store()
            try:
                await each(store)
            finally:
                await store.close()

    asyncio.run(one_after_the_other())
