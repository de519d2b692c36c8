"""The graph in Graphviz's language."""

from collections import defaultdict

import graphviz

from engine.export.labels import Labels, Language
from engine.graph import Box, Graph, Group, Link
from engine.trace import Trace

_STYLES = {"op": "solid", "leaf": "bold", "ghost": "dashed", "collective": "bold"}
_EDGES = {
    "data": {"style": "solid"},
    "ghost": {"style": "dashed", "color": "#6C6F74"},
    "cut": {"style": "dashed", "color": "#B3261E", "fontcolor": "#B3261E"},
    "exchange": {"style": "dashed"},
}


def dot(graph: Graph, trace: Trace, language: Language = "en") -> str:
    """DOT source with groups as clusters; values and gradients of the graph's pass on boxes and edges."""
    labels = Labels(graph, trace, language)
    picture = graphviz.Digraph(
        comment=f"gradgraph {graph.run}",
        graph_attr={"rankdir": "TB", "fontname": "monospace", "fontsize": "11"},
        node_attr={"shape": "box", "fontname": "monospace", "fontsize": "11"},
        edge_attr={"fontname": "monospace", "fontsize": "10"},
    )
    boxes: dict[str | None, list[Box]] = defaultdict(list)
    for box in graph.boxes:
        boxes[box.group].append(box)
    _draw_groups(picture, graph.groups, boxes, labels)
    for link in graph.links:
        _draw_link(picture, link, labels)
    if graph.omitted:
        picture.node("omitted", _label([labels.omitted(graph.omitted)]), shape="plaintext")
    return str(picture.source)


def _draw_groups(
    picture: graphviz.Digraph, groups: tuple[Group, ...], boxes: dict[str | None, list[Box]], labels: Labels
) -> None:
    """Clusters inside clusters, without recursion: the innermost are finished first."""
    clusters: dict[str | None, graphviz.Digraph] = {None: picture}
    for group in groups:
        clusters[group.id] = graphviz.Digraph(
            name=f"cluster_{group.id}", graph_attr={"label": _label([labels.group(group)]), "style": "rounded"}
        )
    for group in reversed(groups):
        cluster = clusters[group.id]
        _draw_boxes(cluster, boxes[group.id], labels)
        clusters[group.parent].subgraph(cluster)
    _draw_boxes(picture, boxes[None], labels)


def _draw_boxes(picture: graphviz.Digraph, boxes: list[Box], labels: Labels) -> None:
    for box in boxes:
        picture.node(box.id, _label(labels.box(box)), style=_STYLES[box.kind])
        for number, constant in enumerate(box.constants):
            stub = f"{box.id}_c{number}"
            picture.node(stub, _label([constant]), style="dashed", fontsize="9")
            picture.edge(stub, box.id, style="dotted")


def _draw_link(picture: graphviz.Digraph, link: Link, labels: Labels) -> None:
    picture.edge(link.source, link.target, _label(labels.link(link)), **_EDGES[link.kind])


def _label(lines: list[str]) -> str:
    """Lines as one DOT string: backslashes kept as they are, never read as HTML."""
    text = "\\n".join(" ".join(line.split()).replace("\\", "\\\\") for line in lines)
    label: str = graphviz.nohtml(text)
    return label
