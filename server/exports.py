"""What a run can be taken away as: one row a format, the same for the routes and the command line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from engine.export.dot import dot
from engine.export.mermaid import mermaid
from engine.export.script import runnable
from engine.export.tikz import Layout, tikz
from engine.export.timing import timing
from engine.graph import Graph
from engine.trace import Record, Trace
from server.problems import Language
from server.standalone import Parts, Player, Selected, standalone

Asking = Literal["on", "off"]

_layout = msgspec.json.Decoder(Layout).decode
_parts = msgspec.json.Decoder(Parts).decode


class Look(Record, frozen=True):
    """How to draw it; the options of the frontend's static bundle."""

    lang: Language = "en"
    """Language of the words in the picture."""
    theme: Literal["light", "dark", "auto"] = "light"
    """Colours; `auto` follows the reader's system, which only a player can."""
    step: int | None = None
    """Step of the timeline the picture shows; null for the end."""
    expanded: tuple[str, ...] | None = None
    """Groups that are open; null for those that open by themselves."""
    selection: Selected | None = None
    """What is selected."""
    width: int | None = None
    """Pixels across; null for as large as it is drawn."""
    height: int | None = None
    """Pixels down, where both are given; the graph stands in the middle."""
    questions: Asking = "on"
    """Whether what the program asks is asked: a picture shows what was there before the first question."""


@dataclass(frozen=True)
class Picture:
    """A format of a graph."""

    media_type: str
    says: str
    """What it is, for who reads the documentation."""
    begins: object
    """An example's beginning."""
    drawn: Literal["svg", "png", "pdf", "layout", "parts"] | None = None
    """What the process that draws makes for it first."""
    write: Callable[[Trace, Graph, Look, bytes], bytes] | None = None
    """From trace, graph, look and what was drawn; None: it is what was drawn."""


@dataclass(frozen=True)
class File:
    """A format of the whole run."""

    media_type: str
    says: str
    begins: object
    write: Callable[[Trace], bytes]


def _tikz(trace: Trace, graph: Graph, look: Look, layout: bytes) -> bytes:
    return tikz(graph, trace, _layout(layout), look.lang).encode()


def _player(trace: Trace, look: Look, parts: bytes) -> Player:
    step = {} if look.step is None else {"step": str(look.step)}
    made = _parts(parts)
    asking = {} if look.questions == "on" else {"questions": "off"}
    opens = {"lang": look.lang, "theme": look.theme, **step, **asking}
    return Player(
        format="gradgraph.player/1", trace=trace, opens=opens, selection=look.selection, parts=made.parts,
        titles=made.titles,
    )  # fmt: skip


PICTURES = {
    "svg": Picture("image/svg+xml", "The graph as the page draws it.", "<svg …", "svg"),
    "png": Picture("image/png", "The same picture as pixels, twice its size in SVG units.", "PNG", "png"),
    "pdf": Picture("application/pdf", "The same picture as one page of curves and text.", "%PDF-", "pdf"),
    "dot": Picture(
        "text/vnd.graphviz", "The graph in Graphviz's language.", "digraph …",
        write=lambda trace, graph, look, _: dot(graph, trace, look.lang).encode(),
    ),
    "mmd": Picture(
        "text/vnd.mermaid", "The graph in Mermaid's language.", "flowchart TB …",
        write=lambda trace, graph, look, _: mermaid(graph, trace, look.lang).encode(),
    ),
    "tikz": Picture(
        "text/x-tex", "The graph in TikZ, placed as the page places it: a LaTeX document.", "\\documentclass …",
        "layout", _tikz,
    ),
    "html": Picture(
        "text/html", "The graph with its player in one file that needs no server.", "<!doctype html> …", "parts",
        lambda trace, _graph, look, parts: standalone(_player(trace, look, parts)),
    ),
    "player": Picture(
        "application/json", "All that a player shows of the run, for the module `/embed.mjs`.",
        {"format": "gradgraph.player/1"}, "parts",
        lambda trace, _graph, look, parts: msgspec.json.encode(_player(trace, look, parts)),
    ),
}  # fmt: skip
"""Formats of a graph by extension."""

FILES = {
    "program.py": File(
        "text/x-python", "The program with its seed, threads and versions in a head: it runs by itself.", "# A run …",
        lambda trace: runnable(trace, f"Run {trace.id}").encode(),
    ),
    "timing.json": File(
        "application/json", "Where the time went, for chrome://tracing and Perfetto.", {"traceEvents": []}, timing
    ),
}  # fmt: skip
"""Formats of the whole run by file name."""
