"""Loops: the same places of the source run again and again in one list of items."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from engine.graph.draft import Draft
from engine.graph.index import GraphIndex

if TYPE_CHECKING:
    from engine.graph.groups import Bundle

REPEATS = 3
FEW = 24  # nodes of one op; what repeats among more is a loop inside PyTorch, as in an unrolled LSTM

Key = Hashable


def find_loops(
    index: GraphIndex,
    items: "list[Bundle | Draft]",
    make: "Callable[[GraphIndex, list[list[Bundle | Draft]]], Bundle]",
) -> "list[Bundle | Draft]":
    """The items with each loop replaced by what `make` makes of its iterations."""
    if len(items) < REPEATS:
        return items
    keys = _numbered([_key(index, item) for item in items])
    places = _places(keys)
    found: list[Bundle | Draft] = []
    refused: set[Key] = set()
    at = 0
    while at < len(items):
        key = keys[at]
        if key is None or key in refused or len(places[key]) < REPEATS:
            found.append(items[at])
            at += 1
            continue
        starts, end = _iterations(keys, [place for place in places[key] if place >= at])
        if _is_test_that_ended(index, items, starts, end):
            end = starts.pop()
        if len(starts) < REPEATS or _are_different_modules(items, starts, end):
            refused.add(key)
            found.append(items[at])
            at += 1
            continue
        bounds = zip(starts, [*starts[1:], end], strict=True)
        found.append(make(index, [items[first:last] for first, last in bounds]))
        at = end
    return found


def _is_test_that_ended(index: GraphIndex, items: "Sequence[Bundle | Draft]", starts: list[int], end: int) -> bool:
    """Whether what looks like the last iteration is only the test of a `while`, which runs once more than the body."""
    if len(starts) < REPEATS:
        return False
    head = _line(items[starts[0]])
    last, first = items[starts[-1] : end], items[starts[0] : starts[1]]
    return (
        head is not None
        and index.code.line(head).startswith("while ")
        and all(_line(item) == head for item in last)
        and any(_line(item) != head for item in first)
    )


def _line(item: "Bundle | Draft") -> int | None:
    while not isinstance(item, Draft):
        item = item.items[0]
    return item.span.line if item.span is not None else None


def _key(index: GraphIndex, item: "Bundle | Draft") -> Key:
    """Which place of the source an item comes from; of a module that library code called, the call and itself."""
    module = None
    if not isinstance(item, Draft):
        if item.kind != "module":
            return None
        module = item.module
        while not isinstance(item, Draft):
            item = item.items[0]
    if item.span is None or item.op is None:
        return None
    if module is not None and index.is_inside_library(item.op):
        return (module, item.span)
    nodes = item.op.nodes
    ordinal = nodes.index(item.id) if 1 < len(nodes) <= FEW and item.id in nodes else 0
    return (item.span, item.title, ordinal, module is not None)


def _numbered(keys: Sequence[Key]) -> list[Key]:
    """A number for each key: numbers are quicker to compare and to hash than places."""
    numbers: dict[Key, int] = {}
    return [None if key is None else numbers.setdefault(key, len(numbers)) for key in keys]


def _places(keys: Sequence[Key]) -> dict[Key, list[int]]:
    places: dict[Key, list[int]] = defaultdict(list)
    for at, key in enumerate(keys):
        places[key].append(at)
    return places


def _iterations(keys: Sequence[Key], starts: list[int]) -> tuple[list[int], int]:
    """Where the iterations start and where the last one ends; each must share half its places with those before."""
    if len(starts) < REPEATS:
        return [], 0
    body = set(keys[starts[0] : starts[1]])
    kept = [starts[0]]
    for at, start in enumerate(starts[1:], 1):
        last = starts[at + 1] if at + 1 < len(starts) else _end(keys, start, body)
        if last == start + 1:  # the head alone, which all iterations share
            kept.append(start)
            continue
        run = set(keys[start:last])
        if 2 * len(run & body) < len(run):
            break
        kept.append(start)
        body |= run
    return kept, _end(keys, kept[-1], body)


def _end(keys: Sequence[Key], start: int, body: set[Key]) -> int:
    """End of the last iteration: the first item from elsewhere, or the head again."""
    end = start + 1
    while end < len(keys) and keys[end] in body and keys[end] != keys[start]:
        end += 1
    return end


def _are_different_modules(items: "Sequence[Bundle | Draft]", starts: list[int], end: int) -> bool:
    """A list of layers, each called once: they are better seen as the modules they are."""
    if end - starts[0] != len(starts):
        return False
    modules = [None if isinstance(item, Draft) else item.module for item in items[starts[0] : end]]
    return None not in modules and len(set(modules)) == len(modules)
