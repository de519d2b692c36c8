"""The system calls a run may make: an allowlist compiled once, with the run's own pid patched in per run.

Everything else answers EPERM, which Python shows as PermissionError. The list is what PyTorch on CPU, NumPy, threads
and asyncio were seen to need; what is missing from it on purpose is named in `tests/hostile`.
"""

import errno
import functools
import struct
import tempfile

from engine.devices import CPU, DeviceKind

_ALLOWED = {
    "data": """read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range
        dup dup2 dup3 pipe pipe2 eventfd eventfd2 sendto recvfrom shutdown getsockname getpeername getsockopt""",
    "files": """open openat openat2 creat access faccessat faccessat2 stat lstat fstat newfstatat statx statfs fstatfs
        getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2
        truncate ftruncate fallocate fsync fdatasync fadvise64 flock readlink readlinkat umask""",
    "waiting": """poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
        timerfd_create timerfd_settime timerfd_gettime nanosleep clock_nanosleep pause wait4 waitid""",
    "memory": "sysinfo mmap munmap mprotect mremap brk madvise msync",  # oneDNN needs mprotect(PROT_EXEC)
    "threads": """futex futex_waitv set_robust_list get_robust_list rseq set_tid_address membarrier sched_yield
        sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min arch_prctl""",
    "signals": """rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigpending rt_sigtimedwait sigaltstack
        alarm setitimer getitimer restart_syscall""",
    "itself": """gettid getpid getppid getpgrp getpgid getsid getuid geteuid getgid getegid getresuid getresgid
        getgroups capget getpriority getcpu uname times getrusage getrlimit setrlimit exit exit_group""",
    "time and chance": "clock_gettime clock_getres gettimeofday time getrandom",
}

_IOCTLS = (
    0x5401,  # TCGETS: isatty
    0x5413,  # TIOCGWINSZ: terminal width
    0x5421,  # FIONBIO: asyncio
    0x541B,  # FIONREAD
    0x5450,  # FIONCLEX
    0x5451,  # FIOCLEX
)
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)  # not F_SETOWN, F_SETSIG, F_SETLEASE, F_SETPIPE_SZ
_PRCTLS = (3, 15, 16, 0x53564D41)  # PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA

_CLONE_THREAD = 0x00010000
_CLONE_NEW_ANYTHING = 0x7E020080  # every CLONE_NEW* flag
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE_MASK = 1, 1, 0xF

_OWN_PID = 0x7F3A5B1D  # stands for the pid until `for_pid`; above any real pid (at most 2**22)
_JUMP_IF_EQUAL = 0x15


def compile_filter(kind: DeviceKind = CPU) -> bytes:
    """The BPF program, with a mark where the pid goes; raises when libseccomp is missing."""
    import pyseccomp as sc

    rules = sc.SyscallFilter(sc.ERRNO(errno.EPERM))
    rules.set_attr(sc.Attr.ACT_BADARCH, sc.KILL_PROCESS)  # 32-bit calls have other numbers
    for name in " ".join((*_ALLOWED.values(), kind.system_calls)).split():
        if sc.resolve_syscall(sc.Arch.NATIVE, name) != -1:  # a libseccomp older than the call: it stays forbidden
            rules.add_rule(sc.ALLOW, name)
    for name in ("kill", "tgkill"):
        rules.add_rule(sc.ALLOW, name, sc.Arg(0, sc.EQ, _OWN_PID))
    rules.add_rule(sc.ALLOW, "prlimit64", sc.Arg(0, sc.EQ, 0))
    if kind.files:
        rules.add_rule(sc.ALLOW, "ioctl")  # which devices it reaches is Landlock's to say
    else:
        for request in _IOCTLS:  # the kernel reads 32 bits of the request
            rules.add_rule(sc.ALLOW, "ioctl", sc.Arg(1, sc.MASKED_EQ, 0xFFFFFFFF, request))
    for command in _FCNTLS:
        rules.add_rule(sc.ALLOW, "fcntl", sc.Arg(1, sc.EQ, command))
    for option in _PRCTLS:
        rules.add_rule(sc.ALLOW, "prctl", sc.Arg(0, sc.EQ, option))
    mask = _CLONE_THREAD | _CLONE_NEW_ANYTHING
    rules.add_rule(sc.ALLOW, "clone", sc.Arg(0, sc.MASKED_EQ, mask, _CLONE_THREAD))
    rules.add_rule(sc.ERRNO(errno.ENOSYS), "clone3")  # glibc then falls back to clone, whose flags can be read here
    rules.add_rule(
        sc.ALLOW,
        "socketpair",  # datagram pairs could be pointed at other sockets
        sc.Arg(0, sc.EQ, _AF_UNIX),
        sc.Arg(1, sc.MASKED_EQ, _SOCK_TYPE_MASK, _SOCK_STREAM),
    )
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        program = file.read()
    _marks(program)  # looked for here, forks of this process know them
    return program


def for_pid(program: bytes, pid: int) -> bytes:
    """The program for one process: it may signal itself and nobody else."""
    patched = bytearray(program)
    for at in _marks(program):
        patched[at + 4 : at + 8] = pid.to_bytes(4, "little")
    return bytes(patched)


@functools.cache
def _marks(program: bytes) -> tuple[int, ...]:
    """Where the instructions are that compare with the pid."""
    mark = struct.pack("<HBBI", _JUMP_IF_EQUAL, 0, 0, _OWN_PID)
    places = range(0, len(program), 8)
    return tuple(at for at in places if (program[at : at + 2], program[at + 4 : at + 8]) == (mark[:2], mark[4:]))
