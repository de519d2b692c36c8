"""What holds of every runner: that of one machine, and that of a cluster with the same machine behind a broker."""

import asyncio
import gzip
import re
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from engine import DEFAULT_LIMITS, Program, RunRequest, Trace
from engine.keys import run_id, versions
from server.cluster import pieces
from server.cluster.broker import WEB, WorkerUser, configuration
from server.cluster.connection import Connection, prepare
from server.cluster.nats_runner import NatsRunner
from server.cluster.worker import WorkerNode
from server.cluster.workers import Workers
from server.local_runner import LocalRunner
from server.metrics import Metrics
from server.problems import Problem
from server.queue import Client, Queue
from server.runner import Finished, Printed, RunEvent, Runner, Started
from server.settings import Settings
from server.traces import Traces
from tests.server.stores import store_in
from tools.cluster import Node, free_port, nats_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

R = TypeVar("R")

HALF_MIB = "import torch\nx = torch.rand(3, 3000, requires_grad=True)\n(x * {n}).sum().backward()\n"
SLEEP = "import time\nprint('begun', {n}, flush=True)\ntime.sleep({s})\nprint('done')\n"
PATIENCE_S = 90.0


class Loop:
    """An event loop on a thread, so that what is slow to start is started once."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        ran: Future[R] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return ran.result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@dataclass(frozen=True)
class Broker:
    """A broker with two workers' users, and what it takes to be one of its nodes."""

    node: Node
    port: int

    def connection(self, user: str) -> Connection:
        return Connection(f"nats://{user}:{user}@127.0.0.1:{self.port}")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp("broker")
    port = free_port()
    users = [WorkerUser(name, name) for name in ("worker-1", "worker-2")]
    text = configuration(WEB, users, listen=f"127.0.0.1:{port}", store=folder / "jetstream")
    (folder / "nats.conf").write_text(text)
    node = Node("broker", [nats_server(), "-c", str(folder / "nats.conf")], folder, {})
    node.await_word(re.compile(rb"Server is ready"))
    try:
        yield Broker(node, port)
    finally:
        node.stop()


@pytest.fixture(scope="module")
def loop() -> Iterator[Loop]:
    one = Loop()
    yield one
    one.close()


@pytest.fixture(scope="module")
def local(loop: Loop) -> Iterator[LocalRunner]:
    """The machine."""

    async def started() -> LocalRunner:
        runner = LocalRunner(2, 2, 256 * 1024**2)
        await runner.start()
        return runner

    runner = loop.run(started())
    yield runner
    loop.run(runner.close())


@asynccontextmanager
async def working(broker: Broker, runner: Runner, name: str = "worker-1") -> AsyncIterator[asyncio.Event]:
    """A worker node in this process; the event tells it to stop."""
    connection, stopped = broker.connection(name), asyncio.Event()
    await connection.open()
    serving = asyncio.create_task(WorkerNode(connection, runner, versions().engine).serve(stopped, 0.0))
    try:
        yield stopped
    finally:
        stopped.set()
        await serving
        await connection.close()


@asynccontextmanager
async def leading(broker: Broker) -> AsyncIterator[tuple[NatsRunner, Workers]]:
    """The runner of a web node."""
    connection = broker.connection(WEB)
    await connection.open()
    await prepare(connection)
    workers = Workers(connection)
    await workers.start()
    try:
        yield NatsRunner(connection, workers, versions().engine, 10**8), workers
    finally:
        await workers.close()
        await connection.close()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.fixture(scope="module", params=["embedded", "cluster"])
def runner(request: pytest.FixtureRequest, loop: Loop, local: LocalRunner) -> Iterator[Runner]:
    if request.param == "embedded":
        yield local
        return
    held = AsyncExitStack()

    async def begin() -> Runner:
        broker = request.getfixturevalue("broker")
        await held.enter_async_context(working(broker, local))
        made, workers = await held.enter_async_context(leading(broker))
        await until(lambda: workers.slots > 0)
        return made

    broker = request.getfixturevalue("broker")
    assert broker.node.process.poll() is None
    yield loop.run(begin())
    loop.run(held.aclose())


def asked(code: str, **limits: float) -> tuple[str, RunRequest]:
    request = RunRequest(program=Program(code=code), limits=msgspec.structs.replace(DEFAULT_LIMITS, **limits))
    return run_id(request, versions()), request


async def events_of(runner: Runner, run: str, request: RunRequest) -> list[RunEvent]:
    async with aclosing(runner.submit(run, request, 0.0)) as stream:
        return [event async for event in stream]


def trace_of(events: list[RunEvent]) -> Trace:
    """What the last event brings."""
    finished = events[-1]
    assert isinstance(finished, Finished)
    return msgspec.json.decode(gzip.decompress(finished.stored.body), type=Trace)


def test_events_come_in_their_order(runner: Runner, loop: Loop) -> None:
    code = "for n in range(200):\n    print(n, flush=True)\n"
    events = loop.run(events_of(runner, *asked(code)))
    assert isinstance(events[0], Started)
    printed = "".join(event.text for event in events if isinstance(event, Printed))
    assert printed == "".join(f"{n}\n" for n in range(200))
    assert trace_of(events).status == "ok"


def test_a_result_of_many_pieces_arrives_whole(runner: Runner, loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_BYTES", 4096)
    run, request = asked(HALF_MIB.format(n=2))
    finished = loop.run(events_of(runner, run, request))[-1]
    assert isinstance(finished, Finished)
    assert finished.stored.size_bytes > 4 * pieces.PIECE_BYTES
    assert trace_of([finished]).id == run


def test_a_run_is_cancelled_with_what_it_recorded(runner: Runner, loop: Loop) -> None:
    run, request = asked(SLEEP.format(n=1, s=9))

    async def cancelled() -> Trace:
        events = []
        async with aclosing(runner.submit(run, request, 0.0)) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, Printed):
                    runner.cancel(run)
        return trace_of(events)

    trace = loop.run(cancelled())
    assert trace.failure is not None
    assert (trace.failure.type, trace.output[0].text) == ("cancelled", "begun 1\n")


def test_a_run_that_nobody_follows_any_more_leaves_its_place(runner: Runner, loop: Loop) -> None:
    async def left() -> None:
        for number in range(2 * runner.capacity):
            async with aclosing(runner.submit(*asked(SLEEP.format(n=100 + number, s=9)), 0.0)) as stream:
                await anext(stream)

    loop.run(left())
    assert trace_of(loop.run(events_of(runner, *asked("print('there is room')")))).status == "ok"


def test_a_limit_is_a_result(runner: Runner, loop: Loop) -> None:
    finished = loop.run(events_of(runner, *asked("while True:\n    pass\n", wall_s=0.3)))[-1]
    assert isinstance(finished, Finished)
    assert (finished.status, finished.lost, finished.stored.kept) == ("limited", False, False)


def test_many_at_once_are_all_performed(runner: Runner, loop: Loop, tmp_path: Path) -> None:
    async def performed() -> list[str]:
        traces = Traces(store_in(tmp_path), 1 << 24)
        queue = Queue(runner, traces, Metrics(), Settings())
        lives = [queue.enter(*asked(f"print({number % 60})"), Client(f"a{number % 7}", None)) for number in range(120)]
        stored = await asyncio.gather(*(queue.wait(live) for live in lives))
        await queue.close()
        await traces.close()
        return [msgspec.json.decode(gzip.decompress(each.body), type=Trace).output[0].text for each in stored]

    assert loop.run(performed()) == [f"{number % 60}\n" for number in range(120)]


def test_a_full_queue_is_said(runner: Runner, loop: Loop, tmp_path: Path) -> None:
    async def refused() -> Problem:
        traces = Traces(store_in(tmp_path), 1 << 24)
        queue = Queue(runner, traces, Metrics(), Settings(queue=1))
        client = Client("somebody", None)
        try:
            for number in range(10):
                queue.enter(*asked(SLEEP.format(n=200 + number, s=9)), client)
        except Problem as problem:
            return problem
        finally:
            await queue.close()
            await traces.close()
        raise AssertionError("it took all")

    assert loop.run(refused()).key == "queue-full"


class Puppet:
    """A worker that does what a test wants."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.name = connection.user

    async def tell(self, **more: Any) -> None:
        """That it is there, with one slot."""
        beat = Beat(
            worker=self.name, pool="cpu", slots=1, slow_slots=0, running=0, devices=("cpu",),
            isolation=Isolation(profile="full", layers=()), engine=versions().engine, trace=FORMAT, task=TASK_FORMAT,
        )  # fmt: skip
        await self._connection.say(subjects.beats(self.name), msgspec.structs.replace(beat, **more))

    async def take(self) -> Task:
        """The next run, taken out of the stream."""
        pulled = await self._connection.jetstream.pull_subscribe_bind("cpu", subjects.RUNS)
        (message,) = await pulled.fetch(1, timeout=PATIENCE_S)
        await message.ack()
        await pulled.unsubscribe()
        return messages.decode(message.data, Task)

    async def claim(self, task: Task, by: str) -> ToClaim:
        claim = Claim(by=by, worker=self.name)
        data = await self._connection.ask(subjects.said(task.token), claim, PATIENCE_S)
        claimed: ToClaim = msgspec.msgpack.decode(data, type=ToClaim)
        return claimed

    async def say(self, task: Task, message: Record) -> None:
        await self._connection.say(subjects.said(task.token), message)

    async def give(self, task: Task, by: str, finished: Finished, *, without: int | None = None) -> ToMade:
        """The result; without one of its pieces, if so told."""
        manifest, parts = pieces.cut(task.run, finished)
        for number, data in enumerate(parts):
            if number != without:
                await self.say(task, Piece(by=by, number=number, data=data))
        made = Made(by=by, manifest=manifest)
        data = await self._connection.ask(subjects.said(task.token), made, PATIENCE_S)
        answer: ToMade = msgspec.msgpack.decode(data, type=ToMade)
        return answer


@asynccontextmanager
async def puppets(broker: Broker) -> AsyncIterator[tuple[NatsRunner, Workers, Puppet, Puppet]]:
    """The runner of a web node, and two such workers it knows of."""
    async with leading(broker) as (runner, workers):
        connections = [broker.connection(name) for name in ("worker-1", "worker-2")]
        for connection in connections:
            await connection.open()
        first, second = map(Puppet, connections)
        await first.tell()
        await second.tell()
        await until(lambda: workers.slots >= 2)
        try:
            yield runner, workers, first, second
        finally:
            for connection in connections:
                await connection.close()


def result(run: str, request: RunRequest) -> Finished:
    """What a worker could make of a run."""
    return finish(run, request, [], _LOST, 0.0)


def test_of_two_workers_with_one_task_one_is_heard(broker: Broker, loop: Loop) -> None:
    run, request = asked("print('twice')")

    async def performed() -> list[RunEvent]:
        async with puppets(broker) as (runner, _, first, second):
            events = asyncio.create_task(events_of(runner, run, request))
            task = await first.take()
            assert isinstance(await first.claim(task, "a"), Granted)
            assert isinstance(await second.claim(task, "b"), Denied)
            assert isinstance(await first.claim(task, "a"), Granted)  # asked again, because the answer was lost
            await second.say(task, Said(by="b", event=Printed(stream="stdout", text="forged")))
            await first.say(task, Said(by="a", event=Started()))
            assert isinstance(await first.give(task, "a", result(run, request)), Received)
            return await events

    events = loop.run(performed())
    assert [type(event) for event in events] == [Started, Finished]


def test_a_result_that_lost_a_piece_is_sent_again(broker: Broker, loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_BYTES", 100)
    run, request = asked("print('pieces')")

    async def performed() -> list[RunEvent]:
        async with puppets(broker) as (runner, _, first, _second):
            events = asyncio.create_task(events_of(runner, run, request))
            task = await first.take()
            await first.claim(task, "a")
            assert isinstance(await first.give(task, "a", result(run, request), without=1), Incomplete)
            other = asked("print('another program')")
            assert isinstance(await first.give(task, "a", result(*other)), Incomplete)
            assert isinstance(await first.give(task, "a", result(run, request)), Received)
            return await events

    assert isinstance(loop.run(performed())[-1], Finished)


def test_a_run_that_is_given_back_goes_to_another_worker(broker: Broker, loop: Loop) -> None:
    run, request = asked("print('given back')")

    async def performed() -> list[RunEvent]:
        async with puppets(broker) as (runner, _, first, second):
            events = asyncio.create_task(events_of(runner, run, request))
            task = await first.take()
            await first.claim(task, "a")
            await first.say(task, GivenBack(by="a"))
            again = await second.take()
            assert again.token != task.token
            await second.claim(again, "b")
            await second.give(again, "b", result(run, request))
            return await events

    assert isinstance(loop.run(performed())[-1], Finished)


def test_a_run_that_costs_two_workers_is_lost_and_refused_for_a_while(
    broker: Broker, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nats_runner, "LOST_AFTER_S", 0.5)
    run, request = asked("print('kills')")

    async def performed() -> tuple[Finished, Problem]:
        async with puppets(broker) as (runner, _, first, second):
            events = asyncio.create_task(events_of(runner, run, request))
            await first.claim(await first.take(), "a")
            with pytest.raises(RunnerDown):
                await events
            events = asyncio.create_task(events_of(runner, run, request))
            await second.claim(await second.take(), "b")
            finished = (await events)[-1]
            assert isinstance(finished, Finished)
            with pytest.raises(Problem) as refused:
                await events_of(runner, run, request)
            return finished, refused.value

    finished, refused = loop.run(performed())
    assert (finished.status, finished.lost, finished.stored.kept) == (trace_of([finished]).status, True, False)
    assert trace_of([finished]).failure is not None
    assert (refused.key, refused.retry_after_s) == ("costs-workers", pytest.approx(60, abs=2))


def test_what_no_worker_could_take_is_said_at_once(broker: Broker, loop: Loop) -> None:
    async def refused() -> list[str]:
        async with puppets(broker) as (runner, workers, first, second):
            keys = []
            for change in ({"task": "gradgraph.task/0"}, {"slots": 0}):
                for puppet in (first, second):
                    await puppet.tell(**change)
                await until(lambda change=change: all(change.items() <= _facts(beat) for beat in workers))
                with pytest.raises(Problem) as why:
                    await events_of(runner, *asked("print('nobody')"))
                keys.append(why.value.key)
            return keys

    assert loop.run(refused()) == ["no-node"] * 2


def test_a_worker_gives_back_a_task_of_another_version(broker: Broker, local: LocalRunner, loop: Loop) -> None:
    async def seen() -> bool:
        async with leading(broker) as (_, workers), working(broker, local, "worker-2"):
            await until(lambda: workers.slots > 0)
            connection = broker.connection(WEB)
            await connection.open()
            jetstream = connection.jetstream
            before = (await jetstream.consumer_info(subjects.RUNS, "cpu")).num_redelivered or 0
            task = msgspec.msgpack.encode({"format": "gradgraph.task/99", "new": True})
            put = await jetstream.publish(subjects.runs("cpu"), task)
            async with asyncio.timeout(PATIENCE_S):
                while ((await jetstream.consumer_info(subjects.RUNS, "cpu")).num_redelivered or 0) <= before:
                    await asyncio.sleep(0.05)
            is_there = (await jetstream.get_msg(subjects.RUNS, seq=put.seq)).data == task
            await jetstream.delete_msg(subjects.RUNS, put.seq)
            await connection.close()
            return is_there

    assert loop.run(seen())


def _facts(beat: Beat) -> set[tuple[str, Any]]:
    return {(name, getattr(beat, name)) for name in ("task", "slots")}
