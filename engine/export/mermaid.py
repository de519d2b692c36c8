"""The graph in Mermaid's language."""

from collections import defaultdict

from engine.export.labels import Labels, Language
from engine.graph import Box, Graph, Group, Link
from engine.trace import Trace

_ARROWS = {"data": "-->", "ghost": "-.->", "cut": "-.-x", "exchange": "<-.->"}
_SPECIAL = '&#"<>`\\%;'


def mermaid(graph: Graph, trace: Trace, language: Language = "en") -> str:
    """A flowchart with groups as subgraphs; values and gradients of the graph's pass on boxes and edges."""
    labels = Labels(graph, trace, language)
    lines = ["flowchart TD"]
    boxes: dict[str | None, list[Box]] = defaultdict(list)
    for box in graph.boxes:
        boxes[box.group].append(box)
    lines += _groups(graph.groups, boxes, labels)
    for box in boxes[None]:
        lines += _box(box, labels)
    lines += [_link(link, labels) for link in graph.links]
    if graph.omitted:
        lines.append(f"  omitted[{_quoted([labels.omitted(graph.omitted)])}]:::ghost")
    lines += [
        "  classDef leaf stroke-width:3px",
        "  classDef ghost stroke-dasharray:4 3,fill:none",
    ]
    return "\n".join(lines) + "\n"


def _groups(groups: tuple[Group, ...], boxes: dict[str | None, list[Box]], labels: Labels) -> list[str]:
    """Subgraphs inside subgraphs, without recursion: the innermost are finished first."""
    inside: dict[str | None, list[str]] = defaultdict(list)
    for group in reversed(groups):
        own = [line for box in boxes[group.id] for line in _box(box, labels)]
        block = [f"  subgraph {group.id}[{_quoted([labels.group(group)])}]", *own, *inside.pop(group.id, []), "  end"]
        inside[group.parent] = block + inside[group.parent]
    return inside[None]


def _box(box: Box, labels: Labels) -> list[str]:
    style = "" if box.kind in ("op", "collective") else f":::{box.kind}"
    lines = [f"  {box.id}[{_quoted(labels.box(box))}]{style}"]
    for number, constant in enumerate(box.constants):
        lines.append(f"  {box.id}_c{number}([{_quoted([constant])}]):::ghost -.-> {box.id}")
    return lines


def _link(link: Link, labels: Labels) -> str:
    lines = labels.link(link)
    label = f"|{_quoted(lines)}|" if lines else ""
    return f"  {link.source} {_ARROWS[link.kind]}{label} {link.target}"


def _quoted(lines: list[str]) -> str:
    """Lines as one Mermaid string; whatever Mermaid would read as syntax is written as a character number."""
    return '"' + "<br/>".join(_escaped(" ".join(line.split())) for line in lines) + '"'


def _escaped(text: str) -> str:
    return "".join(f"#{ord(letter)};" if letter in _SPECIAL else letter for letter in text)
