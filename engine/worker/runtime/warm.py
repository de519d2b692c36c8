"""What a process does before its first run: import PyTorch and its lazy parts."""

import functools
import importlib
import os
from collections.abc import Callable

import torch

from engine.devices import ACCELERATORS, DeviceKind, kind_of

_LAZY = (
    "numpy",
    "numpy.ma",  # the first np.unique imports it, which calls builtins that a program may have replaced
    "torch._dynamo",  # the first torch.optim or torch.func call imports it: 1.5 s in a fresh fork
    "torch.nn.functional",
    "torch.nn.utils",
    "torch.optim",
    "torch.func",
    "torch.autograd.profiler",
    "torch.utils.checkpoint",
    "torch.utils.data",
    "torch.distributions",
    "torch.fx",
    "dataclasses",
    "json",
    "linecache",
    "math",
    "random",
    "tempfile",
    "traceback",
    "typing",
    "unittest.mock",
    "engine.worker.runtime.execute",
)


def warm() -> None:
    """Import everything a program is likely to need. One thread: a fork after a parallel kernel would hang."""
    torch.set_num_threads(1)
    for name in _LAZY:
        importlib.import_module(name)
    seen = {kind_of(device).name for device in devices()}
    for name, backend in (("cuda", torch.cuda), ("xpu", torch.xpu), ("mtia", torch.mtia)):
        if name not in seen:
            setattr(backend, "manual_seed_all", _seed_nothing)  # noqa: B010 - the modules do not all declare it
    repr((torch.ones(2, 2) + 2).mean())  # the first operation looks at files about the machine that no run sees
    torch.optim.SGD([torch.ones(1)]).zero_grad()  # the first one imports a monitor of the profiler


@functools.cache
def devices() -> tuple[str, ...]:
    """The accelerators there are, asked without starting them, and in a fork.

    A driver's library may start a thread as soon as it is asked (NVML of driver 580 does), and what has two threads is
    not to be forked.
    """
    return _in_a_fork(_devices) if hasattr(os, "fork") else _devices()


def _in_a_fork(ask: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """The names that a function gives; none when the process that asked did not survive it."""
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.write(writing, " ".join(ask()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as said:
        names = tuple(said.read().split())
    os.waitpid(pid, 0)
    return names


def _devices() -> tuple[str, ...]:
    return tuple(kind.spelled(index) for kind in ACCELERATORS for index in range(_count(kind)))


def _count(kind: DeviceKind) -> int:
    backend = torch.get_device_module(kind.name)
    return backend.device_count() if backend.is_available() else 0


def start(device: str, share: float) -> None:
    """Create the context of an accelerator and load the libraries a run will use. Only in a fork that ends.

    PyTorch gives a run no more than its share of the device's memory, and says so as it does when there is no more.

    No backward here: the device threads it starts would be outside the sandbox and later run the user's code there.
    """
    backend = torch.get_device_module(kind_of(device).name)
    if kind_of(device).is_indexed:
        backend.set_device(torch.device(device))
        backend.set_per_process_memory_fraction(share, torch.device(device))
    else:
        backend.set_per_process_memory_fraction(share)
    x = torch.ones(8, 8, device=device)
    (x @ x).sum().item()


def _seed_nothing(seed: int) -> None:
    """PyTorch would note the seed, and the whole call stack as text, for a device that may come later: 4 ms a fork."""
