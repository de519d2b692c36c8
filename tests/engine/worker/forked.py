"""Records a program without the sandbox, in a fork of a process that is ready to record."""

import gc
import os
import pickle
import socket
import tempfile
import warnings
from functools import cache
from pathlib import Path

import torch
from torch.utils.hooks import RemovableHandle

from engine.assemble import assemble
from engine.limits import DEFAULT_LIMITS
from engine.outcome import Outcome
from engine.request import CheckKind, RunRequest
from engine.trace import Program, RunLimits, Timings, Trace
from engine.worker.runtime.execute import Job, make_ready, run
from engine.worker.runtime.warm import warm
from tests import zygotes

torch.set_num_threads(1)  # a fork after a parallel kernel would hang


def said(
    code: str,
    limits: RunLimits = DEFAULT_LIMITS,
    checks: tuple[CheckKind, ...] = (),
    *,
    patched: bool = False,
) -> list[bytes]:
    """What the worker says of a program, line by line; `patched`: with what the test has put into the engine."""
    request = RunRequest(program=Program(code=code), limits=limits, checks=checks)
    with tempfile.TemporaryDirectory() as folder:
        if patched:
            _warm()
            _record(request, Path(folder), None)
        else:
            (Path(folder) / "request").write_bytes(pickle.dumps(request))
            ready = _ready()
            ready.send(folder.encode())
            ready.recv(1)
        return (Path(folder) / "events").read_bytes().splitlines()


def traced(code: str, lines: list[bytes]) -> Trace:
    """The trace of what was said, as of a process that ended well."""
    ended = Outcome(
        exit_code=0, signal=None, stopped_by=None, stderr_tail="", timings=Timings(total_ms=1.0),
        isolation=None, blobs=0,
    )  # fmt: skip
    return assemble("run", RunRequest(program=Program(code=code)), lines, ended)


def record(
    code: str,
    limits: RunLimits = DEFAULT_LIMITS,
    checks: tuple[CheckKind, ...] = (),
    *,
    patched: bool = False,
) -> Trace:
    """The trace of a program."""
    return traced(code, said(code, limits, checks, patched=patched))


@cache
def _warm() -> None:
    """Imports once what each fork would import for itself, for seconds: the first optimizer imports `torch._dynamo`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm()


@cache
def _ready() -> socket.socket:
    """The way to a process that has made ready once what each recording needs. It ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        zygotes.fork(zygotes.RECORDER, theirs)
    return ours


def serve() -> None:
    """Record what is asked for on descriptor 0, each in a fork, until nobody asks any more."""
    asking = socket.socket(fileno=os.dup(0))
    _quiet()
    job = make_ready()
    gc.collect()
    gc.freeze()  # a collection in a fork would write to, and so copy, every page
    while asked := asking.recv(1024):
        folder = Path(asked.decode())
        _record(pickle.loads((folder / "request").read_bytes()), folder, job)
        asking.send(b"-")


def _record(request: RunRequest, folder: Path, job: Job | None) -> None:
    """Writes what a fork of this process says of a program."""
    child = os.fork()
    if child == 0:
        try:
            _quiet()
            os.chdir(folder)
            warnings.resetwarnings()  # those of a program, not of a test
            RemovableHandle.next_id = 0  # as in a new process
            with (folder / "events").open("wb", buffering=0) as events:

                def emit(piece: bytes) -> None:
                    events.write(piece + b"\n")

                run(request, emit, job)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def _quiet() -> None:
    """Lets nothing be read or written."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
