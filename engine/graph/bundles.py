"""A group of boxes while it is being made."""

from dataclasses import dataclass, field
from typing import Literal

from engine.graph.draft import Draft
from engine.trace import Span


@dataclass(slots=True, eq=False)
class Bundle:
    """One group to be."""

    kind: Literal["module", "loop", "line", "layer"]
    title: str = ""
    module: str | None = None
    pass_id: str | None = None
    repeat: int = 1
    span: Span | None = None
    items: list["Bundle | Draft"] = field(default_factory=list)


def first_draft(item: Bundle | Draft) -> Draft:
    """The first box in an item."""
    while isinstance(item, Bundle):
        item = item.items[0]
    return item
