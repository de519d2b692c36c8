"""Children without a zygote: an ordinary process each, hardly any isolation.

For one's own programs on one's own machine. The process imports PyTorch before it takes its request: a spare is warm.
"""

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable

from engine.sandbox.canary import Targets
from engine.sandbox.messages import Exited, Ready
from engine.sandbox.processes import ENVIRONMENT, SandboxBroken, retrieve, waited_s

_READ_BYTES = 64 * 1024
_INHERITED = ("PATH", "SYSTEMROOT", "DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH")


class UnsandboxedChild:
    """One ordinary process."""

    def __init__(self, process: asyncio.subprocess.Process, folder: tempfile.TemporaryDirectory[str]) -> None:
        loop = asyncio.get_running_loop()
        self.pid = process.pid
        self.closed: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[Exited] = loop.create_future()
        self.closed.add_done_callback(retrieve)
        self.exited.add_done_callback(retrieve)
        self._process = process
        self._folder = folder
        self._complaint = b""
        self._on_events: Callable[[bytes], None] = self._note_closed
        self._on_output: Callable[[bytes], None] = self._note_complaint
        self.life = loop.create_task(self._live())

    async def send(
        self, request: bytes, on_events: Callable[[bytes], None], on_output: Callable[[bytes], None]
    ) -> None:
        self._on_events, self._on_output = on_events, on_output
        assert self._process.stdin
        with contextlib.suppress(ConnectionError):  # it died; `exited` tells how
            self._process.stdin.write(request)
            await self._process.stdin.drain()
        self._process.stdin.close()

    def kill(self) -> None:
        """End it, and on POSIX what it started."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                if sys.platform == "win32":
                    self._process.kill()
                else:
                    os.killpg(self.pid, signal.SIGKILL)

    def drain(self) -> None:
        """Nothing: it is read as it comes."""

    def tell(self, name: str) -> None:
        if sys.platform != "win32" and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, getattr(signal, name))
                os.kill(self.pid, signal.SIGCONT)

    def waited_s(self) -> float:
        return waited_s(self.pid)

    def yield_processor(self) -> None:
        self._prefer(19)

    def take_processor(self) -> None:
        self._prefer(0)

    def _prefer(self, nice: int) -> None:
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self.pid, nice)

    @staticmethod
    def own_bytes() -> int:
        """Not known on every system; memory is not watched."""
        return 0

    async def _live(self) -> None:
        assert self._process.stdout and self._process.stderr
        await asyncio.gather(
            _pass_on(self._process.stdout, self._pass_event),
            _pass_on(self._process.stderr, self._pass_output),
        )
        code = await self._process.wait()
        self._folder.cleanup()
        if not self.closed.done():
            self.closed.set_exception(SandboxBroken(self._complaint.decode(errors="replace")))
        status = code << 8 if code >= 0 else -code
        self.exited.set_result(Exited(id=self.pid, status=status, cpu_s=0))

    def _pass_event(self, data: bytes) -> None:
        self._on_events(data)

    def _pass_output(self, data: bytes) -> None:
        self._on_output(data)

    def _note_closed(self, _: bytes) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    def _note_complaint(self, data: bytes) -> None:
        self._complaint += data


class UnsandboxedProcesses:
    """Starts them."""

    lost = False

    def __init__(self) -> None:
        self.ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
        self.ready.set_result(Ready(layers=(), canary=""))
        self._children: list[UnsandboxedChild] = []

    async def spawn(
        self, device: str = "cpu", canary: Targets | None = None, *, prefault: bool = False
    ) -> UnsandboxedChild:
        """A new child; it imports PyTorch while the caller goes on."""
        assert canary is None, "there is no isolation to test"
        self._children = [child for child in self._children if not child.exited.done()]
        folder = tempfile.TemporaryDirectory(prefix="gradgraph-", ignore_cleanup_errors=True)
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "engine.sandbox.unsandboxed_child",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=ENVIRONMENT | inherited | {"HOME": folder.name, "TMPDIR": folder.name, "TEMP": folder.name},
            cwd=folder.name, start_new_session=sys.platform != "win32",
        )  # fmt: skip
        child = UnsandboxedChild(process, folder)
        self._children.append(child)
        return child

    async def close(self) -> None:
        """End all children."""
        for child in self._children:
            child.kill()
        await asyncio.gather(*(child.life for child in self._children))


async def _pass_on(stream: asyncio.StreamReader, take: Callable[[bytes], None]) -> None:
    while data := await stream.read(_READ_BYTES):
        take(data)
