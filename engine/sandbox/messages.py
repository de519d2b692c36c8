"""What the server and the zygote say to each other: one JSON message a packet, descriptors beside it."""

import msgspec

from engine.devices import CPU
from engine.sandbox.canary import Targets
from engine.trace import Record

OUT_OF_MEMORY = 96
"""Exit code of a child that had no memory left to say what happened."""


class Config(Record, frozen=True):
    """What a zygote is told when it starts."""

    staging: str
    """An empty folder of its own: the private root is built on it, or runs get their folders in it."""
    slots: int
    """How many runs may live at once, waiting ones included."""
    import_path: str
    """Where the engine is imported from; taken off `sys.path` before any program runs."""
    namespaces: bool = True
    """Whether to use namespaces where the machine allows."""
    kind: str = CPU.name
    """Kind of device its runs get."""
    device_share: float = 1.0
    """Share of a device's memory each run may take."""


class Spawn(Record, frozen=True, tag=True):
    """Server: fork one child and let it wait for a request."""

    id: int
    """Number of the child, never used twice."""
    device: str = "cpu"
    """An accelerator is started before the sandbox closes."""
    prefault: bool = False
    """There is time to get the process's own copies of the pages that a run writes to."""
    canary: Targets | None = None
    """It shall attack these instead of running a program."""


class Ready(Record, frozen=True, tag=True):
    """Zygote: everything is imported and the layers are prepared."""

    layers: tuple[str, ...]
    """Layers every child closes, in order."""
    canary: str
    """A file that every run finds and none may read."""
    devices: tuple[str, ...] = ()
    """Accelerators that PyTorch sees."""


class Spawned(Record, frozen=True, tag=True):
    """Zygote: the child exists. Beside it: request (write), events (read), output (read), pidfd."""

    id: int
    """Number of the child."""
    pid: int
    """Its pid as the server sees it."""


class Exited(Record, frozen=True, tag=True):
    """Zygote: the child is gone, its files too."""

    id: int
    """Number of the child."""
    status: int
    """Wait status."""
    cpu_s: float
    """Processor time of all its threads, in seconds."""
    overfilled: bool = False
    """It was killed for what it had put into its folder."""


FromZygote = Ready | Spawned | Exited

encode = msgspec.json.Encoder().encode
decode_config = msgspec.json.Decoder(Config).decode
decode_spawn = msgspec.json.Decoder(Spawn).decode
decode_from_zygote = msgspec.json.Decoder(FromZygote).decode
