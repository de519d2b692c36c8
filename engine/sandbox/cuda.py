"""The GPU part of a child: CUDA starts before the sandbox closes, because its start needs what the sandbox forbids."""

from pathlib import Path

import torch


def initialise(device: str) -> None:
    """Create the context and load the libraries a run will use. Only ever in a child: CUDA does not survive a fork.

    No backward here: the engine's device threads would start outside the sandbox and run the user's code there.
    """
    torch.cuda.set_device(torch.device(device))
    x = torch.ones(8, 8, device=device)
    (x @ x).sum().item()


def device_files(device: str) -> tuple[str, ...]:
    """The device nodes one GPU is driven by."""
    index = torch.device(device).index or 0
    nodes = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", f"/dev/nvidia{index}")
    return tuple(node for node in nodes if Path(node).exists())
