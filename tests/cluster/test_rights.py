"""What a rogue worker, with the name and the password of a worker, cannot do at the broker; docs/security.md names these
tests."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager

import msgspec
import nats
import pytest
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from engine.keys import Versions
from engine.limits import DEFAULT_LIMITS
from engine.request import RunRequest
from engine.trace import FORMAT as TRACE_FORMAT
from engine.trace import Isolation, Program
from server.cluster import messages, subjects
from server.cluster.connection import Connection, prepare
from server.cluster.messages import TASK_FORMAT, Beat, Claim, Down, Granted, Said, Task
from server.cluster.nats_runner import NatsRunner
from server.cluster.subjects import LEADER_BUCKET, LEADER_KEY, ROOMS_BUCKET, RUNS
from server.cluster.workers import Workers
from server.runner import Printed, RunEvent, RunnerDown
from tests.cluster.brokers import Broker, broker

pytestmark = pytest.mark.slow

ROGUE, OTHER = "worker-1", "worker-2"
PATIENCE_S = 20.0
REQUEST = RunRequest(program=Program(code="secret = 1"), limits=DEFAULT_LIMITS)

CANNOT_SAY = {
    "a run": subjects.runs("cpu"),
    "a run on a GPU": subjects.runs("cuda"),
    "what the queue is asked": subjects.ASK,
    "what the leader tells": subjects.LEADER,
    "what a web node is told": subjects.told("web-1"),
    "an order to another worker": subjects.orders(OTHER),
    "that another worker is there": subjects.beats(OTHER),
    "that all are to tell of themselves": subjects.CALL,
    "an answer in a web node's place": f"{subjects.inbox('web')}.1",
    "a run into another worker's hands": f"{subjects.inbox(OTHER)}.1",
    "who leads": f"$KV.{LEADER_BUCKET}.{LEADER_KEY}",
    "an answer in a class": f"$KV.{ROOMS_BUCKET}.KDWMT.by.ann",
    "forget a class": f"$JS.API.STREAM.PURGE.KV_{ROOMS_BUCKET}",
    "take a run meant for a GPU": subjects.next_run("cuda"),
    "that a run meant for a GPU was taken": subjects.taken("cuda").replace(">", "1.1.1.1.0"),
    "read a message of the stream": f"$JS.API.STREAM.MSG.GET.{RUNS}",
    "read it directly": f"$JS.API.DIRECT.GET.{RUNS}",
    "read the last of a subject": f"$JS.API.DIRECT.GET.{RUNS}.{subjects.runs('cpu')}",
    "read who leads": f"$JS.API.DIRECT.GET.KV_{LEADER_BUCKET}.$KV.{LEADER_BUCKET}.{LEADER_KEY}",
    "a consumer of its own": f"$JS.API.CONSUMER.CREATE.{RUNS}.mine",
    "one with a filter": f"$JS.API.CONSUMER.CREATE.{RUNS}.mine.{subjects.runs('cpu')}",
    "one that lasts": f"$JS.API.CONSUMER.DURABLE.CREATE.{RUNS}.mine",
    "delete the workers' consumer": f"$JS.API.CONSUMER.DELETE.{RUNS}.cpu",
    "halt it": f"$JS.API.CONSUMER.PAUSE.{RUNS}.cpu",
    "delete a run": f"$JS.API.STREAM.MSG.DELETE.{RUNS}",
    "delete all runs": f"$JS.API.STREAM.PURGE.{RUNS}",
    "delete the stream": f"$JS.API.STREAM.DELETE.{RUNS}",
    "delete the lease": f"$JS.API.STREAM.DELETE.KV_{LEADER_BUCKET}",
    "change the stream": f"$JS.API.STREAM.UPDATE.{RUNS}",
    "a stream that copies it": "$JS.API.STREAM.CREATE.MINE",
    "a backup of it": f"$JS.API.STREAM.SNAPSHOT.{RUNS}",
    "what streams there are": "$JS.API.STREAM.LIST",
    "how the broker is": "$SYS.REQ.SERVER.PING",
}
CANNOT_HEAR = {
    "everything": ">",
    "all of the cluster": "gradgraph.>",
    "runs as they are handed over": subjects.runs("cpu"),
    "results": subjects.said("*"),
    "orders to another": subjects.orders(OTHER),
    "orders to all": subjects.orders("*"),
    "what web nodes are told": subjects.told("*"),
    "what they ask": subjects.ASK,
    "another worker's deliveries": f"{subjects.inbox(OTHER)}.>",
    "a web node's answers": f"{subjects.inbox('web')}.>",
    "deliveries of whoever has no place of its own": "_INBOX.>",
    "everybody's deliveries": "*.>",
    "who leads": f"$KV.{LEADER_BUCKET}.>",
    "what is said in classes": f"$KV.{ROOMS_BUCKET}.>",
    "who took what": "$JS.ACK.>",
    "what the broker tells of itself": "$JS.EVENT.>",
}

ELSEWHERE = (
    *map(subjects.runs, subjects.POOLS),
    subjects.ASK,
    subjects.LEADER,
    subjects.CALL,
    subjects.told("web-1"),
    subjects.orders(OTHER),
    subjects.beats(OTHER),
    subjects.next_run("cuda"),
    f"{subjects.inbox('web')}.1",
    f"$KV.{LEADER_BUCKET}.{LEADER_KEY}",
    f"$JS.API.STREAM.PURGE.{RUNS}",
)
"""Where a worker may want a run delivered: the broker does not look at that, but it is a place of the workers' account."""


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    """The broker of all tests."""
    with broker() as started:
        yield started


@pytest.fixture
def one(shared: Broker) -> Broker:
    """A broker that has what a cluster needs, and no runs."""
    asyncio.run(_prepare(shared))
    return shared


async def _prepare(started: Broker) -> None:
    connection = Connection(started.url("web"))
    await connection.open()
    await prepare(connection)
    await connection.jetstream.purge_stream(RUNS)
    await connection.close()


class User:
    """A connection with a user's credentials that hears what it is refused."""

    def __init__(self, connection: Nats, refusals: "asyncio.Queue[str]") -> None:
        self.nats = connection
        self.refusals = refusals

    async def is_refused(self, trying: Awaitable[object]) -> bool:
        """Whether the broker forbids it; waits until it says so."""
        await trying
        why = await asyncio.wait_for(self.refusals.get(), PATIENCE_S)
        return "permissions violation" in why.lower()


@asynccontextmanager
async def connected(started: Broker, user: str) -> AsyncIterator[User]:
    """A user of the broker."""
    refusals: asyncio.Queue[str] = asyncio.Queue()

    async def refused(why: Exception) -> None:
        refusals.put_nowait(str(why))

    connection = await nats.connect(started.url(user), error_cb=refused, inbox_prefix=subjects.inbox(user))
    try:
        yield User(connection, refusals)
    finally:
        await connection.close()


def obeys(attempt: Callable[[], Coroutine[None, None, None]]) -> None:
    """Run an attempt to its end."""
    asyncio.run(asyncio.wait_for(attempt(), 2 * PATIENCE_S))


@pytest.mark.parametrize("subject", CANNOT_SAY.values(), ids=CANNOT_SAY)
def test_a_worker_cannot_say(one: Broker, subject: str) -> None:
    async def attempt() -> None:
        async with connected(one, ROGUE) as rogue:
            place = f"{subjects.inbox(ROGUE)}.1"
            assert await rogue.is_refused(rogue.nats.publish(subject, b"{}", reply=place))

    obeys(attempt)


@pytest.mark.parametrize("subject", CANNOT_HEAR.values(), ids=CANNOT_HEAR)
def test_a_worker_cannot_hear(one: Broker, subject: str) -> None:
    async def attempt() -> None:
        async with connected(one, ROGUE) as rogue:
            assert await rogue.is_refused(rogue.nats.subscribe(subject))

    obeys(attempt)


def test_what_is_refused_to_a_worker_is_what_a_web_node_may(one: Broker) -> None:
    async def attempt() -> None:
        async with connected(one, "web") as web:
            for subject in (subjects.ASK, subjects.orders(OTHER), f"$JS.API.STREAM.INFO.{RUNS}"):
                await web.nats.publish(subject, b"{}")
            await web.nats.jetstream().account_info()  # what was said before it was heard before it
            assert web.refusals.empty()

    obeys(attempt)


@pytest.mark.parametrize("password", ["", "of-worker-2", "of-web"])
def test_a_wrong_password_is_refused(one: Broker, password: str) -> None:
    with (
        socket.create_connection(("127.0.0.1", one.port), timeout=PATIENCE_S) as asked,
        asked.makefile("rb") as answers,
    ):
        assert answers.readline().startswith(b"INFO ")
        asked.sendall(b"CONNECT %b\r\n" % json.dumps({"user": ROGUE, "pass": password, "verbose": True}).encode())
        assert answers.readline() == b"-ERR 'Authorization Violation'\r\n"


async def hand_over(web: User, token: str) -> None:
    """A run for the workers, as the leader publishes it."""
    task = Task(
        run="a" * 40, token=token, request=msgspec.json.encode(REQUEST), waited_ms=0.0, engine="1", trace=TRACE_FORMAT,
        format=TASK_FORMAT,
    )  # fmt: skip
    await web.nats.jetstream().publish(subjects.runs("cpu"), messages.encode(task))


async def ask_for_a_run(worker: User, place: str) -> Msg:
    """Ask for the next run, to be delivered anywhere, and for one more, whose answer is given."""
    answers = await worker.nats.subscribe(f"{subjects.inbox(ROGUE)}.look")
    for where in (place, answers.subject):
        await worker.nats.publish(subjects.next_run("cpu"), b'{"batch": 1, "no_wait": true}', reply=where)
    return await answers.next_msg(PATIENCE_S)


async def taken(worker: User, user: str) -> Msg:
    """The next run, delivered where only this worker hears it, and confirmed."""
    pulled = await worker.nats.jetstream().pull_subscribe_bind("cpu", RUNS)
    (message,) = await pulled.fetch(1, timeout=PATIENCE_S)
    assert message.subject == subjects.runs("cpu"), user
    await message.ack_sync(timeout=int(PATIENCE_S))
    return message


def test_a_run_goes_to_one_worker_and_no_other_sees_it(one: Broker) -> None:
    async def attempt() -> None:
        async with connected(one, "web") as web, connected(one, ROGUE) as rogue, connected(one, OTHER) as honest:
            await hand_over(web, "token-of-one")
            message = await taken(honest, OTHER)
            assert messages.decode(message.data, Task).token == "token-of-one"
            nothing = await ask_for_a_run(rogue, f"{subjects.inbox(OTHER)}.look")
            assert (nothing.data, (nothing.headers or {}).get("Status")) == (b"", "404")

    obeys(attempt)


class Leading:
    """The runner of a leader, and one run that it hands over."""

    def __init__(self, connection: Connection, runner: NatsRunner) -> None:
        self.connection = connection
        self.runner = runner

    @asynccontextmanager
    async def run(self) -> AsyncIterator[asyncio.Queue[RunEvent | Exception]]:
        """What the leader hears of a run, one after the other."""
        heard: asyncio.Queue[RunEvent | Exception] = asyncio.Queue()

        async def follow() -> None:
            try:
                async for event in self.runner.submit("b" * 40, REQUEST, 0.0):
                    heard.put_nowait(event)
            except RunnerDown as down:
                heard.put_nowait(down)

        following = asyncio.create_task(follow())
        try:
            yield heard
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


@asynccontextmanager
async def leading(started: Broker, honest: User) -> AsyncIterator[Leading]:
    """A leader that knows of one worker."""
    connection = Connection(started.url("web"))
    await connection.open()
    workers = Workers(connection)
    there = asyncio.Event()
    workers.on_change = there.set
    await workers.start()
    isolation = Isolation(profile="full", layers=())
    beat = Beat(
        worker=OTHER, pool="cpu", slots=1, slow_slots=0, running=0, devices=("cpu",), isolation=isolation, engine="1",
        trace=TRACE_FORMAT, task=TASK_FORMAT,
    )  # fmt: skip
    while not there.is_set():  # the first may come before the leader listens
        await honest.nats.publish(subjects.beats(OTHER), messages.encode(beat))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(there.wait(), 0.2)
    try:
        yield Leading(connection, NatsRunner(connection, workers, Versions(torch="1", engine="1"), 10**6))
    finally:
        await workers.close()
        await connection.close()


def test_a_run_is_answered_by_nobody_who_did_not_take_it(one: Broker) -> None:
    async def attempt() -> None:
        async with (
            connected(one, ROGUE) as rogue,
            connected(one, OTHER) as honest,
            leading(one, honest) as leader,
            leader.run() as heard,
        ):
            task = messages.decode((await taken(honest, OTHER)).data, Task)
            claimed = await honest.nats.request(
                subjects.said(task.token), messages.encode(Claim(by="honest", worker=OTHER)), timeout=PATIENCE_S
            )
            assert messages.decode(claimed.data, Granted)
            with pytest.raises(nats.errors.NoRespondersError):  # it has to guess the token
                await rogue.nats.request(subjects.said("guess"), messages.encode(Down(by="honest")))
            forged = Said(by="rogue", event=Printed(stream="stdout", text="forged"))
            for message in (forged, Down(by="rogue"), Claim(by="rogue", worker=ROGUE)):  # and even with the token
                await rogue.nats.publish(subjects.said(task.token), messages.encode(message))
            assert (await ask_for_a_run(rogue, f"{subjects.inbox(ROGUE)}.any")).data == b""  # all that was said is out
            said = Printed(stream="stdout", text="true")
            await honest.nats.publish(subjects.said(task.token), messages.encode(Said(by="honest", event=said)))
            assert await heard.get() == said

    obeys(attempt)


def test_a_worker_cannot_have_waiting_runs_repeated_or_brought_to_a_web_node(one: Broker) -> None:
    async def attempt() -> None:
        async with connected(one, "web") as web, connected(one, ROGUE) as rogue, connected(one, OTHER) as honest:
            brought: list[str] = []

            async def hear(message: Msg) -> None:
                brought.append(message.subject)

            for subject in (subjects.ASK, subjects.LEADER, subjects.told("*"), subjects.beats("*")):
                await web.nats.subscribe(subject, cb=hear)
            await hand_over(web, "mine")
            mine = await taken(rogue, ROGUE)
            tokens = {f"token-{number}" for number in range(len(ELSEWHERE) + 1)}
            for token in tokens:
                await hand_over(web, token)
            before = (await web.nats.jetstream().stream_info(RUNS)).state.last_seq
            await rogue.nats.publish(mine.reply, b"+NXT", reply=subjects.runs("cpu"))
            for place in ELSEWHERE:
                await rogue.nats.publish(subjects.next_run("cpu"), b'{"batch": 1, "no_wait": true}', reply=place)
            await rogue.nats.flush()
            copies = [messages.decode((await taken(honest, OTHER)).data, Task) for _ in tokens]
            assert {copy.token for copy in copies} == tokens
            assert {copy.request for copy in copies} == {msgspec.json.encode(REQUEST)}
            assert (await web.nats.jetstream().stream_info(RUNS)).state.last_seq == before
            assert not brought

    obeys(attempt)


def test_a_worker_cannot_have_the_leader_speak_for_it(one: Broker) -> None:
    async def attempt() -> None:
        async with (
            connected(one, ROGUE) as rogue,
            connected(one, OTHER) as honest,
            leading(one, honest) as leader,
            leader.run(),
        ):
            task = messages.decode((await taken(rogue, ROGUE)).data, Task)
            claim = messages.encode(Claim(by="rogue", worker=ROGUE))
            await rogue.nats.publish(subjects.said(task.token), claim, reply=subjects.runs("cpu"))
            granted = await rogue.nats.request(subjects.said(task.token), claim, timeout=PATIENCE_S)
            assert messages.decode(granted.data, Granted)
            assert (await leader.connection.jetstream.stream_info(RUNS)).state.messages == 0

    obeys(attempt)
