"""Large traces are made beside the server: the same as in it, small ones first; a lost process costs one more try."""

import asyncio
import gzip
import os
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine import Program, RunRequest
from engine.outcome import Outcome
from engine.trace import Timings
from server.child import Child
from server.packing import finish
from server.runner import RunnerDown
from server.trace_processes import TraceProcesses, is_large
from tests import soak
from tests.server.conftest import Served

MANY = """import torch
x = torch.ones(2, requires_grad=True)
y = x
for _ in range(900):
    y = y + x.sin()
    y.detach()
y.sum().backward()
print('done')
"""
REQUEST = RunRequest(program=Program(code=MANY + "#" * 9_000))
LINES = [
    b'["start","3","2","cpu","2",null,1]',
    b'["out","stdout","a\\ud83d\\ude00",0,false]',
    b"no event",
    b'["end",1.0]',
]
OUTCOME = Outcome(
    exit_code=0, signal=None, stopped_by=None, stderr_tail="", timings=Timings(total_ms=1.0),
    isolation=None, blobs=0,
)  # fmt: skip


def use(check: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(check, 60))


def plain(body: bytes) -> dict[str, Any]:
    """A trace without what differs from time to time."""
    trace: dict[str, Any] = msgspec.json.decode(gzip.decompress(body))
    del trace["timings"]
    return trace


def test_what_is_large() -> None:
    assert is_large(REQUEST, [])
    small = RunRequest(program=Program(code="print(1)"))
    assert not is_large(small, LINES)
    assert is_large(small, [b"x" * 100_000] * 2)


def test_the_trace_is_the_same() -> None:
    async def check() -> None:
        large = TraceProcesses()
        for lines in (LINES, [], [b""], [b"\n".join(LINES)]):
            made = await large.finish("run", REQUEST, lines, OUTCOME, 2.0)
            here = finish("run", REQUEST, lines, OUTCOME, 2.0)
            assert plain(made.stored.body) == plain(here.stored.body)
            assert (made.status, made.lost, made.stored.kept) == (here.status, here.lost, here.stored.kept)
        await large.close()

    use(check())


def process_of(large: TraceProcesses, number: int) -> int:
    pid = large._processes[number]._child.pid
    assert pid is not None
    return pid


async def taken(large: TraceProcesses) -> None:
    """Wait until the processes have taken what they were given."""
    await asyncio.sleep(0)
    while large._waiting:
        await asyncio.sleep(0)


def test_when_one_is_lost_the_next_job_finds_another() -> None:
    async def check() -> None:
        large = TraceProcesses()
        await large.start()
        process = process_of(large, 0)
        os.kill(process, signal.SIGSTOP)
        job = asyncio.ensure_future(large.finish("run", REQUEST, LINES, OUTCOME, 0.0))
        await taken(large)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(RunnerDown):
            await job
        for _ in range(2):
            assert (await large.finish("run", REQUEST, LINES, OUTCOME, 0.0)).stored.body
        await large.close()

    use(check())


SMALLEST, OLDEST = 0, 1


@pytest.mark.parametrize(
    ("going", "order"),
    [
        (SMALLEST, ["small", "middle", "large"]),
        pytest.param(OLDEST, ["large", "small", "middle"], marks=pytest.mark.slow),
    ],
)
def test_one_takes_what_is_smallest_and_one_what_is_oldest(going: int, order: list[str]) -> None:
    async def check() -> None:
        large, ended = TraceProcesses(), []
        await large.start()
        processes = [process_of(large, number) for number in (SMALLEST, OLDEST)]
        for process in processes:
            os.kill(process, signal.SIGSTOP)

        async def finish(run: str, sites: int) -> None:
            lines = [*LINES[:2], *(f'["site",{number},1,1,0,1]'.encode() for number in range(1, sites))]
            await large.finish(run, REQUEST, lines, OUTCOME, 0.0)
            ended.append(run)

        first = [asyncio.ensure_future(finish("first", 1)) for _ in processes]
        await taken(large)
        others = [asyncio.ensure_future(finish(*job)) for job in (("large", 900), ("small", 90), ("middle", 500))]
        while len(large._waiting) < len(others):
            await asyncio.sleep(0)
        os.kill(processes[going], signal.SIGCONT)
        await asyncio.gather(*others)
        assert ended == ["first", *order]
        os.kill(processes[1 - going], signal.SIGCONT)
        await asyncio.gather(*first)
        await large.close()

    use(check())


def test_who_stops_waiting_for_its_end_leaves_no_process() -> None:
    async def check() -> None:
        child = Child("server.trace_processes")
        await child.start()
        pid = child.pid
        ending = asyncio.create_task(child.end())
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        with pytest.raises(ProcessLookupError):
            os.kill(pid or 0, 0)

    asyncio.run(check())


def test_one_who_no_longer_waits_does_not_get_the_answers_mixed_up() -> None:
    async def check() -> None:
        large = TraceProcesses()
        for _ in range(5):
            gone = asyncio.ensure_future(large.finish("gone", REQUEST, LINES, OUTCOME, 0.0))
            await asyncio.sleep(0.01)
            gone.cancel()
        made = await large.finish("mine", REQUEST, LINES, OUTCOME, 0.0)
        assert plain(made.stored.body)["id"] == "mine"
        await large.close()

    use(check())


@pytest.mark.slow
def test_a_large_run_survives_their_loss(served: Served) -> None:
    trace = served.run(MANY)
    assert trace["status"] == "ok"
    assert len(trace["ops"]) > 1000
    for pid in soak.children(os.getpid()):
        if b"server.trace_processes" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    again = served.run(MANY + "# again\n")
    assert len(again["ops"]) == len(trace["ops"])
