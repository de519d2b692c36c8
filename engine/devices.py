"""The kinds of devices a program can ask for: one row each, with all that the sandbox needs to know of it.

What needs torch to ask a device is in `engine/worker/runtime/warm.py`, the same for all kinds. A new kind is a row, an
entry in `KINDS`, and what else knows CUDA by name: "add a kind of device" in docs/architecture.md has the places.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, eq=False)
class DeviceKind:
    """One kind."""

    name: str
    """As PyTorch spells it: in `torch.device`, as the module `torch.NAME`, as the method that copies a tensor there (if
    any)."""
    is_indexed: bool = True
    """There may be several, spelled `cuda:0`, `cuda:1` …; else there is one, spelled as the kind is."""
    is_forkable: bool = False
    """A process that has used it can be forked. Else each fork starts it for itself, and one that does not need it must
    not even see it, for a backward pass starts a thread for each device (pytorch 2.13: `start_device_threads`)."""
    hidden_by: str = ""
    """Environment variable that hides all devices of the kind while it is empty."""
    threads_named: str = ""
    """What the names of its driver's threads begin with. It starts them as soon as it counts devices, hidden ones too,
    and PyTorch has it count at the first backward; they hold nothing that a fork without a device needs."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What else a process finds in its environment, whether it uses the device or not."""
    reserves_address_space: bool = False
    """Its driver reserves so much that a limit on address space means nothing; the supervisor's watch has to do."""
    needs_machine_tree: bool = False
    """Its driver looks at `/proc`, `/sys` and `/dev`, so its runs keep the file tree there is."""
    readable: tuple[str, ...] = ()
    """What its driver reads."""
    files: tuple[str, ...] = ()
    """Device nodes its runs may use, any ioctl on them included; `{index}` stands for the device's own."""
    system_calls: str = ""
    """What its driver needs after it has been initialised, beside what every run may call."""

    def spelled(self, index: int) -> str:
        """One device of the kind."""
        return f"{self.name}:{index}" if self.is_indexed else self.name


CPU = DeviceKind("cpu", is_indexed=False, is_forkable=True)
CUDA = DeviceKind(
    "cuda",
    hidden_by="CUDA_VISIBLE_DEVICES",
    threads_named="cuda",
    environment={
        # otherwise asking for CUDA initialises it, and no fork can use it any more
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "TRITON_NVML_BASED_CUDA_CHECK": "1",
        "CUDA_CACHE_DISABLE": "1",
    },
    reserves_address_space=True,
    needs_machine_tree=True,
    readable=("/proc/driver/nvidia", "/proc/self", "/sys/bus/pci", "/sys/devices"),
    # by index: unlike CUDA_VISIBLE_DEVICES, that is a hard boundary
    files=("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia{index}"),
    system_calls="memfd_create mlock munlock mincore get_mempolicy set_mempolicy mbind sched_setaffinity",
)
KINDS = (CPU, CUDA)
ACCELERATORS = tuple(kind for kind in KINDS if kind is not CPU)
_BY_NAME = {kind.name: kind for kind in KINDS}

MOST_SIMULATED = 4
"""Devices that a program may ask for in a comment where there are none."""

AUTO = "auto"
"""The first accelerator there is, else the CPU."""
PATTERN = "^(auto|{})$".format("|".join(kind.name + "(:[0-9]{1,2})?" * kind.is_indexed for kind in KINDS))
"""What may be asked for."""
SPELLINGS = (AUTO, *(name for kind in KINDS for name in (kind.name, f"{kind.name}:N")[: 1 + kind.is_indexed]))
"""The same for people."""


def checked(device: str) -> str:
    """The device itself; raises ValueError for one that nothing runs on."""
    if not re.match(PATTERN, device):
        raise ValueError(
            f"{device!r} is no device a program can run on: that is {', '.join(SPELLINGS)}; "
            "choose `auto` for the first accelerator there is, else the CPU"
        )
    return device


def kind_of(device: str) -> DeviceKind:
    """The kind of a device; one that nobody knows is the worker's to explain, on the CPU."""
    return _BY_NAME.get(device.partition(":")[0], CPU)


def first_of_its_kind(device: str) -> str:
    """A device with its index: `cuda` is `cuda:0`."""
    kind = kind_of(device)
    return kind.spelled(0) if device == kind.name else device


def device_files(device: str) -> tuple[str, ...]:
    """The device nodes of one device that this machine has."""
    index = device.partition(":")[2] or "0"
    nodes = (node.format(index=index) for node in kind_of(device).files)
    return tuple(node for node in nodes if Path(node).exists())


def is_accelerator(device: str) -> bool:
    """Whether a tensor's device is one; `cpu` and `meta` are not."""
    return kind_of(device) is not CPU
