"""The seccomp program: one mark for the pid, and only what is listed."""

import os
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("seccomp is Linux's", allow_module_level=True)

from engine.devices import CUDA
from engine.sandbox import libc
from engine.sandbox.filter import compile_filter, for_pid


def in_a_sandboxed_fork(attempt: str) -> int:
    """Exit code of a fork that runs a line of Python under the filter: 0 fine, 1 PermissionError."""
    program = compile_filter()
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
            libc.load_filter(for_pid(program, os.getpid()))
            exec(attempt)
            code = 0
        except PermissionError:
            code = 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_the_pid_is_patched_in_for_each_signal_call() -> None:
    program = compile_filter()
    patched = for_pid(program, 4711)
    changed = [at for at in range(0, len(program), 8) if program[at : at + 8] != patched[at : at + 8]]
    assert changed
    assert all(patched[at + 4 : at + 8] == (4711).to_bytes(4, "little") for at in changed)


@pytest.mark.parametrize(
    "attempt",
    [
        "os.kill(os.getpid(), 0)",
        "import threading; t = threading.Thread(target=print); t.start(); t.join()",
        "import socket; a, b = socket.socketpair(); a.send(b'x'); b.recv(1)",
        "import asyncio; asyncio.run(asyncio.sleep(0))",
        "import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
        "os.isatty(0)",
    ],
)
def test_programs_may(attempt: str) -> None:
    assert in_a_sandboxed_fork(attempt) == 0


@pytest.mark.parametrize(
    "attempt",
    [
        "os.kill(os.getppid(), 0)",
        "os.kill(0, 0)",
        "os.fork()",
        "import socket; socket.socket()",
        "import socket; socket.socketpair(type=socket.SOCK_DGRAM)",
        "os.memfd_create('x')",
        "os.symlink('a', 'b')",
        "os.setpriority(os.PRIO_PROCESS, os.getppid(), 5)",
        "os.sched_setaffinity(0, {0})",
        "os.pidfd_open(os.getppid())",
        "import fcntl; fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())",
        "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
        "os.setxattr('/tmp', 'user.x', b'y')",
    ],
)
def test_programs_may_not(attempt: str) -> None:
    assert in_a_sandboxed_fork(attempt) == 1


def test_a_gpu_run_may_do_more() -> None:
    assert len(compile_filter(CUDA)) != len(compile_filter())
