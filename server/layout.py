"""Where everything of a graph goes when it opens (`gradgraph.layout/1`), as the frontend's
`core/layout/layout.ts` says it.

Lengths are SVG units; x grows to the right, y downwards. A knot is a point `[x, y]`."""

from typing import Literal

from engine.trace import Record

Knot = tuple[float, float]


class Placed(Record, frozen=True):
    """A box, or a group as it looks folded."""

    id: str
    """Id of the box or group in the graph; groups that cut a long list into pieces are the drawing's own."""
    x: float
    """Left side."""
    y: float
    """Top side."""
    w: float
    """Width."""
    h: float
    """Height."""


class OpenGroup(Record, frozen=True):
    """An open group, its frame around what is inside."""

    id: str
    """Id of the group, as above."""
    x: float
    """Left side."""
    y: float
    """Top side."""
    w: float
    """Width."""
    h: float
    """Height."""
    title_x: float
    """Where the header's text begins, clear of the lanes that enter through the top."""
    title_w: float
    """Room for the header's text."""


class LabelPlace(Record, frozen=True):
    """Where a label stands beside its lane."""

    x: float
    """Left side."""
    y: float
    """Top side."""
    w: float
    """Width."""
    h: float
    """Height."""
    variant: int
    """Which of the label's forms fits, 0 the most telling; -1 is a dot."""


class Badge(Record, frozen=True):
    """The scissors of a cut or the capsule of a sum over broadcast axes, in the middle of a wire."""

    x: float
    """Centre."""
    y: float
    """Centre."""
    w: float
    """Width."""
    h: float
    """Height."""
    text: float
    """Width of the words beside it."""
    bar: float
    """Half the length of a cut's bar."""
    side: Literal[1, -1]
    """Words stand right (1) or left (-1) of the bar."""
    lift: float
    """How far the words stand below its height."""


class Wire(Record, frozen=True):
    """One drawn edge: a stretch of one or more links between two things of the same level."""

    id: str
    """Unique in this layout."""
    links: tuple[str, ...]
    """Links it is a stretch of: `SOURCE>TARGET`, with `#1`, `#2` … for those parallel to the first."""
    source: str
    """What it starts at."""
    target: str
    """What it ends at."""
    knots: tuple[Knot, ...]
    """Downward through these points, vertical at each."""
    upward: bool
    """It has to go up instead."""
    labelled: bool
    """Says shape and gradient; the other stretches of the same link do not repeat them."""
    starts_at_box: bool
    """Starts on a box rather than on a group's border."""
    ends_at_box: bool
    """Ends on a box (arrow) rather than on a group's border."""
    forward: LabelPlace | None
    """Where the shape stands."""
    gradient: LabelPlace | None
    """Where the gradient stands."""
    badge: Badge | None
    """What sits in its middle."""


class Layout(Record, frozen=True):
    """Places of everything drawn."""

    format: Literal["gradgraph.layout/1"]
    """Name and version of this format."""
    boxes: tuple[Placed, ...]
    """Boxes and folded groups."""
    frames: tuple[OpenGroup, ...]
    """Open groups, outer ones first."""
    wires: tuple[Wire, ...]
    """Edges."""
    dots: tuple[Knot, ...]
    """Points where lanes branch."""
    open: tuple[str, ...]
    """The groups that are open, as they are when the graph opens."""
    x: float
    """Left side of the picture."""
    y: float
    """Top side of the picture."""
    width: float
    """Of the picture."""
    height: float
    """Of the picture."""
