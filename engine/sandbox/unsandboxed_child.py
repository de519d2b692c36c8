"""`python -m engine.sandbox.unsandboxed_child`: a child without a zygote, a request on stdin, events on stdout."""

import contextlib
import faulthandler
import math
import os
import sys

import msgspec

from engine.devices import AUTO, CPU, first_of_its_kind, kind_of
from engine.limits import PATIENCE
from engine.request import RunRequest
from engine.worker.runtime import execute
from engine.worker.runtime.warm import devices, start, warm

_end = os._exit


def main() -> None:
    """One run."""
    faulthandler.enable()
    warm()
    job = execute.make_ready()
    events = os.dup(1)
    os.dup2(2, 1)  # what native code prints is not an event

    def emit(line: bytes) -> None:
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[os.write(events, rest) :]

    emit(b"")
    said = sys.stdin.buffer.read()
    if said:
        request = msgspec.json.decode(said, type=RunRequest)
        with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
            import resource

            cpu_s = math.ceil(request.limits.cpu_s)
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
        _start_device(request.program.device)
        execute.run(request, emit, job, PATIENCE)
        emit(b"")
    sys.stdout.flush()
    _end(0)


def _start_device(asked: str) -> None:
    """One that is not there is the program's to fail on."""
    device = next(iter(devices()), CPU.name) if asked == AUTO else first_of_its_kind(asked)
    if kind_of(device) is not CPU and device in devices():
        start(device, 1.0)


if __name__ == "__main__":
    main()
