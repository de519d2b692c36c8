"""Records a program without the sandbox, in a fork of the test's own process."""

import os
import tempfile
import warnings
from functools import cache
from pathlib import Path

from torch.utils.hooks import RemovableHandle

from engine.assemble import assemble
from engine.limits import DEFAULT_LIMITS
from engine.outcome import Outcome
from engine.request import CheckKind, RunRequest
from engine.trace import Program, RunLimits, Timings, Trace
from engine.worker.runtime.execute import run
from engine.worker.runtime.warm import warm


@cache
def _warm() -> None:
    """Imports once what each fork would import for itself, for seconds: the first optimizer imports `torch._dynamo`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm()


def said(code: str, limits: RunLimits = DEFAULT_LIMITS, checks: tuple[CheckKind, ...] = ()) -> list[bytes]:
    """What the worker says of a program, line by line."""
    _warm()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        child = os.fork()
        if child == 0:
            try:
                nothing = os.open(os.devnull, os.O_RDWR)
                for stream in (0, 1, 2):
                    os.dup2(nothing, stream)
                os.chdir(folder)
                warnings.resetwarnings()  # those of a program, not of a test
                RemovableHandle.next_id = 0  # as in a new process
                with path.open("wb", buffering=0) as events:

                    def emit(piece: bytes) -> None:
                        events.write(piece + b"\n")

                    run(RunRequest(program=Program(code=code), limits=limits, checks=checks), emit)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return path.read_bytes().splitlines()


def traced(code: str, lines: list[bytes]) -> Trace:
    """The trace of what was said, as of a process that ended well."""
    ended = Outcome(
        exit_code=0, signal=None, stopped_by=None, stderr_tail="", timings=Timings(total_ms=1.0),
        isolation=None, blobs=0,
    )  # fmt: skip
    return assemble("run", RunRequest(program=Program(code=code)), lines, ended)


def record(code: str, limits: RunLimits = DEFAULT_LIMITS, checks: tuple[CheckKind, ...] = ()) -> Trace:
    """The trace of a program."""
    return traced(code, said(code, limits, checks))
