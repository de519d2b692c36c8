"""What the supervisor counts and concludes, whatever a child says."""

import asyncio

import msgspec
import pytest

from engine import DEFAULT_LIMITS
from engine.limits import MIB, STOPPING_OUTPUT_BYTES
from engine.sandbox.messages import Exited
from engine.sandbox.supervision import MEMORY_SLACK_BYTES, TAIL_BYTES, Supervision
from engine.trace import Timings

TIMINGS = Timings(total_ms=1.0)


class Run(Supervision):
    def __init__(self, **limits: float) -> None:
        self.kills = 0
        self.heard: list[bytes] = []
        super().__init__(msgspec.structs.replace(DEFAULT_LIMITS, **limits), self._count, self.heard.append)

    def _count(self) -> None:
        self.kills += 1


def exited(status: int) -> Exited:
    return Exited(id=1, status=status, cpu_s=0.1)


def test_lines_are_whole_however_they_arrive() -> None:
    run = Run()
    for piece in (b"on", b"e\ntw", b"o", b"\nthr"):
        run.on_events(piece)
    assert run.lines == run.heard == [b"one", b"two"]


def test_bytes_of_blobs_are_counted() -> None:
    run = Run()
    run.on_events(b'["blob",1]\n["end",1]\n')
    assert run.outcome(exited(0), TIMINGS, None).blobs == len(b'["blob",1]')


def test_an_empty_line_is_the_last_word() -> None:
    overs: list[str] = []
    run = Supervision(DEFAULT_LIMITS, lambda: None, None, lambda: overs.append("over"))
    run.on_events(b'["end",1.0]')
    assert not run.over
    run.on_events(b'\n\n["var"]\n\n')
    run.on_events(b'["var"]\n')
    assert run.lines == [b'["end",1.0]']
    assert overs == ["over"]
    for end in (None, exited(9)):  # killed once it had said all
        outcome = run.outcome(end, TIMINGS, None)
        assert (outcome.exit_code, outcome.signal, outcome.stopped_by) == (0, None, None)


def test_what_had_to_be_stopped_stays_stopped_though_it_says_it_is_over() -> None:
    async def say() -> Run:
        run = Run()
        run.stop("wall", after_s=0.01)
        run.on_events(b"\n")
        await asyncio.sleep(0.05)
        return run

    run = asyncio.run(say())
    assert run.kills == 1
    assert run.outcome(None, TIMINGS, None).stopped_by == "wall"


def test_a_chatterer_is_killed_once_and_not_heard_any_more() -> None:
    async def chatter() -> Run:
        run = Run(trace_bytes=1000)
        for _ in range(5):
            run.on_events(b"x" * MIB + b"\n")
        await asyncio.sleep(0)
        return run

    run = asyncio.run(chatter())
    assert run.kills == 1
    assert len(run.lines) <= 1
    assert run.outcome(exited(9), TIMINGS, None).stopped_by == "trace"


def test_a_flood_of_output_ends_the_run_and_its_tail_is_kept() -> None:
    async def flood() -> Run:
        run = Run()
        run.on_output(b"x" * STOPPING_OUTPUT_BYTES)
        assert run.kills == 0
        run.on_output(b"the end")
        while not run.kills:
            await asyncio.sleep(0.01)
        return run

    run = asyncio.run(flood())
    outcome = run.outcome(exited(9), TIMINGS, None)
    assert run.kills == 1
    assert outcome.stopped_by == "output"
    assert outcome.stderr_tail.endswith("xthe end")
    assert len(outcome.stderr_tail) == TAIL_BYTES


def test_growth_beyond_the_limit_ends_the_run() -> None:
    async def grow() -> Run:
        run = Run(memory_bytes=MIB)
        run.on_memory(MIB + MEMORY_SLACK_BYTES)
        assert run.outcome(None, TIMINGS, None).stopped_by is None
        run.on_memory(MIB + MEMORY_SLACK_BYTES + 1)
        await asyncio.sleep(0)
        return run

    assert asyncio.run(grow()).outcome(exited(9), TIMINGS, None).stopped_by == "memory"


@pytest.mark.parametrize(
    ("status", "code", "signal", "stopped_by"),
    [(0, 0, None, None), (7 << 8, 7, None, None), (11, None, 11, None), (24, None, 24, "cpu")],
)
def test_the_end_is_what_the_kernel_said(status: int, code: int, signal: int, stopped_by: str) -> None:
    outcome = Run().outcome(exited(status), TIMINGS, None)
    assert (outcome.exit_code, outcome.signal, outcome.stopped_by) == (code, signal, stopped_by)


def test_a_death_by_signal_after_the_deadline_is_the_deadline_s() -> None:
    late = Run()
    late.is_late = True
    assert late.outcome(exited(11), TIMINGS, None).stopped_by == "wall"
    assert late.outcome(exited(24), TIMINGS, None).stopped_by == "cpu"
    assert late.outcome(exited(0), TIMINGS, None).stopped_by is None
    assert late.outcome(None, TIMINGS, None).stopped_by is None


def test_a_lost_child_has_no_end() -> None:
    outcome = Run().outcome(None, TIMINGS, None)
    assert (outcome.exit_code, outcome.signal, outcome.stopped_by) == (None, None, None)
