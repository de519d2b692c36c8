"""The runner of one machine: the pool of sandboxed workers, with assembling and compressing on threads."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor

from engine import events
from engine.devices import CPU
from engine.request import RunRequest
from engine.sandbox.pool import Control, Pool
from engine.sandbox.processes import SandboxBroken, ZygoteLost
from engine.trace import Isolation
from server.packing import finish
from server.runner import Printed, Progressed, RunEvent, RunnerDown, Started
from server.trace_processes import TraceProcesses, is_large

_AT_ONCE = (b'["out"', b'["at"')
"""What a follower wants to know before the run is over."""


class LocalRunner:
    """Runs programs in a `Pool` on this machine."""

    def __init__(self, workers: int, slow_workers: int, memory_bytes: int, cuda_share: float = 0.4) -> None:
        """`workers` 0 takes one for each processor core; `slow_workers` are fewer where their memory would not do."""
        self._workers = workers or max(2, os.cpu_count() or 1)
        self._slow_workers = min(slow_workers, max(0, machine_bytes() // memory_bytes - self._workers))
        self._pool = Pool(self._workers + self._slow_workers, device_share=min(1.0, max(0.05, cuda_share)))
        self._controls: dict[str, Control] = {}
        self._started = False
        self._trace_processes = TraceProcesses()
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="assemble")

    async def start(self) -> None:
        await self._trace_processes.start()
        await self._pool.start()
        self._started = True

    @property
    def capacity(self) -> int:
        return self._workers if self._started else 0

    @property
    def slow_capacity(self) -> int:
        return self._slow_workers if self._started else 0

    def cancel(self, run: str) -> None:
        if control := self._controls.get(run):
            control.cancel()

    def yield_processor(self, run: str) -> None:
        if control := self._controls.get(run):
            control.yield_processor()

    def take_processor(self, run: str) -> None:
        if control := self._controls.get(run):
            control.take_processor()

    @property
    def isolation(self) -> Isolation | None:
        return self._pool.isolation if self._started else None

    @property
    def devices(self) -> tuple[str, ...]:
        return (CPU.name, *self._pool.devices)

    async def submit(self, run: str, request: RunRequest, waited_ms: float) -> AsyncGenerator[RunEvent, None]:
        said: asyncio.Queue[RunEvent | None] = asyncio.Queue()
        control = self._controls[run] = Control()
        work = asyncio.create_task(self._pool.run(request, LiveFilter(said).on_event, control))
        work.add_done_callback(lambda _: said.put_nowait(None))
        try:
            yield Started()
            while event := await said.get():
                yield event
            lines, outcome = await work
        except (ZygoteLost, SandboxBroken) as lost:
            raise RunnerDown(str(lost)) from lost
        finally:
            if self._controls.get(run) is control:  # the same run may be here once more, this one abandoned
                del self._controls[run]
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        if is_large(request, lines):
            yield await self._trace_processes.finish(run, request, lines, outcome, waited_ms)
            return
        loop = asyncio.get_running_loop()
        yield await loop.run_in_executor(self._threads, finish, run, request, lines, outcome, waited_ms)

    async def close(self) -> None:
        await self._pool.close()
        await self._trace_processes.close()
        await asyncio.to_thread(self._threads.shutdown, wait=True)


def machine_bytes() -> int:
    """Memory of this machine; 4 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 * 1024**3


class LiveFilter:
    """Picks what a follower wants to know at once from the lines of a worker."""

    def __init__(self, said: asyncio.Queue[RunEvent | None]) -> None:
        self._said = said
        self._began = time.monotonic()

    def on_event(self, line: bytes) -> None:
        if not line.startswith(_AT_ONCE):
            return
        try:
            event = events.decode(line)
        except events.NoEvent:  # what the line should have said, `assemble` tells
            return
        if isinstance(event, events.Printed):
            self._said.put_nowait(Printed(stream=event.stream, text=event.text))
        elif isinstance(event, events.Progress):
            elapsed_s = round(time.monotonic() - self._began, 2)
            self._said.put_nowait(Progressed(elapsed_s=elapsed_s, line=event.line, ops=event.ops))
