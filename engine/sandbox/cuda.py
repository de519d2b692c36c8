"""What a run on a GPU may reach beyond one on the CPU: the driver's interface is large, so its sandbox is weaker."""

from pathlib import Path

_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")

SYSTEM_CALLS = "memfd_create mlock munlock mincore get_mempolicy set_mempolicy mbind sched_setaffinity"
"""What the driver needs after it has been initialised; and any ioctl, on the device files only."""

READABLE = ("/proc/driver/nvidia", "/proc/self", "/sys/bus/pci", "/sys/devices")


def is_cuda(device: str) -> bool:
    """Whether a run on this device needs CUDA."""
    return device.startswith("cuda")


def device_files(device: str) -> tuple[str, ...]:
    """The device nodes of one GPU. By index: unlike CUDA_VISIBLE_DEVICES, that is a hard boundary."""
    _, _, index = device.partition(":")
    nodes = (*_NODES, f"/dev/nvidia{index or 0}")
    return tuple(node for node in nodes if Path(node).exists())
