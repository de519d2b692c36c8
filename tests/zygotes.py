"""Warm processes for tests, forked from one that has imported PyTorch: `python -m tests.zygotes`.

Each is a zygote like any other, but for its parent; or it records for tests/engine/worker/forked.py. How a zygote starts
otherwise is held by servers that are processes of their own: tests/server/test_faults.py.
"""

import atexit
import gc
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from unittest.mock import patch

from engine.sandbox.messages import Config, encode
from engine.sandbox.processes import ENVIRONMENT

RECORDER = b"recorder"
"""Asks for a process that records; all else is the configuration of a zygote."""
_PACKET = 64 * 1024
_ONE_AT_A_TIME = threading.Lock()


class Forked:
    """One of them, held by its descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def poll(self) -> int | None:
        """None as long as it lives."""
        if self._descriptor >= 0:
            if not select.select([self._descriptor], [], [], 0)[0]:
                return None
            os.close(self._descriptor)
            self._descriptor = -1
        return 0


@contextmanager
def forked() -> Iterator[None]:
    """What starts within the block forks its warm process."""
    with patch("engine.sandbox.zygote_client.begin", _begin):
        yield


def _begin(config: Config, control: socket.socket) -> Forked:
    return Forked(fork(encode(config), control))


def fork(what: bytes, control: socket.socket) -> int:
    """The descriptor of a process that has its end of a socket as descriptor 0."""
    with _ONE_AT_A_TIME:
        mother, _ = _mother()
        socket.send_fds(mother, [what], [control.fileno()])
        _, (descriptor,), _, _ = socket.recv_fds(mother, _PACKET, 1)
    return descriptor


@cache
def _mother() -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    """The process they are forked from, and the way to it; it ends with this one, and they with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", "tests.zygotes"]
        process = subprocess.Popen(command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, env=ENVIRONMENT, cwd="/")
    atexit.register(_end, ours, process)
    return ours, process


def _end(mother: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    mother.close()
    process.wait()


def main() -> None:
    """Fork one whenever somebody asks."""
    from engine.sandbox import zygote
    from engine.worker.runtime.warm import warm

    warm()
    gc.collect()
    gc.freeze()
    asking = socket.socket(fileno=os.dup(0))
    while True:
        what, descriptors, _, _ = socket.recv_fds(asking, _PACKET, 1)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not what:
            return
        pid = os.fork()
        if pid == 0:
            asking.close()
            os.dup2(descriptors[0], 0)
            os.close(descriptors[0])
            os.setsid()
            if what == RECORDER:
                from tests.engine.worker.forked import serve

                serve()
            else:
                sys.argv[1:] = [what.decode()]
                zygote.main()
            os._exit(0)
        os.close(descriptors[0])
        descriptor = os.pidfd_open(pid)
        socket.send_fds(asking, [b"-"], [descriptor])
        os.close(descriptor)


if __name__ == "__main__":
    main()
