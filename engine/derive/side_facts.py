"""What the worker said that no part of the trace shows as it was said."""

from dataclasses import dataclass, field

from engine.trace import CurvePoint


@dataclass(slots=True)
class SideFacts:
    """Facts that the parts are derived from."""

    points: list[CurvePoint] = field(default_factory=list)
    """Calls of the engine that were left out."""
    lines_not_run: tuple[int, ...] = ()
    gone: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    """What ceased to exist, tensors by first record, with the number of steps there were by then."""
    held: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    """What held tensors for backward and is no node: number of steps by then, its number, the tensors."""
    rooms: dict[str, int] = field(default_factory=dict)
    """Bytes of storages that are larger than the first tensor met in them."""
    arrays: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    """NumPy arrays at the end of the run, by name, with the storages they lie in."""
