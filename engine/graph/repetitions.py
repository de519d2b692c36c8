"""What comes again in a list of places, each of them a number: where iterations start, and where the last one ends."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from functools import reduce
from itertools import pairwise
from operator import and_

Key = Hashable


def numbered(keys: Sequence[Key]) -> list[Key]:
    """A number for each key: numbers are quicker to compare and to hash than places."""
    numbers: dict[Key, int] = {}
    return [None if key is None else numbers.setdefault(key, len(numbers)) for key in keys]


def by_key(keys: Sequence[Key]) -> dict[Key, list[int]]:
    """The places of each."""
    found: dict[Key, list[int]] = defaultdict(list)
    for at, key in enumerate(keys):
        found[key].append(at)
    return found


def iterations(keys: Sequence[Key], starts: list[int]) -> tuple[list[int], int]:
    """Where iterations that begin with one key start, and where the last one ends: each shares half its places with
    those before it."""
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


def periods(keys: Sequence[Key], heads: Sequence[int]) -> tuple[list[int], int]:
    """As `iterations`, of what comes again in the same order: the period that holds for longest, the shortest of
    such. The last iteration may lack its end."""
    start = heads[0]
    best, held = 1, 0
    for head in heads[1:]:
        period = head - start
        again = 0
        while head + again < len(keys) and keys[head + again] == keys[start + again]:
            again += 1
        if period + again > best + held:
            best, held = period, again
    rest = held % best
    count = 1 + held // best + (2 * rest >= best)
    return [start + best * number for number in range(count)], start + best + held - (0 if 2 * rest >= best else rest)


def steps(keys: Sequence[Key], heads: Sequence[int], done: int) -> tuple[list[int], int]:
    """As `iterations`, of steps that use the same weights. What the last one ends without stands before each: its part
    of the input, and what cuts a packed batch where a sequence ends."""
    bounds = [*heads, _end(keys, heads[-1], set(keys[heads[0] : heads[-1]]))]
    parts = [Counter(keys[first:last]) for first, last in pairwise(bounds)]
    whole = reduce(and_, parts)
    for number, part in enumerate(parts, 1):
        over = part - whole
        while over[keys[bounds[number] - 1]]:
            bounds[number] -= 1
            over[keys[bounds[number]]] -= 1
    lead = {key for part in parts for key in part - whole}
    while bounds[0] > done and keys[bounds[0] - 1] in lead:
        bounds[0] -= 1
    return bounds[:-1], bounds[-1]


def _end(keys: Sequence[Key], start: int, body: set[Key]) -> int:
    """End of the last iteration: the first item from elsewhere, or the head again."""
    end = start + 1
    while end < len(keys) and keys[end] in body and keys[end] != keys[start]:
        end += 1
    return end
