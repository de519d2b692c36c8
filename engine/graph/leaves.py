"""Leaves where they are used: a weight of one call or iteration belongs to it, and names it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import TypeVar

from engine.graph.bundles import Bundle, Item, bundles_in, drafts_in, first_draft
from engine.graph.draft import Draft
from engine.graph.types import Link

Chain = tuple[Bundle, ...]
Turns = dict[tuple[Bundle, int | None], set[Bundle]]
"""The groups in a group that take in a leaf each, by the slot it comes in at."""
_T = TypeVar("_T")
MANY = 30  # boxes and groups that can be read at once
PIECE = 20  # leaves that can be read at once
MOST_PARTS = 6  # of a name
_PART = re.compile(r"\[[^\]]*\]|\.?\w+")


def settle_leaves(whole: Bundle, links: Iterable[Link]) -> None:
    """Moves each leaf that only one call or iteration uses into its group."""
    leaves = {item.id: item for item in whole.items if isinstance(item, Draft) and item.kind == "leaf"}
    if not leaves:
        return
    around = dict(_chains(whole))
    shared: dict[str, Chain] = {}
    slots: dict[str, int | None] = {}
    for link in links:
        chain = around.get(link.target)
        if chain is not None and link.source in leaves:
            shared[link.source] = _beginning(shared.get(link.source, chain), chain)
            slots.setdefault(link.source, link.slot)
    turns: Turns = {}
    for leaf, chain in shared.items():
        for loop, turn in pairwise(chain):
            turns.setdefault((loop, slots[leaf]), set()).add(turn)
    for leaf, chain in reversed(shared.items()):
        home = _home(chain, slots[leaf], turns)
        if home is not None:
            home.items.insert(0, leaves.pop(leaf))
    kept = [item for item in whole.items if isinstance(item, Bundle) or item.kind != "leaf" or item.id in leaves]
    whole.items = _by_owner(kept) if len(kept) > MANY else kept


def _by_owner(items: list[Item], begin: int = 1) -> list[Item]:
    """Leaves in a row that belong to one thing, as `net.layers[0]`, in a group that is called after it: by the fewest
    parts of their names that tell things apart, or do not: a list of leaves alone is one group. What has many leaves is
    told by more parts inside."""

    def owner(item: Item, parts: int) -> tuple[str, ...] | int:
        names = tuple(_PART.findall(item.name)) if isinstance(item, Draft) and item.kind == "leaf" else ()
        return names[:parts] if len(names) > parts else id(item)

    for parts, is_one in (*((parts, False) for parts in range(begin, MOST_PARTS)), (begin, True)):
        rows = [(of, list(row)) for of, row in groupby(items, key=partial(owner, parts=parts))]
        together = [len(row) for _, row in rows if len(row) > 1]
        if len(rows) <= MANY and (is_one or len(together) > 1 or max(together, default=0) <= PIECE):
            return [
                row[0]
                if isinstance(of, int) or len(row) == 1
                else Bundle("line", "".join(of), span=first_draft(row[0]).span, items=_read(row, parts))
                for of, row in rows
            ]
    return items


def _read(leaves: list[Item], parts: int) -> list[Item]:
    return _by_owner(leaves, parts + 1) if len(leaves) > PIECE else leaves


def _home(chain: Chain, slot: int | None, turns: Turns) -> Bundle | None:
    """The innermost call, or iteration of a loop most of whose iterations take in a leaf at this place: what one alone
    takes in is where the loop starts from."""
    for at in reversed(range(len(chain))):
        turn, loop = chain[at], chain[at - 1] if at > 0 else None
        if turn.kind not in ("loop", "steps") or turn.repeat > 1:
            continue
        if turn.type or (loop is not None and loop.repeat > 1 and 2 * len(turns[loop, slot]) >= loop.repeat):
            return turn
    return None


def _chains(whole: Bundle) -> Iterator[tuple[str, Chain]]:
    """Each box with the groups around it, the innermost last."""
    pending: list[tuple[Bundle, Chain]] = [(whole, ())]
    while pending:
        group, chain = pending.pop()
        for item in group.items:
            if isinstance(item, Bundle):
                pending.append((item, (*chain, item)))
            else:
                yield item.id, chain


def name_calls(whole: Bundle) -> None:
    """Calls are called after what their leaves belong to: `net[0][3]` uses `net[0][3].w[2]`."""
    for group in bundles_in(whole):
        if group.type and group.kind == "loop":
            names = [draft.name for draft in drafts_in(group) if draft.kind == "leaf"]
            group.title = owner_of(names) or group.title


def owner_of(names: Sequence[str]) -> str:
    """The place that all these places are in; nothing unless it is a part of something."""
    parts = [tuple(_PART.findall(name)) for name in names]
    if not parts:
        return ""
    owner = parts[0][:-1]
    for other in parts[1:]:
        owner = _beginning(owner, other[:-1])
    return "".join(owner) if len(owner) > 1 else ""


def _beginning(first: tuple[_T, ...], second: tuple[_T, ...]) -> tuple[_T, ...]:
    """What two sequences begin with."""
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return first[:at]
    return first[: len(second)]
