"""The leader and its workers: who is heard, what is done again, what is refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec
import pytest

from engine import RunRequest
from engine.keys import Versions, run_id, versions
from engine.trace import FORMAT, Isolation, Record
from server.cluster import messages, nats_runner, pieces, subjects
from server.cluster.broker import WEB
from server.cluster.connection import Connection
from server.cluster.messages import (
    TASK_FORMAT,
    Beat,
    Claim,
    Denied,
    GivenBack,
    Granted,
    Incomplete,
    Made,
    Piece,
    Received,
    Said,
    Task,
    ToClaim,
    ToMade,
)
from server.cluster.nats_runner import LOST, NatsRunner
from server.cluster.workers import Workers
from server.local_runner import LocalRunner
from server.packing import finish
from server.problems import Problem
from server.runner import Finished, Printed, RunEvent, RunnerDown, Started
from tests.cluster.parts import PATIENCE_S, Broker, Loop, asked, events_of, leading, trace_of, until, working

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


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
    return finish(run, request, [], LOST, 0.0)


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
    assert refused.key == "costs-workers"
    assert refused.retry_after_s is not None
    assert 0 < refused.retry_after_s <= nats_runner.REFUSED_S + 1


def test_what_no_worker_could_take_is_said_at_once(broker: Broker, loop: Loop) -> None:
    async def refused() -> list[str]:
        async with puppets(broker) as (runner, workers, first, second):
            keys = []
            changes: list[dict[str, object]] = [{"task": "gradgraph.task/0"}, {"slots": 0}]
            for change in changes:
                for puppet in (first, second):
                    await puppet.tell(**change)
                await until(partial(_have, workers, change))
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


@pytest.mark.parametrize("web", [versions(), Versions(torch=versions().torch, engine="of another web node")])
def test_what_a_web_node_of_another_version_named_is_answered_and_not_kept(
    broker: Broker, local: LocalRunner, loop: Loop, web: Versions
) -> None:
    async def finished() -> Finished:
        async with working(broker, local), leading(broker) as (runner, workers):
            await until(lambda: workers.slots > 0)
            _, request = asked("print('by two versions')")
            last = (await events_of(runner, run_id(request, web), request))[-1]
            assert isinstance(last, Finished)
            return last

    last = loop.run(finished())
    assert (last.status, last.stored.kept) == ("ok", web == versions())


def _have(workers: Workers, told: dict[str, object]) -> bool:
    return all(getattr(beat, name) == value for beat in workers for name, value in told.items())
