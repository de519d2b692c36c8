"""Traces of large runs are made in processes of their own, so that the server goes on answering meanwhile.

Python parses and assembles with its lock held: half a second of that would be half a second for everybody.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from engine.gc_pause import uncollected
from engine.outcome import Outcome
from engine.pipeline import trace_of
from engine.request import RunRequest
from engine.trace import Record
from server.child import Child, ChildLost, jobs
from server.packing import packed
from server.runner import Finished, RunnerDown
from server.store import Stored

_LINES_BYTES = 128 * 1024
_CODE_CHARACTERS = 8_000
_NICE = 10


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
    codes: tuple[str, ...]


def is_large(request: RunRequest, lines: Sequence[bytes]) -> bool:
    """Whether to make the trace here would keep others waiting."""
    return len(request.program.code) > _CODE_CHARACTERS or sum(map(len, lines)) > _LINES_BYTES


class TraceProcesses:
    """The processes that make them, from the server's side.

    One takes whatever has waited longest, the other whatever is smallest: what takes a moment does not wait for all
    that takes a second, and nobody waits for ever."""

    def __init__(self) -> None:
        self._waiting: list[_Queued] = []
        self._processes = (_TraceProcess(_smallest), _TraceProcess(_oldest))

    async def start(self) -> None:
        """Have them ready."""
        for process in self._processes:
            await process.start()

    async def finish(
        self, run: str, request: RunRequest, lines: Sequence[bytes], outcome: Outcome, waited_ms: float
    ) -> Finished:
        """The trace of a run. Raises RunnerDown when its process is lost, which another will replace."""
        job = Job(run, msgspec.json.encode(request), b"\n".join(lines), msgspec.json.encode(outcome), waited_ms)
        waiting = _Queued(msgspec.msgpack.encode(job), asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        for process in self._processes:
            process.work_on(self._waiting)
        made = await waiting.made
        stored = Stored(body=made.body, etag=made.etag, tensors=made.tensors, kept=made.kept)
        return Finished(made.status, made.lost, stored, made.codes)

    async def close(self) -> None:
        """End them."""
        for process in self._processes:
            await process.close()


@dataclass(frozen=True, eq=False)
class _Queued:
    job: bytes
    made: asyncio.Future[Made]


_Choice = Callable[[Sequence[_Queued]], _Queued]


def _oldest(waiting: Sequence[_Queued]) -> _Queued:
    return waiting[0]


def _smallest(waiting: Sequence[_Queued]) -> _Queued:
    return min(waiting, key=lambda queued: len(queued.job))


class _TraceProcess:
    """One process; one job at a time."""

    def __init__(self, choice: _Choice) -> None:
        self._choice = choice
        self._child = Child("server.trace_processes")
        self._work: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Have it ready."""
        await self._child.start()

    def work_on(self, waiting: list[_Queued]) -> None:
        """See that it works as long as somebody waits."""
        if waiting and (self._work is None or self._work.done()):
            self._work = asyncio.create_task(self._all(waiting))

    async def close(self) -> None:
        """End it."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        await self._child.end()

    async def _all(self, waiting: list[_Queued]) -> None:
        while waiting:
            chosen = self._choice(waiting)
            waiting.remove(chosen)
            if chosen.made.cancelled():  # nobody wants it any more
                continue
            try:
                made = await self._make(chosen.job)
            except RunnerDown as lost:
                if not chosen.made.cancelled():
                    chosen.made.set_exception(lost)
            else:
                if not chosen.made.cancelled():
                    chosen.made.set_result(made)

    async def _make(self, job: bytes) -> Made:
        try:
            return msgspec.msgpack.decode(await self._child.ask(job), type=Made)
        except (OSError, ChildLost) as lost:
            raise RunnerDown("the process that makes large traces was lost") from lost


def main() -> None:
    """Make traces until the server hangs up."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    os.nice(_NICE)
    for job, answer in jobs():
        _answer(msgspec.msgpack.decode(job, type=Job), answer)


def _answer(job: Job, answer: Callable[[bytes], None]) -> None:
    """Makes a trace and gives it; only then its records are let go, which takes a while too."""
    with uncollected():
        outcome = msgspec.json.decode(job.outcome, type=Outcome)
        lines = job.lines.split(b"\n")
        trace = trace_of(job.run, msgspec.json.decode(job.request, type=RunRequest), lines, outcome, job.waited_ms)
        finished = packed(trace, lines, outcome)
        stored = finished.stored
        made = Made(
            finished.status, finished.lost, stored.body, stored.etag, dict(stored.tensors), stored.kept, finished.codes
        )
        answer(msgspec.msgpack.encode(made))


if __name__ == "__main__":
    main()
