"""The warm process every run is forked from: one thread, no secrets, never runs a user's code itself.

Started by the server as `python -m engine.sandbox.zygote CONFIG` with a control socket on descriptor 0.
"""

import contextlib
import faulthandler
import gc
import logging
import os
import select
import signal
import socket
import sys
import sysconfig
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from engine.devices import ACCELERATORS, CPU, kind_of
from engine.limits import PATIENCE
from engine.request import RunRequest
from engine.sandbox import canary, child, libc
from engine.sandbox.layers import Layers
from engine.sandbox.messages import Config, Exited, Ready, Spawn, Spawned, decode_config, decode_spawn, encode
from engine.worker.runtime import execute
from engine.worker.runtime.warm import devices, start, warm

_CONTROL = 0
_PACKET = 64 * 1024
_LOOK_MS = 200


class _Process(NamedTuple):
    pid: int
    slot: int
    id: int | None
    """Number of the child; None for the one that cleans up after it."""


class Zygote:
    """Forks children on demand, reaps them, cleans up after them."""

    def __init__(self, config: Config, seen: tuple[str, ...], job: execute.Job | None) -> None:
        self._control = socket.socket(fileno=_CONTROL)
        self._proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC)
        self._job = job
        self._share = config.device_share
        self._devices = seen
        kind = kind_of(config.kind) if seen else CPU
        self._layers = Layers(config.staging, config.slots, namespaces=config.namespaces, kind=kind)
        self._free = list(range(config.slots))
        self._asked: deque[Spawn] = deque()
        self._processes: dict[int, _Process] = {}  # by pidfd
        self._overfilled: set[int] = set()
        self._looked = 0.0
        self._poll = select.poll()
        self._poll.register(self._control, select.POLLIN)

    def serve(self) -> None:
        """Until the server hangs up."""
        ready = Ready(layers=self._layers.names, canary=self._layers.canary, devices=self._devices)
        self._control.send(encode(ready))
        while True:
            for fd, _ in self._poll.poll(None if self._layers.has_quota or not self._processes else _LOOK_MS):
                if fd != self._control.fileno():
                    self._reap(fd)
                elif packet := self._control.recv(_PACKET):
                    self._asked.append(decode_spawn(packet))
                else:
                    return
            self._look_into_folders()
            while self._asked and self._free:
                self._spawn(self._asked.popleft(), self._free.pop())

    def _spawn(self, asked: Spawn, slot: int) -> None:
        request_read, request_write = os.pipe()
        events_read, events_write = os.pipe()
        output_read, output_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            statm = os.open("self/statm", os.O_RDONLY, dir_fd=self._proc)
            kept = child.Descriptors(request_read, events_write, output_write, statm)
            child.live(kept, lambda: self._make_ready(asked, slot), kind_of(asked.device))
        pidfd = os.pidfd_open(pid)
        message = encode(Spawned(id=asked.id, pid=pid))
        socket.send_fds(self._control, [message], [request_write, events_read, output_read, pidfd])
        for fd in (request_read, request_write, events_read, events_write, output_read, output_write):
            os.close(fd)
        self._watch(pidfd, _Process(pid, slot, asked.id))

    def _make_ready(self, asked: Spawn, slot: int) -> Callable[[RunRequest], None]:
        """In the child: close the sandbox, use the time there is; gives what to do with the request."""
        if kind_of(asked.device) is not CPU:
            start(asked.device, self._share)
        self._layers.close(slot, asked.device)
        targets = asked.canary
        if targets:
            return lambda _: child.emit(msgspec.json.encode(canary.attack(targets)))
        job = self._job or execute.make_ready()
        if asked.prefault and job is self._job:
            execute.prefault(job)
        return lambda request: execute.run(request, child.emit, job, PATIENCE)

    def _watch(self, pidfd: int, process: _Process) -> None:
        self._processes[pidfd] = process
        self._poll.register(pidfd, select.POLLIN)

    def _reap(self, pidfd: int) -> None:
        process = self._processes.pop(pidfd)
        self._poll.unregister(pidfd)
        os.close(pidfd)
        _, status, usage = os.wait4(process.pid, 0)
        self._end_orphans()
        if process.id is not None:
            cpu_s = usage.ru_utime + usage.ru_stime
            exited = Exited(
                id=process.id,
                status=status,
                cpu_s=cpu_s,
                overfilled=process.id in self._overfilled,
            )
            self._overfilled.discard(process.id)
            self._control.send(encode(exited))
        elif status != 0:
            return  # what could not be removed is nobody else's to find: this slot is not used again
        self._clean(process.slot)

    def _look_into_folders(self) -> None:
        """Kill runs that fill the disk, where no file system of their own sets the limit."""
        if self._layers.has_quota or time.monotonic() < self._looked + _LOOK_MS / 1000:
            return
        self._looked = time.monotonic()
        for pidfd, process in self._processes.items():
            if process.id is not None and self._layers.is_overfilled(process.slot):
                self._overfilled.add(process.id)
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def _clean(self, slot: int) -> None:
        """Free the slot once its folder is empty. `rm` copes with trees too deep for Python's own recursion."""
        leftovers = self._layers.leftovers(slot)
        if leftovers:
            pid = os.posix_spawn("/bin/rm", ["rm", "-rf", "--", *leftovers], {})
            self._watch(os.pidfd_open(pid), _Process(pid, slot, None))
        else:
            self._free.append(slot)

    def _end_orphans(self) -> None:
        """Kill what a run left behind; only where nothing keeps it from starting processes."""
        if "seccomp" in self._layers.names:
            return
        ours = {process.pid for process in self._processes.values()}
        while orphans := self._children() - ours:
            for pid in orphans:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def _children(self) -> set[int]:
        fd = os.open(f"self/task/{os.getpid()}/children", os.O_RDONLY, dir_fd=self._proc)
        with os.fdopen(fd) as file:
            return {int(pid) for pid in file.read().split()}


def job_of(config: Config, seen: tuple[str, ...]) -> execute.Job | None:
    """What records the one program of each fork; where no fork survives its device, each makes its own later."""
    if seen and not kind_of(config.kind).is_forkable:
        return None
    for kind in {kind_of(device) for device in seen}:
        if kind.hidden_by:
            os.environ[kind.hidden_by] = ""
    return execute.make_ready()


def _foreign_threads() -> list[str]:
    """The names of all threads but this one and those that a driver has beside it."""
    drivers = tuple(kind.threads_named for kind in ACCELERATORS if kind.threads_named)
    others = [task for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    names = [(task / "comm").read_text().strip() for task in others]
    return [name for name in names if not name.startswith(drivers)]


def main() -> None:
    """Warm up, take the layers, serve."""
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    config = decode_config(sys.argv[1])
    child.reserve_places()
    faulthandler.enable()
    warm()
    if config.import_path not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        sys.path[:] = [path for path in sys.path if path != config.import_path]
    seen = devices()  # a private root hides them
    job = job_of(config, seen)
    if threads := _foreign_threads():
        raise RuntimeError(f"what was imported has started threads, {threads}; forks of this process could hang")
    zygote = Zygote(config, seen, job)
    # one thread holds no lock that a fork would have to free; Python would visit all of PyTorch's loggers
    logging._at_fork_reinit_lock_weakset.clear()  # type: ignore[attr-defined]
    gc.collect()
    gc.freeze()  # a collection in a child would write to, and so copy, every page
    with contextlib.suppress(ConnectionError):  # the server hung up with words of this process unread
        zygote.serve()


if __name__ == "__main__":
    main()
