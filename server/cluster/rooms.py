"""The board of a cluster: what is said in rooms, in the memory of the broker, read by every web node."""

import asyncio
import logging

import msgspec
from nats.errors import Error
from nats.js.api import KeyValueConfig, StorageType
from nats.js.errors import KeyNotFoundError
from nats.js.kv import KeyValue

from server.cluster import subjects
from server.cluster.connection import RETRY_S, Connection
from server.problems import Problem
from server.rooms import RETRY_AFTER_S, ROOM_S, Heard

MOST_BYTES = 256 * 1024 * 1024
"""All rooms together, each with as many learners as it takes."""

log = logging.getLogger("gradgraph.cluster")


class SharedBoard:
    """A bucket of the broker that this node follows.

    It lives as long as the broker's process. Rooms outlive that: every node remembers them, and what a teacher does
    next writes them anew."""

    heard: Heard

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._bucket: KeyValue | None = None
        self._following: asyncio.Task[None] | None = None

    def follow(self) -> None:
        """Read all there is and what comes, from the beginning if it was followed before."""
        if self._following is not None:
            self._following.cancel()
        self._following = asyncio.create_task(self._follow())

    async def put(self, key: str, word: bytes) -> None:
        try:
            await self._opened().put(key, word)
        except (Error, OSError) as why:
            raise _down(why) from why

    async def get(self, key: str) -> bytes:
        try:
            return (await self._opened().get(key)).value or b""
        except KeyNotFoundError:
            return b""
        except (Error, OSError) as why:
            raise _down(why) from why

    async def forget(self, code: str) -> None:
        try:
            subject = subjects.room_values().replace(">", f"{code}.by.*")
            await self._connection.jetstream.purge_stream(f"KV_{subjects.ROOMS_BUCKET}", subject=subject)
        except (Error, OSError) as why:
            raise _down(why) from why

    async def close(self) -> None:
        """Hear nothing more."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    def _hear(self, key: str, word: bytes) -> None:
        try:
            self.heard(key, word)
        except msgspec.MsgspecError as wrong:
            log.warning("a node of another version speaks in room %s: %s", key, wrong)

    def _opened(self) -> KeyValue:
        if self._bucket is None:
            raise _down("the bucket is not there yet")
        return self._bucket

    async def _follow(self) -> None:
        config = KeyValueConfig(
            bucket=subjects.ROOMS_BUCKET, ttl=ROOM_S, history=1, max_bytes=MOST_BYTES, storage=StorageType.MEMORY
        )
        while True:
            try:
                self._bucket = await self._connection.jetstream.create_key_value(config)
                watcher = await self._bucket.watchall()
                try:
                    async for word in watcher:
                        if word is not None:  # says that all was read that was there
                            self._hear(word.key, word.value or b"")
                finally:
                    await watcher.stop()  # type: ignore[no-untyped-call]
            except (Error, OSError) as why:
                log.warning("the rooms cannot be followed: %s", why or type(why).__name__)
                await asyncio.sleep(RETRY_S)


def _down(why: object) -> Problem:
    log.warning("a room could not be reached: %s", why)
    return Problem("rooms-down", retry_after_s=RETRY_AFTER_S, retry=RETRY_AFTER_S)
