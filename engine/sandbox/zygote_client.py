"""The server's side of the zygote: start it, ask it for children, hear of their ends. Never imports torch."""

import asyncio
import contextlib
import itertools
import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol, Self

from engine.devices import CPU, DeviceKind
from engine.sandbox.canary import Targets
from engine.sandbox.messages import Config, Exited, FromZygote, Ready, Spawn, Spawned, decode_from_zygote, encode
from engine.sandbox.processes import (
    ENGINE_PARENT,
    ENVIRONMENT,
    SandboxBroken,
    ZygoteLost,
    retrieve,
    settle,
    threads_of,
    waited_s,
)

START_S = 120.0
_PACKET = 64 * 1024
_PIPE_BYTES = 1024 * 1024
_READ_BYTES = 1024 * 1024
_POLL_S = 0.002
_DESCRIPTORS = 4


class Child:
    """One forked process."""

    def __init__(self, pid: int, descriptors: Sequence[int]) -> None:
        loop = asyncio.get_running_loop()
        self.pid = pid
        self.closed: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[Exited] = loop.create_future()
        self.exited.add_done_callback(retrieve)
        self.closed.add_done_callback(retrieve)
        self._request, self._events, self._output, self._pidfd = descriptors
        self._on_events: Callable[[bytes], None] = self._note_closed
        self._on_output: Callable[[bytes], None] = self._note_complaint
        self._complaint = b""
        import fcntl  # not on every system that imports this module

        with contextlib.suppress(OSError):  # more than the machine allows one user: 64 KiB do as well
            fcntl.fcntl(self._events, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        for pipe in (self._request, self._events, self._output):
            os.set_blocking(pipe, False)
        loop.add_reader(self._events, self._read_events)
        loop.add_reader(self._output, self._read_output)

    async def send(
        self, request: bytes, on_events: Callable[[bytes], None], on_output: Callable[[bytes], None]
    ) -> None:
        self._on_events, self._on_output = on_events, on_output
        loop = asyncio.get_running_loop()
        rest = memoryview(request)
        try:
            while rest and (descriptor := self._request) >= 0:  # closed when it has died already; `exited` tells how
                try:
                    rest = rest[os.write(descriptor, rest) :]
                except BlockingIOError:
                    writable = loop.create_future()
                    loop.add_writer(descriptor, settle, writable)
                    await asyncio.wait((writable, self.exited), return_when=asyncio.FIRST_COMPLETED)
                    loop.remove_writer(descriptor)
        except BrokenPipeError:
            pass  # it died; `exited` tells how
        self._close("_request")

    def kill(self) -> None:
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def tell(self, name: str) -> None:
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, getattr(signal, name))
                signal.pidfd_send_signal(self._pidfd, signal.SIGCONT)

    def waited_s(self) -> float:
        return waited_s(self.pid)

    def yield_processor(self) -> None:
        self._schedule(os.SCHED_IDLE, 19)

    def take_processor(self) -> None:
        self._schedule(os.SCHED_OTHER, 0)

    def _schedule(self, policy: int, nice: int) -> None:
        for thread in threads_of(self.pid):  # those it starts later do as these
            with contextlib.suppress(OSError):
                os.sched_setscheduler(thread, policy, os.sched_param(0))
        with contextlib.suppress(OSError):  # where the kernel weighs sessions and not processes
            Path(f"/proc/{self.pid}/autogroup").write_text(str(nice))

    def own_bytes(self) -> int:
        try:
            file = os.open(f"/proc/{self.pid}/statm", os.O_RDONLY)
        except OSError:
            return 0
        try:
            statm = os.read(file, 128).split()
        except OSError:
            return 0
        finally:
            os.close(file)
        return (int(statm[1]) - int(statm[2])) * mmap.PAGESIZE

    def drain(self) -> None:
        for _ in range(_PIPE_BYTES // _READ_BYTES + 2):
            self._read_events()
            self._read_output()

    def end(self, exited: Exited | None) -> None:
        """The zygote says it is gone, or is gone itself: hear what is left in the pipes, give everything back."""
        self.drain()
        for descriptor in ("_request", "_events", "_output", "_pidfd"):
            self._close(descriptor)
        if not self.closed.done():
            self.closed.set_exception(SandboxBroken(self._complaint.decode(errors="replace")))
        if exited:
            self.exited.set_result(exited)
        else:
            self.exited.set_exception(ZygoteLost())

    def _read_events(self) -> None:
        if self._events >= 0 and not _read(self._events, self._on_events):
            self._close("_events")

    def _read_output(self) -> None:
        if self._output >= 0 and not _read(self._output, self._on_output):
            self._close("_output")

    def _note_closed(self, data: bytes) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    def _note_complaint(self, data: bytes) -> None:
        self._complaint += data

    def _close(self, name: Literal["_request", "_events", "_output", "_pidfd"]) -> None:
        descriptor = getattr(self, name)
        if descriptor >= 0:
            asyncio.get_running_loop().remove_reader(descriptor)
            os.close(descriptor)
            setattr(self, name, -1)


class Begun(Protocol):
    """A process that was begun."""

    def kill(self) -> None: ...

    def poll(self) -> int | None:
        """None as long as it lives."""


def begin(config: Config, control: socket.socket) -> Begun:
    """Begins a zygote, which will be heard on the socket once it is warm."""
    return subprocess.Popen(
        [sys.executable, "-m", "engine.sandbox.zygote", encode(config).decode()],
        stdin=control.fileno(),
        stdout=subprocess.DEVNULL,
        env=ENVIRONMENT,
        cwd="/",
        start_new_session=True,
    )


class ZygoteClient:
    """A running zygote. When it is lost, so are its children, and `spawn` raises `ZygoteLost`."""

    def __init__(self, process: Begun, control: socket.socket, staging: Path) -> None:
        self.ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
        self.ready.add_done_callback(retrieve)
        self.lost = False
        self._process = process
        self._control = control
        self._staging = staging
        self._numbers = itertools.count(1)
        self._expected: dict[int, asyncio.Future[Child]] = {}
        self._children: dict[int, Child] = {}
        self._empty = asyncio.Event()
        asyncio.get_running_loop().add_reader(control, self._receive)

    @classmethod
    async def start(cls, slots: int, *, namespaces: bool, kind: DeviceKind = CPU, device_share: float = 1.0) -> Self:
        """A warm zygote, after the seconds that PyTorch takes to import."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        staging = Path(tempfile.mkdtemp(prefix="gradgraph-"))
        config = Config(
            staging=str(staging),
            slots=slots,
            import_path=ENGINE_PARENT,
            namespaces=namespaces,
            kind=kind.name,
            device_share=device_share,
        )
        with theirs:
            process = begin(config, theirs)
        client = cls(process, ours, staging)
        try:
            ready = await asyncio.wait_for(asyncio.shield(client.ready), START_S)
        except BaseException:
            await client.close()
            raise
        if "mount" in ready.layers:  # the private root has taken its place
            staging.rmdir()
        return client

    async def spawn(self, device: str = "cpu", canary: Targets | None = None, *, prefault: bool = False) -> Child:
        """A new child; it closes its sandbox while the caller goes on, and then prefaults if there is time."""
        if self.lost:
            raise ZygoteLost
        number = next(self._numbers)
        expected: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._expected[number] = expected
        try:
            self._control.send(encode(Spawn(id=number, device=device, prefault=prefault, canary=canary)))
        except OSError as gone:
            self._lose()
            raise ZygoteLost from gone
        try:
            return await expected
        except asyncio.CancelledError:  # perhaps just when the child had come: nobody else knows of it
            if expected.done() and not expected.cancelled() and expected.exception() is None:
                expected.result().kill()
            raise

    async def close(self) -> None:
        """End the zygote and all children; nothing of them stays."""
        for child in self._children.values():
            child.kill()
        with contextlib.suppress(TimeoutError):  # the zygote removes what runs left in their folders
            await asyncio.wait_for(self._wait_until_empty(), 5)
        self._lose()
        self._process.kill()
        await _end_of(self._process)
        if self._staging.exists():  # by `rm`: programs can make trees too deep for `shutil.rmtree`
            await _end_of(subprocess.Popen(["/bin/rm", "-rf", "--", str(self._staging)]))

    async def _wait_until_empty(self) -> None:
        while self._children and not self.lost:
            self._empty.clear()
            await self._empty.wait()

    def _receive(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                try:
                    packet, descriptors, _, _ = socket.recv_fds(self._control, _PACKET, _DESCRIPTORS)
                except ConnectionError:
                    packet, descriptors = b"", []
                if not packet:
                    self._lose()
                    return
                self._take(decode_from_zygote(packet), descriptors)

    def _take(self, message: FromZygote, descriptors: list[int]) -> None:
        match message:
            case Ready():
                self.ready.set_result(message)
            case Spawned() if len(descriptors) < _DESCRIPTORS:
                # this process has none left; the child finds nobody at the other end and ends by itself
                for descriptor in descriptors:
                    os.close(descriptor)
                expected = self._expected.pop(message.id)
                if not expected.cancelled():
                    expected.set_exception(SandboxBroken("the server has too many files open"))
            case Spawned():
                child = Child(message.pid, descriptors)
                self._children[message.id] = child
                expected = self._expected.pop(message.id)
                if expected.cancelled():
                    child.kill()
                else:
                    expected.set_result(child)
            case Exited():
                if message.id in self._children:
                    self._children.pop(message.id).end(message)
                self._empty.set()

    def _lose(self) -> None:
        if self.lost:
            return
        self.lost = True
        asyncio.get_running_loop().remove_reader(self._control)
        self._control.close()
        if not self.ready.done():
            self.ready.set_exception(ZygoteLost("the warm process ended while it started; its stderr says why"))
        for expected in self._expected.values():
            if not expected.done():
                expected.set_exception(ZygoteLost())
        for child in self._children.values():
            child.kill()
            child.end(None)
        self._children.clear()
        self._empty.set()


def _read(descriptor: int, take: Callable[[bytes], None]) -> bool:
    """Hand over what there is now; False at the end of the pipe."""
    try:
        data = os.read(descriptor, _READ_BYTES)
    except BlockingIOError:
        return True
    if data:
        take(data)
    return bool(data)


async def _end_of(process: Begun) -> None:
    """By polling: no thread may be started to wait when Python is ending."""
    while process.poll() is None:
        await asyncio.sleep(_POLL_S)
