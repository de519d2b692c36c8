"""What the service and the process that draws for it say to each other."""

import msgspec

OUT_OF_MEMORY = 3
"""The process ends with this status when V8 has used up its heap."""


class Script(msgspec.Struct, tag="script"):
    """A call of the drawing code."""

    bundle: str
    function: str
    texts: tuple[str, ...]
    """Its arguments."""
    heap_bytes: int


class Png(msgspec.Struct, tag="png"):
    """An SVG to be painted."""

    svg: str
    zoom: float
    """Pixels for each of its units."""


class Pdf(msgspec.Struct, tag="pdf"):
    """An SVG to be put on a page of this size."""

    svg: str
    width_pt: float
    height_pt: float


class Job(msgspec.Struct):
    """What is to be drawn, and how long it may take."""

    what: Script | Png | Pdf
    wall_s: float


class Made(msgspec.Struct, tag="made"):
    """What came of it."""

    body: bytes


class Broken(msgspec.Struct, tag="broken"):
    """The drawing code raised."""

    why: str
