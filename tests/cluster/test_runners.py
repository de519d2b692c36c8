"""What holds of every runner: that of one machine, and that of a cluster with the same machine behind a broker."""

import asyncio
import gzip
from collections.abc import Iterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import msgspec
import pytest

from engine import Trace
from server.cluster import pieces
from server.local_runner import LocalRunner
from server.metrics import Metrics
from server.problems import Problem
from server.queue import Client, Queue
from server.runner import Finished, Printed, Runner, Started
from server.settings import Settings
from server.traces import Traces
from tests.cluster.parts import Loop, asked, events_of, leading, trace_of, until, working
from tests.server.stores import store_in

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

HALF_MIB = "import torch\nx = torch.rand(3, 3000, requires_grad=True)\n(x * {n}).sum().backward()\n"
SLEEP = "import time\nprint('begun {n}\\n', end='')\ntime.sleep({s})\nprint('done')\n"
"""What it prints comes as one piece: who hears the first has heard all."""


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
        stored = await asyncio.gather(*(live.wait() for live in lives))
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
