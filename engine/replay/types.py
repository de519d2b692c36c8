"""Wire format of the engine at work, `gradgraph.engine/1`.

The engine takes nodes from a ready queue until it is empty. A node becomes ready when nothing that leads to it is left
to run; of the ready ones the node made last goes first, and an AccumulateGrad before all others. `state` is what the
engine holds before step `from`; what each step changes leads from there to the state before any later one.
"""

from typing import Final, Literal

import msgspec

from engine.trace import Record

FORMAT: Final = "gradgraph.engine/1"


class Open(Record, frozen=True):
    """A node that cannot run yet."""

    node: str
    """The node."""
    count: int
    """Its dependencies that are still open: edges that lead to it and over which nothing has come."""


class Arrived(Record, frozen=True):
    """A gradient in the input buffer of a node; those at one input are added up as they come."""

    node: str
    """The node it waits at."""
    input_nr: int
    """Which input of that node."""
    tensor: str | None
    """The gradient; null for an undefined one, which closes the dependency all the same."""
    source: str | None = None
    """The node it came from; absent for a seed."""
    slot: int = 0
    """The slot of that node's edges."""


class EngineState(Record, frozen=True):
    """What the engine holds before a step."""

    open: tuple[Open, ...]
    """Nodes that will run but are not ready, with their dependencies."""
    arrived: tuple[Arrived, ...]
    """Gradients in the buffers of nodes that have not run, ready or not, in the order they came."""
    queue: tuple[str, ...]
    """Ready nodes, the next one first."""


class EngineStep(Record, frozen=True):
    """One node taken from the ready queue."""

    node: str
    """The node."""
    outcome: Literal["ran", "captured", "skipped", "failed"]
    """`ran`; `captured`: its gradient was taken for `inputs`, and nothing asks for more; `skipped`: a root that leads
    to none of the `inputs`; `failed`: it was taken up and raised, or the run was stopped in it."""
    visit: int | None = None
    """Index into the pass's visits, when it ran."""
    captured: bool = False
    """A gradient that entered it was taken for `inputs`."""
    expected: str | None = None
    """The node this model would have taken, when PyTorch took another."""
    queue: tuple[str, ...] = ()
    """Ready nodes before the step, the next one first, at most 32 of them."""
    queued: int = 0
    """How many ready nodes there were."""
    sent: tuple[Arrived, ...] = ()
    """What it put into the buffers of other nodes."""
    closed: tuple[Open, ...] = ()
    """Dependencies of the nodes it sent to, after the step; 0 for one that became ready."""
    ready: tuple[str, ...] = ()
    """Nodes that became ready by it, in the order they entered the queue."""


class Engine(Record, frozen=True, kw_only=True):
    """The engine at work in one pass."""

    format: Literal["gradgraph.engine/1"]
    """Name and version of this format."""
    pass_id: str = msgspec.field(name="pass")
    """The pass."""
    total: int
    """Steps of the whole pass, as far as they are known."""
    start: int = msgspec.field(name="from")
    """Number of the first step told, from 0."""
    agrees: bool
    """Whether PyTorch took every node of the pass that this model would have taken."""
    state: EngineState
    """What the engine held before step `from`."""
    steps: tuple[EngineStep, ...]
    """The steps from there on."""
    reason: Literal["", "nodes", "visits", "order", "edges"] = ""
    """Why the steps after the last cannot be told: `nodes` or `visits` were left out of the trace, an `order` this
    model does not know, or `inputs` whose `edges` are not in the trace."""
