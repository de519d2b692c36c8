"""Who is the leader: the web node that holds a lease, kept by the broker and renewed every second."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from nats.errors import Error
from nats.js.errors import KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from server.cluster.connection import LEASE_S, PATIENCE_S
from server.cluster.subjects import LEADER_KEY

RENEW_S = 0.8
TRY_S = 0.4
MARGIN_S = 0.5
"""The holder gives up so long before the broker forgets it."""

log = logging.getLogger("gradgraph.cluster")


class Lease:
    """This node's side of it: at most one node holds it, whatever becomes of the others."""

    def __init__(self, bucket: KeyValue, node: str) -> None:
        self._bucket = bucket
        self._node = node.encode()
        self._revision = 0
        self._until = 0.0

    @property
    def is_held(self) -> bool:
        """Whether it is this node's now, by this node's own clock."""
        return time.monotonic() < self._until

    async def contend(self, lead: Callable[[], Awaitable[None]], stop: Callable[[], Awaitable[None]]) -> None:
        """Try to get it and hold it, for ever: `lead` when it was got, `stop` when it was lost."""
        try:
            while True:
                if not await self._get():
                    await asyncio.sleep(TRY_S)
                    continue
                log.info("this node leads")
                await lead()
                try:
                    await self._hold()
                    log.warning("this node leads no more")
                finally:
                    self._until = 0.0
                    await stop()
        finally:
            await self._release()

    async def _get(self) -> bool:
        began = time.monotonic()
        try:
            self._revision = await self._bucket.create(LEADER_KEY, self._node)
        except (Error, OSError):  # another node has it, or the broker is away
            return False
        self._until = began + LEASE_S - MARGIN_S
        return self.is_held

    async def _hold(self) -> None:
        """Returns when it is lost."""
        while self.is_held:
            await asyncio.sleep(RENEW_S)
            began = time.monotonic()
            try:
                self._revision = await self._bucket.update(LEADER_KEY, self._node, self._revision)
            except KeyWrongLastSequenceError:
                return
            except (Error, OSError) as why:
                log.warning("the lease could not be renewed: %s", why or type(why).__name__)
            else:
                self._until = began + LEASE_S - MARGIN_S

    async def _release(self) -> None:
        """Let another node have it at once."""
        try:
            await asyncio.wait_for(self._bucket.delete(LEADER_KEY, self._revision), PATIENCE_S)
        except (Error, OSError, TimeoutError):
            log.debug("the lease ends by itself")
