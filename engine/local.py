"""Runs programs from ordinary, synchronous code: one pool behind the scenes, started at the first run."""

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from typing import TypeVar

from engine.fixes import FORMAT, Fixes, edited, fixable, judge
from engine.keys import run_id, versions
from engine.limits import DEFAULT_LIMITS
from engine.request import CheckKind, RunRequest
from engine.sandbox.pool import Pool
from engine.trace import Program, RunLimits, Trace

_T = TypeVar("_T")


class LocalEngine:
    """A pool on an event loop of its own; may be used from any number of threads."""

    def __init__(self, pool: Pool | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gradgraph", daemon=True)
        self._thread.start()
        self._pool = pool or Pool()
        try:
            self._wait(self._pool.start())
        except BaseException:
            self.close()
            raise

    def run(self, request: RunRequest) -> Trace:
        """Run one program to its end, whatever that is, and give its trace. Blocks."""
        from engine.pipeline import trace_of  # not before it is needed: a web node of a cluster assembles nothing

        lines, outcome = self._wait(self._pool.run(request))
        return trace_of(run_id(request, versions()), request, lines, outcome)

    def close(self) -> None:
        """End all runs and the pool."""
        if self._loop.is_closed():
            return
        self._wait(self._pool.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Coroutine[object, object, _T]) -> _T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:  # such as KeyboardInterrupt while waiting
            future.cancel()
            raise


class _Shared:
    """The engines behind `run`, each made when it is first needed and closed when Python ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engines: dict[bool, LocalEngine] = {}
        """By whether their programs are sandboxed."""

    def get(self, *, sandboxed: bool = True) -> LocalEngine:
        with self._lock:
            if sandboxed not in self._engines:
                # one that waits would have imported PyTorch for nothing
                pool = Pool() if sandboxed else Pool(sandboxed=False, spares=0)
                engine = self._engines[sandboxed] = LocalEngine(pool)
                atexit.register(engine.close)
            return self._engines[sandboxed]


_shared = _Shared()


def run(
    program: Program | str,
    limits: RunLimits = DEFAULT_LIMITS,
    checks: tuple[CheckKind, ...] = (),
    *,
    sandboxed: bool = True,
) -> Trace:
    """Run a program and give its trace: in the sandbox, unless it is one's own and is to run in an ordinary process.

    A program that fails, or that a limit stops, has a trace too: `status` and `failure` say so. The first call takes
    the seconds that importing PyTorch takes. `checks` compares its gradients with finite differences or gives
    Jacobians. Thread-safe.
    """
    if isinstance(program, str):
        program = Program(code=program)
    return _shared.get(sandboxed=sandboxed).run(RunRequest(program=program, limits=limits, checks=checks))


def try_fixes(trace: Trace, *, sandboxed: bool = True) -> Fixes:
    """Run the program of a trace without the cause of each finding: which fixes mend, and which causes are proven."""
    trials = tuple(
        judge(trace, finding, run(edited(trace, finding), trace.limits, sandboxed=sandboxed))
        for finding in fixable(trace)
    )
    return Fixes(format=FORMAT, run=trace.id, done=True, trials=trials)
