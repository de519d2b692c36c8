"""A pool as its callers see it: many at once, cancelled, its warm process killed, closed."""

import asyncio
import contextlib
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import cast

import msgspec
import pytest

from engine import DEFAULT_LIMITS, Program, RunRequest
from engine.outcome import Outcome
from engine.sandbox.messages import Config, FromZygote, Spawned, encode
from engine.sandbox.pool import Pool, _watch_time
from engine.sandbox.processes import (
    ENGINE_PARENT,
    ENVIRONMENT,
    Process,
    SandboxBroken,
    ZygoteLost,
    threads_of,
    waited_s,
)
from engine.sandbox.supervision import Supervision
from engine.sandbox.zygote_client import ZygoteClient
from tests.soak import is_alive

if sys.platform != "linux":
    pytest.skip("the sandbox is Linux's", allow_module_level=True)

SLEEP = RunRequest(program=Program(code="import time\nprint('begun')\ntime.sleep(30)\n"))
QUICK = RunRequest(program=Program(code="print(1)\n"))
WHO = RunRequest(program=Program(code="import os\nprint(os.getppid(), os.getpid())\n"))

Check = Callable[[Pool], Coroutine[object, object, None]]
On = Callable[[Check], None]


@pytest.fixture(scope="module")
def on() -> Iterator[On]:
    """Runs a check on one pool that all checks share."""
    with asyncio.Runner() as runner:
        pool = Pool(2, spares=1)
        runner.run(pool.start())
        yield lambda check: runner.run(asyncio.wait_for(check(pool), 40))
        runner.run(pool.close())


def printed(lines: list[bytes]) -> str:
    events = [line for piece in lines for line in piece.split(b"\n") if line.startswith(b'["out"')]
    return "".join(msgspec.json.decode(event)[2] for event in events)


async def until(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not fact():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def test_many_at_once_get_their_own_answers(on: On) -> None:
    async def check(pool: Pool) -> None:
        requests = [RunRequest(program=Program(code=f"print({number})\n")) for number in range(12)]
        answers = await asyncio.gather(*map(pool.run, requests))
        assert [printed(lines) for lines, _ in answers] == [f"{number}\n" for number in range(12)]

    on(check)


def test_events_are_passed_on_while_the_program_runs(on: On) -> None:
    async def check(pool: Pool) -> None:
        heard = asyncio.Event()

        def hear(line: bytes) -> None:
            if b"begun" in line:
                heard.set()

        running = asyncio.create_task(pool.run(SLEEP, hear))
        await asyncio.wait_for(heard.wait(), 30)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    on(check)


def test_a_program_that_says_it_is_over_is_taken_at_its_word(on: On) -> None:
    code = "import os\nprint(os.getpid())\nimport time\ntime.sleep(1)\nos.write(4, b'\\n')\ntime.sleep(30)\n"

    async def check(pool: Pool) -> None:
        lines, outcome = await pool.run(RunRequest(program=Program(code=code)))
        assert (outcome.exit_code, outcome.signal, outcome.stopped_by) == (0, None, None)
        assert not any(line.startswith(b'["end"') for line in lines)
        pid = int(printed(lines))
        await until(lambda: not is_alive(pid))
        assert printed((await pool.run(QUICK))[0]) == "1\n"

    on(check)


def test_cancelling_kills_the_process_and_frees_its_place(on: On) -> None:
    async def check(pool: Pool) -> None:
        code = "import os, time\nprint(os.getpid())\ntime.sleep(30)\n"
        for _ in range(4):  # more than there are places
            said: list[bytes] = []
            running = asyncio.create_task(pool.run(RunRequest(program=Program(code=code)), said.append))
            await until(lambda said=said: bool(printed(said)))  # type: ignore[misc]
            running.cancel()
            pid = int(printed(said))
            await until(lambda pid=pid: not is_alive(pid))  # type: ignore[misc]
        assert printed((await pool.run(QUICK))[0]) == "1\n"

    on(check)


def test_a_child_that_comes_as_its_caller_goes_away_ends(on: On, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(pool: Pool) -> None:
        client = await pool._live_client("cpu")
        assert isinstance(client, ZygoteClient)
        take = client._take

        def took(message: FromZygote, descriptors: list[int]) -> None:
            take(message, descriptors)
            if isinstance(message, Spawned) and message.id == number:
                asking.cancel()  # the child is there, and the caller has not been told

        monkeypatch.setattr(client, "_take", took)
        asking = asyncio.create_task(client.spawn())
        await asyncio.sleep(0)
        number = max(client._expected)  # a spare may be on its way too
        expected = client._expected[number]
        with pytest.raises(asyncio.CancelledError):
            await asking
        monkeypatch.undo()
        child = expected.result()
        await asyncio.wait_for(asyncio.shield(child.exited), 10)

    on(check)


def test_a_waiting_run_can_be_cancelled(on: On) -> None:
    async def check(pool: Pool) -> None:
        busy = [asyncio.create_task(pool.run(SLEEP)) for _ in range(pool.capacity)]
        waiting = asyncio.create_task(pool.run(QUICK))
        await asyncio.sleep(0.1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
        assert printed((await pool.run(QUICK))[0]) == "1\n"

    on(check)


@pytest.mark.slow
def test_a_lost_warm_process_loses_its_runs_and_is_replaced(on: On) -> None:
    async def check(pool: Pool) -> None:
        zygote = int(printed((await pool.run(WHO))[0]).split()[0])
        said: list[bytes] = []
        running = asyncio.create_task(pool.run(SLEEP, said.append))
        await until(lambda: bool(printed(said)))
        os.kill(zygote, signal.SIGKILL)
        _, outcome = await running
        assert (outcome.exit_code, outcome.signal, outcome.stopped_by) == (None, None, None)
        lines, outcome = await again(pool)
        assert outcome.exit_code == 0
        assert int(printed(lines).split()[0]) != zygote

    on(check)


def test_without_descriptors_left_runs_are_refused_and_later_they_are_not(on: On) -> None:
    async def check(pool: Pool) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        await pool.run(QUICK)
        await asyncio.sleep(0.3)
        used = max(int(entry.name) for entry in Path("/proc/self/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 8, hard))
        taken: list[int] = []
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        try:
            ends = await asyncio.wait_for(asyncio.gather(*map(pool.run, [QUICK] * 6), return_exceptions=True), 20)
        finally:
            for descriptor in taken:
                os.close(descriptor)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert any(isinstance(end, SandboxBroken) for end in ends), ends
        assert printed((await pool.run(QUICK))[0]) == "1\n"

    on(check)


async def again(pool: Pool) -> tuple[list[bytes], Outcome]:
    """What a caller does who was told that the warm process was lost."""
    try:
        return await pool.run(WHO)
    except ZygoteLost:
        return await pool.run(WHO)


def test_the_supervisor_kills_what_does_not_stop_itself(on: On) -> None:
    limits = msgspec.structs.replace(DEFAULT_LIMITS, wall_s=0.3)
    code = "import re, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})\nre.match('(a+)+$', 'a' * 60 + 'b')\n"
    request = RunRequest(program=Program(code=code), limits=limits)

    async def check(pool: Pool) -> None:
        _, outcome = await pool.run(request)
        assert (outcome.stopped_by, outcome.signal) == ("wall", signal.SIGKILL)
        assert outcome.timings.run_ms < 10_000

    on(check)


class Clock:
    """Time that passes only while somebody sleeps."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class Waiting:
    """A process that has no processor for a share of the time."""

    def __init__(self, share: float, clock: Clock) -> None:
        self.share = share
        self.clock = clock
        self.told: list[tuple[str, float]] = []

    def waited_s(self) -> float:
        return self.share * self.clock.now

    def tell(self, name: str) -> None:
        self.told.append((name, self.clock.now))


@pytest.mark.parametrize(("share", "after_s"), [(2 / 3, 0.6), (0.0, 0.2), (1.0, 0.6)])
def test_what_a_run_waited_for_a_processor_does_not_count(
    share: float, after_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("engine.sandbox.pool.time", clock)
    monkeypatch.setattr("engine.sandbox.pool.asyncio", clock)

    async def wait() -> list[tuple[str, float]]:
        child = Waiting(share, clock)
        run = Supervision(DEFAULT_LIMITS, lambda: None, None)
        await _watch_time(cast(Process, child), run, wall_s=0.2)
        assert run.is_late
        return child.told

    (first, at), (second, _) = asyncio.run(wait())
    assert (first, second) == ("SIGVTALRM", "SIGALRM")
    assert at == pytest.approx(after_s, abs=0.02)


def test_the_kernel_says_how_long_a_process_waited() -> None:
    assert 0 <= waited_s(os.getpid()) < time.monotonic()
    assert waited_s(2**22 + 1) == 0  # no pid is that large


def test_without_a_file_to_look_with_nothing_is_known_of_threads() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert threads_of(os.getpid())
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        assert threads_of(os.getpid()) == ()
        assert waited_s(os.getpid()) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
def test_processor_time_is_limited(on: On) -> None:
    limits = msgspec.structs.replace(DEFAULT_LIMITS, cpu_s=1.0)
    request = RunRequest(program=Program(code="while True:\n    pass\n"), limits=limits)

    async def check(pool: Pool) -> None:
        lines, outcome = await pool.run(request)
        assert b'["fail","limit","cpu_s"' in b"".join(lines)
        assert outcome.exit_code == 0

    on(check)


@pytest.mark.slow
def test_processor_time_is_limited_where_native_code_gives_python_no_turn(on: On) -> None:
    limits = msgspec.structs.replace(DEFAULT_LIMITS, cpu_s=1.0)
    request = RunRequest(program=Program(code="import re\nre.match('(a+)+$', 'a' * 60 + 'b')\n"), limits=limits)

    async def check(pool: Pool) -> None:
        _, outcome = await pool.run(request)
        assert (outcome.stopped_by, outcome.signal) == ("cpu", signal.SIGKILL)

    on(check)


@pytest.mark.slow
def test_a_long_program_arrives_whole(on: On) -> None:
    code = "x = 1\n" * 30_000 + "print('end')\n"

    async def check(pool: Pool) -> None:
        assert printed((await pool.run(RunRequest(program=Program(code=code))))[0]) == "end\n"

    on(check)


def test_runs_do_not_share_a_uid_or_see_each_other(on: On) -> None:
    """Where the pool may choose uids, no two live runs have the same."""

    async def check(pool: Pool) -> None:
        code = "import os, time\nprint(os.getuid())\n"
        first: list[bytes] = []
        running = asyncio.create_task(
            pool.run(RunRequest(program=Program(code=f"{code}time.sleep(30)\n")), first.append)
        )
        await until(lambda: bool(printed(first)))
        second, _ = await pool.run(RunRequest(program=Program(code=code)))
        running.cancel()
        if "uid" in pool.isolation.layers:
            assert printed(first) != printed(second)
        else:
            assert printed(first) == f"{os.getuid()}\n"

    on(check)


def test_this_machine_has_at_least_a_container_s_isolation(on: On) -> None:
    async def check(pool: Pool) -> None:
        assert pool.isolation.profile in ("full", "container")
        assert {"rlimits", "no_new_privs", "landlock", "seccomp"} <= set(pool.isolation.layers)

    on(check)


@pytest.mark.slow
def test_a_zygote_ends_in_silence_when_its_server_is_gone(tmp_path: Path) -> None:
    """Also when the server had not yet read what it said."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    config = encode(Config(staging=str(tmp_path), slots=1, import_path=ENGINE_PARENT, namespaces=False))
    command = [sys.executable, "-m", "engine.sandbox.zygote", config.decode()]
    with theirs:
        process = subprocess.Popen(
            command, stdin=theirs.fileno(), stderr=subprocess.PIPE, env=ENVIRONMENT, cwd="/", start_new_session=True
        )
    select.select([ours], [], [])
    ours.close()
    assert process.communicate()[1] == b""
    assert process.returncode == 0


@pytest.mark.slow
def test_without_a_zygote_programs_still_run() -> None:
    async def check(pool: Pool) -> None:
        lines, outcome = await pool.run(QUICK)
        assert printed(lines) == "1\n"
        assert outcome.exit_code == 0
        assert pool.isolation.profile == "none"

    async def alone() -> None:
        pool = Pool(1, spares=0, sandboxed=False)
        await pool.start()
        await check(pool)
        await pool.close()

    asyncio.run(alone())
