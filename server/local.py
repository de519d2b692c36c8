"""The runner of one machine: the pool of sandboxed workers, with assembling and compressing on threads."""

import asyncio
import base64
import binascii
import gzip
import logging
import math
import os
import time
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from engine import events
from engine.assemble import assemble
from engine.ending import stacks
from engine.outcome import Outcome
from engine.request import RunRequest
from engine.sandbox.nursery import SandboxBroken, ZygoteLost
from engine.sandbox.pool import Control, Pool
from engine.trace import Isolation, Trace
from server import npy
from server.runner import Finished, Printed, Progressed, RunEvent, RunnerDown, Started
from server.store import Stored, etag

log = logging.getLogger("gradgraph.runs")

LARGE_BYTES = 256 * 1024
"""Traces above this size are compressed less hard."""
STORED_STATUS = ("ok", "failed")
"""A run that a limit stopped, that crashed or was lost may end otherwise the next time."""

_AT_ONCE = (b'["out"', b'["at"')
"""What a follower wants to know before the run is over."""


class LocalRunner:
    """Runs programs in a `Pool` on this machine."""

    def __init__(self, workers: int, slow_workers: int, memory_bytes: int) -> None:
        """`workers` 0 takes one for each processor core; `slow_workers` are fewer where their memory would not do."""
        self._workers = workers or max(2, os.cpu_count() or 1)
        self._slow_workers = min(slow_workers, max(0, machine_bytes() // memory_bytes - self._workers))
        self._pool = Pool(self._workers + self._slow_workers)
        self._controls: dict[str, Control] = {}
        self._started = False
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="assemble")

    async def start(self) -> None:
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

    @property
    def isolation(self) -> Isolation | None:
        return self._pool.isolation if self._started else None

    @property
    def devices(self) -> tuple[str, ...]:
        return ("cpu", *(f"cuda:{index}" for index in range(self._pool.cuda_devices)))

    async def submit(self, run: str, request: RunRequest, waited_ms: float) -> AsyncGenerator[RunEvent, None]:
        said: asyncio.Queue[RunEvent | None] = asyncio.Queue()
        control = self._controls[run] = Control()
        work = asyncio.create_task(self._pool.run(request, _Ear(said).hear, control))
        work.add_done_callback(lambda _: said.put_nowait(None))
        try:
            yield Started()
            while event := await said.get():
                yield event
            lines, outcome = await work
        except (ZygoteLost, SandboxBroken) as lost:
            raise RunnerDown(str(lost)) from lost
        finally:
            self._controls.pop(run, None)
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        loop = asyncio.get_running_loop()
        yield await loop.run_in_executor(self._threads, _finish, run, request, lines, outcome, waited_ms)

    async def close(self) -> None:
        await self._pool.close()
        await asyncio.to_thread(self._threads.shutdown, wait=True)


def machine_bytes() -> int:
    """Memory of this machine; 4 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 * 1024**3


class _Ear:
    """Picks what a follower wants to know at once from the lines of a worker."""

    def __init__(self, said: asyncio.Queue[RunEvent | None]) -> None:
        self._said = said
        self._began = time.monotonic()

    def hear(self, line: bytes) -> None:
        if not line.startswith(_AT_ONCE):
            return
        try:
            event = events.decode(line)
        except msgspec.DecodeError:  # what the line should have said, `assemble` tells
            return
        if isinstance(event, events.Printed):
            self._said.put_nowait(Printed(stream=event.stream, text=event.text))
        elif isinstance(event, events.Going):
            elapsed_s = round(time.monotonic() - self._began, 2)
            self._said.put_nowait(Progressed(elapsed_s=elapsed_s, line=event.line, ops=event.ops))


def _finish(run: str, request: RunRequest, lines: Sequence[bytes], outcome: Outcome, waited_ms: float) -> Finished:
    """The trace of a run as it is kept and sent."""
    began = time.perf_counter()
    trace = assemble(run, request, lines, outcome)
    trace = _timed(trace, waited_ms, (time.perf_counter() - began) * 1000)
    if trace.failure and trace.failure.limit == "wall_s" and not trace.failure.span:
        log.warning("run %s ran out of time outside the program: %s", run, "; ".join(stacks(outcome.stderr_tail)))
    body = msgspec.json.encode(trace)
    return Finished(
        status=trace.status,
        lost=trace.failure is not None and trace.failure.kind == "lost" and outcome.stopped_by != "cancelled",
        stored=Stored(
            body=gzip.compress(body, 6 if len(body) < LARGE_BYTES else 3, mtime=0),
            etag=etag(body),
            tensors=_files(trace, lines),
            kept=trace.status in STORED_STATUS,
        ),
    )


def _timed(trace: Trace, waited_ms: float, assemble_ms: float) -> Trace:
    timings = msgspec.structs.replace(
        trace.timings,
        total_ms=trace.timings.total_ms + waited_ms + assemble_ms,
        queued_ms=trace.timings.queued_ms + waited_ms,
        assemble_ms=assemble_ms,
    )
    return msgspec.structs.replace(trace, timings=timings)


def _files(trace: Trace, lines: Sequence[bytes]) -> dict[str, bytes]:
    """The larger tensors whose elements were kept, as compressed .npy files; a blob that fits no tensor is dropped."""
    shapes = {tensor.id: tensor.shape for tensor in trace.tensors if tensor.stored}
    files = {}
    for blob in map(_blob, reversed(lines)):  # they are the last words
        if blob is None or not shapes:
            break
        if shapes.pop(f"t{blob.tensor}", None) == blob.shape and (file := _file(blob)):
            files[f"t{blob.tensor}"] = gzip.compress(file, 3, mtime=0)
    return files


def _blob(line: bytes) -> events.BlobSaid | None:
    try:
        event = events.decode(line)
    except msgspec.DecodeError:
        return None
    return event if isinstance(event, events.BlobSaid) else None


def _file(blob: events.BlobSaid) -> bytes | None:
    layout = npy.layout(blob.dtype)
    try:
        data = base64.b64decode(blob.data)
    except binascii.Error:
        return None
    if layout is None or len(data) != math.prod(blob.shape) * layout.size_bytes:
        return None
    return npy.write(data, blob.shape, layout)
