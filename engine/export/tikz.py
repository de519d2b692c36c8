"""The graph in TikZ: a LaTeX document of one picture, laid out as the page lays it out."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from engine.export.labels import Labels, Language
from engine.graph import Box, Graph, Group, Link
from engine.trace import Trace

_HEAD = r"""% By itself: xelatex or lualatex; pdflatex where all text is Latin.
% In a document: \usepackage{standalone}, \input of this file.
\documentclass[tikz,border=6pt]{standalone}
\usepackage{iftex}
\ifPDFTeX\usepackage[T1]{fontenc}\fi
\ifXeTeX\IfFileExists{xeCJK.sty}{\usepackage{xeCJK}}{\usepackage{fontspec}%
  \IfFontExistsTF{Noto Sans Mono CJK SC}{\setmonofont{Noto Sans Mono CJK SC}}{}}\fi
\ifLuaTeX\IfFileExists{luatexja.sty}{\usepackage{luatexja}}{}\fi
\begin{document}
\begin{tikzpicture}[x=0.75pt, y=-0.75pt, font=\fontsize{7}{8.6}\ttfamily, >=latex,
  box/.style={draw, fill=white, rounded corners=2pt, inner sep=1pt, align=center},
  leaf/.style={box, very thick}, ghost/.style={box, dashed}, folded/.style={box, double},
  frame/.style={draw=gray, rounded corners=3pt}, constant/.style={gray, font=\fontsize{6}{7}\ttfamily},
  data/.style={->}, back/.style={->, dashed, gray}, cut/.style={->, dashed, red!70!black},
  said/.style={fill=white, font=\fontsize{5.5}{6.5}\ttfamily, align=left, inner sep=1.5pt}]
"""
_TAIL = "\\end{tikzpicture}\n\\end{document}\n"

_STYLES = {"op": "box", "leaf": "leaf", "ghost": "ghost", "collective": "box"}
_WIRES = {"data": "data", "ghost": "back", "cut": "cut", "exchange": "back"}
_POINTS_PER_PX = 0.75
_BETWEEN_FACTS = "   "
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "_": r"\_",
        "%": r"\%",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        '"': r"\textquotedbl{}",
        "'": r"\textquotesingle{}",
        "`": r"\textasciigrave{}",
        "-": "{-}",
        "−": r"\ensuremath{-}",
        "×": r"\ensuremath{\times}",
        "→": r"\ensuremath{\to}",
        "·": r"\ensuremath{\cdot}",
        "∇": r"\ensuremath{\nabla}",
        "Σ": r"\ensuremath{\Sigma}",
        "∞": r"\ensuremath{\infty}",
    }
)


class Place(msgspec.Struct, frozen=True):
    """Where a box, or the frame of an open group, stands; in CSS pixels, y downward."""

    id: str
    x: float
    y: float
    w: float
    h: float


class Wire(msgspec.Struct, frozen=True):
    """An edge: through its knots, vertical at each."""

    links: tuple[str, ...]
    knots: tuple[tuple[float, float], ...]
    labelled: bool


class Layout(msgspec.Struct, frozen=True):
    """What the picture takes of `gradgraph.layout/1`."""

    boxes: tuple[Place, ...]
    frames: tuple[Place, ...]
    wires: tuple[Wire, ...]


def tikz(graph: Graph, trace: Trace, layout: Layout, language: Language = "en") -> str:
    """A document with values and gradients of the graph's pass on boxes and edges; groups as the layout has them."""
    labels = Labels(graph, trace, language)
    things: dict[str, Box | Group] = {box.id: box for box in graph.boxes} | {group.id: group for group in graph.groups}
    links = _by_id(graph)
    lines = [_frame(place, things[place.id], labels) for place in layout.frames]
    lines += [line for wire in layout.wires for line in _wire(wire, links, labels)]
    lines += [line for place in layout.boxes for line in _box(place, things[place.id], labels)]
    if graph.omitted:
        lines.append(rf"\node[said, anchor=south west] at (0,-8) {{{_latex([labels.omitted(graph.omitted)])}}};")
    return _HEAD + "".join(f"  {line}\n" for line in lines) + _TAIL


def _by_id(graph: Graph) -> dict[str, Link]:
    """Links by the id that a layout gives them: source and target, and of more between the same two a number."""
    links: dict[str, Link] = {}
    seen: Counter[str] = Counter()
    for link in graph.links:
        pair = f"{link.source}>{link.target}"
        links[f"{pair}#{seen[pair]}" if seen[pair] else pair] = link
        seen[pair] += 1
    return links


def _frame(place: Place, thing: Box | Group, labels: Labels) -> str:
    title = _latex([labels.group(thing)]) if isinstance(thing, Group) else ""
    corner = f"({place.x + place.w:g},{place.y + place.h:g})"
    return (
        rf"\draw[frame] ({place.x:g},{place.y:g}) rectangle {corner}; "
        rf"\node[said, anchor=north west] at ({place.x:g},{place.y:g}) {{{title}}};"
    )


def _box(place: Place, thing: Box | Group, labels: Labels) -> Iterator[str]:
    """The box, its lines broken where they are wide; beside it the constants that enter it."""
    if isinstance(thing, Box):
        style, lines, constants = _STYLES[thing.kind], labels.box(thing), thing.constants
    else:
        style, lines, constants = "folded", [labels.group(thing)], ()
    width, height = (f"{_POINTS_PER_PX * side:g}pt" for side in (place.w, place.h))
    middle = f"({place.x + place.w / 2:g},{place.y + place.h / 2:g})"
    size = f"minimum width={width}, minimum height={height}, text width={width}"
    yield rf"\node[{style}, {size}] at {middle} {{{_latex(lines)}}};"
    if constants:
        left = f"({place.x:g},{place.y + place.h / 2:g})"
        yield rf"\node[constant, anchor=east] at {left} {{{_latex([' '.join(constants)])}}};"


def _wire(wire: Wire, links: dict[str, Link], labels: Labels) -> Iterator[str]:
    """The curve, and beside its middle what its first link says."""
    link = links[wire.links[0]]
    path = "({:g},{:g})".format(*wire.knots[0])
    for (x, y), (to_x, to_y) in zip(wire.knots, wire.knots[1:], strict=False):
        half = (y + to_y) / 2
        path += f" .. controls ({x:g},{half:g}) and ({to_x:g},{half:g}) .. ({to_x:g},{to_y:g})"
    yield rf"\draw[{_WIRES[link.kind]}] {path};"
    said = labels.link(link)
    if wire.labelled and said:
        (x, y), (to_x, to_y) = wire.knots[-2:]
        yield rf"\node[said, anchor=west] at ({(x + to_x) / 2:g},{(y + to_y) / 2:g}) {{{_latex(said)}}};"


def _latex(lines: list[str]) -> str:
    r"""Lines as LaTeX text, joined by `\\`; nothing in them is a command. Facts of a line keep a distance."""
    facts = ([" ".join(fact.split()).translate(_LATEX) for fact in line.split(_BETWEEN_FACTS)] for line in lines)
    return r" \\{} ".join(r" \quad ".join(each) for each in facts)
