"""The fixes of runs, tried by running the edited programs while no worker has anything else to do."""

import asyncio
import contextlib
import gzip
import logging
from collections import Counter
from dataclasses import dataclass

import msgspec

from engine.fixes import FORMAT, Fixes, Trial, edited, fixable
from engine.keys import Versions, run_id
from engine.request import RunRequest
from engine.trace import Trace
from server.cache import Cache
from server.problems import Problem
from server.queue import Client
from server.runs import Runs
from server.settings import Settings
from server.snapshots import no_such
from server.store import Stored, StoreDown
from server.traces import OtherFormat, Traces
from server.views import Views

MOST_RUNS = 64
"""Runs whose fixes are tried or wait for it; of further ones none is, until they are asked for again."""
MOST_RUNS_OF_ONE = 8
"""Of these, those that one network address has asked for."""
REMEMBERED_BYTES = 4 * 1024**2

log = logging.getLogger("gradgraph.fixes")


@dataclass(frozen=True)
class _Trying:
    """A run whose fixes are being tried."""

    address: str
    trials: list[Trial]
    task: "asyncio.Task[None]"


class FixTrials:
    """Tries the fixes of a run when they are first asked for, and keeps what came of them beside its trace."""

    def __init__(self, runs: Runs, traces: Traces, views: Views, settings: Settings, versions: Versions) -> None:
        self._runs = runs
        self._traces = traces
        self._views = views
        self._most = settings.fixes
        self._code_bytes = settings.code_bytes
        self._versions = versions
        self._trying: dict[str, _Trying] = {}
        self._known: Cache[bytes] = Cache(REMEMBERED_BYTES)
        """By the entity tag of the trace."""

    async def of(self, run: str, address: str, patience_s: float) -> bytes:
        """The fixes of a run as JSON: as far as they are tried when this time has passed. Raises Problem."""
        stored = await self._traces.get_anywhere(run)
        if stored is None:
            raise no_such(run)
        if known := await self._tried(run, stored):
            return known
        trying = self._trying.get(run) or self._begin(run, stored, address)
        if trying is None:
            return _encoded(run, [], done=False)
        await asyncio.wait({trying.task}, timeout=patience_s)
        return self._known.get(stored.etag) or _encoded(run, trying.trials, done=False)

    async def close(self) -> None:
        """Try no more."""
        tasks = [trying.task for trying in self._trying.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _tried(self, run: str, stored: Stored) -> bytes | None:
        """What is known of a run's fixes from an earlier time."""
        known = self._known.get(stored.etag)
        with contextlib.suppress(StoreDown):  # they are tried again
            if known is None and (body := await self._traces.part(run, FORMAT)) is not None:
                known = gzip.decompress(body)
                self._known.put(stored.etag, known, len(known))
        return known

    def _begin(self, run: str, stored: Stored, address: str) -> _Trying | None:
        """Begin to try the fixes of a run; None where too many are being tried."""
        asked = Counter(trying.address for trying in self._trying.values())
        if len(self._trying) >= MOST_RUNS or asked[address] >= MOST_RUNS_OF_ONE:
            return None
        trials: list[Trial] = []
        task = asyncio.create_task(self._try(run, stored, address, trials))
        trying = self._trying[run] = _Trying(address, trials, task)
        task.add_done_callback(lambda _: self._trying.pop(run, None))
        return trying

    async def _try(self, run: str, stored: Stored, address: str, trials: list[Trial]) -> None:
        try:
            trace = await self._views.trace(stored)
            chosen = fixable(trace)[: self._most]
            for finding in chosen:
                with contextlib.suppress(Problem):  # it could not be run now; the others may be
                    trials.append(await self._trial(trace, stored, finding, address))
            if len(trials) == len(chosen):
                await self._keep(run, stored, trials)
        except Exception:
            log.exception("the fixes of run %s could not be tried", run)

    async def _trial(self, trace: Trace, stored: Stored, finding: int, address: str) -> Trial:
        """One fix, run and judged. Raises Problem."""
        request = RunRequest(program=edited(trace, finding), limits=trace.limits)
        if len(request.program.code.encode()) > self._code_bytes:
            return Trial(finding=finding, verdict="too_long")
        mended = await self._run(run_id(request, self._versions), request, address)
        return await self._views.trial(stored, finding, mended)

    async def _run(self, run: str, request: RunRequest, address: str) -> Stored:
        with contextlib.suppress(StoreDown, OtherFormat):
            if (stored := await self._traces.get(run)) is not None and stored.kept:
                return stored
        client = Client(f"fixes for {address}", None)
        return await (await self._runs.enter(run, request, client, background=True)).wait()

    async def _keep(self, run: str, stored: Stored, trials: list[Trial]) -> None:
        """For good, unless a limit stopped one: it may end otherwise the next time."""
        body = _encoded(run, trials, done=True)
        self._known.put(stored.etag, body, len(body))
        if trials and all(trial.verdict != "not_finished" for trial in trials):
            with contextlib.suppress(StoreDown):
                await self._traces.attach(run, FORMAT, gzip.compress(body, mtime=0))


def _encoded(run: str, trials: list[Trial], *, done: bool) -> bytes:
    return msgspec.json.encode(Fixes(format=FORMAT, run=run, done=done, trials=tuple(trials)))
