"""The graph to draw: a trace plus a choice of root, pass and level becomes boxes, links and groups. Pure."""

from engine.graph.choice import NoSuchChoice, pass_at
from engine.graph.types import FORMAT, Box, BoxParameter, Graph, Group, Level, Link, RootChoice
from engine.graph.view import view

__all__ = [
    "FORMAT",
    "Box",
    "BoxParameter",
    "Graph",
    "Group",
    "Level",
    "Link",
    "NoSuchChoice",
    "RootChoice",
    "pass_at",
    "view",
]
