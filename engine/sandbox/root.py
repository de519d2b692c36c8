"""A root file system of its own for the zygote and all runs: the readable paths, four devices, one empty home."""

import os
from pathlib import Path

from engine.sandbox import libc
from engine.sandbox.readable import DEVICES

HOMES = "/playground"
HOME = "/playground/home"
"""Where each run's own file system is mounted; `/tmp` leads there too, unless the library itself lies in `/tmp`."""
CANARY = "/canary"
"""A file everyone may read by its mode and nobody by Landlock."""

_LOCKED = {os.ST_NODEV: libc.MS_NODEV, os.ST_NOEXEC: libc.MS_NOEXEC, os.ST_NOATIME: 1024, os.ST_RELATIME: 1 << 21}


def enter_private_root(staging: str, readable: tuple[str, ...], links: dict[str, str]) -> None:
    """Give up the machine's file tree for one that holds only `readable`, and symbolic links to it; needs a mount
    namespace of its own.

    `staging` is an empty folder; it can be removed afterwards.
    """
    libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
    libc.mount("none", staging, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "size=1m,nr_inodes=4096,mode=0755")
    for path in readable:
        _bind(path, staging, libc.MS_RDONLY | libc.MS_NOSUID)
    for path, to in links.items():
        if not os.path.lexists(staging + path):
            Path(staging + path).parent.mkdir(parents=True, exist_ok=True)
            Path(staging + path).symlink_to(to)
    for device in DEVICES:
        _bind(device, staging, 0)
    Path(staging + "/dev/shm").mkdir()
    # nobody may write there: semaphores and shared memory are refused, where without the folder they are "not found"
    libc.mount("none", staging + "/dev/shm", "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "size=4k,nr_inodes=2,mode=0555")
    Path(staging + HOME).mkdir(parents=True)
    if not Path(staging + "/tmp").exists():
        Path(staging + "/tmp").symlink_to(HOME.lstrip("/"))
    Path(staging + CANARY).write_text("canary")
    Path(staging + CANARY).chmod(0o644)
    os.chdir(staging)
    libc.pivot_root(".", ".")  # the old root now lies over the new one
    libc.detach_mount(".")
    os.chdir("/")
    libc.mount("none", "/", None, libc.MS_REMOUNT | libc.MS_RDONLY | libc.MS_NOSUID | libc.MS_NODEV)


def mount_home(uid: int, gid: int, size_bytes: int, files: int) -> None:
    """Mount this run's own empty file system; it goes when its last process does."""
    libc.unshare(libc.CLONE_NEWNS)
    options = f"size={size_bytes},nr_inodes={files},mode=0700,uid={uid},gid={gid}"
    libc.mount("none", HOME, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV | libc.MS_NOEXEC, options)


def _bind(path: str, staging: str, flags: int) -> None:
    target = Path(staging + path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if Path(path).is_dir():
        target.mkdir(exist_ok=True)
    else:
        target.touch()
    libc.mount(path, str(target), None, libc.MS_BIND)
    if flags:
        libc.mount("none", str(target), None, libc.MS_REMOUNT | libc.MS_BIND | flags | _locked_flags(path))


def _locked_flags(path: str) -> int:
    """Flags of the mount `path` lies on, which a user namespace may not take away."""
    active = os.statvfs(path).f_flag
    return sum(flag for bit, flag in _LOCKED.items() if active & bit)
