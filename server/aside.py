"""Traces of large runs are made in a process of their own, so that the server goes on answering meanwhile.

Python parses and assembles with its lock held: half a second of that would be half a second for everybody.
`python -m server.aside` takes jobs on stdin and gives what it made on stdout, each a length and a message.
"""

import asyncio
import contextlib
import logging
import os
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from engine.outcome import Outcome
from engine.request import RunRequest
from engine.trace import Record
from server.finish import finish
from server.runner import Finished, RunnerDown
from server.store import Stored

_LENGTH = struct.Struct("!Q")
_LINES_BYTES = 128 * 1024
_CODE_CHARACTERS = 8_000
_NICE = 10
_ROOT = str(Path(__file__).resolve().parents[1])


class Job(Record, frozen=True):
    """A run that is over. Its parts are JSON: what a program may choose in them stays as it was said."""

    run: str
    request: bytes
    lines: bytes
    outcome: bytes
    waited_ms: float


class Made(Record, frozen=True):
    """Its trace."""

    status: str
    lost: bool
    body: bytes
    etag: str
    tensors: dict[str, bytes]
    kept: bool


def is_large(request: RunRequest, lines: Sequence[bytes]) -> bool:
    """Whether to make the trace here would keep others waiting."""
    return len(request.program.code) > _CODE_CHARACTERS or sum(map(len, lines)) > _LINES_BYTES


class Aside:
    """The process, from the server's side; one job at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Have it ready."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "server.aside", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            cwd=_ROOT, start_new_session=True,
        )  # fmt: skip

    async def finish(
        self, run: str, request: RunRequest, lines: Sequence[bytes], outcome: Outcome, waited_ms: float
    ) -> Finished:
        """The trace of a run. Raises RunnerDown when the process is lost, which another will replace."""
        job = Job(run, msgspec.json.encode(request), b"\n".join(lines), msgspec.json.encode(outcome), waited_ms)
        made = await asyncio.shield(asyncio.ensure_future(self._make(msgspec.msgpack.encode(job))))
        stored = Stored(body=made.body, etag=made.etag, tensors=made.tensors, kept=made.kept)
        return Finished(status=made.status, lost=made.lost, stored=stored)

    async def close(self) -> None:
        """End it."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _make(self, job: bytes) -> Made:
        async with self._turn:
            try:
                if self._process is None or self._process.returncode is not None:
                    await self.start()
                process = self._process
                assert process is not None
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.writelines((_LENGTH.pack(len(job)), job))
                await process.stdin.drain()
                (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
                return msgspec.msgpack.decode(await process.stdout.readexactly(length), type=Made)
            except (OSError, asyncio.IncompleteReadError) as lost:
                await self.close()
                self._process = None
                raise RunnerDown("the process that makes large traces was lost") from lost


def main() -> None:
    """Make traces until the server hangs up."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    os.nice(_NICE)
    given, made = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while job := _read(given):
        answer = msgspec.msgpack.encode(_perform(msgspec.msgpack.decode(job, type=Job)))
        with contextlib.suppress(BrokenPipeError):
            made.write(_LENGTH.pack(len(answer)) + answer)
            made.flush()


def _perform(job: Job) -> Made:
    request = msgspec.json.decode(job.request, type=RunRequest)
    outcome = msgspec.json.decode(job.outcome, type=Outcome)
    finished = finish(job.run, request, job.lines.split(b"\n"), outcome, job.waited_ms)
    stored = finished.stored
    return Made(finished.status, finished.lost, stored.body, stored.etag, dict(stored.tensors), stored.kept)


def _read(given: BinaryIO) -> bytes:
    """The next job; empty when there is none any more."""
    head = given.read(_LENGTH.size)
    return given.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""


if __name__ == "__main__":
    main()
