"""A node's connection to the broker, and what the broker keeps for all nodes."""

import asyncio
import logging
import secrets
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from urllib.parse import unquote, urlsplit

from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.kv import KeyValue

from engine.trace import Record
from server.cluster import subjects
from server.cluster.messages import encode
from server.cluster.subjects import LEADER_BUCKET, POOLS, RUNS

PATIENCE_S = 1.0
"""How long the broker may take to answer; nodes try again."""
RETRY_S = 0.5
LEASE_S = 3.0
"""What the leader is believed after its last word."""
MOST_WAITING = 4096
"""Runs the stream holds; the queue hands over no more than there are free slots for."""
OLDEST_S = 60.0
UNCONFIRMED_S = 3.0
"""A run that a worker was given and did not confirm in this time is another's."""
MOST_DELIVERIES = 5
PENDING_BYTES = 64 * 1024 * 1024

log = logging.getLogger("gradgraph.cluster")

Heard = Callable[[Msg], Awaitable[None]]


class Connection:
    """One node's connection; it comes back by itself when the broker does."""

    def __init__(self, url: str, ca: str = "") -> None:
        """`url` is `nats://USER:PASSWORD@HOST:PORT` or `nats://TOKEN@HOST:PORT`, several with commas between them;
        `tls://` asks for TLS, by the certificates of the system or those in the file `ca`."""
        first = urlsplit(url.split(",", maxsplit=1)[0])
        given = unquote(first.username or "")
        is_token = first.password is None
        self.user = name_of_its_own() if is_token else given
        self._token = given if is_token else None
        self._password = None if first.password is None else unquote(first.password)
        self._servers = [
            f"{each.scheme}://{each.hostname}:{each.port or 4222}" for each in map(urlsplit, url.split(","))
        ]
        self._tls = ssl.create_default_context(cafile=ca or None) if first.scheme == "tls" or ca else None
        self._nats = Nats()
        self._since = 0.0
        self._trouble = ""
        self.on_return: Callable[[], None] = lambda: None
        """Called when the connection was lost and is there again."""

    async def open(self) -> None:
        """Returns when the broker answers; until then it says why it does not, each reason once."""

        async def returned() -> None:
            self._since, self._trouble = time.monotonic(), ""
            log.warning("the broker is there again")
            self.on_return()

        async def lost() -> None:
            log.warning("the broker is lost")

        async def wrong(why: Exception) -> None:
            if (told := self._told(why)) != self._trouble:
                self._trouble = told
                log.warning("broker: %s", told)

        while True:
            try:
                await self._nats.connect(
                    self._servers,
                    user=self.user,
                    password=self._password,
                    token=self._token,
                    tls=self._tls,
                    tls_handshake_first=self._tls is not None,  # else whoever stands between could have it left out
                    name=self.user,
                    inbox_prefix=subjects.inbox(self.user),
                    connect_timeout=2,
                    reconnect_time_wait=1,
                    max_reconnect_attempts=-1,
                    ping_interval=2,
                    max_outstanding_pings=2,
                    pending_size=PENDING_BYTES,
                    error_cb=wrong,
                    disconnected_cb=lost,
                    reconnected_cb=returned,
                )
            except (Error, OSError) as why:
                await wrong(why)
                await asyncio.sleep(RETRY_S)
            else:
                break
        self._since, self._trouble = time.monotonic(), ""

    def _told(self, why: Exception) -> str:
        """What is in the way, and what an operator can do about it."""
        if isinstance(why, ssl.SSLCertVerificationError):
            believe = "GRADGRAPH_RUNNER_CA names a file of those to believe"
            return f"its certificate is not believed ({why.verify_message}); {believe}"
        if isinstance(why, ssl.SSLError) or (self._tls and isinstance(why, TimeoutError)):
            return "it does not answer with TLS; its configuration needs tls with handshake_first"
        return str(why) or type(why).__name__

    @property
    def connected_s(self) -> float:
        """How long it has been there without a break; 0 while it is not."""
        return time.monotonic() - self._since if self._nats.is_connected else 0.0

    @property
    def jetstream(self) -> JetStreamContext:
        """What the broker keeps."""
        return self._nats.jetstream(timeout=PATIENCE_S)

    async def say(self, subject: str, message: Record) -> None:
        """Send a message; nobody may be there to hear it. What cannot be sent now is dropped: it is asked for again."""
        try:
            await self._nats.publish(subject, encode(message))
        except Error as why:
            log.debug("not said: %s", why or type(why).__name__)

    async def ask(self, subject: str, message: Record, patience_s: float = PATIENCE_S) -> bytes:
        """The answer to a message. Raises NoRespondersError where nobody listens, TimeoutError, and other `Error`s."""
        return (await self._nats.request(subject, encode(message), timeout=patience_s)).data

    async def hear(self, subject: str, heard: Heard) -> Subscription:
        """Have all messages under a subject, one after the other."""
        return await self._nats.subscribe(subject, cb=heard)

    async def flush(self) -> None:
        """Returns when the broker has all that was said."""
        await self._nats.flush()

    async def close(self) -> None:
        """Say what is to be said yet, and hang up."""
        if self._nats.is_connected:
            await self._nats.flush()
        await self._nats.close()


def name_of_its_own() -> str:
    """A name that no other node of the cluster has."""
    return f"{socket.gethostname().replace('.', '-')}-{secrets.token_hex(4)}"


async def prepare(connection: Connection) -> KeyValue:
    """Have the broker keep what the nodes need, whichever comes first; gives the bucket of the leader's lease."""
    while True:
        try:
            return await _prepare(connection.jetstream)
        except (Error, OSError) as why:
            log.warning("the broker is not ready: %s", why or type(why).__name__)
            await asyncio.sleep(RETRY_S)


async def _prepare(jetstream: JetStreamContext) -> KeyValue:
    await jetstream.add_stream(
        StreamConfig(
            name=RUNS,
            subjects=[*map(subjects.runs, POOLS)],
            retention=RetentionPolicy.WORK_QUEUE,
            max_msgs=MOST_WAITING,
            max_age=OLDEST_S,
            discard=DiscardPolicy.NEW,
            storage=StorageType.FILE,
        )
    )
    for pool in POOLS:
        await jetstream.add_consumer(
            RUNS,
            ConsumerConfig(
                durable_name=pool,
                filter_subject=subjects.runs(pool),
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=UNCONFIRMED_S,
                max_deliver=MOST_DELIVERIES,
                max_ack_pending=MOST_WAITING,
                max_waiting=MOST_WAITING,
            ),
        )
    return await jetstream.create_key_value(bucket=LEADER_BUCKET, ttl=LEASE_S, history=1, storage=StorageType.FILE)
