"""The pool: programs in, what they said and how they ended out. Every run is one sandboxed process."""

import asyncio
import contextlib
import math
import os
import socket
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from engine.devices import AUTO, CPU, DeviceKind, first_of_its_kind, kind_of
from engine.limits import PATIENCE
from engine.outcome import Outcome
from engine.request import RunRequest
from engine.sandbox.canary import WRITTEN, Report, Targets, judge
from engine.sandbox.leisure import Leisure
from engine.sandbox.processes import Process, Processes, SandboxBroken, ZygoteLost, settle
from engine.sandbox.supervision import GRACE_S, LATE_S, Supervision
from engine.sandbox.unsandboxed import UnsandboxedProcesses
from engine.sandbox.zygote_client import ZygoteClient
from engine.trace import Isolation, Program, Timings

_WATCH_S = 0.03
_SHORTEST_S = 0.01
AT_LEISURE = max(2, os.cpu_count() or 1)
"""With fewer runs than this the machine has time to make the next process readier than it must be."""
_CANARY_S = 20.0
_LULL_S = 0.05
"""After a run that did not follow another so soon, nobody hurries: the next process is made when this has passed."""


class Control:
    """A hand on one run while it is performed."""

    def __init__(self) -> None:
        self._child: Process | None = None
        self._run: Supervision | None = None
        self._cancelled = False
        self._yields = False

    def cancel(self) -> None:
        """End the run; what it said so far is kept."""
        self._cancelled = True
        if self._run is not None:
            self._run.stop("cancelled")

    def yield_processor(self) -> None:
        """Let it have only the processor time that no other run wants, from its beginning if it has not begun."""
        self._yields = True
        if self._child is not None:
            self._child.yield_processor()

    def take_processor(self) -> None:
        """Let it have its share again."""
        self._yields = False
        if self._child is not None:
            self._child.take_processor()

    def hold(self, child: Process, run: Supervision) -> None:
        """The run has begun in this process."""
        self._child, self._run = child, run
        if self._cancelled:
            run.stop("cancelled")
        if self._yields:
            child.yield_processor()

    def let_go(self) -> None:
        """The run is over; its process number may be another's soon."""
        self._child = self._run = None


class Pool:
    """Runs up to `capacity` programs at once, further ones wait their turn.

    `spares` children wait forked, sandboxed and warm. `outer` names a sandbox the operator put around the service.
    A run on an accelerator may take `device_share` of its memory, and as many go on at once as these shares fit into
    it; once one was asked for, a process waits with it started. Their warm process is another: a driver needs to see
    more of the machine. Where they are not `sandboxed` each run is an ordinary process that may do all its user may,
    its memory not watched: for programs of one's own, and for systems other than Linux.
    """

    def __init__(
        self,
        capacity: int | None = None,
        *,
        spares: int = 2,
        namespaces: bool = True,
        outer: Literal["gvisor"] | None = None,
        sandboxed: bool = sys.platform == "linux",
        device_share: float = 0.4,
    ) -> None:
        self.capacity = capacity or max(2, os.cpu_count() or 1)
        self.devices: tuple[str, ...] = ()
        """Accelerators there are."""
        self.isolation = Isolation(profile="none", layers=())
        """Of runs on the CPU."""
        self._isolations: dict[DeviceKind, Isolation] = {}
        """Of all others, whose warm process has other layers."""
        self._device_share = device_share
        self._spares_wanted = {CPU.name: spares}
        """By device."""
        self._namespaces = namespaces
        self._outer = outer
        self._sandboxed = sandboxed
        self._turns = asyncio.Semaphore(self.capacity)
        self._device_turns: dict[str, asyncio.Semaphore] = {}
        self._spares: dict[str, deque[Process]] = {}
        self._clients: dict[DeviceKind, Processes] = {}
        """By the kind of device their runs get."""
        self._starting = asyncio.Lock()
        self._refilling: asyncio.Task[None] | None = None
        self._performing = 0
        self._leisure = Leisure()
        self._latest_end = -math.inf

    async def start(self) -> None:
        """Warm up and find out, by attacks from inside, which layers hold on this machine."""
        client = await self._live_client(CPU.name)
        try:
            if self._sandboxed:
                self.isolation = await self._test_isolation(client)
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
        device = self._device(request)
        async with self._device_turn(device), self._turns:
            turn = time.perf_counter()
            hurried = turn - self._latest_end < _LULL_S
            self._performing += 1
            try:
                child = await self._take(device)
                try:
                    return await self._supervise(child, request, on_event, control, asked, turn)
                finally:
                    control.let_go()
                    child.kill()
                    # never while the answer is made and the kernel takes the process down; and after a lone run,
                    # whoever reads the answer on this machine has the processors first
                    child.exited.add_done_callback(lambda _: self._refill_in(0 if hurried else _LULL_S))
            finally:
                self._latest_end = time.perf_counter()
                self._performing -= 1

    async def close(self) -> None:
        """End all runs; no process, descriptor or file of the pool stays."""
        self._spares_wanted.clear()
        if self._refilling:
            self._refilling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._refilling
        for client in self._clients.values():
            await client.close()
        self._clients.clear()
        self._spares.clear()

    async def _supervise(
        self,
        child: Process,
        request: RunRequest,
        on_event: Callable[[bytes], None] | None,
        control: Control,
        asked: float,
        turn: float,
    ) -> tuple[list[bytes], Outcome]:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        run = Supervision(request.limits, child.kill, on_event, partial(settle, ended))
        child.exited.add_done_callback(lambda _: settle(ended))
        control.hold(child, run)
        before = child.own_bytes()
        sent = time.perf_counter()
        watches = (
            loop.create_task(_watch_memory(child, run, before)),
            loop.create_task(_watch_time(child, run, request.limits.wall_s)),
        )
        exited = None
        try:
            await child.send(msgspec.json.encode(request), run.on_events, run.on_output)
            await ended
            if run.over:
                child.drain()
            else:
                with contextlib.suppress(ZygoteLost):
                    exited = child.exited.result()
        finally:
            for watch in watches:
                watch.cancel()
        end = time.perf_counter()
        timings = Timings(
            total_ms=(end - asked) * 1000,
            queued_ms=(turn - asked) * 1000,
            start_ms=(sent - turn) * 1000,
            run_ms=(end - sent) * 1000,
        )
        isolation = self._isolations.get(kind_of(self._device(request)), self.isolation)
        return run.lines, run.outcome(exited, timings, isolation)

    def _device(self, request: RunRequest) -> str:
        """The device a child is made ready for; one that is not there is the worker's to explain."""
        if request.program.device == AUTO or not self.devices:
            return next(iter(self.devices), CPU.name)
        return first_of_its_kind(request.program.device)

    async def _take(self, device: str) -> Process:
        """A child that waits for its request. A second one when the first is lost before it had one."""
        try:
            return await self._ready_child(device)
        except (ZygoteLost, SandboxBroken):
            return await self._ready_child(device)

    def _device_turn(self, device: str) -> contextlib.AbstractAsyncContextManager[None]:
        """A place on an accelerator: waited for before one in the pool, so that no run on the CPU waits for it."""
        if kind_of(device) is CPU:
            return contextlib.nullcontext()
        self._spares_wanted.setdefault(device, 1)
        return self._device_turns.setdefault(device, asyncio.Semaphore(max(1, int(1 / self._device_share))))

    async def _ready_child(self, device: str) -> Process:
        child = self._spare(device)
        if child is None:
            child = await (await self._live_client(device)).spawn(device)
        if not self._spares.get(device):  # else the next one can wait until this run is over and leaves the processor
            self._refill()
        try:
            await asyncio.shield(child.closed)
        except BaseException:
            child.kill()
            raise
        return child

    def _spare(self, device: str) -> Process | None:
        spares = self._spares.setdefault(device, deque())
        while spares:
            child = spares.popleft()
            if not child.exited.done():
                return child
        return None

    async def _live_client(self, device: str) -> Processes:
        """The zygote for a device, started anew when it was lost."""
        kind = kind_of(device)
        async with self._starting:
            client = self._clients.get(kind)
            if client and client.lost:
                await self._clients.pop(kind).close()
                client = None
            if not client:
                client = self._clients[kind] = await self._start_client(kind)
                self.devices = self.devices or client.ready.result().devices
                if self._sandboxed and kind is not CPU:
                    self._isolations[kind] = await self._test_isolation(client, device)
            return client

    async def _start_client(self, kind: DeviceKind) -> Processes:
        if not self._sandboxed:
            return UnsandboxedProcesses()
        # a run that is over still has its place while the kernel takes its memory back, and one is being cleaned up
        slots = 2 * self.capacity + sum(self._spares_wanted.values()) + 1
        try:
            return await ZygoteClient.start(
                slots, namespaces=self._namespaces, kind=kind, device_share=self._device_share
            )
        except (OSError, TimeoutError) as trouble:  # no process, folder or memory to be had
            raise ZygoteLost(f"the warm process could not be started: {type(trouble).__name__}: {trouble}") from trouble

    def _refill_in(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._refill)

    def _refill(self) -> None:
        if self._refilling is None or self._refilling.done():
            prefault = self._performing < AT_LEISURE and self._leisure.has_time()
            self._refilling = asyncio.get_running_loop().create_task(self._fill_spares(prefault))

    async def _fill_spares(self, prefault: bool) -> None:
        with contextlib.suppress(
            ZygoteLost, SandboxBroken, OSError, TimeoutError
        ):  # the next run tries again, and tells
            for device, wanted in list(self._spares_wanted.items()):
                spares = self._spares.setdefault(device, deque())
                while len(spares) < wanted:
                    client = await self._live_client(device)
                    spares.append(await client.spawn(device, prefault=prefault))

    async def _test_isolation(self, client: Processes, device: str = CPU.name) -> Isolation:
        with _targets(client.ready.result().canary) as targets:
            child = await client.spawn(device, canary=targets)
            try:
                await child.closed
                run = Supervision(_CANARY_REQUEST.limits, child.kill, None)
                await child.send(msgspec.json.encode(_CANARY_REQUEST), run.on_events, run.on_output)
                await asyncio.wait_for(asyncio.shield(child.exited), _CANARY_S)
            finally:
                child.kill()
            wrote_outside = Path(targets.secret + WRITTEN).exists()
        report = msgspec.json.decode(run.lines[0], type=Report)
        layers = client.ready.result().layers
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


async def _watch_time(child: Process, run: Supervision, wall_s: float) -> None:
    """What counts is the time a run had: processor time and what it slept by itself, not what it waited for a
    processor that others held."""
    began, before = time.monotonic(), child.waited_s()
    waited = 0.0
    while True:
        passed = time.monotonic() - began
        waited = max(waited, child.waited_s() - before)  # which nobody may be able to say for a moment
        had = passed - waited
        left = min(wall_s - had, PATIENCE * wall_s - passed)
        if left <= 0:
            break
        await asyncio.sleep(max(left, _SHORTEST_S))
    run.is_late = True
    run.stop("wall", after_s=GRACE_S)
    child.tell("SIGVTALRM")  # its recorder says where it was
    await asyncio.sleep(LATE_S)
    child.tell("SIGALRM")  # native code lets no thread have its turn


async def _watch_memory(child: Process, run: Supervision, before: int) -> None:
    while True:
        await asyncio.sleep(_WATCH_S)
        run.on_memory(child.own_bytes() - before)
