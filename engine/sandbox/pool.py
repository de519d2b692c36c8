"""The pool: programs in, what they said and how they ended out. Every run is one sandboxed process."""

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from engine.outcome import Outcome
from engine.request import RunRequest
from engine.sandbox.canary import WRITTEN, Report, Targets, judge
from engine.sandbox.nursery import Child, Nursery, SandboxBroken, ZygoteLost
from engine.sandbox.plain import PlainChild, PlainNursery
from engine.sandbox.supervision import GRACE_S, LATE_S, Supervision
from engine.trace import Isolation, Program, Timings

_WATCH_S = 0.03
_CANARY_S = 20.0


class Control:
    """A hand on one run while it is performed."""

    def __init__(self) -> None:
        self._child: Child | PlainChild | None = None
        self._run: Supervision | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """End the run; what it said so far is kept."""
        self._cancelled = True
        if self._run is not None:
            self._run.stop("cancelled")

    def yield_processor(self) -> None:
        """Let it have only the processor time that no other run wants."""
        if self._child is not None:
            self._child.yield_processor()

    def hold(self, child: Child | PlainChild, run: Supervision) -> None:
        """The run has begun in this process."""
        self._child, self._run = child, run
        if self._cancelled:
            run.stop("cancelled")

    def let_go(self) -> None:
        """The run is over; its process number may be another's soon."""
        self._child = self._run = None


class Pool:
    """Runs up to `capacity` programs at once, further ones wait their turn.

    `spares` children wait forked, sandboxed and warm. `outer` names a sandbox the operator put around the service.
    Without a `zygote` each run is an ordinary process, not isolated: for systems other than Linux.
    """

    def __init__(
        self,
        capacity: int | None = None,
        *,
        spares: int = 2,
        namespaces: bool = True,
        outer: Literal["gvisor"] | None = None,
        zygote: bool = sys.platform == "linux",
    ) -> None:
        self.capacity = capacity or max(2, os.cpu_count() or 1)
        self.cuda_devices = 0
        self.isolation = Isolation(profile="none", layers=())
        self._spares_wanted = spares
        self._namespaces = namespaces
        self._outer = outer
        self._zygote = zygote
        self._turns = asyncio.Semaphore(self.capacity)
        self._spares: deque[Child | PlainChild] = deque()
        self._nursery: Nursery | PlainNursery | None = None
        self._starting = asyncio.Lock()
        self._refilling: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Warm up and find out, by attacks from inside, which layers hold on this machine."""
        nursery = await self._live_nursery()
        try:
            if isinstance(nursery, Nursery):
                self.isolation = await self._test_isolation(nursery)
        except BaseException:
            await self.close()
            raise
        self._refill()

    async def run(
        self, request: RunRequest, on_event: Callable[[bytes], None] | None = None, control: Control | None = None
    ) -> tuple[list[bytes], Outcome]:
        """The lines a program's worker said and the facts of its end. Cancelling the caller kills the run."""
        control = control or Control()
        asked = time.perf_counter()
        async with self._turns:
            turn = time.perf_counter()
            child = await self._take(self._device(request))
            try:
                return await self._supervise(child, request, on_event, control, asked, turn)
            finally:
                control.let_go()
                child.kill()

    async def close(self) -> None:
        """End all runs; no process, descriptor or file of the pool stays."""
        if self._refilling:
            self._refilling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._refilling
        if self._nursery:
            await self._nursery.close()
            self._nursery = None
        self._spares.clear()

    async def _supervise(
        self,
        child: Child | PlainChild,
        request: RunRequest,
        on_event: Callable[[bytes], None] | None,
        control: Control,
        asked: float,
        turn: float,
    ) -> tuple[list[bytes], Outcome]:
        loop = asyncio.get_running_loop()
        run = Supervision(request.limits, child.kill, on_event)
        control.hold(child, run)
        before = child.own_bytes()
        sent = time.perf_counter()
        deadline = loop.call_later(request.limits.wall_s + LATE_S, _hurry, run, child)
        watch = loop.create_task(_watch_memory(child, run, before))
        exited = None
        try:
            await child.send(msgspec.json.encode(request), run.hear, run.see_output)
            with contextlib.suppress(ZygoteLost):
                exited = await asyncio.shield(child.exited)
        finally:
            deadline.cancel()
            watch.cancel()
        ended = time.perf_counter()
        timings = Timings(
            total_ms=(ended - asked) * 1000,
            queued_ms=(turn - asked) * 1000,
            start_ms=(sent - turn) * 1000,
            run_ms=(ended - sent) * 1000,
        )
        return run.lines, run.outcome(exited, timings, self.isolation)

    def _device(self, request: RunRequest) -> str:
        """The device a child is made ready for; one that is not there is the worker's to explain."""
        device = request.program.device
        if device == "auto" or not self.cuda_devices:
            return "cuda:0" if self.cuda_devices else "cpu"
        return "cuda:0" if device == "cuda" else device

    async def _take(self, device: str) -> Child | PlainChild:
        """A child that waits for its request. A second one when the first is lost before it had one."""
        try:
            return await self._ready_child(device)
        except (ZygoteLost, SandboxBroken):
            return await self._ready_child(device)

    async def _ready_child(self, device: str) -> Child | PlainChild:
        child = self._spare() if device == "cpu" else None
        if child is None:
            child = await (await self._live_nursery()).spawn(device)
        self._refill()
        try:
            await asyncio.shield(child.closed)
        except BaseException:
            child.kill()
            raise
        return child

    def _spare(self) -> Child | PlainChild | None:
        while self._spares:
            child = self._spares.popleft()
            if not child.exited.done():
                return child
        return None

    async def _live_nursery(self) -> Nursery | PlainNursery:
        """The zygote, started anew when it was lost."""
        async with self._starting:
            if self._nursery and self._nursery.lost:
                await self._nursery.close()
                self._nursery = None
            if not self._nursery:
                self._nursery = await self._start_nursery()
                self.cuda_devices = self._nursery.ready.result().cuda_devices
            return self._nursery

    async def _start_nursery(self) -> Nursery | PlainNursery:
        if not self._zygote:
            return PlainNursery()
        slots = self.capacity + self._spares_wanted + 1  # one more while the last one is cleaned up
        try:
            return await Nursery.start(slots, namespaces=self._namespaces)
        except (OSError, TimeoutError) as trouble:  # no process, folder or memory to be had
            raise ZygoteLost(f"the warm process could not be started: {type(trouble).__name__}: {trouble}") from trouble

    def _refill(self) -> None:
        if self._refilling is None or self._refilling.done():
            self._refilling = asyncio.get_running_loop().create_task(self._fill_spares())

    async def _fill_spares(self) -> None:
        with contextlib.suppress(ZygoteLost, SandboxBroken, OSError, TimeoutError):  # the next run tries again, and tells
            nursery = await self._live_nursery()
            while len(self._spares) < self._spares_wanted:
                self._spares.append(await nursery.spawn())

    async def _test_isolation(self, nursery: Nursery) -> Isolation:
        with _targets(nursery.ready.result().canary) as targets:
            child = await nursery.spawn(canary=targets)
            try:
                await child.closed
                run = Supervision(_CANARY_REQUEST.limits, child.kill, None)
                await child.send(msgspec.json.encode(_CANARY_REQUEST), run.hear, run.see_output)
                await asyncio.wait_for(asyncio.shield(child.exited), _CANARY_S)
            finally:
                child.kill()
            wrote_outside = Path(targets.secret + WRITTEN).exists()
        report = msgspec.json.decode(run.lines[0], type=Report)
        layers = nursery.ready.result().layers
        return judge(report, layers, wrote_outside=wrote_outside, outer=self._outer)


_CANARY_REQUEST = RunRequest(program=Program(code=""))


@contextlib.contextmanager
def _targets(readable: str) -> Iterator[Targets]:
    """A secret file and a listening port for as long as the attacks last."""
    with tempfile.NamedTemporaryFile(prefix="gradgraph-") as secret, socket.create_server(("127.0.0.1", 0)) as server:
        Path(secret.name).chmod(0o644)
        try:
            yield Targets(readable=readable, secret=secret.name, port=server.getsockname()[1], server=os.getpid())
        finally:
            Path(secret.name + WRITTEN).unlink(missing_ok=True)


def _hurry(run: Supervision, child: Child | PlainChild) -> None:
    """It should have stopped itself: one that is stopped by a signal is let go on, to say where it was."""
    child.wake()
    run.stop("wall", after_s=GRACE_S - LATE_S)


async def _watch_memory(child: Child | PlainChild, run: Supervision, before: int) -> None:
    while True:
        await asyncio.sleep(_WATCH_S)
        run.see_memory(child.own_bytes() - before)
