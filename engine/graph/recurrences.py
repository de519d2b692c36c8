"""Loops that hand a state on: one step with one set of weights, again and again, as an unrolled RNN."""

from collections.abc import Iterable

from engine.graph.bundles import Bundle, Item, bundles_in, drafts_in
from engine.graph.types import Link

WHOLE = 20  # steps that are one picture
ENDS = 4  # steps that are seen of a longer one at its beginning, and at its end


def find_recurrences(whole: Bundle, links: Iterable[Link]) -> None:
    """Marks the loops each of whose steps takes in what the one before it made, and of those the ones whose steps have
    no weights of their own."""
    steps: dict[str, list[tuple[Bundle, int]]] = {}
    loops = [group for group in bundles_in(whole) if group.repeat > 1]
    for loop in loops:
        for at, item in enumerate(loop.items):
            for draft in drafts_in(item):
                steps.setdefault(draft.id, []).append((loop, at))
    handed: dict[Bundle, set[int]] = {loop: set() for loop in loops}
    for link in links:
        before = steps.get(link.source, ())
        for loop, at in steps.get(link.target, ()) if before else ():
            if (loop, at - 1) in before:
                handed[loop].add(at)
    for loop in loops:
        loop.is_chain = len(handed[loop]) == len(loop.items) - 1
        loop.hands_on = loop.is_chain and not _has_own_weights(loop.items)


def _has_own_weights(items: list[Item]) -> bool:
    """Whether the last step uses a weight that an earlier one does not."""
    return not _weights(items[-1]) <= _weights(items[1])


def _weights(item: Item) -> set[str | None]:
    drafts = list(drafts_in(item))
    folded = {parameter.tensor for draft in drafts for parameter in draft.parameters}
    return folded | {draft.tensor for draft in drafts if draft.kind == "leaf"}


def fold_middle(loop: Bundle) -> Bundle:
    """Of a long one the first and the last steps are seen; those between are one box among them, which is returned."""
    between = loop.items[ENDS:-ENDS]
    first, last = between[0], between[-1]
    title = f"{ENDS + 1}–{len(loop.items) - ENDS}"
    if isinstance(first, Bundle) and isinstance(last, Bundle) and first.turn_of and " = " in first.title:
        title = f"{first.title}–{last.title.split()[-1]}"
    middle = Bundle(loop.kind, title=title, repeat=len(between), span=loop.span, items=between)
    loop.items = [*loop.items[:ENDS], middle, *loop.items[-ENDS:]]
    return middle
