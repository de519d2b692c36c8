"""Attacks a child makes on purpose when a pool starts: what they achieve says which layers really hold."""

import contextlib
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from engine.trace import Isolation, Record

_LARGEST_HOME = 1 << 30
WRITTEN = ".written"
"""What an attack puts behind the secret file's name."""


class Targets(Record, frozen=True):
    """What to attack."""

    readable: str
    """A file whose mode lets everyone read it, inside the file tree of a run but outside what it may read."""
    secret: str
    """A file of the server, elsewhere on the machine."""
    port: int
    """A TCP port of this machine that somebody listens on."""
    server: int
    """The server's pid."""


class Report(Record, frozen=True):
    """What the attacks achieved; true is bad."""

    read_readable: bool
    read_secret: bool
    changed_mode: bool
    connected: bool
    forked: bool
    executed: bool
    signalled: bool
    read_environment: bool
    raised_limit: bool
    home_has_no_quota: bool


def attack(targets: Targets) -> Report:
    """Try them all from the calling process. Whether the write arrived is the server's to see."""
    _works(lambda: Path(targets.secret + WRITTEN).write_text("x"))
    return Report(
        read_readable=_works(lambda: Path(targets.readable).read_bytes()),
        read_secret=_works(lambda: Path(targets.secret).read_bytes()),
        changed_mode=_works(_change_mode),
        connected=_works(lambda: socket.create_connection(("127.0.0.1", targets.port), timeout=1).close()),
        forked=_works(_fork),
        executed=_works(lambda: os.posix_spawn("/bin/true", ["true"], {})),
        signalled=_works(lambda: os.kill(targets.server, 0)),
        read_environment=_works(lambda: Path(f"/proc/{targets.server}/environ").read_bytes()),
        raised_limit=_works(_raise_limit),
        home_has_no_quota=os.statvfs(".").f_blocks * os.statvfs(".").f_frsize > _LARGEST_HOME,
    )


def judge(
    report: Report, layers: tuple[str, ...], *, wrote_outside: bool, outer: Literal["gvisor"] | None
) -> Isolation:
    """The profile that the attacks leave standing, and the layers that held."""
    held = {
        "landlock": not (report.read_readable or report.read_secret or wrote_outside or report.read_environment),
        "seccomp": not (
            report.changed_mode or report.connected or report.forked or report.executed or report.signalled
        ),
        "rlimits": not report.raised_limit,
        "mount": not (report.home_has_no_quota or report.read_secret or wrote_outside),
        "net": not report.connected,
    }
    active = tuple(layer for layer in layers if held.get(layer, True))
    return Isolation(profile=_profile(set(active), outer), layers=active)


def _profile(
    layers: set[str], outer: Literal["gvisor"] | None
) -> Literal["full", "container", "gvisor", "partial", "none"]:
    if {"landlock", "seccomp", "rlimits"} <= layers:
        return "full" if {"mount", "net", "ipc"} <= layers else "container"
    if outer == "gvisor" and {"seccomp", "rlimits"} <= layers:
        return "gvisor"
    return "partial" if {"landlock", "seccomp"} & layers else "none"


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    except ValueError:  # what `resource` makes of EPERM
        return False
    return True


def _change_mode() -> None:
    own = Path("canary")
    own.touch()
    try:
        own.chmod(0o777)
    finally:
        own.unlink()


def _raise_limit() -> None:
    import resource  # not on every system that imports this module

    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        signal.pause()
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
