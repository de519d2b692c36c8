"""Large traces are made beside the server: the same as in it, and its loss costs one more try."""

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
from server.aside import Aside, is_large
from server.finish import finish
from server.runner import RunnerDown
from tests import soak
from tests.server.conftest import Served

MANY = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x\nfor _ in range(900):\n    y = y + x.sin()\n    y.detach()\ny.sum().backward()\nprint('done')\n"
REQUEST = RunRequest(program=Program(code=MANY + "#" * 9_000))
LINES = [
    b'["start","3","2","cpu","2",null,1]',
    b'["out","stdout","a\\ud83d\\ude00",0,false]',
    b"no event",
    b'["end",1.0]',
]
OUTCOME = Outcome(
    exit_code=0, signal=None, stopped_by=None, peak_rss_bytes=0, stderr_tail="", timings=Timings(total_ms=1.0),
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
        aside = Aside()
        for lines in (LINES, [], [b""], [b"\n".join(LINES)]):
            made = await aside.finish("run", REQUEST, lines, OUTCOME, 2.0)
            here = finish("run", REQUEST, lines, OUTCOME, 2.0)
            assert plain(made.stored.body) == plain(here.stored.body)
            assert (made.status, made.lost, made.stored.kept) == (here.status, here.lost, here.stored.kept)
        await aside.close()

    use(check())


def test_when_it_is_lost_the_next_job_finds_another() -> None:
    async def check() -> None:
        aside = Aside()
        await aside.start()
        assert aside._process is not None
        os.kill(aside._process.pid, signal.SIGSTOP)
        job = asyncio.ensure_future(aside.finish("run", REQUEST, LINES, OUTCOME, 0.0))
        await asyncio.sleep(0.1)
        os.kill(aside._process.pid, signal.SIGKILL)
        with pytest.raises(RunnerDown):
            await job
        assert (await aside.finish("run", REQUEST, LINES, OUTCOME, 0.0)).stored.body
        await aside.close()

    use(check())


def test_one_who_no_longer_waits_does_not_get_the_answers_mixed_up() -> None:
    async def check() -> None:
        aside = Aside()
        for _ in range(5):
            gone = asyncio.ensure_future(aside.finish("gone", REQUEST, LINES, OUTCOME, 0.0))
            await asyncio.sleep(0.01)
            gone.cancel()
        made = await aside.finish("mine", REQUEST, LINES, OUTCOME, 0.0)
        assert plain(made.stored.body)["id"] == "mine"
        await aside.close()

    use(check())


@pytest.mark.slow
def test_a_large_run_survives_its_loss(served: Served) -> None:
    helper = next(
        pid for pid in soak.children(os.getpid()) if b"server.aside" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    trace = served.run(MANY)
    assert trace["status"] == "ok"
    assert len(trace["ops"]) > 1000
    os.kill(helper, signal.SIGKILL)
    again = served.run(MANY + "# again\n")
    assert len(again["ops"]) == len(trace["ops"])
