import ctypes
import errno
import os
import platform

CALLS = {
    "add_key": (248,), "bpf": (321, 0), "capset": (126, 0, 0), "chroot": (161, b"/"), "clone3": (435, 0, 0),
    "fanotify_init": (300, 0, 0), "inotify_init": (253,), "io_uring_setup": (425, 1, 0), "keyctl": (250, 0),
    "landlock_create_ruleset": (444, 0, 0, 1), "link": (86, b"a", b"b"), "memfd_create": (319, b"x", 0),
    "mknod": (133, b"x", 0o600, 0), "mount": (165, 0, 0, 0, 0, 0), "mq_open": (240, b"x", 0),
    "name_to_handle_at": (303, -100, b"/", 0, 0, 0), "open_by_handle_at": (304, -100, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0), "personality": (135, 0xFFFFFFFF), "pidfd_open": (434, os.getppid(), 0),
    "prctl(PR_SET_PDEATHSIG)": (157, 1, 0), "prctl(PR_SET_SECCOMP)": (157, 22, 0),
    "process_vm_readv": (310, os.getppid(), 0, 0, 0, 0, 0), "ptrace": (101, 0, 0, 0, 0), "seccomp": (317, 1, 0, 0),
    "sendmsg": (46, 0, 0, 0), "setns": (308, 0, 0), "setpriority": (141, 0, 0, -5), "setuid": (105, 0),
    "shmget": (29, 0, 4096, 0o1600), "splice": (275, 0, 0, 1, 0, 1, 0), "symlink": (88, b"a", b"b"),
    "tkill": (200, os.getppid(), 0), "unshare": (272, 0), "userfaultfd": (323, 0), "vfork": (58,),
}  # fmt: skip
libc = ctypes.CDLL(None, use_errno=True)
if platform.machine() == "x86_64":
    for name, words in CALLS.items():
        if libc.syscall(*words) != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            raise AssertionError(f"{name}: errno {ctypes.get_errno()}")
