"""The layers of isolation: found out and prepared once in the zygote, closed by every child around itself."""

import contextlib
import itertools
import math
import os
import resource
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import landlockpy
from landlockpy import AccessFS, RestrictFlag, Ruleset, Scope

from engine.devices import CPU, DeviceKind, device_files, kind_of
from engine.limits import MIB
from engine.sandbox import libc, root
from engine.sandbox.filter import compile_filter, for_pid
from engine.sandbox.readable import DEVICES, links, readable_paths
from engine.trace import RunLimits

HOME_BYTES = 256 * MIB
HOME_FILES = 10_000
OPEN_FILES = 256
THREADS = 256
FIRST_UID = 60_001
_WORKER_BYTES = (512 + 64) * MIB
"""Address space of the thread the program runs on, hardly any of it used: its stack, glibc's arena for it."""


class Layers:
    """What this machine allows. `names` says which layers a child closes, in order."""

    def __init__(self, staging: str, slots: int, *, namespaces: bool, kind: DeviceKind = CPU) -> None:
        readable = self._readable = readable_paths()
        self._filter = compile_filter() if _seccomp_works() else None  # libseccomp is not found from the private root
        self._device_filter = compile_filter(kind) if self._filter else None
        entered = _enter_private_root(staging, readable) if namespaces and not kind.needs_machine_tree else ()
        self._private_root = "mount" in entered
        self.has_quota = self._private_root
        """Each run has a file system of its own, so nobody need watch what it writes."""
        self._own_uids = os.getuid() == 0 and "user" not in entered and _can_change_uid()
        if self._private_root:
            self.canary = root.CANARY
            self._homes = [root.HOME] * slots
        else:
            self._own_uids = self._own_uids and _others_can_read(readable)
            self.canary = staging + root.CANARY
            self._homes = self._make_homes(Path(staging), slots)
        writable = [root.HOMES] if self._private_root else self._homes
        self._rulesets = [_ruleset(readable, home) for home in writable] if landlockpy.supported() else []
        self.names = (
            "rlimits",
            *entered,
            *(("uid",) if self._own_uids else ()),
            "no_new_privs",
            *(("landlock",) if self._rulesets else ()),
            *(("seccomp",) if self._filter else ()),
        )

    def leftovers(self, slot: int) -> list[str]:
        """Some of what the last run left in its folder, unless it went with the run's own file system."""
        if self._private_root:
            return []
        with os.scandir(self._homes[slot]) as entries:
            return [entry.path for entry in itertools.islice(entries, 500)]

    def is_overfilled(self, slot: int) -> bool:
        """Whether a run has put more into its folder than a file system of its own would take."""
        size_bytes = files = 0
        folders = [self._homes[slot]]
        while folders:
            try:
                with os.scandir(folders.pop()) as entries:
                    for entry in entries:
                        files += 1
                        size_bytes += entry.stat(follow_symlinks=False).st_blocks * 512
                        if size_bytes > HOME_BYTES or files > HOME_FILES:
                            return True
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
            except FileNotFoundError:  # removed meanwhile
                continue
            except OSError:  # a path too long to follow
                return True
        return False

    def close(self, slot: int, device: str) -> None:
        """Close all layers around the calling process, for good; raises when one cannot be closed.

        An accelerator has to be started already.
        """
        uid = FIRST_UID + slot if self._own_uids else os.getuid()
        gid = FIRST_UID + slot if self._own_uids else os.getgid()
        _limit_resources(own_uid=self._own_uids)
        if self._private_root:
            root.mount_home(uid, gid, HOME_BYTES, HOME_FILES)
        os.chdir(self._homes[slot])
        home = self._homes[slot]
        # the last remembered from an import, as a folder of the machine's
        os.environ |= {"HOME": home, "TMPDIR": home, "TORCHINDUCTOR_CACHE_DIR": f"{home}/torchinductor"}
        tempfile.tempdir = None  # remembered from an import
        if self._own_uids:
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        libc.drop_capabilities()
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of uid clears it
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        if self._rulesets:
            self._ruleset_for(slot, device).restrict(RestrictFlag.TSYNC, no_new_privs=False)
        if program := self._filter if kind_of(device) is CPU else self._device_filter:
            libc.load_filter(for_pid(program, os.getpid()))

    def _ruleset_for(self, slot: int, device: str) -> Ruleset:
        if kind_of(device) is not CPU:
            return _ruleset(self._readable, self._homes[slot], device)
        return self._rulesets[0 if self._private_root else slot]

    def _make_homes(self, staging: Path, slots: int) -> list[str]:
        staging.chmod(0o711)
        Path(self.canary).write_text("canary")
        Path(self.canary).chmod(0o644)
        homes = [staging / str(slot) for slot in range(slots)]
        for slot, home in enumerate(homes):
            home.mkdir(mode=0o700)
            if self._own_uids:
                os.chown(home, FIRST_UID + slot, FIRST_UID + slot)
        return [str(home) for home in homes]


def hold_to(limits: RunLimits, address_space_bytes: int | None) -> None:
    """Lower the calling process's own limits to those of its run; they cannot be raised again.

    `address_space_bytes` is what the process has mapped already; None sets no limit on it.
    """
    cpu_s = math.ceil(limits.cpu_s)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    if address_space_bytes is not None:
        total = address_space_bytes + _WORKER_BYTES + limits.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (total, total))


def _limit_resources(*, own_uid: bool) -> None:
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, HOME_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_MEMLOCK, 0),
        *(((resource.RLIMIT_NPROC, THREADS),) if own_uid else ()),  # counts all processes of a uid
    ):
        resource.setrlimit(limit, (value, value))


def _enter_private_root(staging: str, readable: tuple[str, ...]) -> tuple[str, ...]:
    """Move into namespaces and a file tree that all runs share; each run adds a mount namespace of its own.

    A fork tries the whole way first: some machines allow a namespace and then forbid what it is good for.
    """
    uid, gid = os.getuid(), os.getgid()

    def as_root() -> None:
        libc.unshare(libc.CLONE_NEWNS | libc.CLONE_NEWNET | libc.CLONE_NEWIPC)
        root.enter_private_root(staging, readable, links())

    def as_user() -> None:
        libc.unshare(libc.CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        as_root()

    def works(enter: Callable[[], None]) -> bool:
        def attempt() -> None:
            enter()
            root.mount_home(uid, gid, HOME_BYTES, HOME_FILES)

        return _works_in_a_fork(attempt)

    if uid == 0 and works(as_root):
        as_root()
        return ("mount", "net", "ipc")
    if works(as_user):
        as_user()
        return ("user", "mount", "net", "ipc")
    return ()


def _works_in_a_fork(attempt: Callable[[], object]) -> bool:
    pid = os.fork()
    if pid == 0:
        code = 1
        with contextlib.suppress(BaseException):
            attempt()
            code = 0
        os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def _can_change_uid() -> bool:
    def change() -> None:
        os.setgroups([])
        os.setresgid(FIRST_UID, FIRST_UID, FIRST_UID)
        os.setresuid(FIRST_UID, FIRST_UID, FIRST_UID)

    return _works_in_a_fork(change)


def _others_can_read(paths: tuple[str, ...]) -> bool:
    """Whether another uid gets at the library: a Python under a private home keeps the uid it has."""

    def look() -> None:
        os.setgroups([])
        os.setresuid(FIRST_UID, FIRST_UID, FIRST_UID)
        for path in paths:
            Path(path).stat()

    return _works_in_a_fork(look)


def _seccomp_works() -> bool:
    def load() -> None:
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        libc.load_filter(for_pid(compile_filter(), os.getpid()))

    return _works_in_a_fork(load)


def _ruleset(readable: tuple[str, ...], home: str, device: str = "cpu") -> Ruleset:
    """What a run may do to files; nobody is to be reached by TCP, signal or abstract socket. Takes 5 ms in a fork."""
    look = AccessFS.READ_FILE | AccessFS.READ_DIR
    write = AccessFS.WRITE_FILE | AccessFS.TRUNCATE
    change = AccessFS.MAKE_REG | AccessFS.MAKE_DIR | AccessFS.REMOVE_FILE | AccessFS.REMOVE_DIR | AccessFS.REFER
    allowed = {path: look if Path(path).is_dir() else AccessFS.READ_FILE for path in readable}
    allowed |= dict.fromkeys(DEVICES, AccessFS.READ_FILE | AccessFS.WRITE_FILE)
    allowed[home] = look | write | change
    if (kind := kind_of(device)) is not CPU:
        allowed |= {path: look for path in kind.readable if Path(path).exists()}
        allowed["/proc/self/task"] = look | AccessFS.WRITE_FILE  # the driver names its threads there
        allowed |= dict.fromkeys(device_files(device), AccessFS.READ_FILE | AccessFS.WRITE_FILE | AccessFS.IOCTL_DEV)
    ruleset = Ruleset(scoped=Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL)
    for path, access in allowed.items():
        ruleset.allow_path(path, access)
    return ruleset
