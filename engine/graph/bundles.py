"""A group of boxes while it is being made."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from engine.graph.draft import Draft
from engine.trace import Span


@dataclass(slots=True, eq=False)
class Bundle:
    """One group to be."""

    kind: Literal["module", "loop", "line", "layer", "rank", "device", "recursion", "steps", "op"]
    title: str = ""
    type: str = ""
    """Of calls the function, of alike modules their class, of steps of a recurrent module the layer."""
    turn_of: str = ""
    """Of an iteration the loop, in short."""
    module: str | None = None
    call: Span | None = None
    """Of a module where it was called, of a loop all of it."""
    pass_id: str | None = None
    repeat: int = 1
    is_chain: bool = False
    """Of a loop: each step takes in what the one before it made."""
    hands_on: bool = False
    """The same with one set of weights."""
    span: Span | None = None
    items: "list[Item]" = field(default_factory=list)


Item = Bundle | Draft


def first_draft(item: Item) -> Draft:
    """The first box in an item."""
    while isinstance(item, Bundle):
        item = item.items[0]
    return item


def place_of(item: Item) -> Span | None:
    """Where an item was made: of a module its call, of a loop all of it."""
    return (isinstance(item, Bundle) and item.call) or first_draft(item).span


def bundles_in(whole: Bundle) -> Iterator[Bundle]:
    """A group and all groups in it, outer ones first."""
    pending = [whole]
    while pending:
        group = pending.pop()
        yield group
        pending.extend(item for item in group.items if isinstance(item, Bundle))


def drafts_in(item: Item) -> Iterator[Draft]:
    """All boxes in an item."""
    if isinstance(item, Bundle):
        for group in bundles_in(item):
            yield from (inner for inner in group.items if not isinstance(inner, Bundle))
    else:
        yield item
