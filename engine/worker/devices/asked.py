"""The comment in which a program asks for devices, and what stands for `torch.cuda` where they are simulated."""

import re
from types import TracebackType
from typing import Any

import torch

from engine.devices import MOST_SIMULATED
from engine.events import Found
from engine.worker.capture.ops import Recording
from engine.worker.devices.labels import label_of, put
from engine.worker.devices.simulated import Simulated
from engine.worker.pytorch.patching import EntryPoint, Patches

_LINE = re.compile(r"^#\s*devices\s*[:：](?P<names>.*)$")
_NAMED = re.compile(r"(?:(?:cuda|cpu|gpu|mps|xpu):?\d*)?", re.IGNORECASE)
"""What is meant for a device, though it may be none: any other word is one of a sentence."""
_BEFORE_CPU = 9
"""Who is asked where a stored tensor is, before PyTorch looks itself (torch/serialization.py)."""
_REFUSED = """memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_stats memory_summary
    mem_get_info get_device_properties get_device_capability Event Stream stream""".split()


def simulate_devices(source: str, mode: Recording, patches: Patches) -> None:
    """Simulates the devices that a comment above the first statement names, where there are fewer GPUs."""
    for line, text in enumerate(source.splitlines(), 1):
        if text.strip() and not text.startswith("#"):
            return
        asked = _LINE.match(text)
        if asked is not None:
            names = re.split(r"[,，、\s]+", asked["names"].strip())
            right = [f"cuda:{index}" for index in range(max(1, min(len(names), MOST_SIMULATED)))]
            site = mode.recorder.sites.fixed((line, line, 0, len(text)))
            facts = {"devices": ", ".join(right)}
            if torch.cuda.device_count() >= len(right):
                return
            if names != right:
                if "cuda" not in source or not all(map(_NAMED.fullmatch, names)):
                    return
                mode.recorder.outbox.say(Found("devices_misread", "warning", site, facts))
                return
            mode.recorder.outbox.say(Found("devices_simulated", "note", site, facts))
            mode.beneath = Simulated([torch.device(name) for name in names], mode.thread)
            _replace(mode.beneath, patches)
            return


def _replace(simulated: Simulated, patches: Patches) -> None:
    """What `torch.cuda` says of them. Stored tensors say their device, and are read to it."""

    def index_of(device: Any) -> int:
        return simulated.current if device is None else simulated.named(device).index or 0

    def set_device(device: Any) -> None:
        simulated.current = index_of(device)

    class Current:
        """Has what programs use of `torch.cuda.device`."""

        def __init__(self, device: Any) -> None:
            self.idx = index_of(device)

        def __enter__(self) -> None:
            self.prev_idx, simulated.current = simulated.current, self.idx

        def __exit__(self, kind: type[BaseException] | None, error: object, at: TracebackType | None) -> None:
            simulated.current = self.prev_idx

    def answers(name: str, answer: Any) -> None:
        patches.replace(EntryPoint(torch.cuda, name), answer)

    answers("is_available", lambda: True)
    answers("device_count", lambda: len(simulated.devices))
    answers("current_device", lambda: simulated.current)
    answers("set_device", set_device)
    answers("device", Current)
    answers("get_device_name", lambda device=None: f"simulated device {index_of(device)}")
    answers("synchronize", index_of)
    answers("empty_cache", lambda: None)
    for name in _REFUSED:
        answers(name, _refusing(name))
    patches.replace(EntryPoint(torch.cuda.amp.common, "amp_definitely_not_available"), lambda: True)
    torch.serialization.register_package(_BEFORE_CPU, _stored_at, lambda memory, at: _read_to(simulated, memory, at))


def _refusing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"torch.cuda.{name}: the devices of this run are simulated by the CPU; they have tensors, but no memory,"
            " streams or properties of their own. Leave this call out, or run the program on a machine with GPUs"
        )

    return refuse


def _stored_at(memory: Any) -> str | None:
    device = label_of(memory)
    return None if device is None or device.type == "cpu" else str(device)


def _read_to(simulated: Simulated, memory: Any, at: str) -> Any:
    if not at.startswith("cuda"):
        return None
    put(memory, simulated.named(at))
    return memory
