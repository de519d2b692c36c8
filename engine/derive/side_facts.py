"""What the worker said that no part of the trace shows as it was said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.trace import CurvePoint


@dataclass(frozen=True, slots=True)
class SideFacts:
    """Facts that parts of the trace are derived from."""

    points: Sequence[CurvePoint] = ()
    """Calls of the engine that were left out."""
    lines_not_run: tuple[int, ...] = ()
    gone: Sequence[tuple[int, tuple[str, ...]]] = ()
    """What ceased to exist, tensors by first record, with the number of steps there were by then."""
    held: Sequence[tuple[int, str, tuple[str, ...]]] = ()
    """What held tensors for backward and is no node: number of steps by then, its id, the tensors."""
    storage_sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of storages that are larger than the first tensor met in them."""
    arrays: Sequence[tuple[str, tuple[str, ...]]] = ()
    """NumPy arrays at the end of the run, by name, with the storages they lie in."""
