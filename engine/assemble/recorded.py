"""What a worker said, by kind: decoded and frozen. Things still refer to each other by number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine import events as ev
from engine.trace import Span

EngineEvent = ev.PassStarted | ev.Visited | ev.HookDone | ev.Accumulated | ev.PassEnded
"""What tells of calls of the autograd engine."""

TimedEvent = (
    EngineEvent
    | ev.OpRan
    | ev.Updated
    | ev.BatchTaken
    | ev.HookFired
    | ev.ModuleCalled
    | ev.ModuleLeft
    | ev.Printed
    | ev.Warned
    | ev.Skipped
    | ev.SkippedBefore
    | ev.Gone
    | ev.Held
)
"""What happened at a point of the timeline."""


@dataclass(slots=True)
class LaterWords:
    """What later events said of a tensor."""

    role: ev.Role | None = None
    requires_grad: bool | None = None
    node: int = 0
    output_nr: int = 0
    base: int = 0
    grad: int = 0
    stored: bool = False
    names: list[str] = field(default_factory=list)


class SkippedTurns(NamedTuple):
    """Turns of a long loop that were left out."""

    event: ev.Skipped
    ops_before: int
    """How many ops were recorded before them."""


@dataclass(frozen=True)
class Recorded:
    """One run in a worker's words."""

    damage: str
    """What was wrong with the first line that is no event; empty when all are."""
    started: ev.Started | None
    ended: ev.Ended | None
    failed: ev.Failed | None
    last_line: int
    """The line that a run which takes long was last seen at."""
    spans: Mapping[int, Span]
    """By number of the site."""
    functions: Mapping[int, ev.FunctionSeen]
    tensors: Mapping[int, ev.TensorSeen]
    later_words: Mapping[int, LaterWords]
    """By tensor."""
    ops: Mapping[int, ev.OpRan]
    buckets: Mapping[tuple[int, int], tuple[int, ...]]
    """Parameters, by collective and thread."""
    ranks: Mapping[int, int]
    """By number of the thread."""
    reads: Mapping[int, Sequence[ev.CellsRead]]
    """By op."""
    nodes: Mapping[int, ev.NodeSeen]
    updates: Sequence[ev.Updated]
    modules: Mapping[int, ev.ModuleSeen]
    modules_omitted: int
    calls: Mapping[int, ev.ModuleCalled]
    hooks: Mapping[int, ev.HookFired]
    hooks_done: Mapping[int, ev.HookDone]
    variables: Sequence[ev.VariableSeen]
    arrays: Sequence[ev.ArraySeen]
    storage_sizes: Sequence[ev.StorageSize]
    found: Sequence[ev.Found]
    lines_not_run: tuple[int, ...]
    curve: Sequence[ev.CurveSaid]
    omitted: Mapping[str, ev.Omitted]
    """By what was left out."""
    skipped: Sequence[SkippedTurns]
    checked: Sequence[ev.LeafChecked]
    jacobians: Sequence[ev.JacobianSeen]
    surface: ev.SurfaceSeen | None
    walked: Sequence[ev.Walked]
    functions_entered: Sequence[ev.FunctionEntered]
    statements: Sequence[ev.StatementRan]
    functions_left: Sequence[ev.FunctionLeft]
    engine_events: Sequence[EngineEvent]
    timed_events: Sequence[TimedEvent]
    """In the order they happened."""
    texts_cut: int
    """How many texts were too long."""
