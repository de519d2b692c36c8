"""Wire format of two runs beside each other, `gradgraph.compare/1`.

`here` is the run that was asked for, `there` the other one. Lines of the two programs correspond when they read the
same but for indentation, also where they moved, or when they were changed in place; ops correspond when lines, names
and turns do; tensors when their names do, parameters that only one run names when the ops do that made or filled them.
"""

from typing import Final, Literal

import msgspec

from engine.trace import Record

FORMAT: Final = "gradgraph.compare/1"


class Difference(Record, frozen=True):
    """How two values compare."""

    verdict: Literal["same", "rounding", "differs", "shape", "dtype", "unknown"]
    """`same`: every element is equal; `rounding`: no element differs by more than 16 steps of the dtype at the
    largest one (`torch.finfo(dtype).eps` of it; 2 in half precision and bfloat16, nothing in whole numbers), as another
    order of sums makes; `differs` by more; `shape` or `dtype` is another one; `unknown`: values that neither
    trace holds."""
    largest: float | str | None = None
    """Largest |there − here| of an element; absent when it is not known."""
    relative: float | str | None = None
    """The same as a share of the largest magnitude in both."""
    figures: bool = False
    """Tensors too large for their elements to be in the traces: their figures (least, largest, mean, deviation, norm)
    were compared instead."""


class SameLines(Record, frozen=True):
    """A stretch of lines that correspond one by one."""

    here: int
    """First line here."""
    there: int
    """First line there."""
    count: int = 1
    """How many."""
    changed: bool = False
    """They read differently."""


class Side(Record, frozen=True):
    """One of the two runs in a few numbers."""

    run: str
    """Run id."""
    status: Literal["ok", "failed", "limited", "crashed"]
    """How it ended."""
    ops: int
    """Forward operations."""
    nodes: int
    """Autograd nodes."""
    depth: int
    """Nodes on the longest way through the graph."""
    passes: int
    """Calls of the engine, those during another one not counted."""
    loss: float | str | None = None
    """Value of the last root that has one element."""
    root: str | None = None
    """What the program calls that root."""
    failure: str | None = None
    """What stopped it, such as `RuntimeError`."""
    failure_line: int | None = None
    """The line that was running then."""


class Named(Record, frozen=True):
    """A tensor by its name, at the end of both runs."""

    name: str
    """Its name here, or there when only the other run has it."""
    role: Literal["leaf", "parameter", "buffer", "constant", "result", "gradient", "seed", "state", "saved"]
    """Its role in the trace."""
    here: str | None = None
    """Its last record here."""
    there: str | None = None
    """Its last record there."""
    name_there: str | None = None
    """Its name there, when that is another one: `net.0.weight` for `model.0.weight`."""
    value: Difference | None = None
    """How its values compare; absent when only one run has it."""
    gradient_here: str | None = None
    """Its `.grad` here; absent for None."""
    gradient_there: str | None = None
    """Its `.grad` there."""
    gradient: Difference | None = None
    """How the gradients compare; absent unless both have one."""


class Plain(Record, frozen=True):
    """A name bound to something that is no tensor, and whose values differ."""

    name: str
    """The name."""
    here: str | None
    """The repr here, at most 80 characters; null when it is not bound."""
    there: str | None
    """The repr there."""


class Printed(Record, frozen=True):
    """The first printed line that differs."""

    line: int
    """Which one, from 1."""
    here: str | None
    """The line here, at most 200 characters; null beyond the last one."""
    there: str | None
    """The line there."""


class OpPair(Record, frozen=True):
    """Two ops that correspond."""

    here: str
    """The op here."""
    there: str
    """The op there."""


class Split(Record, frozen=True):
    """A place where the two runs differ for the first time."""

    here: str | None
    """The op here; for a gradient, the node."""
    there: str | None
    """The op there; for a gradient, the node."""
    line: int | None = None
    """Its line here."""
    line_there: int | None = None
    """Its line there."""
    tensor_here: str | None = None
    """The tensor that differs, here."""
    tensor_there: str | None = None
    """The same one there."""
    given: bool = False
    """The tensor was given to the op and not made by one: a parameter, a buffer."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """For a gradient: the pass here."""


class Comparison(Record, frozen=True, kw_only=True):
    """Two runs beside each other."""

    format: Literal["gradgraph.compare/1"]
    """Name and version of this format."""
    here: Side
    """The run that was asked for."""
    there: Side
    """The other one."""
    differs: bool
    """Whether anything but code, printed text and times differs beyond rounding."""
    lines: tuple[SameLines, ...]
    """Lines that correspond, in the order here; all others are in one program only."""
    tensors: tuple[Named, ...]
    """Leaves, parameters and tensor variables by name, at most 1,000."""
    tensors_omitted: int = 0
    """How many names were left out."""
    plain: tuple[Plain, ...] = ()
    """Numbers, strings and other values whose repr differs, at most 100."""
    printed: Printed | None = None
    """Where the printed text differs first."""
    matched: int = 0
    """Ops that correspond."""
    differing: tuple[OpPair, ...] = ()
    """Of those, the ones whose results differ beyond rounding, at most 1,000."""
    only_here: tuple[str, ...] = ()
    """Ops that have no counterpart there, at most 1,000."""
    only_there: tuple[str, ...] = ()
    """Ops there that have no counterpart here, at most 1,000."""
    value: Split | None = None
    """The first op, in the order here, whose results differ beyond rounding or that only one of the two could do."""
    graph: Split | None = None
    """The first op that made other nodes, or whose nodes lead to others."""
    gradient: Split | None = None
    """The first node, in the order the engine ran them, that a different gradient entered."""
    findings_here: tuple[int, ...] = ()
    """Findings that only this run has: indices into its `findings`."""
    findings_there: tuple[int, ...] = ()
    """Findings that only the other run has."""
