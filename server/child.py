"""A process of the service that does one kind of work for it: jobs on its stdin, what came of them on its stdout, each
a length and a message."""

import asyncio
import contextlib
import os
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from server.process import hide_memory

_LENGTH = struct.Struct("!Q")
_ROOT = str(Path(__file__).resolve().parents[1])


class ChildLost(Exception):
    """It ended before it answered: with this status, or by minus the signal of this number."""

    def __init__(self, status: int) -> None:
        super().__init__(f"a process that works for the service ended with status {status}")
        self.status = status


class Child:
    """One of them, from the side of the service. It does one job at a time."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """Its process, if there is one."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def start(self) -> None:
        """Have it ready."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", self._module, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            cwd=_ROOT, start_new_session=True,
        )  # fmt: skip

    async def ask(self, job: bytes) -> bytes:
        """What comes of a job; one that nobody waits for any more ends with its process. Raises ChildLost."""
        if self.pid is None:
            await self.start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        is_answered = False
        try:
            process.stdin.writelines((_LENGTH.pack(len(job)), job))
            await process.stdin.drain()
            (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
            answer = await process.stdout.readexactly(length)
            is_answered = True
        except (OSError, asyncio.IncompleteReadError):
            raise ChildLost(await process.wait()) from None  # to kill what has ended would lose its status
        finally:
            if not is_answered:
                await self.end()
        return answer

    async def end(self) -> None:
        """End it, if there is one; the next job finds another."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            ended = asyncio.ensure_future(process.wait())
            try:
                await asyncio.shield(ended)
            finally:
                await ended  # at once: who is not to wait any more leaves no process behind either


def jobs() -> Iterator[tuple[bytes, Callable[[bytes], None]]]:
    """On its own side: each job with what takes the answer, until the service hangs up."""
    hide_memory()
    given, made = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer

    def answer(body: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            made.write(_LENGTH.pack(len(body)))
            made.write(body)
            made.flush()

    while len(head := given.read(_LENGTH.size)) == _LENGTH.size:
        yield given.read(_LENGTH.unpack(head)[0]), answer
