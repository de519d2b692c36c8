"""GPUs in the pool: which warm process, how many at once, one ready ahead. The device alone is a fake."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest

from engine import Program, RunRequest
from engine.devices import CPU, CUDA, DeviceKind, device_files
from engine.sandbox.messages import Config, Exited, Ready
from engine.sandbox.pool import Pool
from engine.sandbox.processes import ZygoteLost
from engine.trace import Isolation

if sys.platform != "linux":
    pytest.skip("the sandbox is Linux's", allow_module_level=True)

import torch

from engine.limits import DEFAULT_LIMITS
from engine.sandbox import child as life
from engine.sandbox import zygote
from engine.sandbox.layers import Layers
from engine.worker.capture.recorder import Recorder
from engine.worker.explain.failure import failure
from engine.worker.runtime import execute, warm

ON_GPU = RunRequest(program=Program(code="x", device="cuda:0"))
ON_CPU = RunRequest(program=Program(code="x"))


class FakeChild:
    """A process that ends when it is told to."""

    def __init__(self, device: str, prefaults: bool) -> None:
        loop = asyncio.get_running_loop()
        self.device = device
        self.prefaults = prefaults
        self.closed: asyncio.Future[None] = loop.create_future()
        self.closed.set_result(None)
        self.exited: asyncio.Future[Exited] = loop.create_future()
        self.asked = False
        self.lingers = False
        """The kernel takes its time to take it down."""

    async def send(
        self, request: bytes, on_events: Callable[[bytes], None], on_output: Callable[[bytes], None]
    ) -> None:
        self.asked = True
        self.on_events = on_events

    def drain(self) -> None: ...

    def finish(self) -> None:
        self.exited.set_result(Exited(id=1, status=0, cpu_s=0))

    def kill(self) -> None:
        if not self.exited.done() and not self.lingers:
            self.finish()

    def tell(self, name: str) -> None: ...

    def waited_s(self) -> float:
        return 0.0

    def yield_processor(self) -> None: ...

    def take_processor(self) -> None: ...

    def own_bytes(self) -> int:
        return 0


class FakeProcesses:
    """A warm process on a machine with a GPU."""

    def __init__(self, kind: DeviceKind) -> None:
        self.kind = kind
        self.lost = False
        self.ready = asyncio.get_running_loop().create_future()
        self.ready.set_result(Ready(layers=(), canary="", devices=("cuda:0",)))
        self.born: list[FakeChild] = []

    async def spawn(self, device: str = "cpu", canary: object = None, *, prefault: bool = False) -> FakeChild:
        if self.lost:
            raise ZygoteLost
        self.born.append(FakeChild(device, prefault))
        return self.born[-1]

    async def close(self) -> None: ...


class FakePool(Pool):
    """Its warm processes are fakes."""

    def __init__(self, capacity: int, cuda_share: float, spares: int) -> None:
        super().__init__(capacity, spares=spares, device_share=cuda_share, sandboxed=False)
        self.started: list[FakeProcesses] = []

    async def _start_client(self, kind: DeviceKind) -> FakeProcesses:
        self.started.append(FakeProcesses(kind))
        return self.started[-1]


def use(
    check: Callable[[FakePool], Coroutine[Any, Any, None]], capacity: int = 8, cuda_share: float = 0.4, spares: int = 1
) -> None:
    async def run() -> None:
        pool = FakePool(capacity, cuda_share, spares)
        await pool.start()
        await settle()
        await check(pool)
        await pool.close()

    asyncio.run(asyncio.wait_for(run(), 20))


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_runs_on_the_cpu_keep_the_warm_process_with_a_private_root() -> None:
    async def check(pool: FakePool) -> None:
        assert [client.kind for client in pool.started] == [CPU]
        runs = [asyncio.create_task(pool.run(request)) for request in (ON_CPU, ON_GPU)]
        await settle()
        assert [client.kind for client in pool.started] == [CPU, CUDA]
        cpu, gpu = pool.started
        assert {child.device for child in cpu.born} == {"cpu"}
        assert {child.device for child in gpu.born} == {"cuda:0"}
        for child in (*cpu.born, *gpu.born):
            child.kill()
        await asyncio.gather(*runs)

    use(check)


@pytest.mark.parametrize(("share", "places"), [(0.4, 2), (0.3, 3), (1.0, 1)])
def test_as_many_run_at_once_as_shares_fit_and_the_cpu_is_not_kept_waiting(share: float, places: int) -> None:
    async def check(pool: FakePool) -> None:
        runs = [asyncio.create_task(pool.run(ON_GPU)) for _ in range(6)]
        await settle()
        asked = [child for child in pool.started[1].born if child.asked]
        assert len(asked) == places
        on_cpu = asyncio.create_task(pool.run(ON_CPU))
        await settle()
        child = next(child for child in pool.started[0].born if child.asked)
        child.finish()
        await on_cpu
        while not all(run.done() for run in runs):
            for child in pool.started[1].born:
                if child.asked:
                    child.kill()
            await settle()

    use(check, capacity=4, cuda_share=share)


def test_what_holds_around_a_run_on_a_gpu_was_tried_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async def tried(pool: Pool, client: FakeProcesses, device: str) -> Isolation:
        assert (client.kind, device) == (CUDA, "cuda:0")
        return Isolation(profile="container", layers=("landlock",))

    async def check(pool: FakePool) -> None:
        pool._sandboxed = True
        for request, profile in ((ON_GPU, "container"), (ON_CPU, "none")):
            run = asyncio.create_task(pool.run(request))
            await settle()
            for made in pool.started:
                for child in made.born:
                    child.kill()
            _, outcome = await run
            assert outcome.isolation is not None
            assert outcome.isolation.profile == profile

    monkeypatch.setattr(FakePool, "_test_isolation", tried)
    use(check)


def test_once_a_gpu_was_asked_for_a_process_waits_with_it_initialised() -> None:
    async def check(pool: FakePool) -> None:
        first = asyncio.create_task(pool.run(ON_GPU))
        await settle()
        gpu = pool.started[1]
        assert [child.asked for child in gpu.born] == [True, False]
        second = asyncio.create_task(pool.run(ON_GPU))
        await settle()
        assert [child.asked for child in gpu.born] == [True, True, False]
        for child in gpu.born:
            child.kill()
        await asyncio.gather(first, second)

    use(check)


def test_a_lost_gpu_process_is_replaced_and_the_cpu_s_is_not() -> None:
    async def check(pool: FakePool) -> None:
        first = asyncio.create_task(pool.run(ON_GPU))
        await settle()
        pool.started[1].lost = True
        for child in pool.started[1].born:
            child.kill()
        await first
        second = asyncio.create_task(pool.run(ON_GPU))
        await settle()
        assert [client.kind for client in pool.started] == [CPU, CUDA, CUDA]
        for child in pool.started[2].born:
            child.kill()
        await second

    use(check)


def test_a_process_practises_while_the_machine_has_time_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.sandbox.pool.AT_LEISURE", 2)
    has_time = True
    monkeypatch.setattr("engine.sandbox.leisure.Leisure.has_time", lambda _: has_time)

    async def check(pool: FakePool) -> None:
        runs = []
        for _ in range(3):
            runs.append(asyncio.create_task(pool.run(ON_CPU)))
            await settle()
        # the spare made at the start, then one in the place of each that was taken
        assert [child.prefaults for child in pool.started[0].born] == [True, True, False, False]
        pool.started[0].born[0].finish()
        await runs[0]
        pool.started[0].born[1].finish()  # of two that went on: the machine was busy until now
        await runs[1]
        await settle()
        assert not any(child.prefaults for child in pool.started[0].born[2:])
        for child in pool.started[0].born:
            child.kill()
        await asyncio.gather(*runs)

    async def busy(pool: FakePool) -> None:
        assert not any(child.prefaults for child in pool.started[0].born)

    use(check)
    has_time = False
    use(busy)


def test_after_a_lone_run_its_reader_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.sandbox.pool._LULL_S", 3600.0)

    async def check(pool: FakePool) -> None:
        born = pool.started[0].born
        for over, processes in ((1, 3), (2, 5)):  # the second follows the first at once: nothing waits any longer
            run = asyncio.create_task(pool.run(ON_CPU))
            await settle()
            assert len(born) == 3
            born[over - 1].finish()
            await run
            await settle()
            assert len(born) == processes

    use(check, spares=3)


def test_the_next_process_is_made_when_a_run_is_over_or_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.sandbox.pool._LULL_S", 0.0)

    async def check(pool: FakePool) -> None:
        born = pool.started[0].born
        first = asyncio.create_task(pool.run(ON_CPU))
        await settle()
        assert len(born) == 2  # one of them still waits: this run has the machine to itself
        born[0].finish()
        await first
        await settle()
        assert len(born) == 3
        both = [asyncio.create_task(pool.run(ON_CPU)) for _ in range(2)]
        await settle()
        assert len(born) == 5
        for child in born:
            child.kill()
        await asyncio.gather(*both)

    use(check, spares=2)


def test_the_next_process_is_not_made_before_the_last_one_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.sandbox.pool._LULL_S", 0.0)

    async def check(pool: FakePool) -> None:
        born = pool.started[0].born
        run = asyncio.create_task(pool.run(ON_CPU))
        await settle()
        born[0].lingers = True
        born[0].on_events(b'["end",1.0]\n\n')
        lines, outcome = await run
        assert (lines, outcome.exit_code) == ([b'["end",1.0]'], 0)
        await settle()
        assert len(born) == 2
        born[0].finish()
        await settle()
        assert len(born) == 3

    use(check, spares=2)


def test_a_run_that_ends_with_the_pool_starts_nothing_anew() -> None:
    async def check(pool: FakePool) -> None:
        run = asyncio.create_task(pool.run(ON_CPU))
        await settle()
        born = list(pool.started[0].born)
        await pool.close()
        for child in born:
            child.kill()
        await run
        await settle()
        assert pool.started[0].born == born
        assert len(pool.started) == 1

    use(check)


def test_a_warm_process_gets_ready_only_where_no_gpu_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backward would start a thread for each, and forks do not survive that."""
    seen: list[str] = []
    monkeypatch.setattr(execute, "make_ready", lambda: seen.append(os.environ["CUDA_VISIBLE_DEVICES"]))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    for_cpu = Config(staging="", slots=1, import_path="")
    for_gpu = msgspec.structs.replace(for_cpu, kind="cuda", device_share=0.4)
    zygote.job_of(for_gpu, ("cuda:0", "cuda:1"))
    assert seen == []
    zygote.job_of(for_gpu, ())
    zygote.job_of(for_cpu, ())
    assert seen == ["0,1", "0,1"]
    zygote.job_of(for_cpu, ("cuda:0", "cuda:1"))
    assert seen[2:] == [""]


def test_a_driver_that_starts_a_thread_when_it_is_asked_does_so_in_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    def one() -> int:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        return 1

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", one)
    before = threading.active_count()
    assert warm.devices.__wrapped__() == ("cuda:0",)
    assert threading.active_count() == before


def test_a_driver_that_ends_its_process_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert warm.devices.__wrapped__() == ()


@pytest.mark.parametrize(("kind", "keeps"), [(CUDA, True), (CPU, False)], ids=["cuda", "cpu"])
def test_what_a_driver_has_opened_stays_open_and_what_the_zygote_had_does_not(kind: DeviceKind, keeps: bool) -> None:
    (request, asking), (hearing, events), (_, output) = os.pipe(), os.pipe(), os.pipe()
    zygotes = os.open("/dev/null", os.O_RDONLY)
    pid = os.fork()
    if pid == 0:
        life.reserve_places()

        def make_ready() -> Callable[[RunRequest], None]:
            drivers = os.open("/dev/null", os.O_RDONLY)
            return lambda _: life.emit(f"{life._is_open(zygotes)} {life._is_open(drivers)}".encode())

        statm = os.open("/proc/self/statm", os.O_RDONLY)
        life.live(life.Descriptors(request, events, output, statm), make_ready, kind)
    for descriptor in (request, events, output, zygotes):
        os.close(descriptor)
    os.write(asking, msgspec.json.encode(ON_CPU))
    os.close(asking)
    with os.fdopen(hearing) as said:
        assert said.read() == f"\nFalse {keeps}\n\n"
    os.waitpid(pid, 0)


def test_a_run_s_share_is_set_before_its_sandbox_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[object, ...]] = []
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: told.append(("device", device)))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda *share: told.append(("share", *share)))
    zeros = torch.zeros

    def on_the_cpu(*size: int, device: str) -> torch.Tensor:
        assert device == "cuda:0"
        return zeros(*size)

    monkeypatch.setattr(torch, "ones", on_the_cpu)
    warm.start("cuda:0", 0.4)
    assert told == [("device", torch.device("cuda:0")), ("share", 0.4, torch.device("cuda:0"))]


def test_memory_that_a_gpu_does_not_have_is_told_with_the_bytes_asked_for() -> None:
    said = "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 31.36 GiB"
    failed = failure(torch.OutOfMemoryError(said), Recorder(DEFAULT_LIMITS), "")
    assert failed is not None
    assert failed.kind == "memory"
    assert failed.facts == {"asked_bytes": str(20 << 30)}


def test_one_gpu_s_files_are_reached_and_no_other_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathlib.Path.exists", lambda path: True)
    files = device_files("cuda:1")
    assert "/dev/nvidia1" in files
    assert "/dev/nvidia0" not in files


def test_runs_on_a_gpu_have_no_private_root(tmp_path: Any) -> None:
    """In a fork: layers are for good."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            layers = Layers(str(tmp_path), 1, namespaces=True, kind=CUDA)
            code = 0 if "mount" not in layers.names and "landlock" in layers.names else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
